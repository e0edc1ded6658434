package gate_test

import (
	"testing"
	"testing/synctest"

	"conclave/app/gate"
)

// A command that allows all calls allows them alone: what it runs reaches no program of this
// computer, and spends no more than a plugin may.
func TestAttackAllowingAllCallsAllowsWhatNeedsASeparatePermission(t *testing.T) {
	g := approvedNotes(t, gate.Web, gate.Generation)
	call := gate.Call{Asker: gate.AlwaysAsker{}}
	if d := g.Spend(t.Context(), "notes", "it spent $1 today", call); d.Effect != gate.Deny {
		t.Errorf("it spends more: %+v", d)
	}
	for url, want := range map[string]gate.Effect{
		"https://api.example.org:443": gate.Allow, "http://127.0.0.1:48911": gate.Deny,
		"http://localhost:80": gate.Deny, "http://192.168.0.1:80": gate.Deny, "http://0.0.0.0:80": gate.Deny,
	} {
		d, private := g.Connect(t.Context(), gate.Connection{
			Plugin: "notes", Permission: gate.Web, URL: url, Behalf: call,
		})
		if d.Effect != want || private {
			t.Errorf("%s: %s, private %v: %s", url, d.Effect, private, d.Why)
		}
	}
	must(t, g.Reach.AllowHost(t.Context(), "notes", gate.Web, gate.Allow, gate.HostIs, "127.0.0.1:48911"))
	if d, private := g.Connect(t.Context(), gate.Connection{
		Plugin: "notes", Permission: gate.Web, URL: "http://127.0.0.1:48911", Behalf: call,
	}); d.Effect != gate.Allow || !private {
		t.Errorf("what was granted by itself: %s, private %v: %s", d.Effect, private, d.Why)
	}
}

// Who never wants to be asked again what a plugin spends has refused it the models, until they
// give them back.
func TestNeverForWhatModelsCostRefusesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := approvedNotes(t, gate.Generation)
		defer g.Questions.Attach()()
		spend := func() gate.Decision { return g.Spend(t.Context(), "notes", "it spent $1 today", gate.Call{}) }
		decided := make(chan gate.Decision, 1)
		go func() { decided <- spend() }()
		synctest.Wait()
		q := g.Questions.List()[0]
		must(t, g.Questions.Answer(t.Context(), q.ID, q.Nonce, gate.Answer{Effect: gate.Deny, Scope: gate.Always}))
		if d := <-decided; d.Effect != gate.Deny {
			t.Errorf("it may: %+v", d)
		}
		if granted, denied := g.Reach.Permissions("notes"); len(granted) != 0 || len(denied) != 1 ||
			denied[0] != gate.Generation {
			t.Errorf("granted %v, denied %v", granted, denied)
		}
		if d := spend(); d.Effect != gate.Deny || len(g.Questions.List()) != 0 {
			t.Errorf("it asks again: %+v", d)
		}
		must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Generation, gate.Allow))
		if granted, denied := g.Reach.Permissions("notes"); len(granted) != 1 || len(denied) != 0 {
			t.Errorf("given back: granted %v, denied %v", granted, denied)
		}
	})
}
