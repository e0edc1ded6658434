package deliberation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// takes is a plugin whose tools each take a while.
type takes time.Duration

// Call implements tool.Invoker.
func (d takes) Call(ctx context.Context, _ tool.Call) (tool.Result, error) {
	if d > 0 {
		timer := time.NewTimer(time.Duration(d))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("Yes.")}}, nil
}

// withTools is a council of four members in mode tools, with as many tools each, which take
// a while.
func withTools(b *bench, each int, long time.Duration) council.Council {
	b.t.Helper()
	var names, members []string
	for m := range 4 {
		var assigned []string
		for i := range each {
			name := fmt.Sprintf("tool%d%d", m, i)
			names, assigned = append(names, name), append(assigned, `"p:`+name+`"`)
		}
		members = append(members, fmt.Sprintf(`{"name": "M%d", "tools": [%s]}`, m, strings.Join(assigned, ", ")))
	}
	b.tools("p", takes(long), names...)
	return b.council(`{"enabled": true, "mode": "tools", "members": [` + strings.Join(members, ", ") + `]}`)
}

// advised has a question answered, and returns the run before it and how long the council
// took.
func advised(b *bench, calls int) (council.Run, time.Duration) {
	b.t.Helper()
	main := b.says("test/main", "Yes.")
	var took time.Duration
	_, err := b.runner.Run(b.t.Context(), turn.Request{
		Conversation: b.id, Text: "Is it so?", Model: main, Asker: gate.AlwaysAsker{},
	}, deliberation.How{OnEvent: func(e deliberation.Event) {
		if e.Step != nil && e.Step.Kind == council.Hands {
			took = e.Step.At.Sub(e.Run.Began)
		}
	}}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	run, _ := b.stored()
	done := 0
	for _, t := range run.Tasks {
		if t.State == council.Done {
			done += max(1, len(t.End.Calls))
		}
	}
	if done != calls || run.State != council.Over || took == 0 {
		b.t.Fatalf("%d of %d calls were made in %s: %s", done, calls, took, states(run))
	}
	return run, took
}

// p50 reports the middle of times.
func p50(b *testing.B, took []time.Duration, unit time.Duration, name string, budget float64) {
	b.ReportMetric(float64(testkit.Percentile(took, 50))/float64(unit), name+"-p50")
	b.ReportMetric(budget, "budget")
}

// BenchmarkFourMembersWithEightCalls is all that a council adds to what its models and tools
// take: planning, the gate, the records of the calls, steps on the disk. Bound: 5 ms.
func BenchmarkFourMembersWithEightCalls(b *testing.B) {
	k := newBench(b)
	withTools(k, 2, 0)
	var took []time.Duration
	for range max(b.N, 50) {
		_, t := advised(k, 8)
		took = append(took, t)
	}
	p50(b, took, time.Millisecond, "ms", 5)
}

// BenchmarkFourMembersWithToolsOfASecond shows that members work at once. Bound: 1.3 s.
func BenchmarkFourMembersWithToolsOfASecond(b *testing.B) {
	k := newBench(b)
	withTools(k, 1, time.Second)
	var took []time.Duration
	for range 3 {
		_, t := advised(k, 4)
		took = append(took, t)
	}
	p50(b, took, time.Second, "s", 1.3)
}

// BenchmarkViewOfAStoredRun opens a run of 12 members and 4 rounds as the window does.
// Bound: 100 ms.
func BenchmarkViewOfAStoredRun(b *testing.B) {
	k := newBench(b)
	var members []string
	for i := range 12 {
		name := fmt.Sprintf("test/m%d", i)
		members = append(members, fmt.Sprintf(`{"name": "M%d", "model": %q}`, i, name))
		block := "```council\n" + `{"position": "Yes.", "points": [{"claim": "It is ` + name + `.", "basis": "own"}]}` + "\n```"
		var steps [][]modeltest.Step
		for range 4 {
			steps = append(steps, []modeltest.Step{
				modeltest.Say(strings.Repeat("It is so, and not otherwise. ", 40) + block), modeltest.Used(1000, 300),
			})
		}
		k.model(name, steps...)
	}
	k.council(`{"enabled": true, "mode": "review", "rounds": 4, "members": [` + strings.Join(members, ", ") + `]}`)
	run, _ := advised(k, 48)
	var took []time.Duration
	for range max(b.N, 50) {
		began := time.Now()
		view, err := k.runner.View(b.Context(), run.Begin.Run, 0)
		took = append(took, time.Since(began))
		if err != nil || view.Result == nil || len(view.Lanes) != 13 {
			b.Fatalf("it is shown with %d lanes: %v", len(view.Lanes), err)
		}
	}
	p50(b, took, time.Millisecond, "ms", 100)
}
