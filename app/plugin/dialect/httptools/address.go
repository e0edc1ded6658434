package httptools

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"conclave/app/net/address"
	"conclave/app/net/loopback"
)

// errCallback is said of an address that no tool may be called at.
var errCallback = errors.New("callback_url must be http or https, with localhost or the literal of a " +
	"loopback address " +
	"as its host, and a port that exists")

// callbackAddress returns the addresses that the host of a callback may stand for, the
// likeliest first (contracts/neko, item 49). No name is looked up: localhost is this
// computer whatever a table of hosts says.
func callbackAddress(text string) ([]netip.AddrPort, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return nil, errCallback
	}
	port := map[string]uint64{"http": 80, "https": 443}[u.Scheme]
	if text := u.Port(); text != "" || strings.HasSuffix(u.Host, ":") {
		if port, err = strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
			return nil, errCallback
		}
	}
	number := uint16(port) //nolint:gosec // read with 16 bits
	if strings.EqualFold(u.Hostname(), "localhost") {
		return []netip.AddrPort{
			netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), number),
			netip.AddrPortFrom(netip.IPv6Loopback(), number),
		}, nil
	}
	at, err := netip.ParseAddr(u.Hostname())
	if err != nil || at.Zone() != "" || !mayCall(at) {
		return nil, errCallback
	}
	return []netip.AddrPort{netip.AddrPortFrom(at.Unmap(), number)}, nil
}

// mayCall reports whether a tool may be called at an address.
func mayCall(at netip.Addr) bool { return at.Unmap().IsLoopback() && !address.Metadata(at) }

// connectTime bounds how long an address of this computer may take to answer.
const connectTime = 2 * time.Second

// newDialer returns what connects to callbacks: to programs of the person alone.
func newDialer() *loopback.Dialer { return &loopback.Dialer{Dialer: net.Dialer{Timeout: connectTime}} }

// meet connects to an address and sends nothing. The error says that nobody answers there,
// or that it is no program of the person's.
func meet(ctx context.Context, at netip.AddrPort) error {
	c, err := newDialer().DialContext(ctx, "tcp", at.String())
	if err != nil {
		return err
	}
	return c.Close()
}

// resolve chooses among the addresses of a host: the first at which a program of the
// person answers, or else the first. It is done once, when a tool is registered.
func resolve(ctx context.Context, all []netip.AddrPort) netip.AddrPort {
	if len(all) > 1 {
		for _, at := range all {
			if meet(ctx, at) == nil {
				return at
			}
		}
	}
	return all[0]
}

// origin is the address of a registration as a person reads it.
func (r *Registration) origin() string {
	scheme, _, _ := strings.Cut(r.CallbackURL, ":")
	return scheme + "://" + r.Address.String()
}
