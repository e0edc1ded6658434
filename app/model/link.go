package model

import (
	"cmp"
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
	"sync"
	"sync/atomic"
	"time"
)

// Timeouts bound the waits of a request. Zero values take the defaults.
type Timeouts struct {
	// Connect bounds reaching the server and its TLS handshake; 10 s.
	Connect time.Duration
	// First bounds the wait for the first byte of an answer; 120 s, and 10 min for
	// a server on this computer, which may first load the model and read a long
	// chat on a slow processor without a word.
	First time.Duration
	// Idle bounds each silence after that; 120 s.
	Idle time.Duration
}

func (t Timeouts) filled(loopback bool) Timeouts {
	if t.Connect <= 0 {
		t.Connect = 10 * time.Second
	}
	if t.First <= 0 {
		t.First = 120 * time.Second
		if loopback {
			t.First = 10 * time.Minute
		}
	}
	if t.Idle <= 0 {
		t.Idle = 120 * time.Second
	}
	return t
}

// Link is the way to one connection's server: the HTTP client that every vendor's
// package uses, and what a failure on that way means. It sends the connection's
// own headers and none about this computer; it uses the system's proxy,
// but not for loopback addresses; it follows a redirect only within the same
// server, because the key and the chat would go with it; and it turns refusals,
// silences and broken connections into *Error.
//
// A Link is safe for concurrent use.
type Link struct {
	Connection Connection
	base       *url.URL
	query      string // of the address; goes with every request
	bad        error  // why the address cannot be used
	client     *http.Client
	listed     atomic.Bool // the server answered with a list of models
}

// NewLink returns the way to c's server, or to the vendor's own address where c
// has none. It does not touch the network; an address that cannot be is reported
// by Key.
func NewLink(c Connection, vendor string, timeouts Timeouts) *Link {
	address := c.URL
	if address == "" {
		address = vendor
	}
	l := &Link{Connection: c}
	l.listed.Store(len(c.Listed) > 0)
	base, err := url.Parse(Base(address))
	switch {
	case err != nil:
		l.bad, base = err, &url.URL{Scheme: "http", Host: "invalid."}
	case (base.Scheme != "http" && base.Scheme != "https") || base.Host == "":
		l.bad, base = fmt.Errorf("“%s” is not an address", address), &url.URL{Scheme: "http", Host: "invalid."}
	}
	l.query, base.RawQuery = base.RawQuery, ""
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/")+"/", ""
	l.base = base
	l.client = &http.Client{
		Transport:     &transport{link: l, next: shared(c.ServedBy), timeouts: timeouts.filled(IsLoopback(base.Host))},
		CheckRedirect: l.checkRedirect,
	}
	return l
}

// Host returns host and port of the server.
func (l *Link) Host() string { return l.base.Host }

// who returns the name by which a person knows the connection.
func (l *Link) who() string { return cmp.Or(l.Connection.Title, l.Connection.Name) }

// At returns the address of path below the base.
func (l *Link) At(path string) string { return l.address(path, "") }

// OwnServer reports whether the connection has an address other than the vendor's, where a
// key may not be needed.
func (l *Link) OwnServer() bool { return l.Connection.URL != "" }

// Key returns the secret, or "" where the connection has none and needs none.
// Its error is an *Error: the address cannot be, or the key is missing.
func (l *Link) Key(ctx context.Context) (string, error) {
	if l.bad != nil {
		return "", &Error{Kind: WrongAddress, Provider: l.who(), Found: l.bad.Error(), Err: l.bad}
	}
	if l.Connection.Key == nil {
		if l.OwnServer() {
			return "", nil
		}
		return "", &Error{Kind: KeyMissing, Provider: l.who(), Host: l.Host()}
	}
	key, err := l.Connection.Key(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &Error{Kind: KeyMissing, Provider: l.who(), Host: l.Host(), Err: err}
	}
	if key = strings.TrimSpace(key); key == "" && !l.OwnServer() {
		return "", &Error{Kind: KeyMissing, Provider: l.who(), Host: l.Host()}
	}
	return key, nil
}

func (l *Link) checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host:
		return l.elsewhere("it sends requests on to " + next.URL.Host +
			", where Conclave does not send your chat and key unasked")
	case next.Method != first.Method:
		return l.elsewhere("it sends requests on to " + next.URL.Path)
	case len(via) >= 5: // a model server has no reason for even two
		return l.elsewhere("it sends requests in a circle")
	}
	return nil
}

func (l *Link) elsewhere(found string) *Error {
	return &Error{Kind: WrongAddress, Provider: l.who(), Host: l.Host(), Found: clean(found)}
}

// pools holds the connection pools of the program, by who may serve (Connection.ServedBy):
// no connection takes over one that was made with another's permission.
var pools sync.Map

// shared returns a pool; that of "" serves nearly all connections.
func shared(servedBy string) http.RoundTripper {
	pool, ok := pools.Load(servedBy)
	if !ok {
		pool, _ = pools.LoadOrStore(servedBy, newPool(servedBy))
	}
	return pool.(http.RoundTripper)
}

// newPool returns a connection pool. HTTP/2 is spoken where the server does. 10 s to connect
// is the house rule for all servers.
func newPool(servedBy string) http.RoundTripper {
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           newDialer(servedBy).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		MaxIdleConns:          32,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// proxy is the system's proxy, but none for this computer's own addresses.
func proxy(r *http.Request) (*url.URL, error) {
	if IsLoopback(r.URL.Host) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// IsLoopback reports whether host, with or without a port, is this computer.
func IsLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// errSilent is why a request is given up when nothing comes.
var errSilent = errors.New("nothing came for too long")

// maxRefusal bounds what is read of a refusal's body: it is more than any explanation.
const maxRefusal = 64 << 10

// transport watches the clock over one Link's requests and turns refusals into
// *Error. It reads status codes, which a RoundTripper should leave alone: it is
// the one place that every vendor's SDK goes through.
type transport struct {
	link     *Link
	next     http.RoundTripper
	timeouts Timeouts
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	silent := time.AfterFunc(t.timeouts.First, func() { cancel(errSilent) })
	out := r.Clone(ctx)
	for name := range out.Header {
		if strings.HasPrefix(name, "X-Stainless-") { // the SDKs tell system, version and language
			delete(out.Header, name)
		}
	}
	out.Header.Set("User-Agent", "Conclave")
	for name, value := range t.link.Connection.Headers {
		out.Header.Set(name, value)
	}
	var used atomic.Bool // the request went over a connection that had served before
	out = out.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) { used.Store(c.Reused) },
	}))
	if err := tap(out); err != nil {
		silent.Stop()
		cancel(nil)
		return nil, err
	}
	response, err := t.next.RoundTrip(out)
	if err != nil {
		silent.Stop()
		err = t.broken(ctx, err)
		e, ok := errors.AsType[*Error](err)
		if ok && e.Kind == Unreachable && used.Load() {
			// The server was there: it closed a connection that was kept, as the
			// request was on its way. net/http repeats a GET then, and no POST.
			e.Kind = StreamCut
		}
		if ok && e.Kind == StreamCut {
			e.Unanswered = true
		}
		cancel(nil)
		return nil, err
	}
	response.Body = &watched{rc: response.Body, t: t, ctx: ctx, cancel: cancel, silent: silent}
	if answer, ok := ctx.Value(answerKey{}).(*Answer); ok {
		answer.Type = response.Header.Get("Content-Type")
		response.Body.(*watched).answer = answer
	}
	if response.StatusCode < 400 {
		return response, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	response.Body.Close()
	if err != nil && len(body) == 0 {
		if e, ok := errors.AsType[*Error](err); ok && e.Kind == TimedOut {
			return nil, err
		}
	}
	refusal := refused(response.StatusCode, response.Header, body)
	refusal.Provider, refusal.Host = t.link.who(), t.link.Host()
	sent := secrets(out.Header)
	refusal.Detail = maskKeys(refusal.Detail, sent...)
	if refusal.Kind == KeyRefused && len(sent) == 0 {
		refusal.Kind = KeyMissing // there was none to refuse
	}
	return nil, refusal
}

// broken returns the error for a failure on the way.
func (t *transport) broken(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errSilent) {
		return cause
	} else if cause != nil {
		err = errSilent
	}
	e := onTheWay(err)
	e.Provider, e.Host = t.link.who(), t.link.Host()
	e.Connection = t.link.Connection.Name
	return e
}

// watched is a body that must not be silent for too long.
type watched struct {
	rc     io.ReadCloser
	t      *transport
	ctx    context.Context //nolint:containedctx // the life of this one response
	cancel context.CancelCauseFunc
	silent *time.Timer
	answer *Answer
}

// Read implements io.Reader. Silence counts only while somebody waits.
func (w *watched) Read(p []byte) (int, error) {
	w.silent.Reset(w.t.timeouts.Idle)
	n, err := w.rc.Read(p)
	w.silent.Stop()
	if w.answer != nil {
		w.answer.take(p[:n])
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = w.t.broken(w.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (w *watched) Close() error {
	w.silent.Stop()
	err := w.rc.Close()
	w.cancel(nil)
	return err
}

// Answer holds what a Link noticed about a streamed answer apart from its events: enough to
// explain why there was none.
type Answer struct {
	Type string // the Content-Type
	head []byte // the first 2 KiB
	size int64
}

type answerKey struct{}

// Watching returns a context whose one request fills answer.
func Watching(ctx context.Context, answer *Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, answer)
}

func (a *Answer) take(p []byte) {
	a.size += int64(len(p))
	if room := 2048 - len(a.head); room > 0 {
		a.head = append(a.head, p[:min(room, len(p))]...)
	}
}

// Read passes each event of a streamed answer to take, its JSON object and the members of it, to the
// end of body or to the end mark of the OpenAI wire; done reports whether that came. The bytes are
// valid until take returns. An error of take is
// returned as it is. Otherwise the error is ctx's cause, or an *Error: what the server says instead
// of an answer or in addition to one, or what is wrong with the stream.
func (l *Link) Read(ctx context.Context, model string, body io.Reader,
	take func(data []byte, members map[string]json.RawMessage) error,
) (done bool, err error) {
	events := NewEventReader(body)
	for {
		event, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, l.Fail(ctx, model, err)
		case event.Done():
			return true, nil
		}
		members := Object(event.Data)
		if members == nil {
			if said := l.saidIn(model, event.Type, event.Data, nil); said != nil {
				return false, said
			}
			return false, l.Fail(ctx, model, errNoObject)
		}
		if said := l.saidIn(model, event.Type, event.Data, members); said != nil {
			return false, said
		}
		if err := take(event.Data, members); err != nil {
			return false, err
		}
	}
}

// errNoObject is the error of an event whose data is no JSON object.
var errNoObject = errors.New("an event of its answer is no JSON object")
