package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"conclave/app/plugin/dialect/spindle/job"
	"conclave/app/plugin/wire"
)

// Config tells a worker of its plugin.
type Config = job.Config

// Times of a worker's end.
const (
	flushTime = 2 * time.Second        // for the last answers to be written, on a busy machine too
	stopTime  = 100 * time.Millisecond // for the engine to heed an interrupt
	nagEvery  = 5 * time.Millisecond   // an interrupt between two entries is lost
)

// Serve runs the plugin of cfg and answers Conclave over in and out until in
// ends, ctx does, or the plugin has to be stopped. It returns nil when in ended,
// an [*Ended] when the plugin missed a deadline or computed when it should not
// have, and another error when the worker could not start or the stream broke.
//
// The order of the start matters. The engine is made and reads the local time
// zone first; then confine is called, which shuts the process in; only then is
// anything of the plugin's read, built or evaluated. A nil confine confines
// nothing.
//
// A plugin that does not load keeps the worker: initialize is answered with the
// problem, and Serve goes on until in ends. in and out are closed. Whatever Serve
// returns, the caller must end the process: a script stuck inside one long
// built-in call keeps its goroutine, and only the process can stop it.
func Serve(ctx context.Context, cfg Config, in io.Reader, out io.Writer, log io.Writer, confine func() error) error {
	cfg = cfg.WithDefaults()
	vm, err := newQuick(cfg.HeapBytes)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := newWorker(ctx, cfg, vm, log)
	vm.SetHost(w.op)
	if err := vm.Load(w.loader); err != nil {
		return err
	}
	if confine != nil {
		if err := confine(); err != nil {
			return fmt.Errorf("confine the worker: %w", err)
		}
	}

	s := newServer(w)
	output := newAnswers(out)
	s.owe = output.owe
	host, err := wire.Serve(ctx, in, output, s.mcp, w.event)
	if err != nil {
		return err
	}
	w.host = host
	engine := make(chan struct{})
	go func() { // ends with the loop; awaited below unless the script is stuck
		defer close(engine)
		_ = w.loop.run(ctx)
	}()
	close(s.ready)

	select {
	case <-host.Done():
		w.loop.end(io.EOF)
	case <-w.loop.stop:
	}
	stopped := nag(vm, engine)
	if errors.Is(w.loop.why, io.EOF) {
		err = host.Wait()
	} else {
		err = w.loop.why
		output.flush(flushTime)
	}
	host.Close()
	cancel()
	w.wg.Wait()
	if stopped {
		vm.Close()
	}
	return err
}

// nag interrupts the engine until its goroutine has ended, and reports whether
// it did.
func nag(vm vm, engine <-chan struct{}) bool {
	limit := time.NewTimer(stopTime)
	defer limit.Stop()
	again := time.NewTicker(nagEvery)
	defer again.Stop()
	for {
		vm.Interrupt()
		select {
		case <-engine:
			return true
		case <-again.C:
		case <-limit.C:
			return false
		}
	}
}

// answers is the worker's output, which knows how many requests are still to be
// answered. The SDK cannot be asked: closing its session drops the answers that
// are not written yet.
type answers struct {
	io.Writer
	mu   sync.Mutex // guards owed
	owed int
	none chan struct{} // has room for one: nothing is owed any more
}

func newAnswers(out io.Writer) *answers { return &answers{Writer: out, none: make(chan struct{}, 1)} }

// owe notes a request that will be answered.
func (a *answers) owe() {
	a.mu.Lock()
	a.owed++
	a.mu.Unlock()
}

// answerStart begins an answer to a request of Conclave's on the wire;
// requests of ours have ids that begin with w (docs/WIRE.md, section 5).
var answerStart, requestStart = []byte(`{"jsonrpc":"2.0","id":`), []byte(`{"jsonrpc":"2.0","id":"w`)

// Write writes one line.
func (a *answers) Write(line []byte) (int, error) {
	n, err := a.Writer.Write(line)
	if bytes.HasPrefix(line, answerStart) && !bytes.HasPrefix(line, requestStart) {
		a.mu.Lock()
		a.owed--
		if a.owed <= 0 {
			select {
			case a.none <- struct{}{}:
			default:
			}
		}
		a.mu.Unlock()
	}
	return n, err
}

// flush waits until every request was answered, but no longer than limit.
func (a *answers) flush(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		a.mu.Lock()
		owed := a.owed
		a.mu.Unlock()
		if owed <= 0 {
			return
		}
		select {
		case <-a.none:
		case <-timer.C:
			return
		}
	}
}

// Close closes the writer below, if it can be.
func (a *answers) Close() error {
	if closer, ok := a.Writer.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
