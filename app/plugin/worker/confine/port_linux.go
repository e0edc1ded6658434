package confine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/plugin/sandbox"

	"golang.org/x/sys/unix"
)

// A process that may listen has its bind, listen and accept answered here, like its connect. It gets
// an address of this computer that was asked about, and of the connections to it those that were
// made here. Nobody but a process of the plugin, or Conclave's proxy for it, has one made. Who else
// connects waits unseen until its connection would be accepted, and is reset.

// maxAccepting bounds the calls of one process that wait for a connection, or a decision about a
// port; further ones fail.
const maxAccepting = 64

// How long a connection to a port of the plugin may take, which is at once unless its queue is full;
// how long a call that waits is left alone; and how often and long an address is tried again that a
// process which has just ended may still have.
const (
	connectTime = time.Second
	waitTime    = 250 * time.Millisecond
	bindTries   = 20
	bindPause   = 5 * time.Millisecond
)

// maxBacklog is the greatest number of connections that may wait to be accepted.
const maxBacklog = 128

// CanListen reports whether the launcher can answer for the ports of a process here: it puts connections
// into the process with the answer (Linux 5.14).
var CanListen = sync.OnceValue(func() bool {
	var name unix.Utsname
	var major, minor int
	if unix.Uname(&name) != nil {
		return false
	}
	if n, _ := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); n < 2 {
		return false
	}
	return CanHold() && (major > 5 || major == 5 && minor >= 14)
})

// Listening returns the inode of the socket that listens at an address of this computer.
type Listening func(at netip.AddrPort) (inode uint64, ok bool)

// ports answers the calls of one process that are about ports.
type ports struct {
	listener listening
	ask      sandbox.Listener
	of       *sandbox.Ports
	who      Listening
	slots    chan struct{}
	under    sync.WaitGroup
}

// begin answers one call.
func (p *ports) begin(ctx context.Context, n notice) {
	if p.slots == nil {
		p.slots = make(chan struct{}, maxAccepting)
	}
	select {
	case p.slots <- struct{}{}:
		p.under.Go(func() { // ends with the answer, or with ctx
			defer func() { <-p.slots }()
			p.answer(ctx, n)
		})
	default:
		send(p.listener, n, 0, unix.ENOBUFS)
	}
}

func (p *ports) wait() { p.under.Wait() }

func (p *ports) answer(ctx context.Context, n notice) {
	c, err := p.take(n)
	if err != nil {
		send(p.listener, n, 0, err)
		return
	}
	var accepted *addition
	switch n.number {
	case unix.SYS_BIND:
		err = p.bind(ctx, c)
	case unix.SYS_LISTEN:
		err = p.listen(c)
	default:
		accepted, err = p.accept(ctx, c)
	}
	c.close() // before the process goes on: its socket is gone when it closes it
	if accepted == nil {
		send(p.listener, n, 0, err)
		return
	}
	put(p.listener, n, *accepted)
	_ = unix.Close(int(accepted.from))
}

// calling is a call about a socket: what it is about cannot be changed any more.
type calling struct {
	notice
	process int    // a descriptor of the process
	socket  int    // its socket, as a descriptor of ours
	inode   uint64 // of the socket
	address []byte // of a bind
}

func (c *calling) close() {
	_ = unix.Close(c.socket)
	_ = unix.Close(c.process)
}

// take takes the socket of a call and what its pointer leads to.
func (p *ports) take(n notice) (*calling, error) {
	pid, err := processOf(int(n.pid))
	if err != nil {
		return nil, err
	}
	c := &calling{notice: n}
	if c.process, err = unix.PidfdOpen(pid, 0); err != nil {
		return nil, err
	}
	if n.number == unix.SYS_BIND {
		if n.arguments[2] > unix.SizeofSockaddrAny {
			_ = unix.Close(c.process)
			return nil, unix.EINVAL
		}
		c.address = make([]byte, n.arguments[2])
		if _, err := readMemory(int(n.pid), uintptr(n.arguments[1]), c.address); err != nil {
			_ = unix.Close(c.process)
			return nil, err
		}
	}
	if c.socket, err = unix.PidfdGetfd(c.process, int(int32(n.arguments[0])), 0); err != nil {
		_ = unix.Close(c.process)
		return nil, err
	}
	c.inode, err = socketInode(c.socket)
	if err == nil && !waits(p.listener, n) {
		err = unix.EACCES
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// socketInode returns the inode of a socket of TCP over the internet.
func socketInode(socket int) (uint64, error) {
	protocol, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	if err != nil {
		return 0, err
	}
	if protocol != unix.IPPROTO_TCP {
		return 0, unix.EACCES
	}
	var stat unix.Stat_t
	if err := unix.Fstat(socket, &stat); err != nil {
		return 0, err
	}
	return stat.Ino, nil
}

// bind gives a socket the address that it asks for, if that is of this computer and was allowed.
func (p *ports) bind(ctx context.Context, c *calling) error {
	at, ok := addressOf(c.address)
	if !ok {
		return unix.EACCES
	}
	port := sandbox.Port{At: at}
	if at.Addr().IsLoopback() && at.Port() == 0 { // which it is cannot be asked about before
		if err := bindTo(c.socket, at); err != nil {
			return err
		}
		if port.At, ok = boundTo(c.socket); !ok {
			return unix.EACCES
		}
		port.Free = true
	}
	if !p.ask(ctx, port) || !waits(p.listener, c.notice) {
		return unix.EACCES
	}
	if !port.Free {
		err := bindTo(c.socket, at)
		for tries := 0; errors.Is(err, unix.EADDRINUSE) && tries < bindTries; tries++ {
			// A call of ours may still wait there for a process that has just ended.
			if inode, listens := p.who(at); listens {
				if _, own := p.of.At(inode); !own {
					break
				}
			}
			time.Sleep(bindPause)
			err = bindTo(c.socket, at)
		}
		if err != nil {
			return err
		}
	}
	p.of.Bound(c.inode, port.At, func(inode uint64, at netip.AddrPort) bool {
		is, ok := p.who(at)
		return ok && is == inode
	})
	return nil
}

// listen has a socket listen that got its address here, and still has it. Without one the system
// would choose an address, which others can reach.
func (p *ports) listen(c *calling) error {
	p.of.Listens.Lock()
	defer p.of.Listens.Unlock()
	at, ok := p.of.At(c.inode)
	if is, has := boundTo(c.socket); !ok || !has || is != at {
		return unix.EACCES
	}
	if !listens(c.socket) {
		p.of.Forget(at)
	}
	backlog := int(int32(c.arguments[1]))
	if backlog < 0 || backlog > maxBacklog {
		backlog = maxBacklog
	}
	return unix.Listen(c.socket, backlog)
}

// accept takes the next connection that was made here. Where the socket does not block there may be
// none, and where it does this waits for one.
func (p *ports) accept(ctx context.Context, c *calling) (*addition, error) {
	at, ok := p.of.At(c.inode)
	if !ok || !listens(c.socket) {
		return nil, unix.EINVAL
	}
	flags, err := unix.FcntlInt(uintptr(c.socket), unix.F_GETFL, 0)
	if err != nil {
		return nil, err
	}
	var wanted uint64
	if c.number == unix.SYS_ACCEPT4 {
		wanted = c.arguments[3]
	}
	if wanted&^(unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK) != 0 {
		return nil, unix.EINVAL
	}
	waited := false
	for {
		socket, from, err := p.next(c.socket, int(wanted&unix.SOCK_NONBLOCK))
		switch {
		case errors.Is(err, unix.EAGAIN) && flags&unix.O_NONBLOCK == 0:
			if err := p.await(ctx, c); err != nil {
				return nil, err
			}
			waited = true
			continue
		case err != nil:
			return nil, err
		case p.of.Take(from, at):
			if err := p.tell(c, from); err != nil {
				_ = unix.Close(socket)
				return nil, err
			}
			a := addition{id: c.id, flags: unix.SECCOMP_ADDFD_FLAG_SEND, from: uint32(socket)}
			if wanted&unix.SOCK_CLOEXEC != 0 {
				a.newFlags = unix.O_CLOEXEC
			}
			return &a, nil
		}
		reset(socket)
		if !waited && flags&unix.O_NONBLOCK == 0 {
			return nil, unix.ECONNABORTED // its poll may have reported a connection, and it would wait for another
		}
	}
}

// next takes the next connection without waiting for one: nobody else takes one meanwhile.
func (p *ports) next(socket, flags int) (int, netip.AddrPort, error) {
	p.of.Accepts.Lock()
	defer p.of.Accepts.Unlock()
	state := []unix.PollFd{{Fd: int32(socket), Events: unix.POLLIN}}
	if _, err := unix.Poll(state, 0); err != nil || state[0].Revents == 0 {
		return -1, netip.AddrPort{}, unix.EAGAIN
	}
	fd, from, err := unix.Accept4(socket, unix.SOCK_CLOEXEC|flags)
	if err != nil {
		return -1, netip.AddrPort{}, err
	}
	at, _ := portOf(from)
	return fd, at, nil
}

// await waits until somebody connects to the socket of a call. The error is EINTR where a signal is to
// interrupt it, or where nobody waits for an answer any more.
func (p *ports) await(ctx context.Context, c *calling) error {
	both, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	_ = unix.SetNonblock(both, true)
	for _, fd := range []int{c.socket, c.process} {
		_ = unix.EpollCtl(both, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
	file := os.NewFile(uintptr(both), "accept")
	defer context.AfterFunc(ctx, func() { _ = file.Close() })()
	defer func() { _ = file.Close() }()
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	for {
		if err := file.SetReadDeadline(time.Now().Add(waitTime)); err != nil {
			return unix.EINTR // closed
		}
		var events [2]unix.EpollEvent
		count := 0
		err := raw.Read(func(fd uintptr) bool {
			count, _ = unix.EpollWait(int(fd), events[:], 0)
			return count > 0
		})
		switch {
		case err == nil:
			for _, e := range events[:count] {
				if int(e.Fd) == c.process {
					return unix.EINTR // it has ended
				}
			}
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded), !waits(p.listener, c.notice), interrupted(int(c.pid)):
			return unix.EINTR // else a signal would wait for a connection
		}
	}
}

// interrupted reports whether a signal waits for a thread that it handles.
func interrupted(thread int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	if err != nil {
		return false
	}
	sets := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		if name, set, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(name, "S") {
			sets[name], _ = strconv.ParseUint(strings.TrimSpace(set), 16, 64)
		}
	}
	return (sets["SigPnd"]|sets["ShdPnd"])&sets["SigCgt"]&^sets["SigBlk"] != 0
}

// tell writes an address to where a call to accept wants it.
func (p *ports) tell(c *calling, from netip.AddrPort) error {
	if c.arguments[1] == 0 {
		return nil
	}
	memory, err := os.OpenFile("/proc/"+strconv.Itoa(int(c.pid))+"/mem", os.O_RDWR, 0)
	if err != nil {
		return unix.EFAULT
	}
	defer func() { _ = memory.Close() }()
	if !waits(p.listener, c.notice) { // from here on it is sure whose memory this is
		return unix.EACCES
	}
	var size [4]byte
	if _, err := memory.ReadAt(size[:], int64(c.arguments[2])); err != nil {
		return unix.EFAULT
	}
	domain, err := unix.GetsockoptInt(c.socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	address := addressBytes(domain, from)
	room := int32(binary.NativeEndian.Uint32(size[:]))
	if room < 0 {
		return unix.EINVAL
	}
	binary.NativeEndian.PutUint32(size[:], uint32(len(address)))
	if _, err := memory.WriteAt(address[:min(len(address), int(room))], int64(c.arguments[1])); err != nil {
		return unix.EFAULT
	}
	if _, err := memory.WriteAt(size[:], int64(c.arguments[2])); err != nil {
		return unix.EFAULT
	}
	return nil
}

// addressBytes is a struct sockaddr_in or sockaddr_in6.
func addressBytes(domain int, at netip.AddrPort) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.NativeEndian, uint16(domain))
	_ = binary.Write(&b, binary.BigEndian, at.Port())
	if domain == unix.AF_INET {
		address := at.Addr().As4()
		b.Write(address[:])
		b.Write(make([]byte, 8))
		return b.Bytes()
	}
	address := at.Addr().As16()
	b.Write(make([]byte, 4)) // the flow
	b.Write(address[:])
	b.Write(make([]byte, 4)) // the scope
	return b.Bytes()
}

// reset closes a connection that is not let in, so that who made it knows.
func reset(socket int) {
	_ = unix.SetsockoptLinger(socket, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	_ = unix.Close(socket)
}

// connectPort connects a socket to a port on which a process of the same plugin listens, and to
// nothing else: from before the connection until after it, the same socket listens there.
func connectPort(socket int, to netip.AddrPort, of *sandbox.Ports, who Listening) error {
	own := func() (uint64, bool) {
		inode, ok := who(to)
		if !ok {
			return 0, false
		}
		at, ours := of.At(inode)
		return inode, ours && at == to
	}
	inode, err := socketInode(socket)
	if err != nil {
		return err
	}
	if _, bound := of.At(inode); bound {
		return unix.EACCES // it is there to listen
	}
	of.Listens.Lock()
	defer of.Listens.Unlock()
	before, ok := own()
	if !ok {
		return unix.EACCES
	}
	from, bound := boundTo(socket)
	if !bound {
		source := netip.AddrPortFrom(to.Addr(), 0)
		if err := bindTo(socket, source); err != nil {
			return err
		}
		from, _ = boundTo(socket)
	}
	of.Making(from, to)
	err = connectNow(socket, to)
	if after, ok := own(); err == nil && (!ok || after != before) {
		_ = unix.Shutdown(socket, unix.SHUT_RDWR)
		err = unix.ECONNREFUSED
	}
	if err != nil {
		of.Take(from, to)
	}
	return err
}

// connectNow connects a socket to an address of this computer, and does not wait where the queue
// there is full.
func connectNow(socket int, to netip.AddrPort) error {
	flags, err := unix.FcntlInt(uintptr(socket), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if flags&unix.O_NONBLOCK == 0 {
		if err := unix.SetNonblock(socket, true); err != nil {
			return err
		}
		defer func() { _ = unix.SetNonblock(socket, false) }()
	}
	if err := connectTo(socket, to); !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	state := []unix.PollFd{{Fd: int32(socket), Events: unix.POLLOUT}}
	for until := time.Now().Add(connectTime); ; {
		n, err := unix.Poll(state, max(0, int(time.Until(until).Milliseconds())))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			_ = unix.Shutdown(socket, unix.SHUT_RDWR)
			return unix.ECONNREFUSED
		}
		break
	}
	failed, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && failed != 0 {
		err = unix.Errno(failed)
	}
	return err
}

// Dial connects to a port on which a process of a plugin listens.
func Dial(to netip.AddrPort, of *sandbox.Ports, who Listening) (net.Conn, error) {
	domain := unix.AF_INET
	if to.Addr().Is6() {
		domain = unix.AF_INET6
	}
	socket, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_TCP)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(socket), "port")
	defer func() { _ = file.Close() }() // FileConn has a copy
	if err := connectPort(socket, to, of, who); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	return net.FileConn(file)
}

// listens reports whether a socket listens.
func listens(socket int) bool {
	is, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	return err == nil && is != 0
}

// bindTo gives a socket an address.
func bindTo(socket int, at netip.AddrPort) error {
	domain, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	if domain == unix.AF_INET {
		if !at.Addr().Is4() {
			return unix.EAFNOSUPPORT
		}
		return unix.Bind(socket, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()})
	}
	return unix.Bind(socket, &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
}

// boundTo returns the address of a socket; false of one that has none yet.
func boundTo(socket int) (netip.AddrPort, bool) {
	name, err := unix.Getsockname(socket)
	if err != nil {
		return netip.AddrPort{}, false
	}
	at, ok := portOf(name)
	return at, ok && at.Port() != 0
}

// portOf reads an address of the internet.
func portOf(name unix.Sockaddr) (netip.AddrPort, bool) {
	switch a := name.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port)), true
	}
	return netip.AddrPort{}, false
}
