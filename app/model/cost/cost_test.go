package cost

import (
	"math"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

// The person's own row comes first; then the more particular of the built-in ones.
func TestTheFirstRowThatFitsAModelHolds(t *testing.T) {
	table := Table{Date: "2026-11-20", Prices: []Price{
		{Model: "openai/gpt-9-mini*", Input: 1},
		{Model: "openai/gpt-9*", Input: 2, Output: 8, Cached: 0.2},
		{Model: "v/claude-1", Input: 3},
	}}
	for name, want := range map[string]float64{
		"openai/gpt-9-mini-2026-01-01": 1, "openai/GPT-9": 2, "v/claude-1-20260102": 3, "v/claude-1-5": -1,
		"openai/gpt-8": -1, "other/gpt-9": -1,
	} {
		p, by, ok := table.Find("mine/x", name)
		if ok != (want >= 0) || ok && (p.Input != want || by != "2026-11-20") {
			t.Errorf("%s costs %+v, %q, %v; want %g", name, p, by, ok, want)
		}
	}
	own := table.With([]Price{{Model: "work/*", Input: 0.5}})
	if p, by, ok := own.Find("work/team/gpt-9", "openai/gpt-9"); !ok || by != Own || p.Input != 0.5 {
		t.Errorf("the person's own row is not found first: %+v %q", p, by)
	}
	if p, _, ok := (Table{Own: []Price{{Model: "a/[x]?"}}}).Find("a/x1"); ok {
		t.Errorf("%+v holds more than what is written in it and *", p)
	}
}

// Tokens of a cache are part of the input, and cost their own price.
func TestARequestCostsWhatItsTokensCost(t *testing.T) {
	table := Table{Date: "d", Prices: []Price{{Model: "v/m", Input: 2, Output: 8, Cached: 0.2}, {Model: "v/free"}}}
	u := chat.Usage{Input: 1_000_000, Cached: 500_000, Output: 250_000, Reasoning: 200_000}
	if got := table.Fill(u, "v/m"); math.Abs(got.Cost-3.1) > 1e-12 || got.Priced != "d" || !got.Known() {
		t.Errorf("it costs %+v", got)
	}
	if got := table.Fill(u, "v/free"); got.Cost != 0 || !got.Known() {
		t.Errorf("what costs nothing is %+v", got)
	}
	if got := table.Fill(u, "v/other"); got != u || got.Known() {
		t.Errorf("what nobody knows is %+v", got)
	}
	said := u
	said.Cost = 0.5
	if got := table.Fill(said, "v/m"); got != said || !got.Known() {
		t.Errorf("what the provider said does not stand: %+v", got)
	}
	later := table.Fill(u, "v/m")
	if got := (Table{Own: []Price{{Model: "v/m", Input: 99}}}).Fill(later, "v/m"); got != later {
		t.Errorf("a price that changed later changes what was paid: %+v", got)
	}
}

func TestASumSaysWhatItIsWithout(t *testing.T) {
	priced := chat.Usage{Input: 10, Output: 5, Cost: 0.5, Priced: "2026-11-20"}
	local := chat.Usage{Input: 7, Output: 1, Priced: Local}
	unknown := chat.Usage{Input: 3, Output: 1}
	if sum := (chat.Usage{}).Add(priced).Add(local); !sum.Known() || sum.Cost != 0.5 || sum.Input != 17 {
		t.Errorf("the sum of known costs is %+v", sum)
	}
	sum := (chat.Usage{}).Add(unknown).Add(priced).Add(unknown)
	if sum.Known() || sum.Unpriced != 8 || sum.Cost != 0.5 {
		t.Errorf("a sum with costs that are not known is %+v", sum)
	}
	if again := sum.Add(local); again.Unpriced != 8 {
		t.Errorf("a sum of sums is %+v", again)
	}
}

func TestARowThatCannotBeIsRefused(t *testing.T) {
	for _, bad := range []Price{
		{},
		{Model: "gpt"},
		{Model: "/x"},
		{Model: "v/"},
		{Model: "v/m", Input: -1},
		{Model: "v/m", Output: math.NaN()},
		{Model: "v/m", Cached: math.Inf(1)},
		{Model: "v/m", Input: maxPrice * 2},
	} {
		if err := bad.Check(); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	table := Default()
	for i, p := range table.Prices {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		if before, _, ok := (Table{Prices: table.Prices[:i]}).Find(p.Model); ok {
			t.Errorf("%s is never reached: %s comes before", p.Model, before.Model)
		}
	}
}

func TestMoneyIsWrittenAsPeopleReadIt(t *testing.T) {
	for _, c := range []struct {
		dollars float64
		known   bool
		want    string
	}{
		{0, true, "no cost"},
		{0, false, "cost unknown"},
		{0.0004, true, "under $0.001"},
		{0.0371, true, "$0.037"},
		{0.0371, false, "at least $0.037"},
		{1.2345, true, "$1.23"},
		{0.5, true, "$0.50"},
		{0.01, true, "$0.01"},
		{120, true, "$120.00"},
	} {
		if got := Words(c.dollars, c.known); got != c.want {
			t.Errorf("%g, %v is %q, want %q", c.dollars, c.known, got, c.want)
		}
	}
}
