package plugin_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/bus"
	"conclave/app/chat"
	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
	"conclave/app/tool"
)

// fixture is a host over a plugins folder, in a world in memory.
type fixture struct {
	t     *testing.T
	dir   string
	data  string
	world *plugintest.World
	cache *plugintest.Memory
	gate  *permit.Gate
	bus   *bus.Bus
	tools *tool.Registry
	host  *plugin.Host
	keys  *secrets
	chat  *chat.Conversation // the active one
	stop  func()

	environments plugin.Environments // none, unless a test gives it
}

// bubble runs test in a synctest bubble with a host that trusts nothing yet.
func bubble(t *testing.T, contract string, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, dir: t.TempDir(), data: t.TempDir(), world: plugintest.NewWorld(contract), cache: &plugintest.Memory{}, bus: bus.New(), keys: &secrets{}}
		gate, err := permit.Open(t.Context(), permit.Options{Bus: f.bus, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		f.gate = gate
		f.open()
		test(t, f)
		f.close()
	})
}

// open makes the host, as at a start of Conclave.
func (f *fixture) open() {
	f.tools = tool.NewRegistry()
	f.host = plugin.New(plugin.Options{
		Dir: f.dir, Data: f.data, Dialects: []plugin.Dialect{f.world}, Launcher: f.world, Registry: f.tools, Gate: f.gate, Cache: f.cache, Bus: f.bus,
		Environments: f.environments, Secrets: f.keys, Log: slog.New(slog.DiscardHandler), Chats: plugin.Chats{Active: func(context.Context) (*chat.Conversation, error) { return f.chat, nil }},
	})
	f.stop = f.gate.OnDecided(f.host.Decided)
}

// close ends the host, which must leave no process behind.
func (f *fixture) close() {
	f.t.Helper()
	f.stop()
	f.host.Close()
	f.host.Close() // twice is no harm
	if n := f.world.Running(); n != 0 {
		f.t.Errorf("%d processes outlived the host", n)
	}
}

// restart is a new start of Conclave on what the last one left.
func (f *fixture) restart() {
	f.t.Helper()
	f.close()
	f.open()
	f.scan()
}

func (f *fixture) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// raw writes a file of the plugins folder.
func (f *fixture) raw(name, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// text reads a file of the plugins folder.
func (f *fixture) text(name string) string {
	f.t.Helper()
	text, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

func (f *fixture) write(name string, s plugintest.Script) {
	f.t.Helper()
	f.raw(name, s.JSON())
}

// scan reads the folder and waits until everything is loaded or failed.
func (f *fixture) scan() {
	f.t.Helper()
	if err := f.host.Scan(); err != nil {
		f.t.Fatal(err)
	}
	f.settle()
}

func (f *fixture) settle() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	if err := f.host.Settled(ctx); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

// save writes a plugin and has it loaded.
func (f *fixture) save(name string, s plugintest.Script) {
	f.t.Helper()
	f.write(name, s)
	f.scan()
}

// serve saves a plugin and approves it.
func (f *fixture) serve(name string, s plugintest.Script) {
	f.t.Helper()
	f.save(name, s)
	f.trust(idOf(name), false)
	if got := f.status(idOf(name)); got.State != plugin.Ready {
		f.t.Fatalf("%s is %s: %v", name, got.State, got.Problem)
	}
}

func idOf(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return strings.TrimSuffix(first, filepath.Ext(first))
}

func (f *fixture) trust(id string, developing bool) {
	f.t.Helper()
	if err := f.host.Trust(f.t.Context(), id, developing); err != nil {
		f.t.Fatal(err)
	}
	f.settle()
}

func (f *fixture) status(id string) plugin.Status {
	f.t.Helper()
	s, err := f.host.Status(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// state checks how a plugin stands.
func (f *fixture) state(id string, want plugin.State) plugin.Status {
	f.t.Helper()
	s := f.status(id)
	if s.State != want {
		f.t.Errorf("%s is %s, want %s; its problem: %v", id, s.State, want, s.Problem)
	}
	return s
}

// offered returns the ids of the tools in the newest set.
func (f *fixture) offered() []string {
	var ids []string
	for _, t := range f.tools.Set().Tools() {
		ids = append(ids, t.ID())
	}
	return ids
}

func (f *fixture) offers(want ...string) {
	f.t.Helper()
	if got := f.offered(); !slices.Equal(got, want) {
		f.t.Errorf("the tools are %q, want %q", got, want)
	}
}

// frozen is a tool as a turn keeps it.
type frozen struct {
	f       *fixture
	tool    tool.Tool
	invoker tool.Invoker
}

func (f *fixture) freeze(id string) frozen {
	f.t.Helper()
	set := f.tools.Set()
	t, ok := set.ByID(id)
	if !ok {
		f.t.Fatalf("there is no tool %s, but %q", id, f.offered())
	}
	invoker, _ := set.Invoker(id)
	return frozen{f, t, invoker}
}

func (z frozen) call(ctx context.Context, arguments string) tool.Result {
	z.f.t.Helper()
	r, err := z.invoker.Call(ctx, tool.Call{
		ID: "c", Tool: z.tool, Arguments: json.RawMessage(arguments), Deadline: time.Now().Add(z.tool.TimeLimit()),
	})
	if err != nil {
		z.f.t.Errorf("call %s: %v", z.tool.ID(), err)
	}
	return r
}

// begin starts a call in the background.
func (z frozen) begin(ctx context.Context) <-chan tool.Result {
	z.f.t.Helper()
	result := make(chan tool.Result, 1)
	go func() { result <- z.call(ctx, "{}") }() // ends with the call
	return result
}

// says calls a tool of the newest set and checks its answer.
func (f *fixture) says(id, want string) {
	f.t.Helper()
	f.freeze(id).says(want)
}

func (z frozen) says(want string) {
	z.f.t.Helper()
	r := z.call(z.f.t.Context(), "{}")
	if got := chat.TextOf(r.Content); r.Status != chat.CallOK || got != want {
		z.f.t.Errorf("%s answered %s %q %q, want %q", z.tool.ID(), r.Status, got, r.Error, want)
	}
}

// started checks how often each plugin's process was started.
func (f *fixture) started(want map[string]int) {
	f.t.Helper()
	got := map[string]int{}
	for _, id := range f.world.Started() {
		got[id]++
	}
	if !maps.Equal(got, want) {
		f.t.Errorf("started %v, want %v", got, want)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
