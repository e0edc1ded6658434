package chat_test

import (
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

func TestOnlyWhatModelsTakeCanBeSetForAChat(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	for _, good := range []chat.Asking{
		{},
		{Reasoning: "high", Temperature: number(0), MaxTokens: 4000},
		{Reasoning: "off", Temperature: number(2)},
	} {
		if err := good.Check(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for _, bad := range []chat.Asking{
		{Reasoning: "enormous"},
		{Temperature: number(-0.1)},
		{Temperature: number(2.1)},
		{MaxTokens: -1},
		{MaxTokens: 1_000_001},
	} {
		if err := bad.Check(); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
