package permit_test

import (
	"testing"
	"testing/synctest"

	"conclave/app/permit"
)

// Who never wants to be asked again what a plugin spends has refused it the models, until they
// give them back.
func TestNeverForWhatModelsCostRefusesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := approvedNotes(t, permit.Generation)
		defer g.Attach()()
		spend := func() permit.Decision { return g.Spend(t.Context(), "notes", "it spent $1 today", permit.Call{}) }
		decided := make(chan permit.Decision, 1)
		go func() { decided <- spend() }()
		synctest.Wait()
		q := g.Requests()[0]
		must(t, g.Answer(t.Context(), q.ID, q.Nonce, permit.Answer{Effect: permit.Deny, Scope: permit.Always}))
		if d := <-decided; d.Effect != permit.Deny {
			t.Errorf("it may: %+v", d)
		}
		if granted, denied := g.Permissions("notes"); len(granted) != 0 || len(denied) != 1 ||
			denied[0] != permit.Generation {
			t.Errorf("granted %v, denied %v", granted, denied)
		}
		if d := spend(); d.Effect != permit.Deny || len(g.Requests()) != 0 {
			t.Errorf("it asks again: %+v", d)
		}
		must(t, g.SetPermission(t.Context(), "notes", permit.Generation, permit.Allow))
		if granted, denied := g.Permissions("notes"); len(granted) != 1 || len(denied) != 0 {
			t.Errorf("given back: granted %v, denied %v", granted, denied)
		}
	})
}
