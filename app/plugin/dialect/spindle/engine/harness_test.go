package engine

import (
	"context"
	"encoding/json"
	"errors"
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

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/plugin/worker/confine"
	"conclave/app/test/testkit"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var must = testkit.Must

// The test binary is also the worker: a child with this variable set runs Serve.
const workerVariable = "CONCLAVE_TEST_SPINDLE_CONFIG"

// A worker with this variable set puts up the real walls.
const confineVariable = "CONCLAVE_TEST_SPINDLE_CONFINE"

func TestMain(m *testing.M) {
	if path := os.Getenv(workerVariable); path != "" {
		os.Exit(runWorker(path))
	}
	if config := os.Getenv(hostVariable); config != "" {
		os.Exit(runHost(config))
	}
	code := m.Run()
	if plain.dir != "" {
		_ = os.RemoveAll(plain.dir) // left behind at worst
	}
	os.Exit(code)
}

// plain is this test binary built as conclave-worker is: without cgo, which
// the walls need, and without the race detector, which slows the engine down
// twentyfold.
var plain struct {
	once    sync.Once
	dir     string
	program string
	err     error
}

func plainProgram(tb testing.TB) string {
	plain.once.Do(func() {
		if plain.dir, plain.err = os.MkdirTemp("", "spindle-worker-"); plain.err != nil {
			return
		}
		plain.program = filepath.Join(plain.dir, "worker.test")
		build := exec.Command("go", "test", "-c", "-o", plain.program, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			plain.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if plain.err != nil {
		tb.Fatalf("build the worker: %v", plain.err)
	}
	return plain.program
}

// walled runs the worker behind the walls it has in Conclave.
func walled() option { return func(_ *Config, p *plug) { p.walled = true } }

// watched runs the worker under the race detector too, when there is one.
func watched() option { return func(_ *Config, p *plug) { p.watched = true } }

func runWorker(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 2
	}
	var cfg Config
	if err := json.Unmarshal(text, &cfg); err != nil {
		return 2
	}
	var wall func() error
	if os.Getenv(confineVariable) != "" {
		read := cfg.Folder
		if cfg.Single {
			read = filepath.Join(cfg.Folder, cfg.Entry)
		}
		wall = func() error { return confine.Self(sandbox.Spec{Kind: "js", Read: []string{read}}) }
	}
	if err := Serve(context.Background(), cfg, os.Stdin, os.Stdout, os.Stderr, wall); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// plug is one plugin in a real worker process, and the Conclave it talks to.
type plug struct {
	tb      testing.TB
	session *mcp.ClientSession
	wire    *wire.Transport
	cmd     *exec.Cmd
	input   io.Closer // of the process: its end is how a host ends it
	stderr  *tail
	exited  chan struct{} // closed when the process was reaped
	watched bool
	walled  bool

	mu      sync.Mutex
	logs    []string
	granted []string
	files   map[string]string
	asked   []string
	answer  func(service string, args map[string]any) (any, error) // before the rest; nil, nil passes on
	changes chan struct{}
	lines   chan struct{} // one for each log line, as far as there is room
}

type tail struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// option changes the configuration of a worker before it starts.
type option func(*Config, *plug)

func withGranted(names ...string) option { return func(_ *Config, p *plug) { p.granted = names } }

func withConfig(change func(*Config)) option { return func(c *Config, _ *plug) { change(c) } }

// patience is how long a test waits for what must come.
var patience = testkit.Patience

// open starts a worker for files, of which entry is evaluated. The error is that
// of the handshake.
func open(tb testing.TB, entry string, files map[string]string, options ...option) (*plug, error) {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(tb, os.MkdirAll(filepath.Dir(path), 0o700))
		must(tb, os.WriteFile(path, []byte(text), 0o600))
	}
	p := &plug{
		tb: tb, stderr: &tail{}, granted: []string{"tools"}, files: map[string]string{}, changes: make(chan struct{}, 100),
		lines: make(chan struct{}, 1000), exited: make(chan struct{}),
	}
	cfg := Config{
		Plugin: "sample", Folder: dir, Entry: entry, Single: len(files) == 1, Identifier: "sample",
		Manifest: json.RawMessage(`{"identifier":"sample","name":"Sample","version":"1.0"}`), Permissions: []string{"tools"},
	}
	for _, change := range options {
		change(&cfg, p)
	}
	path := filepath.Join(tb.TempDir(), "config.json")
	must(tb, os.WriteFile(path, []byte(toJSON(cfg)), 0o600))
	return p, p.start(path)
}

func (p *plug) start(config string) error {
	exe, err := os.Executable()
	must(p.tb, err)
	if p.walled || raceDetector && !p.watched {
		exe = plainProgram(p.tb)
	}
	p.cmd = exec.Command(exe)
	p.cmd.Env = []string{workerVariable + "=" + config, "TZ=America/New_York"}
	if p.walled {
		p.cmd.Env = append(p.cmd.Env, confineVariable+"=1")
	}
	p.cmd.Stderr = p.stderr
	in, err := p.cmd.StdinPipe()
	must(p.tb, err)
	out, said, err := os.Pipe() // Wait would close a StdoutPipe with what is not read yet
	must(p.tb, err)
	p.cmd.Stdout = said
	must(p.tb, p.cmd.Start())
	must(p.tb, said.Close())
	p.input = in
	p.tb.Cleanup(func() {
		_ = in.Close()
		select {
		case <-p.exited:
		case <-time.After(2 * time.Second):
			_ = p.cmd.Process.Kill()
			<-p.exited
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	session, transport, err := wire.Dial(ctx, pipes{out, in}, &mcp.Implementation{Name: "conclave", Version: "test"},
		p.host, slog.New(slog.DiscardHandler), &mcp.ClientOptions{
			LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
				p.mu.Lock()
				p.logs = append(p.logs, fmt.Sprintf("%s: %v", r.Params.Level, r.Params.Data))
				p.mu.Unlock()
				select {
				case p.lines <- struct{}{}:
				default:
				}
			},
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
				select {
				case p.changes <- struct{}{}:
				default:
				}
			},
		})
	go func() { // ends with the process; Cleanup waits for it
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	p.session, p.wire = session, transport
	return err
}

type pipes struct {
	io.ReadCloser
	w io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p pipes) Close() error {
	_ = p.w.Close()
	return p.ReadCloser.Close()
}

// host is a small Conclave: storage in a map, and what was granted.
func (p *plug) host(_ context.Context, service string, raw json.RawMessage, call string) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, service+" "+call)
	var args struct {
		Path, Prefix, Text, Base64, From, To string
		Binary                               bool
	}
	_ = json.Unmarshal(raw, &args)
	if p.answer != nil {
		var all map[string]any
		_ = json.Unmarshal(raw, &all)
		if value, err := p.answer(service, all); value != nil || err != nil {
			return value, err
		}
	}
	missing := &wire.HostError{Kind: "not_found", Message: "There is no such file."}
	text, ok := p.files[args.Path]
	switch service {
	case "permissions.granted":
		return map[string]any{"granted": p.granted}, nil
	case "chats.active":
		if !slices.Contains(p.granted, "chats") {
			return nil, &wire.HostError{Kind: "denied", Message: "PERMISSION_DENIED: chats"}
		}
		return map[string]any{"chat": map[string]any{"id": "c1", "name": "Chat"}}, nil
	case "storage.read":
		if !ok {
			return nil, missing
		}
		if args.Binary {
			return map[string]any{"base64": text}, nil
		}
		return map[string]any{"text": text}, nil
	case "storage.write":
		p.files[args.Path] = args.Text + args.Base64
		return map[string]any{}, nil
	case "storage.delete":
		if !ok {
			return nil, missing
		}
		delete(p.files, args.Path)
		return map[string]any{}, nil
	case "storage.exists":
		return map[string]any{"exists": ok}, nil
	case "storage.list":
		files := []string{}
		for name := range p.files {
			if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(args.Prefix, "/")); ok {
				files = append(files, strings.TrimPrefix(rest, "/"))
			}
		}
		slices.Sort(files)
		return map[string]any{"files": files}, nil
	case "storage.move":
		p.files[args.To] = p.files[args.From]
		delete(p.files, args.From)
		return map[string]any{}, nil
	case "storage.mkdir":
		return map[string]any{}, nil
	case "storage.stat":
		if !ok {
			return nil, missing
		}
		return map[string]any{"size": len(text), "modified_ms": 1000, "directory": false}, nil
	}
	return nil, &wire.HostError{Kind: "unavailable", Message: service + " is not available here."}
}

// load is open for a plugin that must load.
func load(tb testing.TB, entry string, files map[string]string, options ...option) *plug {
	tb.Helper()
	p, err := open(tb, entry, files, options...)
	if err != nil {
		tb.Fatalf("the plugin did not load: %v\n%s", err, p.stderr)
	}
	return p
}

// script is load for a plugin of one file.
func script(tb testing.TB, text string, options ...option) *plug {
	tb.Helper()
	return load(tb, "plugin.js", map[string]string{"plugin.js": text}, options...)
}

// handler is a plugin with one tool, t, whose handler has the given body; it
// may use payload, args and user.
func handler(body string) string {
	return `spindle.registerTool({ name: "t", display_name: "T", description: "d", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.on("TOOL_INVOCATION", async (payload, user) => { const { args } = payload; ` + body + ` });`
}

// answer holds what a call returned, taken apart.
type answer struct {
	text    string
	isError bool
	status  string
	meta    mcp.Meta
}

type meta = map[string]any

func (p *plug) call(name string, args any, m meta) answer {
	p.tb.Helper()
	a, err := p.tryCall(context.Background(), name, args, m)
	if err != nil {
		p.tb.Fatalf("call %s: %v\n%s", name, err, p.stderr)
	}
	return a
}

// within calls t with so much time, and says when. On a busy machine a worker may take a call after
// its deadline, and answers that it did not begin: then it is called anew.
func (p *plug) within(d time.Duration, args any) (got answer, began time.Time) {
	p.tb.Helper()
	for {
		began = time.Now()
		got = p.call("t", args, meta{wire.MetaDeadline: began.Add(d).UnixMilli()})
		if got.status != "timeout" || !strings.Contains(got.text, "had passed before it was called") {
			return got, began
		}
	}
}

func (p *plug) tryCall(ctx context.Context, name string, args any, m meta) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := p.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args, Meta: mcp.Meta(m)})
	if err != nil {
		return answer{}, err
	}
	a := answer{isError: r.IsError, meta: r.Meta}
	a.status, _ = r.Meta[wire.MetaStatus].(string)
	for _, c := range r.Content {
		a.text += c.(*mcp.TextContent).Text
	}
	return a, nil
}

// eval runs body as the handler of the one tool and returns its text.
func eval(tb testing.TB, body string) string {
	tb.Helper()
	a := script(tb, handler(body)).call("t", meta{}, nil)
	if a.isError {
		tb.Fatalf("it failed: %s %v", a.text, a.meta)
	}
	return a.text
}

func (p *plug) tools() []*mcp.Tool {
	p.tb.Helper()
	return p.list().Tools
}

// notes are the sentences for the plugin's card.
func (p *plug) notes() (notes []string) {
	p.tb.Helper()
	for _, note := range p.list().Meta[wire.MetaNotes].([]any) {
		notes = append(notes, note.(string))
	}
	return notes
}

func (p *plug) list() *mcp.ListToolsResult {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := p.session.ListTools(ctx, nil)
	if err != nil {
		p.tb.Fatalf("list the tools: %v", err)
	}
	return r
}

func (p *plug) names() []string {
	names := []string{}
	for _, t := range p.tools() {
		names = append(names, t.Name)
	}
	return names
}

func (p *plug) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.logs, "\n")
}

// waitLog waits until the log holds text.
func (p *plug) waitLog(text string) {
	p.tb.Helper()
	limit := time.After(patience)
	for !strings.Contains(p.logged(), text) {
		select {
		case <-p.lines:
		case <-limit:
			p.tb.Fatalf("the log never held %q:\n%s", text, p.logged())
		}
	}
}

// waitExit waits for the process to end by itself and returns its status.
func (p *plug) waitExit() int {
	p.tb.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.tb.Fatal("the worker did not end")
		return 0
	}
}

// problemOf returns the problem a plugin was refused with.
func problemOf(tb testing.TB, err error) Problem {
	tb.Helper()
	var e *wire.LoadError
	if !errors.As(err, &e) {
		tb.Fatalf("it did not fail to load: %v", err)
	}
	var p Problem
	must(tb, json.Unmarshal(e.Problem, &p))
	return p
}
