package confine

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"conclave/app/plugin/sandbox"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// landlockVersion returns the kernel's Landlock ABI version, 0 for none.
func landlockVersion() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// What is granted of a path. Rights a kernel does not know are left out.
const (
	readRights    = ll.AccessFSReadFile | ll.AccessFSReadDir
	executeRights = readRights | ll.AccessFSExecute
	// No devices are made, and no sockets or pipes to meet others at.
	writeRights = readRights | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRefer |
		ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSMakeSym | ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
	// fileRights are those that a rule about a file may hold; the kernel refuses
	// the others there.
	fileRights = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSExecute
)

// devices are the files that every program expects to be there. None of them leads
// anywhere; the terminal (/dev/tty) is not among them.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// deviceRights let a program read and write them: what is written to any but null
// and full only stirs the kernel's randomness.
const deviceRights = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate

// handled returns what a ruleset of a version takes away: all rights it knows
// (linux/landlock.h).
func handled(version int, anywhere bool) ll.RulesetAttr {
	var a ll.RulesetAttr
	switch {
	case version >= 9:
		a.HandledAccessFS = 1<<17 - 1 // and connecting to sockets that have a path
	case version >= 5:
		a.HandledAccessFS = 1<<16 - 1 // and ioctl on devices
	case version >= 3:
		a.HandledAccessFS = 1<<15 - 1 // and truncation
	case version == 2:
		a.HandledAccessFS = 1<<14 - 1 // and moving between folders
	default:
		a.HandledAccessFS = 1<<13 - 1
	}
	if version >= tcpVersion && !anywhere {
		a.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
		if version >= 10 {
			a.HandledAccessNet = 1<<4 - 1 // and UDP
		}
	}
	if version >= 6 {
		a.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	return a
}

// ownFigures is the file with how much memory and time a process uses itself. Node reads it when a program asks for
// its memory, and throws an error without it. Node, Python, Go and Java start without it, and open neither statm nor
// status.
const ownFigures = "/proc/self/stat"

// newRuleset makes the Landlock ruleset of spec and returns its descriptor; the
// folders in lists may be listed besides. Paths that do not exist are passed over:
// there is nothing to open.
func newRuleset(spec sandbox.Spec, version int, lists ...string) (int, error) {
	attr := handled(version, spec.Sockets && spec.Proxy == "" && !spec.Listens)
	fd, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return -1, fmt.Errorf("make the Landlock rules: %w", err)
	}
	grants := map[string]uint64{}
	for rights, paths := range map[uint64][]string{
		ll.AccessFSReadDir: lists, readRights: spec.Read, executeRights: spec.Execute, writeRights: spec.Write,
	} {
		for _, path := range paths {
			grants[path] |= rights & attr.HandledAccessFS
		}
	}
	for _, path := range devices {
		grants[path] |= deviceRights & attr.HandledAccessFS
	}
	if spec.Kind == "command" {
		grants[ownFigures] |= readRights & attr.HandledAccessFS
	}
	for path, rights := range grants {
		if err := allow(fd, path, rights, slices.Contains(spec.Exact, path)); err != nil {
			_ = unix.Close(fd)
			return -1, fmt.Errorf("let the plugin use %s: %w", path, err)
		}
	}
	if err := allowProxy(fd, spec, version); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// tcpVersion is the first version with rules about TCP.
const tcpVersion = 4

// allowProxy lets a process connect to its proxy where the launcher does not do that
// for it. Such a rule knows ports and no addresses.
func allowProxy(ruleset int, spec sandbox.Spec, version int) error {
	if !spec.Sockets || spec.Proxy == "" || spec.Held || version < tcpVersion {
		return nil
	}
	at, err := netip.ParseAddrPort(spec.Proxy)
	if err == nil {
		err = ll.LandlockAddNetPortRule(ruleset,
			&ll.NetPortAttr{AllowedAccess: ll.AccessNetConnectTCP, Port: uint64(at.Port())}, 0)
	}
	if err != nil {
		return fmt.Errorf("let the plugin use its proxy: %w", err)
	}
	return nil
}

// allow grants what lies at path. With exact, it grants nothing where path leads over a link.
func allow(ruleset int, path string, rights uint64, exact bool) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if slices.ContainsFunc([]error{unix.ENOENT, unix.ENOTDIR, unix.EACCES},
		func(e error) bool { return errors.Is(err, e) }) {
		return nil // it could not be opened anyway
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	// What was opened tells where it lies, and nobody can change that any more.
	if at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); exact && (err != nil || at != path) {
		return nil
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	return ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: rights}, 0)
}
