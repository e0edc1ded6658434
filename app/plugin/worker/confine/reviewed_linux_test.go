//go:build linux && (amd64 || arm64)

package confine

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pythons returns the interpreters of this machine that plugins may run on.
func pythons(t *testing.T) map[string]python {
	t.Helper()
	needLandlock(t)
	found := map[string]python{}
	for _, name := range []string{
		"python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14", "python3",
	} {
		p, err := askPython(name)
		if err != nil || slices.ContainsFunc(values(found),
			func(other python) bool { return other.Executable == p.Executable }) {
			continue
		}
		found[name] = p
	}
	if len(found) == 0 {
		t.Skip("there is no python3 here")
	}
	return found
}

func values(m map[string]python) []python {
	var list []python
	for _, p := range m {
		list = append(list, p)
	}
	return list
}

// beyond tries what a plugin may try that no file is opened for.
const beyond = attemptWith + `
import ctypes.util, fcntl, mmap
PRIO_USER, PR_SET_PDEATHSIG, PR_SET_DUMPABLE, AT_FDCWD = 2, 1, 4, -100
number = json.loads(sys.argv[1])
attempt("lower everybody's priority", lambda: os.setpriority(PRIO_USER, 0, 19))
attempt("lower the group's priority", lambda: os.setpriority(os.PRIO_PGRP, 0, 19))
attempt("set everybody's disk priority", lambda: call(number["ioprio_set"], 3, 0, 7))
attempt("outlive", lambda: call(number["prctl"], PR_SET_PDEATHSIG, 0, 0, 0, 0))
attempt("hide its memory", lambda: call(number["prctl"], PR_SET_DUMPABLE, 0, 0, 0, 0))
attempt("signal by input", lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid()))
attempt("attributes by a descriptor", lambda: fcntl.ioctl(os.open(json.__file__, os.O_RDONLY), 0x40086602, b"\0" * 8))
attempt("attributes by a path", lambda: call(number["file_setattr"], AT_FDCWD, json.__file__.encode(), bytes(24), 24, 0))
attempt("watch", lambda: call(number["inotify_init1"], 0))
attempt("a file in memory", lambda: call(number["memfd_create"], b"x", 0))
attempt("a call of a later kernel", lambda: call(4242, 0))
attempt("kernel AIO", lambda: call(number["io_setup"], 1, bytes(8)))
folder = os.open(sys.argv[2], os.O_RDONLY)
attempt("a subvolume in a folder to read", lambda: fcntl.ioctl(folder, 0x5000940e, bytearray(8) + b"volume".ljust(4088, b"\0")))
attempt("a snapshot", lambda: fcntl.ioctl(folder, 0x50009417, bytearray(4096)))
attempt("a request of a later kernel", lambda: fcntl.ioctl(folder, 0x4242, b""))
attempt("whether it is a terminal", lambda: not os.isatty(0) or 1 / 0)
file = os.open(os.path.join(sys.argv[3], "file"), os.O_CREAT | os.O_RDWR)
attempt("let others wait for a file", lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK))
attempt("be told of a folder", lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, 1))
attempt("lock a file", lambda: fcntl.lockf(file, fcntl.LOCK_EX))
attempt("keep more than a file has", lambda: call(number["fallocate"], file, 1, 0, 1 << 30))
attempt("make a file as long as it will be", lambda: os.posix_fallocate(file, 0, 4096))
attempt("its own priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, 1))
attempt("its own name", lambda: call(number["prctl"], 15, b"name", 0, 0, 0))
`

func TestWhatNobodyReviewedIsNotThere(t *testing.T) {
	spec := pythonSpec(t, beyond)
	numbers, err := json.Marshal(map[string]int{
		"ioprio_set": unix.SYS_IOPRIO_SET, "prctl": unix.SYS_PRCTL, "file_setattr": unix.SYS_FILE_SETATTR,
		"inotify_init1": unix.SYS_INOTIFY_INIT1, "memfd_create": unix.SYS_MEMFD_CREATE, "io_setup": unix.SYS_IO_SETUP,
		"fallocate": unix.SYS_FALLOCATE,
	})
	must(t, err)
	toRead, own := t.TempDir(), t.TempDir()
	spec.Read, spec.Write = append(spec.Read, toRead), []string{own}
	spec.Argv = append(spec.Argv, string(numbers), toRead, own)
	for _, spawn := range []bool{false, true} {
		spec.Spawn = spawn
		got := results(child(t, "exec", "", spec))
		for what, want := range map[string]string{
			"lower everybody's priority": "EPERM", "lower the group's priority": "EPERM",
			"set everybody's disk priority": "EPERM",
			"outlive":                       "EPERM", "hide its memory": "EPERM", "signal by input": "EPERM",
			"attributes by a descriptor": "EPERM",
			"attributes by a path":       "ENOSYS", "watch": "ENOSYS", "a file in memory": "ENOSYS",
			"a call of a later kernel": "ENOSYS",
			"kernel AIO":               "ENOSYS", "a subvolume in a folder to read": "EPERM", "a snapshot": "EPERM",
			"a request of a later kernel": "EPERM", "let others wait for a file": "EPERM", "be told of a folder": "EPERM",
			"keep more than a file has": "ENOTSUP", "make a file as long as it will be": "done", "lock a file": "done",
			"whether it is a terminal": "done", "its own priority": "done", "its own name": "done",
		} {
			if got[what] != want {
				t.Errorf("with programs %v: %s: %q, want %s", spawn, what, got[what], want)
			}
		}
	}
}

// usual does what plugins do every day.
const usual = attemptWith + `
import asyncio, concurrent.futures, hashlib, mmap, multiprocessing, queue, random, select, selectors, shutil, socket, sqlite3, ssl
import subprocess, tempfile, threading, time, urllib.request, uuid, zlib, zoneinfo
folder, spawn = sys.argv[1], sys.argv[2] == "spawn"
os.chdir(folder)
def expect(got, want):
    if got != want:
        raise ValueError(f"got {got!r}, want {want!r}")
def pool():
    with concurrent.futures.ThreadPoolExecutor(8) as e:
        expect(sum(e.map(lambda i: i * i, range(100))), 328350)
async def tasks():
    async def one(i):
        await asyncio.sleep(0.001)
        return await asyncio.to_thread(lambda: i)
    expect(sum(await asyncio.gather(*(one(i) for i in range(20)))), 190)
def database():
    db = sqlite3.connect("x.db")
    db.execute("pragma journal_mode=wal")
    db.execute("create table t (a)")
    with db:
        db.executemany("insert into t values (?)", [(i,) for i in range(1000)])
    expect(db.execute("select sum(a) from t").fetchone()[0], 499500)
    db.close()
def files():
    with tempfile.TemporaryDirectory(dir=folder) as d:
        path = os.path.join(d, "a")
        with open(path, "w") as f:
            f.write("hello")
            f.flush()
            os.fsync(f.fileno())
        shutil.copy2(path, path + "b")
        shutil.move(path + "b", path + "c")
        expect(sorted(os.listdir(d)), ["a", "ac"])
        with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
            m[0:1] = b"j"
        expect(open(path).read(), "jello")
def pair():
    a, b = socket.socketpair()
    a.sendall(b"x")
    expect(select.select([b], [], [], 1)[0], [b])
    expect(b.recv(1), b"x")
def shared():
    m = mmap.mmap(-1, 1 << 20)
    m[5] = 7
    expect(m[5], 7)
def timed():
    done = threading.Event()
    threading.Timer(0.01, done.set).start()
    expect(done.wait(100), True)
def secure():
    context = ssl.create_default_context()
    expect(context.check_hostname, True)
def programs():
    expect(subprocess.run(["/bin/echo", "hi"], capture_output=True, text=True).stdout, "hi\n")
    expect(subprocess.run("echo a | tr a b; exit 3", shell=True, capture_output=True, text=True).returncode, 3)
    expect(subprocess.run([sys.executable, "-I", "-S", "-c", "print(6*7)"], capture_output=True, text=True).stdout, "42\n")
    p = subprocess.Popen(["/bin/sleep", "100"])
    p.terminate()
    p.wait(100)
async def started():
    p = await asyncio.create_subprocess_exec("/bin/echo", "hi", stdout=asyncio.subprocess.PIPE)
    expect((await p.communicate())[0], b"hi\n")
def child(end):
    end.send(sum(range(10)))
def processes():
    ours, theirs = multiprocessing.Pipe()
    p = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
    p.start()
    expect(ours.recv(), 45)
    p.join()
for name, do in list(globals().items()):
    if name in ("pool", "database", "files", "pair", "shared", "timed", "secure") or spawn and name in ("programs", "processes"):
        attempt(name, do)
attempt("tasks", lambda: asyncio.run(tasks()))
if spawn:
    attempt("started", lambda: asyncio.run(started()))
attempt("random", lambda: (uuid.uuid4(), os.urandom(8), random.random(), hashlib.sha256(b"x").digest()))
`

func TestEveryPythonGoesOnWorkingBehindTheReviewedCalls(t *testing.T) {
	for name, p := range pythons(t) {
		for _, mode := range []string{"alone", "spawn"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				spec := specOf(p, usual)
				dir := t.TempDir()
				spec.Argv = append(spec.Argv, dir, mode)
				spec.Write = []string{dir, "/dev/null"}
				spec.Read = append(spec.Read, "/dev/null", "/dev/urandom", "/etc/ssl/openssl.cnf")
				want := []string{"pool", "database", "files", "pair", "shared", "timed", "secure", "tasks", "random"}
				if mode == "spawn" {
					spec.Spawn = true
					spec.Execute = append(spec.Execute, "/bin", "/usr/bin", filepath.Dir(p.Executable))
					want = append(want, "programs", "started", "processes")
				}
				out := child(t, "exec", "", spec)
				got := results(out)
				for _, what := range want {
					if got[what] != "done" {
						t.Errorf("%s: %q, want it done", what, got[what])
					}
				}
				if t.Failed() {
					t.Log(out)
				}
			})
		}
	}
}

// Programs that plugins are often granted.
func TestProgramsGoOnWorkingBehindTheReviewedCalls(t *testing.T) {
	needLandlock(t)
	for name, c := range map[string]struct{ script, want string }{
		"shell": {`for i in 1 2 3; do echo $i; done | sort -r | head -1; (exit 4) & wait $!; echo $?`, "3\n4\n"},
		"files": {
			`cd "$1" && mkdir -p a/b && echo x > a/b/c && cp -r a d && mv d e && cat e/b/c && ls e && tar cf t.tar e && tar tf t.tar | wc -l`,
			"x\nb\n3\n",
		},
		"git": {
			`cd "$1" && HOME=$1 git init -q r && cd r && echo x > f && git add f && git -c user.name=a -c user.email=b commit -qm m && git log --format=%s`,
			"m\n",
		},
		"node": {
			`node -e 'setTimeout(() => require("fs").readFile("/proc/self/nothing", () => console.log(6*7)), 5)'`, "42\n",
		},
		"its figures": {
			`node -e 'const fs = require("fs"); for (const name of ["stat", "statm", "status", "environ"])
				try { fs.readFileSync("/proc/self/" + name); console.log(name) } catch {}
				console.log(process.memoryUsage().rss > 0)'`, "stat\ntrue\n",
		},
		"python": {`python3 -c 'import json, asyncio, resource; print(resource.getrusage(0).ru_maxrss > 0)'`, "True\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "git" || strings.Contains(c.script, "node") {
				if _, err := exec.LookPath(name); err != nil {
					t.Skip(err)
				}
			}
			dir := t.TempDir()
			spec := pythonSpec(t, "")
			system := []string{
				"/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/bin", "/usr/local/lib",
			}
			if name == "its figures" { // of the process that is started, not of what that starts
				spec.Kind = "command"
				c.script = "exec " + c.script
			}
			spec.Argv = []string{"/bin/sh", "-c", c.script, "sh", dir}
			spec.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
			spec.Spawn, spec.Execute, spec.Dir = true, system, dir
			spec.Read = append(system, "/etc/ld.so.cache", "/usr/share", "/etc/gitconfig", "/etc/ssl/openssl.cnf", "/dev/null",
				"/dev/urandom")
			spec.Write, spec.Memory = []string{dir, "/dev/null"}, 4<<30
			if got := child(t, "exec", "", spec); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
