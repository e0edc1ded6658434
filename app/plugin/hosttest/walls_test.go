package hosttest

import (
	"debug/elf"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/test/programtest"
)

// breaching tries each of the walls, and notes how that ended.
func breaching(address, read, write string) string {
	host, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf(`
import socket, subprocess
host, port, read, write = %q, %s, %q, %q
def connect():
    with socket.create_connection((host, port), 150) as s:
        assert s.recv(2) == b"hi"
def put(folder):
    with open(os.path.join(folder, "new"), "w") as file:
        file.write("x")
tries = {
    "network": connect,
    "programs": lambda: subprocess.run(["echo", "x"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
    "background": lambda: subprocess.run("true & wait", shell=True, check=True),
    "read": lambda: open(os.path.join(read, "note")).read(),
    "write": lambda: put(write),
    "write where it may read": lambda: put(read),
    "devices": lambda: (open("/dev/null", "w").write("x"), open("/dev/urandom", "rb").read(1), open("/dev/zero", "rb").read(1)),
    "terminal": lambda: open("/dev/tty", "rb"),
}
%s`, host, port, read, write, attempts)
}

// greeter answers every connection with "hi".
func greeter(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	over := make(chan struct{})
	go func() { // ended by closing the listener
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("hi")) // the plugin says when it did not come
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-over })
	return l.Addr().String()
}

func TestWhatIsGrantedIsOpenInEveryDialectAndNothingElse(t *testing.T) {
	t.Parallel()
	read, write := real(t), real(t)
	must(t, os.WriteFile(filepath.Join(read, "note"), []byte("x"), 0o600))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	address := greeter(t)
	for dialect, id := range c.pythonOf(breaching(address, read, write)) {
		c.approved(id)
		check := func(when string, open ...string) {
			t.Helper()
			for name, end := range c.tried(id) {
				if want := name == "devices" || slices.Contains(open, name); (end == "done") != want {
					t.Errorf("%s, %s: %s ended with %s", dialect, when, name, end)
				}
			}
		}
		check("nothing granted")
		must(t, c.gate.Reach.SetPermission(t.Context(), id, "network", gate.Allow))
		check("the internet, of which this computer is no part")
		must(t, c.gate.Reach.AllowHost(t.Context(), id, gate.Network, gate.Allow, gate.HostIs, address))
		if dialect == "picoclaw" {
			check("network, which a program of its own reaches through the proxy and not past it")
		} else {
			check("network", "network")
		}
		must(t, c.gate.Reach.SetPermission(t.Context(), id, "programs", gate.Allow),
			c.gate.Reach.SetPermission(t.Context(), id, "network", gate.Deny))
		check("programs", "programs", "background")
		must(t, c.gate.Reach.SetPermission(t.Context(), id, "programs", gate.Deny))
		_, err := c.gate.Reach.GrantFolder(t.Context(), id, gate.Folder{Path: read})
		must(t, err)
		check("a folder to read", "read")
		_, err = c.gate.Reach.GrantFolder(t.Context(), id, gate.Folder{Path: write, Write: true})
		must(t, err)
		check("a folder to write", "read", "write")
		must(t, c.gate.Reach.RevokeFolder(t.Context(), id, read), c.gate.Reach.RevokeFolder(t.Context(), id, write))
		check("all taken back")
		must(t, os.Remove(filepath.Join(write, "new")))
	}
}

// real is a folder without links in its path.
func real(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return path
}

func TestAGrantThatCouldDoNothingIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.write("dice.js",
		"spindle.registerTool({name: 'roll', description: 'Roll.', parameters: {type: 'object', properties: {}}, "+
			"handler: () => 'x'});")
	c.until("dice waiting", func(u plugin.Update) bool { return u.Plugin == "dice" && u.State == plugin.NeedsApproval })
	for _, name := range []string{"network", "programs"} {
		err := c.gate.Reach.SetPermission(t.Context(), "dice", name, gate.Allow)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Of(err).Message, "would do nothing for dice") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := c.gate.Reach.GrantFolder(t.Context(), "dice",
		gate.Folder{Path: real(t)}); !strings.Contains(fault.Of(err).Message, "would do nothing for dice") {
		t.Errorf("filesystem: got %v", err)
	}
	if granted, _ := c.gate.Reach.Permissions("dice"); len(granted) != 0 {
		t.Errorf("granted %v", granted)
	}
}

// A folder that is granted and then made a link to another place is not opened.
func TestAGrantedFolderThatBecameALinkIsNotOpened(t *testing.T) {
	t.Parallel()
	top, secret := real(t), real(t)
	read := filepath.Join(top, "notes")
	must(t, os.Mkdir(read, 0o700), os.WriteFile(filepath.Join(read, "note"), []byte("x"), 0o600),
		os.WriteFile(filepath.Join(secret, "note"), []byte("secret"), 0o600))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	ids := c.pythonOf(breaching("127.0.0.1:9", read, top))
	id := ids["functions"]
	c.approved(id)
	_, err := c.gate.Reach.GrantFolder(t.Context(), id, gate.Folder{Path: read})
	must(t, err)
	if end := c.tried(id)["read"]; end != "done" {
		t.Errorf("granted: %s", end)
	}
	must(t, os.RemoveAll(read), os.Symlink(secret, read), c.host.Reload(id), c.host.WaitIdle(t.Context()))
	if end := c.tried(id)["read"]; end == "done" {
		t.Error("it read what the link leads to")
	}
}

func TestARefusedToolSaysWhichGrantItWants(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(real(t), "my notes")
	must(t, os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "note"), []byte("x"), 0o600))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("nosy.py", fmt.Sprintf(`
def note() -> str:
    "Read."
    return open(%q).read()

def caught() -> str:
    "Read, and say what came of it."
    try:
        return open(%q).read()
    except OSError as error:
        return str(error)

def fetch() -> str:
    "Fetch."
    import socket
    socket.create_connection(("127.0.0.1", 9), 1)
    return "x"

def passwords() -> str:
    "Read what nobody is granted."
    return open("/etc/passwd").read()
`, filepath.Join(folder, "note"), filepath.Join(folder, "note")))
	c.approved("nosy")
	const grant = "conclave plugins grant nosy "
	files := grant + "filesystem --match path='" + folder + "'"
	for name, want := range map[string]string{"note": files, "caught": files, "fetch": grant + "network"} {
		r := c.call("nosy:"+name, "{}")
		if text := r.Error + chat.TextOf(r.Content); strings.Count(text, want) != 1 {
			t.Errorf("%s: %s %q, want %q in it", name, r.Status, text, want)
		}
	}
	if r := c.call("nosy:passwords", "{}"); strings.Contains(r.Error, grant) || r.Status != chat.CallRaised {
		t.Errorf("a folder of the system is offered: %q", r.Error)
	}
	s, err := c.host.Status("nosy")
	must(t, err)
	want := []plugin.Refusal{{Permission: "filesystem", Path: folder}, {Permission: "network"}}
	for _, one := range want {
		if len(s.Refused) != len(want) || !slices.Contains(s.Refused, one) {
			t.Errorf("the card offers %+v, want %+v", s.Refused, want)
		}
	}
	_, err = c.gate.Reach.GrantFolder(t.Context(), "nosy", gate.Folder{Path: folder})
	must(t, err, c.gate.Reach.SetPermission(t.Context(), "nosy", "network", gate.Allow))
	c.answers("nosy:note", "{}", "x")
	if s, err := c.host.Status("nosy"); err != nil || len(s.Refused) != 0 {
		t.Errorf("after the grants the card offers %+v, %v", s.Refused, err)
	}
}

func TestAServerOfAPluginNeedsTheGrantThatItsErrorNames(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Held(t, c.launcher.Confinement())
	c.write("serves.py", `
import socket

def serve() -> str:
    "Serve, and keep the server."
    global server
    server = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(server.getsockname())
    server.accept()
    return "served"
`)
	c.approved("serves")
	if r := c.call("serves:serve", "{}"); strings.Count(r.Error, "conclave plugins grant serves listen") != 1 {
		t.Errorf("without the permission: %q", r.Error)
	}
	must(t, c.gate.Reach.AllowPort(t.Context(), "serves", "0"))
	c.answers("serves:serve", "{}", "served")
	s, err := c.host.Status("serves")
	must(t, err)
	if len(s.Ports) != 1 || len(s.Refused) != 0 || !s.Running {
		t.Errorf("ports %v, refused %v, running %v", s.Ports, s.Refused, s.Running)
	}
	must(t, c.gate.Reach.RevokePort(t.Context(), "serves", "0"))
	for s.Running { // the person took the port back, and the process has it
		must(t, t.Context().Err())
		runtime.Gosched()
		s, err = c.host.Status("serves")
		must(t, err)
	}
}

func TestAPluginThatFillsItsStorageIsStopped(t *testing.T) {
	t.Parallel()
	for what, body := range map[string]string{
		"bytes": "for n in range(20):\n        with open(os.path.join(os.environ['HOME'], str(n)), 'wb') as file: " +
			"file.truncate(60 << 20)",
		"files": "for n in range(10100): open(os.path.join(os.environ['HOME'], str(n)), 'w').close()",
		"depth": "path = os.environ['HOME']\n    for n in range(150):\n        path += '/d'\n        os.mkdir(path)",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := open(t, t.TempDir(), t.TempDir())
			c.write("hoard.py", "import os\n\ndef hoard() -> str:\n    \"Hoard.\"\n    "+body+
				"\n    import time\n    time.sleep(60)\n    return 'done'\n")
			c.approved("hoard")
			if r := c.call("hoard:hoard", "{}"); r.Status != chat.CallDied ||
				r.Error != "the plugin's storage is full: it may hold 512 MiB and 10,000 files" {
				t.Errorf("it goes on: %s %q", r.Status, r.Error)
			}
			r := c.call("hoard:hoard", "{}")
			if r.Status != chat.CallDied || !strings.Contains(r.Error,
				"Its storage folder holds more than 512 MiB or 10,000 files, or folders that are too deep or too "+
					"locked to be counted, so it was stopped. Delete what it does not need, then reload it.") {
				t.Errorf("it is started again: %s %q", r.Status, r.Error)
			}
		})
	}
}

// What a thread writes when no call is open, and what lies in files that no folder
// holds any more, fills a disk too.
func TestAPluginFillsNoDiskBehindItsCalls(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what a process has open is told on Linux")
	}
	const write = `
for n in range(20):
    file = open(os.path.join(os.environ['HOME'], str(n)), 'w+b')
    kept.append(file)
    DELETE
    os.posix_fallocate(file.fileno(), 0, 60 << 20)
`
	for what, does := range map[string]string{
		"a thread between calls":            "pass",
		"files it deleted":                  "os.unlink(file.name)",
		"files that its memory alone holds": "os.unlink(file.name); kept.pop(); mmap(None, 4096, 1, 1, file.fileno(), 0)",
		"files that it sent to itself": "os.unlink(file.name); kept.pop(); socket.send_fds(ends[0], [b'x'], " +
			"[file.fileno()])",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := open(t, t.TempDir(), t.TempDir())
			c.write("hoard.py",
				"import ctypes, os, socket, threading\nkept = []\nends = socket.socketpair()\nmmap = ctypes.CDLL(None).mmap\n"+
					"mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, "+
					"ctypes.c_long]\n\ndef fill():"+
					strings.ReplaceAll(strings.TrimRight(strings.Replace(write, "DELETE", does, 1), "\n"), "\n", "\n    ")+
					"\n\ndef hoard() -> str:\n    \"Hoard.\"\n    threading.Thread(target=fill, daemon=True).start()\n    "+
					"return 'begun'\n")
			c.approved("hoard")
			if r := c.call("hoard:hoard", "{}"); r.Status != chat.CallOK &&
				r.Error != "the plugin's storage is full: it may hold 512 MiB and 10,000 files" {
				t.Fatalf("it does not begin: %s %q", r.Status, r.Error)
			}
			wait := time.NewTimer(patience)
			defer wait.Stop()
			for !slices.ContainsFunc(c.host.Log("hoard", 0), func(l plugin.LogLine) bool {
				return l.Text == "Its storage folder holds more than 512 MiB or 10,000 files, or folders that are "+
					"too deep or too locked to be counted, so it was stopped. Delete what it does not need, then "+
					"reload it."
			}) {
				select {
				case <-c.updates:
				case <-time.After(50 * time.Millisecond): // a log has no notice of its own
				case <-wait.C:
					t.Fatal("it was not stopped")
				}
			}
		})
	}
}

// A plugin that was given one program starts that one and no other: not by the name of the
// first, by a shell, nor by the system's loader.
func TestAPluginStartsTheProgramsThatItWasGivenAndNoOther(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	echo, err := exec.LookPath("echo")
	must(t, err)
	other, err := exec.LookPath("uname")
	must(t, err)
	echo, err = filepath.EvalSymlinks(echo)
	must(t, err)
	if real, err := filepath.EvalSymlinks(other); err != nil || real == echo {
		t.Skip("this system has one program for both:", real, err)
	}
	source := fmt.Sprintf(`
import subprocess
echo, other, loader = %q, %q, %q
def start(*words, **more):
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
def by_loader():
    try:
        start(loader, other)
    except subprocess.CalledProcessError:
        raise PermissionError(1, "it could not be read")
tries = {
    "it": lambda: start(echo, "x"),
    "it by its name": lambda: start("echo", "x"),
    "another": lambda: start(other),
    "another by its name": lambda: start("uname"),
    "a shell": lambda: start("true", shell=True),
    "another as it": lambda: start(echo, executable=other),
    "the loader": by_loader,
}
%s`, echo, other, loader(t, other), attempts)
	for dialect, id := range c.pythonOf(source) {
		c.approved(id)
		check := func(when string, open ...string) {
			t.Helper()
			for name, end := range c.tried(id) {
				if (end == "done") != slices.Contains(open, name) {
					t.Errorf("%s, %s: %s ended with %s", dialect, when, name, end)
				}
			}
		}
		check("nothing granted")
		_, err := c.gate.Reach.AllowProgram(t.Context(), id, echo)
		must(t, err)
		check("one program", "it", "it by its name")
		_, err = c.gate.Reach.AllowProgram(t.Context(), id, other)
		must(t, err)
		check("both", "it", "it by its name", "another", "another by its name", "another as it", "the loader")
		must(t, c.gate.Reach.RevokeProgram(t.Context(), id, echo), c.gate.Reach.RevokeProgram(t.Context(), id, other))
		check("all taken back")
	}
}

// loader is the program that loads the libraries of another.
func loader(t *testing.T, program string) string {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Skip("programs are of another kind here:", err)
	}
	defer func() { _ = f.Close() }()
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			name, err := io.ReadAll(segment.Open())
			must(t, err)
			return strings.TrimRight(string(name), "\x00")
		}
	}
	t.Skip(program, "needs no loader")
	return ""
}
