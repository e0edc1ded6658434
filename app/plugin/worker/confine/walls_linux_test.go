package confine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"conclave/app/plugin/sandbox"
	"conclave/app/test/testkit"

	"golang.org/x/sys/unix"
)

var must = testkit.Must

// The test binary plays the child: "exec" becomes the program of the spec, "self"
// confines itself and runs the probes. The second argument is the Landlock
// version to pretend, or -1.
func TestMain(m *testing.M) {
	if len(os.Args) != 3 || (os.Args[1] != "exec" && os.Args[1] != "self") {
		os.Exit(m.Run())
	}
	spec, err := ReadSpec()
	if err != nil {
		fail(err)
	}
	version := landlockVersion()
	if os.Args[2] == "none" {
		version = 0
	}
	if os.Args[1] == "exec" {
		fail(execute(spec, version))
	}
	_ = time.Now().Local().String() // the zone is read while it can be
	if err := self(spec, version); err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(probe(spec)); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// child runs the test binary as a child and returns what it printed.
func child(t *testing.T, mode, landlock string, spec sandbox.Spec) string {
	t.Helper()
	out, err := run(t, mode, landlock, spec)
	if err != nil {
		t.Fatalf("the child failed: %v\n%s", err, out)
	}
	return out
}

func run(t *testing.T, mode, landlock string, spec sandbox.Spec) (string, error) {
	t.Helper()
	if spec.Memory == 0 {
		spec.Memory = testMemory
	}
	r, w, err := os.Pipe()
	must(t, err)
	defer func() { _ = r.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], mode, landlock)
	cmd.ExtraFiles = []*os.File{r}
	cmd.Env = []string{}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	must(t, WriteSpec(w, spec))
	_ = w.Close()
	err = cmd.Wait()
	return out.String(), err
}

// probe tries what a confined Go process may want, and says what came of it.
func probe(spec sandbox.Spec) map[string]string {
	results := map[string]string{}
	try := func(name string, do func() error) {
		if err := do(); err != nil {
			results[name] = "refused: " + err.Error()
		} else {
			results[name] = "done"
		}
	}
	system := func(call uintptr, args ...uintptr) error {
		args = append(args, 0, 0, 0, 0, 0, 0)
		if _, _, e := unix.Syscall6(call, args[0], args[1], args[2], args[3], args[4], args[5]); e != 0 {
			return e
		}
		return nil
	}
	try("read /etc/passwd", func() error { _, err := os.ReadFile("/etc/passwd"); return err })
	try("list /", func() error { _, err := os.ReadDir("/"); return err })
	try("read /proc/1/status", func() error { _, err := os.ReadFile("/proc/1/status"); return err })
	try("read what is listed", func() error { _, err := os.ReadFile(spec.Read[0]); return err })
	try("write what is listed for reading", func() error { return os.WriteFile(spec.Read[0], []byte("x"), 0o600) })
	try("write elsewhere", func() error { return os.WriteFile(spec.Read[0]+".new", []byte("x"), 0o600) })
	for _, dir := range spec.Write {
		try("write its own", func() error { return os.WriteFile(filepath.Join(dir, "x"), []byte("x"), 0o600) })
		try("rename in its own", func() error { return os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "y")) })
		try("remove its own", func() error { return os.Remove(filepath.Join(dir, "y")) })
	}
	try("tcp", func() error { c, err := net.Dial("tcp", "127.0.0.1:1"); return closed(c, err) })
	try("udp", func() error { c, err := net.Dial("udp", "127.0.0.1:1"); return closed(c, err) })
	try("unix socket", func() error { c, err := net.Dial("unix", "/run/x"); return closed(c, err) })
	try("netlink", func() error { return system(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, 0) })
	try("mptcp", func() error { return system(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 262) })
	try("listen", func() error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			_ = l.Close()
		}
		return err
	})
	try("exec", func() error { return exec.Command("/bin/true").Run() })
	try("exec in place", func() error { return syscall.Exec("/bin/nonexistent", []string{"x"}, nil) })
	try("fork", func() error { return system(unix.SYS_CLONE, uintptr(unix.SIGCHLD)) })
	try("clone3", func() error { return system(unix.SYS_CLONE3, 0, 0) })
	try("ptrace", func() error { return system(unix.SYS_PTRACE, unix.PTRACE_TRACEME) })
	try("io_uring", func() error { return system(unix.SYS_IO_URING_SETUP, 1, 0) })
	try("a thread in a namespace", func() error { return system(unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_NEWNS) })
	try("unshare", func() error { return system(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) })
	try("signal the parent", func() error { return unix.Kill(os.Getppid(), 0) })
	try("signal everybody", func() error { return unix.Kill(-1, 0) })
	try("signal itself", func() error { return unix.Kill(os.Getpid(), 0) })
	try("chmod", func() error { return os.Chmod("/etc/hostname", 0o644) })
	try("chown", func() error { return os.Chown("/etc/hostname", 0, 0) })
	try("leave the group", func() error { return system(unix.SYS_SETSID) })
	try("threads", func() error {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				runtime.LockOSThread() // dies with the goroutine: a new thread each
				_ = time.Now().Local()
			})
		}
		wg.Wait()
		return nil
	})
	return results
}

func closed(c net.Conn, err error) error {
	if err == nil {
		_ = c.Close()
	}
	return err
}

// refusal reports an answer of the walls, as against one of the thing itself.
func refusal(answer string) bool {
	return strings.HasPrefix(answer, "refused") &&
		(strings.Contains(answer, "permission denied") || strings.Contains(answer, "not permitted") ||
			strings.Contains(answer, "not implemented"))
}

func TestSelfShutsTheProcessIn(t *testing.T) {
	readable := filepath.Join(t.TempDir(), "plugin.js")
	must(t, os.WriteFile(readable, []byte("x"), 0o644))
	always := []string{
		"read /etc/passwd", "list /", "read /proc/1/status", "write what is listed for reading",
		"write elsewhere", "tcp", "udp",
		"unix socket", "netlink", "mptcp", "listen", "exec", "exec in place", "fork", "clone3", "ptrace", "io_uring",
		"a thread in a namespace", "unshare", "signal the parent",
		"signal everybody", "chown", "leave the group",
	}
	open := []string{"signal itself", "threads"}
	cases := map[string]struct {
		spec     sandbox.Spec
		landlock string
		refused  []string
		done     []string
	}{
		"nothing to write": {sandbox.Spec{Kind: "js"}, "", []string{"chmod"}, []string{"read what is listed"}},
		"a folder to write": {
			sandbox.Spec{Kind: "js", Write: []string{t.TempDir()}},
			"", nil,
			[]string{"read what is listed", "write its own", "rename in its own", "remove its own"},
		},
		"a kernel without Landlock": {sandbox.Spec{Kind: "js"}, "none", []string{"read what is listed", "chmod"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.landlock == "" {
				needLandlock(t)
			}
			c.spec.Read = []string{readable}
			var results map[string]string
			out := child(t, "self", c.landlock, c.spec)
			if err := json.Unmarshal([]byte(out), &results); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, what := range slices.Concat(always, c.refused) {
				if !refusal(results[what]) {
					t.Errorf("%s: %s, want a refusal", what, results[what])
				}
			}
			for _, what := range slices.Concat(open, c.done) {
				if results[what] != "done" {
					t.Errorf("%s: %s, want it done", what, results[what])
				}
			}
		})
	}
}

func TestSocketsAreTheInternetsAlone(t *testing.T) {
	needLandlock(t)
	readable := t.TempDir()
	var results map[string]string
	out := child(t, "self", "", sandbox.Spec{Kind: "js", Sockets: true, Read: []string{readable}})
	if err := json.Unmarshal([]byte(out), &results); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := results["tcp"]; !strings.Contains(got, "connection refused") {
		t.Errorf("tcp: %s, want to have got as far as nobody listening", got)
	}
	for _, what := range []string{"udp", "listen"} {
		if results[what] != "done" {
			t.Errorf("%s: %s, want it done", what, results[what])
		}
	}
	for _, what := range []string{"unix socket", "netlink", "exec", "fork", "read /etc/passwd"} {
		if !refusal(results[what]) {
			t.Errorf("%s: %s, want a refusal", what, results[what])
		}
	}
}

func needLandlock(t *testing.T) {
	t.Helper()
	if landlockVersion() == 0 {
		t.Skip("this kernel has no Landlock")
	}
}

// python describes where the interpreter and what it needs are.
type python struct {
	Executable string
	Read       []string
}

var findPython = sync.OnceValues(func() (python, error) { return askPython("python3") })

// askPython asks an interpreter for its paths.
func askPython(name string) (python, error) {
	out, err := exec.Command(name, "-I", "-S", "-c",
		`import sys, os, sysconfig, json; print(json.dumps([os.path.realpath(getattr(sys, "_base_executable", sys.executable)), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), sys.base_prefix + "/lib"]))`).Output()
	if err != nil {
		return python{}, err
	}
	var paths []string
	if err := json.Unmarshal(out, &paths); err != nil {
		return python{}, err
	}
	return python{
		paths[0], append(paths[1:], "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo"),
	}, nil
}

func pythonSpec(t *testing.T, code string) sandbox.Spec {
	t.Helper()
	needLandlock(t)
	p, err := findPython()
	if err != nil {
		t.Skip("there is no python3 here:", err)
	}
	return specOf(p, code)
}

// specOf is a process that runs code in an interpreter.
func specOf(p python, code string) sandbox.Spec {
	return sandbox.Spec{
		Kind: "command", Argv: []string{p.Executable, "-I", "-S", "-B", "-X", "utf8", "-c", code},
		Env:  []string{"LANG=C.UTF-8"},
		Read: p.Read, Execute: []string{p.Executable, loaderOf(p.Executable)},
	}
}

// attemptWith is how a Python plugin tries something; each line prints one
// result.
const attemptWith = `
import os, sys, errno, ctypes, json
def attempt(name, do):
    try:
        do()
        print(name, "done", sep="\t")
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e.errno), sep="\t")
    except BaseException as e:
        print(name, type(e).__name__ + ": " + str(e), sep="\t")
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    if libc.syscall(*args) == -1:
        raise OSError(ctypes.get_errno(), "")
`

// attempts tries what a Python plugin may try.
const attempts = attemptWith + `
import socket, signal, subprocess, asyncio, threading, tempfile, sqlite3, zoneinfo, decimal
attempt("read /etc/passwd", lambda: open("/etc/passwd"))
attempt("list /", lambda: os.listdir("/"))
attempt("read /proc/self/environ", lambda: open("/proc/self/environ"))
attempt("write elsewhere", lambda: open(sys.argv[1] + "/x", "w"))
attempt("make a folder", lambda: os.mkdir(sys.argv[1] + "/y"))
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", 1), 1))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("unix socket", lambda: socket.socket(socket.AF_UNIX))
attempt("datagram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("ctypes socket", lambda: call(41 if os.uname().machine == "x86_64" else 198, 2, 1, 0))
attempt("subprocess", lambda: subprocess.run(["/bin/true"]))
attempt("os.system", lambda: (_ for _ in ()).throw(OSError(errno.EPERM, "")) if os.system("true") != 0 else None)
attempt("fork", os.fork)
attempt("ptrace", lambda: call(101 if os.uname().machine == "x86_64" else 117, 16, os.getppid(), 0, 0))
attempt("signal the parent", lambda: os.kill(os.getppid(), 0))
attempt("signal init", lambda: os.kill(1, 0))
attempt("signal everybody", lambda: os.kill(-1, 0))
attempt("chown", lambda: os.chown("/etc/hostname", 0, 0))
attempt("setsid", os.setsid)
attempt("nice others", lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 5))
attempt("read a module", lambda: open(json.__file__).read())
attempt("threads", lambda: [t.start() or t.join() for t in [threading.Thread(target=print, args=()) for _ in range(1)]])
attempt("asyncio", lambda: asyncio.run(asyncio.to_thread(lambda: 1)))
attempt("sqlite", lambda: sqlite3.connect(":memory:").execute("select 1").fetchone())
attempt("zones", lambda: zoneinfo.ZoneInfo("Europe/Berlin"))
attempt("decimal", lambda: decimal.Decimal(1) / 3)
attempt("signal itself", lambda: os.kill(os.getpid(), 0))
sys.stdout.flush()
attempt("exec", lambda: os.execv("/bin/true", ["true"]))
`

func attemptsSpec(t *testing.T) sandbox.Spec {
	spec := pythonSpec(t, attempts)
	spec.Argv = append(spec.Argv, t.TempDir())
	return spec
}

func results(out string) map[string]string {
	r := map[string]string{}
	for line := range strings.Lines(out) {
		if name, result, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			r[name] = result
		}
	}
	return r
}

func TestPythonInTheSandbox(t *testing.T) {
	out := child(t, "exec", "", attemptsSpec(t))
	got := results(out)
	for _, what := range []string{
		"read /etc/passwd", "list /", "read /proc/self/environ", "write elsewhere",
		"make a folder", "tcp", "udp",
		"unix socket", "datagram pair", "ctypes socket", "subprocess", "os.system", "fork", "exec", "ptrace",
		"signal the parent", "signal init",
		"signal everybody", "chown", "setsid", "nice others",
	} {
		if got[what] != "EACCES" && got[what] != "EPERM" {
			t.Errorf("%s: %q, want EACCES or EPERM", what, got[what])
		}
	}
	for _, what := range []string{"read a module", "threads", "asyncio", "sqlite", "zones", "decimal", "signal itself"} {
		if got[what] != "done" {
			t.Errorf("%s: %q, want it done", what, got[what])
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestPythonOnAKernelWithoutLandlock(t *testing.T) {
	out := child(t, "exec", "none", attemptsSpec(t))
	got := results(out)
	for _, what := range []string{
		"tcp", "udp", "unix socket", "datagram pair", "ctypes socket", "subprocess", "os.system",
		"fork", "ptrace",
		"signal the parent", "signal init", "signal everybody", "chown", "setsid", "nice others",
	} {
		if got[what] != "EACCES" && got[what] != "EPERM" {
			t.Errorf("%s: %q, want EACCES or EPERM", what, got[what])
		}
	}
	if got["write elsewhere"] != "done" || got["read /etc/passwd"] != "done" {
		t.Errorf("files: %q, %q; what Detect says of this kernel is not so", got["write elsewhere"], got["read /etc/passwd"])
	}
}

func TestPythonWithItsOwnFolder(t *testing.T) {
	dir := t.TempDir()
	spec := pythonSpec(t, `
import os, shutil, sqlite3, sys
dir = sys.argv[1]
os.chdir(dir)
open("a", "w").write("hello")
shutil.copy("a", "b")
os.makedirs("sub/deeper"); os.rename("b", "sub/deeper/b"); os.symlink("a", "link")
db = sqlite3.connect("x.db"); db.execute("create table t (a)"); db.execute("insert into t values (1)"); db.commit()
try:
    os.chmod(sys.argv[2], 0o777)
except OSError: pass
try:
    open("big", "wb").truncate(65 << 20); print("too large")
except OSError: pass
try:
    os.mknod("device", 0o60600); print("device")
except OSError: pass
print(open("sub/deeper/b").read())
`)
	outside := filepath.Join(t.TempDir(), "mine")
	must(t, os.WriteFile(outside, nil, 0o600))
	spec.Argv = append(spec.Argv, dir, outside)
	spec.Write = []string{dir}
	if got := child(t, "exec", "", spec); got != "hello\n" {
		t.Errorf("got %s", got)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of a file outside was changed: %v, %v", info.Mode(), err)
	}
}

func TestTheLimitsHold(t *testing.T) {
	cases := map[string]struct {
		code string
		want string
		edit func(*sandbox.Spec)
	}{
		"memory": {`
try:
    x = bytearray(400 << 20); print("taken")
except MemoryError: print("refused")`, "refused\n", func(s *sandbox.Spec) { s.Memory = 256 << 20 }},
		"memory bit by bit": {`
try:
    x = []
    while True: x.append("x" * 100000)
except MemoryError: x = None; print("refused")`, "refused\n", func(s *sandbox.Spec) { s.Memory = 256 << 20 }},
		"open files": {`
import os
try:
    while True: os.pipe()
except OSError as e: print(e.errno)`, "24\n", func(*sandbox.Spec) {}},
		"descriptors": {`
import os
def open_one(i):
    try: os.fstat(i); return True
    except OSError: return False
print([i for i in range(256) if open_one(i)])`, "[0, 1, 2]\n", func(*sandbox.Spec) {}},
		"environment": {`
import os
print(sorted(os.environ))`, "['A', 'LC_CTYPE']\n", func(s *sandbox.Spec) { s.Env = []string{"A=1", "LC_CTYPE=C.UTF-8"} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			spec := pythonSpec(t, c.code)
			c.edit(&spec)
			if testMemory != 0 && spec.Memory != 0 {
				t.Skip("the race detector does not fit a limit of memory")
			}
			if got := child(t, "exec", "", spec); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestProgramsMayBeStartedWhereTheSpecSaysSo(t *testing.T) {
	spec := pythonSpec(t, `
import subprocess, os
print(subprocess.run(["/bin/echo", "hi"], capture_output=True, text=True).stdout.strip())
try: subprocess.run(["/bin/cat", "/etc/passwd"], check=True, stderr=subprocess.DEVNULL); print("escaped")
except (subprocess.CalledProcessError, OSError): print("refused")
try: os.kill(os.getppid(), 0); print("escaped")
except OSError: print("refused")
p = subprocess.Popen(["/bin/sleep", "100"]); p.kill(); p.wait(); print("killed")
`)
	spec.Spawn = true
	spec.Execute = append(spec.Execute, "/bin", "/usr/bin")
	if got, want := child(t, "exec", "", spec), "hi\nrefused\nrefused\nkilled\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheDevicesThatEveryProgramExpectsAreThereAndNoOther(t *testing.T) {
	needLandlock(t)
	spec := pythonSpec(t, `
for name in ("null", "zero", "full", "random", "urandom"):
    with open("/dev/" + name, "rb", buffering=0) as file: print(name, len(file.read(1)))
with open("/dev/null", "w") as file: file.write("gone")
with open("/dev/null", "a") as file: file.write("gone")
for name in ("tty", "ptmx", "mem", "kmsg", "shm", "console"):
    for mode in ("rb", "wb"):
        try: open("/dev/" + name, mode); print(name, mode, "opened")
        except OSError: pass
try: open("/dev/shm/x", "w"); print("shm")
except OSError: pass
`)
	if got, want := child(t, "exec", "", spec), "null 0\nzero 1\nfull 1\nrandom 1\nurandom 1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatCannotBeStartedSaysWhy(t *testing.T) {
	needLandlock(t)
	cases := map[string]struct {
		spec sandbox.Spec
		want string
	}{
		"no program":    {sandbox.Spec{Kind: "command"}, "names no program"},
		"a missing one": {sandbox.Spec{Kind: "command", Argv: []string{"/no/such/thing"}}, "/no/such/thing: no such file"},
		"one not listed": {
			sandbox.Spec{Kind: "command", Argv: []string{"/bin/true"}, Execute: []string{"/bin/echo"}},
			"/bin/true: permission denied",
		},
		"not in PATH": {
			sandbox.Spec{Kind: "command", Argv: []string{"nosuchthing"}, Env: []string{"PATH=/bin"}},
			"find the program nosuchthing",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, "exec", "", c.spec)
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("got %v %q, want %q", err, out, c.want)
			}
		})
	}
	out := child(t, "exec", "", sandbox.Spec{
		Kind: "command", Argv: []string{"echo", "found"},
		Env:  []string{"PATH=/nowhere:/bin"},
		Read: []string{"/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"},
	})
	if out != "found\n" {
		t.Errorf("a program in PATH said %q", out)
	}
}

func TestWithoutASpecItSaysThatItIsNotForPeople(t *testing.T) {
	cmd := exec.Command(os.Args[0], "exec", "")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not by hand") {
		t.Errorf("got %v %q", err, out)
	}
}

func TestDetect(t *testing.T) {
	cases := map[string]struct {
		landlock int
		seccomp  bool
		level    string
	}{
		"all":         {7, true, "process+landlock"},
		"an old one":  {0, true, "process"},
		"no seccomp":  {7, false, "process"},
		"none at all": {0, false, "none"},
	}
	for name, c := range cases {
		got := describe(c.landlock, c.seccomp)
		if got.Level != c.level || (got.Sentence == "") != (c.level == "process+landlock") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if landlockVersion() > 0 && Detect().Level != "process+landlock" {
		t.Errorf("Detect() = %+v", Detect())
	}
}

func BenchmarkExecOfTrue(b *testing.B) {
	spec := sandbox.Spec{
		Kind: "command", Argv: []string{"/bin/true"}, Read: []string{"/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"},
		Memory: testMemory,
	}
	for b.Loop() {
		r, w, err := os.Pipe()
		must(b, err)
		cmd := exec.Command(os.Args[0], "exec", "")
		cmd.ExtraFiles, cmd.Env, cmd.Stderr = []*os.File{r}, []string{}, os.Stderr
		must(b, cmd.Start())
		_ = r.Close()
		must(b, WriteSpec(w, spec))
		_ = w.Close()
		must(b, cmd.Wait())
	}
}
