package egress

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
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
		pass.forward.serveDirect()
		p.direct[plugin] = pass
		if p.closed {
			pass.cancel()
		}
	}
	return fetch.NewClientOver(&direct{pass, call})
}

// serveDirect makes transports for a client that reads the answers itself.
func (f *forwarder) serveDirect() {
	for _, t := range []*http.Transport{f.public, f.private} {
		t.DisableCompression, t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = false, 10*time.Second, fetch.Patience
	}
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
	ctx, cancel := context.WithCancelCause(r.Context())
	detach := context.AfterFunc(s.ctx, func() { cancel(nil) })
	e := &exchange{pass: s, to: to, ctx: ctx, began: time.Now(), over: func() {
		detach()
		cancel(nil)
		<-s.open
	}}
	answered := fetch.Asking(ctx)
	e.verdict = s.proxy.o.Ask(ctx, s.plugin, to)
	answered()
	if !e.verdict.Allow {
		return nil, e.refuse(cmp.Or(e.verdict.Reason, "it was not allowed"))
	}
	forget, over := s.passes(&passage{e.verdict, cancel}), e.over
	e.over = func() { forget(); over() }
	if !e.verdict.stands() { // taken back meanwhile
		return nil, e.refuse(errTakenBack.Error())
	}
	e.meter.also = s.tally(to, e.verdict)
	transport := s.forward.public
	if e.verdict.Private {
		transport = s.forward.private
	}
	response, err := transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { e.meter.got(info.Conn) },
	})))
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
		if e.meter.stop(); refused == "" && e.meter.sent == 0 && e.meter.received == 0 { // there was no connection
			e.over()
			return
		}
		e.pass.proxy.o.Report(Traffic{
			Plugin: e.pass.plugin, Call: e.verdict.Call, Host: e.to.String(), Sent: e.meter.sent, Received: e.meter.received,
			Began: e.began, Refused: refused,
		})
		e.over()
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
