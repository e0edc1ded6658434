package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// exchange is one request that we sent, until its answer.
type exchange struct {
	id      int64
	request *jsonrpc.Request
	version string            // of the protocol that the request is written in; empty before there is one
	header  map[string]string // for HTTP
	tool    *toolCall         // nil for what is no call of a tool
	// notified gets the notifications of a subscription; nil for other requests.
	notified func(*jsonrpc.Request)

	ctx    context.Context // ends when nobody waits any longer
	cancel context.CancelCauseFunc

	settling sync.Once
	done     chan struct{} // closed once result and err are set
	result   json.RawMessage
	err      error
}

// settle sets the answer. It reports false when there was one.
func (e *exchange) settle(result json.RawMessage, err error) bool {
	first := false
	e.settling.Do(func() {
		first = true
		e.result, e.err = result, err
		close(e.done)
	})
	return first
}

func (e *exchange) settled() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// maxOver bounds the requests that are remembered for late and second answers.
const maxOver = 64

// exchanges holds the requests that are open.
type exchanges struct {
	mu   sync.Mutex // guards all below
	last int64
	open map[int64]*exchange
	over []int64 // the latest requests that are no longer open
}

// add gives e an id that no other request of the session has.
func (x *exchanges) add(e *exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last++
	e.id = x.last
	if x.open == nil {
		x.open = map[int64]*exchange{}
	}
	x.open[e.id] = e
}

// remove notes that e is no longer open.
func (x *exchanges) remove(e *exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.open, e.id)
	if len(x.over) == maxOver {
		x.over = x.over[1:]
	}
	x.over = append(x.over, e.id)
}

// fail settles all that are open.
func (x *exchanges) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.open {
		e.settle(nil, err)
	}
}

// find returns the open request with this id, or nil; over reports that it was open before.
func (x *exchanges) find(id jsonrpc.ID) (e *exchange, over bool) {
	n, ok := id.Raw().(int64)
	if !ok {
		return nil, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.open[n]; e != nil {
		return e, false
	}
	return nil, slices.Contains(x.over, n)
}

// call returns the call of the request with this id, and nil where there is none.
func (x *exchanges) call(id int64) *toolCall {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.open[id]; e != nil {
		return e.tool
	}
	return nil
}

// onlyCall returns the one call that is open, and nil when there are none or several: what a server sends
// without naming a call then belongs to it.
func (x *exchanges) onlyCall() *toolCall {
	x.mu.Lock()
	defer x.mu.Unlock()
	var only *toolCall
	for _, e := range x.open {
		if e.tool == nil || e.tool == only {
			continue
		}
		if only != nil {
			return nil
		}
		only = e.tool
	}
	return only
}

// sending is a request as one wants it sent.
type sending struct {
	method   string
	params   map[string]any // may be nil; not changed
	header   map[string]string
	tool     *toolCall
	notified func(*jsonrpc.Request)
	opened   func(id int64) // is called with the id before the request goes out
}

// request sends a request and waits for its answer. The error is a *jsonrpc.Error, one of this package, or
// the cause of ctx's end, at which the server gets a cancellation.
func (s *Session) request(ctx context.Context, q sending) (json.RawMessage, error) {
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	e, err := s.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	defer e.cancel(nil)
	defer context.AfterFunc(s.ctx, func() { e.cancel(ErrClosed) })()
	if q.opened != nil {
		q.opened(e.id)
	}
	if err := s.conn.send(ctx, e.request, e); err != nil {
		s.open.remove(e)
		return nil, err
	}
	select {
	case <-e.done:
	case <-ctx.Done():
		s.withdraw(e, context.Cause(ctx))
		return nil, context.Cause(ctx)
	case <-s.conn.done():
		if !e.settled() { // what was read before the end counts
			e.settle(nil, fmt.Errorf("%w: %w", ErrUnknown, s.Err()))
		}
	}
	s.open.remove(e)
	return e.result, e.err
}

// prepare makes the exchange of q and notes it as open.
func (s *Session) prepare(ctx context.Context, q sending) (*exchange, error) {
	speaks := s.speaks()
	e := &exchange{
		version: speaks.Version, header: q.header, tool: q.tool, notified: q.notified, done: make(chan struct{}),
	}
	s.open.add(e)
	e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	params := map[string]any{}
	maps.Copy(params, q.params)
	if meta := s.meta(speaks, e); len(meta) > 0 {
		params["_meta"] = meta
	}
	raw, err := encode(params)
	if err == nil {
		var id jsonrpc.ID
		id, err = jsonrpc.MakeID(float64(e.id))
		e.request = &jsonrpc.Request{ID: id, Method: q.method, Params: raw}
	}
	if err != nil {
		s.open.remove(e)
		e.cancel(err)
		return nil, fmt.Errorf("%w: its parameters are no JSON: %w", ErrNotSent, err)
	}
	return e, nil
}

// meta returns what belongs into _meta of a request.
func (s *Session) meta(speaks *Info, e *exchange) map[string]any {
	meta := map[string]any{}
	if e.tool != nil {
		meta["progressToken"] = e.id
	}
	if speaks.Era == Modern {
		meta[metaVersion] = speaks.Version
		meta[metaClient] = s.o.Client
		meta[metaCapabilities] = s.capabilities(speaks)
		if speaks.Capabilities.Logging {
			meta[metaLogLevel] = s.level.Load()
		}
	}
	return meta
}

// Keys of _meta, 2026-07-28 basic/index.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// withdraw gives e up and lets the server know, in the background.
func (s *Session) withdraw(e *exchange, why error) {
	s.open.remove(e)
	if !s.conn.cancels() || e.request.Method == "initialize" {
		e.cancel(why)
		return
	}
	reason := "nobody waits any longer"
	if errors.Is(why, ErrTimeout) {
		reason = "it took too long"
	}
	s.work.start(func() { // ends once the notification is sent, at the latest after its time
		s.notify("notifications/cancelled", map[string]any{"requestId": e.id, "reason": reason})
		e.cancel(why)
	})
}

// notify sends a notification, and waits at most notifyTime until it is written. What cannot be sent is
// dropped: the next request finds out why.
func (s *Session) notify(method string, params map[string]any) {
	raw, err := encode(params)
	if err != nil {
		return
	}
	if params == nil {
		raw = nil
	}
	ctx, stop := context.WithTimeout(s.ctx, notifyTime)
	defer stop()
	if err := s.conn.send(ctx, &jsonrpc.Request{Method: method, Params: raw}, nil); err != nil && s.ctx.Err() == nil {
		s.logf("debug", "%s was not sent: %v", method, err)
	}
}

// encode returns value as JSON without the escapes of HTML.
func encode(value any) (json.RawMessage, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimRight(b.String(), "\n")), nil
}

// rpcError returns the JSON-RPC error in err, or nil.
func rpcError(err error) *jsonrpc.Error {
	e, _ := errors.AsType[*jsonrpc.Error](err)
	return e
}
