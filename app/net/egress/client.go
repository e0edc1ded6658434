package egress

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"conclave/app/net/fetch"
)

// Client returns a client for what Conclave asks of the web for a plugin that has no sockets.
// It asks for each host whether the plugin may, for those that redirects lead to too, and
// counts bytes. call is the call that the plugin says the request is for; empty for none.
// The error of a refusal is a [fetch.Refused].
func (p *Proxy) Client(plugin, call string) *http.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	pass := p.direct[plugin]
	if pass == nil {
		pass = p.pass(plugin)
		for _, t := range []*http.Transport{pass.public, pass.private} { // its client reads the answers itself
			t.DisableCompression, t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = false, 10*time.Second, fetch.Patience
		}
		p.direct[plugin] = pass
		if p.closed {
			pass.cancel()
		}
	}
	return fetch.NewClientOver(&direct{pass, call})
}

// direct makes the requests of one client.
type direct struct {
	pass *Pass
	call string
}

// RoundTrip implements http.RoundTripper.
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	s := d.pass
	to, err := newTarget(r.URL.Scheme, r.URL)
	if err != nil {
		return nil, err
	}
	to.Direct, to.Call, to.Request = true, d.call, fetch.Shown(r)
	select {
	case s.open <- struct{}{}:
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
	began := time.Now()
	ctx, cancel := context.WithCancelCause(r.Context())
	detach := context.AfterFunc(s.ctx, func() { cancel(nil) })
	answered := fetch.Asking(ctx)
	verdict, forget := s.admit(ctx, to, cancel)
	answered()
	e := &exchange{pass: s, to: to, verdict: verdict, ctx: ctx, began: began, over: func() {
		forget()
		detach()
		cancel(nil)
		<-s.open
	}}
	if !verdict.Allow {
		return nil, e.refuse(cmp.Or(verdict.Reason, "it was not allowed"))
	}
	e.meter.also = s.tally(to, verdict)
	response, err := s.over(verdict).RoundTrip(r.WithContext(e.meter.watch(ctx)))
	if err != nil {
		return nil, e.failed(err)
	}
	e.body, response.Body = response.Body, e
	return response, nil
}

// exchange is one request that was let through, and the body of its answer.
type exchange struct {
	pass    *Pass
	to      Target
	verdict Verdict
	ctx     context.Context //nolint:containedctx // of the request; ends with it
	began   time.Time
	meter   meter
	body    io.ReadCloser
	over    func()
	once    sync.Once
}

// Read implements io.Reader.
func (e *exchange) Read(b []byte) (int, error) {
	n, err := e.body.Read(b)
	switch {
	case errors.Is(err, io.EOF):
		e.end("")
	case err != nil:
		err = e.failed(err)
	}
	return n, err
}

// Close implements io.Closer.
func (e *exchange) Close() error {
	err := e.body.Close()
	e.end("")
	return err
}

// end reports what was sent and got, once.
func (e *exchange) end(refused string) {
	e.once.Do(func() {
		defer e.over()
		if e.meter.stop(); refused != "" || e.meter.sent > 0 || e.meter.received > 0 { // else there was no connection
			e.pass.report(e.to, e.verdict, e.began, e.meter.sent, e.meter.received, refused)
		}
	})
}

// failed ends a request, and returns its error as who asked is to read it.
func (e *exchange) failed(err error) error {
	if errors.Is(context.Cause(e.ctx), errTakenBack) {
		return e.refuse(errTakenBack.Error())
	}
	reason, refused := whyNot(err)
	if !refused {
		reason = ""
	}
	e.end(reason)
	return err
}

func (e *exchange) refuse(reason string) error {
	e.end(reason)
	return &fetch.Refused{Host: e.to.String(), Reason: reason}
}
