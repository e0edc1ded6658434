//go:build !linux

package loopback

import (
	"net"
	"net/netip"
)

// Tells reports whether this system knows whose program is at the far end of a connection.
const Tells = false

func peerOf(net.Conn) Peer { return Peer{Whose: Untold} }

func (p Peer) program() (Program, bool) { return Program{}, false }

// Conclave reports whether the far end may be a program of Conclave; this system does not
// know.
func (p Peer) Conclave() bool { return false }

// Listening returns the program that listens at an address of this computer; this system
// does not know.
func Listening(netip.AddrPort) (Program, bool) { return Program{}, false }
