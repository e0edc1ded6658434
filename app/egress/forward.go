package egress

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"conclave/app/fetch"
)

// forwarder passes on requests to http addresses. Redirects go back to the client,
// which asks for where they lead.
type forwarder struct {
	pass    *Pass
	public  *http.Transport
	private *http.Transport // for hosts of which private addresses were allowed
}

func newForwarder(s *Pass) *forwarder {
	return &forwarder{s, s.transport(false), s.transport(true)}
}

// transport connects to addresses with the verdict of the request that needs one.
func (s *Pass) transport(private bool) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			to, err := targetOf(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: address}})
			if err != nil {
				return nil, err
			}
			conn, err := s.dial(ctx, to, Verdict{Allow: true, Private: private})
			if err != nil {
				return nil, err
			}
			return &reported{conn, s, to.String()}, nil
		},
		DisableCompression: true, MaxIdleConnsPerHost: 4, MaxIdleConns: 16, IdleConnTimeout: 30 * time.Second,
		ResponseHeaderTimeout: 10 * fetch.Patience, MaxResponseHeaderBytes: 256 << 10,
	}
}

// reported tells of its traffic when it is closed.
type reported struct {
	*counted
	pass *Pass
	host string
}

// Close closes the connection, and tells of it the first time.
func (r *reported) Close() error {
	err := r.Conn.Close()
	if err == nil {
		r.pass.proxy.o.Report(r.traffic(r.pass.plugin, r.host))
	}
	return err
}

// serve passes on one request.
func (f *forwarder) serve(w http.ResponseWriter, r *http.Request, to Target, v Verdict) {
	began := time.Now()
	transport := f.public
	if v.Private {
		transport = f.private
	}
	(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL = &url.URL{Scheme: "http", Host: to.address(), Path: r.URL.Path, RawPath: r.URL.RawPath,
				RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery}
			if to.Port == 80 { // as the client would say it
				p.Out.URL.Host = bracketed(to.Host)
			}
			p.Out.Host = p.Out.URL.Host
		},
		Transport: transport, FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { f.pass.unreachable(w, r, to, began, err) },
	}).ServeHTTP(w, r)
}

// bracketed is a host as a URL has it.
func bracketed(host string) string {
	if net.ParseIP(host) != nil && net.ParseIP(host).To4() == nil {
		return "[" + host + "]"
	}
	return host
}

func (f *forwarder) close() {
	f.public.CloseIdleConnections()
	f.private.CloseIdleConnections()
}
