package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ProtocolVersion is the version of MCP that Conclave asks for (docs/WIRE.md). A
// server may answer with another that the SDK knows.
const ProtocolVersion = "2025-06-18"

// A Handler answers one conclave/host request of a worker: args are its arguments (nil when
// it gave none), call is the conclave/call-id on whose behalf it asks, or
// empty. The value is marshalled as JSON. An error that is no *HostError
// reaches the worker as "failed", without its text. ctx ends with the stream;
// a Handler is called concurrently, and may panic without harm to others.
type Handler func(ctx context.Context, service string, args json.RawMessage, call string) (any, error)

// Bounds of what one worker may leave with us.
const (
	// maxParallel bounds those that are answered at once.
	maxParallel = 16
	// maxRequests bounds the host requests that wait for an answer, and
	// maxRequestBytes the sum of their arguments; a worker past one of them is
	// cut off. Our own workers hold back at 64 (maxOpen).
	maxRequests     = 1024
	maxRequestBytes = 32 << 20
	// maxEvents bounds the events that wait to be written; past it Notify says
	// ErrBusy.
	maxEvents = 256
)

// Transport is Conclave's end of the wire: an mcp.Transport that answers
// conclave/host requests and sends conclave/event notifications on the stream
// that the MCP session uses. Use [New], or [Dial] for the session with it. Its
// methods are safe for concurrent use.
//
// Goroutines: one writes events, one per open host request answers it. All end
// with the stream, which Close and the end of the input end; Close waits for
// them. A write to a worker that reads nothing blocks, whatever its context,
// until the stream ends: whoever owns the worker kills it at the deadline.
type Transport struct {
	stream  *stream
	handler Handler
	log     *slog.Logger
	ctx     context.Context // of host requests; ends with the stream
	cancel  context.CancelCauseFunc
	slots   chan struct{} // bounds requests that are answered at once

	wg       sync.WaitGroup
	mu       sync.Mutex // guards closed against wg.Go
	closed   bool
	requests atomic.Int64
	bytes    atomic.Int64
	sent     requests
	progress atomic.Pointer[func(*mcp.ProgressNotificationParams)]
}

// New returns a transport over rw, which it closes when it ends. ctx gives host
// requests their values, not their end.
func New(ctx context.Context, rw io.ReadWriteCloser, handler Handler, log *slog.Logger) *Transport {
	t := &Transport{stream: newStream(rw), handler: handler, log: log, slots: make(chan struct{}, maxParallel)}
	t.stream.intercept = t.take
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.wg.Go(t.tell) // ends with the stream
	return t
}

// Connect implements mcp.Transport.
func (t *Transport) Connect(context.Context) (mcp.Connection, error) { return t.stream, nil }

// Done is closed once the stream has ended.
func (t *Transport) Done() <-chan struct{} { return t.stream.done }

// Err returns why the stream ended: io.EOF when the worker closed it, ErrClosed
// when we did, a *Broken when something else than messages came. It is nil while
// the stream runs.
func (t *Transport) Err() error { return t.stream.cause() }

// Close ends the stream and waits for the transport's goroutines: a Handler that
// does not heed its context holds it up. It may be called more than once, but
// not by a Handler.
func (t *Transport) Close() {
	_ = t.stream.end(ErrClosed)
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.wg.Wait()
}

// Notify sends an event to the worker; payload is marshalled as JSON, and nil is
// left out. Events arrive in order, and before the requests that are sent after
// them. It does not wait for the worker: the error is ErrBusy when too many wait
// to be read, why the stream ended, or that payload is no JSON or too large.
func (t *Transport) Notify(name string, payload any) error {
	p := eventParams{Name: name}
	var err error
	if payload != nil {
		if p.Payload, err = json.Marshal(payload); err != nil {
			return fmt.Errorf("write the payload of %s: %w", name, err)
		}
	}
	params, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the event %s: %w", name, err)
	}
	if err := t.Err(); err != nil {
		return err
	}
	line, err := encode(&jsonrpc.Request{Method: eventMethod, Params: params})
	if err != nil {
		return fmt.Errorf("write the event %s: %w", name, err)
	}
	if !t.stream.enqueue(line, maxEvents) {
		return ErrBusy
	}
	return nil
}

// tell writes events until the stream ends, then ends the requests.
func (t *Transport) tell() {
	t.stream.writeQueued()
	t.cancel(t.stream.err)
	t.abandon(t.stream.err)
}

// progressMethod reports how far a request is.
const progressMethod = "notifications/progress"

// OnProgress has do called with the progress of requests that Start sent, before their answers are there. do must
// not block.
func (t *Transport) OnProgress(do func(*mcp.ProgressNotificationParams)) { t.progress.Store(&do) }

// progressed passes on progress. It reports whether somebody got it.
func (t *Transport) progressed(r *jsonrpc.Request) bool {
	do := t.progress.Load()
	var report mcp.ProgressNotificationParams
	if do == nil || json.Unmarshal(r.Params, &report) != nil {
		return false
	}
	(*do)(&report)
	return true
}

// take keeps conclave/host requests, and the answers to Start and their progress, from the SDK.
func (t *Transport) take(msg jsonrpc.Message) bool {
	if t.answered(msg) {
		return true
	}
	r, ok := msg.(*jsonrpc.Request)
	if ok && r.Method == progressMethod && !r.IsCall() {
		return t.progressed(r)
	}
	if !ok || r.Method != hostMethod {
		return false
	}
	if !r.IsCall() {
		return true // a request nobody waits for is not carried out
	}
	size := int64(len(r.Params))
	if t.requests.Add(1) > maxRequests || t.bytes.Add(size) > maxRequestBytes {
		_ = t.stream.end(flooded("It asked more of Conclave at once than can be answered."))
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return true
	}
	t.wg.Go(func() { // ends when the request is answered, or with the stream
		defer func() {
			t.requests.Add(-1)
			t.bytes.Add(-size)
		}()
		select {
		case t.slots <- struct{}{}:
			defer func() { <-t.slots }()
		case <-t.stream.done:
			return
		}
		answer := t.answer(r)
		if err := t.stream.Write(t.ctx, answer); err != nil {
			t.refuse(r.ID, err)
		}
	})
	return true
}

// answer carries out one request.
func (t *Transport) answer(r *jsonrpc.Request) *jsonrpc.Response {
	value, err := t.carryOut(r)
	if err != nil {
		if _, ok := errors.AsType[*HostError](err); !ok && t.ctx.Err() == nil {
			t.log.Warn("a plugin's request was not carried out", "err", err)
		}
		return &jsonrpc.Response{ID: r.ID, Error: answerError(err)}
	}
	return &jsonrpc.Response{ID: r.ID, Result: value}
}

func (t *Transport) carryOut(r *jsonrpc.Request) (_ json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the handler of a host request panicked: %v", p)
		}
	}()
	var p struct {
		Capability string          `json:"capability"`
		Args       json.RawMessage `json:"args"`
		Call       string          `json:"call"`
	}
	if err := json.Unmarshal(r.Params, &p); err != nil || p.Capability == "" {
		return nil, &HostError{Kind: "invalid", Message: "A conclave/host request needs a capability and its args."}
	}
	value, err := t.handler(t.ctx, p.Capability, p.Args, p.Call)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer // as the SDK does it: without escaping HTML
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("write the value of %s: %w", p.Capability, err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// refuse answers a request whose answer could not be sent as it was.
func (t *Transport) refuse(id jsonrpc.ID, err error) {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return // the stream is gone
	}
	_ = t.stream.Write(t.ctx, &jsonrpc.Response{ID: id, Error: answerError(
		&HostError{Kind: "failed", Message: "The answer cannot be sent: " + e.Message + "."})})
}

// Dial starts an MCP session over rw. The handshake is bounded by ctx. On an
// error the stream has ended; the error is a *[LoadError] when the worker said
// that its plugin does not load, a *[Broken], or the cause of ctx's end.
//
// The session and the transport both close the stream; a caller that also wants
// to wait for host requests closes the transport.
func Dial(ctx context.Context, rw io.ReadWriteCloser, info *mcp.Implementation, handler Handler, log *slog.Logger,
	client *mcp.ClientOptions,
) (*mcp.ClientSession, *Transport, error) {
	t := New(ctx, rw, handler, log)
	// A write to a worker that does not read heeds no context; only the end of
	// the stream interrupts it.
	stop := context.AfterFunc(ctx, func() { _ = t.stream.end(context.Cause(ctx)) })
	defer stop()
	session, err := mcp.NewClient(info, client).Connect(ctx, t,
		&mcp.ClientSessionOptions{ProtocolVersion: ProtocolVersion})
	if err == nil && stop() {
		return session, t, nil
	}
	t.Close()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if broken, ok := errors.AsType[*Broken](t.Err()); ok {
		return nil, nil, broken
	}
	return nil, nil, asLoadError(err)
}

// Speaks reports whether the worker announced conclave/host; a native MCP server
// does not, and is sent neither events nor conclave/… keys.
func Speaks(session *mcp.ClientSession) bool {
	result := session.InitializeResult()
	if result == nil || result.Capabilities == nil {
		return false
	}
	_, ok := result.Capabilities.Experimental[capability]
	return ok
}
