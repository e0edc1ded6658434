package picoclaw_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/bus"
	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/picoclaw"
	"conclave/app/plugin/python"
	"conclave/app/plugin/worker"
	"conclave/app/programtest"
	"conclave/app/testkit"
	"conclave/app/tool"
	"conclave/store"
	"conclave/store/storetest"
)

var (
	must  = testkit.Must
	write = testkit.Write
)

func TestMain(m *testing.M) { programtest.Main(m) }

// bench is a host with hook processes in its plugins folder.
type bench struct {
	t       testing.TB
	dir     string
	data    string
	store   *store.Store
	gate    *permit.Gate
	tools   *tool.Registry
	dialect *picoclaw.Dialect
	host    *host.Host
}

// newBench opens a host on an empty folder.
func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), data: t.TempDir(), tools: tool.NewRegistry()}
	launcher := worker.New(worker.Options{Program: programtest.Worker(t)})
	t.Cleanup(launcher.Close)
	py := python.New(python.Options{Runtime: filepath.Join(programtest.Dir, "runtime")})
	if _, err := py.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	b.store = storetest.OpenWith(t, store.Options{Dir: b.data})
	news := bus.New()
	gate, err := permit.Open(t.Context(), permit.Options{Store: b.store, Bus: news, Protected: []string{b.data}})
	must(t, err)
	b.gate, b.dialect = gate, picoclaw.New(py)
	b.host = host.New(host.Options{
		Dir: b.dir, Data: b.data, Dialects: []plugin.Dialect{b.dialect}, Launcher: launcher, Registry: b.tools, Gate: gate,
		Store: b.store, Bus: news, Log: slog.New(slog.DiscardHandler),
	})
	stop := gate.OnDecided(b.host.ApprovalChanged)
	t.Cleanup(func() {
		b.host.Close()
		stop()
		must(t, gate.Close(context.WithoutCancel(t.Context())))
	})
	return b
}

// entry is a hook.json.
type entry = map[string]any

// hook writes a hook process of Python and approves it; text is its hook.py.
func (b *bench) hook(id string, e entry, text string) plugin.Status {
	b.t.Helper()
	if e["command"] == nil {
		e["command"] = []string{"python3", "hook.py"}
	}
	raw, err := json.MarshalIndent(e, "", "  ")
	must(b.t, err)
	write(b.t, filepath.Join(b.dir, id, picoclaw.FileName), string(raw))
	write(b.t, filepath.Join(b.dir, id, "hook.py"), text)
	must(b.t, b.host.Scan())
	must(b.t, b.host.WaitIdle(b.t.Context()))
	must(b.t, b.host.Approve(b.t.Context(), id, false))
	must(b.t, b.host.WaitIdle(b.t.Context()))
	return b.status(id)
}

func (b *bench) status(id string) plugin.Status {
	b.t.Helper()
	s, err := b.host.Status(id)
	must(b.t, err)
	return s
}

// heard are the lines that a hook was sent, as those of told write them.
func (b *bench) heard(id string) []string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.data, "storage", id, "heard"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// told begins the hooks of these tests: each line is kept in “heard”, and answered by
// the function of its method, or with continue.
const told = `
import json, os, sys, time
heard = open(os.path.join(os.environ["HOME"], "heard"), "a")
def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
def serve(**methods):
    for line in sys.stdin:
        heard.write(line)
        heard.flush()
        message = json.loads(line)
        if not message.get("id"):
            continue
        method = message["method"].removeprefix("hook.")
        answer = methods.get(method, lambda params: {"action": "continue", "approved": True})(message.get("params"))
        if answer is not Ellipsis:
            send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
`
