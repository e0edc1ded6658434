package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/plugin/worker/confine"
)

// patience is the time that a process may take to end by itself once its input has
// ended.
const patience = 200 * time.Millisecond

// lastWords is the time that the standard error of a dead process is read on, and
// lastMessages its standard output. They end with it, unless something it started
// holds them open.
const (
	lastWords    = time.Second
	lastMessages = 2 * time.Second
)

const (
	// watchEvery is the interval at which a process's memory and threads are looked at: in a second
	// it can take a few gigabytes, which a machine survives, and a look takes 40 µs.
	watchEvery = time.Second
	// programsShare is the number of times the memory and the threads of one process a
	// plugin may have that starts programs, all together.
	programsShare = 4
)

// Process is one running child; see sandbox.Process. It is safe for concurrent
// use, except that one goroutine at a time reads its wire.
type Process struct {
	cmd   *exec.Cmd
	spec  sandbox.Spec
	log   *slog.Logger
	group group // what Kill kills: the process and what it started

	wire   *pipes
	stderr *tail
	errIn  *os.File // our end of its standard error
	specs  *os.File // our end of the pipe its spec goes through
	theirs []*os.File
	held   held // our end of what holds its connections

	done   chan struct{} // closed when it has been reaped and its last words read
	ending sync.Once
	exit   string // how it ended; written before done is closed

	mu    sync.Mutex // guards alive
	alive bool       // it was started, and its id is its own
	flood atomic.Pointer[wire.Broken]
}

var _ sandbox.Process = (*Process)(nil)

// newProcess makes the pipes of cmd.
func newProcess(cmd *exec.Cmd, spec sandbox.Spec) (*Process, error) {
	p := &Process{cmd: cmd, spec: spec, done: make(chan struct{}), stderr: newTail()}
	var ours []*os.File
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err != nil {
			closeAll(append(ours, p.theirs...))
		}
		return r, w, err
	}
	inR, inW, err := pipe()
	if err != nil {
		return nil, err
	}
	ours, p.theirs = append(ours, inW), append(p.theirs, inR)
	outR, outW, err := pipe()
	if err != nil {
		return nil, err
	}
	ours, p.theirs = append(ours, outR), append(p.theirs, outW)
	errR, errW, err := pipe()
	if err != nil {
		return nil, err
	}
	ours, p.theirs = append(ours, errR), append(p.theirs, errW)
	specR, specW, err := pipe()
	if err != nil {
		return nil, err
	}
	p.theirs = append(p.theirs, specR)

	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	p.errIn, p.specs = errR, specW
	p.wire = &pipes{p: p, in: inW, out: outR, meter: newMeter(outputRate, time.Now), most: spec.Line}
	if p.wire.most == 0 {
		p.wire.most = wire.MaxLine
	}
	if spec.Kind == "command" && len(spec.Input) > 0 {
		p.wire.first = confine.Preface(spec)
	}
	if err := inherit(cmd, specR); err != nil {
		p.discard()
		return nil, err
	}
	if err := p.hold(); err != nil {
		p.discard()
		return nil, err
	}
	p.group.prepare(cmd)
	endWithLauncher(cmd)
	return p, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// discard closes the pipes of a process that was never started.
func (p *Process) discard() {
	closeAll(append(p.theirs, p.errIn, p.specs, p.wire.in, p.wire.out))
	p.held.close()
}

// run begins to look after a process that has just been started; over is called
// when it is gone.
func (p *Process) run(over func()) {
	closeAll(p.theirs)
	p.mu.Lock()
	p.alive = true
	p.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(p.tell)   // ends when the spec is written or the process is gone
	wg.Go(p.listen) // ends with the process's standard error
	gone := make(chan struct{})
	wg.Go(func() { // ends with the process
		if err := p.held.serve(p.spec, gone); err != nil {
			p.log.Warn("the connections of a plugin's process cannot be made for it", "err", err)
		}
	})
	wg.Go(func() { p.watch(gone) }) // ends with the process
	go func() {                     // ends with the process; Close and End wait for it through done
		p.await()
		close(gone)
		_ = p.errIn.SetReadDeadline(time.Now().Add(lastWords))
		_ = p.wire.out.SetReadDeadline(time.Now().Add(lastMessages))
		_ = p.specs.SetWriteDeadline(time.Now())
		p.held.close()
		wg.Wait()
		p.stderr.close()
		p.group.close()
		over()
		close(p.done)
	}()
}

// await waits for the end of the process, and ends what it started.
func (p *Process) await() {
	p.group.wait(p.cmd) // dead and not yet reaped, so its id is still its own
	p.mu.Lock()
	p.group.kill(p.cmd)
	p.alive = false
	p.mu.Unlock()
	err := p.cmd.Wait()
	switch state := p.cmd.ProcessState; {
	case p.flood.Load() != nil:
		p.exit = "ended: " + p.flood.Load().Message
	case state == nil:
		p.exit = fmt.Sprint(err)
	default:
		p.exit = exitOf(state)
	}
}

// tell writes the spec to the process.
func (p *Process) tell() {
	if err := confine.WriteSpec(p.specs, p.spec); err != nil {
		p.log.Debug("a plugin's process did not read its spec", "err", err)
	}
	_ = p.specs.Close()
}

// listen reads the process's standard error to its end.
func (p *Process) listen() {
	defer func() { _ = p.errIn.Close() }()
	m := newMeter(logRate, time.Now)
	buf := make([]byte, 16<<10)
	for {
		n, err := p.errIn.Read(buf)
		if n > 0 {
			p.stderr.write(buf[:n])
			if m.over(buf[:n]) {
				_ = p.flooded("It wrote more to its log than Conclave takes, over " + logRate.String() + ".")
			}
		}
		if err != nil {
			return
		}
	}
}

// watch ends the process when it and what it started take more memory than they
// may, shared mappings included, which no limit of the system counts; and when they
// have more threads, of which the system has a number for all the person's programs.
func (p *Process) watch(gone <-chan struct{}) {
	most, mostThreads := confine.MemoryOf(p.spec)+limit.SharedMemory, int64(limit.PluginThreads)
	if p.spec.Spawn {
		most, mostThreads = programsShare*most, programsShare*mostThreads
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-gone:
			return
		case <-tick.C:
		}
		switch pid := p.cmd.Process.Pid; {
		case used(pid, p.spec.Spawn, most) > most:
			_ = p.stop("memory", sandbox.TooMuchMemory, ErrMemory)
			return
		case threads(pid, p.spec.Spawn) > mostThreads:
			_ = p.stop("threads", "It has more threads than a plugin may have.", ErrThreads)
			return
		}
	}
}

// flooded ends the process for sending too much.
func (p *Process) flooded(why string) *wire.Broken { return p.stop("flooded", why, ErrFlooded) }

// stop ends the process for a reason.
func (p *Process) stop(kind, why string, err error) *wire.Broken {
	p.flood.CompareAndSwap(nil, &wire.Broken{Kind: kind, Message: why, Err: err})
	p.Kill()
	return p.flood.Load()
}

// Wire is the process's standard output and input. Closing it closes both.
func (p *Process) Wire() io.ReadWriteCloser { return p.wire }

// CloseInput ends the process's standard input.
func (p *Process) CloseInput() error { return ignoreClosed(p.wire.in.Close()) }

// Done is closed when the process has been reaped and what it printed is in
// Stderr.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how it ended: "exit 3", "signal: killed", or "ended: " and why, when
// it was ended for a flood. It is empty until Done is closed.
func (p *Process) Exit() string {
	select {
	case <-p.done:
		return p.exit
	default:
		return ""
	}
}

// Stderr returns the last 64 KiB of its standard error.
func (p *Process) Stderr() string { return p.stderr.text() }

// Lines calls back with each line of its standard error, from those that Stderr
// still has on, until the process is reaped. It returns at once and calls back
// from one goroutine; where line is slower than the process, lines are left out,
// and a line says how many.
func (p *Process) Lines(line func(string)) { p.stderr.follow(line) }

// End closes the process's input, waits a moment for it to end by itself, and
// kills it and all it started. It returns once it is reaped.
func (p *Process) End() {
	p.ending.Do(func() {
		_ = p.wire.in.Close()
		moment := time.NewTimer(max(patience, p.spec.Patience))
		defer moment.Stop()
		select {
		case <-p.done:
		case <-moment.C:
			p.dismiss()
		}
	})
	<-p.done
}

// dismiss asks the process, and all it started, to end, and kills what is left after the time that its spec has for
// that.
func (p *Process) dismiss() {
	if p.spec.Notice > 0 && p.terminate() {
		moment := time.NewTimer(p.spec.Notice)
		defer moment.Stop()
		select {
		case <-p.done:
			return
		case <-moment.C:
		}
	}
	p.Kill()
}

// terminate asks the process, and all it started, to end. It reports whether the system has a way to.
func (p *Process) terminate() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alive && p.group.terminate(p.cmd)
}

// Kill ends the process, and all it started, at once. It does not wait.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive {
		p.group.kill(p.cmd)
	}
}

// Usage reads what the process has used so far; what it used in all once it is
// gone.
func (p *Process) Usage() sandbox.Usage {
	select {
	case <-p.done:
		if s := p.cmd.ProcessState; s != nil {
			return sandbox.Usage{CPU: s.UserTime() + s.SystemTime()}
		}
		return sandbox.Usage{}
	default:
		return usage(p.cmd.Process.Pid)
	}
}

// Deleted returns the bytes on disk of files that no folder holds any more and the
// process still has open; 0 once it is gone.
func (p *Process) Deleted() int64 {
	select {
	case <-p.done:
		return 0
	default:
		return unseen(p.cmd.Process.Pid, p.spec)
	}
}

// Pid returns the process's id, for a log or a test.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// pipes are the wire of a process.
type pipes struct {
	p       *Process
	in, out *os.File
	meter   *meter
	line    int64 // bytes of the line being read
	most    int64 // bytes that one may have

	mu    sync.Mutex // guards first, and keeps it first
	first []byte     // goes before what is written first
}

// Read reads from the process's standard output, counting. Its error is io.EOF
// at the end, or a *wire.Broken that wraps ErrFlooded.
func (w *pipes) Read(buf []byte) (int, error) {
	n, err := w.out.Read(buf)
	if n > 0 {
		if !w.count(buf[:n]) {
			return 0, w.p.flooded(fmt.Sprintf("It sent a message of more than %d bytes.", w.most))
		}
		if w.meter.over(buf[:n]) {
			return 0, w.p.flooded("It sent more than Conclave takes, over " + outputRate.String() + ".")
		}
	}
	if err == nil {
		return n, nil
	}
	if b := w.p.flood.Load(); b != nil {
		return n, b
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		err = io.EOF // it is gone, or we closed it
	}
	return n, err
}

// count reports whether all lines so far keep to the bound.
func (w *pipes) count(data []byte) bool {
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			w.line += int64(len(data))
			return w.line <= w.most
		}
		if w.line+int64(end) > w.most {
			return false
		}
		w.line, data = 0, data[end+1:]
	}
}

// Write writes to the process's standard input. The configuration of a command
// goes first.
func (w *pipes) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first := w.first; first != nil {
		w.first = nil
		if _, err := w.in.Write(first); err != nil {
			return 0, err
		}
	}
	return w.in.Write(data)
}

// Close closes both.
func (w *pipes) Close() error {
	return errors.Join(ignoreClosed(w.in.Close()), ignoreClosed(w.out.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

func exitOf(s *os.ProcessState) string {
	if signal := signalOf(s); signal != "" {
		return "signal: " + signal
	}
	return fmt.Sprintf("exit %d", s.ExitCode())
}
