package httptools_test

import (
	"context"
	"slices"
	"testing"

	"conclave/app/gate"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
)

// keeper is a person who is asked, and whose answer is kept.
type keeper struct{ asked []gate.Request }

func (k *keeper) Ask(_ context.Context, r gate.Request) (gate.Answer, error) {
	k.asked = append(k.asked, r)
	return gate.Answer{Effect: gate.Allow, Scope: gate.Always}, nil
}

// asks calls a tool as the model does, and checks how often the person was asked by then.
func (k *keeper) asks(b *bench, id string, want int) {
	b.t.Helper()
	r, err := b.calls.Do(b.t.Context(), call.Turn{
		TurnInfo: hook.TurnInfo{Caller: gate.Main}, Tools: b.tools.Set(), Asker: k,
	}, id, `{}`, call.Extra{})
	must(b.t, err)
	if textOf(r) != "ok" || len(k.asked) != want {
		b.t.Errorf("%s says %q, and the person was asked %d times, want %d", id, textOf(r), len(k.asked), want)
	}
}

func TestAlwaysHoldsForARegisteredToolAsItWasApprovedAtItsAddress(t *testing.T) {
	b := newBench(t)
	s, other := saying(t, "ok"), saying(t, "ok")
	b.register("x", s.URL, its(object{"description": "One."}))
	b.trust()
	k := &keeper{}
	k.asks(b, s.id("x"), 1)
	if r := k.asked[0]; r.Reach != "Runs as you, not isolated: it can touch what you can." ||
		!slices.Contains(r.Scopes, gate.Always) {
		t.Errorf("the card says %q, and offers %v", r.Reach, r.Scopes)
	}
	k.asks(b, s.id("x"), 1)
	b.restart()
	k.asks(b, s.id("x"), 1)
	b.register("x", s.URL, its(object{"description": "Other."}))
	b.offers() // what it says now waits for a person
	b.trust()
	k.asks(b, s.id("x"), 2)
	k.asks(b, s.id("x"), 2)
	b.register("x", other.URL, its(object{"description": "Other."}))
	b.trust()
	k.asks(b, other.id("x"), 3)
}
