//go:build !linux

package worker

import (
	"net"
	"net/netip"

	"conclave/app/plugin/sandbox"
)

// held is nothing: this system does not let the connections of a process be made for
// it.
type held struct{}

// Dial connects to a port on which a process of a plugin listens: here none does.
func Dial(netip.AddrPort, *sandbox.Ports) (net.Conn, error) { return nil, net.ErrClosed }

// Listens reports whether a process of a plugin listens at an address: here none does.
func Listens(netip.AddrPort, *sandbox.Ports) bool { return false }

func (p *Process) hold() error {
	p.spec.Listens = false
	return nil
}

func (held) serve(sandbox.Spec, <-chan struct{}) error { return nil }

func (held) close() {}
