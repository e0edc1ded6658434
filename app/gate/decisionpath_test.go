package gate_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/gate"
)

// last returns the step that decided.
func last(t *testing.T, d gate.Decision) gate.Step {
	t.Helper()
	if len(d.Path) == 0 {
		t.Fatalf("a decision without its path: %+v", d)
	}
	for i, s := range d.Path {
		if s.Number != i || s.Name == "" || s.Effect == "" && s.Why == "" || s.Effect != "" && i < len(d.Path)-1 {
			t.Errorf("step %d of the path is %+v", i, s)
		}
	}
	return d.Path[len(d.Path)-1]
}

func TestADecisionHoldsThePathThatLedToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		defer g.Questions.Attach()()
		first := request(c)
		one, decided := asked(t, g, first)
		second := request(c)
		second.Arguments = json.RawMessage(`{"text":"b"}`)
		_, released := asked(t, g, second)
		time.Sleep(7 * time.Second) // of the bubble: no time passes
		must(t, g.Questions.Answer(t.Context(), one.ID, one.Nonce, gate.Answer{Effect: gate.Allow, Scope: gate.Always}))

		d := <-decided
		if s := last(t, d); s.Number != 9 || s.Effect != gate.Ask || d.By != "person" || d.Waited != 7*time.Second {
			t.Errorf("a call that a person allowed after 7 s has %+v", d)
		}
		made := d.Rule
		if d = <-released; last(t, d).Rule != made || d.Waited != 7*time.Second {
			t.Errorf("a call that waited until the rule %s was made has %+v", made, d)
		}
		if d = g.Decide(t.Context(), first); last(t, d).Number != 7 || last(t, d).Rule != made || d.Waited != 0 {
			t.Errorf("a call that the rule %s allows has %+v", made, d)
		}
		g.Modes.SetPaused(true)
		if d = g.Decide(t.Context(), first); last(t, d).Number != 0 || last(t, d).Effect != gate.Deny {
			t.Errorf("a call while all is paused has %+v", d)
		}
		if steps := g.Decisions.Explain(first); len(steps) != 1 || steps[0] != d.Path[0] {
			t.Errorf("it was decided by %+v and is explained as %+v", d.Path, steps)
		}
	})
}
