package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"sync"
	"time"

	"conclave/app/test/testkit"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds every wait of a script: much more than anything takes on a
// machine that does other things too.
var patience = testkit.Patience

type jobsKey struct{}

// jobs are the programs that a script started, by name.
type jobs struct {
	mu   sync.Mutex // guards the fields below
	all  map[string]*job
	last []func() // what to undo once they ended
}

// after has undo called once every program ended.
func (js *jobs) after(undo func()) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.last = append(js.last, undo)
}

// end kills what still runs.
func (js *jobs) end() {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		_ = j.cmd.Process.Kill()
		_, _ = j.wait()
		for _, c := range j.close {
			_ = c.Close()
		}
	}
	for _, undo := range js.last {
		undo()
	}
}

// job is one conclave in the background.
type job struct {
	cmd      *exec.Cmd
	in       io.Writer
	out, err *watched
	close    []io.Closer
	done     chan struct{} // closed when it ended
	status   int           // set before done is closed
}

// start implements "start NAME [-tty] ARGS…".
func start(ts *testscript.TestScript, _ bool, args []string) {
	name, args := args[0], args[1:]
	tty := len(args) > 0 && args[0] == "-tty"
	if tty {
		args = args[1:]
	}
	changed := make(chan struct{}, 1)
	j := &job{
		cmd: exec.Command(program, args...), out: &watched{changed: changed}, err: &watched{changed: changed},
		done: make(chan struct{}),
	}
	j.cmd.Dir = ts.MkAbs(".")
	j.cmd.Env = append(os.Environ(), "TERM=dumb")
	for _, v := range []string{
		"HOME", "PATH", "CONCLAVE_DATA", "CONCLAVE_PLUGINS", "CONCLAVE_PASSPHRASE", "DBUS_SESSION_BUS_ADDRESS", "NO_COLOR",
	} {
		j.cmd.Env = append(j.cmd.Env, v+"="+ts.Getenv(v))
	}
	j.cmd.Stdout, j.cmd.Stderr = j.out, j.err
	if tty {
		ts.Check(j.atTerminal())
	} else {
		in, err := j.cmd.StdinPipe()
		ts.Check(err)
		j.in = in
	}
	ts.Check(j.cmd.Start())
	go func() { // ends with the program, which jobs.end kills
		j.status = statusOf(j.cmd.Wait())
		close(j.done)
	}()
	js := ts.Value(jobsKey{}).(*jobs)
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.all == nil {
		js.all = map[string]*job{}
	}
	js.all[name] = j
}

func jobOf(ts *testscript.TestScript, name string) *job {
	js := ts.Value(jobsKey{}).(*jobs)
	js.mu.Lock()
	defer js.mu.Unlock()
	j, ok := js.all[name]
	if !ok {
		ts.Fatalf("nothing named %s was started", name)
	}
	return j
}

// wait returns the status the program ended with.
func (j *job) wait() (int, error) {
	select {
	case <-j.done:
		return j.status, nil
	case <-time.After(patience):
		return 0, fmt.Errorf("it still runs after %s; it printed:\n%s\n%s", patience, j.out.text(), j.err.text())
	}
}

// expect waits until either stream matches behind what it matched before.
func (j *job) expect(re *regexp.Regexp) error {
	late := time.After(patience)
	for {
		if j.out.match(re) || j.err.match(re) {
			return nil
		}
		select {
		case <-j.out.changed:
		case <-j.done:
			if j.out.match(re) || j.err.match(re) {
				return nil
			}
			return fmt.Errorf("it ended with %d and never printed %s, but:\n%s\n%s", j.status, re, j.out.text(), j.err.text())
		case <-late:
			return fmt.Errorf("it did not print %s within %s, but:\n%s\n%s", re, patience, j.out.text(), j.err.text())
		}
	}
}

// watched is output that can be waited for. It is safe for concurrent use.
type watched struct {
	changed chan struct{} // of capacity 1: there is more

	mu   sync.Mutex // guards the fields below
	b    bytes.Buffer
	seen int
	came []arrival
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.came = append(w.came, arrival{w.b.Len(), time.Now()})
	w.b.Write(p)
	w.mu.Unlock()
	select {
	case w.changed <- struct{}{}:
	default: // a wake-up is due already
	}
	return len(p), nil
}

// arrival is when a piece of output came, and which byte it began with.
type arrival struct {
	at   int
	when time.Time
}

// since returns the time between byte n and the last one.
func (w *watched) since(n int) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := max(0, sort.Search(len(w.came), func(i int) bool { return w.came[i].at > n })-1)
	return w.came[len(w.came)-1].when.Sub(w.came[i].when)
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

func (w *watched) match(re *regexp.Regexp) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := re.FindIndex(w.b.Bytes()[w.seen:])
	if at == nil {
		return false
	}
	w.seen += at[1]
	return true
}
