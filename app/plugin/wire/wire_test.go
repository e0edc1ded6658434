package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/test/testkit"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var must = testkit.Must

// childVariable makes the test binary play a worker on its standard input and
// output: the other end of a real pipe.
const childVariable = "CONCLAVE_WIRE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	host, err := Serve(context.Background(), os.Stdin, os.Stdout, newServer(nil), nil)
	if err == nil {
		err = host.Wait()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newServer is an MCP server with two tools: echo returns its arguments; ask
// makes the host call {"capability","args"} and returns its value.
func newServer(host func() *HostClient) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test"}, &mcp.ServerOptions{Capabilities: Announce(nil)})
	object := json.RawMessage(`{"type":"object"}`)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: object},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(string(r.Params.Arguments)), nil
		})
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: object},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var p struct {
				Capability string
				Args       any
			}
			if err := json.Unmarshal(r.Params.Arguments, &p); err != nil {
				return nil, err
			}
			value, err := host().Call(ctx, p.Capability, p.Args, "c1")
			if e, ok := errors.AsType[*HostError](err); ok {
				return text(e.Kind + ": " + e.Message), nil
			}
			return text(string(value)), err
		})
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// quiet is a log that nobody reads.
var quiet = slog.New(slog.DiscardHandler)

// connect joins a client and a worker in memory.
func connect(t *testing.T, handler Handler,
	onEvent func(string, json.RawMessage),
) (*mcp.ClientSession, *Transport, *HostClient) {
	t.Helper()
	ours, theirs := net.Pipe()
	var host *HostClient
	host, err := Serve(t.Context(), theirs, theirs, newServer(func() *HostClient { return host }), onEvent)
	must(t, err)
	session, transport, err := Dial(t.Context(), ours, &mcp.Implementation{Name: "conclave"}, handler, quiet, nil)
	must(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		transport.Close()
		host.Close()
	})
	return session, transport, host
}

// peer joins a transport, driven by an MCP client only when dial is set, to a
// peer that is played by the test line by line.
type peer struct {
	t  *testing.T
	c  net.Conn
	in *bufio.Scanner
}

func newPeer(t *testing.T) (*peer, net.Conn) {
	ours, theirs := net.Pipe()
	in := bufio.NewScanner(theirs)
	in.Buffer(nil, MaxLine+1)
	must(t, theirs.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = theirs.Close() })
	return &peer{t, theirs, in}, ours
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.c, line+"\n"); err != nil {
		p.t.Fatalf("sending %.60q: %v", line, err)
	}
}

func (p *peer) receive() string {
	p.t.Helper()
	if !p.in.Scan() {
		p.t.Fatalf("nothing came: %v", p.in.Err())
	}
	return p.in.Text()
}

// drain reads a transport as the SDK would, until its end.
func drain(t *Transport) <-chan error {
	end := make(chan error, 1)
	go func() { // ends with the stream
		for {
			if _, err := t.stream.Read(context.Background()); err != nil {
				end <- err
				return
			}
		}
	}()
	return end
}

// patience bounds every wait: far above what anything takes.
var patience = testkit.Patience

func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing happened for " + patience.String())
		panic("unreachable")
	}
}

func call(t *testing.T, s *mcp.ClientSession, name string, args any) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("calling %s: %v", name, err)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

func TestAnMCPSessionRunsOverTheWire(t *testing.T) {
	session, _, _ := connect(t, nil, nil)
	if got := session.InitializeResult().ProtocolVersion; got != ProtocolVersion {
		t.Errorf("protocol version %q, want %q", got, ProtocolVersion)
	}
	if !Speaks(session) {
		t.Error("the worker's announcement of conclave/host was not seen")
	}
	tools, err := session.ListTools(t.Context(), nil)
	must(t, err)
	if len(tools.Tools) != 2 {
		t.Errorf("got %d tools, want 2", len(tools.Tools))
	}
	if got, want := call(t, session, "echo", map[string]any{"x": "<é&>"}), `{"x":"<é&>"}`; got != want {
		t.Errorf("echo returned %s, want %s", got, want)
	}
}

func TestHostRequestsAreAnswered(t *testing.T) {
	cases := map[string]struct {
		value any
		err   error
		want  string
	}{
		"a value": {value: map[string]string{"text": "<b>"}, want: `{"text":"<b>"}`},
		"null":    {want: `null`},
		"denied":  {err: &HostError{"denied", "PERMISSION_DENIED: chats"}, want: "denied: PERMISSION_DENIED: chats"},
		"wrapped": {
			err: fmt.Errorf("chats: %w", &HostError{"not_found", "no such chat"}), want: "not_found: no such chat",
		},
		"an unknown kind": {err: &HostError{"odd", "x"}, want: "failed: x"},
		"a private error": {err: errors.New("open /home/me/secret: no"), want: "failed: Conclave could not do this."},
		"no JSON":         {value: make(chan int), want: "failed: Conclave could not do this."},
		"an enormous answer": {
			value: strings.Repeat("x", MaxLine),
			want:  "failed: The answer cannot be sent: the message has 4194343 bytes; the wire carries at most 4194304.",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			session, _, _ := connect(t, Handler(func(_ context.Context, service string, args json.RawMessage,
				on string,
			) (any, error) {
				if service != "storage.read" || string(args) != `{"path":"a"}` || on != "c1" {
					t.Errorf("asked for %s %s on behalf of %s", service, args, on)
				}
				return c.value, c.err
			}), nil)
			got := call(t, session, "ask", map[string]any{"capability": "storage.read", "args": map[string]string{"path": "a"}})
			if got != c.want {
				t.Errorf("got %.200s, want %s", got, c.want)
			}
		})
	}
}

func TestErrorAnswersCarryTheirCodeAndKind(t *testing.T) {
	cases := map[string]string{
		"denied":      `"error":{"code":-32010,"message":"m","data":{"kind":"denied"}}`,
		"unavailable": `"error":{"code":-32011,"message":"m","data":{"kind":"unavailable"}}`,
		"invalid":     `"error":{"code":-32012,"message":"m","data":{"kind":"invalid"}}`,
		"not_found":   `"error":{"code":-32013,"message":"m","data":{"kind":"not_found"}}`,
		"failed":      `"error":{"code":-32014,"message":"m","data":{"kind":"failed"}}`,
	}
	p, ours := newPeer(t)
	transport := New(t.Context(), ours, Handler(func(_ context.Context, service string, _ json.RawMessage,
		_ string,
	) (any, error) {
		return nil, &HostError{service, "m"}
	}), quiet)
	defer transport.Close()
	drain(transport)
	for kind, want := range cases {
		p.send(`{"jsonrpc":"2.0","id":"w-` + kind + `","method":"conclave/host","params":{"capability":"` + kind + `"}}`)
		if got := p.receive(); !strings.Contains(got, want) || !strings.Contains(got, `"id":"w-`+kind+`"`) {
			t.Errorf("%s was answered with %s, want %s", kind, got, want)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":"w9","method":"conclave/host","params":[1]}`)
	if got := p.receive(); !strings.Contains(got, `"code":-32012`) {
		t.Errorf("params that are no object were answered with %s", got)
	}
}

func TestAPanickingHandlerHarmsOnlyItsRequest(t *testing.T) {
	session, _, _ := connect(t, Handler(func(context.Context, string, json.RawMessage, string) (any, error) {
		panic("a bug")
	}), nil)
	if got, want := call(t, session, "ask",
		map[string]any{"capability": "x"}), "failed: Conclave could not do this."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := call(t, session, "echo", map[string]any{}); got != "{}" {
		t.Errorf("the session did not go on: %s", got)
	}
}

func TestRequestsAreAnsweredAtOnceButBounded(t *testing.T) {
	var open, most atomic.Int64
	full := make(chan struct{})
	release := make(chan struct{})
	var once sync.Once
	_, _, host := connect(t, Handler(func(context.Context, string, json.RawMessage, string) (any, error) {
		n := open.Add(1)
		defer open.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == maxParallel {
			once.Do(func() { close(full) })
		}
		<-release
		return true, nil
	}), nil)
	var asking sync.WaitGroup
	for range 200 {
		asking.Go(func() {
			if _, err := host.Call(t.Context(), "x", nil, ""); err != nil {
				t.Errorf("a request was not answered: %v", err)
			}
		})
	}
	await(t, full)
	close(release)
	asking.Wait()
	if most.Load() > maxParallel {
		t.Errorf("%d requests ran at once, want at most %d", most.Load(), maxParallel)
	}
}

func TestAFloodOfRequestsEndsTheStream(t *testing.T) {
	p, ours := newPeer(t)
	transport := New(t.Context(), ours, Handler(func(ctx context.Context, _ string, _ json.RawMessage,
		_ string,
	) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}), quiet)
	defer transport.Close()
	end := drain(transport)
	for i := range maxRequests + 1 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"w%d","method":"conclave/host","params":{"capability":"x"}}`, i))
	}
	if err := await(t, end); !errors.Is(err, ErrFlooded) {
		t.Errorf("the stream ended with %v, want ErrFlooded", err)
	}
}

func TestEventsArriveInOrder(t *testing.T) {
	got := make(chan string, 100)
	_, transport, _ := connect(t, nil, func(name string, payload json.RawMessage) { got <- name + string(payload) })
	for i := range 100 {
		must(t, transport.Notify("E", i))
	}
	for i := range 100 {
		if e := await(t, got); e != fmt.Sprintf("E%d", i) {
			t.Fatalf("event %d is %s", i, e)
		}
	}
	must(t, transport.Notify("bare", nil))
	if e := await(t, got); e != "bare" {
		t.Errorf("got %s, want an event without payload", e)
	}
}

func TestARequestDoesNotOvertakeTheEventsBeforeIt(t *testing.T) {
	p, ours := newPeer(t)
	transport := New(t.Context(), ours, nil, quiet)
	defer transport.Close()
	sent := make(chan error, 1)
	go func() { // ends when all is written
		for round := range 50 {
			for i := range 3 {
				if err := transport.Notify(fmt.Sprintf("E%d.%d", round, i), nil); err != nil {
					sent <- err
					return
				}
			}
			if _, err := transport.Start(t.Context(), "tools/call", map[string]int{"round": round}); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for round := range 50 {
		want := []string{"", "", "", fmt.Sprintf(`"round":%d`, round)}
		for i := range 3 {
			want[i] = fmt.Sprintf(`"E%d.%d"`, round, i)
		}
		for _, w := range want {
			if line := p.receive(); !strings.Contains(line, w) {
				t.Fatalf("got %s, want %s", line, w)
			}
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

func TestNotifyNeverWaitsForAWorkerThatDoesNotRead(t *testing.T) {
	_, ours := newPeer(t) // reads nothing
	transport := New(t.Context(), ours, nil, quiet)
	defer transport.Close()
	var err error
	for range maxEvents + 2 { // one is being written, maxEvents wait
		if err = transport.Notify("E", nil); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	transport.Close()
	if err := transport.Notify("E", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func TestWhatIsNoMessageEndsTheSession(t *testing.T) {
	initialized := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"n","version":"1"}}}`
	cases := map[string]struct {
		line string
		kind string
		want string
	}{
		"a print":         {"Loading weather data…", "crashed", "Loading weather data…"},
		"a traceback":     {"Traceback (most recent call last):", "crashed", "Traceback"},
		"half a message":  {`{"jsonrpc":"2.0","id":`, "crashed", "something other than a message"},
		"a batch":         {`[{"jsonrpc":"2.0","id":1,"result":{}}]`, "crashed", "something other than a message"},
		"an old version":  {`{"jsonrpc":"1.0","id":1,"result":{}}`, "crashed", "something other than a message"},
		"an odd id":       {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "crashed", "something other than a message"},
		"bytes":           {"\x00\xff\xfe", "crashed", `\x00\xff\xfe`},
		"a number":        {"42", "crashed", "42"},
		"too long a line": {strings.Repeat("x", MaxLine+1), "flooded", "4194304 bytes"},
		"a deep structure": {
			`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`, "crashed",
			"something other than a message",
		},
	}
	for name, c := range cases {
		t.Run("at initialize: "+name, func(t *testing.T) {
			p, ours := newPeer(t)
			go func() { // ends with the stream
				p.in.Scan()
				_, _ = io.WriteString(p.c, c.line+"\n")
			}()
			_, _, err := Dial(t.Context(), ours, &mcp.Implementation{Name: "conclave"}, nil, quiet, nil)
			checkBroken(t, err, c.kind, c.want)
		})
		t.Run("during a call: "+name, func(t *testing.T) {
			p, ours := newPeer(t)
			go func() { // ends with the stream
				p.in.Scan()
				_, _ = io.WriteString(p.c, initialized+"\n")
				p.in.Scan() // initialized
				p.in.Scan() // tools/call
				_, _ = io.WriteString(p.c, c.line+"\n")
			}()
			session, transport, err := Dial(t.Context(), ours, &mcp.Implementation{Name: "conclave"}, nil, quiet, nil)
			must(t, err)
			defer transport.Close()
			_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "x"})
			checkBroken(t, err, c.kind, c.want)
			await(t, transport.Done())
			checkBroken(t, transport.Err(), c.kind, c.want)
		})
	}
}

func checkBroken(t *testing.T, err error, kind, want string) {
	t.Helper()
	broken, ok := errors.AsType[*Broken](err)
	if !ok {
		t.Fatalf("got %v, want a *Broken", err)
	}
	if broken.Kind != kind || !strings.Contains(broken.Message, want) {
		t.Errorf("got %s %q, want %s with %q", broken.Kind, broken.Message, kind, want)
	}
}

func TestLinesUpToTheBoundPass(t *testing.T) {
	for _, size := range []int{1, readBuffer - 1, readBuffer, readBuffer + 1, 3*readBuffer + 7, MaxLine - 100} {
		session, _, _ := connect(t, nil, nil)
		// The answer quotes the quotes: keep it within the bound too.
		content := strings.Repeat("x", max(1, size-200))
		if got := call(t, session, "echo", map[string]string{"x": content}); got != `{"x":"`+content+`"}` {
			t.Errorf("a line of about %d bytes did not come back whole: %d bytes", size, len(got))
		}
	}
}

func TestAMessageOverTheBoundIsRefusedAndTheSessionGoesOn(t *testing.T) {
	session, _, host := connect(t, nil, nil)
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "echo", Arguments: map[string]string{"x": strings.Repeat("x", MaxLine)},
	})
	if err == nil || !strings.Contains(err.Error(), "at most 4194304") {
		t.Errorf("got %v, want a refusal that names the bound", err)
	}
	if _, err := host.Call(t.Context(), "storage.write", strings.Repeat("x", MaxLine), ""); err == nil {
		t.Error("a request over the bound was sent")
	} else if e, ok := errors.AsType[*HostError](err); !ok || e.Kind != "invalid" {
		t.Errorf("got %v, want an invalid HostError", err)
	}
	if got := call(t, session, "echo", map[string]any{}); got != "{}" {
		t.Errorf("the session did not go on: %s", got)
	}
}

func TestEmptyLinesAndCarriageReturnsAreIgnored(t *testing.T) {
	p, ours := newPeer(t)
	transport := New(t.Context(), ours, func(context.Context, string, json.RawMessage, string) (any, error) {
		return nil, &HostError{Kind: "unavailable", Message: "m"}
	}, quiet)
	defer transport.Close()
	drain(transport)
	p.send("")
	p.send("  \r")
	p.send(` {"jsonrpc":"2.0","id":"w1","method":"conclave\/host","params":{"capability":"x"}} ` + "\r")
	if got := p.receive(); !strings.Contains(got, `"code":-32011`) {
		t.Errorf("got %s, want the answer of the handler", got)
	}
}

func TestAPluginThatDoesNotLoadSaysWhy(t *testing.T) {
	ours, theirs := net.Pipe()
	server := newServer(nil)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "initialize" {
				return nil, LoadFailure("It has a mistake.", map[string]any{"kind": "script", "line": 3})
			}
			return next(ctx, method, r)
		}
	})
	host, err := Serve(t.Context(), theirs, theirs, server, nil)
	must(t, err)
	defer host.Close()
	_, _, err = Dial(t.Context(), ours, &mcp.Implementation{Name: "conclave"}, nil, quiet, nil)
	load, ok := errors.AsType[*LoadError](err)
	if !ok {
		t.Fatalf("got %v, want a *LoadError", err)
	}
	if load.Message != "It has a mistake." || string(load.Problem) != `{"kind":"script","line":3}` {
		t.Errorf("got %q %s", load.Message, load.Problem)
	}
}

func TestDialEndsWithItsContextAndItsCause(t *testing.T) {
	_, ours := newPeer(t) // never answers
	why := errors.New("it took too long")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, why)
	defer cancel()
	_, _, err := Dial(ctx, ours, &mcp.Implementation{Name: "conclave"}, nil, quiet, nil)
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestClosingEndsOpenHostRequests(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	_, transport, host := connect(t, Handler(func(ctx context.Context, _ string, _ json.RawMessage,
		_ string,
	) (any, error) {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}), nil)
	asked := make(chan error, 1)
	go func() { // ends with the stream
		_, err := host.Call(t.Context(), "x", nil, "")
		asked <- err
	}()
	await(t, begun)
	transport.Close()
	if err := await(t, ended); !errors.Is(err, ErrClosed) {
		t.Errorf("the request ended with %v, want ErrClosed", err)
	}
	if err := await(t, asked); !errors.Is(err, io.EOF) {
		t.Errorf("the worker's call ended with %v, want EOF", err)
	}
	if err := host.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

func TestAHostCallThatWasGivenUpIsForgotten(t *testing.T) {
	release := make(chan struct{})
	_, _, host := connect(t, Handler(func(_ context.Context, service string, _ json.RawMessage,
		_ string,
	) (any, error) {
		if service == "slow" {
			<-release
		}
		return service, nil
	}), nil)
	why := errors.New("given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := host.Call(ctx, "slow", nil, ""); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	ctx, stop := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, why)
	defer stop()
	if _, err := host.Call(ctx, "slow", nil, ""); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	close(release)
	value, err := host.Call(t.Context(), "next", nil, "")
	if err != nil || string(value) != `"next"` {
		t.Errorf("got %s, %v: an earlier answer was taken for this one", value, err)
	}
	host.mu.Lock()
	defer host.mu.Unlock()
	if len(host.waiting) != 0 {
		t.Errorf("%d requests are still waited for", len(host.waiting))
	}
}

func FuzzAnyLineEndsOrPasses(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{", "[]", `{"jsonrpc":"2.0","id":"w1","method":"conclave/host","params":{}}`,
		`{"jsonrpc":"2.0","method":"x"}`, "\n\n{}\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStream(readOnly{strings.NewReader(string(data))})
		for {
			msg, err := s.Read(context.Background())
			if err != nil {
				if _, ok := errors.AsType[*Broken](err); !ok && !errors.Is(err, io.EOF) {
					t.Errorf("the stream ended with %v", err)
				}
				return
			}
			if _, err := jsonrpc.EncodeMessage(msg); err != nil {
				t.Errorf("a message was read that cannot be written: %v", err)
			}
		}
	})
}

type readOnly struct{ io.Reader }

func (readOnly) Write(p []byte) (int, error) { return len(p), nil }
func (readOnly) Close() error                { return nil }

// child starts the test binary as a worker behind real pipes.
func child(tb testing.TB) io.ReadWriteCloser {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(tb, err)
	out, err := cmd.StdoutPipe()
	must(tb, err)
	must(tb, cmd.Start())
	tb.Cleanup(func() { _ = cmd.Wait() })
	return pair{out, in}
}

func TestARealChildEndsWhenItsInputDoes(t *testing.T) {
	session, transport, err := Dial(t.Context(), child(t), &mcp.Implementation{Name: "conclave"}, nil, quiet, nil)
	must(t, err)
	if got := call(t, session, "echo", map[string]int{"x": 1}); got != `{"x":1}` {
		t.Errorf("got %s", got)
	}
	transport.Close() // the cleanup of child waits for its end
}

func BenchmarkRoundTrip(b *testing.B) {
	session, transport, err := Dial(b.Context(), child(b), &mcp.Implementation{Name: "conclave"}, nil, quiet, nil)
	must(b, err)
	defer transport.Close()
	params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]string{"x": strings.Repeat("y", 1000)}}
	for b.Loop() {
		if _, err := session.CallTool(b.Context(), params); err != nil {
			b.Fatal(err)
		}
	}
}
