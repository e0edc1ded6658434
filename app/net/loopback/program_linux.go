package loopback

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"conclave/app/base/shorten"
)

// Listening returns the program that listens at an address of this computer, and whether
// the system knows. See PeerOf for who answers on a connection.
func Listening(at netip.AddrPort) (Program, bool) {
	s, ok := listener(at)
	if !ok {
		return Program{}, false
	}
	return s.program(), true
}

// Listener returns the inode of the socket that takes connections to an address of this computer.
func Listener(at netip.AddrPort) (inode uint64, ok bool) {
	s, ok := listener(at)
	return s.inode, ok
}

// listener returns the socket that takes connections to an address: as the kernel chooses,
// the one at that very address before those at all addresses, which of IPv6 has one of IPv4
// alone nothing of.
func listener(at netip.AddrPort) (socket, bool) {
	own := at.Addr().Unmap()
	nobody, all := netip.IPv6Unspecified(), []netip.Addr{own, netip.IPv6Unspecified()}
	if own.Is4() {
		nobody, all = netip.IPv4Unspecified(), []netip.Addr{own, netip.IPv4Unspecified(), netip.IPv6Unspecified()}
	}
	// No connection comes from port 0. Without this answer, the list of sockets is read, which takes
	// about a millisecond.
	s, ok := askKernel(netip.AddrPortFrom(own, at.Port()), netip.AddrPortFrom(nobody, 0))
	if ok && s.state == stateListen {
		return s, true
	}
	for _, addr := range all {
		local := netip.AddrPortFrom(addr, at.Port())
		if s, ok := find(true, func(s socket) bool { return s.local == local }); ok {
			return s, true
		}
	}
	return socket{}, false
}

// socket is a line of /proc/net/tcp.
type socket struct {
	local, remote netip.AddrPort
	state         state
	uid           uint32
	inode         uint64
}

// program is the program that holds a socket.
func (s socket) program() Program {
	p, _ := s.peer().program()
	return p
}

// find returns the first socket that is meant. The kernel lists sockets that listen before
// all others, and walking through those others takes it a millisecond or more: whoever
// looks for one that listens is not kept waiting for it.
func find(listens bool, meant func(socket) bool) (socket, bool) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if s, ok := findIn(table, listens, meant); ok {
			return s, true
		}
	}
	return socket{}, false
}

func findIn(table string, listens bool, meant func(socket) bool) (socket, bool) {
	file, err := os.Open(table)
	if err != nil {
		return socket{}, false
	}
	defer file.Close() //nolint:errcheck // it is only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		s, ok := readSocket(lines.Text())
		switch {
		case !ok: // the heading
		case listens && s.state != stateListen:
			return socket{}, false
		case meant(s):
			return s, true
		}
	}
	return socket{}, false
}

func readSocket(line string) (socket, bool) {
	f := strings.Fields(line)
	if len(f) < 10 {
		return socket{}, false
	}
	local, ok := readAddress(f[1])
	remote, ok2 := readAddress(f[2])
	is, err := strconv.ParseUint(f[3], 16, 8)
	uid, err2 := strconv.ParseUint(f[7], 10, 32)
	inode, err3 := strconv.ParseUint(f[9], 10, 64)
	return socket{local, remote, state(is), uint32(uid), inode}, ok && ok2 && errors.Join(err, err2, err3) == nil
}

// readAddress reads an address as the kernel writes it: words of four bytes in its own
// order of bytes, and the port.
func readAddress(text string) (netip.AddrPort, bool) {
	address, port, ok := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	number, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	at, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(at.Unmap(), uint16(number)), ok
}

// program returns the process that holds the far end; of other users' only that they are
// theirs.
func (p Peer) program() (Program, bool) {
	switch p.Whose {
	case Unknown, Untold:
		return Program{}, false
	case Services, Others:
		return Program{Name: "a program of another user"}, true
	}
	found := Program{Mine: true}
	if p.inode == 0 {
		return found, true
	}
	if known, ok := seen.get(p.inode); ok {
		return known, true
	}
	found.PID = holder("socket:[" + strconv.FormatUint(p.inode, 10) + "]")
	if found.PID != 0 {
		found.Name, found.conclave = nameOf("/proc/"+strconv.Itoa(found.PID)), isConclave(found.PID)
	}
	seen.put(p.inode, found)
	return found, true
}

// holder returns the process that has a file open, 0 for none that can be looked at.
func holder(link string) int {
	processes, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer processes.Close() //nolint:errcheck // it is only read
	names, _ := processes.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		dir, err := os.Open("/proc/" + name + "/fd")
		if err != nil {
			continue // another user's, or gone
		}
		files, _ := dir.Readdirnames(-1)
		_ = dir.Close()
		for _, f := range files {
			if to, err := os.Readlink("/proc/" + name + "/fd/" + f); err == nil && to == link {
				return pid
			}
		}
	}
	return 0
}

// seen are the programs that were found lately: looking through all processes takes some
// ten milliseconds, and a program that registers a hundred tools is asked for each time.
var seen = found{all: map[uint64]foundAt{}}

// How long, and how many of them.
const (
	foundTime = 5 * time.Second
	maxFound  = 256
)

type foundAt struct {
	program Program
	at      time.Time
}

// found are programs by the inode of their socket. It is safe for concurrent use.
type found struct {
	mu  sync.Mutex // guards all
	all map[uint64]foundAt
}

func (f *found) get(inode uint64) (Program, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.all[inode]
	return one.program, ok && time.Since(one.at) < foundTime
}

func (f *found) put(inode uint64, p Program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) >= maxFound {
		clear(f.all)
	}
	f.all[inode] = foundAt{p, time.Now()}
}

// maxName bounds a program's name, in characters.
const maxName = 80

// nameOf returns the name of a process: that of its program, and of the script that it
// runs.
func nameOf(process string) string {
	raw, err := os.ReadFile(filepath.Join(process, "cmdline"))
	if err != nil || len(raw) == 0 {
		raw, _ = os.ReadFile(filepath.Join(process, "comm"))
	}
	words := strings.Split(strings.TrimRight(string(raw), "\x00\n"), "\x00")
	name := filepath.Base(words[0])
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && filepath.Ext(word) != "" {
			name += " " + filepath.Base(word)
			break
		}
	}
	return shorten.After(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(name, "")), maxName)
}
