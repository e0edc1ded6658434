package permit_test

import (
	"context"
	"encoding/json"
	"testing"

	"conclave/app/fault"
	"conclave/app/permit"
)

// interrupted is a store in which something happens before a request is written.
type interrupted struct {
	*memory
	before func()
}

func (s interrupted) PutRequest(ctx context.Context, id string, raw json.RawMessage) error {
	s.before()
	return s.memory.PutRequest(ctx, id, raw)
}

func TestARequestThatARuleSettlesBeforeItIsKeptIsNotShownAgain(t *testing.T) {
	for _, when := range []string{"before it is written", "while it is written"} {
		l := interrupted{memory: newMemory(), before: func() {}}
		var g *permit.Gate
		var c permit.PluginVersion
		settle := func() {
			_, err := g.AddRule(t.Context(), permit.Rule{
				Effect: permit.Allow, Plugin: "notes", Tool: "write_note", Scope: permit.Always,
				Callers: []permit.Caller{permit.Main},
			})
			must(t, err)
		}
		if when == "while it is written" {
			l.before = settle
		}
		g, c = trusted(t, permit.Options{Store: l})
		defer g.Attach()()
		r := request(c)
		r.Preview = func(context.Context) *permit.Preview {
			if when == "before it is written" {
				settle()
			}
			return nil
		}
		if d := g.Decide(t.Context(), r); d.Effect != permit.Allow || d.Rule == "" {
			t.Errorf("%s: %+v", when, d)
		}
		if again := open(t, permit.Options{Store: l}).Requests(); len(again) != 0 {
			t.Errorf("settled %s, after a restart it asks again: %+v", when, again)
		}
	}
}

func TestNobodySaysYesToACallWhoseSendingIsNotShownYet(t *testing.T) {
	g, c := trusted(t, permit.Options{})
	defer g.Attach()()
	sending := func(text string) func(context.Context) *permit.Preview {
		return func(context.Context) *permit.Preview { return permit.Sending(text) }
	}
	r := request(c)
	r.Preview = sending("hello")
	one, first := asked(t, g, r)
	made, looking := make(chan *permit.Preview), make(chan struct{})
	r.Preview = func(context.Context) *permit.Preview {
		close(looking)
		return <-made
	}
	shown, second := make(chan string, 1), make(chan permit.Decision, 1)
	r.OnWait = func(id string) { shown <- id }
	go func() { second <- g.Decide(t.Context(), r) }() // ends with its answer below
	<-looking

	joined := g.Requests()[0]
	yes := permit.Answer{Effect: permit.Allow, Scope: permit.Once}
	if joined.ID != one.ID || joined.Count != 2 {
		t.Fatalf("it waits as %+v", joined)
	}
	if err := g.Answer(t.Context(), joined.ID, joined.Nonce, yes); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a yes while one of two is shown: %v", err)
	}
	made <- permit.Sending("the password")
	<-shown
	if err := g.Answer(t.Context(), joined.ID, joined.Nonce, yes); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a yes to what was shown before: %v", err)
	}
	both := g.Requests()[0]
	must(t, g.Answer(t.Context(), both.ID, both.Nonce, yes))
	for _, decided := range []<-chan permit.Decision{first, second} {
		if d := <-decided; d.Effect != permit.Allow {
			t.Errorf("a yes to both: %+v", d)
		}
	}
}
