package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"

	"conclave/app/base/fault"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// web sends HTTP requests to one origin.
type web struct {
	hc      *http.Client
	own     *http.Transport // of hc, where nobody else uses it; else nil
	header  http.Header
	address atomic.Pointer[url.URL] // where the server is, after redirects
}

// maxRedirects bounds redirects of one request.
const maxRedirects = 5

func newWeb(address string, hc *http.Client, o *Options) (*web, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%w: %q is not a web address", ErrAddress, address)
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && (o.AllowHTTP || isLoopback(u.Hostname())):
	case u.Scheme == "http":
		return nil, fmt.Errorf("%w: what is sent to %s could be read on the way; use https", ErrAddress, u.Host)
	default:
		return nil, fmt.Errorf("%w: %q is not a web address", ErrAddress, address)
	}
	w := &web{header: o.Header}
	if hc == nil {
		hc = &http.Client{}
	}
	client := *hc // the caller's stays as it is
	client.Jar, client.Timeout = nil, 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if client.Transport == nil {
		w.own = http.DefaultTransport.(*http.Transport).Clone()
		client.Transport = w.own
	}
	w.hc = &client
	u.Fragment = ""
	w.address.Store(u)
	return w, nil
}

// isLoopback reports whether a host is this computer.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func (w *web) close() {
	if w.own != nil {
		w.own.CloseIdleConnections()
	}
}

// do sends a request, and follows redirects within the server's origin. The error is ErrNotSent when no
// byte of the request was written, ErrUnknown, ErrAddress, or the cause of ctx's end.
func (w *web) do(ctx context.Context, method, to string, body []byte, header http.Header) (*http.Response, error) {
	target := w.address.Load()
	if to != "" {
		u, err := target.Parse(to)
		if err != nil {
			return nil, fmt.Errorf("%w: %q", ErrAddress, to)
		}
		target = u
	}
	for range maxRedirects {
		res, err := w.once(ctx, method, target, body, header)
		if err != nil {
			return nil, err
		}
		next, err := redirect(res, target)
		if err != nil {
			_ = res.Body.Close()
			return nil, err
		}
		if next == nil {
			if to == "" {
				w.address.Store(target)
			}
			return res, nil
		}
		_ = res.Body.Close()
		target = next
	}
	return nil, fmt.Errorf("%w: %s redirects more than %d times", ErrAddress, w.address.Load().Host, maxRedirects)
}

// redirect returns where res sends us; nil where it does not.
func redirect(res *http.Response, from *url.URL) (*url.URL, error) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	next, err := from.Parse(res.Header.Get("Location"))
	if err != nil {
		return nil, fmt.Errorf("%w: %s redirects to no address", ErrAddress, from.Host)
	}
	upgrade := from.Scheme == "http" && next.Scheme == "https" && from.Hostname() == next.Hostname()
	if !sameOrigin(from, next) && !upgrade {
		return nil, fmt.Errorf("%w: %s redirects to another server, %s, which gets nothing of what was meant for it",
			ErrAddress, from.Host, next.Host)
	}
	return next, nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

func (w *web) once(ctx context.Context, method string, to *url.URL, body []byte, header http.Header,
) (*http.Response, error) {
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), content)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	for name, values := range w.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := w.hc.Do(req)
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case refusedByCaller(err):
		return nil, withoutQuery(err)
	case !wrote.Load():
		return nil, fmt.Errorf("%w: %w", ErrNotSent, withoutQuery(err))
	}
	return nil, fmt.Errorf("%w: %w", ErrUnknown, withoutQuery(err))
}

// refusedByCaller reports whether the caller's transport refused the request: it signs in, and the person
// did not.
func refusedByCaller(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return ok
}

// withoutQuery removes the address from an error of the HTTP client: its query may hold a secret.
func withoutQuery(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// maxRefusal bounds what is read of an answer that is no message.
const maxRefusal = 64 << 10

// refused reads an answer that is none.
func refused(res *http.Response) *RefusedError {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // the status says enough
	u := *res.Request.URL
	u.RawQuery, u.User = "", nil
	e := &RefusedError{Status: res.StatusCode, URL: u.String()}
	var m struct {
		Version string         `json:"jsonrpc"`
		Error   *jsonrpc.Error `json:"error"`
	}
	if json.Unmarshal(body, &m) == nil && m.Error != nil && m.Version != "" {
		e.Err, e.Text = m.Error, m.Error.Message
		return e
	}
	if !strings.Contains(mediaType(res), "html") {
		line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		e.Text = excerpt([]byte(line))
	}
	return e
}

// mediaType returns the type of the content, without parameters.
func mediaType(res *http.Response) string {
	t, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		t, _, _ = strings.Cut(res.Header.Get("Content-Type"), ";")
	}
	return strings.ToLower(strings.TrimSpace(t))
}
