package gate

import (
	"context"
	"net/netip"
	"slices"
	"strconv"

	"conclave/app/base/fault"
)

// firstPort is the first port that needs no privileges of the system.
const firstPort = 1024

// Listening is a port on which a process of a plugin wants to listen.
type Listening struct {
	Plugin string
	At     netip.AddrPort // of this computer alone
	Free   bool           // the process leaves it to the system which port it gets, which is At
	Behalf Call           // the call that the plugin is working on, as far as that is known
	Within []Call         // all that it works on
}

// listeningArguments name a port for a person who is asked, and for rules.
type listeningArguments struct {
	Address string `json:"address"`
	Port    string `json:"port"`           // 0: any that is free
	Free    string `json:"free,omitempty"` // which of these it got
}

// Listenable reports whether a plugin may ask for ports of an address: of this computer alone.
func Listenable(at netip.Addr) bool {
	return at == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || at == netip.IPv6Loopback()
}

// Listen decides about a port, and may ask.
func (g *Gate) Listen(ctx context.Context, l Listening) Decision {
	switch {
	case g.Reach.Usable(l.Plugin, Listen) != nil:
		return refused("such a plugin listens on no ports")
	case !Listenable(l.At.Addr()):
		return refused("only 127.0.0.1 and ::1 are sure to be of this computer alone")
	case l.At.Port() < firstPort:
		return refused("ports below " + strconv.Itoa(firstPort) + " are the system's")
	}
	asked := listeningArguments{Address: l.At.Addr().String(), Port: strconv.Itoa(int(l.At.Port()))}
	if l.Free {
		asked.Port, asked.Free = "0", asked.Port
	}
	call := use(l.Plugin, Listen, asked, l.Behalf, Compute)
	call.within, call.Taint = append(slices.Clone(l.Within), l.Behalf), l.Behalf.Taint
	return g.Decide(ctx, call).asAsked()
}

// AllowPort lets a plugin listen on one port of this computer, in place of all of them. Port 0 is
// any that is free when it asks for one.
func (r *Reach) AllowPort(ctx context.Context, plugin, port string) error {
	if err := r.Usable(plugin, Listen); err != nil {
		return err
	}
	port, err := portOf(port)
	if err != nil {
		return err
	}
	return r.grantSingle(ctx, plugin, Listen, portField, port)
}

// RevokePort takes a port back. The kind is not_found when the plugin was not given it.
func (r *Reach) RevokePort(ctx context.Context, plugin, port string) error {
	port, err := portOf(port)
	if err != nil {
		return err
	}
	return r.revokeSingle(ctx, plugin, Listen, portField, port)
}

// portOf returns a port as rules have it.
func portOf(port string) (string, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n > 0 && n < firstPort {
		return "", fault.New(fault.Invalid, "gate.port", "The port "+shown(port)+" cannot be granted.",
			"Name one from "+strconv.Itoa(firstPort)+" to 65535, or 0 for any that is free.")
	}
	return strconv.FormatUint(n, 10), nil
}

// portWords is a port as a sentence has it.
func portWords(port string) string {
	if port == "0" {
		return "a free port of this computer"
	}
	return "port " + plain(port) + " of this computer"
}
