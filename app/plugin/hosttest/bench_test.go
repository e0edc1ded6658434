package hosttest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/plugin"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/tool/call"
)

// settle is how long plugin/watch waits before it believes that a save is over:
// its burst and one quiet pause.
const settle = 17 * time.Millisecond

// measured are the two kinds of plugin that are measured. The sources answer n.
var measured = []struct {
	name, file string
	source     func(n int) string
}{
	{"javascript", "bench.js", func(n int) string {
		return fmt.Sprintf(`spindle.registerTool({ name: "answer", description: "Answer.", parameters: { type: "object", properties: { text: { type: "string" } } }, inline_available: true });
spindle.on("TOOL_INVOCATION", ({ args }) => args.text + " %d");
`, n)
	}},
	{"python", "bench.py", func(n int) string {
		return fmt.Sprintf("def answer(text: str) -> str:\n    \"Answer.\"\n    return f\"{text} %d\"\n", n)
	}},
}

// percentiles reports the middle and the 95th of a hundred.
func percentiles(b *testing.B, took []time.Duration, unit time.Duration, name string, less time.Duration) {
	for _, p := range []int{50, 95} {
		b.ReportMetric(float64(testkit.Percentile(took, p)-less)/float64(unit), fmt.Sprintf("%s-p%d", name, p))
	}
	b.ReportMetric(0, "ns/op") // the whole loop says nothing
}

// BenchmarkSaveToCallable measures from a file's save to the set that offers its
// new tools, over at least 100 saves, above the settle time. Bounds: 80 ms for
// JavaScript and 200 ms for Python in the middle.
func BenchmarkSaveToCallable(b *testing.B) {
	for _, one := range measured {
		b.Run(one.name, func(b *testing.B) {
			c := open(b, b.TempDir(), b.TempDir())
			c.write(one.file, one.source(0))
			c.becomes("bench", plugin.NeedsApproval)
			c.trust("bench")
			s, err := c.host.Status("bench")
			must(b, err)
			var took []time.Duration
			for n, last := 1, s.Generation; n <= max(b.N, 100); n++ {
				began := time.Now()
				c.write(one.file, one.source(n))
				u := c.until("the save being served", func(u plugin.Update) bool {
					return u.Generation > last && u.State != plugin.Loading
				})
				took, last = append(took, time.Since(began)), u.Generation
				if u.State != plugin.Ready {
					b.Fatalf("save %d is %s: %+v", n, u.State, u.Problem)
				}
				c.answers("bench:answer", `{"text":"save"}`, fmt.Sprintf("save %d", n))
			}
			percentiles(b, took, time.Millisecond, "ms-above-settle", settle)
		})
	}
}

// BenchmarkCall measures a call through the gate, the wire and the worker and
// back. Bound: 1 ms in the middle.
func BenchmarkCall(b *testing.B) {
	for _, one := range measured {
		b.Run(one.name, func(b *testing.B) {
			c := open(b, b.TempDir(), b.TempDir())
			c.write(one.file, one.source(0))
			c.becomes("bench", plugin.NeedsApproval)
			c.trust("bench")
			set := c.tools.Set()
			t, _ := set.ByID("bench:answer")
			invoker, ok := set.Invoker(t.ID())
			if !ok {
				b.Fatal("there is no tool")
			}
			// "Always allow", as a person says it: where the walls are missing, the
			// gate asks for everything.
			_, err := c.gate.Rules.Add(b.Context(), gate.Rule{
				Effect: gate.Allow, Plugin: t.Plugin, Tool: t.Name,
				Callers: []gate.Caller{gate.Main}, Scope: gate.Always, Digest: t.Digest,
			})
			must(b, err)
			arguments := json.RawMessage(`{"text":"call"}`)
			var took []time.Duration
			for n := range max(b.N, 1000) {
				began := time.Now()
				id := fmt.Sprintf("call-%d", n)
				d := c.gate.Decide(b.Context(), gate.Call{
					ID: id, Caller: gate.Main, Tool: t, Arguments: arguments,
					Conversation: "bench",
				})
				if d.Effect != gate.Allow {
					b.Fatalf("the gate said %+v", d)
				}
				r, err := invoker.Call(b.Context(), tool.Call{
					ID: id, Tool: t, Arguments: arguments, Conversation: "bench",
					Deadline: time.Now().Add(patience),
				})
				took = append(took, time.Since(began))
				if err != nil || chat.TextOf(r.Content) != "call 0" {
					b.Fatalf("got %+v, %v", r, err)
				}
			}
			percentiles(b, took, time.Microsecond, "µs", 0)
		})
	}
}

// BenchmarkChainOf50CallsWithoutTheModel is a turn of 51 requests and 50 calls
// through everything of the host: the runner, the gate, the wire, the process and
// the record in the store. Only the model is scripted. Bound: 1.5 s.
func BenchmarkChainOf50CallsWithoutTheModel(b *testing.B) {
	for _, one := range measured {
		b.Run(one.name, func(b *testing.B) {
			c := open(b, b.TempDir(), b.TempDir())
			c.write(one.file, one.source(0))
			c.becomes("bench", plugin.NeedsApproval)
			c.trust("bench")
			runner := turn.New(turn.Options{Log: c.store.Turns, Calls: call.New(call.Options{Gate: c.gate, Log: c.store.Turns})})
			set := c.tools.Set()
			t, ok := set.ByID("bench:answer")
			if !ok {
				b.Fatal("there is no tool")
			}
			var took []time.Duration
			for range max(b.N, 5) {
				m := modeltest.New()
				for n := range 50 {
					m.Add([]modeltest.Step{modeltest.Call(fmt.Sprintf("call-%d", n), t.WireName, fmt.Sprintf(`{"text":"chain %d"}`, n))})
				}
				m.Add([]modeltest.Step{modeltest.Say("Done.")})
				talk := chat.Conversation{Title: "bench"}
				must(b, c.store.Chats.CreateConversation(b.Context(), &talk))
				began := time.Now()
				out, err := runner.Run(b.Context(), turn.Request{
					Conversation: talk.ID, Text: "Go.", Model: m, Tools: set,
					Asker: gate.AlwaysAsker{},
				}, nil)
				took = append(took, time.Since(began))
				if err != nil || out.Reason != chat.EndDone {
					b.Fatalf("the turn ended %s: %v", out.Reason, err)
				}
				path, err := c.store.Chats.Path(b.Context(), talk.ID)
				must(b, err)
				if len(path) < 50 {
					b.Fatalf("%d messages are kept", len(path))
				}
			}
			percentiles(b, took, time.Millisecond, "ms", 0)
			b.ReportMetric(1500, "budget")
		})
	}
}

// BenchmarkStartWithUnchangedPlugins is the host's own start over a folder of one
// plugin of each kind that was approved before. No process may be started.
func BenchmarkStartWithUnchangedPlugins(b *testing.B) {
	c := everyKind(b)
	var took []time.Duration
	processes := 0
	for range max(b.N, 10) {
		c.end()
		began := time.Now()
		c = open(b, c.dir, c.data)
		c.offers(kinds...)
		took = append(took, time.Since(began))
		processes += c.launcher.Started()
	}
	percentiles(b, took, time.Millisecond, "ms", 0)
	b.ReportMetric(100, "budget")
	if processes > 0 {
		b.Fatalf("%d processes were started", processes)
	}
}
