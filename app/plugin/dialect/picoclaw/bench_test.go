package picoclaw_test

import (
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/plugin/host"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// BenchmarkCall measures a call of an injected tool that its hook answers, without what the
// turn around it takes: the path of a call with its record, and the hook's process.
func BenchmarkCall(b *testing.B) {
	const many = 20
	bench := newBench(b)
	bench.hook("weather", stages("before_llm", "before_tool"), weather)
	bench.ask(person(always), calls("get_weather", beijing), say("sunny")).says("sunny")
	var pairs []string
	for range many {
		pairs = append(pairs, "get_weather", beijing)
	}
	turn := func(pairs ...string) time.Duration {
		began := time.Now()
		if len(pairs) == 0 {
			bench.ask(nobody(), say("sunny")).says("sunny")
		} else {
			a := bench.ask(nobody(), calls(pairs...), say("sunny"))
			a.says("sunny")
			if len(a.results) != len(pairs)/2 || a.results[0].Text() != "It is sunny in Beijing, 20 degrees." {
				b.Fatalf("the calls were answered %+v", a.results)
			}
		}
		return time.Since(began)
	}
	var each []time.Duration
	for b.Loop() {
		// Two rounds next to one: the second asks the hook about its request too.
		around := 2 * turn()
		each = append(each, (turn(pairs...)-around)/many)
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(each, 50)), "ms-p50")
}

// BenchmarkFirstHook measures what the first request of a program waits for its hook,
// whose process has to be started.
func BenchmarkFirstHook(b *testing.B) {
	bench := newBench(b)
	bench.hook("weather", stages("before_llm"), weather)
	bench.host.Close()
	info := hook.TurnInfo{Turn: "t", Conversation: bench.chat, Model: "test/model", Kind: "normal", Caller: gate.Main}
	request := model.Request{Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("Hello.")}}}}
	offer := func(tool.Tool, tool.Invoker) error { return nil }
	var took []time.Duration
	for b.Loop() {
		bench.host = host.New(bench.options)
		must(b, bench.host.Scan())
		must(b, bench.host.WaitIdle(b.Context()))
		points := &hook.Points{Sources: []hook.Source{bench.dialect.Source(bench.host.Backends)}}
		began := time.Now()
		_, traces, err := points.BeforeRound(b.Context(), request, info, offer)
		took = append(took, time.Since(began))
		if err != nil || len(traces) != 1 || traces[0].Action == hook.Failed {
			b.Fatalf("the hook was not asked: %+v, %v", traces, err)
		}
		bench.host.Close()
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 50)), "ms-p50")
}

// BenchmarkNoHook measures what the points of a turn with one call cost where there is no
// hook process.
func BenchmarkNoHook(b *testing.B) {
	bench := newBench(b)
	points := &hook.Points{Sources: []hook.Source{bench.dialect.Source(bench.host.Backends)}}
	info := hook.TurnInfo{Turn: "t", Conversation: bench.chat, Model: "test/model", Kind: "normal", Caller: gate.Main}
	request := model.Request{Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("Hello.")}}}}
	offer := func(tool.Tool, tool.Invoker) error { return nil }
	call := hook.Call{ID: "1", Tool: bench.tools.Set().ForModel().Tools()[0], Arguments: []byte(`{"command":"ls"}`)}
	for b.Loop() {
		_, _, err := points.BeforeModel(b.Context(), request, info)
		must(b, err)
		for range 2 {
			_, _, err = points.BeforeRound(b.Context(), request, info, offer)
			must(b, err)
			_, _, err = points.AfterModel(b.Context(), chat.Message{}, info)
			must(b, err)
		}
		_, _, _, err = points.BeforeTool(b.Context(), call, info)
		must(b, err)
		_, _, err = points.Approve(b.Context(), call, info)
		must(b, err)
		done := call
		done.Result = &tool.Result{Status: chat.CallOK}
		_, _, err = points.AfterTool(b.Context(), done, info)
		must(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/float64(b.N), "µs-turn")
}
