//go:build linux

package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/plugin/worker/confine"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// The test binary plays conclave-worker: confine, js, and, as host, a Conclave that is to be killed.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "confine":
		spec, err := confine.ReadSpec()
		if err == nil {
			err = confine.Exec(spec)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case len(os.Args) == 2 && os.Args[1] == "js":
		spec, err := confine.ReadSpec()
		if err == nil {
			err = confine.Self(spec)
		}
		if err == nil {
			err = engine(string(spec.Input))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) == 2 && os.Args[1] == "host":
		host()
	case len(os.Args) == 2 && os.Args[1] == "guard":
		confine.Guard(os.Stdin)
	default:
		os.Exit(m.Run())
	}
}

// engine plays the JavaScript worker in one of several moods.
func engine(mood string) error {
	fmt.Println("ready")
	switch mood {
	case "echo":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case "exit 3":
		os.Exit(3)
	case "crash":
		panic("a crash")
	case "deaf": // pays no heed to being asked to end
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("deaf")
		for {
		}
	case "loop": // pays no heed to the end of its input
		for {
		}
	case "log":
		for i := range 5 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
		fmt.Fprint(os.Stderr, "no newline")
	case "log flood":
		line := []byte(strings.Repeat("x", 4000) + "\n")
		for {
			_, _ = os.Stderr.Write(line)
		}
	case "line flood":
		for {
			_, _ = os.Stderr.Write([]byte("x\nx\nx\nx\nx\nx\nx\nx\nx\nx\n"))
		}
	case "long line":
		chunk := []byte(strings.Repeat("x", 64<<10))
		for {
			_, _ = os.Stdout.Write(chunk)
		}
	case "message flood":
		message := []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n")
		for {
			_, _ = os.Stdout.Write(message)
		}
	case "memory":
		var kept [][]byte
		for {
			kept = append(kept, make([]byte, 1<<20))
			for i := 0; i < 1<<20; i += 4096 {
				kept[len(kept)-1][i] = 1
			}
		}
	case "shared":
		mapping, err := syscall.Mmap(-1, 0, 600<<20, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_SHARED|syscall.MAP_ANON)
		if err != nil {
			return err
		}
		for i := 0; i < len(mapping); i += 4096 {
			mapping[i] = 1
		}
		fmt.Println("taken")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "busy":
		for used := time.Duration(0); used < 100*time.Millisecond; {
			var u syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
			used = time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		fmt.Println("done")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	return nil
}

// host starts processes and waits to be killed.
func host() {
	l := New(Options{Program: os.Args[0]})
	var specs []sandbox.Spec
	if err := json.NewDecoder(os.Stdin).Decode(&specs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, spec := range specs {
		p, err := l.Start(context.Background(), spec)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		line, err := bufio.NewReader(p.Wire()).ReadString('\n')
		if err != nil {
			fmt.Fprintln(os.Stderr, p.Stderr(), err)
			os.Exit(1)
		}
		fmt.Println(p.(*Process).Pid())
		if started, ok := strings.CutPrefix(line, "started "); ok {
			fmt.Print(started) // its own process
		}
	}
	fmt.Println("all")
	select {}
}

var long = testkit.Patience

func launcher(tb testing.TB) *Launcher {
	tb.Helper()
	self, err := filepath.Abs(os.Args[0])
	must(tb, err)
	l := New(Options{Program: self})
	tb.Cleanup(l.Close)
	return l
}

func begin(tb testing.TB, l *Launcher, spec sandbox.Spec) *Process {
	tb.Helper()
	if spec.Memory == 0 {
		spec.Memory = testMemory
	}
	p, err := l.Start(tb.Context(), spec)
	must(tb, err)
	return p.(*Process)
}

// js starts the engine in a mood and waits until it is ready.
func js(tb testing.TB, l *Launcher, mood string) (*Process, *bufio.Reader) {
	tb.Helper()
	p := begin(tb, l, sandbox.Spec{Kind: "js", Input: []byte(mood)})
	r := bufio.NewReader(p.Wire())
	if line, err := r.ReadString('\n'); err != nil || line != "ready\n" {
		<-p.Done()
		tb.Fatalf("the engine said %q, %v; %s\n%s", line, err, p.Exit(), p.Stderr())
	}
	return p, r
}

func over(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(long):
		t.Fatal("the process did not end")
	}
}

func TestAProcessAnswersAndEndsWithItsInput(t *testing.T) {
	p, r := js(t, launcher(t), "echo")
	if _, err := io.WriteString(p.Wire(), "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if p.Exit() != "" {
		t.Errorf("it runs, and Exit says %q", p.Exit())
	}
	if err := p.wire.in.Close(); err != nil { // as End does, without its hurry
		t.Fatal(err)
	}
	over(t, p)
	if p.Exit() != "exit 0" {
		t.Errorf("it ended with %q, want exit 0", p.Exit())
	}
	p.End()
	p.End() // once more
	p.Kill()
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after its end reading says %v, want EOF", err)
	}
	if err := errors.Join(p.Wire().Close(), p.Wire().Close()); err != nil {
		t.Error(err)
	}
}

func TestEndings(t *testing.T) {
	cases := map[string]struct{ mood, exit, stderr string }{
		"it leaves":  {"exit 3", "exit 3", ""},
		"it crashes": {"crash", "exit 2", "panic: a crash"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, _ := js(t, launcher(t), c.mood)
			over(t, p)
			if p.Exit() != c.exit || !strings.Contains(p.Stderr(), c.stderr) {
				t.Errorf("%s: %s", p.Exit(), p.Stderr())
			}
		})
	}
}

func TestMC15AProcessWithNoticeIsAskedToEndBeforeItIsKilled(t *testing.T) {
	l := launcher(t)
	for mood, want := range map[string]string{"loop": "signal: terminated", "deaf": "signal: killed"} {
		p := begin(t, l, sandbox.Spec{Kind: "js", Input: []byte(mood), Notice: 300 * time.Millisecond})
		r := bufio.NewReader(p.Wire())
		for range map[string]int{"loop": 1, "deaf": 2}[mood] { // until it is deaf
			if _, err := r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		p.End()
		if p.Exit() != want {
			t.Errorf("%s ended with %q, not %q", mood, p.Exit(), want)
		}
	}
}

func TestALoopIsKilled(t *testing.T) {
	l := launcher(t)
	p, _ := js(t, l, "loop")
	began := time.Now()
	p.End()
	if took := time.Since(began); took < patience || p.Exit() != "signal: killed" {
		t.Errorf("ended with %q after %v", p.Exit(), took)
	}
	p, _ = js(t, l, "loop")
	p.Kill()
	over(t, p)
	if p.Exit() != "signal: killed" {
		t.Errorf("ended with %q", p.Exit())
	}
}

func TestFloodsEndTheProcess(t *testing.T) {
	cases := map[string]string{
		"log flood": "to its log", "line flood": "to its log", "long line": "4194304 bytes",
		"message flood": "more than Conclave takes",
	}
	for mood, want := range cases {
		t.Run(mood, func(t *testing.T) {
			t.Parallel()
			p, r := js(t, launcher(t), mood)
			_, err := io.Copy(io.Discard, r)
			broken, ok := errors.AsType[*wire.Broken](err)
			if !ok || broken.Kind != "flooded" || !errors.Is(err, ErrFlooded) || !strings.Contains(broken.Message, want) {
				t.Errorf("reading ended with %v, want a flood and %q", err, want)
			}
			over(t, p)
			if !strings.HasPrefix(p.Exit(), "ended: It ") || len(p.Stderr()) > tailBytes {
				t.Errorf("exit %q, %d bytes of log", p.Exit(), len(p.Stderr()))
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	if testMemory != 0 {
		t.Skip("the race detector does not fit a limit of memory")
	}
	p, _ := js(t, launcher(t), "memory")
	over(t, p)
	if !strings.Contains(p.Stderr(), "out of memory") && !strings.Contains(p.Stderr(), "cannot allocate memory") {
		t.Errorf("%s: %s", p.Exit(), p.Stderr())
	}
}

func TestAPluginThatMakesThreadsWithoutEndIsStopped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the threads of a process are told on Linux")
	}
	for what, spawn := range map[string]bool{"threads": false, "programs": true} {
		t.Run(what, func(t *testing.T) {
			const each = 100
			programs := 0
			if spawn {
				programs = programsShare * limit.PluginThreads / each
			}
			spec := python(t, fmt.Sprintf(`
import os, threading
threading.stack_size(32 << 10)
stay, count = threading.Event(), %d
for _ in range(%d):
    if os.fork() == 0:
        count = %d
        break
for _ in range(count):
    threading.Thread(target=stay.wait).start()
stay.wait()
`, limit.PluginThreads, programs, each))
			spec.Spawn = spawn
			p := begin(t, launcher(t), spec)
			over(t, p)
			if want := "ended: " + "It has more threads than a plugin may have."; p.Exit() != want {
				t.Errorf("got %q, want %q; %s", p.Exit(), want, p.Stderr())
			}
		})
	}
}

func TestSharedMemoryCountsToo(t *testing.T) {
	if testMemory != 0 {
		t.Skip("the race detector does not fit a limit of memory")
	}
	t.Run("of the plugin", func(t *testing.T) {
		p, r := js(t, launcher(t), "shared")
		_, err := io.Copy(io.Discard, r)
		broken, ok := errors.AsType[*wire.Broken](err)
		if !ok || broken.Kind != "memory" || !errors.Is(err, ErrMemory) {
			t.Errorf("reading ended with %v, want that it took too much memory", err)
		}
		over(t, p)
		if want := "ended: " + "It took more memory than a plugin may have."; p.Exit() != want {
			t.Errorf("got %q, want %q", p.Exit(), want)
		}
	})
	t.Run("of its tables", func(t *testing.T) {
		p := begin(t, launcher(t), python(t, `
import mmap
while True: # nothing is written, so nothing but the tables is in memory
    m = mmap.mmap(-1, 1 << 38, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
    m.madvise(15) # no huge pages
    for i in range(0, len(m), 2 << 20):
        m[i]
`))
		over(t, p)
		if want := "ended: " + "It took more memory than a plugin may have."; p.Exit() != want {
			t.Errorf("got %q, want %q", p.Exit(), want)
		}
	})
	t.Run("of what it started", func(t *testing.T) {
		spec := python(t, `
import mmap, os, time
for _ in range(3):
    if os.fork() == 0:
        m = mmap.mmap(-1, 600 << 20)
        for i in range(0, len(m), 4096):
            m[i] = 1
        time.sleep(1000)
time.sleep(1000)
`)
		spec.Spawn = true
		p := begin(t, launcher(t), spec)
		over(t, p)
		if want := "ended: " + "It took more memory than a plugin may have."; p.Exit() != want {
			t.Errorf("got %q, want %q", p.Exit(), want)
		}
	})
	t.Run("pages that are shared count once", func(t *testing.T) {
		spec := python(t, `
import mmap, os, sys, time
m = mmap.mmap(-1, 100 << 20)
for i in range(0, len(m), 4096):
    m[i] = 1
for _ in range(20):
    if os.fork() == 0:
        sum(m[i] for i in range(0, len(m), 4096))
        os.write(1, b"read\n")
        time.sleep(1000)
time.sleep(1000)
`)
		spec.Spawn = true
		p := begin(t, launcher(t), spec)
		lines := bufio.NewReader(p.Wire())
		for range 1 + 20 {
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err, p.Stderr())
			}
		}
		if got := used(p.Pid(), true, 0); got < 100<<20 || got > 400<<20 {
			t.Errorf("%d MiB are counted, want the 100 MiB once, and the interpreters", got>>20)
		}
	})
}

func TestLinesAreFollowed(t *testing.T) {
	p, _ := js(t, launcher(t), "log")
	var mu sync.Mutex
	var got []string
	p.Lines(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, line)
	})
	over(t, p)
	want := "line 0|line 1|line 2|line 3|line 4|no newline"
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %s", got, want)
	}
	if p.Stderr() != strings.ReplaceAll(want, "|", "\n") {
		t.Errorf("stderr is %q", p.Stderr())
	}
}

func TestUsageIsRead(t *testing.T) {
	p, r := js(t, launcher(t), "busy")
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if u := p.Usage(); u.CPU < 80*time.Millisecond || u.Memory < 100<<10 {
		t.Errorf("while it ran: %+v", u)
	}
	p.End()
	if u := p.Usage(); u.CPU < 80*time.Millisecond || u.Memory != 0 {
		t.Errorf("when it was over: %+v", u)
	}
}

func TestWhatCannotBeStartedIsAProblem(t *testing.T) {
	l := launcher(t)
	cases := map[string]struct {
		l    *Launcher
		spec sandbox.Spec
		want string
	}{
		"no such program": {
			l, sandbox.Spec{Kind: "command", Argv: []string{"/no/such/python3"}}, "/no/such/python3 is not on this computer",
		},
		"a folder":    {l, sandbox.Spec{Kind: "command", Argv: []string{"/usr"}}, "is a folder"},
		"nothing":     {l, sandbox.Spec{Kind: "command"}, "names no program"},
		"an odd kind": {l, sandbox.Spec{Kind: "odd"}, `kind "odd"`},
		"no folder":   {l, sandbox.Spec{Kind: "js", Dir: "/no/such/folder"}, "/no/such/folder"},
		"its program is gone": {
			New(Options{Program: "/no/such/conclave-worker"}), sandbox.Spec{Kind: "js", Dir: "/"}, "/no/such/conclave-worker",
		},
		"a relative path": {New(Options{Program: "conclave-worker"}), sandbox.Spec{Kind: "js"}, "not absolute"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.l != l {
				defer c.l.Close()
			}
			_, err := c.l.Start(t.Context(), c.spec)
			problem, ok := errors.AsType[*plugin.Problem](err)
			if !ok || problem.Kind != "unavailable" || !strings.Contains(problem.Message, c.want) {
				t.Errorf("got %v, want a problem with %q", err, c.want)
			}
		})
	}
}

func TestStartHeedsItsContext(t *testing.T) {
	why := errors.New("never mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := launcher(t).Start(ctx, sandbox.Spec{Kind: "js"}); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	l := launcher(t)
	var processes []*Process
	for range 3 {
		p, _ := js(t, l, "loop")
		processes = append(processes, p)
	}
	l.Close()
	for _, p := range processes {
		select {
		case <-p.Done():
		default:
			t.Error("Close returned before a process had ended")
		}
	}
	if _, err := l.Start(t.Context(), sandbox.Spec{Kind: "js"}); err == nil {
		t.Error("a closed launcher started a process")
	}
	l.Close()
}

func TestStartsFromManyGoroutines(t *testing.T) {
	l := launcher(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				p, err := l.Start(t.Context(), sandbox.Spec{Kind: "js", Input: []byte("echo"), Memory: testMemory})
				if err != nil {
					t.Error(err)
					return
				}
				if line, err := bufio.NewReader(p.Wire()).ReadString('\n'); line != "ready\n" {
					t.Errorf("%q, %v, %s, %s", line, err, p.Exit(), p.Stderr())
				}
				p.End()
				_ = p.Wire().Close()
				if p.Exit() != "exit 0" && p.Exit() != "signal: killed" { // killed where 200 ms were too short on a busy machine
					t.Errorf("%s: %s", p.Exit(), p.Stderr())
				}
			}
		})
	}
	wg.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.processes) != 0 {
		t.Errorf("%d processes are still counted", len(l.processes))
	}
}

// python returns a spec that runs code; it has what a plugin in Python has.
func python(tb testing.TB, code string) sandbox.Spec {
	tb.Helper()
	programtest.Walls(tb, Detect())
	paths, err := pythonPaths()
	if err != nil {
		tb.Skip("there is no python3 here:", err)
	}
	return sandbox.Spec{
		Kind:    "command",
		Argv:    []string{paths[0], "-I", "-S", "-B", "-X", "utf8", "-c", "print('ready', flush=True)\n" + code},
		Env:     []string{"LANG=C.UTF-8"},
		Read:    append(paths[1:], "/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"),
		Execute: []string{paths[0], "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"},
	}
}

var pythonPaths = sync.OnceValues(func() ([]string, error) {
	out, err := exec.Command("python3", "-I", "-S", "-c",
		`import sys, os, sysconfig, json; print(json.dumps([os.path.realpath(sys.executable), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), sys.base_prefix + "/lib"]))`).Output()
	if err != nil {
		return nil, err
	}
	var paths []string
	return paths, json.Unmarshal(out, &paths)
})

func TestHostilePython(t *testing.T) {
	cases := map[string]struct {
		code string
		ends bool // by itself
	}{
		"loop":        {"while True: pass", false},
		"catches all": {"while True:\n try:\n  while True: pass\n except BaseException: pass", false},
		"ignores signals": {
			"import signal\nfor s in range(1, 65):\n try: signal.signal(s, signal.SIG_IGN)\n except (OSError, ValueError): " +
				"pass\nwhile True: pass",
			false,
		},
		"big number": {"7**10**9", false},
		"threads": {
			"import threading\nwhile True:\n try: threading.Thread(target=lambda: " +
				"threading.Event().wait()).start()\n except RuntimeError: threading.Event().wait()",
			false,
		},
		"daemon":       {"import os\nos.fork()", true},
		"exits":        {"import os\nos._exit(7)", true},
		"raises":       {"raise ValueError('no')", true},
		"kills itself": {"import os\nos.kill(os.getpid(), 9)", true},
		"crashes":      {"import ctypes\nctypes.string_at(0)", true},
		"closes":       {"import os, threading\nos.close(1); os.close(2); os.close(0)\nthreading.Event().wait()", false},
		"garbage":      {"import os\nos.write(1, os.urandom(1000))\nimport threading\nthreading.Event().wait()", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, launcher(t), python(t, c.code))
			r := bufio.NewReader(p.Wire())
			if line, err := r.ReadString('\n'); err != nil {
				over(t, p)
				t.Fatalf("%q, %v: %s", line, err, p.Stderr())
			}
			if c.ends {
				over(t, p)
				if p.Exit() == "exit 0" {
					t.Errorf("it ended with %s: %s", p.Exit(), p.Stderr())
				}
				return
			}
			p.End() // it never ends by itself
			// Where it was slow to begin, its threads may have been counted before.
			many := name == "threads" && p.Exit() == "ended: "+"It has more threads than a plugin may have."
			if p.Exit() != "signal: killed" && !many {
				t.Errorf("it ended with %s: %s", p.Exit(), p.Stderr())
			}
		})
	}
}

func TestAKilledConclaveLeavesNoProcess(t *testing.T) {
	killHost(t, 4, []sandbox.Spec{
		{Kind: "js", Input: []byte("loop"), Memory: testMemory},
		{Kind: "js", Input: []byte("echo"), Memory: testMemory},
		python(t, "while True: pass"),
		python(t, "import threading\nthreading.Event().wait()"),
	})
}

// A program that a plugin starts is not told of Conclave's death. This one has lost
// its parent, tries to leave its group, and ignores signals.
func TestWhatAPluginStartedDiesWithAKilledConclave(t *testing.T) {
	spec := python(t, `
import os, signal, sys, time
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() > 0:
        os._exit(0)
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(s, signal.SIG_IGN)
    for leave in (os.setsid, lambda: os.setpgid(0, 0), lambda: os.setpgid(0, os.getppid())):
        try:
            leave()
        except OSError:
            pass
    for fd in (0, 1, 2):
        os.close(fd)
    os.write(w, str(os.getpid()).encode())
    while True:
        time.sleep(1000)
os.wait()
print("started", os.read(r, 100).decode(), flush=True)
time.sleep(1000)
`)
	spec.Argv[len(spec.Argv)-1] = strings.TrimPrefix(spec.Argv[len(spec.Argv)-1], "print('ready', flush=True)\n")
	spec.Spawn = true
	killHost(t, 4, []sandbox.Spec{spec, spec})
}

// killHost has a host start processes, kills it as kill -9 does, and waits until
// none of the processes is left. want is how many there are in all.
func killHost(t *testing.T, want int, specs []sandbox.Spec) {
	t.Helper()
	for i := range specs {
		if specs[i].Memory == 0 {
			specs[i].Memory = testMemory
		}
	}
	input, err := json.Marshal(specs)
	must(t, err)
	self, err := filepath.Abs(os.Args[0])
	must(t, err)
	cmd := exec.Command(self, "host")
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var pids []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "all" {
		pid, err := strconv.Atoi(lines.Text())
		must(t, err)
		pids = append(pids, pid)
	}
	if len(pids) != want {
		t.Fatalf("there are %d processes, want %d", len(pids), want)
	}
	for _, pid := range pids {
		if !alive(pid) {
			t.Errorf("%d is not alive before the host is killed", pid)
		}
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	deadline := time.After(long)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, pid := range pids {
		for alive(pid) {
			select {
			case <-tick.C:
			case <-deadline:
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // says which of them it is
				command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				t.Fatalf("%d of %v outlived its host: %q\n%s", pid, pids, command, status)
			}
		}
	}
}

// alive reports a process that exists and is not merely waiting to be reaped.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

func TestALargeSpecArrives(t *testing.T) {
	spec := sandbox.Spec{
		Kind: "js", Input: []byte("echo"), Env: []string{"X=" + strings.Repeat("x", 1000)},
		Read: []string{"/" + strings.Repeat("y", 5<<20)}, Memory: testMemory,
	}
	p := begin(t, launcher(t), spec)
	// Landlock refuses a path of 5 MB; that it did says that it came.
	over(t, p)
	if !strings.Contains(p.Stderr(), "file name too long") {
		t.Errorf("%s: %.300s", p.Exit(), p.Stderr())
	}
}

func benchmarkStart(b *testing.B, spec sandbox.Spec) {
	l := launcher(b)
	for b.Loop() {
		p := begin(b, l, spec)
		if line, err := bufio.NewReader(p.Wire()).ReadString('\n'); err != nil {
			<-p.Done()
			b.Fatalf("%q %v: %s", line, err, p.Stderr())
		}
		b.StopTimer()
		p.End()
		_ = p.Wire().Close()
		b.StartTimer()
	}
}

func BenchmarkStartToReadyJS(b *testing.B) {
	benchmarkStart(b, sandbox.Spec{Kind: "js", Input: []byte("echo")})
}

func BenchmarkStartToReadyPython(b *testing.B) {
	benchmarkStart(b, python(b, "import sys\nsys.stdin.read()"))
}
