package chat_test

import (
	"testing"

	"conclave/app/chat"
)

func TestConclavesWordsAboutAFailedCallAreASentence(t *testing.T) {
	for status, texts := range map[chat.CallStatus][2]string{
		chat.CallDied:         {"Error: the tool process ended (exit 3)", "The tool process ended (exit 3)"},
		chat.CallBadArguments: {"Error: arguments do not fit echo:", "Arguments do not fit echo:"},
		chat.CallTimeout:      {"Error: echo took longer than 30 s", "echo took longer than 30 s"},
		chat.CallRaised:       {"Error: no such thing", "no such thing"},
		chat.CallUnknown:      {"", ""},
	} {
		if got := status.Problem(texts[0]); got != texts[1] {
			t.Errorf("%s: %q", status, got)
		}
	}
}
