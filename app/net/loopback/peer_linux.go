package loopback

import (
	"bufio"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Tells reports whether this system knows whose program is at the far end of a connection.
const Tells = true

// state is that of a socket of TCP, by the kernel's numbers.
type state uint8

const (
	stateEstablished state = 1
	stateSynReceived state = 3 // not accepted yet, by a server that waits for the first byte
	stateFinWait1    state = 4 // this and the next: its program sends nothing more
	stateFinWait2    state = 5
	stateClosed      state = 7
	stateCloseWait   state = 8
	stateLastAck     state = 9
	stateListen      state = 10
	stateClosing     state = 11
)

// connected reports whether a socket is an end of a connection. One that still asks for
// a connection from the same address is not: the two can meet while the first goes.
func (s state) connected() bool {
	switch s {
	case stateEstablished, stateSynReceived, stateFinWait1, stateFinWait2, stateCloseWait, stateLastAck, stateClosing:
		return true
	}
	return false
}

func peerOf(c net.Conn) Peer {
	near, far, ok := ends(c)
	if !ok {
		return Peer{}
	}
	peer := farEnd(far, near)
	// Once our end was reset, the same two addresses may be another connection's.
	if !open(c) {
		return Peer{}
	}
	return peer
}

// farEnd returns who has the far end of a connection.
func farEnd(far, near netip.AddrPort) Peer {
	s, ok := connected(far, near)
	if !ok || s.inode != 0 {
		return s.peer()
	}
	// No program holds it: it was closed, or nobody has accepted it yet. Then whoever listens
	// will, if it still waits after one has looked who that is: a listener that goes takes the
	// connections with it that it has not accepted.
	by, listens := listener(far)
	s, ok = connected(far, near)
	switch {
	case !ok || s.inode != 0:
		return s.peer()
	case listens && (s.state == stateEstablished || s.state == stateSynReceived):
		return by.peer()
	}
	return Peer{}
}

// open reports whether our end of a connection has neither been closed nor reset.
func open(c net.Conn) bool {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	is := stateClosed
	err = control.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			is = state(info.State)
		}
	})
	return err == nil && is.connected()
}

// peer returns whose program holds a socket.
func (s socket) peer() Peer {
	if s.inode == 0 { // what nobody holds any more is listed as root's
		return Peer{}
	}
	p := Peer{Whose: Others, UID: s.uid, inode: s.inode}
	switch {
	case s.uid == uint32(os.Getuid()): //nolint:gosec // a user's number
		p.Whose = Mine
	case isService(s.uid, firstPerson()):
		p.Whose = Services
	}
	return p
}

// The numbers that systemd gives to services for as long as they run (DynamicUser).
const firstDynamic, lastDynamic = 61184, 65519

// isService reports whether a user is root or the account of a service: the numbers below
// those of people, and those of systemd.
func isService(uid, firstPerson uint32) bool {
	return uid < firstPerson || uid >= firstDynamic && uid <= lastDynamic
}

// firstPerson returns the first number of people's accounts, which the file says that
// programs make accounts by; 1000 where it does not.
var firstPerson = sync.OnceValue(func() uint32 {
	file, err := os.Open("/etc/login.defs")
	if err != nil {
		return 1000
	}
	defer file.Close() //nolint:errcheck // it is only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) >= 2 && f[0] == "UID_MIN" {
			if n, err := strconv.ParseUint(f[1], 0, 32); err == nil {
				return uint32(n)
			}
		}
	}
	return 1000
})

// connected returns the socket at the far end of a connection. Its address alone does not
// name it: others may have connections to elsewhere from there.
func connected(far, near netip.AddrPort) (socket, bool) {
	// Where there is no such connection, the kernel returns who listens.
	if s, ok := askKernel(far, near); ok && s.state.connected() && s.remote == near {
		return s, true
	}
	return find(false, func(s socket) bool { return s.state.connected() && s.local == far && s.remote == near })
}

// Sizes of inet_diag_req_v2 and inet_diag_msg (linux/inet_diag.h), after the header of
// netlink.
const (
	diagHeader = 16
	diagAsk    = 56
	diagAnswer = 72
)

// askKernel is a variable for tests of systems whose kernel does not answer.
var askKernel = asked

// asked asks the kernel for one socket by its two addresses (sock_diag(7)): the connection
// between them, or else the socket that takes connections to the local one. It finds none
// where the kernel was built without that.
func asked(local, remote netip.AddrPort) (socket, bool) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return socket{}, false
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	ask := make([]byte, diagHeader+diagAsk)
	order := binary.NativeEndian
	order.PutUint32(ask, uint32(len(ask)))
	order.PutUint16(ask[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(ask[6:], unix.NLM_F_REQUEST)
	q := ask[diagHeader:]
	q[0], q[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if local.Addr().Is4() {
		q[0] = unix.AF_INET
	}
	order.PutUint32(q[4:], ^uint32(0)) // in any state
	binary.BigEndian.PutUint16(q[8:], local.Port())
	binary.BigEndian.PutUint16(q[10:], remote.Port())
	copy(q[12:28], local.Addr().AsSlice())
	copy(q[28:44], remote.Addr().AsSlice())
	order.PutUint64(q[48:], ^uint64(0)) // no cookie
	if err := unix.Sendto(fd, ask, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return socket{}, false
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, unix.MSG_DONTWAIT) // the kernel has answered already
	if err != nil || n < diagHeader+diagAnswer || order.Uint16(answer[4:]) != unix.SOCK_DIAG_BY_FAMILY {
		return socket{}, false
	}
	m := answer[diagHeader:]
	s := socket{local: local, state: state(m[1]), uid: order.Uint32(m[64:])}
	s.inode = uint64(order.Uint32(m[68:]))
	if [4]byte(m[4:8]) == [4]byte(q[8:12]) { // the ports
		s.remote = remote
	}
	return s, true
}
