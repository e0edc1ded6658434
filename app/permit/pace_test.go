package permit_test

import (
	"context"
	"testing"
	"time"

	"conclave/app/permit"
)

func TestAfterFiveQuickYesesInARowARequestOffersItsRuleFirst(t *testing.T) {
	allow := permit.Answer{Effect: permit.Allow, Scope: permit.Once}
	lasting := permit.Answer{Effect: permit.Allow, Scope: permit.UntilQuit}
	quick, slow, atOnce := 900*time.Millisecond, 2*time.Second, 100*time.Millisecond
	for name, c := range map[string]struct {
		answers []permit.Answer
		took    []time.Duration
		want    bool
	}{
		"five":      {[]permit.Answer{allow, allow, allow, allow, allow}, []time.Duration{quick}, true},
		"four":      {[]permit.Answer{allow, allow, allow, allow}, []time.Duration{quick}, false},
		"slow ones": {[]permit.Answer{allow, allow, allow, allow, allow}, []time.Duration{slow}, false},
		"a slow one between": {
			[]permit.Answer{allow, allow, allow, allow, allow}, []time.Duration{quick, quick, slow, quick, quick}, false,
		},
		"one press on a card": {
			[]permit.Answer{allow, allow, allow, allow, allow}, []time.Duration{quick, atOnce, atOnce, atOnce, atOnce}, false,
		},
		"a no between": {
			[]permit.Answer{allow, allow, {Effect: permit.Deny, Scope: permit.Once}, allow, allow, allow},
			[]time.Duration{quick}, false,
		},
		"a rule at the end": {[]permit.Answer{allow, allow, allow, allow, allow, lasting}, []time.Duration{quick}, false},
	} {
		now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
		g, v := trusted(t, permit.Options{Now: func() time.Time { return now }})
		call := request(v)
		for i, answer := range c.answers {
			call.Asker = asks(func(permit.Request) permit.Answer {
				now = now.Add(c.took[i%len(c.took)])
				return answer
			})
			g.Decide(t.Context(), call)
		}
		call.Tool = v.Tools[1]
		call.Asker = asks(func(p permit.Request) permit.Answer {
			if p.Hurried != c.want {
				t.Errorf("%s: hurried is %v", name, p.Hurried)
			}
			return allow
		})
		g.Decide(t.Context(), call)
	}
}

// asks answers requests by a function.
type asks func(permit.Request) permit.Answer

// Ask implements permit.Asker.
func (a asks) Ask(_ context.Context, p permit.Request) (permit.Answer, error) { return a(p), nil }
