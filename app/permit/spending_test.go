package permit_test

import (
	"testing"
	"testing/synctest"

	"conclave/app/permit"
)

// A command that allows all calls allows them alone: what it runs reaches no program of this
// computer, and spends no more than a plugin may.
func TestAttackAllowingAllCallsAllowsWhatTakesAPermissionOfItsOwn(t *testing.T) {
	g := approvedNotes(t, permit.Web, permit.Generation)
	call := permit.Call{Asker: permit.AlwaysAsker{}}
	if d := g.Spend(t.Context(), "notes", "it spent $1 today", call); d.Effect != permit.Deny {
		t.Errorf("it spends more: %+v", d)
	}
	for url, want := range map[string]permit.Effect{
		"https://api.example.org:443": permit.Allow, "http://127.0.0.1:48911": permit.Deny,
		"http://localhost:80": permit.Deny, "http://192.168.0.1:80": permit.Deny, "http://0.0.0.0:80": permit.Deny,
	} {
		d, private := g.Connect(t.Context(), permit.Connection{
			Plugin: "notes", Permission: permit.Web, URL: url, Behalf: call,
		})
		if d.Effect != want || private {
			t.Errorf("%s: %s, private %v: %s", url, d.Effect, private, d.Why)
		}
	}
	must(t, g.Reach.AllowHost(t.Context(), "notes", permit.Web, permit.Allow, permit.HostIs, "127.0.0.1:48911"))
	if d, private := g.Connect(t.Context(), permit.Connection{
		Plugin: "notes", Permission: permit.Web, URL: "http://127.0.0.1:48911", Behalf: call,
	}); d.Effect != permit.Allow || !private {
		t.Errorf("what was granted by itself: %s, private %v: %s", d.Effect, private, d.Why)
	}
}

// Who never wants to be asked again what a plugin spends has refused it the models, until they
// give them back.
func TestNeverForWhatModelsCostRefusesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := approvedNotes(t, permit.Generation)
		defer g.Questions.Attach()()
		spend := func() permit.Decision { return g.Spend(t.Context(), "notes", "it spent $1 today", permit.Call{}) }
		decided := make(chan permit.Decision, 1)
		go func() { decided <- spend() }()
		synctest.Wait()
		q := g.Questions.List()[0]
		must(t, g.Questions.Answer(t.Context(), q.ID, q.Nonce, permit.Answer{Effect: permit.Deny, Scope: permit.Always}))
		if d := <-decided; d.Effect != permit.Deny {
			t.Errorf("it may: %+v", d)
		}
		if granted, denied := g.Reach.Permissions("notes"); len(granted) != 0 || len(denied) != 1 ||
			denied[0] != permit.Generation {
			t.Errorf("granted %v, denied %v", granted, denied)
		}
		if d := spend(); d.Effect != permit.Deny || len(g.Questions.List()) != 0 {
			t.Errorf("it asks again: %+v", d)
		}
		must(t, g.Reach.SetPermission(t.Context(), "notes", permit.Generation, permit.Allow))
		if granted, denied := g.Reach.Permissions("notes"); len(granted) != 1 || len(denied) != 0 {
			t.Errorf("given back: granted %v, denied %v", granted, denied)
		}
	})
}
