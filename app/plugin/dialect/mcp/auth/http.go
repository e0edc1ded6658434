package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"conclave/app/net/address"
	"conclave/app/net/fetch"
	"conclave/app/net/loopback"
)

// Bounds of what a sign-in service may send, and how long it may take for one answer.
const (
	maxAnswer    = 1 << 20
	maxRedirects = 5
	answerTime   = 20 * time.Second
)

// web makes the requests to a sign-in service. It connects to public addresses, and to others only
// where the server is there itself. It follows redirects of GET alone: what is posted holds secrets.
type web struct {
	client *http.Client
	where  atomic.Pointer[netip.Addr] // where the server was last reached; nil: not known
}

func newWeb() *web {
	w := &web{}
	w.client = &http.Client{
		Transport: &http.Transport{
			DialContext: fetch.NewDialer(w.reaches, nil).DialContext, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: answerTime, IdleConnTimeout: 10 * time.Second,
			MaxIdleConns: 4, MaxResponseHeaderBytes: 64 << 10,
		},
		Timeout: answerTime,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch from := via[len(via)-1]; {
			case from.Method != http.MethodGet:
				return http.ErrUseLastResponse
			case len(via) > maxRedirects:
				return errors.New("it was redirected too often")
			case from.URL.Scheme == "https" && r.URL.Scheme != "https":
				return errors.New("it was redirected to an address without encryption")
			}
			r.Header.Del("Referer")
			return safe(r.URL)
		},
	}
	return w
}

// reaches reports whether a sign-in service may be at an address: a public one; for a server of this
// computer any; for a server of its network those of the network.
func (w *web) reaches(to netip.AddrPort) bool {
	at := to.Addr().Unmap()
	if !address.Private(at) {
		return true
	}
	where := w.where.Load()
	switch {
	case where == nil || !address.Private(*where):
		return false
	case address.Here(*where):
		return true
	}
	return !address.Here(at)
}

// safe returns why an address of a sign-in service is not used: it is neither https nor on this
// computer.
func safe(u *url.URL) error {
	switch {
	case u.Hostname() == "" || u.User != nil:
		return errors.New("it is no address of a web server")
	case u.Scheme == "https", u.Scheme == "http" && loopback.Name(u.Hostname()):
		return nil
	}
	return errors.New("it does not begin with https://")
}

func safeText(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("it is no address")
	}
	return safe(u)
}

// watched returns a context that notes where the server is when base sends r to it. Behind a proxy
// nobody knows.
func (w *web) watched(r *http.Request, base http.RoundTripper) context.Context {
	if t, ok := base.(*http.Transport); !ok || t.Proxy != nil {
		if !ok {
			return r.Context()
		}
		if through, err := t.Proxy(r); err != nil || through != nil {
			return r.Context()
		}
	}
	return httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if tcp, ok := c.Conn.RemoteAddr().(*net.TCPAddr); ok {
			at := tcp.AddrPort().Addr().Unmap()
			w.where.Store(&at)
		}
	}})
}

// getJSON reads a document; found is false where the service has none at this address.
func (w *web) getJSON(ctx context.Context, from string, into any) (found bool, err error) {
	if err := safeText(from); err != nil {
		return false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return false, err
	}
	r.Header.Set("Accept", "application/json")
	status, body, err := w.exchange(r)
	switch {
	case err != nil:
		return false, err
	case status >= 500:
		return false, fmt.Errorf("it answered %d", status)
	case status != http.StatusOK:
		return false, nil
	}
	// Servers that answer every address with their page have no document there.
	return json.Unmarshal(body, into) == nil, nil
}

// exchange sends a request and reads the whole answer.
func (w *web) exchange(r *http.Request) (status int, body []byte, err error) {
	response, err := w.client.Do(r)
	if err != nil {
		return 0, nil, plain(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return 0, nil, plain(err)
	}
	if len(body) > maxAnswer {
		return 0, nil, errors.New("its answer is longer than 1 MiB")
	}
	return response.StatusCode, body, nil
}

// plain returns the error of a request without its address, which the caller names.
func plain(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// postForm posts a form as the client that is given, and returns the status and the answer.
func (w *web) postForm(ctx context.Context, to string, as client, form url.Values) (int, []byte, error) {
	if err := safeText(to); err != nil {
		return 0, nil, err
	}
	if as.Method != "client_secret_basic" {
		form.Set("client_id", as.ID)
	}
	if as.Method == "client_secret_post" {
		form.Set("client_secret", as.Secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, err
	}
	if as.Method == "client_secret_basic" {
		r.SetBasicAuth(url.QueryEscape(as.ID), url.QueryEscape(as.Secret)) // RFC 6749, section 2.3.1
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	return w.exchange(r)
}
