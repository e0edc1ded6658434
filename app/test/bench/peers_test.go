//go:build unix

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/app/test/testkit"
)

// scenario is a prompt whose model asks for so many calls, one after the other or in one message, and
// then answers.
type scenario struct {
	model  string
	calls  int
	batch  bool    // all calls in one message
	budget float64 // of the time of PicoClaw
}

// scenarios are the prompts that programs are compared by.
var scenarios = []scenario{
	{"text_only", 0, false, 0.8},
	{"one_call", 1, false, 0.8},
	{"chain_of_50", 50, false, 0.5},
	{"50_in_one_message", 50, true, 0.6},
}

// contender is a program that is measured next to others.
type contender struct {
	name string
	// command returns a prompt to the model of a scenario. It prints the model's answer.
	command func(model string) *exec.Cmd
}

// spent holds the time and the page faults of a prompt.
type spent struct {
	wall, cpu time.Duration
	faults    int64 // minor page faults
}

// BenchmarkBesidePicoClaw compares whole prompts with those of PicoClaw, whose program PICOCLAW names.
// Both call the same Python function, which runs in a process that they start.
func BenchmarkBesidePicoClaw(b *testing.B) {
	path := os.Getenv("PICOCLAW")
	if path == "" {
		b.Skip("PICOCLAW names no program")
	}
	url := caller(b)
	compare(b, "of-PicoClaw", conclave(b, "../../../build/bin/conclave", url), picoclaw(b, path, url),
		func(budget float64) float64 { return budget })
}

// BenchmarkBesideTheLastRelease compares whole prompts with those of another build of Conclave, which
// BEFORE names. It may be a tenth slower by chance.
func BenchmarkBesideTheLastRelease(b *testing.B) {
	path := os.Getenv("BEFORE")
	if path == "" {
		b.Skip("BEFORE names no program")
	}
	url := caller(b)
	compare(b, "of-before", conclave(b, "../../../build/bin/conclave", url), conclave(b, path, url),
		func(float64) float64 { return 1.1 })
}

// compare measures two programs in turns and reports the first one's time as a part of the second one's.
func compare(b *testing.B, metric string, ours, theirs contender, budget func(float64) float64) {
	for _, s := range scenarios {
		b.Run(s.model, func(b *testing.B) {
			var all [2][]spent
			for range max(b.N, 15) {
				for i, c := range []contender{ours, theirs} {
					all[i] = append(all[i], measure(b, c, s.model))
				}
			}
			middle := func(i int, of func(spent) float64) float64 {
				var values []float64
				for _, one := range all[i] {
					values = append(values, of(one))
				}
				return testkit.Percentile(values, 50)
			}
			wall := func(s spent) float64 { return testkit.Milliseconds(s.wall) }
			cpu := func(s spent) float64 { return testkit.Milliseconds(s.cpu) }
			b.ReportMetric(middle(0, wall)/middle(1, wall), metric)
			b.ReportMetric(budget(s.budget), metric+"-budget")
			b.ReportMetric(0, "ns/op")
			faults := func(s spent) float64 { return float64(s.faults) }
			for i, c := range []contender{ours, theirs} {
				b.Logf("%s: %.1f ms, %.1f ms of CPU, %.0f page faults", c.name, middle(i, wall), middle(i, cpu), middle(i, faults))
			}
		})
	}
}

// measure runs one prompt to its end, which must be a good one.
func measure(b *testing.B, c contender, model string) spent {
	b.Helper()
	command := c.command(model)
	var out, errors bytes.Buffer
	command.Stdout, command.Stderr = &out, &errors
	began := time.Now()
	err := command.Run()
	took := time.Since(began)
	if err != nil || !strings.Contains(out.String(), answered) {
		b.Fatalf("%s, %s: %v, it said %q\n%s", c.name, model, err, out.String(), errors.String())
	}
	state := command.ProcessState
	faults := int64(0)
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		faults = usage.Minflt
	}
	return spent{took, state.UserTime() + state.SystemTime(), faults}
}

// conclave is a build of Conclave whose plugins folder holds word_count.
func conclave(b *testing.B, path, url string) contender {
	b.Helper()
	p := openProgram(b, path)
	args := []string{"models", "add", "openai", "bench", "--url", url}
	for _, s := range scenarios {
		args = append(args, "--model", s.model)
	}
	p.run(args...)
	return contender{filepath.Dir(p.path), func(model string) *exec.Cmd {
		return p.command("prompt", "-m", "bench/"+model, "--approve", "always", "--chain-limit", "0", "Count.")
	}}
}

// mcpServer offers word_count over MCP, as PicoClaw reaches tools of other processes.
const mcpServer = `import json, sys

` + wordCount + `
TOOL = {"name": "word_count", "description": "Count the words of a text.", "inputSchema": {"type": "object",
        "properties": {"text": {"type": "string", "description": "The text to count."}}, "required": ["text"]}}

for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked.get("method"), asked.get("params") or {}
    if "id" not in asked:
        continue
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "words", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": str(word_count(**params["arguments"]))}]}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
`

// picoclaw is PicoClaw with word_count as its only MCP server, and without it where the model makes no
// calls, since it starts all servers with each prompt.
func picoclaw(b *testing.B, path, url string) contender {
	b.Helper()
	home := b.TempDir()
	workspace, server := filepath.Join(home, "workspace"), filepath.Join(home, "words.py")
	must(b, os.WriteFile(server, []byte(mcpServer), 0o600))
	// The interpreter itself: a script in front of it would count as PicoClaw's time.
	const whose = "import sys; print(sys.executable, end='')"
	python, err := exec.CommandContext(b.Context(), "python3", "-c", whose).Output()
	must(b, err)
	for _, s := range scenarios {
		config, err := json.Marshal(map[string]any{
			"version": 3,
			"agents": map[string]any{"defaults": map[string]any{
				"workspace": workspace, "model_name": s.model, "max_tool_iterations": 200,
				"summarize_message_threshold": 100_000, "max_tokens": 8192, "context_window": 1_000_000,
			}},
			"model_list": []map[string]any{{
				"model_name": s.model, "model": "openai/" + s.model, "api_keys": []string{"k"}, "api_base": url,
			}},
			"tools": map[string]any{"mcp": map[string]any{"enabled": s.calls > 0, "servers": map[string]any{
				"words": map[string]any{"enabled": true, "command": string(python), "args": []string{server}},
			}}},
		})
		must(b, err)
		must(b, os.WriteFile(filepath.Join(home, s.model+".json"), config, 0o600))
	}
	return contender{"PicoClaw", func(model string) *exec.Cmd {
		must(b, os.RemoveAll(filepath.Join(workspace, "sessions"))) // each prompt begins a chat
		c := exec.CommandContext(b.Context(), path, "agent", "-m", "Count.")
		config := filepath.Join(home, model+".json")
		c.Env = append(os.Environ(), "HOME="+home, "PICOCLAW_HOME="+home, "PICOCLAW_CONFIG="+config)
		return c
	}}
}

// answered is the answer of every scenario.
const answered = "All words are counted."

var (
	offeredTool = regexp.MustCompile(`"name":\s*"([A-Za-z0-9_]*word_count)"`)
	namedModel  = regexp.MustCompile(`"model":\s*"([^"]*)"`)
	resultRole  = regexp.MustCompile(`"role":\s*"tool"`)
	streamed    = regexp.MustCompile(`"stream":\s*true`)
)

// caller is a model server on this machine that plays the scenarios, and returns its address.
func caller(b *testing.B) string {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(playScenario))
	b.Cleanup(server.Close)
	return server.URL + "/v1"
}

func playScenario(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	model, tool := namedModel.FindSubmatch(body), offeredTool.FindSubmatch(body)
	if r.Method != http.MethodPost || err != nil || model == nil {
		http.Error(w, "a request with a model is expected", http.StatusBadRequest)
		return
	}
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.model == string(model[1]) })
	if i < 0 {
		http.Error(w, "there is no such model", http.StatusNotFound)
		return
	}
	s, made := scenarios[i], len(resultRole.FindAll(body, -1))
	var calls []map[string]any
	for n := made; tool != nil && n < s.calls && (s.batch || n == made); n++ {
		calls = append(calls, map[string]any{
			"index": n - made, "id": fmt.Sprint("call_", n), "type": "function",
			"function": map[string]any{"name": string(tool[1]), "arguments": fmt.Sprintf(`{"text":"a b c %d"}`, n)},
		})
	}
	message, reason := map[string]any{"role": "assistant", "content": answered}, "stop"
	if len(calls) > 0 {
		message, reason = map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
	}
	usage := map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	reply := func(object, of string, message map[string]any, reason any) []byte {
		raw, _ := json.Marshal(map[string]any{ // of texts and numbers
			"id": "c", "object": object, "created": 1, "model": string(model[1]), "usage": usage,
			"choices": []any{map[string]any{"index": 0, of: message, "finish_reason": reason}},
		})
		return raw
	}
	if !streamed.Match(body) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply("chat.completion", "message", message, reason))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = "chat.completion.chunk"
	fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", reply(chunk, "delta", message, nil),
		reply(chunk, "delta", map[string]any{}, reason))
}
