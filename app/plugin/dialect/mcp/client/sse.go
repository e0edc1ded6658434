package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// sseConn is the connection to a server of 2024-11-05: one stream with all that it sends, and a POST for
// each message to the address that the stream names first.
type sseConn struct {
	*web
	s *Session
	closing

	mu       sync.Mutex // guards all below
	ended    bool
	endpoint *url.URL           // nil while there is no stream
	lost     chan struct{}      // closed at the end of the stream
	stop     context.CancelFunc // of the stream
}

var errNoEndpoint = errors.New("the server names no address for messages")

// connect opens the stream and waits for the address.
func (c *sseConn) connect(ctx context.Context) error {
	c.mu.Lock()
	before := c.stop
	c.mu.Unlock()
	if before != nil {
		before()
	}
	streaming, stop := context.WithCancel(c.s.ctx)
	unhook := context.AfterFunc(ctx, stop)
	res, err := c.do(streaming, http.MethodGet, "", nil, http.Header{"Accept": {"text/event-stream"}})
	if err == nil && (res.StatusCode != http.StatusOK || mediaType(res) != "text/event-stream") {
		err = refused(res)
		_ = res.Body.Close()
	}
	if err != nil {
		stop()
		return err
	}
	r := newEventReader(res.Body)
	endpoint, err := c.readEndpoint(r)
	if err != nil || !unhook() {
		stop()
		_ = res.Body.Close()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	lost := make(chan struct{})
	c.mu.Lock()
	c.endpoint, c.lost, c.stop = endpoint, lost, stop
	c.mu.Unlock()
	started := c.s.work.start(func() { // ends with the stream
		c.hear(r)
		stop()
		_ = res.Body.Close()
		c.mu.Lock()
		c.endpoint = nil
		c.mu.Unlock()
		if c.s.ctx.Err() == nil {
			c.s.open.fail(fmt.Errorf("%w: the stream of the server broke off", ErrUnknown))
		}
		close(lost)
	})
	if !started {
		stop()
		_ = res.Body.Close()
		return ErrClosed
	}
	return nil
}

func (c *sseConn) readEndpoint(r *eventReader) (*url.URL, error) {
	for {
		ev, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil, errNoEndpoint
		}
		if err != nil {
			return nil, err
		}
		if ev.name != "endpoint" {
			continue
		}
		at := c.address.Load()
		u, err := at.Parse(string(ev.data))
		if err != nil {
			return nil, errNoEndpoint
		}
		if !sameOrigin(at, u) {
			return nil, fmt.Errorf("%w: %s wants its messages sent to another server, %s", ErrAddress, at.Host, u.Host)
		}
		return u, nil
	}
}

// hear delivers the messages of the stream.
func (c *sseConn) hear(r *eventReader) {
	for {
		ev, err := r.next()
		if err != nil {
			return
		}
		if ev.name != "" && ev.name != "message" {
			continue
		}
		if ev.long {
			inbox{c.s}.tooLong(ev.longID, nil)
			continue
		}
		all, err := traffic{c.s}.got(ev.data)
		if err != nil {
			c.s.logf("warn", "an event was dropped: %v", err)
		}
		for _, m := range all {
			inbox{c.s}.receive(m, nil)
		}
	}
}

// keep connects again whenever the stream ends, until the session does.
func (c *sseConn) keep() {
	var pauses backoff
	for {
		c.mu.Lock()
		lost := c.lost
		c.mu.Unlock()
		select {
		case <-lost:
		case <-c.s.ctx.Done():
			return
		}
		for {
			if pause(c.s.ctx, pauses.next()) != nil {
				return
			}
			ctx, stop := context.WithTimeout(c.s.ctx, c.s.o.Limits.Connect)
			err := c.connect(ctx)
			if err == nil {
				err = handshake{c.s}.initialize(ctx)
			}
			stop()
			if err == nil {
				break
			}
			c.s.logf("info", "it could not be reached again: %v", err)
		}
		pauses.reset()
		c.s.changes.note(allChanged, "")
	}
}

func (c *sseConn) send(ctx context.Context, m jsonrpc.Message, e *exchange) error {
	body, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	c.mu.Lock()
	endpoint := c.endpoint
	c.mu.Unlock()
	if endpoint == nil {
		return fmt.Errorf("%w: the connection is being opened again", ErrNotSent)
	}
	traffic{c.s}.sent(m, body)
	if e == nil {
		return c.post(ctx, endpoint, body)
	}
	started := c.s.work.start(func() { // ends when the message is accepted, or with e.ctx
		if err := c.post(e.ctx, endpoint, body); err != nil {
			e.settle(nil, err)
		}
	})
	if !started {
		return fmt.Errorf("%w: %w", ErrNotSent, ErrClosed)
	}
	return nil
}

func (c *sseConn) post(ctx context.Context, endpoint *url.URL, body []byte) error {
	h := http.Header{"Content-Type": {"application/json"}}
	if version := c.s.speaks().Version; version != "" {
		h.Set("Mcp-Protocol-Version", version)
	}
	res, err := c.do(ctx, http.MethodPost, endpoint.String(), body, h)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		traffic{c.s}.refused(res)
		return refused(res)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxRefusal)) // so that the connection can be used again
	return nil
}

// again ends the stream; keep opens another one.
func (c *sseConn) again(context.Context) error {
	c.mu.Lock()
	stop := c.stop
	c.mu.Unlock()
	stop()
	return nil
}

func (*sseConn) cancels() bool { return true }

func (c *sseConn) close() {
	c.mu.Lock()
	ended, stop := c.ended, c.stop
	c.ended = true
	c.mu.Unlock()
	if ended {
		return
	}
	close(c.over)
	if stop != nil {
		stop()
	}
	c.web.close()
}
