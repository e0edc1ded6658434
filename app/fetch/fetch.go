// Package fetch asks servers for what plugins and messages name, with a client that
// guards the person's own network: whoever names an address does not get to
// reach this computer with it.
package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrPrivate is in the error of a request whose address belongs to this computer
// or to the network it is in.
var ErrPrivate = errors.New("a private address")

// Patience is how long a server may take to be connected to, and to begin to
// answer.
const Patience = 30 * time.Second

const maxRedirects = 10

// NewClient returns a client that follows redirects within http and https, keeps
// no cookies, tells no server where a request came from, and uses no proxy:
// behind one, nobody could say which address is reached. It reaches private
// addresses only if local, and in no case those where clouds keep a machine's
// credentials. Close its idle connections when it is not needed any more.
func NewClient(local bool) *http.Client {
	dialer := &net.Dialer{
		Timeout: Patience,
		// Control sees the address that is really connected to, after names were
		// resolved: a name that changes its mind gains nothing.
		Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || never(at.Addr()) || !local && private(at.Addr()) {
				return ErrPrivate
			}
			return nil
		},
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConns: 20, IdleConnTimeout: 30 * time.Second, ResponseHeaderTimeout: Patience, MaxResponseHeaderBytes: 256 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return errors.New("it was redirected too often")
			}
			if r.URL.Scheme != "http" && r.URL.Scheme != "https" {
				return errors.New("it was redirected to " + r.URL.Scheme)
			}
			r.URL.User = nil
			r.Header.Del("Referer") // where it came from is nobody's business
			return nil
		},
	}
}

// global is where all public addresses of IPv6 are.
var global = netip.MustParsePrefix("2000::/3")

// notPublic are ranges that netip has no word for.
var notPublic = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// embedding are ranges of IPv6 whose addresses hold one of IPv4, by where in them it
// begins: what such an address reaches may be that one.
var embedding = map[netip.Prefix]int{
	netip.MustParsePrefix("::/96"): 12, netip.MustParsePrefix("::ffff:0:0:0/96"): 12,
	netip.MustParsePrefix("64:ff9b::/96"): 12, netip.MustParsePrefix("2002::/16"): 2,
}

// metadata are addresses outside the ranges of links at which clouds tell a machine
// its credentials.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, p := range texts {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

// private reports whether an address is of this computer or its own network, or
// of nobody.
func private(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !global.Contains(a) || never(a) ||
		slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// never reports whether an address is one that no plugin may ask whatever was
// granted: where clouds keep a machine's credentials.
func never(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for prefix, at := range embedding {
		if prefix.Contains(a) {
			bytes := a.As16()
			if never(netip.AddrFrom4([4]byte(bytes[at:]))) {
				return true
			}
		}
	}
	return a.IsLinkLocalUnicast() || a.IsMulticast() || slices.Contains(metadata, a)
}
