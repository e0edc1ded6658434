package confine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"conclave/app/plugin/sandbox"

	"golang.org/x/sys/unix"
)

// holdDescriptor is where a process finds the socket by which it sends its filter's
// listener to the launcher: the one after the spec's.
const holdDescriptor = specDescriptor + 1

// CanHold reports whether this system lets the launcher make the connections of a
// process: seccomp tells it of them (Linux 5.0), it may take the process's sockets
// (5.6), and nothing forbids to look at one's own children.
var CanHold = sync.OnceValue(func() bool {
	action := uint32(unix.SECCOMP_RET_USER_NOTIF)
	if !hasSeccomp() {
		return false
	}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0,
		uintptr(unsafe.Pointer(&action))); err != 0 {
		return false
	}
	sizes := [3]uint16{}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0,
		uintptr(unsafe.Pointer(&sizes))); err != 0 || uintptr(sizes[0]) > unsafe.Sizeof(notice{}) ||
		uintptr(sizes[1]) > unsafe.Sizeof(reply{}) {
		return false
	}
	if _, err := unix.PidfdGetfd(-1, 0, 0); !errors.Is(err, unix.EBADF) || !canListen() {
		return false
	}
	var there byte
	here := byte(1)
	if _, err := readMemory(os.Getpid(), uintptr(unsafe.Pointer(&here)), unsafe.Slice(&there, 1)); err != nil ||
		there != here {
		return false
	}
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err != nil || strings.TrimSpace(string(scope)) < "2" // 2 and 3 allow nobody
})

// canListen reports whether a filter of ours may have a listener: the kernel allows one in
// all filters of a process, and whoever runs Conclave may have put up theirs, as some
// containers do (seccomp(2), EBUSY).
func canListen() bool {
	can := make(chan bool)
	go func() { // ends at once, and its thread, which stays locked, with the filter
		runtime.LockOSThread()
		filter := []unix.SockFilter{answer(unix.SECCOMP_RET_ALLOW)}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
			can <- false
			return
		}
		listener, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
		runtime.KeepAlive(filter)
		if err == 0 {
			_ = unix.Close(int(listener))
		}
		can <- err == 0
	}()
	return <-can
}

// notice and reply are struct seccomp_notif and seccomp_notif_resp
// (linux/seccomp.h).
type notice struct {
	id        uint64
	pid       uint32
	flags     uint32
	number    int32
	arch      uint32
	pointer   uint64
	arguments [6]uint64
}

type reply struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// Held describes how the calls of a process are answered whose spec says Held or Opens.
type Held struct {
	// Proxy is where its sockets are connected to.
	Proxy netip.AddrPort
	// Open is that of the spec.
	Open func(ctx context.Context, path string, write bool) sandbox.Opening
	// Listen and Ports are those of the spec; Listening knows who listens where.
	Listen    sandbox.Listener
	Ports     *sandbox.Ports
	Listening Listening
}

// Hold answers the calls of a process whose spec says Held or Opens, until over is
// closed, once it has ended. from is the other end of its descriptor 4.
//
// Whatever the process connects to is refused but the proxy, and ports on which its plugin listens, to
// which Hold connects its socket itself; a file it asks for is opened here and put into the process. So nothing
// that the process changes meanwhile leads elsewhere.
func Hold(from *net.UnixConn, h Held, over <-chan struct{}) error {
	listener, err := receive(from)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background()) // its own: over ends it
	go func() {                                             // ends with over
		<-over
		cancel()
		_ = listener.Close()
	}()
	raw, err := listener.SyscallConn()
	if err != nil {
		return err
	}
	o := openings{listener: raw, ask: h.Open}
	defer o.wait()
	p := ports{listener: raw, ask: h.Listen, of: h.Ports, who: h.Listening}
	defer p.wait()
	for {
		var n notice
		var failed error
		if err := raw.Read(func(fd uintptr) bool {
			state := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if _, failed = unix.Poll(state, 0); failed != nil {
				return !errors.Is(failed, unix.EINTR)
			}
			switch {
			case state[0].Revents&unix.POLLIN != 0:
				n = notice{}
				failed = control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n))
				return true
			case state[0].Revents != 0: // nobody has the filter any more
				failed = net.ErrClosed
				return true
			}
			return false
		}); err != nil {
			return nil //nolint:nilerr // it was closed
		}
		switch {
		case errors.Is(failed, unix.ENOENT), errors.Is(failed, unix.EINTR): // whoever called was killed meanwhile
			continue
		case failed != nil:
			return nil //nolint:nilerr // the process is gone
		}
		switch n.number {
		case unix.SYS_OPENAT2:
			o.begin(ctx, n)
		case unix.SYS_CONNECT:
			send(raw, n, 0, connect(raw, n, h))
		default: // bind, listen, accept
			p.begin(ctx, n)
		}
	}
}

// listening is the listener of a filter, for control.
type listening interface{ Control(func(fd uintptr)) error }

// send answers a call. It fails for a process that is gone, which nobody needs to know.
func send(listener listening, n notice, flags uint32, err error) {
	answer := reply{id: n.id, flags: flags}
	if err != nil {
		answer.errno = -int32(unix.EACCES)
		if e, ok := errors.AsType[unix.Errno](err); ok {
			answer.errno = -int32(e)
		}
	}
	_ = listener.Control(func(fd uintptr) {
		_ = control(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer))
	})
}

// waits reports whether the process of a notice still waits for its answer: only then is
// it sure that what was read was its own, and not of one that has its number since.
func waits(listener listening, n notice) bool {
	var valid error
	err := listener.Control(func(fd uintptr) {
		valid = control(fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.id))
	})
	return err == nil && valid == nil
}

// receive takes the listener that a process sends.
func receive(from *net.UnixConn) (*os.File, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := from.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("the process ended before it could be held")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("the process sent no listener")
	}
	unix.CloseOnExec(fds[0])
	if err := unix.SetNonblock(fds[0], true); err != nil {
		_ = unix.Close(fds[0])
		return nil, err
	}
	return os.NewFile(uintptr(fds[0]), "seccomp"), nil
}

func control(fd uintptr, request uintptr, argument unsafe.Pointer) error {
	if _, _, err := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(argument)); err != 0 {
		return err
	}
	return nil
}

// connect does what the connect(2) of a notice asks for, if it is for the proxy, or for a port of the
// plugin.
func connect(listener listening, n notice, h Held) error {
	const longest = unix.SizeofSockaddrAny
	if n.arguments[2] > longest {
		return unix.EINVAL
	}
	pid, err := processOf(int(n.pid))
	if err != nil {
		return err
	}
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(process) }()
	address := make([]byte, n.arguments[2])
	if _, err := readMemory(int(n.pid), uintptr(n.arguments[1]), address); err != nil {
		return err
	}
	socket, err := unix.PidfdGetfd(process, int(int32(n.arguments[0])), 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	if !waits(listener, n) {
		return unix.EACCES
	}
	to, ok := addressOf(address)
	switch {
	case ok && h.Proxy.IsValid() && to == h.Proxy:
		return connectTo(socket, h.Proxy)
	case ok && h.Ports != nil && to.Addr().IsLoopback():
		return connectPort(socket, to, h.Ports, h.Listening)
	}
	return unix.EACCES
}

// connectTo connects a TCP socket.
func connectTo(socket int, to netip.AddrPort) error {
	protocol, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	if err != nil || protocol != unix.IPPROTO_TCP {
		return unix.EACCES
	}
	domain, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	if domain == unix.AF_INET {
		return unix.Connect(socket, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
	}
	return unix.Connect(socket, &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()})
}

// addressOf reads a struct sockaddr of the internet.
func addressOf(b []byte) (netip.AddrPort, bool) {
	if len(b) < unix.SizeofSockaddrInet4 {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port), true
	case family == unix.AF_INET6 && len(b) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])).Unmap(), port), true
	}
	return netip.AddrPort{}, false
}

// processOf returns the process of a thread.
func processOf(thread int) (int, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nTgid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0, fmt.Errorf("find the process of thread %d: %w", thread, err)
	}
	return pid, nil
}

// readMemory reads from the memory of a process.
func readMemory(pid int, at uintptr, into []byte) (int, error) {
	if len(into) == 0 {
		return 0, nil
	}
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: at, Len: len(into)}}, 0)
	runtime.KeepAlive(into)
	if err == nil && n != len(into) {
		err = unix.EFAULT
	}
	return n, err
}
