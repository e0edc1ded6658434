package gate_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
)

func TestUnattendedRunsWhatWouldBeAskedAboutByDefault(t *testing.T) {
	g, c := trusted(t, gate.Options{Mode: func() gate.Mode { return gate.Careful }})
	must(t, g.Modes.StartUnattended(15*time.Minute, 100, 1))
	call := func(change func(*gate.Call)) gate.Call {
		r := request(c)
		change(&r)
		return r
	}
	of := func(capabilities ...gate.Capability) gate.Call {
		return call(func(r *gate.Call) { r.Capabilities = capabilities })
	}
	tainted := of(gate.SendWeb)
	tainted.Taint = fromExample
	stale := request(c)
	stale.Tool.Digest = "another"
	for name, w := range map[string]struct {
		call gate.Call
		step int
		want gate.Effect
	}{
		"own files":          {request(c), 8, gate.Allow},
		"fetch":              {of(gate.Fetch), 8, gate.Allow},
		"write":              {of(gate.WriteFiles), 8, gate.Allow},
		"send":               {of(gate.SendWeb), 8, gate.Allow},
		"send what it read":  {tainted, 4, gate.Ask},
		"delete":             {of(gate.Delete), 5, gate.Ask},
		"programs":           {of(gate.RunPrograms), 5, gate.Ask},
		"clipboard":          {of(gate.ReadScreen), 5, gate.Ask},
		"a secret":           {of(gate.Fetch, gate.UseSecret), 8, gate.Ask},
		"unheard of":         {of(gate.Compute, "unheard of"), 8, gate.Ask},
		"changed":            {stale, 3, gate.Deny},
		"a hook made of it":  {call(func(r *gate.Call) { r.Because = []string{"a hook rewrote it"} }), 5, gate.Ask},
		"in another's place": {call(func(r *gate.Call) { r.Instead = "exec" }), 9, gate.Ask},
		"a plugin by itself": {call(func(r *gate.Call) { r.Caller = "plugin:x" }), 9, gate.Ask},
		"a member's writing": {call(func(r *gate.Call) {
			r.Caller, r.Capabilities = "member:a", []gate.Capability{gate.WriteFiles}
		}), 9, gate.Deny},
		"a place of secrets": {call(func(r *gate.Call) {
			r.Capabilities, r.Arguments = []gate.Capability{gate.Fetch}, []byte(`{"url": "http://169.254.169.254/"}`)
		}), 1, gate.Deny},
	} {
		steps := g.Decisions.Explain(w.call)
		last := steps[len(steps)-1]
		if last.Number != w.step || last.Effect != w.want {
			t.Errorf("%s: %s", name, last)
		}
	}
	if u, on := g.Modes.Unattended(); !on || u.Calls != 100 {
		t.Errorf("explaining used it up: %+v", u)
	}
	d := g.Decide(t.Context(), request(c))
	if u, _ := g.Modes.Unattended(); d.Effect != gate.Allow || d.By != "unattended mode" || d.Step != 8 ||
		u.Calls != 99 ||
		!strings.Contains(d.Why, "you let tools run unattended until ") {
		t.Errorf("%+v, left %+v", d, u)
	}
	g.Modes.EndUnattended()
	if steps := g.Decisions.Explain(request(c)); steps[len(steps)-1].Effect != gate.Ask {
		t.Errorf("after its end: %s", steps[len(steps)-1])
	}
}

func TestUnattendedAsksBeforeCallsOfAPluginThatWasLentASecret(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	must(t, g.Reach.GrantSecret(t.Context(), c.Plugin, "gh", []string{"api.github.com"}))
	must(t, g.Modes.StartUnattended(15*time.Minute, 100, 1))
	if last := decisive(g, request(c)); last.Effect != gate.Ask || last.Number != 9 {
		t.Errorf("while it has a secret: %s", last)
	}
	must(t, g.Reach.RevokeSecret(t.Context(), c.Plugin, "gh"))
	if last := decisive(g, request(c)); last.Effect != gate.Allow || last.Number != 8 {
		t.Errorf("once it has none: %s", last)
	}
}

func TestUnattendedEnds(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *gate.Gate, gate.PluginVersion){
		"after its time": func(*testing.T, *gate.Gate, gate.PluginVersion) {
			time.Sleep(15 * time.Minute)
			synctest.Wait()
		},
		"after its calls": func(t *testing.T, g *gate.Gate, c gate.PluginVersion) {
			for range 3 {
				if d := g.Decide(t.Context(), request(c)); d.Effect != gate.Allow {
					t.Errorf("%+v", d)
				}
			}
		},
		"after its money": func(_ *testing.T, g *gate.Gate, _ gate.PluginVersion) {
			g.Modes.Spent(0.4)
			g.Modes.Spent(0.2)
		},
		"when tools are paused": func(_ *testing.T, g *gate.Gate, _ gate.PluginVersion) {
			g.Modes.SetPaused(true)
			g.Modes.SetPaused(false)
		},
		"with the program": func(t *testing.T, g *gate.Gate, _ gate.PluginVersion) {
			must(t, g.Close(t.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, c := trusted(t, gate.Options{})
				must(t, g.Modes.StartUnattended(15*time.Minute, 3, 0.5))
				g.Modes.Spent(0.1)
				if u, on := g.Modes.Unattended(); !on || u.Spend != 0.4 || !u.Until.Equal(time.Now().Add(15*time.Minute)) {
					t.Errorf("it begins as %+v, %v", u, on)
				}
				end(t, g, c)
				if u, on := g.Modes.Unattended(); on {
					t.Errorf("it goes on: %+v", u)
				}
				if d := g.Decide(t.Context(), request(c)); d.Effect != gate.Deny { // nobody is there to be asked
					t.Errorf("a call goes on: %+v", d)
				}
				must(t, g.Close(context.WithoutCancel(t.Context())))
			})
		})
	}
}

func TestAComputerThatSleptOrAClockSetBackDoesNotMakeItLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		g, c := trusted(t, gate.Options{Now: func() time.Time { return now }})
		must(t, g.Modes.StartUnattended(time.Hour, 3, 1))
		now = now.Add(61 * time.Minute) // while no timer ran
		if _, on := g.Modes.Unattended(); on || g.Decide(t.Context(), request(c)).Effect != gate.Deny {
			t.Error("it outlasts a sleep")
		}
		must(t, g.Modes.StartUnattended(time.Hour, 3, 1))
		now = now.Add(-24 * time.Hour)
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, on := g.Modes.Unattended(); on || g.Decide(t.Context(), request(c)).Effect != gate.Deny {
			t.Error("a clock that is set back makes it longer")
		}
		must(t, g.Close(context.WithoutCancel(t.Context())))
	})
}

func TestUnattendedIsStartedOnlyWithinItsBounds(t *testing.T) {
	g, _ := trusted(t, gate.Options{})
	for want, start := range map[string]func() error{
		"15 or for 60":   func() error { return g.Modes.StartUnattended(24*time.Hour, 1, 1) },
		"1 to 1000":      func() error { return g.Modes.StartUnattended(time.Hour, 0, 1) },
		"1 to 1000 ":     func() error { return g.Modes.StartUnattended(time.Hour, 1001, 1) },
		"$0 and $100":    func() error { return g.Modes.StartUnattended(time.Hour, 1, -1) },
		"$0 and $100 ":   func() error { return g.Modes.StartUnattended(time.Hour, 1, 101) },
		"tools are paus": func() error { g.Modes.SetPaused(true); return g.Modes.StartUnattended(time.Hour, 1, 1) },
	} {
		err := start()
		g.Modes.SetPaused(false)
		if err == nil || fault.Of(err).Kind != fault.Invalid ||
			!strings.Contains(fault.Of(err).Message, strings.TrimSpace(want)) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, on := g.Modes.Unattended(); on {
		t.Error("it is on")
	}
}

func TestARequestThatWaitsIsReleasedWhenToolsRunUnattended(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	defer g.Questions.Attach()()
	_, decided := asked(t, g, request(c))
	must(t, g.Modes.StartUnattended(15*time.Minute, 1, 1))
	if d := <-decided; d.Effect != gate.Allow || d.By != "unattended mode" {
		t.Errorf("got %+v", d)
	}
	if _, on := g.Modes.Unattended(); on {
		t.Error("its only call is left")
	}
}

// TestUnattendedTouchesOnlyTheLastTwoStepsIn1000Calls compares what rules decide with and
// without it.
func TestUnattendedTouchesOnlyTheLastTwoStepsIn1000Calls(t *testing.T) {
	withoutHome(t)
	for seed := range uint64(1000) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		g, c := trusted(t, gate.Options{})
		for range r.IntN(6) {
			_, err := g.Rules.Add(t.Context(), r.rule(pick(r, gate.Deny, gate.Ask, gate.Allow)))
			must(t, err)
		}
		call := r.call(c)
		before := g.Decisions.Explain(call)
		must(t, g.Modes.StartUnattended(time.Hour, 5, 1))
		after := g.Decisions.Explain(call)
		was, is := before[len(before)-1], after[len(after)-1]
		if was.Number < 8 && (is.Number != was.Number || is.Effect != was.Effect) ||
			was.Effect == gate.Deny && is.Effect != gate.Deny {
			t.Errorf("seed %d: %s became %s, for %+v", seed, was, is, call)
		}
		if d := g.Decide(t.Context(), call); is.Effect != gate.Ask && d.Effect != is.Effect || d.Step != is.Number {
			t.Errorf("seed %d: explained is %s, decided %+v", seed, is, d)
		}
		g.Modes.EndUnattended()
	}
}
