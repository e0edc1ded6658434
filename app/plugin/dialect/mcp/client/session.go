package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// notifyTime bounds how long a notification may take to be sent.
const notifyTime = 5 * time.Second

// Session is a conversation with one server. Make one with OverStream or OverHTTP, and close it. Its
// methods are safe for concurrent use.
//
// Goroutines: two read and write the stream, or one per open HTTP answer; one per question that the server
// asks; one reports changes; one per subscription; one looks whether a silent server is there. All end with
// the session, and Close waits for them.
type Session struct {
	o      Options
	conn   conn
	ctx    context.Context // of the goroutines; ends with Close
	cancel context.CancelCauseFunc
	work   work
	open   exchanges
	calls  chan struct{} // has room for one: a call may begin

	server    atomic.Pointer[Info]
	level     atomic.Value // string: the least important level the server should send
	questions questions
	changes   changes
	listening subscriptions
	headers   headerTable
	lines     logLimit
	heard     atomic.Int64 // when the last message came, in nanoseconds since 1970
	renewing  sync.Mutex   // one new handshake at a time
}

// work counts the goroutines of a session.
type work struct {
	mu     sync.Mutex // guards closed against wg.Go
	closed bool
	wg     sync.WaitGroup
}

// start runs f in a goroutine, and reports false when the session is closed.
func (w *work) start(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.wg.Go(f)
	return true
}

func (w *work) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
}

func newSession(ctx context.Context, o Options, transport string) *Session {
	l := &o.Limits
	l.FirstByte, l.Probe = cmp.Or(l.FirstByte, 10*time.Second), cmp.Or(l.Probe, 3*time.Second)
	l.Connect, l.Request = cmp.Or(l.Connect, 30*time.Second), cmp.Or(l.Request, time.Minute)
	l.Silence, l.Longest = cmp.Or(l.Silence, time.Minute), cmp.Or(l.Longest, 30*time.Minute)
	l.Answer, l.Calls = cmp.Or(l.Answer, 10*time.Minute), cmp.Or(l.Calls, 16)
	l.Poll, l.Idle = cmp.Or(l.Poll, time.Second), cmp.Or(l.Idle, 5*time.Minute)
	o.LogLevel = cmp.Or(o.LogLevel, "warning")
	if o.Client.Name == "" {
		o.Client.Name, o.Client.Title = "conclave", "Conclave"
	}
	o.Client.Version = cmp.Or(o.Client.Version, "0") // the protocol requires one
	if o.Ask == nil {
		o.Form, o.URL, o.Sampling = false, false, false
	}
	if o.Log == nil {
		o.Log = func(string, string) {}
	}
	s := &Session{o: o, calls: make(chan struct{}, l.Calls)}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.level.Store(o.LogLevel)
	s.server.Store(&Info{Transport: transport})
	s.questions.turn = make(chan struct{}, 1)
	s.changes.signal = make(chan struct{}, 1)
	s.work.start(func() { s.changes.report(s.ctx, &s.o) }) // ends with the session
	return s
}

// OverStream begins a session with a process over its standard output (read) and input (written). The
// caller owns the process; the session closes stream when it ends. The error is ErrStartAgain when the
// process is to be started once more, ErrVersion, ErrEnded, a *JunkError, ErrTimeout, a JSON-RPC error of the
// server, or the cause of ctx's end.
func OverStream(ctx context.Context, stream io.ReadWriteCloser, o Options) (*Session, error) {
	s := newSession(ctx, o, Stdio)
	c := newStreamConn(s, stream)
	s.conn = c
	return s.begin(ctx, func(ctx context.Context) error { return handshake{s}.greet(ctx, c.began) })
}

// OverHTTP begins a session with the server at address: modern first, then legacy, then the older
// HTTP with server-sent events. hc sends all requests and may sign in: its transport answers a 401 or
// 403 by a request with a token where it has one, and fails with a *fault.Error where it has none, which
// this and all other methods return as it is. Nil is a plain client. The error is ErrAddress, ErrVersion, a
// *RefusedError, a *fault.Error, a JSON-RPC error of the server, or the cause of ctx's end.
func OverHTTP(ctx context.Context, address string, hc *http.Client, o Options) (*Session, error) {
	w, err := newWeb(address, hc, &o)
	if err != nil {
		return nil, err
	}
	s := newSession(ctx, o, HTTP)
	s.conn = &httpConn{web: w, s: s, closing: closing{make(chan struct{})}}
	return s.begin(ctx, func(ctx context.Context) error { return handshake{s}.greetOverHTTP(ctx, w) })
}

// begin runs the handshake and what follows from it.
func (s *Session) begin(ctx context.Context, greet func(context.Context) error) (*Session, error) {
	limited, stop := context.WithTimeoutCause(ctx, s.o.Limits.Connect,
		fmt.Errorf("%w: no answer to the first requests for %s", ErrTimeout, s.o.Limits.Connect))
	defer stop()
	if err := greet(limited); err != nil {
		s.Close()
		return nil, err
	}
	switch speaks := s.speaks(); {
	case speaks.Era == Modern:
		s.listenForChanges()
	case speaks.Transport != Stdio:
		s.work.start(pinger{s}.ping) // ends with the session
	}
	return s, nil
}

// speaks returns what is known of the server; never nil, and not changed.
func (s *Session) speaks() *Info { return s.server.Load() }

// Server describes the server.
func (s *Session) Server() Info { return *s.speaks() }

// SetLogLevel sets the least important level that the server sends: debug, info, notice, warning, error,
// critical, alert or emergency.
func (s *Session) SetLogLevel(ctx context.Context, level string) error {
	s.level.Store(level)
	speaks := s.speaks()
	if speaks.Era == Modern || !speaks.Capabilities.Logging {
		return nil
	}
	_, err := s.bounded(ctx, "logging/setLevel", map[string]any{"level": level})
	return err
}

// RootsChanged lets a legacy server know that Options.Roots returns other folders now.
func (s *Session) RootsChanged() {
	if s.o.Roots != nil && s.speaks().Era == Legacy {
		s.work.start(func() { s.notify("notifications/roots/list_changed", nil) }) // ends within notifyTime
	}
}

// Ping asks the server for a sign of life. A modern one is not asked.
func (s *Session) Ping(ctx context.Context) error {
	if s.speaks().Era == Modern {
		return s.Err()
	}
	_, err := s.bounded(ctx, "ping", nil)
	return err
}

// Request sends a request as it is, for tests and diagnosis, and returns the result as it came.
func (s *Session) Request(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	return s.bounded(ctx, method, params)
}

// bounded sends a request that is no call of a tool.
func (s *Session) bounded(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	limit := s.o.Limits.Request
	ctx, stop := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("%w: no answer to %s for %s", ErrTimeout, method, limit))
	defer stop()
	return s.renewed(ctx, sending{method: method, params: params}, true)
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.conn.done() }

// Err returns why the session ended, and nil while it lasts.
func (s *Session) Err() error { return s.conn.cause() }

// Close ends the session, its calls and its goroutines, and waits for them. It may be called more than
// once, but not by a function of Options.
func (s *Session) Close() {
	s.work.close()
	s.cancel(ErrClosed)
	s.conn.close()
	s.work.wg.Wait()
	s.lines.end(s.o.Log)
}
