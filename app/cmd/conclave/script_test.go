package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/app/test/programtest"
	"conclave/app/test/testkit"

	"github.com/rogpeppe/go-internal/testscript"
)

var must = testkit.Must

// program is the path of the program under test: the static one, as it ships.
var program string

func TestMain(m *testing.M) { programtest.TerminalMain(m, &program) }

// TestScripts runs whole programs by the scripts in testdata/script. Beside the
// commands of testscript they have:
//
//	run STATUS ARGS…      conclave with ARGS must end with the status
//	json PATH [VALUE]     a value of the JSON on standard output: a.0.b[id=x].c
//	json -len PATH N      how many elements it has
//	json -keys PATH K…    it has exactly these keys (? marks one that may lack)
//	json -err PATH VALUE  the same of standard error
//	id NAME PATH          keep a value of the JSON on standard output as $NAME
//	start NAME ARGS…      conclave in the background (-tty: at a terminal)
//	expect NAME REGEXP    wait until it printed that, behind what was expected before
//	type NAME TEXT        a line of input for one that was started (-hidden: once its
//	                      terminal does not show what is typed; -open: several lines at
//	                      once, the last without its end)
//	signal NAME INT|HUP|KILL|TERM|STOP
//	finish NAME STATUS    wait until it ended so; its output is in NAME.out and NAME.err
//	kept NAME PATH TIME   of what NAME printed, the value has all but what came in
//	                      the last TIME
//	typed FILE            the command that FILE ends with, as a shell takes it
//	mode FILE OCTAL       the permissions of a file or folder
//	big FILE BYTES TEXT   a file that repeats TEXT up to that size
//	disk FOLDER SIZE      a small disk, where [mount] holds
//	fill FILE             a file that takes all the room there is
//	pixel FILE            a picture of one pixel
//	hold FILE             keep FILE locked
//	damage FILE           what lies on a disk after one went wrong
//
// A conclave that a script leaves running is killed at its end. $PROGRAM is the
// path of the program, $AI the address of a model server (see modelServer),
// $REFUSED one where nobody listens, $PORT, $PORT2 and $PORT3 ports that nobody has,
// $EARLIER what an earlier Conclave kept.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts speak of signals and modes as Unix has them")
	}
	server, refused := modelServer(t)
	earlier, err := filepath.Abs("testdata/earlier.tar.gz")
	must(t, err)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("CONCLAVE_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("CONCLAVE_PLUGINS", filepath.Join(env.WorkDir, "plugins"))
			env.Setenv("CONCLAVE_PASSPHRASE", "for tests")
			env.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:") // no key goes into a real keychain
			env.Setenv("PROGRAM", program)
			env.Setenv("AI", server)
			env.Setenv("REFUSED", refused)
			for _, name := range []string{"PORT", "PORT2", "PORT3"} {
				env.Setenv(name, testkit.FreePort(t))
			}
			env.Setenv("EARLIER", earlier)
			jobs := &jobs{}
			env.Values[jobsKey{}] = jobs
			env.Defer(jobs.end)
			return os.MkdirAll(home, 0o700)
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": run, "json": jsonCheck, "start": start, "expect": expect, "type": typeLine,
			"id": keep, "signal": sendSignal, "finish": finish, "kept": kept, "typed": typed, "mode": mode, "big": big,
			"damage": damage, "hold": hold, "disk": disk, "fill": fill, "pixel": pixel,
		},
	})
}

// condition knows what the machine must have for a part of a script.
func condition(cond string) (bool, error) {
	switch cond {
	case "mount": // root of a container may lack it
		dir, err := os.MkdirTemp("", "conclave-disk-")
		if err != nil {
			return false, err
		}
		defer os.Remove(dir)
		undo, err := mountSmall(dir, "64k")
		if err == nil {
			undo()
		}
		return err == nil, nil
	case "root":
		return os.Getuid() == 0, nil
	case "python":
		_, err := exec.LookPath("python3")
		return err == nil, nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}

// run implements "run STATUS ARGS…".
func run(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: run STATUS ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := statusOf(ts.Exec(program, args[1:]...))
	if got != want {
		ts.Fatalf("got status %d, want %d", got, want)
	}
}

func statusOf(err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as os/exec returns it
		return exit.ExitCode()
	}
	return -2
}

// pixel implements "pixel FILE".
func pixel(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(png.Encode(file, image.NewGray(image.Rect(0, 0, 1, 1))), file.Close()))
}

// mode implements "mode FILE OCTAL".
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// big implements "big FILE BYTES TEXT".
func big(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := args[2] + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(text, n/len(text)+1)[:n]), 0o600))
}

// damage implements "damage FILE": the pages behind the first two of a bbolt file
// become zeros, as after a disk that lost writes.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	clear(data[2*os.Getpagesize():])
	ts.Check(os.WriteFile(path, data, 0o600))
}

// typed implements "typed FILE".
func typed(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	at := strings.LastIndex(text, ": conclave ")
	if at < 0 {
		ts.Fatalf("%s ends with no command", args[0])
	}
	ts.Check(ts.Exec("sh", "-c", strings.TrimSpace(text[at+2:])))
}

// kept implements "kept NAME PATH TIME".
func kept(ts *testscript.TestScript, _ bool, args []string) {
	limit, err := time.ParseDuration(args[2])
	ts.Check(err)
	var all any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &all))
	got, _ := at(all, args[1])
	text, ok := got.(string)
	j := jobOf(ts, args[0])
	printed := j.out.text()
	switch {
	case !ok || text == "":
		ts.Fatalf("%s is no text", args[1])
	case len(text) >= len(printed):
		return // nothing was lost; the last words may not have been printed
	case !strings.HasPrefix(printed, text):
		ts.Fatalf("%s is not the beginning of what was printed: %q", args[1], text)
	}
	if lost := j.out.since(len(text)); lost > limit {
		ts.Fatalf("%d of %d bytes were lost, what came in the last %s; want at most %s", len(printed)-len(text), len(printed),
			lost, limit)
	}
}

// disk implements "disk FOLDER SIZE".
func disk(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	undo, err := mountSmall(dir, args[1])
	ts.Check(err)
	ts.Value(jobsKey{}).(*jobs).after(undo)
}

// fill implements "fill FILE".
func fill(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	ts.Check(f.Close())
}

// hold implements "hold FILE": a lock on FILE until the script ends, as another
// program has the store that never answers.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR|os.O_CREATE, 0o600)
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
	ts.Check(lock(f))
}

// expect implements "expect NAME REGEXP".
func expect(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: expect NAME REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	ts.Check(jobOf(ts, args[0]).expect(re))
}

// typeLine implements "type [-hidden] NAME TEXT".
func typeLine(ts *testscript.TestScript, _ bool, args []string) {
	hidden, open := args[0] == "-hidden", args[0] == "-open"
	if hidden || open {
		args = args[1:]
	}
	j := jobOf(ts, args[0])
	if hidden {
		ts.Check(j.untilHidden())
	}
	text := strings.Join(args[1:], "\n")
	if !open {
		text += "\n"
	}
	_, err := j.in.Write([]byte(text))
	ts.Check(err)
}

func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "STOP": stopSignal,
	}
	s, ok := signals[args[1]]
	if !ok {
		ts.Fatalf("there is no signal %s here", args[1])
	}
	ts.Check(jobOf(ts, args[0]).cmd.Process.Signal(s))
}

func finish(ts *testscript.TestScript, _ bool, args []string) {
	j := jobOf(ts, args[0])
	got, err := j.wait()
	ts.Check(err)
	for name, b := range map[string]*watched{".out": j.out, ".err": j.err} {
		ts.Check(os.WriteFile(ts.MkAbs(args[0]+name), []byte(b.text()), 0o600))
	}
	if fmt.Sprint(got) != args[1] {
		ts.Logf("[%s stdout]\n%s[%s stderr]\n%s", args[0], j.out.text(), args[0], j.err.text())
		ts.Fatalf("%s ended with %d, want %s", args[0], got, args[1])
	}
}
