package worker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"

	"conclave/app/net/loopback"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"

	"golang.org/x/sys/unix"
)

// held is our end of the socket by which a process lets its calls be answered here; the
// zero value is that of a process none of whose are.
type held struct{ from *net.UnixConn }

// Dial connects to a port on which a process of a plugin listens; ports are that plugin's.
func Dial(to netip.AddrPort, ports *sandbox.Ports) (net.Conn, error) {
	return confine.Dial(to, ports, loopback.Listener)
}

// Listens reports whether a process of a plugin listens at an address; ports are that plugin's.
func Listens(at netip.AddrPort, ports *sandbox.Ports) bool {
	if !ports.Has(at) { // which costs no look at all sockets
		return false
	}
	inode, ok := loopback.Listener(at)
	is, own := ports.At(inode)
	return ok && own && is == at
}

// hold prepares a process that connects to its proxy alone, that may listen, or that asks for files, to
// be held to that, where the system can.
func (p *Process) hold() error {
	command := p.spec.Kind == "command"
	p.spec.Listens = command && p.spec.Listens && p.spec.Listen != nil && p.spec.Ports != nil && confine.CanListen()
	p.spec.Sockets = p.spec.Sockets || p.spec.Listens
	p.spec.Held = command && p.spec.Sockets && (p.spec.Proxy != "" || p.spec.Listens) && confine.CanHold()
	p.spec.Opens = command && p.spec.Open != nil && confine.CanOpen()
	if !p.spec.Held && !p.spec.Opens {
		return nil
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("answer its calls: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "held"), os.NewFile(uintptr(pair[1]), "holding")
	defer func() { _ = ours.Close() }() // FileConn has a copy
	p.theirs = append(p.theirs, theirs)
	conn, err := net.FileConn(ours)
	if err != nil {
		return fmt.Errorf("answer its calls: %w", err)
	}
	from, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close()
		return errors.New("answer its calls: no socket of this system")
	}
	p.held.from = from
	p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, theirs)
	return nil
}

// serve answers the calls of the process until over is closed. A process that never
// became its program is no error.
func (h held) serve(spec sandbox.Spec, over <-chan struct{}) error {
	if h.from == nil {
		return nil
	}
	does := confine.Held{Open: spec.Open}
	if spec.Listens {
		does.Listen, does.Ports, does.Listening = spec.Listen, spec.Ports, loopback.Listener
	}
	var err error
	if spec.Held && spec.Proxy != "" {
		does.Proxy, err = netip.ParseAddrPort(spec.Proxy)
	}
	if err == nil {
		err = confine.Hold(h.from, does, over)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (h held) close() {
	if h.from != nil {
		_ = h.from.Close()
	}
}
