// Package egress is the one way out of a plugin's process that may use the network: a
// proxy on this computer, which the sandbox lets the process connect to and nothing
// else. It asks for each host whether the plugin may, resolves names itself and once,
// connects to no private address unless that was allowed, and counts bytes. For
// TLS it reads the name that a connection begins with, and opens nothing.
//
// Plugins without a process that could connect are served by [Proxy.Client], by the same rules.
//
// Start with [Proxy] and [Proxy.Admit].
package egress

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
)

// Target is where a plugin wants to connect to.
type Target struct {
	Host string // a name in lower case, or an address
	Port uint16
	URL  string // as a URL without a path: https://api.example.org, http://127.0.0.1:8000
	// Direct says that Conclave makes the request itself, for a plugin that has no sockets, and
	// Call is the call that it says it is for.
	Direct bool
	Call   string
	// Request waits to be sent. It is as a person may see it: with placeholders where secrets
	// are put in. Its body can be read by GetBody alone. nil for what is encrypted.
	Request *http.Request
}

// Verdict is the decision whether a plugin may connect to a target.
type Verdict struct {
	Allow bool
	// Private allows addresses of this computer and its network too.
	Private bool
	Reason  string // why it may not, a sentence without its full stop
	Call    string // the call on whose behalf it was asked, for Traffic
	// Stands reports, without asking anybody, whether what was allowed may go on; nil: it
	// may.
	Stands func() bool
}

func (v Verdict) stands() bool { return v.Stands == nil || v.Stands() }

// Traffic is one connection or request that is over.
type Traffic struct {
	Plugin         string
	Call           string // of the Verdict
	Host           string // with its port, unless it is the usual one
	Sent, Received int64  // bytes to and from the host
	Began          time.Time
	Refused        string // why it was not let through; empty if it was
}

// Sentence returns what happened, for the log of the plugin.
func (t Traffic) Sentence() string {
	if t.Refused == errTakenBack.Error() && t.Sent > 0 {
		return "Its connection to " + t.Host + " was ended: " + t.Refused + "."
	}
	if t.Refused != "" {
		return "It did not connect to " + t.Host + ": " + t.Refused + "."
	}
	return "It sent " + limit.Size(t.Sent) + " to " + t.Host + " and got " + limit.Size(t.Received) + "."
}

// Options configure a Proxy.
type Options struct {
	// Ask decides about a target. It blocks while a person is asked, until ctx ends.
	// Required.
	Ask func(ctx context.Context, plugin string, to Target) Verdict
	// Report takes note of traffic, from any goroutine; nil takes none.
	Report func(Traffic)
	// Working returns the calls that a plugin works on now. What it sends is counted for each of them;
	// nil: it is counted for the call of the Verdict. It must not call the Proxy.
	Working func(plugin string) []string
	// Beside is called when something is sent for no call, the first time since TakeBeside; nil
	// hears of nothing. It does not block.
	Beside func()
	// Own reports addresses of Conclave's own, which no plugin may connect to
	// whatever was allowed; nil knows none.
	Own func(netip.AddrPort) bool
	// Inside connects to a port on which a process of the plugin itself listens; ok is false of every other
	// target, and nil knows none.
	Inside   func(plugin string, to Target) (c net.Conn, ok bool, err error)
	Resolver *net.Resolver // nil: the system's
	Log      *slog.Logger  // nil discards
}

// Proxy is the way out. Use New, and Close when no plugin runs any more. It listens
// from the first Admit on. It is safe for concurrent use.
type Proxy struct {
	o      Options
	ledger ledger

	mu     sync.Mutex // guards the fields below
	server *http.Server
	at     netip.AddrPort
	passes map[string]*Pass // by credential
	direct map[string]*Pass // those of Client, by plugin
	serve  sync.WaitGroup
	closed bool
}

// New returns a proxy that does not listen yet.
func New(o Options) *Proxy {
	if o.Report == nil {
		o.Report = func(Traffic) {}
	}
	if o.Own == nil {
		o.Own = func(netip.AddrPort) bool { return false }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Proxy{o: o, passes: map[string]*Pass{}, direct: map[string]*Pass{}}
}

// Pass lets one process of a plugin through. Close it when the process has ended.
type Pass struct {
	proxy      *Proxy
	plugin     string
	credential string
	ctx        context.Context // ends with Close
	cancel     context.CancelFunc
	public     *http.Transport
	private    *http.Transport // for hosts whose private addresses were allowed
	open       chan struct{}   // holds one for each request under way

	mu      sync.Mutex // guards allowed
	allowed map[*passage]struct{}
}

// passage is a request or tunnel that was let through, and how it is ended.
type passage struct {
	verdict Verdict
	end     context.CancelCauseFunc
}

// errTakenBack ends a connection whose permission was revoked.
var errTakenBack = errors.New("it may not connect there any more")

// admit asks about a target, and notes what is let through until over is called; end ends it. The
// verdict is a refusal where that was taken back meanwhile.
func (s *Pass) admit(ctx context.Context, to Target, end context.CancelCauseFunc) (v Verdict, over func()) {
	if v = s.proxy.o.Ask(ctx, s.plugin, to); !v.Allow {
		return v, func() {}
	}
	on := &passage{v, end}
	s.mu.Lock()
	s.allowed[on] = struct{}{}
	s.mu.Unlock()
	if !v.stands() {
		v.Allow, v.Reason = false, errTakenBack.Error()
	}
	return v, func() {
		s.mu.Lock()
		delete(s.allowed, on)
		s.mu.Unlock()
	}
}

// report takes note of a connection or request that is over.
func (s *Pass) report(to Target, v Verdict, began time.Time, sent, received int64, refused string) {
	s.proxy.o.Report(Traffic{
		Plugin: s.plugin, Call: v.Call, Host: to.String(), Sent: sent, Received: received, Began: began, Refused: refused,
	})
}

// Recheck ends the connections that are open and may not be any more.
func (p *Proxy) Recheck() {
	var open []*passage
	p.mu.Lock()
	for _, pass := range p.passes {
		pass.mu.Lock()
		open = slices.AppendSeq(open, maps.Keys(pass.allowed))
		pass.mu.Unlock()
	}
	p.mu.Unlock()
	for _, on := range open {
		if !on.verdict.stands() {
			on.end(errTakenBack)
		}
	}
}

// Admit lets a process of a plugin through the proxy.
func (p *Proxy) Admit(plugin string) (*Pass, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the proxy is closed")
	}
	if err := p.listen(); err != nil {
		return nil, fmt.Errorf("listen on this computer: %w", err)
	}
	return p.pass(plugin), nil
}

// pass makes a pass. The caller holds mu.
func (p *Proxy) pass(plugin string) *Pass {
	pass := &Pass{
		proxy: p, plugin: plugin, credential: rand.Text(), open: make(chan struct{}, maxOpen),
		allowed: map[*passage]struct{}{},
	}
	pass.ctx, pass.cancel = context.WithCancel(context.Background()) // its own: Close ends it
	pass.public, pass.private = pass.transport(false), pass.transport(true)
	p.passes[pass.credential] = pass
	return pass
}

// Address returns where the process connects to.
func (s *Pass) Address() string { return s.proxy.at.String() }

// URL returns the address with the process's credential, as HTTP_PROXY has it.
func (s *Pass) URL() string { return "http://conclave:" + s.credential + "@" + s.Address() }

// Close ends the pass and every connection that was made with it. It may be called
// more than once.
func (s *Pass) Close() {
	s.proxy.mu.Lock()
	delete(s.proxy.passes, s.credential)
	s.proxy.mu.Unlock()
	s.cancel()
	s.public.CloseIdleConnections()
	s.private.CloseIdleConnections()
}

// maxOpen bounds the requests of one process that are under way at once; further ones
// wait.
const maxOpen = 64

// headTime bounds how long a client may take for the head of a request.
const headTime = 30 * time.Second

// listen starts the server. The caller holds mu.
func (p *Proxy) listen() error {
	if p.server != nil {
		return nil
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp4", "127.0.0.1:0") // its own: Close ends it
	if err != nil {
		return err
	}
	if p.at, err = netip.ParseAddrPort(l.Addr().String()); err != nil {
		_ = l.Close()
		return err
	}
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.handle), ReadHeaderTimeout: headTime, MaxHeaderBytes: 256 << 10,
		ErrorLog: slog.NewLogLogger(p.o.Log.Handler(), slog.LevelDebug),
	}
	server := p.server
	p.serve.Go(func() { _ = server.Serve(l) }) // ends with Close
	return nil
}

// Close ends the server and every pass. It may be called more than once.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	passes := make([]*Pass, 0, len(p.passes))
	for _, pass := range p.passes {
		passes = append(passes, pass)
	}
	server := p.server
	p.mu.Unlock()
	for _, pass := range passes {
		pass.Close()
	}
	if server != nil {
		_ = server.Close()
	}
	p.serve.Wait()
}

// handle answers one request of a process.
func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	_, credential, _ := proxyAuthorization(r)
	p.mu.Lock()
	pass := p.passes[credential]
	if pass != nil {
		p.serve.Add(1)
		defer p.serve.Done()
	}
	p.mu.Unlock()
	if pass == nil {
		w.Header().Set("Proxy-Authenticate", `Basic realm="Conclave"`)
		http.Error(w, "This is the way out of another program's plugin.", http.StatusProxyAuthRequired)
		return
	}
	select {
	case pass.open <- struct{}{}:
		defer func() { <-pass.open }()
	case <-r.Context().Done():
		return
	case <-pass.ctx.Done():
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(pass.ctx, func() { cancel(nil) })()
	pass.handle(w, r.WithContext(ctx), cancel)
}

func proxyAuthorization(r *http.Request) (user, password string, ok bool) {
	head := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	return head.BasicAuth()
}

// handle answers one request of the pass's process, which end ends.
func (s *Pass) handle(w http.ResponseWriter, r *http.Request, end context.CancelCauseFunc) {
	to, err := targetOf(r)
	if err != nil {
		http.Error(w, err.Error()+".", http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodConnect {
		var end func()
		to.Request, end = readAhead(w, r)
		defer end()
	}
	began := time.Now()
	verdict, over := s.admit(r.Context(), to, end)
	defer over()
	switch {
	case !verdict.Allow:
		s.refuse(w, r, to, began, verdict)
	case r.Method == http.MethodConnect:
		s.tunnel(w, r, to, verdict)
	default:
		s.forward(w, r, to, verdict)
	}
}

// refuse answers a client whose connection is not made. Of a refused tunnel, clients show
// nothing but the status line.
func (s *Pass) refuse(w http.ResponseWriter, r *http.Request, to Target, began time.Time, v Verdict) {
	s.report(to, v, began, 0, 0, v.Reason)
	text := "PERMISSION_DENIED: network - " + s.plugin + " may not connect to " + to.String() + ": " + v.Reason + "."
	w.Header().Set("X-Conclave-Refused", "network")
	if r.Method == http.MethodConnect {
		statusLine(w, http.StatusForbidden, text)
		return
	}
	http.Error(w, text, http.StatusForbidden)
}

// statusLine answers with a status line that says why.
func statusLine(w http.ResponseWriter, status int, text string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, text, status)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetWriteDeadline(time.Now().Add(headTime))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nX-Conclave-Refused: network\r\n"+
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, ascii(text), len(text), text)
}

// ascii is text as a status line may hold it.
func ascii(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

// targetOf returns where a request is to go.
func targetOf(r *http.Request) (Target, error) {
	address, scheme := r.URL, "http"
	switch {
	case r.Method == http.MethodConnect:
		if address, scheme = (&url.URL{Host: r.Host}), "https"; address.Port() == "80" {
			scheme = "http"
		}
	case !r.URL.IsAbs():
		return Target{}, errors.New("This is a proxy, and the request names no host")
	case r.URL.Scheme != "http":
		return Target{}, errors.New("Only http addresses are asked for; others need a tunnel (CONNECT)")
	}
	return newTarget(scheme, address)
}

func newTarget(scheme string, address *url.URL) (Target, error) {
	host := strings.ToLower(strings.TrimSuffix(address.Hostname(), "."))
	port := map[string]string{"http": "80", "https": "443"}[scheme]
	if p := address.Port(); p != "" {
		port = p
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || host == "" || strings.ContainsAny(host, " \t\\/@?#%") {
		return Target{}, errors.New("That is no host and port")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	} else if looksLikeAddress(host) {
		// What some resolvers take for an address: 2130706433, 0x7f.1, 127.1.
		return Target{}, errors.New("That is no address as this proxy reads them")
	}
	to := Target{Host: host, Port: uint16(number)}
	to.URL = scheme + "://" + net.JoinHostPort(host, port)
	return to, nil
}

// looksLikeAddress reports whether the last label of a name is a number, which no name
// of the internet ends with.
func looksLikeAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil
}

// usualPorts are left out where a person reads a host.
var usualPorts = []uint16{80, 443}

// String returns the target as a person reads it.
func (t Target) String() string {
	if slices.Contains(usualPorts, t.Port) {
		return t.Host
	}
	return t.address()
}

func (t Target) address() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }
