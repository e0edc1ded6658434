package confine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"conclave/app/plugin/sandbox"

	"golang.org/x/sys/unix"
)

// A process opens files by itself, with openat, as far as Landlock lets it, and nobody
// looks on. What it may not open it can ask for with openat2, which hardly a library
// uses: that call is answered here. Links are followed once, the person is asked about
// where they lead, and that is opened without following any; the process gets the open
// file, so that nothing it changes meanwhile counts.

// CanOpen reports whether the launcher can open files for a process here. Without
// Landlock it has all of them anyway.
var CanOpen = sync.OnceValue(func() bool { return CanHold() && landlockVersion() > 0 })

// maxOpenings bounds what one process asks for at once; further calls fail.
const maxOpenings = 16

// openings answers the openat2 of one process.
type openings struct {
	listener listening
	ask      func(ctx context.Context, path string, write bool) sandbox.Opening
	slots    chan struct{}
	under    sync.WaitGroup
}

// begin answers one call, which may take as long as a person is asked.
func (o *openings) begin(ctx context.Context, n notice) {
	if o.slots == nil {
		o.slots = make(chan struct{}, maxOpenings)
	}
	select {
	case o.slots <- struct{}{}:
		o.under.Go(func() { // ends with the answer, or with ctx
			defer func() { <-o.slots }()
			o.answer(ctx, n)
		})
	default:
		send(o.listener, n, 0, unix.EMFILE)
	}
}

func (o *openings) wait() { o.under.Wait() }

// openHow is struct open_how (linux/openat2.h).
type openHow struct{ flags, mode, resolve uint64 }

const (
	// openFlags may be asked for; others are left to the system.
	openFlags = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC | unix.O_APPEND | unix.O_DIRECTORY |
		unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	// writeFlags change something.
	writeFlags = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND
	// modes bounds those that a file is made with.
	modes = 0o666
)

// answer answers one call: it is as the system has it, refused, or the file is put into
// the process.
func (o *openings) answer(ctx context.Context, n notice) {
	path, how, ok := o.asked(n)
	if !ok {
		send(o.listener, n, unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE, nil) // Landlock decides
		return
	}
	write := how.flags&writeFlags != 0
	switch o.ask(ctx, path, write) {
	case sandbox.NotAsked:
		send(o.listener, n, unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE, nil)
	case sandbox.Opened:
		file, err := openExactly(path, how)
		if err != nil {
			send(o.listener, n, 0, err)
			return
		}
		o.give(n, file, how)
		_ = unix.Close(file)
	default:
		send(o.listener, n, 0, unix.EACCES)
	}
}

// asked returns what a call asks for, links resolved; ok is false for what is left to the
// system.
func (o *openings) asked(n notice) (path string, how openHow, ok bool) {
	var raw [unsafe.Sizeof(openHow{})]byte
	if n.arguments[3] != uint64(len(raw)) {
		return "", how, false
	}
	if _, err := readMemory(int(n.pid), uintptr(n.arguments[2]), raw[:]); err != nil {
		return "", how, false
	}
	how = openHow{
		binary.NativeEndian.Uint64(raw[0:]), binary.NativeEndian.Uint64(raw[8:]), binary.NativeEndian.Uint64(raw[16:]),
	}
	named, err := readText(int(n.pid), uintptr(n.arguments[1]))
	if err != nil || !waits(o.listener, n) || how.resolve != 0 || how.flags&^openFlags != 0 || how.mode&^0o7777 != 0 ||
		how.flags&unix.O_ACCMODE == unix.O_ACCMODE {
		return "", how, false
	}
	path, err = real(named, how.flags&unix.O_CREAT != 0)
	return path, how, err == nil
}

// ownPlaces show another thing to each process, or are no files.
var ownPlaces = []string{"/proc", "/sys", "/dev", "/run"}

// real follows the links of a path once. With makes, its last part may be missing, and is
// then no link.
func real(named string, makes bool) (string, error) {
	named = strings.TrimSuffix(named, "/")
	if !filepath.IsAbs(named) || slices.ContainsFunc(ownPlaces, func(place string) bool {
		return named == place || strings.HasPrefix(named, place+"/")
	}) {
		return "", unix.EACCES
	}
	path, err := filepath.EvalSymlinks(named)
	if errors.Is(err, fs.ErrNotExist) && makes {
		if _, is := os.Lstat(named); !errors.Is(is, fs.ErrNotExist) || filepath.Base(named) == ".." {
			return "", unix.EACCES // a link to nothing
		}
		path, err = filepath.EvalSymlinks(filepath.Dir(named))
		path = filepath.Join(path, filepath.Base(named))
	}
	return path, err
}

// openExactly opens the file or folder of a path that holds no link, and nothing else.
func openExactly(path string, how openHow) (int, error) {
	// Without O_NONBLOCK it could wait for whoever writes into a pipe.
	exact := unix.OpenHow{
		Flags:   how.flags | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	if how.flags&unix.O_CREAT != 0 {
		exact.Mode = how.mode & modes
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &exact)
	if err != nil {
		return -1, err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	if kind := stat.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFDIR {
		_ = unix.Close(fd)
		return -1, unix.EACCES
	}
	if how.flags&unix.O_NONBLOCK == 0 {
		if err := unix.SetNonblock(fd, false); err != nil {
			_ = unix.Close(fd)
			return -1, err
		}
	}
	return fd, nil
}

// addition is struct seccomp_notif_addfd (linux/seccomp.h).
type addition struct {
	id       uint64
	flags    uint32
	from     uint32
	to       uint32
	newFlags uint32
}

// give puts an open file into the process, as the answer of its call.
func (o *openings) give(n notice, file int, how openHow) {
	a := addition{id: n.id, flags: unix.SECCOMP_ADDFD_FLAG_SEND, from: uint32(file)}
	if how.flags&unix.O_CLOEXEC != 0 {
		a.newFlags = unix.O_CLOEXEC
	}
	put(o.listener, n, a)
}

// put puts a descriptor into the process, as the answer of its call.
func put(listener listening, n notice, a addition) {
	var failed error
	err := listener.Control(func(fd uintptr) {
		failed = control(fd, unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&a))
	})
	if err == nil && failed != nil {
		send(listener, n, 0, failed) // older than Linux 5.14, or it has too many open
	}
}

// readText reads a text that ends with a zero byte, as long as a path may be.
func readText(pid int, at uintptr) (string, error) {
	const page = 4096
	text := make([]byte, 0, 256)
	for len(text) < unix.PathMax {
		part := make([]byte, min(page-int(at%page), unix.PathMax-len(text))) // a page may be the last
		if _, err := readMemory(pid, at, part); err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(text, part[:end]...)), nil
		}
		text, at = append(text, part...), at+uintptr(len(part))
	}
	return "", unix.ENAMETOOLONG
}
