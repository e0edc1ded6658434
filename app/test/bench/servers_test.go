package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/app/test/testkit"
)

// patient is an MCP server without any library: it lists a tool, or with a second argument answers nothing.
const patient = `import json, sys, time
while len(sys.argv) > 2:
    time.sleep(60)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    results = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "patient", "version": "1"}},
               "tools/list": {"tools": [{"name": "wait_" + sys.argv[1], "inputSchema": {"type": "object"}}]}}
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] in results:
        answer["result"] = results[message["method"]]
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
`

// withServers is a program with n approved MCP servers. The first so many never answer, and were never listed.
func withServers(b *testing.B, n, hang int) *program {
	b.Helper()
	p := emptyProgram(b, "../../../build/bin/conclave")
	servers, ids := map[string]any{}, []string{}
	for i := range n {
		args := []string{"-c", patient, fmt.Sprint(i)}
		entry := map[string]any{"command": "/usr/bin/python3", "args": args}
		if i < hang { // whoever approves them waits for them, once
			entry["args"], entry["startTimeoutMs"] = append(args, "hang"), 2000
		}
		servers[fmt.Sprint("server", i)] = entry
		ids = append(ids, fmt.Sprint("w-server", i))
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	must(b, err)
	must(b, os.WriteFile(filepath.Join(p.data, "plugins", "w.mcp.json"), raw, 0o600))
	for i, id := range ids {
		c := p.command("plugins", "trust", id, "--tools", "--yes")
		if out, err := c.CombinedOutput(); (err == nil) != (i >= hang) {
			b.Fatalf("%s was approved with %v: %s", id, err, out)
		}
	}
	return p
}

// BenchmarkFirstTokenBesideFiveHangingServers measures the first text of an answer where five of 20 MCP servers never
// answer, above that where all answer, in turns.
func BenchmarkFirstTokenBesideFiveHangingServers(b *testing.B) {
	programs := []*program{withServers(b, 20, 5), withServers(b, 15, 0)}
	var above []time.Duration
	for range max(b.N, 15) {
		hang, none := programs[0].firstText(), programs[1].firstText()
		above = append(above, hang-none)
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(above, 50)), "ms-above-p50")
	b.ReportMetric(5, "budget") // what reading five entries more may cost
	b.ReportMetric(0, "ns/op")
}

// firstText is the time from the start of a prompt to the first text of its answer.
func (p *program) firstText() time.Duration {
	c := p.command("prompt", "-m", "demo/guide", "--no-save", "Hi.")
	out, err := c.StdoutPipe()
	must(p.tb, err)
	began := time.Now()
	must(p.tb, c.Start())
	_, err = out.Read(make([]byte, 1))
	took := time.Since(began)
	must(p.tb, err)
	_ = c.Process.Kill()
	_ = c.Wait()
	return took
}
