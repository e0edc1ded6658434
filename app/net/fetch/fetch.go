// Package fetch makes requests to addresses that plugins and messages name, with a
// client that keeps them out of the person's own network.
package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"conclave/app/net/address"
)

// ErrPrivate is in the error of a request whose address belongs to this computer
// or to the network it is in.
var ErrPrivate = errors.New("a private address")

// Patience is the time that a server has to accept a connection, and to begin to
// answer.
const Patience = 30 * time.Second

const maxRedirects = 10

// Public and Anywhere report which addresses a dialer connects to. No dialer connects
// to those where clouds keep a machine's credentials.
var (
	Public   = func(to netip.AddrPort) bool { return !address.Private(to.Addr()) }
	Anywhere = func(netip.AddrPort) bool { return true }
)

// NewDialer returns a dialer for what foreign text names: a name is resolved once for
// each connection, and only addresses that reach reports are connected to. The error of
// others is ErrPrivate. A nil resolver is the system's.
func NewDialer(reach func(to netip.AddrPort) bool, resolver *net.Resolver) *net.Dialer {
	return &net.Dialer{
		Timeout: Patience, Resolver: resolver,
		// Control sees the address that is really connected to, after names were
		// resolved: a name that changes its mind gains nothing.
		Control: func(_, to string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(to)
			if err != nil || never(at.Addr()) || !reach(at) {
				return ErrPrivate
			}
			return nil
		},
	}
}

// NewClient returns a client that follows redirects within http and https, keeps
// no cookies, sends no referrer, and uses no proxy: behind one, nobody could
// know which address is reached. It reaches private
// addresses only if local, and in no case those where clouds keep a machine's
// credentials. Close its idle connections when it is not needed any more.
func NewClient(local bool) *http.Client {
	reach := Public
	if local {
		reach = Anywhere
	}
	return NewClientOver(&http.Transport{
		DialContext: NewDialer(reach, nil).DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConns: 20, IdleConnTimeout: 30 * time.Second, ResponseHeaderTimeout: Patience,
		MaxResponseHeaderBytes: 256 << 10,
	})
}

// NewClientOver returns a client that follows redirects as that of NewClient, and makes each
// request, also those that redirects lead to, with transport.
func NewClientOver(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport,
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

// never reports whether an address is one that no plugin may ask whatever was
// granted.
func never(a netip.Addr) bool { return address.Metadata(a) || a.Unmap().IsMulticast() }
