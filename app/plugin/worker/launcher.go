package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/plugin/worker/confine"
)

// ErrFlooded ends the reading of a process's output when it sent more than
// is taken: a line over 4 MiB, or more bytes or lines a second than anybody
// could use.
var ErrFlooded = wire.ErrFlooded

// ErrMemory ends the reading of a process's output when it took more memory
// than it may.
var ErrMemory = errors.New("it took too much memory")

// ErrThreads is the same of one that made too many threads or programs.
var ErrThreads = errors.New("it has too many threads")

// Options of a Launcher.
type Options struct {
	// Program is the path of conclave-worker, which every process is started from.
	Program string
	// Log gets warnings; nil discards them. What processes print is
	// not logged here: see Process.Lines.
	Log *slog.Logger
}

// Launcher starts processes in a sandbox. Use [New], and Close when no plugin is
// needed any more. It is safe for concurrent use.
//
// Goroutines: one starts the processes, on one thread for the launcher's life,
// since Linux kills a child when the thread that started it ends (Pdeathsig).
// Each process has four, which end with it: for its end, its standard error, its
// spec and its memory. Close ends and waits for all.
type Launcher struct {
	o      Options
	starts chan start
	closed chan struct{} // closed by Close
	over   chan struct{} // closed when the starting goroutine has returned
	guard  guard

	mu        sync.Mutex // guards the fields below
	closing   bool
	processes map[*Process]struct{}
}

// start asks the starting goroutine for one process.
type start struct {
	process *Process
	begun   chan error
}

var _ sandbox.Launcher = (*Launcher)(nil)

// New returns a launcher. That Program exists is found out at the first start.
func New(o Options) *Launcher {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &Launcher{
		o: o, starts: make(chan start), closed: make(chan struct{}), over: make(chan struct{}),
		guard: guard{program: o.Program}, processes: map[*Process]struct{}{},
	}
	go l.serve() // ended by Close
	return l
}

// Confinement returns which sandbox this system has.
func (l *Launcher) Confinement() sandbox.Confinement { return Detect() }

// Detect describes which sandbox this system has.
var Detect = sync.OnceValue(confine.Detect)

// serve starts processes on one thread until Close.
func (l *Launcher) serve() {
	runtime.LockOSThread()
	// Unlocked at the end, since a thread that ends takes its children with it:
	// by then there are none.
	defer runtime.UnlockOSThread()
	defer close(l.over)
	for {
		select {
		case s := <-l.starts:
			s.begun <- s.process.group.start(s.process.cmd)
		case <-l.closed:
			return
		}
	}
}

// Start starts a process. It returns a *[Process] once the process exists. The
// error is a *plugin.Problem of kind unavailable, or the cause of ctx's end; ctx
// bounds the start and not the process.
func (l *Launcher) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	cmd, err := l.command(spec)
	if err != nil {
		return nil, err
	}
	p, err := newProcess(cmd, spec)
	if err != nil {
		return nil, noProcess(err)
	}
	p.log = l.o.Log
	if err := l.begin(ctx, p); err != nil {
		p.discard()
		return nil, err
	}
	return p, nil
}

// begin has the process started and counts it among ours.
func (l *Launcher) begin(ctx context.Context, p *Process) error {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return closing()
	}
	l.processes[p] = struct{}{}
	l.mu.Unlock()
	forget := func() {
		l.mu.Lock()
		delete(l.processes, p)
		l.mu.Unlock()
	}

	s := start{process: p, begun: make(chan error, 1)}
	select {
	case l.starts <- s:
	case <-ctx.Done():
		forget()
		close(p.done)
		return context.Cause(ctx)
	case <-l.closed:
		forget()
		close(p.done)
		return closing()
	}
	if err := <-s.begun; err != nil { // a fork and an exec: not worth interrupting
		forget()
		close(p.done)
		return noProcess(err)
	}
	over := forget
	if guarded(p.spec) {
		pid := p.Pid()
		if err := l.guard.add(pid); err != nil {
			l.o.Log.Warn("what a plugin starts would outlive a Conclave that is killed", "err", err)
		}
		over = func() { l.guard.remove(pid); forget() }
	}
	p.run(over)
	l.mu.Lock()
	late := l.closing // Close may have passed it over
	l.mu.Unlock()
	if late {
		p.Kill()
	}
	return nil
}

// command makes the command line of spec: one of our own program's, which turns
// into what spec wants.
func (l *Launcher) command(spec sandbox.Spec) (*exec.Cmd, error) {
	if l.o.Program == "" || !filepath.IsAbs(l.o.Program) {
		return nil, noProcess(fmt.Errorf("the path of conclave-worker is not absolute: %q", l.o.Program))
	}
	var cmd *exec.Cmd
	switch spec.Kind {
	case "js", "pdf":
		cmd = exec.Command(l.o.Program, spec.Kind) //nolint:noctx // Close and Kill end it
		cmd.Env = spec.Env
	case "command":
		if err := exists(spec); err != nil {
			return nil, err
		}
		cmd = commandOf(l.o.Program, spec)
	default:
		return nil, noProcess(fmt.Errorf("a process of kind %q is unknown", spec.Kind))
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean ours
	}
	if cmd.Dir = spec.Dir; cmd.Dir == "" {
		cmd.Dir = filepath.Dir(l.o.Program)
	}
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		return nil, &plugin.Problem{
			Kind: "unavailable", Message: "The folder " + cmd.Dir + ", in which the plugin is to run, is missing.",
			Hint: "Make it again, or restart Conclave.",
		}
	}
	return cmd, nil
}

// exists reports a program that is not there before anything is started for it.
func exists(spec sandbox.Spec) error {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return noProcess(errors.New("the spec names no program"))
	}
	name := spec.Argv[0]
	if !filepath.IsAbs(name) {
		return nil // found through the environment of the process
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &plugin.Problem{
			Kind: "unavailable", Message: "The program " + name + " is not on this computer.",
			Hint: "Install it, or correct its path.",
		}
	case err != nil:
		return &plugin.Problem{
			Kind: "unavailable", Message: "The program " + name + " cannot be started: " + reason(err) + ".",
			Hint: "Check that you may run it.",
		}
	case info.IsDir():
		return &plugin.Problem{Kind: "unavailable", Message: name + " is a folder, not a program.", Hint: "Correct its path."}
	}
	return nil
}

func noProcess(err error) error {
	p := &plugin.Problem{Kind: "unavailable", Message: "Its process could not be started: " + reason(err) + "."}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Message = "The program that plugins are started from is missing: " + reason(err) + "."
		p.Hint = "Install Conclave again; conclave-worker belongs next to its other programs."
	case errors.Is(err, fs.ErrPermission):
		p.Hint = "Check that you may run it, or install Conclave again."
	case tooMany(err):
		p.Hint = "Too many processes or open files: close other programs, then reload the plugin."
	}
	return p
}

// reason is the innermost sentence of an error, with the path it is about.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Path + ": " + e.Err.Error()
	}
	return strings.TrimSuffix(err.Error(), ".")
}

func closing() error {
	return &plugin.Problem{Kind: "unavailable", Message: "Conclave is closing."}
}

// Close kills every process that still runs and waits for the end of all. It may
// be called more than once.
func (l *Launcher) Close() {
	l.mu.Lock()
	first := !l.closing
	l.closing = true
	processes := make([]*Process, 0, len(l.processes))
	for p := range l.processes {
		processes = append(processes, p)
	}
	l.mu.Unlock()
	for _, p := range processes {
		p.Kill()
	}
	for _, p := range processes {
		<-p.done
	}
	if first {
		close(l.closed)
	}
	<-l.over
	l.guard.close()
}
