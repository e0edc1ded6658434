package loopback

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
)

// Program is a program of this computer, as far as the system tells.
type Program struct {
	Name string // with what it runs, where that says more: "python3 weather.py"
	PID  int    // 0 where only its user is known
	Mine bool   // it runs as the user that Conclave runs as
}

// String is the program as a person reads it: “python3 weather.py (process 123)”.
func (p Program) String() string {
	if p.PID == 0 {
		return p.Name
	}
	return p.Name + " (process " + strconv.Itoa(p.PID) + ")"
}

// Caller returns the program that sends a request to a Server, and whether the system tells.
func Caller(r *http.Request) (Program, bool) {
	far, err := netip.ParseAddrPort(r.RemoteAddr)
	near, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if err != nil || !ok {
		return Program{}, false
	}
	return Connected(far, near.AddrPort())
}
