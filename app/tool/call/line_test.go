package call_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/call"
)

// crowd counts the calls of its plugin that run, and notes the order in which they began.
type crowd struct {
	mu        sync.Mutex // guards the fields below
	now, most int
	began     []int
}

// work is a tool that takes as many seconds as its argument n says, at least one.
func (c *crowd) work(ctx context.Context, made tool.Call) tool.Result {
	var of struct{ N int }
	if err := json.Unmarshal(made.Arguments, &of); err != nil {
		panic(err) // the schema was checked
	}
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.began = append(c.began, of.N)
	c.mu.Unlock()
	time.Sleep(time.Duration(max(of.N, 1)) * time.Second)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return echo(ctx, made)
}

// members has that many members of a council make a call at the same moment, and returns how long all of them
// took.
func (b *bench) members(n int) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			b.do("work", `{}`, func(o *call.Turn, _ *call.Extra) { o.Caller = gate.Member(fmt.Sprint(i)) })
		})
	}
	all.Wait()
	return time.Since(began)
}

func TestTwelveMembersUseOnePluginTogetherWhereItMayRunTwelveCalls(t *testing.T) {
	declared := func(string) int { return tool.CallsAtOnce([]tool.Tool{{Async: true}}) }
	for name, c := range map[string]struct {
		atOnce func(string) int
		most   int
		took   time.Duration
	}{
		"its tools say that they share": {declared, 12, time.Second},
		"its tools say nothing":         {nil, 4, 3 * time.Second},
		"the person set one":            {func(string) int { return 1 }, 1, 12 * time.Second},
		"the person set five":           {func(string) int { return 5 }, 5, 3 * time.Second},
		"the person set seven":          {func(string) int { return 7 }, 7, 2 * time.Second},
		"the person set the most":       {func(string) int { return 32 }, 12, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls crowd
				b := newBench(t, tools{"work": calls.work})
				b.runner = call.New(call.Options{Gate: b.gate, Log: b.log, AtOnce: c.atOnce})
				if took := b.members(12); took != c.took || calls.most != c.most {
					t.Errorf("they took %s with at most %d at once", took, calls.most)
				}
			})
		})
	}
}

func TestEveryNumberThatCanBeSetIsMetAndNotPassed(t *testing.T) {
	for n := 1; n <= 32; n++ {
		synctest.Test(t, func(t *testing.T) {
			var c crowd
			b := newBench(t, tools{"work": c.work})
			b.runner = call.New(call.Options{Gate: b.gate, Log: b.log, AtOnce: func(string) int { return n }})
			if b.members(2*n + 1); c.most != n {
				t.Errorf("%d calls ran at once, want %d", c.most, n)
			}
		})
	}
}

func TestWaitingCallsBeginInTheOrderInWhichTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		b := newBench(t, tools{"work": c.work, "alone": c.work}, func(made *tool.Tool) {
			made.Serial = made.Name == "alone"
		})
		b.runner = call.New(call.Options{Gate: b.gate, Log: b.log, AtOnce: func(string) int { return 2 }})
		var all sync.WaitGroup
		// The third fits next to the first, and still waits for the second, which runs alone.
		for n, name := range []string{"work", "alone", "work", "alone", "alone", "work"} {
			all.Go(func() { b.do(name, fmt.Sprintf(`{"n":%d}`, n)) })
			synctest.Wait()
		}
		all.Wait()
		if !slices.Equal(c.began, []int{0, 1, 2, 3, 4, 5}) || c.most != 1 {
			t.Errorf("they began in the order %v, at most %d at once", c.began, c.most)
		}
	})
}

func TestANumberThatIsChangedHoldsForTheCallsThatFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		atOnce := 12
		b := newBench(t, tools{"work": c.work})
		b.runner = call.New(call.Options{Gate: b.gate, Log: b.log, AtOnce: func(string) int { return atOnce }})
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() { b.do("work", fmt.Sprintf(`{"n":%d}`, n+1)) })
		}
		synctest.Wait()
		atOnce = 4
		began := time.Now()
		b.do("work", `{}`) // takes a fourth of the line: as much as three of the calls that began before
		if took := time.Since(began); took != 4*time.Second || c.most != 12 {
			t.Errorf("the next call took %s, and at most %d ran at once", took, c.most)
		}
		all.Wait()
	})
}
