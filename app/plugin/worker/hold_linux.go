package worker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"

	"golang.org/x/sys/unix"
)

// held is our end of the socket by which a process lets its connections be made here;
// the zero value is that of a process which makes its own, or none.
type held struct{ from *net.UnixConn }

// hold prepares a process that connects to its proxy alone to be held to that, where
// the system can.
func (p *Process) hold() error {
	if p.spec.Kind != "command" || !p.spec.Sockets || p.spec.Proxy == "" || !confine.CanHold() {
		return nil
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("hold its network: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "held"), os.NewFile(uintptr(pair[1]), "holding")
	defer func() { _ = ours.Close() }() // FileConn has a copy
	p.theirs = append(p.theirs, theirs)
	conn, err := net.FileConn(ours)
	if err != nil {
		return fmt.Errorf("hold its network: %w", err)
	}
	from, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close()
		return errors.New("hold its network: no socket of this system")
	}
	p.held.from, p.spec.Held = from, true
	p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, theirs)
	return nil
}

// serve makes the connections of the process until over is closed. A process that never
// became its program is no error.
func (h held) serve(spec sandbox.Spec, over <-chan struct{}) error {
	if h.from == nil {
		return nil
	}
	to, err := netip.ParseAddrPort(spec.Proxy)
	if err == nil {
		err = confine.Hold(h.from, to, over)
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
