package council_test

import (
	"testing"

	"conclave/app/council"
)

func TestTheCardSaysWhatThisMemberGivesOfTheChat(t *testing.T) {
	tools := council.Council{Mode: council.Tools, Tool: council.ToolSettings{Window: 4}}
	for want, policy := range map[string]council.ContextPolicy{
		"":                             {Span: council.Whole},
		"the question only.":           {Span: council.Question},
		"the last 1 turn.":             {Span: council.Turns, Last: 1},
		"the last 4 messages.":         {},
		"a summary and the last turn.": {Span: council.Summary},
	} {
		if want != "" {
			want = "This call sees the part of the chat that its member sees: " + want
		}
		if got := policy.In(tools).Sentence(); got != want {
			t.Errorf("with %+v the card says %q, want %q", policy, got, want)
		}
	}
}
