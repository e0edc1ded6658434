package loopback

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os/user"
	"strconv"
	"strings"
)

// Whose says to which user the program at the far end of a connection belongs.
type Whose int

// The answers. Only Unknown and Others are a reason to refuse wherever a program of the
// person, or one of the system, would do.
const (
	// Unknown: the system lists no open socket at the far end. Whoever held it has closed it,
	// or the connection leads out of what this process can see, as into a container.
	Unknown  Whose = iota
	Mine           // the user that Conclave runs as
	Services       // root, or an account of a service, which nobody logs in with
	Others         // another person
	Untold         // this system (macOS, Windows) does not say it of any connection
)

// Peer is the program at the far end of one connection. The zero value is unknown.
type Peer struct {
	Whose Whose
	UID   uint32 // of its user; of Mine, Services and Others alone
	inode uint64 // of the socket by which it is found among the processes
	at    netip.AddrPort
}

// PeerOf returns the program at the far end of a connection between two programs of this
// computer. It answers for this connection and not for its address: a program that has let
// go of its end, or of the port at which it listened, is Unknown. A connection that the
// other program has not accepted yet belongs to whoever listens for it.
//
// It asks the kernel, which takes some microseconds, and where that has no answer to such a
// question (sock_diag) it reads the list of all sockets, which takes about a millisecond.
func PeerOf(c net.Conn) Peer {
	p := peerOf(c)
	_, p.at, _ = ends(c)
	return p
}

// Own reports whether the program runs as the person, or cannot be known on this system.
func (p Peer) Own() bool { return p.Whose == Mine || p.Whose == Untold }

// User returns the name of the program's user, or its number where it has no name, for a
// sentence; "" of a program whose user is not known.
func (p Peer) User() string {
	if p.Whose == Unknown || p.Whose == Untold {
		return ""
	}
	number := strconv.FormatUint(uint64(p.UID), 10)
	if u, err := user.LookupId(number); err == nil && u.Username != "" {
		return u.Username
	}
	return number
}

// Program returns the program itself, and whether the system says which it is. Its name is
// found by looking through the processes of the person, in some ten milliseconds.
func (p Peer) Program() (Program, bool) { return p.program() }

// Stranger is the error of a connection to a program that was not admitted. Nothing was sent.
type Stranger struct {
	At   string // the address
	Peer Peer
}

// Error implements error.
func (s *Stranger) Error() string {
	if s.Peer.Whose == Unknown {
		return "the system does not say whose program answers at " + s.At
	}
	return "a program of the user " + s.Peer.User() + " answers at " + s.At
}

// Sentence returns the error as the beginning of a sentence, without a full stop.
func (s *Stranger) Sentence() string {
	text := s.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// Dialer connects, and closes a connection to a loopback address again, before anything is
// sent, if Admit does not admit the program that answers. The error is then a *Stranger.
// Other addresses are none of its business. It is safe for concurrent use.
type Dialer struct {
	net.Dialer
	Admit func(Peer) bool // nil admits programs of the person alone (Peer.Own)
}

// DialContext connects like net.Dialer.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil || !here(c) {
		return c, err
	}
	peer, admit := PeerOf(c), d.Admit
	if admit == nil {
		admit = Peer.Own
	}
	if !admit(peer) {
		_ = c.Close()
		return nil, &Stranger{At: c.RemoteAddr().String(), Peer: peer}
	}
	return c, nil
}

// here reports whether a connection leads to a loopback address.
func here(c net.Conn) bool {
	_, far, ok := ends(c)
	return ok && far.Addr().IsLoopback()
}

// Caller returns the program that sends a request to a Server, and whether the system knows it.
func Caller(r *http.Request) (Program, bool) {
	peer, _ := r.Context().Value(peerKey{}).(Peer)
	return peer.Program()
}
