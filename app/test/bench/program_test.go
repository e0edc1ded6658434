package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/test/testkit"
)

var must = testkit.Must

const wordCount = `def word_count(text: str) -> int:
    """Count the words of a text.

    :param text: The text to count.
    """
    return len(text.split())
`

// program is build/bin/conclave with a data folder of its own.
type program struct {
	tb   testing.TB
	path string
	data string
}

// open is a program whose plugins folder holds one approved Python tool.
func open(tb testing.TB) *program { return openProgram(tb, "../../../build/bin/conclave") }

// openProgram is open for any build of Conclave.
func openProgram(tb testing.TB, path string) *program {
	p := emptyProgram(tb, path)
	must(tb, os.WriteFile(filepath.Join(p.data, "plugins", "word_count.py"), []byte(wordCount), 0o600))
	p.run("plugins", "trust", "word_count")
	return p
}

// emptyProgram is any build of Conclave, with no plugin.
func emptyProgram(tb testing.TB, path string) *program {
	path, err := filepath.Abs(path)
	must(tb, err)
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("%v: build it with make build", err)
	}
	p := &program{tb, path, tb.TempDir()}
	must(tb, os.MkdirAll(filepath.Join(p.data, "plugins"), 0o700))
	return p
}

func (p *program) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(p.tb.Context(), p.path, append([]string{"--data", p.data}, args...)...)
	c.Env = append(os.Environ(), "HOME="+p.data, "CONCLAVE_DATA=", "CONCLAVE_PLUGINS=")
	return c
}

// run runs a command to its end, which must be a good one, and returns what it
// printed and how long it took.
func (p *program) run(args ...string) (string, time.Duration) {
	c := p.command(args...)
	var out, errors bytes.Buffer
	c.Stdout, c.Stderr = &out, &errors
	began := time.Now()
	if err := c.Run(); err != nil {
		p.tb.Fatalf("conclave %s: %v\n%s", strings.Join(args, " "), err, errors.String())
	}
	return out.String(), time.Since(began)
}

// report gives the middle and the 95th percentile in milliseconds.
func report(b *testing.B, took []time.Duration, budget float64) {
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 50)), "ms-p50")
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 95)), "ms-p95")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(budget, "budget")
}

// BenchmarkVersion is the least that any command takes. A person does not notice 40
// ms; what is started for every plugin is another program, whose start is in the
// measurements of plugins.
func BenchmarkVersion(b *testing.B) {
	p := open(b)
	var took []time.Duration
	for range max(b.N, 50) {
		_, d := p.run("version")
		took = append(took, d)
	}
	report(b, took, 40)
}

const coldTurn = `/tool word_count {"text":"a b c"}`

// BenchmarkPromptWithAColdPythonTool is a whole prompt whose answer calls a tool
// of a plugin that is not running.
func BenchmarkPromptWithAColdPythonTool(b *testing.B) {
	p := open(b)
	var took []time.Duration
	for range max(b.N, 20) {
		out, d := p.run("prompt", "-m", "demo/guide", "--approve", "always", "--no-save", coldTurn)
		if !strings.Contains(out, "3") {
			b.Fatalf("it said %q", out)
		}
		took = append(took, d)
	}
	report(b, took, 120)
}

// BenchmarkMemoryOfAPrompt is the most memory that such a prompt and its plugin's
// process have together (their proportional set size), looked at every 3 ms: the
// middle one of several prompts.
func BenchmarkMemoryOfAPrompt(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("only Linux tells the memory of a process without what it shares")
	}
	p := open(b)
	var peaks []int
	for range max(b.N, 9) {
		most := 0
		c := p.command("prompt", "-m", "demo/guide", "--approve", "always", "--no-save", coldTurn)
		must(b, c.Start())
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		for tick := time.NewTicker(3 * time.Millisecond); ; {
			select {
			case err := <-ended:
				must(b, err)
			case <-tick.C:
				most = max(most, memory(c.Process.Pid))
				continue
			}
			tick.Stop()
			break
		}
		peaks = append(peaks, most)
	}
	b.ReportMetric(float64(testkit.Percentile(peaks, 50))/1024, "MB-peak")
	b.ReportMetric(60, "MB-peak-budget")
	b.ReportMetric(0, "ns/op")
}

// memory is the proportional set size of a process and those it started, in KiB.
func memory(pid int) int {
	total := 0
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)); err == nil {
		for line := range strings.Lines(string(raw)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
				total += n
			}
		}
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		raw, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(raw)) {
			n, _ := strconv.Atoi(child)
			total += memory(n)
		}
	}
	return total
}

// BenchmarkChainOf50Calls is a prompt whose model, on this machine, calls a
// Python tool 50 times, one after the other, and then answers.
func BenchmarkChainOf50Calls(b *testing.B) {
	p := open(b)
	server := httptest.NewServer(http.HandlerFunc(calls50))
	b.Cleanup(server.Close)
	p.run("models", "add", "openai", "bench", "--url", server.URL+"/v1", "--model", "caller")
	var took []time.Duration
	for range max(b.N, 10) {
		out, d := p.run("prompt", "-m", "bench/caller", "--approve", "always", "--no-save", "--chain-limit", "0", "Count.")
		if !strings.Contains(out, "after 50 calls") {
			b.Fatalf("it said %q", out)
		}
		took = append(took, d)
	}
	report(b, took, 465)
}

// calls50 answers as Chat Completions do: a call until 50 have been made.
func calls50(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	made := 0
	for _, m := range asked.Messages {
		if m.Role == "tool" {
			made++
		}
	}
	delta,
		reason := fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"word_count","arguments":"{\"text\":\"a b c %d\"}"}}]}`, made, made), "tool_calls"
	if made == 50 {
		delta, reason = `{"role":"assistant","content":"Done, after 50 calls."}`, "stop"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const head = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"caller","choices":[{"index":0,"delta":`
	fmt.Fprintf(w, "%s%s,\"finish_reason\":null}]}\n\n", head, delta)
	fmt.Fprintf(w, "%s{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", head, reason)
}
