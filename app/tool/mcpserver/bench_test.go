package mcpserver_test

import (
	"testing"
	"time"

	"conclave/app/gate"
	"conclave/app/test/testkit"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
	"conclave/app/tool/mcpserver"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCall measures what serving adds to a call: one by a program, over standard streams and over HTTP in
// both eras, above the same call made without it.
func BenchmarkCall(b *testing.B) {
	bench := newBench(b, tools{"one": says("1")})
	bench.allow(gate.Outside("editor"))
	token, address := bench.token("editor"), bench.listen(mcpserver.Choices{})
	streams, _ := bench.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	ways := map[string]*mcp.ClientSession{
		"streams": streams, "sessions": bench.connect(address, token, "2025-11-25", nil),
		"requests": bench.connect(address, token, "", nil),
	}
	calls := call.New(call.Options{Gate: bench.gate, Log: bench.log})
	for way, session := range ways {
		b.Run(way, func(b *testing.B) {
			namesOf(b, session)
			var above []time.Duration
			for b.Loop() {
				began := time.Now()
				_, err := calls.Do(b.Context(), call.Turn{
					TurnInfo: hook.TurnInfo{Caller: gate.Outside("editor")}, Tools: bench.registry.Set(),
				}, "p:one", "{}", call.Extra{})
				must(b, err)
				alone := time.Since(began)
				began = time.Now()
				r, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "one"})
				must(b, err)
				above = append(above, time.Since(began)-alone)
				if r.IsError {
					b.Fatal(textOf(r))
				}
			}
			b.ReportMetric(testkit.Milliseconds(testkit.Percentile(above, 50)), "ms-above-p50")
		})
	}
}
