package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"conclave/app/record/undo"

	"golang.org/x/sys/unix"
)

// The kernel stops a program at each system call that changes files and asks the
// test what to do: go on, fail, or never return because the program is killed.
// So the commands that must be atomic are tried with a fault at every one of
// their steps, in the program as it ships.

// launchVar makes the test binary a launcher: it puts the filter up, passes its
// listener through descriptor 3, and becomes the program of its arguments.
const launchVar = "CONCLAVE_EACH_CALL"

func init() {
	if os.Getenv(launchVar) == "" {
		return
	}
	fmt.Fprintln(os.Stderr, launch())
	os.Exit(99)
}

// launch does not return unless it fails.
func launch() error {
	runtime.LockOSThread() // the filter is this thread's, which execs
	program := changing()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	unix.CloseOnExec(3)
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, launchVar+"=") {
			env = append(env, v)
		}
	}
	return unix.Exec(os.Args[1], os.Args[1:], env)
}

// pathCalls change what a path in their first, or with an at in their name
// second, argument names.
var pathCalls = map[uint32]string{
	unix.SYS_RENAME: "rename", unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_LINK: "link",
	unix.SYS_LINKAT: "linkat",
	unix.SYS_UNLINK: "unlink", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_RMDIR: "rmdir", unix.SYS_MKDIR: "mkdir",
	unix.SYS_MKDIRAT:   "mkdirat",
	unix.SYS_SYMLINKAT: "symlinkat", unix.SYS_CHMOD: "chmod", unix.SYS_FCHMODAT: "fchmodat", unix.SYS_OPENAT: "openat",
}

// fileCalls change the file of the descriptor in their first argument;
// copy_file_range that in its third.
var fileCalls = map[uint32]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "write", unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync",
	unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_FALLOCATE: "fallocate", unix.SYS_FCHMOD: "fchmod", unix.SYS_COPY_FILE_RANGE: "write",
}

// changing is a filter that stops at the calls above, and at openat only where it
// may make or empty a file.
func changing() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	const allow, ask = 0x7fff0000, 0x7fc00000 // SECCOMP_RET_ALLOW, SECCOMP_RET_USER_NOTIF
	p := []unix.SockFilter{load(0)}
	for _, calls := range []map[uint32]string{pathCalls, fileCalls} {
		for nr := range calls {
			if nr != unix.SYS_OPENAT {
				p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: nr}, answer(ask))
			}
		}
	}
	return append(p,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: unix.SYS_OPENAT},
		load(16+2*8), // the flags
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: unix.O_CREAT | unix.O_TRUNC},
		answer(ask),
		answer(allow))
}

// notice is struct seccomp_notif (linux/seccomp.h).
type notice struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	arguments  [6]uint64
}

// reply is struct seccomp_notif_resp.
type reply struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

const (
	notifyReceive  = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	notifySend     = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
	notifyContinue = 1          // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// faulty is one run of the program with a fault at one of its steps.
type faulty struct {
	dir   string // where it is run; "" is here
	below string // only files below this folder count
	at    int    // the step, from 1
	kill  bool   // the program is killed there; otherwise the call fails with EIO

	step  int    // how many steps there were
	last  string // the step before, as reached has it
	what  string // the step with the fault: "rename conclave.db.restoring"
	out   bytes.Buffer
	errs  bytes.Buffer
	state *os.ProcessState
}

// run runs the program to its end. The error says that this cannot be done here.
func (f *faulty) run(ctx context.Context, env []string, args ...string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	mine, theirs := os.NewFile(uintptr(pair[0]), "mine"), os.NewFile(uintptr(pair[1]), "theirs")
	defer mine.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{program}, args...)...)
	// A signal of Go's own would have a call asked about twice.
	cmd.Env = append(env, launchVar+"=1", "GODEBUG=asyncpreemptoff=1")
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{theirs}, &f.out, &f.errs
	cmd.Dir, cmd.WaitDelay = f.dir, 10*time.Second
	if err := cmd.Start(); err != nil {
		return errors.Join(err, theirs.Close())
	}
	if err := theirs.Close(); err != nil {
		return err
	}
	listener, err := receive(pair[0])
	if err != nil {
		_ = cmd.Wait()
		return fmt.Errorf("%w: %s", err, f.errs.String())
	}
	over := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() { f.serve(listener, cmd.Process, over) }) // ends with over
	_ = cmd.Wait()                                              // the status is in cmd.ProcessState
	f.state = cmd.ProcessState
	close(over)
	serving.Wait()
	return unix.Close(listener)
}

// receive takes the listener that launch sends.
func receive(fd int) (int, error) {
	data, control := make([]byte, 1), make([]byte, 64)
	_, n, _, _, err := unix.Recvmsg(fd, data, control, 0)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(err, errors.New("no listener came"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, errors.Join(err, errors.New("no listener came"))
	}
	return fds[0], nil
}

// serve answers for each call until the program is over.
func (f *faulty) serve(listener int, p *os.Process, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		ready := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 50); n == 0 || err != nil || ready[0].Revents&unix.POLLIN == 0 {
			continue
		}
		var n notice
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), notifyReceive,
			uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // whoever asked is gone
		}
		answer := reply{id: n.id, flags: notifyContinue}
		if what, ok := f.reached(n, p.Pid); ok {
			f.what = what
			if f.kill {
				_ = p.Kill()
				continue
			}
			answer.flags, answer.errno = 0, -int32(unix.EIO)
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), notifySend, uintptr(unsafe.Pointer(&answer)))
	}
}

// reached describes what a call does, and whether the fault is due there. Writes to
// one file that follow one another are one step.
func (f *faulty) reached(n notice, pid int) (string, bool) {
	if !ofProcess(int(n.pid), pid) {
		return "", false // a plugin's process has faults of its own
	}
	var name, path string
	if call, ok := fileCalls[uint32(n.nr)]; ok {
		fd := n.arguments[0]
		if n.nr == unix.SYS_COPY_FILE_RANGE {
			fd = n.arguments[2]
		}
		name = call
		path, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.pid, fd))
	} else {
		name = pathCalls[uint32(n.nr)]
		at := n.arguments[0]
		if strings.Contains(name, "at") && name != "chmod" {
			at = n.arguments[1]
		}
		path = textAt(int(n.pid), at)
		if !filepath.IsAbs(path) { // below a folder that is open
			base, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.arguments[0])))
			path = filepath.Join(base, path)
		}
	}
	rel, err := filepath.Rel(f.below, path)
	if err != nil || !filepath.IsLocal(rel) || strings.Contains(rel, "logs") {
		return "", false
	}
	if _, err := os.Lstat(path); err != nil && (strings.HasPrefix(name, "unlink") || name == "rmdir") {
		return "", false // there is nothing to remove
	}
	what := name + " " + rel
	if f.last == what && name == "write" {
		return "", false
	}
	f.last = what
	f.step++
	return what, f.step == f.at
}

// ofProcess reports whether a thread belongs to a process.
func ofProcess(thread, pid int) bool {
	if thread == pid {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", pid, thread))
	return err == nil
}

// textAt reads a path out of another process.
func textAt(pid int, at uint64) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer memory.Close()
	b := make([]byte, 4096)
	n, _ := memory.ReadAt(b, int64(at))
	path, _, _ := bytes.Cut(b[:n], []byte{0})
	return string(path)
}

// atomic is a command that is tried with a fault at each step.
type atomic struct {
	// prepare makes a world below dir and returns the command's words; it is
	// copied for every run.
	prepare func(t *testing.T, w world) []string
	// check looks at the world after a fault. done says that the command itself
	// ended well.
	check func(t *testing.T, w world, done bool)
	// begin prepares what does not survive copying, as absolute paths; nil has nothing such.
	begin func(t *testing.T, w world)
}

// world is a folder with data and plugins.
type world struct{ dir string }

func (w world) path(name string) string { return filepath.Join(w.dir, name) }

func (w world) env() []string {
	return append(os.Environ(), "HOME="+w.path("home"), "CONCLAVE_DATA="+w.path("data"),
		"CONCLAVE_PLUGINS="+w.path("plugins"),
		"CONCLAVE_PASSPHRASE=for tests", "DBUS_SESSION_BUS_ADDRESS=disabled:")
}

// conclave runs the program without a fault and returns what it printed and its
// status.
func (w world) conclave(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env, cmd.Dir = w.env(), w.dir
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// again returns a copy of the world. What is unpacked in it, which nobody changes, is there by another
// name: with other times, each Python would compile it anew.
func (w world) again(t *testing.T) world {
	t.Helper()
	c := world{t.TempDir()}
	unpacked := w.path("data/runtime") + "/"
	must(t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		to := c.dir + strings.TrimPrefix(path, w.dir)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(to, 0o700)
		case strings.HasPrefix(path, unpacked):
			return os.Link(path, to)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	}))
	return c
}

// must runs the program and wants it to end well.
func (w world) must(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, status := w.conclave(t, args...)
	if status != 0 {
		t.Fatalf("conclave %s ended with %d: %s", strings.Join(args, " "), status, errs)
	}
	return out
}

func (w world) write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(w.path(name)), 0o700))
	must(t, os.WriteFile(w.path(name), []byte(text), 0o600))
}

const (
	firstVersion = "spindle.registerTool({ name: \"version\", description: \"The version: 1.\", parameters: { type: " +
		"\"object\", properties: {} } })\n"
	secondVersion = "spindle.registerTool({ name: \"version\", description: \"The version: 2.\", parameters: { type: " +
		"\"object\", properties: {} } })\n"
)

// sentence wants what a person is told to say what to do, and to be no accident.
func sentence(t *testing.T, errs string) {
	t.Helper()
	if !strings.HasPrefix(errs, "conclave: ") || strings.Contains(errs, "did not expect") ||
		strings.Count(errs, ".") == 0 {
		t.Errorf("it said %q", errs)
	}
}

// titles returns the chats, or that the way to them was said.
func titles(t *testing.T, w world) (out string, named bool) {
	t.Helper()
	out, errs, status := w.conclave(t, "chats", "list")
	if status == 0 {
		return out, false
	}
	sentence(t, errs)
	if !strings.Contains(errs, "conclave restore") && !strings.Contains(errs, "conclave --data") {
		t.Errorf("the way back is not named: %q", errs)
	}
	return "", true
}

var atomics = map[string]atomic{
	"restore": {
		func(t *testing.T, w world) []string {
			w.must(t, "prompt", "what was kept")
			w.must(t, "backup", "copy.db")
			w.must(t, "prompt", "what came later")
			return []string{"restore", "copy.db"}
		},
		func(t *testing.T, w world, done bool) {
			out, named := titles(t, w)
			switch {
			case named || done && strings.Contains(out, "later"):
				t.Errorf("done %v, and the chats are %q", done, out)
			case !strings.Contains(out, "what was kept"):
				t.Errorf("the store is empty: %q", out)
			}
			if left, _ := filepath.Glob(w.path("data/conclave.db.restoring")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		}, nil,
	},
	"restore where there is no store": {
		func(t *testing.T, w world) []string {
			w.must(t, "--data", w.path("other"), "prompt", "what was kept")
			w.must(t, "--data", w.path("other"), "backup", "copy.db")
			return []string{"restore", "copy.db"}
		},
		func(t *testing.T, w world, done bool) {
			_, err := os.Stat(w.path("data/conclave.db.restoring"))
			begun := err == nil
			out, named := titles(t, w)
			if (begun || done) && !named && !strings.Contains(out, "what was kept") {
				t.Errorf("the store is empty, done %v: %q", done, out)
			}
			if named {
				w.must(t, "restore", "copy.db")
				if out := w.must(t, "chats", "list"); !strings.Contains(out, "what was kept") {
					t.Errorf("the way back leads to %q", out)
				}
			}
		}, nil,
	},
	"backup": {
		func(t *testing.T, w world) []string {
			w.must(t, "prompt", "what was kept")
			return []string{"backup", "copy.db"}
		},
		func(t *testing.T, w world, done bool) {
			if out := w.must(t, "chats", "list"); !strings.Contains(out, "what was kept") {
				t.Errorf("the store is empty: %q", out)
			}
			if _, err := os.Stat(w.path("copy.db")); err != nil {
				if done {
					t.Error("it said that there is a copy")
				}
				w.must(t, "backup", "copy.db")
			}
			if out := w.must(t, "restore", "copy.db"); !strings.Contains(out, "as it was in") {
				t.Errorf("the copy is not whole: %q", out)
			}
		}, nil,
	},
	"chats import": {
		func(t *testing.T, w world) []string {
			w.must(t, "prompt", "what was kept")
			w.write(t, "chat.json",
				`{"format":"conclave-chat/1","conversation":{"title":"imported"},"messages":[{"seq":1,"role":"user","parts":[{"kind":"text","text":"one"}]},{"seq":2,"parent":1,"role":"assistant","parts":[{"kind":"text","text":"two"}]}]}`)
			return []string{"chats", "import", w.path("chat.json")}
		},
		func(t *testing.T, w world, done bool) {
			var chats []struct {
				Title    string
				Messages int
			}
			must(t, json.Unmarshal([]byte(w.must(t, "chats", "list", "--json")), &chats))
			imported := 0
			for _, c := range chats {
				if c.Title == "imported" {
					if imported++; c.Messages != 2 {
						t.Errorf("a part of it is there: %+v", chats)
					}
				}
			}
			if imported > 1 || len(chats)-imported != 1 || done && imported != 1 {
				t.Errorf("done %v, and the chats are %+v", done, chats)
			}
		}, nil,
	},
	"plugins add": {
		func(t *testing.T, w world) []string {
			w.write(t, "from/versions.js", firstVersion)
			w.must(t, "plugins", "list")
			return []string{"plugins", "add", w.path("from/versions.js")}
		},
		func(t *testing.T, w world, done bool) {
			out := w.must(t, "plugins", "list")
			text, err := os.ReadFile(w.path("plugins/versions.js"))
			there := err == nil
			if there != strings.Contains(out, "versions") || there && string(text) != firstVersion || done && !there {
				t.Errorf("done %v, the file holds %q, and the list is %q", done, text, out)
			}
			nothingStaged(t, w)
		}, nil,
	},
	"plugins update": {
		func(t *testing.T, w world) []string {
			w.write(t, "from/versions.js", firstVersion)
			w.must(t, "plugins", "add", w.path("from/versions.js"))
			w.write(t, "from/versions.js", secondVersion)
			return []string{"plugins", "update", "versions"}
		},
		func(t *testing.T, w world, done bool) {
			if out := w.must(t, "plugins", "list"); !strings.Contains(out, "versions") {
				t.Errorf("the plugin is missing: %q", out)
			}
			text, err := os.ReadFile(w.path("plugins/versions.js"))
			if err != nil || string(text) != secondVersion && (done || string(text) != firstVersion) {
				t.Errorf("done %v, and the file holds %q, %v", done, text, err)
			}
			nothingStaged(t, w)
		}, nil,
	},
	"first start": {
		func(*testing.T, world) []string { return []string{"--plugins", "", "chats", "list"} },
		func(t *testing.T, w world, _ bool) {
			if out := w.must(t, "--plugins", "", "chats", "list"); !strings.Contains(out, "There are no chats") {
				t.Errorf("the first chats are %q", out)
			}
			came, err := filepath.Glob(filepath.Join("..", "..", "..", "plugins", "*.[jp][sy]"))
			lie, _ := filepath.Glob(w.path("data/plugins/*.[jp][sy]"))
			if err != nil || len(came) == 0 || len(lie) != len(came) {
				t.Errorf("of %v only %v are there", came, lie)
			}
		}, nil,
	},
	"undo in a folder": turned("notes", "undo"),
	"redo of a file":   turned("notes/diary.txt", "redo"),
}

// turned tries undoing or redoing what a call changed where its plugin was given a folder or a file.
func turned(given, command string) atomic {
	const before, after = "what was there\n", "what the call wrote, which is longer\n"
	ctx := context.Background()
	keeper := func(w world) *undo.Keeper { return undo.Open(undo.Options{Dir: w.path("data/undo")}) }
	text := func(t *testing.T, w world) string {
		t.Helper()
		text, err := os.ReadFile(w.path("notes/diary.txt"))
		must(t, err)
		return string(text)
	}
	return atomic{
		func(t *testing.T, w world) []string {
			w.must(t, "chats", "list")
			return []string{"activity", command, "1"}
		},
		func(t *testing.T, w world, done bool) {
			want := map[string]string{"undo": before, "redo": after}[command]
			if got := text(t, w); got != before && got != after || done && got != want {
				t.Errorf("done %v, and the file holds %q", done, got)
			}
			k := keeper(w)
			defer k.Close()
			usage, err := k.Usage(ctx)
			must(t, err)
			if len(usage.Sets) != 1 {
				t.Fatalf("kept is %+v", usage.Sets)
			}
			set := usage.Sets[0]
			if set.Undone.IsZero() || set.Unfinished {
				_, err = k.Undo(ctx, "1")
				must(t, err)
			}
			if got := text(t, w); got != before {
				t.Errorf("after undoing it holds %q", got)
			}
			_, err = k.Redo(ctx, "1")
			must(t, err)
			if got := text(t, w); got != after {
				t.Errorf("after redoing it holds %q", got)
			}
			if left, _ := filepath.Glob(w.path("notes/*.conclave-part")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		},
		func(t *testing.T, w world) {
			w.write(t, "notes/diary.txt", before)
			k := keeper(w)
			watch, err := k.Begin(ctx, undo.Call{ID: 1, Plugin: "keeper"}, []string{w.path(given)})
			must(t, err)
			w.write(t, "notes/diary.txt", after)
			_, err = watch.End()
			must(t, err)
			if command == "redo" {
				_, err = k.Undo(ctx, "1")
				must(t, err)
			}
			k.Close()
		},
	}
}

func nothingStaged(t *testing.T, w world) {
	t.Helper()
	if left, _ := filepath.Glob(w.path("data/adding-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestAFaultAtAnySystemCallLosesNothingInSilence runs restore, backup, plugins add,
// plugins update and the first start once for each of their system calls that
// changes a file: killed there, and with an error of the disk there.
func TestAFaultAtAnySystemCallLosesNothingInSilence(t *testing.T) {
	probe := faulty{below: t.TempDir()}
	if err := probe.run(t.Context(), os.Environ(), "version"); err != nil {
		t.Skipf("the kernel does not let a test answer for system calls here: %v", err)
	}
	for name, a := range atomics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := world{t.TempDir()}
			args := a.prepare(t, made)
			steps := 0
			for _, kill := range []bool{true, false} {
				for at := 1; ; at++ {
					w := made.again(t)
					if a.begin != nil {
						a.begin(t, w)
					}
					words := make([]string, len(args))
					for i, word := range args {
						words[i] = strings.ReplaceAll(word, made.dir, w.dir)
					}
					f := faulty{dir: w.dir, below: w.dir, at: at, kill: kill}
					must(t, f.run(t.Context(), w.env(),
						append([]string{"--data", w.path("data")}, words...)...))
					if f.what == "" {
						steps = max(steps, at-1)
						break // there are no more steps
					}
					t.Run(strconv.Itoa(at)+" "+f.what+map[bool]string{true: " killed", false: " EIO"}[kill], func(t *testing.T) {
						done := f.state.Success()
						if !kill && !done {
							sentence(t, f.errs.String())
						}
						a.check(t, w, done)
					})
					_ = os.RemoveAll(w.dir)
				}
			}
			t.Logf("%d steps", steps)
			if steps < 5 {
				t.Errorf("only %d steps were seen", steps)
			}
		})
	}
}

// TestAKillAtAnySystemCallOfATurnIsVisibleInTheChat kills a turn with one call of a
// tool at each of its system calls that changes the store's folder.
func TestAKillAtAnySystemCallOfATurnIsVisibleInTheChat(t *testing.T) {
	probe := faulty{below: t.TempDir()}
	if err := probe.run(t.Context(), os.Environ(), "version"); err != nil {
		t.Skipf("the kernel does not let a test answer for system calls here: %v", err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	made := world{t.TempDir()}
	made.write(t, "plugins/ran.py",
		"import os\ndef mark() -> str:\n    \"\"\"Leave a mark.\"\"\"\n    open(os.path.expanduser('~/ran'), "+
			"'w').close()\n    return 'marked'\n")
	made.must(t, "plugins", "trust", "ran")
	seen := map[string]int{}
	for at := 1; ; at++ {
		w := made.again(t)
		f := faulty{dir: w.dir, below: w.path("data"), at: at, kill: true}
		must(t, f.run(t.Context(), w.env(), "--data", w.path("data"), "prompt", "--approve", "always",
			"/tool mark {}"))
		if f.what == "" {
			break
		}
		seen[leftOf(t, w, strconv.Itoa(at)+" "+f.what)]++
		_ = os.RemoveAll(w.dir)
	}
	t.Logf("%v", seen)
	for _, moment := range []string{"nothing", "cut off, not called", "cut off, called"} {
		if seen[moment] == 0 {
			t.Errorf("no kill left a chat that was %q", moment)
		}
	}
}

// leftOf says what a killed turn left, and wants a mark of it where it was cut
// off, and its call where that was made.
func leftOf(t *testing.T, w world, step string) string {
	t.Helper()
	var chats []struct{ ID string }
	must(t, json.Unmarshal([]byte(w.must(t, "chats", "list", "--json")), &chats))
	_, err := os.Stat(w.path("data/storage/ran/ran"))
	called := err == nil
	if len(chats) == 0 {
		if called {
			t.Errorf("%s: the tool was called, and there is no chat", step)
		}
		return "nothing"
	}
	var shown struct {
		Messages []struct {
			Role, State, Reason string
			Parts               []struct{ Kind string }
		}
	}
	must(t, json.Unmarshal([]byte(w.must(t, "chats", "show", chats[0].ID, "--json")), &shown))
	if len(shown.Messages) == 0 {
		return "nothing"
	}
	asked := false
	for _, m := range shown.Messages {
		for _, p := range m.Parts {
			asked = asked || p.Kind == "tool_call"
		}
	}
	last := shown.Messages[len(shown.Messages)-1]
	cut := last.State == "interrupted" || last.Reason == "interrupted"
	switch {
	case called && !asked:
		t.Errorf("%s: the tool was called, and the chat has no call: %+v", step, shown)
	case !cut && last.Reason != "done":
		t.Errorf("%s: nothing says that the turn was cut off: %+v", step, shown)
	case cut && called:
		return "cut off, called"
	case cut:
		return "cut off, not called"
	}
	return "done"
}
