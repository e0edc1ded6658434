package egress

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"time"

	"conclave/app/net/fetch"
)

// transport connects to addresses with the verdict of the request that needs one.
func (s *Pass) transport(private bool) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			to, err := newTarget("http", &url.URL{Host: address})
			if err != nil {
				return nil, err
			}
			return s.dial(ctx, to, Verdict{Allow: true, Private: private})
		},
		DisableCompression: true, MaxIdleConnsPerHost: 4, MaxIdleConns: 16, IdleConnTimeout: 30 * time.Second,
		ResponseHeaderTimeout: 10 * fetch.Patience, MaxResponseHeaderBytes: 256 << 10,
	}
}

// over returns the transport for what a verdict allows.
func (s *Pass) over(v Verdict) *http.Transport {
	if v.Private {
		return s.private
	}
	return s.public
}

// meter counts what one request sends and gets on connections that serve others too.
type meter struct {
	on             *counted
	also           *tally
	sent, received int64
}

// watch returns a context whose request has its connections counted.
func (m *meter) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { m.got(info.Conn) },
	})
}

// got takes note of the connection that the request has now.
func (m *meter) got(conn net.Conn) {
	m.stop()
	if under, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = under.NetConn()
	}
	if on, ok := conn.(*counted); ok {
		m.on = on
		on.also.Store(m.also)
		m.sent -= on.sent.Load()
		m.received -= on.received.Load()
	}
}

// stop ends counting on the connection.
func (m *meter) stop() {
	if m.on != nil {
		m.sent += m.on.sent.Load()
		m.received += m.on.received.Load()
		m.on.also.CompareAndSwap(m.also, nil) // the next request may have it by now
		m.on = nil
	}
}

// forward passes on one request to an http address. Redirects go back to the client, which asks for
// where they lead.
func (s *Pass) forward(w http.ResponseWriter, r *http.Request, to Target, v Verdict) {
	began := time.Now()
	m := meter{also: s.tally(to, v)}
	failed := false
	defer func() {
		if m.stop(); !failed {
			s.report(to, v, began, m.sent, m.received, "")
		}
	}()
	r = r.WithContext(m.watch(r.Context()))
	(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL = &url.URL{
				Scheme: "http", Host: to.address(), Path: r.URL.Path, RawPath: r.URL.RawPath,
				RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery,
			}
			if to.Port == 80 { // as the client would say it
				p.Out.URL.Host = bracketed(to.Host)
			}
			p.Out.Host = p.Out.URL.Host
		},
		Transport: s.over(v), FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			failed = true
			s.unreachable(w, r, to, began, v, err)
		},
	}).ServeHTTP(w, r)
}

// bracketed is a host as a URL has it.
func bracketed(host string) string {
	if net.ParseIP(host) != nil && net.ParseIP(host).To4() == nil {
		return "[" + host + "]"
	}
	return host
}
