package service

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/cost"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
	"conclave/store"
)

// purse is a person who lets plugins spend, over a real store. Models of the connection one
// cost a cent for ten tokens, those of free nothing, and of others it is not known.
type purse struct {
	*store.Plugins
	limit cost.Cap
	asked []string
	yes   bool
	mu    sync.Mutex // guards spent
	spent float64    // as it was charged
}

func (p *purse) Cap() cost.Cap { return p.limit }

func (p *purse) Price(model model.Info, u chat.Usage) chat.Usage {
	switch {
	case model.ID == "free":
		u.Priced = cost.Local
	case model.Connection == "one":
		u.Cost, u.Priced = float64(u.Input+u.Output)/1000, cost.Own
	}
	return u
}

func (p *purse) Charge(model model.Info, u chat.Usage) chat.Usage {
	u = p.Price(model, u)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent += u.Cost
	return u
}

func (p *purse) More(_ context.Context, _, why string) error {
	p.asked = append(p.asked, why)
	if p.yes {
		return nil
	}
	return refused("PERMISSION_DENIED: generation")
}

func spender(t *testing.T) (*fixture, *purse) {
	f := newFixture(t)
	p := &purse{Plugins: f.store.Plugins, limit: cost.Cap{Dollars: 1, Tokens: 1000}}
	f.s.o.Spending = p
	return f, p
}

// spentToday returns what a plugin spent today.
func (s *ledger) spentToday(ctx context.Context, id string) (cost.Day, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.today(ctx, id)
}

const question = `{"messages":[{"role":"user","content":"x"}]}`

func TestAPluginAsksBeforeItSpendsMoreThanItMayInADay(t *testing.T) {
	f, p := spender(t)
	by := f.caller("a")
	answer := func(input, output int64) {
		f.model.Add([]modeltest.Step{modeltest.Say("yes"), modeltest.Used(input, output)})
	}
	answer(500, 450)
	f.wants(by, "models.generate", question, `"content":"yes"`)
	answer(30, 30)
	f.wants(by, "models.generate", question, `"content":"yes"`)
	requests := f.model.Requests()
	first, second := requests[0].MaxTokens, requests[1].MaxTokens
	if first < 900 || first > 1000 || second < 40 || second > 50 {
		t.Errorf("answers were bounded by %d and %d tokens, of a thousand and of fifty", first, second)
	}
	f.wants(by, "models.generate", question, "PERMISSION_DENIED: generation")
	if len(p.asked) != 1 ||
		p.asked[0] != "it spent $1.01 on your models today, and you let a plugin spend $1.00 a day" ||
		len(f.model.Requests()) != 2 {
		t.Errorf("asked %q, with %d requests made", p.asked, len(f.model.Requests()))
	}
	p.yes = true
	answer(10, 10)
	f.wants(by, "models.generate", question, `"content":"yes"`)
	answer(10, 10)
	f.wants(by, "models.generate", question, `"content":"yes"`) // as much again, without being asked
	if len(p.asked) != 2 || p.spent < 1.04 || p.spent > 1.06 {
		t.Errorf("asked %q, charged %v", p.asked, p.spent)
	}
	p.yes = false
	answer(1, 1)
	f.wants(f.caller("b"), "models.generate", question, `"content":"yes"`) // it has a day of its own
	f.s.models.ledger.days = map[string]cost.Day{}                         // Conclave was closed
	day, err := f.s.models.ledger.spentToday(t.Context(), "a")
	testkit.Must(t, err)
	if day.More != 1 || day.Dollars < 1.04 {
		t.Errorf("kept %+v", day)
	}
	f.now = f.now.Add(24 * time.Hour)
	answer(1, 1)
	f.wants(by, "models.generate", question, `"content":"yes"`)
	if len(p.asked) != 2 {
		t.Errorf("on the next day, asked %q", p.asked)
	}
}

func TestTokensCountWherePricesAreNotKnownAndNothingWhereModelsAreFree(t *testing.T) {
	f, p := spender(t)
	by := f.caller("a")
	for range 3 {
		f.model.Add([]modeltest.Step{modeltest.Say("free"), modeltest.Used(1e9, 1e9)})
		f.wants(by, "models.generate", `{"model":"one/free","messages":[{"role":"user","content":"x"}]}`, "free")
	}
	unknown := `{"connection":"two","model":"small","messages":[{"role":"user","content":"x"}]}`
	f.model.Add([]modeltest.Step{modeltest.Say("yes"), modeltest.Used(600, 600)})
	f.wants(by, "models.generate", unknown, `"content":"yes"`)
	f.wants(by, "models.generate", unknown, "PERMISSION_DENIED: generation")
	if len(p.asked) != 1 || p.asked[0] !=
		"it used 1200 tokens of models without a known price today, and you let a plugin use 1000 a day" {
		t.Errorf("asked %q", p.asked)
	}
}

// The attack: a plugin stops each answer before the model says what it took.
func TestWhatIsStoppedIsPaidForAndWhatFailsIsNot(t *testing.T) {
	f, _ := spender(t)
	by := f.caller("a")
	long := strings.Repeat("word ", 400)
	f.model.Add([]modeltest.Step{modeltest.Say(long), modeltest.Wait(make(chan struct{}))})
	over := make(chan string, 1)
	go func() { // ends when it is stopped
		over <- f.ask(by, "models.generate", `{"messages":[{"role":"user","content":"x"}],"request":"r"}`)
	}()
	testkit.Until(t, "a request to stop", func() bool {
		return len(f.model.Requests()) == 1 && strings.Contains(f.ask(by, "models.stop", `{"request":"r"}`), "true")
	})
	<-over
	day, err := f.s.models.ledger.spentToday(t.Context(), "a")
	testkit.Must(t, err)
	if day.Dollars == 0 {
		t.Errorf("what was stopped cost %+v", day)
	}
	f.model.Add([]modeltest.Step{modeltest.Fail(&model.Error{Kind: model.BadRequest})})
	f.wants(by, "models.generate", question, "")
	if now, err := f.s.models.ledger.spentToday(t.Context(), "a"); err != nil || now.Dollars != day.Dollars {
		t.Errorf("what failed cost: %+v, before %+v, %v", now, day, err)
	}
}

// A server that heeds no bound says no more than some times what was asked for.
func TestAnAnswerThatIsLongerThanItsBoundIsCut(t *testing.T) {
	f, _ := spender(t)
	by := f.caller("a")
	f.model.Add(slices.Repeat([]modeltest.Step{modeltest.Say(strings.Repeat("word ", 20))}, 1000))
	f.wants(by, "models.generate", `{"messages":[{"role":"user","content":"x"}],"parameters":{"max_tokens":40}}`,
		`"finish_reason":"length"`)
	day, err := f.s.models.ledger.spentToday(t.Context(), "a")
	testkit.Must(t, err)
	if day.Dollars < 0.04 || day.Dollars > 0.4 { // a dollar is a thousand tokens
		t.Errorf("of 40 tokens it spent %+v", day)
	}
}

func TestARequestThatIsLargerThanADayIsNotMade(t *testing.T) {
	f, p := spender(t)
	p.yes = true
	f.wants(f.caller("a"), "models.generate",
		`{"messages":[{"role":"user","content":"`+strings.Repeat("word ", 4000)+`"}]}`,
		"one request would cost more than you let a plugin spend in a day")
	if len(p.asked) != 1 || len(f.model.Requests()) != 0 {
		t.Errorf("asked %q, with %d requests made", p.asked, len(f.model.Requests()))
	}
}

// Requests at the same time spend no more than one after the other: each has what it can come
// to for itself, and one that finds nothing left waits for what others leave.
func TestRequestsAtTheSameTimeShareWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		first       string
		least, most int64 // tokens that the answer to the second may have
	}{
		"a bounded one leaves the rest":                  {`"max_tokens":600`, 370, 390},
		"one with a bound that is no whole number":       {`"max_tokens":1e300`, 670, 690},
		"one without a bound leaves what it did not use": {`"top_p":1`, 670, 690},
	} {
		t.Run(name, func(t *testing.T) {
			f, p := spender(t) // a dollar, which is a thousand tokens
			by := f.caller("a")
			hold, once := make(chan struct{}), make(chan string, 2)
			f.model.Add([]modeltest.Step{modeltest.Wait(hold), modeltest.Say("one"), modeltest.Used(10, 300)},
				[]modeltest.Step{modeltest.Say("two"), modeltest.Used(10, 300)})
			ask := func(parameters string) {
				once <- f.ask(by, "models.generate", `{"messages":[{"role":"user","content":"x"}],"parameters":{`+parameters+`}}`)
			}
			go ask(c.first)
			testkit.Until(t, "the first request", func() bool { return len(f.model.Requests()) == 1 })
			if n := f.model.Requests()[0].MaxTokens; n < 1 || n > 1000 {
				t.Errorf("the first was bounded by %d tokens", n)
			}
			go ask(`"top_p":1`)
			if c.most < 400 {
				testkit.Until(t, "the second request", func() bool { return len(f.model.Requests()) == 2 })
			}
			close(hold)
			for range 2 {
				if got := <-once; !strings.Contains(got, `"content":`) {
					t.Error(got)
				}
			}
			if n := f.model.Requests()[1].MaxTokens; n < c.least || n > c.most {
				t.Errorf("the second was bounded by %d tokens, want %d to %d", n, c.least, c.most)
			}
			if len(p.asked) != 0 || p.spent > 1 || len(f.s.models.ledger.reserved) != 0 {
				t.Errorf("asked %q, spent %v, reserved %v", p.asked, p.spent, f.s.models.ledger.reserved)
			}
		})
	}
}
