package plugintest

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

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/library"
	"conclave/app/tool"
)

// Fixture is a host over a plugins folder, in a world in memory. What it finds wrong
// fails the test.
type Fixture struct {
	Dir     string // the plugins folder
	Data    string
	World   *World
	Store   *Memory
	Gate    *gate.Gate
	Bus     *bus.Bus
	Tools   *tool.Registry
	Host    *host.Host
	Library *library.Library
	Keys    *Secrets

	Environments host.Environments // none, unless a test gives it before Open
	Dialects     []plugin.Dialect  // besides World, in the same way
	Services     map[string]plugin.Service

	T    *testing.T
	wait func() // until nothing runs that is not blocked
}

// dialects are the facts of the world's plugins, by the name of their dialect: as
// plain as can be, and with everything that only some dialects have.
var dialects = map[string]plugin.Facts{
	"functions": {Name: "functions", Convention: tool.Convention{Loose: true}, Packages: true},
	"spindle": {
		Name: "spindle", Convention: tool.Convention{Chat: true}, ToolsPermission: "tools", OptIn: true, Qualified: true,
		Sealed: gate.Sealed{Why: "its walls are shut"},
	},
	"servers": {
		Name: "servers", Idle: 15 * time.Minute, Rests: []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute},
	},
}

// Bubble runs test in a synctest bubble with a host that trusts nothing yet.
func Bubble(t *testing.T, dialect string, test func(t *testing.T, f *Fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, dialect, synctest.Wait, test) })
}

// RealTime is Bubble with the clock of the computer, which is the one that files have.
func RealTime(t *testing.T, dialect string, test func(t *testing.T, f *Fixture)) {
	t.Helper()
	run(t, dialect, func() {}, test)
}

func run(t *testing.T, dialect string, wait func(), test func(t *testing.T, f *Fixture)) {
	t.Helper()
	f := &Fixture{
		T: t, Dir: t.TempDir(), Data: t.TempDir(), World: NewWorld(dialects[dialect]), Store: &Memory{},
		Bus: bus.New(), Keys: &Secrets{}, wait: wait,
	}
	gate, err := gate.Open(t.Context(), gate.Options{Bus: f.Bus, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	f.Gate = gate
	f.Open()
	test(t, f)
	f.Close()
}

// Open makes the host, as at a start of Conclave.
func (f *Fixture) Open() {
	f.Tools = tool.NewRegistry()
	f.Host = host.New(host.Options{
		Dir: f.Dir, Data: f.Data, Dialects: append([]plugin.Dialect{f.World}, f.Dialects...), Launcher: f.World,
		Registry: f.Tools, Gate: f.Gate, Store: f.Store, Bus: f.Bus,
		Environments: f.Environments, Services: f.Services, Secrets: f.Keys, Log: slog.New(slog.DiscardHandler),
	})
	f.Library = library.New(library.Options{
		Dir: f.Dir, Data: f.Data, Host: f.Host, Gate: f.Gate,
		Log: slog.New(slog.DiscardHandler),
	})
}

// Close ends the host, which must leave no process behind.
func (f *Fixture) Close() {
	f.T.Helper()
	f.Host.Close()
	f.Host.Close() // twice is no harm
	if n := f.World.Running(); n != 0 {
		f.T.Errorf("%d processes outlived the host", n)
	}
}

// Restart is a new start of Conclave on what the last one left.
func (f *Fixture) Restart() {
	f.T.Helper()
	f.Close()
	f.Open()
	f.Scan()
}

// Path is that of a file in the plugins folder.
func (f *Fixture) Path(name string) string { return filepath.Join(f.Dir, filepath.FromSlash(name)) }

// Raw writes a file of the plugins folder.
func (f *Fixture) Raw(name, text string) {
	f.T.Helper()
	if err := os.MkdirAll(filepath.Dir(f.Path(name)), 0o700); err != nil {
		f.T.Fatal(err)
	}
	if err := os.WriteFile(f.Path(name), []byte(text), 0o600); err != nil {
		f.T.Fatal(err)
	}
}

// Text reads a file of the plugins folder.
func (f *Fixture) Text(name string) string {
	f.T.Helper()
	text, err := os.ReadFile(f.Path(name))
	if err != nil {
		f.T.Fatal(err)
	}
	return string(text)
}

// Write writes a plugin.
func (f *Fixture) Write(name string, s Script) {
	f.T.Helper()
	f.Raw(name, s.JSON())
}

// Scan reads the folder and waits until everything is loaded or failed.
func (f *Fixture) Scan() {
	f.T.Helper()
	if err := f.Host.Scan(); err != nil {
		f.T.Fatal(err)
	}
	f.Settle()
}

// Settle waits until everything is loaded or failed.
func (f *Fixture) Settle() {
	f.T.Helper()
	ctx, cancel := context.WithTimeout(f.T.Context(), time.Minute)
	defer cancel()
	if err := f.Host.WaitIdle(ctx); err != nil {
		f.T.Fatal(err)
	}
	f.wait()
}

// Save writes a plugin and has it loaded.
func (f *Fixture) Save(name string, s Script) {
	f.T.Helper()
	f.Write(name, s)
	f.Scan()
}

// Serve saves a plugin and approves it.
func (f *Fixture) Serve(name string, s Script) {
	f.T.Helper()
	f.Save(name, s)
	f.Trust(idOf(name), false)
	if got := f.Status(idOf(name)); got.State != plugin.Ready {
		f.T.Fatalf("%s is %s: %v", name, got.State, got.Problem)
	}
}

func idOf(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return strings.TrimSuffix(first, filepath.Ext(first))
}

// Trust approves a plugin and has it loaded.
func (f *Fixture) Trust(id string, developing bool) {
	f.T.Helper()
	if err := Approve(f.T.Context(), f.Host, id, developing); err != nil {
		f.T.Fatal(err)
	}
	f.Settle()
}

// Approve approves a plugin as it lies there, and then what it lists, as a person does who reads
// both. A plugin that does not wait is left as it is.
func Approve(ctx context.Context, h *host.Host, id string, developing bool) error {
	for range 2 {
		if err := h.WaitLoaded(ctx, id); err != nil {
			return err
		}
		s, err := h.Status(id)
		if err != nil || s.Shown == "" {
			return err
		}
		if err := h.Approvals.Approve(ctx, id, s.Shown, gate.ApproveOptions{Developing: developing}); err != nil {
			return err
		}
	}
	return nil
}

// Status returns the state of a plugin.
func (f *Fixture) Status(id string) plugin.Status {
	f.T.Helper()
	s, err := f.Host.Status(id)
	if err != nil {
		f.T.Fatal(err)
	}
	return s
}

// State checks how a plugin stands.
func (f *Fixture) State(id string, want plugin.State) plugin.Status {
	f.T.Helper()
	s := f.Status(id)
	if s.State != want {
		f.T.Errorf("%s is %s, want %s; its problem: %v", id, s.State, want, s.Problem)
	}
	return s
}

// Offered returns the ids of the tools in the newest set.
func (f *Fixture) Offered() []string {
	var ids []string
	for _, t := range f.Tools.Set().Tools() {
		ids = append(ids, t.ID())
	}
	return ids
}

// Offers checks which tools the newest set has.
func (f *Fixture) Offers(want ...string) {
	f.T.Helper()
	if got := f.Offered(); !slices.Equal(got, want) {
		f.T.Errorf("the tools are %q, want %q", got, want)
	}
}

// Frozen is a tool as a turn keeps it.
type Frozen struct {
	Tool    tool.Tool
	Invoker tool.Invoker

	f *Fixture
}

// Freeze takes a tool of the newest set.
func (f *Fixture) Freeze(id string) Frozen {
	f.T.Helper()
	set := f.Tools.Set()
	t, ok := set.ByID(id)
	if !ok {
		f.T.Fatalf("there is no tool %s, but %q", id, f.Offered())
	}
	invoker, _ := set.Invoker(id)
	return Frozen{t, invoker, f}
}

// Call calls it and returns the answer.
func (z Frozen) Call(ctx context.Context, arguments string) tool.Result {
	z.f.T.Helper()
	r, err := z.Invoker.Call(ctx, tool.Call{
		ID: "c", Tool: z.Tool, Arguments: json.RawMessage(arguments), Deadline: time.Now().Add(z.Tool.TimeLimit()),
	})
	if err != nil {
		z.f.T.Errorf("call %s: %v", z.Tool.ID(), err)
	}
	return r
}

// Begin starts a call in the background.
func (z Frozen) Begin(ctx context.Context) <-chan tool.Result {
	z.f.T.Helper()
	result := make(chan tool.Result, 1)
	go func() { result <- z.Call(ctx, "{}") }() // ends with the call
	return result
}

// Says calls a tool of the newest set and checks its answer.
func (f *Fixture) Says(id, want string) {
	f.T.Helper()
	f.Freeze(id).Says(want)
}

// Says calls it and checks its answer.
func (z Frozen) Says(want string) {
	z.f.T.Helper()
	r := z.Call(z.f.T.Context(), "{}")
	if got := chat.TextOf(r.Content); r.Status != chat.CallOK || got != want {
		z.f.T.Errorf("%s answered %s %q %q, want %q", z.Tool.ID(), r.Status, got, r.Error, want)
	}
}

// Started checks how often each plugin's process was started.
func (f *Fixture) Started(want map[string]int) {
	f.T.Helper()
	got := map[string]int{}
	for _, id := range f.World.Started() {
		got[id]++
	}
	if !maps.Equal(got, want) {
		f.T.Errorf("started %v, want %v", got, want)
	}
}
