package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"

	"conclave/app/net/address"
	"conclave/app/net/fetch"
	"conclave/app/net/loopback"
)

// dial connects to a target. Names are resolved here, once, and only addresses that the
// verdict is about are connected to, and no program of Conclave: another one than this, which
// the person runs too, would take what a plugin sends for the person's.
func (s *Pass) dial(ctx context.Context, to Target, v Verdict) (*counted, error) {
	if s.proxy.o.Inside != nil {
		if conn, ok, err := s.proxy.o.Inside(s.plugin, to); ok {
			if err != nil {
				return nil, err
			}
			return &counted{Conn: conn}, nil
		}
	}
	reach := fetch.Public
	if v.Private {
		reach = fetch.Anywhere
	}
	dialer := fetch.NewDialer(func(at netip.AddrPort) bool { return reach(at) && !s.proxy.own(at) }, s.proxy.o.Resolver)
	guarded := loopback.Dialer{Dialer: *dialer, Admit: func(peer loopback.Peer) bool { return !peer.Conclave() }}
	conn, err := guarded.DialContext(ctx, "tcp", to.address())
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn}, nil
}

// own reports addresses that no plugin may connect to.
func (p *Proxy) own(at netip.AddrPort) bool {
	return address.Here(at.Addr()) && at.Port() == p.at.Port() || p.o.Own(at)
}

// whyNot is the reason for which a connection was not made, and whether it was refused
// here.
func whyNot(err error) (reason string, refused bool) {
	if stranger, ok := errors.AsType[*loopback.Stranger](err); ok {
		if stranger.Peer.Whose == loopback.Mine {
			return "Conclave itself answers at its address", true
		}
		return stranger.Error(), true
	}
	if errors.Is(err, fetch.ErrPrivate) {
		return "its address is of this computer or its own network, or of Conclave itself", true
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return err.Error(), false
}

// counted is a connection that counts its bytes.
type counted struct {
	net.Conn
	sent, received atomic.Int64
	also           atomic.Pointer[tally] // counts what is sent, for calls
}

// Read reads, and counts.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}

// Write writes, and counts before: once the host has answered, the call and the request may be
// over.
func (c *counted) Write(b []byte) (int, error) {
	if also := c.also.Load(); also != nil {
		also.count(int64(len(b)))
	}
	c.sent.Add(int64(len(b)))
	n, err := c.Conn.Write(b)
	c.sent.Add(int64(n - len(b)))
	return n, err
}
