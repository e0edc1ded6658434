package gate_test

import (
	"context"
	"testing"
	"time"

	"conclave/app/gate"
)

func TestAfterFiveQuickYesesInARowARequestOffersItsRuleFirst(t *testing.T) {
	allow := gate.Answer{Effect: gate.Allow, Scope: gate.Once}
	lasting := gate.Answer{Effect: gate.Allow, Scope: gate.UntilQuit}
	quick, slow, atOnce := 900*time.Millisecond, 2*time.Second, 100*time.Millisecond
	for name, c := range map[string]struct {
		answers []gate.Answer
		took    []time.Duration
		want    bool
	}{
		"five":      {[]gate.Answer{allow, allow, allow, allow, allow}, []time.Duration{quick}, true},
		"four":      {[]gate.Answer{allow, allow, allow, allow}, []time.Duration{quick}, false},
		"slow ones": {[]gate.Answer{allow, allow, allow, allow, allow}, []time.Duration{slow}, false},
		"a slow one between": {
			[]gate.Answer{allow, allow, allow, allow, allow}, []time.Duration{quick, quick, slow, quick, quick}, false,
		},
		"one press on a card": {
			[]gate.Answer{allow, allow, allow, allow, allow}, []time.Duration{quick, atOnce, atOnce, atOnce, atOnce}, false,
		},
		"a no between": {
			[]gate.Answer{allow, allow, {Effect: gate.Deny, Scope: gate.Once}, allow, allow, allow},
			[]time.Duration{quick},
			false,
		},
		"a rule at the end": {[]gate.Answer{allow, allow, allow, allow, allow, lasting}, []time.Duration{quick}, false},
	} {
		now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
		g, v := trusted(t, gate.Options{Now: func() time.Time { return now }})
		call := request(v)
		for i, answer := range c.answers {
			call.Asker = asks(func(gate.Request) gate.Answer {
				now = now.Add(c.took[i%len(c.took)])
				return answer
			})
			g.Decide(t.Context(), call)
		}
		call.Tool = v.Tools[1]
		call.Asker = asks(func(p gate.Request) gate.Answer {
			if p.Rapid != c.want {
				t.Errorf("%s: rapid is %v", name, p.Rapid)
			}
			return allow
		})
		g.Decide(t.Context(), call)
	}
}

// asks answers requests by a function.
type asks func(gate.Request) gate.Answer

// Ask implements gate.Asker.
func (a asks) Ask(_ context.Context, p gate.Request) (gate.Answer, error) { return a(p), nil }
