// Package loopback serves HTTP to the programs of this computer, and to nobody else: it
// listens on the loopback addresses, refuses other peers, other names of the host
// (rebinding) and pages of browsers, may want a token, and bounds what a program may send
// and how long that may take. It also finds out whose program is at the other end of a
// connection, for whoever accepts or makes one. It does not know what is served.
//
// Read Server, guard and PeerOf first.
package loopback

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// Options configure a Server. Handler is required.
type Options struct {
	Handler http.Handler
	// Token returns the token that a request must carry; empty wants none. nil is none.
	Token func() string
	// Refused is called with each request that does not carry the token; nil is nobody.
	Refused func(*http.Request)
	// Body bounds what a request may send, in bytes; 0 is limit.LoopbackBody.
	Body int64
	Log  *slog.Logger // nil discards
}

// Server serves one handler at any number of ports, each as long as somebody wants it. Use
// New. Its methods are safe for concurrent use.
type Server struct {
	o Options

	mu    sync.Mutex // guards ports
	ports map[int]*port
}

// port is one port that is open.
type port struct {
	number int
	users  int
	http   *http.Server
	served sync.WaitGroup
}

// New returns a server that listens nowhere yet.
func New(o Options) *Server {
	if o.Token == nil {
		o.Token = func() string { return "" }
	}
	if o.Refused == nil {
		o.Refused = func(*http.Request) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Body == 0 {
		o.Body = limit.LoopbackBody
	}
	return &Server{o: o, ports: map[int]*port{}}
}

// What one connection may take.
const (
	headerTime = 5 * time.Second
	bodyTime   = 15 * time.Second
	answerTime = 5 * time.Minute // a callback of a plugin may take as long as its tool
	idleTime   = time.Minute
	maxHeader  = 16 << 10
	maxOpen    = 64 // connections, beyond which those that ask for nothing are closed; twice as many are at most open
)

// Open listens at a port of this computer, or has one more user of a port that is open
// already; 0 is any that is free. It returns the address and what gives the port back. The
// error is a fault of kind unavailable that names the program which has the port, if the
// system knows.
func (s *Server) Open(ctx context.Context, number int) (address string, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.ports[number]
	if p == nil {
		if p, err = s.listen(ctx, number); err != nil {
			return "", nil, err
		}
		s.ports[p.number] = p
	}
	p.users++
	var once sync.Once
	return Address(p.number), func() { once.Do(func() { s.release(p) }) }, nil
}

// Address returns the address of a port, as a person reads it.
func Address(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// listen opens a port on both loopback addresses; the one of IPv6 may be missing.
func (s *Server) listen(ctx context.Context, number int) (*port, error) {
	var config net.ListenConfig
	first, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(number)))
	if err != nil {
		return nil, taken(number, err)
	}
	p := &port{number: first.Addr().(*net.TCPAddr).Port}
	p.http = &http.Server{
		Handler: s.guard(p.number), ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, WriteTimeout: answerTime,
		ConnContext: withPeer, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	listeners := []net.Listener{first}
	if second, err := config.Listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(p.number))); err == nil {
		listeners = append(listeners, second)
	}
	p.http.ConnState = (&connections{open: map[net.Conn]bool{}}).changed
	for _, l := range listeners {
		p.served.Go(func() { _ = p.http.Serve(newListener(l)) }) // ends with the port's last user
	}
	return p, nil
}

// taken returns the error for a port that cannot be listened at.
func taken(number int, cause error) error {
	message := "The port " + strconv.Itoa(number) + " of this computer cannot be opened."
	hint := "Choose another port."
	if errors.Is(cause, syscall.EADDRINUSE) {
		message = "The port " + strconv.Itoa(number) + " of this computer is taken."
		by, known := Listening(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}),
			uint16(number))) //nolint:gosec // a port
		if known && by.Name != "" {
			message = "The port " + strconv.Itoa(number) + " of this computer is taken by " + by.String() + "."
			hint = "Close that program, or choose another port."
		}
	}
	return fault.Wrap(fault.Unavailable, "loopback.open", message, hint, cause)
}

// release ends a port with its last user, and with it the requests that are under way.
func (s *Server) release(p *port) {
	s.mu.Lock()
	p.users--
	over := p.users == 0
	if over {
		delete(s.ports, p.number)
	}
	s.mu.Unlock()
	if !over {
		return
	}
	_ = p.http.Close()
	p.served.Wait()
}

// Ports returns the ports that are open.
func (s *Server) Ports() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []int
	for number := range s.ports {
		all = append(all, number)
	}
	return all
}

// Close ends all ports.
func (s *Server) Close() {
	s.mu.Lock()
	var all []*port
	for _, p := range s.ports {
		all = append(all, p)
	}
	clear(s.ports)
	s.mu.Unlock()
	for _, p := range all {
		_ = p.http.Close()
		p.served.Wait()
	}
}
