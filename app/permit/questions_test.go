package permit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/fault"
	"conclave/app/permit"
)

func TestARequestThatARuleSettlesBeforeItIsShownIsNotShown(t *testing.T) {
	g, c := trusted(t, permit.Options{})
	defer g.Questions.Attach()()
	r := request(c)
	r.Preview = func(context.Context) *permit.Preview {
		_, err := g.Rules.Add(t.Context(), permit.Rule{
			Effect: permit.Allow, Plugin: "notes", Tool: "write_note", Scope: permit.Always,
			Callers: []permit.Caller{permit.Main},
		})
		must(t, err)
		return nil
	}
	if d := g.Decide(t.Context(), r); d.Effect != permit.Allow || d.Rule == "" {
		t.Errorf("it is decided %+v", d)
	}
	if list := g.Questions.List(); len(list) != 0 {
		t.Errorf("and waits still: %+v", list)
	}
}

func TestNobodySaysYesToACallWhoseSendingIsNotShownYet(t *testing.T) {
	g, c := trusted(t, permit.Options{})
	defer g.Questions.Attach()()
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

	joined := g.Questions.List()[0]
	yes := permit.Answer{Effect: permit.Allow, Scope: permit.Once}
	if joined.ID != one.ID || joined.Count != 2 {
		t.Fatalf("it waits as %+v", joined)
	}
	if err := g.Questions.Answer(t.Context(), joined.ID, joined.Nonce, yes); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a yes while one of two is shown: %v", err)
	}
	made <- permit.Sending("the password")
	<-shown
	if err := g.Questions.Answer(t.Context(), joined.ID, joined.Nonce, yes); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a yes to what was shown before: %v", err)
	}
	both := g.Questions.List()[0]
	must(t, g.Questions.Answer(t.Context(), both.ID, both.Nonce, yes))
	for _, decided := range []<-chan permit.Decision{first, second} {
		if d := <-decided; d.Effect != permit.Allow {
			t.Errorf("a yes to both: %+v", d)
		}
	}
}

// Six calls that wait as one are six uses of what releases them.
func TestAttackManyEqualCallsWaitForOneUse(t *testing.T) {
	rule := func(uses int) func(*permit.Gate) error {
		return func(g *permit.Gate) error {
			_, err := g.Rules.Add(t.Context(), permit.Rule{
				Effect: permit.Allow, Plugin: "notes", Tool: "write_note", Scope: permit.Always,
				Callers: []permit.Caller{permit.Main}, MaxUses: uses,
			})
			return err
		}
	}
	away := func(calls int) func(*permit.Gate) error {
		return func(g *permit.Gate) error { return g.Modes.StartUnattended(15*time.Minute, calls, 1) }
	}
	for name, c := range map[string]struct {
		start    func(*permit.Gate) error
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
				g, v := trusted(t, permit.Options{Store: l})
				detach := g.Questions.Attach()
				var all []<-chan permit.Decision
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
				if last := decisive(g, one); (last.Effect == permit.Allow) != c.left {
					t.Errorf("a further call: %s", last)
				}
				if !c.released {
					deny(t, g, waiting[0])
				}
				for _, decided := range all {
					if d := <-decided; (d.Effect == permit.Allow) != c.released {
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
		g, c := trusted(t, permit.Options{Now: func() time.Time { return began.Add(time.Duration(slept.Load())) }})
		defer g.Questions.Attach()()
		for name, look := range map[string]func(permit.Request){
			"listed": func(permit.Request) {
				if list := g.Questions.List(); len(list) != 0 {
					t.Errorf("there waits %+v", list)
				}
			},
			"answered": func(p permit.Request) {
				err := g.Questions.Answer(t.Context(), p.ID, p.Nonce, permit.Answer{Effect: permit.Allow, Scope: permit.Once})
				if fault.KindOf(err) != fault.Conflict {
					t.Errorf("a late answer: %v", err)
				}
			},
		} {
			p, decided := asked(t, g, request(c))
			if p.Expires != p.Expires.Round(0) {
				t.Errorf("it ends by a clock that stands still: %s", p.Expires)
			}
			slept.Add(int64(permit.AnswerTimeout))
			look(p)
			synctest.Wait()
			select {
			case d := <-decided:
				if d.Effect != permit.Deny || !d.Expired {
					t.Errorf("%s: %+v", name, d)
				}
			default:
				t.Fatalf("%s: it goes on waiting", name)
			}
		}
		r := request(c)
		r.Asker = late{func() { slept.Add(int64(permit.AnswerTimeout)) }}
		if d := g.Decide(t.Context(), r); !d.Expired {
			t.Errorf("in a terminal: %+v", d)
		}
	})
}

// late says yes after the computer slept.
type late struct{ sleep func() }

func (l late) Ask(context.Context, permit.Request) (permit.Answer, error) {
	l.sleep()
	return permit.Answer{Effect: permit.Allow, Scope: permit.Once}, nil
}

// one is a person who is shown one request at a time, and answers each as they like.
type one struct {
	turn   chan struct{}
	answer func(permit.Request) permit.Answer
	mu     sync.Mutex
	asked  []permit.Request
}

func (o *one) Turn(ctx context.Context) (end func(), err error) {
	select {
	case o.turn <- struct{}{}:
		return func() { <-o.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (o *one) Ask(ctx context.Context, p permit.Request) (permit.Answer, error) {
	o.mu.Lock()
	o.asked = append(o.asked, p)
	o.mu.Unlock()
	time.Sleep(time.Second)
	if o.answer == nil { // they went away
		<-ctx.Done()
		return permit.Answer{}, context.Cause(ctx)
	}
	return o.answer(p), nil
}

// Three calls that one answer decides are one question, at a terminal too.
func TestACallIsDecidedAgainWhenItsTurnComesAtATerminal(t *testing.T) {
	scope := func(e permit.Effect, s permit.Scope) func(permit.Request) permit.Answer {
		return func(permit.Request) permit.Answer { return permit.Answer{Effect: e, Scope: s} }
	}
	for name, c := range map[string]struct {
		answer func(permit.Request) permit.Answer
		folder bool
		asked  int
		effect permit.Effect
		took   time.Duration
	}{
		"always":             {scope(permit.Allow, permit.Always), false, 1, permit.Allow, time.Second},
		"a folder, for good": {scope(permit.Allow, permit.Always), true, 1, permit.Allow, time.Second},
		"a folder, once":     {scope(permit.Allow, permit.Once), true, 3, permit.Allow, 3 * time.Second},
		"never":              {scope(permit.Deny, permit.Always), false, 1, permit.Deny, time.Second},
		"not now":            {scope(permit.Deny, permit.Once), false, 3, permit.Deny, 3 * time.Second},
		"nobody is there":    {nil, false, 1, permit.Deny, permit.AnswerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, v := trusted(t, permit.Options{})
				folder := t.TempDir()
				person := &one{turn: make(chan struct{}, 1), answer: c.answer}
				began := time.Now()
				decided := make(chan permit.Decision, 3)
				for i := range 3 {
					r := request(v)
					r.Arguments = json.RawMessage(fmt.Sprintf(`{"text": "%d"}`, i))
					r.Asker = person
					if c.folder {
						go func() { // ends with its answer
							d, _ := g.Open(t.Context(), permit.Opening{Plugin: "notes", Path: folder, Behalf: r})
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
					if asked != (last.Effect == permit.Ask) || d.By != "nobody to ask" && d.Waited == 0 {
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
