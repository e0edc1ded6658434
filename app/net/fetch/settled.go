package fetch

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"

	"conclave/app/net/address"
)

// NewSettled returns a transport for one server that the person chose, wherever that is. A server stays where it was
// first reached: once on the internet, it is not looked for in the person's network or on this computer, whatever
// its name leads to by then (DNS rebinding); the error is ErrPrivate. Behind the system's proxy, which it uses, nobody
// knows where the server is. A nil resolver is the system's.
func NewSettled(resolver *net.Resolver) *http.Transport {
	var s settled
	dialer := NewDialer(s.reaches, resolver)
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, to)
		if err != nil {
			return nil, err
		}
		if at, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			s.reached(at.AddrPort().Addr())
		}
		return c, nil
	}
	return t
}

// distance counts how far away an address is; 0: not known.
type distance = int32

const (
	here distance = iota + 1
	near
	far
)

// substitutes are addresses that programs which take over a computer's connections (VPNs) answer for every name.
var substitutes = netip.MustParsePrefix("198.18.0.0/15")

func distanceOf(at netip.Addr) distance {
	at = at.Unmap()
	switch {
	case address.Here(at):
		return here
	case address.Private(at) && !substitutes.Contains(at):
		return near
	}
	return far
}

// settled remembers how far away a server was when it was first reached. The zero value has not reached it.
type settled struct{ first atomic.Int32 }

func (s *settled) reached(at netip.Addr) { s.first.CompareAndSwap(0, distanceOf(at)) }

// reaches reports whether an address is no closer.
func (s *settled) reaches(to netip.AddrPort) bool { return distanceOf(to.Addr()) >= s.first.Load() }
