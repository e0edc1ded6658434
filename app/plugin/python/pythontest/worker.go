// Package pythontest starts the workers of Python dialects as the host would and
// talks to them over the raw wire, on every Python that the machine has.
//
// Only tests import it. A package's TestMain calls programtest.Main.
package pythontest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker"
	"conclave/app/plugin/worker/confine"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

// Patience bounds every wait for a worker: far above what any answer takes.
var Patience = testkit.Patience

// Launcher starts processes from the real conclave-worker. The caller closes it.
func Launcher(t testing.TB) *worker.Launcher {
	t.Helper()
	return worker.New(worker.Options{Program: programtest.Worker(t)})
}

// Pythons returns every Python of 3.9 or newer on this machine, by its version
// and folder.
var Pythons = sync.OnceValue(func() map[string]*python.Interpreters {
	found := map[string]*python.Interpreters{}
	home, _ := os.UserHomeDir()
	commands, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/bin/python3"))
	commands = append(commands, "/usr/bin/python3", "/usr/local/bin/python3", "python3")
	for minor := 9; minor < 20; minor++ {
		commands = append(commands, fmt.Sprintf("/usr/bin/python3.%d", minor), fmt.Sprintf("python3.%d", minor))
	}
	var seen []string
	for _, command := range commands {
		i := python.New(python.Options{Python: command, Runtime: programtest.Dir})
		p, err := i.Python(context.Background())
		if err == nil && !slices.Contains(seen, p.Executable) {
			seen = append(seen, p.Executable)
			found[p.Version+" "+filepath.Dir(p.Executable)] = i
		}
	}
	return found
})

// Every runs a test on each of them, side by side.
func Every(t *testing.T, test func(t *testing.T, i *python.Interpreters)) {
	t.Helper()
	all := Pythons()
	if len(all) == 0 {
		t.Skip("there is no Python 3.9 or newer on this machine")
	}
	for version, i := range all {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, i)
		})
	}
}

// Ends runs a test on the oldest and the newest of them, side by side: for what
// may differ between versions, but not at one in the middle alone.
func Ends(t *testing.T, test func(t *testing.T, i *python.Interpreters)) {
	t.Helper()
	all := Pythons()
	if len(all) == 0 {
		t.Skip("there is no Python 3.9 or newer on this machine")
	}
	versions := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Compare(minor(a), minor(b)) })
	for _, version := range slices.Compact([]string{versions[0], versions[len(versions)-1]}) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, all[version])
		})
	}
}

// minor returns the second number of a version: 11 of 3.11.7.
func minor(version string) int {
	parts := strings.Split(version, ".")
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return n
}

// Any returns the Python that a person would get.
func Any(t testing.TB) *python.Interpreters {
	t.Helper()
	i := python.New(python.Options{Runtime: programtest.Dir})
	if _, err := i.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	return i
}

// Files writes a tree and returns its folder.
func Files(t testing.TB, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

// Source returns the Source of a file or folder.
func Source(t testing.TB, path string) plugin.Source {
	t.Helper()
	info, err := os.Stat(path)
	testkit.Must(t, err)
	id := strings.TrimSuffix(filepath.Base(path), ".py")
	return plugin.Source{ID: id, Path: path, Display: path, Folder: info.IsDir()}
}

// Worker is a running plugin and a raw client of its wire.
type Worker struct {
	t       testing.TB
	Cmd     *exec.Cmd // nil in the sandbox
	In      io.WriteCloser
	Lines   chan Message
	Stderr  *Buffer
	next    int
	Storage string
	Aside   []Message // notifications that came while an answer was awaited

	Tools   []Listed          // as List found them
	Options json.RawMessage   // the schema of the settings, as List found it
	Notes   []string          // as List found them
	Secrets map[string]string // what options.secret is answered with; nil leaves those requests to the test
}

// Message is one message of the wire, either way.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Problem *plugin.Problem `json:"problem"`
		} `json:"data"`
	} `json:"error"`
}

// Listed is a tool as tools/list shows it.
type Listed struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
	Meta        struct {
		Line       int      `json:"conclave/line"`
		File       string   `json:"conclave/file"`
		Warnings   []string `json:"conclave/warnings"`
		Serial     bool     `json:"conclave/serial"`
		Async      bool     `json:"conclave/async"`
		TimeoutMS  int      `json:"conclave/timeout-ms"`
		Visibility string   `json:"conclave/visibility"`
		Strict     bool     `json:"conclave/strict"`
		Instance   string   `json:"conclave/instance"`
	} `json:"_meta"`
}

// Answer is the result of a call.
type Answer struct {
	IsError bool `json:"isError"`
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		MimeType string `json:"mimeType"`
		Data     []byte `json:"data"`
	} `json:"content"`
	Meta struct {
		Status    string          `json:"conclave/status"`
		Result    json.RawMessage `json:"conclave/result"`
		ErrorType string          `json:"conclave/error-type"`
		Traceback string          `json:"conclave/traceback"`
		Printed   string          `json:"conclave/printed"`
	} `json:"_meta"`
}

// Text is the text of an answer's first content, or "".
func (a Answer) Text() string {
	if len(a.Content) == 0 {
		return ""
	}
	return a.Content[0].Text
}

// Launch starts the plugin at path as the host would, without the sandbox.
func Launch(t testing.TB, d plugin.Dialect, src plugin.Source) *Worker {
	t.Helper()
	return LaunchWith(t, d, src, plugin.StartOptions{})
}

// LaunchWith is Launch in a place of which Storage, Runtime and Work are filled
// in.
func LaunchWith(t testing.TB, d plugin.Dialect, src plugin.Source, start plugin.StartOptions) *Worker {
	t.Helper()
	storage := t.TempDir()
	start.Storage, start.Runtime, start.Work = storage, programtest.Dir, storage
	m, err := d.Recognize(t.Context(), src)
	if err != nil || m == nil {
		t.Fatalf("Recognize %s: %v, %v", src.Path, m, err)
	}
	spec, err := d.Spec(t.Context(), src, *m, start)
	testkit.Must(t, err)
	return Begin(t, spec, storage)
}

// Begin starts a spec's process.
func Begin(t testing.TB, spec sandbox.Spec, storage string) *Worker {
	t.Helper()
	w := &Worker{t: t, Stderr: &Buffer{}, Lines: make(chan Message, 1024), Storage: storage}
	spec = patient(spec)
	w.Cmd = exec.Command(spec.Argv[0], spec.Argv[1:]...) //nolint:noctx // ended by the cleanup
	w.Cmd.Env, w.Cmd.Dir, w.Cmd.Stderr = spec.Env, spec.Dir, w.Stderr
	var err error
	if w.In, err = w.Cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.Cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, w.Cmd.Start())
	if len(spec.Input) > 0 {
		if _, err := w.In.Write(confine.Preface(spec)); err != nil {
			t.Fatal(err)
		}
	}
	reading := w.Read(out)
	t.Cleanup(func() {
		_ = w.In.Close()
		_ = w.Cmd.Process.Kill()
		go func() { // unblocks the reader when a test left lines unread
			for range w.Lines {
			}
		}()
		reading.Wait()
		_ = w.Cmd.Wait()
	})
	return w
}

// patient gives a worker as long to load as the tests wait for anything: on a
// machine where everything is slow, a loader of the plain kind is not stuck yet.
func patient(spec sandbox.Spec) sandbox.Spec { return LoadWithin(spec, Patience) }

// LoadWithin returns spec with another limit of what loading may take, unless it
// has one already.
func LoadWithin(spec sandbox.Spec, limit time.Duration) sandbox.Spec {
	var config map[string]any
	if json.Unmarshal(spec.Input, &config) != nil || config["load_ms"] != nil || config["entry"] == nil {
		return spec
	}
	config["load_ms"] = limit.Milliseconds()
	if text, err := json.Marshal(config); err == nil {
		spec.Input = text
	}
	return spec
}

// Read hands on the lines of out until it ends.
func (w *Worker) Read(out io.Reader) *sync.WaitGroup {
	var reading sync.WaitGroup
	reading.Go(func() { // ends with the process, which the cleanup ends
		defer close(w.Lines)
		in := bufio.NewReaderSize(out, 1<<16)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m Message
			if err := json.Unmarshal(line, &m); err != nil {
				m.Method = "not JSON: " + string(line)
			}
			w.Lines <- m
		}
	})
	return &reading
}

// Send writes a message, with its "jsonrpc" filled in.
func (w *Worker) Send(m map[string]any) {
	w.t.Helper()
	m["jsonrpc"] = "2.0"
	line, err := json.Marshal(m)
	testkit.Must(w.t, err)
	if _, err := w.In.Write(append(line, '\n')); err != nil {
		w.t.Fatalf("the worker is gone: %v\n%s", err, w.Stderr)
	}
}

// Receive returns the next message.
func (w *Worker) Receive() Message {
	w.t.Helper()
	select {
	case m, ok := <-w.Lines:
		if !ok {
			w.t.Fatalf("the worker ended\n%s", w.Stderr)
		}
		if strings.HasPrefix(m.Method, "not JSON") {
			w.t.Fatal(m.Method)
		}
		if w.answerHost(m) {
			return w.Receive()
		}
		return m
	case <-time.After(Patience):
		w.t.Fatalf("no Answer\n%s", w.Stderr)
	}
	panic("unreachable")
}

// answerHost answers a request for a secret setting, if the test gave any, and one for the time
// that is left to load, which is none; it refuses one for a program.
func (w *Worker) answerHost(m Message) bool {
	var ask struct {
		Capability string
		Args       struct{ Name string }
	}
	if m.Method != "conclave/host" || json.Unmarshal(m.Params, &ask) != nil {
		return false
	}
	switch {
	case ask.Capability == "load.left":
		w.Send(map[string]any{"id": m.ID, "result": map[string]int{"ms": 0}})
		return true
	case ask.Capability == "programs.start":
		w.Send(map[string]any{"id": m.ID, "error": map[string]any{
			"code": -32010, "message": "PERMISSION_DENIED: programs: it was not started",
			"data": map[string]string{"kind": "denied"},
		}})
		return true
	case ask.Capability != "options.secret" || w.Secrets == nil:
		return false
	}
	w.Send(map[string]any{"id": m.ID, "result": map[string]string{"value": w.Secrets[ask.Args.Name]}})
	return true
}

// Wait returns the Answer to a request, keeping what else comes.
func (w *Worker) Wait(id int) Message {
	w.t.Helper()
	for i, m := range w.Aside {
		if string(m.ID) == fmt.Sprint(id) && m.Method == "" {
			w.Aside = slices.Delete(w.Aside, i, i+1)
			return m
		}
	}
	for {
		m := w.Receive()
		if string(m.ID) == fmt.Sprint(id) && m.Method == "" {
			return m
		}
		w.Aside = append(w.Aside, m)
	}
}

// Until returns the next message of a method.
func (w *Worker) Until(method string) Message {
	w.t.Helper()
	for i, m := range w.Aside {
		if m.Method == method {
			w.Aside = slices.Delete(w.Aside, i, i+1)
			return m
		}
	}
	for {
		m := w.Receive()
		if m.Method == method {
			return m
		}
		w.Aside = append(w.Aside, m)
	}
}

// Request sends a request and returns its id.
func (w *Worker) Request(method string, params any) int {
	w.t.Helper()
	w.next++
	w.Send(map[string]any{"id": w.next, "method": method, "params": params})
	return w.next
}

// Initialize does the handshake; a plugin that does not load is returned.
func (w *Worker) Initialize() *plugin.Problem {
	w.t.Helper()
	m := w.Wait(w.Request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}}))
	if m.Error != nil {
		if m.Error.Code != -32001 || m.Error.Data.Problem == nil {
			w.t.Fatalf("initialize: %+v", m.Error)
		}
		return m.Error.Data.Problem
	}
	w.Send(map[string]any{"method": "notifications/initialized"})
	return nil
}

// List does the handshake and returns the tools.
func (w *Worker) List() []Listed {
	w.t.Helper()
	if problem := w.Initialize(); problem != nil {
		w.t.Fatalf("%v\n%s\n%s", problem, problem.Frame, w.Stderr)
	}
	var result struct {
		Tools []Listed
		Meta  struct {
			Options json.RawMessage `json:"conclave/options"`
			Notes   []string        `json:"conclave/notes"`
		} `json:"_meta"`
	}
	m := w.Wait(w.Request("tools/list", map[string]any{}))
	testkit.Must(w.t, json.Unmarshal(m.Result, &result))
	w.Tools, w.Options, w.Notes = result.Tools, result.Meta.Options, result.Meta.Notes
	return result.Tools
}

// Ask sends a call and returns its request's id.
func (w *Worker) Ask(name, arguments string, meta map[string]any) int {
	w.t.Helper()
	params := map[string]any{"name": name}
	if arguments != "" {
		params["arguments"] = json.RawMessage(arguments)
	}
	if meta != nil {
		params["_meta"] = meta
	}
	return w.Request("tools/call", params)
}

// Answered waits for the result of a call.
func (w *Worker) Answered(id int) Answer {
	w.t.Helper()
	m := w.Wait(id)
	if m.Error != nil {
		w.t.Fatalf("tools/call: %+v", m.Error)
	}
	var a Answer
	testkit.Must(w.t, json.Unmarshal(m.Result, &a))
	return a
}

// Call calls a tool and waits for what it answers.
func (w *Worker) Call(name, arguments string) Answer {
	w.t.Helper()
	return w.Answered(w.Ask(name, arguments, nil))
}

// Logged waits until text is in what the process wrote to standard error, which
// is read next to the wire and may come after an answer.
func (w *Worker) Logged(text string) {
	w.t.Helper()
	testkit.Until(w.t, text+" in the log", func() bool { return strings.Contains(w.Stderr.String(), text) })
}

// HeldUntil writes the file goes, and returns the tools of a worker whose load waits for
// that. Nothing it is asked before may be answered earlier; it has written begun by then.
func (w *Worker) HeldUntil(begun, goes string) []Listed {
	w.t.Helper()
	testkit.Appears(w.t, filepath.Join(w.Storage, begun))
	first := w.Request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}})
	second := w.Request("tools/list", map[string]any{})
	testkit.Write(w.t, filepath.Join(w.Storage, goes), "")
	if m := w.Wait(first); m.Error != nil {
		w.t.Fatalf("initialize: %+v", m.Error)
	}
	var list struct{ Tools []Listed }
	testkit.Must(w.t, json.Unmarshal(w.Wait(second).Result, &list))
	return list.Tools
}

// GivesUp starts a plugin that writes the file begun into its storage and then goes on loading for
// ever. It returns what it is told, and after what time. A Python that had not come that far on
// a busy machine is given twice the time. Its processes end with the test.
func GivesUp(t testing.TB, d plugin.Dialect, src plugin.Source) (*plugin.Problem, time.Duration) {
	t.Helper()
	m, err := d.Recognize(t.Context(), src)
	testkit.Must(t, err)
	for limit := 2 * time.Second; limit < Patience; limit *= 2 {
		storage := t.TempDir()
		spec, err := d.Spec(t.Context(), src, *m, plugin.StartOptions{
			Storage: storage, Runtime: programtest.Dir, Work: storage,
		})
		testkit.Must(t, err)
		got := Begin(t, LoadWithin(spec, limit), storage).Initialize()
		if got == nil {
			t.Fatal("it loaded")
		}
		if _, err := os.Stat(filepath.Join(storage, "begun")); err == nil {
			return got, limit
		}
	}
	t.Fatal("it did not begin")
	panic("unreachable")
}

// Cancel says that nobody waits for a call any more.
func (w *Worker) Cancel(id int, reason string) {
	w.t.Helper()
	w.Send(map[string]any{
		"method": "notifications/cancelled", "params": map[string]any{"requestId": id, "reason": reason},
	})
}

// Ended waits for the process to end after its input was closed.
func (w *Worker) Ended() error {
	w.t.Helper()
	_ = w.In.Close()
	deadline := time.After(Patience)
	for {
		select {
		case _, ok := <-w.Lines:
			if !ok {
				return w.Cmd.Wait()
			}
		case <-deadline:
			w.t.Fatal("the worker outlived its input")
		}
	}
}

// Buffer gathers a process's standard error while it is read.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Names are the names of tools, in their order.
func Names(tools []Listed) []string {
	var found []string
	for _, tool := range tools {
		found = append(found, tool.Name)
	}
	return found
}

// Equal fails the test unless got is want.
func Equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// BehindWalls starts a plugin as the host does, sandbox included.
func BehindWalls(t testing.TB, d plugin.Dialect, path string) *Worker {
	t.Helper()
	return BehindWallsWith(t, d, path, plugin.StartOptions{})
}

// BehindWallsWith is BehindWalls in a place of which the rest is given.
func BehindWallsWith(t testing.TB, d plugin.Dialect, path string, start plugin.StartOptions) *Worker {
	t.Helper()
	src := Source(t, path)
	storage := filepath.Join(t.TempDir(), "storage", src.ID) // as the host has it
	testkit.Must(t, os.MkdirAll(storage, 0o700))
	start.Storage, start.Runtime, start.Work = storage, programtest.Dir, storage
	m, err := d.Recognize(t.Context(), src)
	if err != nil || m == nil {
		t.Fatalf("Recognize: %v, %v", m, err)
	}
	spec, err := d.Spec(t.Context(), src, *m, start)
	testkit.Must(t, err)
	start.ApplyPermissions(&spec)
	launcher := Launcher(t)
	process, err := launcher.Start(t.Context(), patient(spec))
	testkit.Must(t, err)
	w := &Worker{t: t, Stderr: &Buffer{}, Lines: make(chan Message, 1024), Storage: storage, In: process.Wire()}
	reading := w.Read(process.Wire())
	t.Cleanup(func() {
		process.End()
		launcher.Close()
		reading.Wait()
	})
	return w
}
