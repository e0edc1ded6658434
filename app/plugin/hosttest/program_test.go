//go:build linux

package hosttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/gate"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

// starters is a plugin that starts programs in the ways that plugins in Python do.
const starters = `
import asyncio, os, subprocess, threading, time

HOME = os.environ["HOME"]

def run(command: str) -> str:
    "Run a command."
    done = subprocess.run(command.split(), capture_output=True, text=True, input="dear a\n", cwd=HOME)
    return "%d %s %s" % (done.returncode, done.stdout.strip(), done.stderr.strip())

def shell(command: str) -> str:
    "Run a command of the shell."
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env={"PLUGINS": "own"}, cwd=HOME)
    return "%d %s %s" % (done.returncode, done.stdout.strip(), done.stderr.strip())

async def later(command: str) -> str:
    "Run a command while others go on."
    p = await asyncio.create_subprocess_exec(*command.split(), stdin=-1, stdout=-1, stderr=-1, cwd=HOME)
    out, err = await p.communicate(b"dear b\n")
    return "%d %s %s" % (p.returncode, out.decode().strip(), err.decode().strip())

def system(command: str) -> int:
    "Run a command as C does."
    os.chdir(HOME)
    return os.system(command)

def talk() -> str:
    "Say something to a program, and hear it before it ends."
    p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=HOME)
    said = []
    for word in ("one", "two"):
        p.stdin.write(word + "\n")
        said.append(p.stdout.readline().strip())
    p.stdin.close()
    return "%s %d" % (" ".join(said), p.wait())

def impatient() -> str:
    "Wait for a program no longer than a moment."
    try:
        subprocess.run(["sleep", "600"], timeout=0.2, cwd=HOME)
    except subprocess.TimeoutExpired:
        return "it took too long"
    return "it ended"

def much(bytes: int) -> int:
    "Read much from a program."
    return len(subprocess.check_output(["head", "-c", str(bytes), "/dev/zero"], cwd=HOME))

def own() -> str:
    "Start a program of its own."
    path = os.path.join(HOME, "own.sh")
    with open(path, "w") as f:
        f.write("#!/bin/sh\necho owned\n")
    os.chmod(path, 0o755)
    link = os.path.join(HOME, "ls")
    if not os.path.lexists(link):
        os.symlink(path, link)
    said = []
    for argv, executable in (([path], None), ([link], None), (["./own.sh"], None), (["ls"], path)):
        try:
            said.append(subprocess.check_output(argv, executable=executable, text=True, cwd=HOME))
        except OSError as e:
            said.append(str(e))
    return " ".join(said)

def flood() -> int:
    "Start many at once."
    left, threads = [], []
    def one(i):
        try:
            subprocess.run(["echo", str(i)], cwd=HOME)
        except OSError as e:
            left.append("the most there may be" in str(e))
            if sum(left) == 4:
                open(os.path.join(HOME, "four"), "w").close()
    for i in range(12):
        threads.append(threading.Thread(target=one, args=(i,)))
        threads[-1].start()
    for t in threads:
        t.join()
    return sum(left)

def leave() -> str:
    "Leave a program alone."
    subprocess.Popen(["sh", "-c", "echo $$ > pid; exec sleep 600"], cwd=HOME)
    while not os.path.exists(os.path.join(HOME, "pid")) or not os.path.getsize(os.path.join(HOME, "pid")):
        time.sleep(0.01)
    os._exit(3)

def where() -> str:
    "Say where its own folder is."
    return os.path.realpath(HOME)

def fork() -> str:
    "Become two."
    try:
        os.fork()
    except OSError as e:
        return type(e).__name__
    return "forked"
`

// workshop is a host with that plugin, approved. home is the plugin's own folder.
func workshop(t *testing.T) (c *core, home string) {
	t.Helper()
	c = open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", starters)
	c.approved("notes")
	return c, c.said("notes:where", "{}")
}

var (
	once   = gate.Answer{Effect: gate.Allow, Scope: gate.Once}
	always = gate.Answer{Effect: gate.Allow, Scope: gate.Always}
	never  = gate.Answer{Effect: gate.Deny, Reason: "Not today"}
)

func TestAProgramIsAskedForAtTheMomentItIsStarted(t *testing.T) {
	t.Parallel()
	c, _ := workshop(t)
	t.Cleanup(c.gate.Questions.Attach())
	for _, one := range []struct{ id, command, program, want string }{
		{"notes:run", "cat", "cat", "0 dear a"},
		{"notes:later", "cat -", "cat", "0 dear b"},
		{"notes:run", "ls /nowhere", "ls", "2  /usr/bin/ls: cannot access '/nowhere': No such file or directory"},
		{"notes:shell", "echo $((6 * 7)) [$PLUGINS]; exit 3", "sh", "3 42 [own]"},
		{"notes:system", "exit 4", "sh", "1024"},
	} {
		if got := c.asks(one.id, object(t, "command", one.command), " wants to start "+one.program, once); got != one.want {
			t.Errorf("%s: %q, want %q", one.command, got, one.want)
		}
	}
	for id, want := range map[string]string{"notes:talk": "one two 0", "notes:impatient": "it took too long"} {
		program := map[string]string{"notes:talk": "cat", "notes:impatient": "sleep"}[id]
		if got := c.asks(id, "{}", " wants to start "+program, once); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if got := c.asks("notes:much", `{"bytes":5000000}`, " wants to start head", once); got != "5000000" {
		t.Errorf("of 5 MB %q arrived", got)
	}
	if got := c.asks("notes:run", object(t, "command", "cat"), " wants to start cat", never); !strings.Contains(got,
		"cat was not started: the person did not allow it: Not today") {
		t.Errorf("denied: %q", got)
	}
	if got := c.said("notes:run", object(t, "command", "no-such-program")); !strings.Contains(got, "FileNotFoundError") {
		t.Errorf("a program that is not there: %q", got)
	}
}

func TestACommandIsAllowedForGoodAndNoOther(t *testing.T) {
	t.Parallel()
	c, home := workshop(t)
	t.Cleanup(c.gate.Questions.Attach())
	echo := object(t, "command", "echo a b")
	if got := c.asks("notes:run", echo, " wants to start echo", always); got != "0 a b" {
		t.Fatal(got)
	}
	if got := c.said("notes:run", echo); got != "0 a b" {
		t.Errorf("again: %q", got)
	}
	for id, command := range map[string]string{
		"notes:run": "echo a  b c", "notes:later": "echo 'a b'", "notes:shell": "echo a b",
	} {
		program := map[string]string{"notes:shell": "sh"}[id]
		if program == "" {
			program = "echo"
		}
		got := c.asks(id, object(t, "command", command), " wants to start "+program, never)
		if !strings.Contains(got, "not started") {
			t.Errorf("%s: %q", command, got)
		}
	}
	rules, err := c.gate.Rules.List(t.Context())
	must(t, err)
	want := "Notes may start “echo a b” in " + home
	if len(rules) != 1 || gate.Sentence(rules[0], "Notes") != want {
		t.Fatalf("the rules are %+v", rules)
	}
	// It is no permission to start programs.
	if granted, _ := c.gate.Reach.Permissions("notes"); len(granted) != 0 || c.gate.Reach.Programs("notes") != nil {
		t.Errorf("granted is %v", granted)
	}
	if got := c.said("notes:fork", "{}"); got != "PermissionError" {
		t.Errorf("forking is %q", got)
	}
	_, err = c.gate.Rules.Revoke(t.Context(), rules[0].ID)
	must(t, err)
	if got := c.asks("notes:run", echo, " wants to start echo", never); !strings.Contains(got, "not started") {
		t.Errorf("taken back: %q", got)
	}
}

func TestAttackAProgramGetsOutOfTheSandboxOfItsPlugin(t *testing.T) {
	t.Parallel()
	c, home := workshop(t)
	t.Cleanup(c.gate.Questions.Attach())
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	must(t, os.WriteFile(secret, []byte("the secret"), 0o600))
	command := "cat " + secret + "; echo x > " + outside + "/made; echo mine > mine; cat mine"
	got := c.asks("notes:shell", object(t, "command", command), " wants to start sh", once)
	if strings.Contains(got, "the secret") || !strings.Contains(got, "mine") {
		t.Errorf("a program said %q", got)
	}
	if _, err := os.Stat(filepath.Join(outside, "made")); err == nil {
		t.Error("it wrote outside")
	}
	if _, err := os.Stat(filepath.Join(home, "mine")); err != nil {
		t.Error("it could not write in the plugin's folder:", err)
	}
	if got := c.said("notes:own", "{}"); strings.Count(got, " lies where the plugin can change it") != 4 {
		t.Errorf("a program that the plugin can change was asked about: %q", got)
	}
	for _, path := range []string{"~/.ssh/id_ed25519", filepath.Join(c.data, "conclave.db")} {
		if got := c.said("notes:run", object(t, "command", "cat "+path)); !strings.Contains(got, "which no tool may touch") {
			t.Errorf("cat %s: %q", path, got)
		}
	}
	for _, hidden := range []string{"\u202e", "\u3164", "\u034f", "\ufe00", "\U000e0100"} {
		got := c.said("notes:run", object(t, "command", "echo "+hidden+"gnp.exe"))
		if !strings.Contains(got, "invisible characters") {
			t.Errorf("a command with the invisible character %U: %q", []rune(hidden)[0], got)
		}
	}
	project := t.TempDir()
	script := filepath.Join(project, "script.sh")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\necho mine\n"), 0o700))
	lets := gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Permission: gate.Filesystem, Scope: gate.ThisChat, MadeFrom: "ask",
		Conversation: "chat", Match: []gate.Match{
			{Field: "path", Op: gate.PathUnder, Value: project}, {Field: "access", Op: gate.Equals, Value: "write"},
		},
	}
	_, err := c.gate.Rules.Add(t.Context(), lets)
	must(t, err)
	if got := c.said("notes:run", object(t, "command", script)); !strings.Contains(got, "where the plugin can change it") {
		t.Errorf("a program in a folder that was opened for writing: %q", got)
	}
	// Without anybody to ask nothing starts, and in unattended mode a person is asked.
	must(t, c.gate.Modes.StartUnattended(15*time.Minute, 10, 1))
	if got := c.asks("notes:run", object(t, "command", "echo a"), " wants to start echo", never); !strings.Contains(got,
		"not started") {
		t.Errorf("unattended: %q", got)
	}
	c.gate.Modes.EndUnattended()
}

func TestAProgramEndsWithItsPlugin(t *testing.T) {
	t.Parallel()
	c, home := workshop(t)
	t.Cleanup(c.gate.Questions.Attach())
	c.asks("notes:leave", "{}", " wants to start sh", once)
	text, err := os.ReadFile(filepath.Join(home, "pid"))
	must(t, err)
	testkit.Until(t, "its end", func() bool {
		_, err := os.Stat("/proc/" + strings.TrimSpace(string(text)))
		return err != nil
	})
}

func TestAPersonIsAskedAboutFewProgramsAtOnce(t *testing.T) {
	t.Parallel()
	c, home := workshop(t)
	t.Cleanup(c.gate.Questions.Attach())
	ended := make(chan string)
	go func() { ended <- c.said("notes:flood", "{}") }() // ends with the answers
	var requests []gate.Request
	testkit.Until(t, "eight requests", func() bool { requests = c.gate.Questions.List(); return len(requests) == 8 })
	testkit.Appears(t, filepath.Join(home, "four")) // before an answer makes room for another
	for _, r := range requests {
		must(t, c.gate.Questions.Answer(t.Context(), r.ID, r.Nonce, never))
	}
	if got := <-ended; got != "4" {
		t.Errorf("%s of 12 were turned away", got)
	}
}

func TestAProgramGetsTheVariablesThatItsPluginPassesAndItsOwn(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", `
import os, subprocess

HOME = os.environ["HOME"]
os.environ["SET"] = "by the plugin"

def given() -> str:
    "Pass a few."
    return subprocess.check_output(["sh", "-c", "echo $SET,$GREETING,$HOME,$USER"], text=True, env={"GREETING": "hi there"}, cwd=HOME)

def inherited() -> str:
    "Pass all."
    return subprocess.check_output(["sh", "-c", "echo $SET,$GREETING,$HOME,$USER"], text=True, cwd=HOME)
`)
	c.approved("notes")
	t.Cleanup(c.gate.Questions.Attach())
	home := filepath.Join(c.data, "storage", "notes")
	for id, want := range map[string]struct{ command, says string }{
		"notes:given":     {"GREETING='hi there' sh -c ", ",hi there," + home + ",conclave"},
		"notes:inherited": {"SET='by the plugin' sh -c ", "by the plugin,," + home + ",conclave"},
	} {
		ended := make(chan string)
		go func() { ended <- c.said(id, "{}") }() // ends with the answer
		var requests []gate.Request
		testkit.Until(t, "a request", func() bool { requests = c.gate.Questions.List(); return len(requests) == 1 })
		if asked := string(requests[0].Arguments); !strings.Contains(asked, `"command":"`+want.command) {
			t.Errorf("%s is asked about as %s", id, asked)
		}
		must(t, c.gate.Questions.Answer(t.Context(), requests[0].ID, requests[0].Nonce, once))
		if got := <-ended; got != want.says {
			t.Errorf("%s: %q, want %q", id, got, want.says)
		}
	}
}

// vendor is a plugin that starts what a test says.
const vendor = `
import os, subprocess

def run(program: str) -> str:
    "Start a program."
    try:
        return subprocess.check_output([program, "x"], text=True, stderr=subprocess.STDOUT, cwd=os.environ["HOME"])
    except OSError as e:
        return type(e).__name__ + " " + str(e)

def bare(program: str) -> str:
    "Start a program that has no PATH."
    return subprocess.check_output([program, "x"], text=True, env={"A": "b"}, cwd=os.environ["HOME"])
`

func TestAllProgramsAreThoseToWhichLinksInThePathLeadToo(t *testing.T) {
	bin, away := real(t), real(t)
	for name, text := range map[string]string{
		"tool": "#!/usr/bin/env -S sh -e\necho tool $1\n", "inner": "#!" + away + "/tool\necho no\n",
	} {
		must(t, os.WriteFile(filepath.Join(away, name), []byte(text), 0o700))
	}
	unlinked := filepath.Join(real(t), "unlinked")
	must(t, os.WriteFile(unlinked, []byte("#!/bin/sh\necho unlinked $1\n"), 0o700))
	must(t, os.Symlink(filepath.Join(away, "tool"), filepath.Join(away, "alternative")),
		os.Symlink(filepath.Join(away, "alternative"), filepath.Join(bin, "linked")),
		os.Symlink(filepath.Join(away, "inner"), filepath.Join(bin, "scripted")))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", vendor)
	c.approved("notes")
	t.Cleanup(c.gate.Questions.Attach())
	for name, want := range map[string]string{"linked": "tool x", "scripted": "tool " + bin + "/scripted"} {
		if got := c.asks("notes:run", object(t, "program", name), " wants to start "+name, once); got != want {
			t.Errorf("%s, asked about: %q, want %q", name, got, want)
		}
	}
	must(t, c.gate.Reach.SetPermission(t.Context(), "notes", gate.Programs, gate.Allow))
	for name, want := range map[string]string{"linked": "tool x", "scripted": "tool " + bin + "/scripted"} {
		if got := c.said("notes:run", object(t, "program", name)); got != want {
			t.Errorf("%s, with all programs: %q, want %q", name, got, want)
		}
	}
	if got := c.said("notes:bare", object(t, "program", "linked")); got != "tool x" {
		t.Errorf("without a PATH of its own: %q", got)
	}
	if got := c.asks("notes:run", object(t, "program", unlinked), " wants to start unlinked", once); got != "unlinked x" {
		t.Errorf("outside of the PATH: %q", got)
	}
}

// Version managers put a script for each program into the PATH, which starts scripts of their own in
// the folder to which a link leads, and those the program.
func TestAShimBehindALinkStartsWhatLiesWithIt(t *testing.T) {
	bin, shims, manager, away := real(t), real(t), real(t), real(t)
	for path, text := range map[string]string{
		shims + "/thing":        "#!/usr/bin/env bash\nset -e\nexec \"" + manager + "/manage\" run \"${0##*/}\" \"$@\"\n",
		manager + "/manage":     "#!/usr/bin/env bash\nexec \"${BASH_SOURCE[0]%/*}/manage-$1\" \"${@:2}\"\n",
		manager + "/manage-run": "#!/usr/bin/env bash\necho \"the $1 of $2\"\n",
		manager + "/secret":     "a file that everybody may execute, as on some disks\n",
		away + "/other":         "#!/bin/sh\necho other\n",
	} {
		must(t, os.WriteFile(path, []byte(text), 0o700))
	}
	must(t, os.Symlink(manager+"/manage", bin+"/manage"), os.Symlink(away+"/other", manager+"/leads-away"))
	t.Setenv("PATH", strings.Join([]string{shims, bin, os.Getenv("PATH")}, string(filepath.ListSeparator)))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", vendor+`
def read(path: str) -> str:
    "Read a file, by a program."
    return subprocess.run(["cat", path], capture_output=True, text=True).stdout or "nothing"
`)
	c.approved("notes")
	t.Cleanup(c.gate.Questions.Attach())
	if got := c.asks("notes:run", object(t, "program", "thing"), " wants to start thing", once); got != "the thing of x" {
		t.Errorf("asked about: %q", got)
	}
	must(t, c.gate.Reach.SetPermission(t.Context(), "notes", gate.Programs, gate.Allow))
	if got := c.said("notes:run", object(t, "program", "thing")); got != "the thing of x" {
		t.Errorf("with all programs: %q", got)
	}
	for _, path := range []string{manager + "/secret", manager + "/leads-away"} {
		if got := c.said("notes:read", object(t, "path", path)); got != "nothing" {
			t.Errorf("of %s it reads %q", path, got)
		}
	}
}

func TestAProgramThatIsGrantedAloneHasWhatItsFirstLineNames(t *testing.T) {
	t.Parallel()
	away := real(t)
	tool := filepath.Join(away, "tool")
	must(t, os.WriteFile(tool, []byte("#!/usr/bin/env sh\necho tool $1\n"), 0o700))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", vendor)
	c.approved("notes")
	_, err := c.gate.Reach.AllowProgram(t.Context(), "notes", tool)
	must(t, err)
	if got := c.said("notes:run", object(t, "program", tool)); got != "tool x" {
		t.Errorf("got %q", got)
	}
}

func TestAProgramThatIsRefusedAFileLeavesAHintForItsFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(real(t), "my notes")
	must(t, os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "note"), []byte("x"), 0o600))
	c, _ := workshop(t)
	t.Cleanup(c.gate.Questions.Attach())
	const grant = "conclave plugins grant notes "
	files := grant + "filesystem --match path='" + folder + "'"
	for command, want := range map[string]string{
		"cat '" + folder + "/note'":      files,
		"ls '" + folder + "'":            files,
		"cat '" + folder + "/note' 2>&1": files,
		"echo x > '" + folder + "/new'":  files + " --match access=write",
		"mkdir '" + folder + "/sub'":     files + " --match access=write",
	} {
		got := c.asks("notes:shell", object(t, "command", command), " wants to start sh", once)
		if strings.Count(got, grant) != 1 || !strings.HasSuffix(strings.TrimSuffix(got, "."), want) {
			t.Errorf("%s: %q, want %q at its end", command, got, want)
		}
	}
}

func TestWhatIsNotStartedBecauseManyRunIsNoQuestionOfPermissions(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", `
import os, subprocess

def many() -> str:
    "Start programs that stay."
    started = []
    try:
        for _ in range(12):
            started.append(subprocess.Popen(["sleep", "600"], cwd=os.environ["HOME"]))
    except BlockingIOError as e:
        raise RuntimeError("%d started: %s" % (len(started), e))
    finally:
        for p in started:
            p.kill()
            p.wait()
    return "all"
`)
	c.approved("notes")
	_, err := c.gate.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Permission: gate.Start, Scope: gate.Always, MadeFrom: "ask",
		Match: []gate.Match{{Field: "command", Op: gate.Equals, Value: "sleep 600"}},
	})
	must(t, err)
	r := c.call("notes:many", "{}")
	if !strings.Contains(r.Error, "8 started: ") || !strings.Contains(r.Error, "still run, the most there may be") ||
		strings.Contains(r.Error, "conclave plugins grant") {
		t.Errorf("it says %q", r.Error)
	}
}
