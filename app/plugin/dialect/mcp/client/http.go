package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A forgottenError means that a legacy server does not know the session any longer.
type forgottenError struct{ session string }

func (*forgottenError) Error() string { return "the server forgot the session" }

// maxResumes bounds how often an answer stream is opened again without anything new on it.
const maxResumes = 5

// defaultRetry is the pause before a broken stream is opened again where the server asks for none.
const defaultRetry = time.Second

// closing is the end of a connection that only this side ends: one over HTTP.
type closing struct {
	over chan struct{} // closed by close
}

func (c *closing) done() <-chan struct{} { return c.over }

func (c *closing) cause() error {
	select {
	case <-c.over:
		return ErrClosed
	default:
		return nil
	}
}

// httpConn is the connection to a server over Streamable HTTP: a POST for each message.
type httpConn struct {
	*web
	s *Session
	closing

	mu      sync.Mutex // guards all below
	ended   bool
	session string             // of a legacy server
	stop    context.CancelFunc // of the stream that listens; nil for none
}

// send posts m. A request waits for its answer in the background; anything else is posted before send
// returns.
func (c *httpConn) send(ctx context.Context, m jsonrpc.Message, e *exchange) error {
	body, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	if e == nil {
		return c.post(ctx, body, m, nil)
	}
	started := c.s.work.start(func() { // ends with the answer, or with e.ctx
		err := c.post(e.ctx, body, m, e)
		if err == nil && !e.settled() {
			err = fmt.Errorf("%w: the server accepted it and gave no answer", ErrUnknown)
		}
		e.settle(nil, err)
	})
	if !started {
		return fmt.Errorf("%w: %w", ErrNotSent, ErrClosed)
	}
	return nil
}

func (c *httpConn) post(ctx context.Context, body []byte, m jsonrpc.Message, e *exchange) error {
	session := c.sessionID()
	header := c.headers(m, e, session)
	header.Set("Content-Type", "application/json")
	traffic{c.s}.sent(m, body)
	res, err := c.do(ctx, http.MethodPost, "", body, header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode/100 != 2:
		traffic{c.s}.refused(res)
		return orForgotten(refused(res), session)
	case e == nil:
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxRefusal)) // so that the connection can be used again
		return nil
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" && e.request.Method == "initialize" {
		c.mu.Lock()
		c.session = id
		c.mu.Unlock()
	}
	switch kind := mediaType(res); {
	case kind == "text/event-stream":
		return c.stream(ctx, res, e)
	case kind == "application/json" || kind == "":
		return c.whole(res, e)
	case res.StatusCode == http.StatusAccepted || res.StatusCode == http.StatusNoContent:
		return nil
	default:
		return &RefusedError{
			Status: res.StatusCode, URL: c.address.Load().Host, Text: "this is no MCP server: the answer is " + kind,
		}
	}
}

// orForgotten returns what a refusal within a session means. Servers built on the examples of the TypeScript
// SDK answer 400 for a session that they do not know, where the protocol wants 404.
func orForgotten(e *RefusedError, session string) error {
	if session == "" {
		return e
	}
	example := e.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(e.Text), "session")
	if e.Status == http.StatusNotFound || example {
		return &forgottenError{session}
	}
	return e
}

// headers returns the headers of a message.
func (c *httpConn) headers(m jsonrpc.Message, e *exchange, session string) http.Header {
	h := http.Header{}
	h.Set("Accept", "application/json, text/event-stream")
	speaks := c.s.speaks()
	version := speaks.Version
	if e != nil {
		version = e.version
	}
	if version != "" {
		h.Set("Mcp-Protocol-Version", version)
	}
	if session != "" {
		h.Set("Mcp-Session-Id", session)
	}
	request, ok := m.(*jsonrpc.Request)
	if !ok || !speaks.has(httpHeaders) {
		return h
	}
	h.Set("Mcp-Method", request.Method)
	if name := headerName(request); name != "" {
		h.Set("Mcp-Name", headerValue(name))
	}
	if e != nil {
		for name, value := range e.header {
			h.Set(name, value)
		}
	}
	return h
}

// headerName returns what Mcp-Name holds for a request; empty for requests without.
func headerName(r *jsonrpc.Request) string {
	var p struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
		Task string `json:"taskId"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return ""
	}
	switch r.Method {
	case "tools/call", "prompts/get":
		return p.Name
	case "resources/read":
		return p.URI
	case "tasks/get", "tasks/update", "tasks/cancel":
		return p.Task
	}
	return ""
}

// whole reads an answer that is one body.
func (c *httpConn) whole(res *http.Response, e *exchange) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxLine+1))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if len(body) == 0 && res.StatusCode != http.StatusOK {
		return nil
	}
	if len(body) > maxLine {
		inbox{c.s}.tooLong(jsonrpc.ID{}, e)
		return nil
	}
	return c.deliver(body, e)
}

func (c *httpConn) deliver(data []byte, e *exchange) error {
	all, err := traffic{c.s}.got(data)
	if err != nil {
		var m struct {
			Error *jsonrpc.Error `json:"error"`
		}
		if json.Unmarshal(data, &m) == nil && m.Error != nil {
			return m.Error // an error without an id is one of this request
		}
		return fmt.Errorf("the answer is no JSON-RPC message: %q", excerpt(data))
	}
	for _, m := range all {
		inbox{c.s}.receive(m, e)
	}
	return nil
}

// stream reads an answer that is a stream of messages, until the answer itself. A legacy server may close
// it before, and is then asked for the rest.
func (c *httpConn) stream(ctx context.Context, res *http.Response, e *exchange) error {
	last, retry, resumes := "", defaultRetry, 0
	for {
		events := newEventReader(res.Body)
		any, err := c.events(events, e)
		_ = res.Body.Close()
		if e.settled() || err != nil {
			return err
		}
		if any {
			resumes = 0
		}
		if events.id != "" {
			last = events.id
		}
		if events.retry > 0 {
			retry = events.retry
		}
		speaks := c.s.speaks()
		if last == "" || speaks.Era == Modern || ctx.Err() != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w: the answer broke off", ErrUnknown)
		}
		for {
			if resumes++; resumes > maxResumes {
				return fmt.Errorf("%w: the answer broke off", ErrUnknown)
			}
			if err := pause(ctx, retry); err != nil {
				return err
			}
			if res, err = c.get(ctx, last); err == nil {
				break
			}
			if _, ok := errors.AsType[*RefusedError](err); ok {
				return fmt.Errorf("%w: the answer broke off: %w", ErrUnknown, err)
			}
		}
	}
}

// events delivers what a stream holds, until e has its answer. any reports that there was something.
func (c *httpConn) events(r *eventReader, e *exchange) (any bool, err error) {
	for !e.settled() {
		ev, err := r.next()
		if err != nil {
			return any, nil
		}
		any = true
		if ev.name != "" && ev.name != "message" {
			continue
		}
		if ev.long {
			inbox{c.s}.tooLong(ev.longID, e)
			continue
		}
		if err := c.deliver(ev.data, e); err != nil {
			if rpcError(err) != nil {
				return any, err
			}
			c.s.logf("warn", "an event was dropped: %v", err)
		}
	}
	return any, nil
}

// get opens a stream of a legacy server, behind the event last where it is not empty. The error is a
// *RefusedError, a *forgottenError, or one of web.do.
func (c *httpConn) get(ctx context.Context, last string) (*http.Response, error) {
	session := c.sessionID()
	h := c.headers(nil, nil, session)
	h.Set("Accept", "text/event-stream")
	if last != "" {
		h.Set("Last-Event-ID", last)
	}
	res, err := c.do(ctx, http.MethodGet, "", nil, h)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK && mediaType(res) == "text/event-stream" {
		return res, nil
	}
	defer res.Body.Close()
	return nil, orForgotten(refused(res), session)
}

// listen keeps the stream of a legacy server open on which it sends what belongs to no request, until ctx
// ends or the server refuses it.
func (c *httpConn) listen(ctx context.Context) {
	var pauses backoff
	last := ""
	for first := true; ctx.Err() == nil; first = false {
		began := time.Now()
		wait := time.Duration(0)
		res, err := c.get(ctx, last)
		if err == nil {
			if !first { // what happened meanwhile may not have been sent
				c.s.changes.note(allChanged, "")
			}
			wait, last = c.hear(res, last)
		} else if e, ok := errors.AsType[*RefusedError](err); ok && e.Status < 500 {
			return // it has no such stream
		} else if _, forgotten := errors.AsType[*forgottenError](err); forgotten {
			return // the next request begins a new session, and listens for that
		}
		if time.Since(began) > steady {
			pauses.reset()
		}
		if pause(ctx, max(wait, pauses.next())) != nil {
			return
		}
	}
}

// hear delivers the messages of a stream that belongs to no request.
func (c *httpConn) hear(res *http.Response, last string) (retry time.Duration, id string) {
	defer res.Body.Close()
	r := newEventReader(res.Body)
	r.id = last
	for {
		ev, err := r.next()
		if err != nil {
			return r.retry, r.id
		}
		if ev.long {
			inbox{c.s}.tooLong(ev.longID, nil)
		} else if err := c.deliver(ev.data, nil); err != nil {
			c.s.logf("warn", "an event was dropped: %v", err)
		}
	}
}

// listenAnew begins to listen for the session as it is now, and ends what listened before.
func (c *httpConn) listenAnew() {
	ctx, stop := context.WithCancel(c.s.ctx)
	c.mu.Lock()
	before := c.stop
	c.stop = stop
	c.mu.Unlock()
	if before != nil {
		before()
	}
	// A server that gets a call first may take the stream for that of the call's answer, and waits in vain.
	asked := make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: once})
	c.s.work.start(func() { // ends with the session, or when the server refuses it
		c.listen(traced)
		once()
	})
	select {
	case <-asked:
	case <-time.After(goodbye):
	case <-c.over:
	}
}

func (c *httpConn) sessionID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// forget drops the session. It reports false when there is another one by now.
func (c *httpConn) forget(session string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != session && c.session != "" {
		return false
	}
	c.session = ""
	return true
}

// again begins a new session.
func (c *httpConn) again(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, c.s.o.Limits.Connect)
	defer stop()
	return handshake{c.s}.renew(ctx, &forgottenError{c.sessionID()})
}

// cancels reports whether the server is legacy: a modern one sees its stream close.
func (c *httpConn) cancels() bool { return c.s.speaks().Era == Legacy }

// goodbye bounds how long the end of a session may take.
const goodbye = 2 * time.Second

// close ends a legacy session at the server, too.
func (c *httpConn) close() {
	c.mu.Lock()
	session, ended, stop := c.session, c.ended, c.stop
	c.ended = true
	c.mu.Unlock()
	if ended {
		return
	}
	close(c.over)
	if stop != nil {
		stop()
	}
	if session != "" {
		ctx, stop := context.WithTimeout(context.WithoutCancel(c.s.ctx), goodbye)
		defer stop()
		if res, err := c.do(ctx, http.MethodDelete, "", nil, c.headers(nil, nil, session)); err == nil {
			_ = res.Body.Close() // whatever it answers
		}
	}
	c.web.close()
}
