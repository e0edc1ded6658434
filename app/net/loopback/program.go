package loopback

import (
	"net"
	"net/netip"
	"strconv"
)

// Program is a program of this computer, as far as the system knows.
type Program struct {
	Name string // with what it runs, where that says more: "python3 weather.py"
	PID  int    // 0 where only its user is known
	Mine bool   // it runs as the user that Conclave runs as

	conclave bool // it is a program of Conclave
}

// String is the program as a person reads it: “python3 weather.py (process 123)”.
func (p Program) String() string {
	if p.PID == 0 {
		return p.Name
	}
	return p.Name + " (process " + strconv.Itoa(p.PID) + ")"
}

// ends returns the addresses of a connection, those of IPv4 as such; false of what is no
// connection of TCP.
func ends(c net.Conn) (near, far netip.AddrPort, ok bool) {
	local, ok := c.LocalAddr().(*net.TCPAddr)
	remote, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !ok2 {
		return netip.AddrPort{}, netip.AddrPort{}, false
	}
	return unmapped(local.AddrPort()), unmapped(remote.AddrPort()), true
}

func unmapped(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}
