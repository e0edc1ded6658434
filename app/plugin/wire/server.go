package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The two methods of our own (docs/WIRE.md, sections 5 and 6), and the
// capability that announces them (section 1).
const (
	hostMethod  = "conclave/host"
	eventMethod = "conclave/event"
	capability  = "conclave/host"
)

// maxOpen bounds the host requests one worker has open; later ones wait in the
// worker. It is four times what Conclave answers at once.
const maxOpen = 64

// Announce adds to caps the capability that tells Conclave that this worker sends
// conclave/host requests, and returns it; nil makes a new one. A worker passes the
// result as mcp.ServerOptions.Capabilities:
//
//	{"experimental":{"conclave/host":{"version":1}}}
func Announce(caps *mcp.ServerCapabilities) *mcp.ServerCapabilities {
	if caps == nil {
		caps = &mcp.ServerCapabilities{}
	}
	if caps.Experimental == nil {
		caps.Experimental = map[string]any{}
	}
	caps.Experimental[capability] = map[string]any{"version": 1}
	return caps
}

// A HostClient is a worker's connection to Conclave. [Serve] makes it; it is safe for
// concurrent use.
type HostClient struct {
	stream  *stream
	session *mcp.ServerSession
	onEvent func(name string, payload json.RawMessage)
	slots   chan struct{} // bounds open requests

	mu      sync.Mutex // guards the fields below
	last    int64
	waiting map[string]chan *jsonrpc.Response
}

// Serve lets server answer Conclave over r and w (a worker's standard input and
// output) and returns at once; [HostClient.Wait] blocks until the session is over.
// onEvent gets conclave/event notifications in order, on the goroutine that
// reads the wire: it must hand over and return, and may be nil.
//
// Requests are answered from the moment Serve is called. A worker that loads its
// plugin first holds initialize back in a receiving middleware, and answers it
// with [LoadFailure] when the plugin did not load; [HostClient.Call] works meanwhile.
//
// The session ends when r does. Where closing r does not interrupt a blocked
// read (a pipe inherited as standard input), [HostClient.Close] leaves the reading
// goroutine to the end of the process.
func Serve(ctx context.Context, r io.Reader, w io.Writer, server *mcp.Server,
	onEvent func(name string, payload json.RawMessage),
) (*HostClient, error) {
	h := &HostClient{
		stream:  newStream(pair{r, w}),
		onEvent: onEvent,
		slots:   make(chan struct{}, maxOpen),
		waiting: map[string]chan *jsonrpc.Response{},
	}
	h.stream.intercept = h.take
	session, err := server.Connect(ctx, given{h.stream}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect the MCP server: %w", err)
	}
	h.session = session
	return h, nil
}

// Session returns the MCP session, for notifications of the server to Conclave.
func (h *HostClient) Session() *mcp.ServerSession { return h.session }

// Done is closed as soon as the stream has ended, even while calls still run.
func (h *HostClient) Done() <-chan struct{} { return h.stream.done }

// Wait blocks until the stream has ended and every call was answered, and
// returns nil when Conclave closed the stream in good order.
func (h *HostClient) Wait() error {
	<-h.stream.done
	_ = h.session.Wait()
	if err := h.stream.err; !errors.Is(err, io.EOF) && !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// Close ends the stream. It may be called more than once.
func (h *HostClient) Close() { _ = h.stream.end(ErrClosed) }

// Call requests a service of Conclave and returns its value. args is marshalled
// as the arguments, nil as {}; call is the conclave/call-id on whose behalf it
// asks, or empty. The error is a *[HostError] when Conclave refused or failed,
// the cause of ctx's end, or why the stream ended.
func (h *HostClient) Call(ctx context.Context, service string, args any, call string) (json.RawMessage, error) {
	if args == nil {
		args = struct{}{}
	}
	params, err := json.Marshal(hostParams{Capability: service, Args: args, Call: call})
	if err != nil {
		return nil, &HostError{
			Kind: "invalid", Message: "The arguments of " + service + " cannot be written as JSON: " + err.Error(),
		}
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-h.stream.done:
		return nil, h.stream.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}

	answer := make(chan *jsonrpc.Response, 1)
	h.mu.Lock()
	h.last++
	name := "w" + strconv.FormatInt(h.last, 10)
	h.waiting[name] = answer
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.waiting, name)
		h.mu.Unlock()
	}()
	id, err := jsonrpc.MakeID(name)
	if err != nil {
		return nil, err
	}
	if err := h.stream.Write(ctx, &jsonrpc.Request{ID: id, Method: hostMethod, Params: params}); err != nil {
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return nil, &HostError{Kind: "invalid", Message: "This cannot be sent to Conclave: " + e.Message + "."}
		}
		return nil, err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return nil, hostError(r.Error)
		}
		return r.Result, nil
	case <-h.stream.done:
		return nil, h.stream.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// take keeps answers to our requests and events from the SDK.
func (h *HostClient) take(msg jsonrpc.Message) bool {
	switch m := msg.(type) {
	case *jsonrpc.Response:
		name, ok := m.ID.Raw().(string)
		if !ok || name == "" || name[0] != 'w' {
			return false
		}
		h.mu.Lock()
		answer := h.waiting[name]
		delete(h.waiting, name)
		h.mu.Unlock()
		if answer != nil { // else the asker has given up
			answer <- m
		}
		return true
	case *jsonrpc.Request:
		if m.Method != eventMethod || m.IsCall() {
			return false
		}
		var p eventParams
		if json.Unmarshal(m.Params, &p) == nil && h.onEvent != nil {
			h.onEvent(p.Name, p.Payload)
		}
		return true
	}
	return false
}

// hostParams are the params of conclave/host as a worker writes them:
//
//	{"capability":"storage.read","args":{"path":"notes.txt"},"call":"c1"}
type hostParams struct {
	Capability string `json:"capability"`
	Args       any    `json:"args"`
	Call       string `json:"call,omitempty"`
}

// eventParams are the params of conclave/event:
//
//	{"name":"PERMISSION_CHANGED","payload":{"permission":"chats","granted":true}}
type eventParams struct {
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// given is an mcp.Transport around a stream that exists.
type given struct{ s *stream }

func (g given) Connect(context.Context) (mcp.Connection, error) { return g.s, nil }

// pair makes one stream of two, and closes what can be closed.
type pair struct {
	io.Reader
	io.Writer
}

func (p pair) Close() error {
	var errs []error
	for _, side := range []any{p.Writer, p.Reader} {
		if c, ok := side.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
