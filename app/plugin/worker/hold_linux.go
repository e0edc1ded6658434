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

// held is our end of the socket by which a process lets its calls be answered here; the
// zero value is that of a process none of whose are.
type held struct{ from *net.UnixConn }

// hold prepares a process that connects to its proxy alone, or that asks for files, to be
// held to that, where the system can.
func (p *Process) hold() error {
	command := p.spec.Kind == "command"
	p.spec.Held = command && p.spec.Sockets && p.spec.Proxy != "" && confine.CanHold()
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
	var err error
	if spec.Held {
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
