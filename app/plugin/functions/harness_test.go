package functions_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/functions"
)

// patience bounds every wait for a worker: far above what any answer takes.
const patience = 30 * time.Second

// runtimeDir is shared by all tests, so that each interpreter is asked once.
var runtimeDir string

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "confine" {
		launcher()
	}
	dir, err := os.MkdirTemp("", "functions-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	runtimeDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// pythons returns a dialect for every Python of 3.9 or newer on this machine,
// by version.
var pythons = sync.OnceValue(func() map[string]*functions.Dialect {
	found := map[string]*functions.Dialect{}
	home, _ := os.UserHomeDir()
	commands, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/bin/python3"))
	commands = append(commands, "/usr/bin/python3", "/usr/local/bin/python3", "python3")
	for minor := 9; minor < 20; minor++ {
		commands = append(commands, fmt.Sprintf("/usr/bin/python3.%d", minor), fmt.Sprintf("python3.%d", minor))
	}
	var seen []string
	for _, command := range commands {
		d := functions.New(functions.Options{Python: command, Runtime: runtimeDir, Log: slog.New(slog.DiscardHandler)})
		python, err := d.Python(context.Background())
		if err == nil && !slices.Contains(seen, python.Executable) {
			seen = append(seen, python.Executable)
			found[python.Version+" "+filepath.Dir(python.Executable)] = d
		}
	}
	return found
})

// everyPython runs a test on each of them.
func everyPython(t *testing.T, test func(t *testing.T, d *functions.Dialect)) {
	t.Helper()
	all := pythons()
	if len(all) == 0 {
		t.Skip("there is no Python 3.9 or newer on this machine")
	}
	for version, d := range all {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}

// aPython returns the dialect with the Python that a person would get.
func aPython(t testing.TB) *functions.Dialect {
	t.Helper()
	d := functions.New(functions.Options{Runtime: runtimeDir})
	if _, err := d.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	return d
}

// files writes a tree and returns its folder.
func files(t testing.TB, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// source returns the Source of a file or folder.
func source(t testing.TB, path string) plugin.Source {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(path), ".py")
	return plugin.Source{ID: id, Path: path, Display: path, Folder: info.IsDir()}
}

// worker is a running plugin and a raw client of its wire.
type worker struct {
	t       testing.TB
	cmd     *exec.Cmd // nil behind the walls
	in      io.WriteCloser
	lines   chan message
	stderr  *lockedBuffer
	next    int
	storage string
	aside   []message // notifications that came while an answer was awaited
}

type message struct {
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

// listed is a tool as tools/list shows it.
type listed struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
	Meta        struct {
		Line       int      `json:"conclave/line"`
		File       string   `json:"conclave/file"`
		Warnings   []string `json:"conclave/warnings"`
		Serial     bool     `json:"conclave/serial"`
		TimeoutMS  int      `json:"conclave/timeout-ms"`
		Visibility string   `json:"conclave/visibility"`
	} `json:"_meta"`
}

// answer is the result of a call.
type answer struct {
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

func (a answer) text() string {
	if len(a.Content) == 0 {
		return ""
	}
	return a.Content[0].Text
}

// launch starts the plugin at path as the host would, without the walls.
func launch(t testing.TB, d *functions.Dialect, src plugin.Source) *worker {
	t.Helper()
	storage := t.TempDir()
	m, err := d.Recognize(t.Context(), src)
	if err != nil || m == nil {
		t.Fatalf("Recognize %s: %v, %v", src.Path, m, err)
	}
	spec, err := d.Spec(t.Context(), src, *m, plugin.Place{Storage: storage, Runtime: runtimeDir, Work: storage})
	if err != nil {
		t.Fatal(err)
	}
	return begin(t, spec, storage)
}

// begin starts a spec's process.
func begin(t testing.TB, spec plugin.Spec, storage string) *worker {
	t.Helper()
	w := &worker{t: t, stderr: &lockedBuffer{}, lines: make(chan message, 1024), storage: storage}
	w.cmd = exec.Command(spec.Argv[0], spec.Argv[1:]...) //nolint:noctx // ended by the cleanup
	w.cmd.Env, w.cmd.Dir, w.cmd.Stderr = spec.Env, spec.Dir, w.stderr
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reading := w.read(out)
	t.Cleanup(func() {
		_ = w.in.Close()
		_ = w.cmd.Process.Kill()
		go func() { // unblocks the reader when a test left lines unread
			for range w.lines { //nolint:revive // drained
			}
		}()
		reading.Wait()
		_ = w.cmd.Wait()
	})
	return w
}

// read hands on the lines of out until it ends.
func (w *worker) read(out io.Reader) *sync.WaitGroup {
	var reading sync.WaitGroup
	reading.Go(func() { // ends with the process, which the cleanup ends
		defer close(w.lines)
		in := bufio.NewReaderSize(out, 1<<16)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(line, &m); err != nil {
				m.Method = "not JSON: " + string(line)
			}
			w.lines <- m
		}
	})
	return &reading
}

func (w *worker) send(m map[string]any) {
	w.t.Helper()
	m["jsonrpc"] = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		w.t.Fatalf("the worker is gone: %v\n%s", err, w.stderr)
	}
}

// receive returns the next message.
func (w *worker) receive() message {
	w.t.Helper()
	select {
	case m, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("the worker ended\n%s", w.stderr)
		}
		if strings.HasPrefix(m.Method, "not JSON") {
			w.t.Fatal(m.Method)
		}
		return m
	case <-time.After(patience):
		w.t.Fatalf("no answer\n%s", w.stderr)
	}
	panic("unreachable")
}

// wait returns the answer to a request, keeping what else comes.
func (w *worker) wait(id int) message {
	w.t.Helper()
	for i, m := range w.aside {
		if string(m.ID) == fmt.Sprint(id) && m.Method == "" {
			w.aside = slices.Delete(w.aside, i, i+1)
			return m
		}
	}
	for {
		m := w.receive()
		if string(m.ID) == fmt.Sprint(id) && m.Method == "" {
			return m
		}
		w.aside = append(w.aside, m)
	}
}

// until returns the next message of a method.
func (w *worker) until(method string) message {
	w.t.Helper()
	for i, m := range w.aside {
		if m.Method == method {
			w.aside = slices.Delete(w.aside, i, i+1)
			return m
		}
	}
	for {
		m := w.receive()
		if m.Method == method {
			return m
		}
		w.aside = append(w.aside, m)
	}
}

func (w *worker) request(method string, params any) int {
	w.t.Helper()
	w.next++
	w.send(map[string]any{"id": w.next, "method": method, "params": params})
	return w.next
}

// initialize does the handshake; a plugin that does not load is returned.
func (w *worker) initialize() *plugin.Problem {
	w.t.Helper()
	m := w.wait(w.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}}))
	if m.Error != nil {
		if m.Error.Code != -32001 || m.Error.Data.Problem == nil {
			w.t.Fatalf("initialize: %+v", m.Error)
		}
		return m.Error.Data.Problem
	}
	w.send(map[string]any{"method": "notifications/initialized"})
	return nil
}

// list does the handshake and returns the tools.
func (w *worker) list() []listed {
	w.t.Helper()
	if problem := w.initialize(); problem != nil {
		w.t.Fatalf("%v\n%s\n%s", problem, problem.Frame, w.stderr)
	}
	var result struct{ Tools []listed }
	m := w.wait(w.request("tools/list", map[string]any{}))
	if err := json.Unmarshal(m.Result, &result); err != nil {
		w.t.Fatal(err)
	}
	return result.Tools
}

// ask sends a call and returns its request's id.
func (w *worker) ask(name, arguments string, meta map[string]any) int {
	w.t.Helper()
	params := map[string]any{"name": name}
	if arguments != "" {
		params["arguments"] = json.RawMessage(arguments)
	}
	if meta != nil {
		params["_meta"] = meta
	}
	return w.request("tools/call", params)
}

// answered waits for the result of a call.
func (w *worker) answered(id int) answer {
	w.t.Helper()
	m := w.wait(id)
	if m.Error != nil {
		w.t.Fatalf("tools/call: %+v", m.Error)
	}
	var a answer
	if err := json.Unmarshal(m.Result, &a); err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *worker) call(name, arguments string) answer {
	w.t.Helper()
	return w.answered(w.ask(name, arguments, nil))
}

// serve writes one file of functions, starts it and lists its tools.
func serve(t testing.TB, d *functions.Dialect, text string) *worker {
	t.Helper()
	w := launch(t, d, source(t, filepath.Join(files(t, map[string]string{"plug.py": text}), "plug.py")))
	w.list()
	return w
}

// ended waits for the process to end after its input was closed.
func (w *worker) ended() error {
	w.t.Helper()
	_ = w.in.Close()
	deadline := time.After(patience)
	for {
		select {
		case _, ok := <-w.lines:
			if !ok {
				return w.cmd.Wait()
			}
		case <-deadline:
			w.t.Fatal("the worker outlived its input")
		}
	}
}

// lockedBuffer gathers a process's standard error while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func names(tools []listed) []string {
	var found []string
	for _, tool := range tools {
		found = append(found, tool.Name)
	}
	return found
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
