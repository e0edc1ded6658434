package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// retries are the pauses before a first request that met a failing server is sent again.
var retries = []time.Duration{300 * time.Millisecond, time.Second}

// greetOverHTTP finds out how the server at an address speaks: modern, legacy, or over the older HTTP with
// server-sent events.
func (s handshake) greetOverHTTP(ctx context.Context, w *web) error {
	if s.o.Transport == SSE {
		return s.greetOverSSE(ctx, w)
	}
	if s.o.Era != Legacy {
		err := s.retried(ctx, s.discover)
		if err == nil || !maybeLegacy(err) {
			return err
		}
	}
	err := s.retried(ctx, s.initialize)
	if err == nil {
		s.conn.(*httpConn).listenAnew()
		return nil
	}
	e, ok := errors.AsType[*RefusedError](err)
	switch {
	case s.o.Era == Legacy && rpcError(err) != nil && modernError(rpcError(err)):
		return cmpError(s.discover(ctx), err) // it has become modern
	case s.o.Transport == HTTP || !ok || e.Status < 400 || e.Status >= 500 || signsIn(err):
		return err
	}
	if sseErr := s.greetOverSSE(ctx, w); sseErr != nil {
		return fmt.Errorf("%w; and as an older server: %w", err, sseErr)
	}
	return nil
}

// maybeLegacy reports whether a server that answered server/discover with err may be legacy.
func maybeLegacy(err error) bool {
	if errors.Is(err, ErrVersion) || errors.Is(err, ErrNotSent) || errors.Is(err, ErrAddress) {
		return false
	}
	if signsIn(err) || refusedByCaller(err) {
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTimeout) {
		return false
	}
	e := rpcError(err)
	return e == nil || !modernError(e) || e.Code == codeVersion
}

// retried runs a first question, and again when the server failed, which is no evidence of what it speaks.
func (s handshake) retried(ctx context.Context, ask func(context.Context) error) error {
	for i := 0; ; i++ {
		err := ask(ctx)
		e, refusal := errors.AsType[*RefusedError](err)
		failing := refusal && e.Status >= 500 && e.Err == nil || errors.Is(err, ErrUnknown)
		if !failing || i == len(retries) {
			return err
		}
		if err := pause(ctx, retries[i]); err != nil {
			return err
		}
	}
}

// renew begins a new session with a server that forgot the one it had.
func (s handshake) renew(ctx context.Context, forgotten *forgottenError) error {
	c, ok := s.conn.(*httpConn)
	if !ok {
		return forgotten
	}
	s.renewing.Lock()
	defer s.renewing.Unlock()
	if !c.forget(forgotten.session) { // another request has begun a new one
		return nil
	}
	known := s.speaks()
	if err := s.initialize(ctx); err != nil {
		s.server.Store(known)
		return fmt.Errorf("the server forgot the session and begins no new one: %w", err)
	}
	c.listenAnew()
	s.changes.note(allChanged, "")
	return nil
}

// greetOverSSE begins a session of 2024-11-05.
func (s handshake) greetOverSSE(ctx context.Context, w *web) error {
	s.server.Store(&Info{Era: Legacy, Transport: SSE})
	c := &sseConn{web: w, s: s.Session, closing: closing{make(chan struct{})}}
	s.conn = c // before any other goroutine looks at it
	err := c.connect(ctx)
	if err == nil {
		err = s.initialize(ctx)
	}
	if err != nil {
		return err
	}
	s.work.start(c.keep) // ends with the session
	return nil
}
