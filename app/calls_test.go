package app

import (
	"testing"

	"conclave/app/chat"
)

func TestF137ACardSaysTheSameOfADecisionAfterReopening(t *testing.T) {
	for want, r := range map[string]chat.CallRecord{
		"expired": {Status: chat.CallRefused, Decision: "deny", Decider: "nobody to ask", Expired: true, DecidedBy: "no answer in 10 minutes, so it was not run"},
		"refused": {Status: chat.CallRefused, Decision: "deny", Decider: "person", DecidedBy: "you said no"},
		"done":    {Status: chat.CallOK},
	} {
		if got := callState(r); got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
	}
	for name, c := range map[string]struct {
		record chat.CallRecord
		want   bool
	}{
		"a person":                {chat.CallRecord{Decider: "person", DecidedBy: "allowed in the window"}, true},
		"a rule about you":        {chat.CallRecord{Decider: "rule 7", DecidedBy: "you allowed it once, as a rule"}, false},
		"a record of before that": {chat.CallRecord{DecidedBy: "you allowed it once"}, true},
	} {
		if got := byPerson(c.record); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
