package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
)

func TestARequestThatARuleSettlesBeforeItIsShownIsNotShown(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	defer g.Questions.Attach()()
	r := request(c)
	r.Preview = func(context.Context) *gate.Preview {
		_, err := g.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Scope: gate.Always,
			Callers: []gate.Caller{gate.Main},
		})
		must(t, err)
		return nil
	}
	if d := g.Decide(t.Context(), r); d.Effect != gate.Allow || d.Rule == "" {
		t.Errorf("it is decided %+v", d)
	}
	if list := g.Questions.List(); len(list) != 0 {
		t.Errorf("and waits still: %+v", list)
	}
}

func TestNobodySaysYesToACallWhoseSendingIsNotShownYet(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	defer g.Questions.Attach()()
	sending := func(text string) func(context.Context) *gate.Preview {
		return func(context.Context) *gate.Preview { return gate.Sending(text) }
	}
	r := request(c)
	r.Preview = sending("hello")
	one, first := asked(t, g, r)
	made, looking := make(chan *gate.Preview), make(chan struct{})
	r.Preview = func(context.Context) *gate.Preview {
		close(looking)
		return <-made
	}
	shown, second := make(chan string, 1), make(chan gate.Decision, 1)
	r.OnWait = func(id string) { shown <- id }
	go func() { second <- g.Decide(t.Context(), r) }() // ends with its answer below
	<-looking

	joined := g.Questions.List()[0]
	yes := gate.Answer{Effect: gate.Allow, Scope: gate.Once}
	if joined.ID != one.ID || joined.Count != 2 {
		t.Fatalf("it waits as %+v", joined)
	}
	if err := g.Questions.Answer(t.Context(), joined.ID, joined.Nonce, yes); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a yes while one of two is shown: %v", err)
	}
	made <- gate.Sending("the password")
	<-shown
	if err := g.Questions.Answer(t.Context(), joined.ID, joined.Nonce, yes); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a yes to what was shown before: %v", err)
	}
	both := g.Questions.List()[0]
	must(t, g.Questions.Answer(t.Context(), both.ID, both.Nonce, yes))
	for _, decided := range []<-chan gate.Decision{first, second} {
		if d := <-decided; d.Effect != gate.Allow {
			t.Errorf("a yes to both: %+v", d)
		}
	}
}

// Six calls that wait as one are six uses of what releases them.
func TestAttackManyEqualCallsWaitForOneUse(t *testing.T) {
	rule := func(uses int) func(*gate.Gate) error {
		return func(g *gate.Gate) error {
			_, err := g.Rules.Add(t.Context(), gate.Rule{
				Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Scope: gate.Always,
				Callers: []gate.Caller{gate.Main}, MaxUses: uses,
			})
			return err
		}
	}
	away := func(calls int) func(*gate.Gate) error {
		return func(g *gate.Gate) error { return g.Modes.StartUnattended(15*time.Minute, calls, 1) }
	}
	for name, c := range map[string]struct {
		start    func(*gate.Gate) error
		released bool
		left     bool // a further call is released too
	}{
		"a rule for one":    {rule(1), false, true},
		"a rule for five":   {rule(5), false, true},
		"a rule for six":    {rule(6), true, false},
		"a rule for seven":  {rule(7), true, true},
		"a rule without":    {rule(0), true, true},
		"unattended, one":   {away(1), false, true},
		"unattended, six":   {away(6), true, false},
		"unattended, seven": {away(7), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newMemory()
				g, v := trusted(t, gate.Options{Store: l})
				detach := g.Questions.Attach()
				var all []<-chan gate.Decision
				for range 6 {
					_, decided := asked(t, g, request(v))
					all = append(all, decided)
				}
				must(t, c.start(g))
				synctest.Wait()
				waiting := g.Questions.List()
				if c.released != (len(waiting) == 0) || !c.released && waiting[0].Count != 6 {
					t.Fatalf("there wait %+v", waiting)
				}
				for _, r := range l.grants {
					if want := min(r.MaxUses, 6); c.released && r.MaxUses > 0 && r.Uses != want || !c.released && r.Uses != 0 {
						t.Errorf("counted are %d uses of %d", r.Uses, r.MaxUses)
					}
				}
				one := request(v)
				one.Arguments = json.RawMessage(`{"text":"another"}`)
				if last := decisive(g, one); (last.Effect == gate.Allow) != c.left {
					t.Errorf("a further call: %s", last)
				}
				if !c.released {
					deny(t, g, waiting[0])
				}
				for _, decided := range all {
					if d := <-decided; (d.Effect == gate.Allow) != c.released {
						t.Errorf("decided is %+v", d)
					}
				}
				detach()
				must(t, g.Close(context.WithoutCancel(t.Context())))
			})
		})
	}
}

func TestAComputerThatSleptMakesTheTimeToAnswerNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64 // nanoseconds that no timer knows of
		began := time.Now()
		g, c := trusted(t, gate.Options{Now: func() time.Time { return began.Add(time.Duration(slept.Load())) }})
		defer g.Questions.Attach()()
		for name, look := range map[string]func(gate.Request){
			"listed": func(gate.Request) {
				if list := g.Questions.List(); len(list) != 0 {
					t.Errorf("there waits %+v", list)
				}
			},
			"answered": func(p gate.Request) {
				err := g.Questions.Answer(t.Context(), p.ID, p.Nonce, gate.Answer{Effect: gate.Allow, Scope: gate.Once})
				if fault.KindOf(err) != fault.Conflict {
					t.Errorf("a late answer: %v", err)
				}
			},
		} {
			p, decided := asked(t, g, request(c))
			if p.Expires != p.Expires.Round(0) {
				t.Errorf("it ends by a clock that stands still: %s", p.Expires)
			}
			slept.Add(int64(gate.AnswerTimeout))
			look(p)
			synctest.Wait()
			select {
			case d := <-decided:
				if d.Effect != gate.Deny || !d.Expired {
					t.Errorf("%s: %+v", name, d)
				}
			default:
				t.Fatalf("%s: it goes on waiting", name)
			}
		}
		r := request(c)
		r.Asker = late{func() { slept.Add(int64(gate.AnswerTimeout)) }}
		if d := g.Decide(t.Context(), r); !d.Expired {
			t.Errorf("in a terminal: %+v", d)
		}
	})
}

// late says yes after the computer slept.
type late struct{ sleep func() }

func (l late) Ask(context.Context, gate.Request) (gate.Answer, error) {
	l.sleep()
	return gate.Answer{Effect: gate.Allow, Scope: gate.Once}, nil
}

// one is a person who is shown one request at a time, and answers each as they like.
type one struct {
	turn   chan struct{}
	answer func(gate.Request) gate.Answer
	mu     sync.Mutex
	asked  []gate.Request
}

func (o *one) Turn(ctx context.Context) (end func(), err error) {
	select {
	case o.turn <- struct{}{}:
		return func() { <-o.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (o *one) Ask(ctx context.Context, p gate.Request) (gate.Answer, error) {
	o.mu.Lock()
	o.asked = append(o.asked, p)
	o.mu.Unlock()
	time.Sleep(time.Second)
	if o.answer == nil { // they went away
		<-ctx.Done()
		return gate.Answer{}, context.Cause(ctx)
	}
	return o.answer(p), nil
}

// Three calls that one answer decides are one question, at a terminal too.
func TestACallIsDecidedAgainWhenItsTurnComesAtATerminal(t *testing.T) {
	scope := func(e gate.Effect, s gate.Scope) func(gate.Request) gate.Answer {
		return func(gate.Request) gate.Answer { return gate.Answer{Effect: e, Scope: s} }
	}
	for name, c := range map[string]struct {
		answer func(gate.Request) gate.Answer
		folder bool
		asked  int
		effect gate.Effect
		took   time.Duration
	}{
		"always":             {scope(gate.Allow, gate.Always), false, 1, gate.Allow, time.Second},
		"a folder, for good": {scope(gate.Allow, gate.Always), true, 1, gate.Allow, time.Second},
		"a folder, once":     {scope(gate.Allow, gate.Once), true, 3, gate.Allow, 3 * time.Second},
		"never":              {scope(gate.Deny, gate.Always), false, 1, gate.Deny, time.Second},
		"not now":            {scope(gate.Deny, gate.Once), false, 3, gate.Deny, 3 * time.Second},
		"nobody is there":    {nil, false, 1, gate.Deny, gate.AnswerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, v := trusted(t, gate.Options{})
				folder := t.TempDir()
				person := &one{turn: make(chan struct{}, 1), answer: c.answer}
				began := time.Now()
				decided := make(chan gate.Decision, 3)
				for i := range 3 {
					r := request(v)
					r.Arguments = json.RawMessage(fmt.Sprintf(`{"text": "%d"}`, i))
					r.Asker = person
					if c.folder {
						go func() { // ends with its answer
							d, _ := g.Open(t.Context(), gate.Opening{Plugin: "notes", Path: folder, Behalf: r})
							decided <- d
						}()
						continue
					}
					go func() { decided <- g.Decide(t.Context(), r) }() // ends with its answer
				}
				for range 3 {
					d := <-decided
					if d.Effect != c.effect {
						t.Errorf("it came to %+v", d)
					}
					last := d.Path[len(d.Path)-1]
					asked := d.By == "person" || c.answer == nil
					if asked != (last.Effect == gate.Ask) || d.By != "nobody to ask" && d.Waited == 0 {
						t.Errorf("after %s, by %s, the order was %+v", d.Waited, d.By, d.Path)
					}
				}
				if took := time.Since(began); len(person.asked) != c.asked || took != c.took {
					t.Errorf("%d questions in %s", len(person.asked), took)
				}
				kept := 0
				rules, err := g.Rules.List(t.Context())
				must(t, err)
				for _, rule := range rules {
					if rule.MadeFrom != "" {
						kept++
					}
				}
				if want := min(1, 3-c.asked); c.answer != nil && kept != want {
					t.Errorf("%d rules were made: %+v", kept, rules)
				}
			})
		})
	}
}
