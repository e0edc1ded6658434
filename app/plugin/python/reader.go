package python

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin/sandbox"
)

// reader is a process that reads the sources of one plugin after the other: starting one
// takes several times as long as reading a plugin. It parses and runs nothing, and what
// it finds is a preview: what a plugin really offers is listed when it runs, and compared.
type reader struct {
	process sandbox.Process
	out     *bufio.Reader
	of      string // the interpreter and the worker it was started with
	used    bool   // it has read a plugin

	rest *time.Timer // ends it; set while it is idle
}

// Bounds of the readers.
const (
	// restTime is the time that an idle reader stays: the next plugin of a folder comes at once.
	restTime = 2 * time.Second
	// idleReaders is the number that stay; more than one plugin is read at once only in a scan.
	idleReaders = 2
)

// readers holds the idle ones. Its zero value is ready.
type readers struct {
	mu   sync.Mutex // guards idle
	idle []*reader
}

// take returns an idle reader of the same interpreter, or nil.
func (r *readers) take(of string) *reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, one := range r.idle {
		if one.of == of && one.rest.Stop() {
			r.idle = append(r.idle[:i], r.idle[i+1:]...)
			return one
		}
	}
	return nil
}

// put keeps a reader for the next plugin, for a while.
func (r *readers) put(one *reader) {
	one.used = true
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.idle) >= idleReaders {
		go one.process.End() // ends within its patience, or when the launcher is closed
		return
	}
	one.rest = time.AfterFunc(restTime, func() {
		r.drop(one)
		one.process.End()
	})
	r.idle = append(r.idle, one)
}

// drop takes a reader out whose time is over.
func (r *readers) drop(gone *reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, one := range r.idle {
		if one == gone {
			r.idle = append(r.idle[:i], r.idle[i+1:]...)
			return
		}
	}
}

// confined has an interpreter in a sandbox answer one question: nothing to write, no
// network, no other programs, limit.InspectMemory. One that fails after it has read
// another plugin may have been the other one's fault, so the question is put once more,
// to a new one.
func (d *Interpreters) confined(ctx context.Context, python Python, shimDir string, input []byte,
) ([]byte, string, error) {
	of := python.Executable + "\x00" + python.Stamp + "\x00" + shimDir
	if one := d.readers.take(of); one != nil {
		if out, _, err := d.read(ctx, one, input); err == nil || ctx.Err() != nil || errors.Is(err, errTooLong) {
			return out, "", err
		}
	}
	spec := python.Program(inspector(python, shimDir))
	spec.Read = append(spec.Read, shimDir)
	spec.Dir, spec.Memory = shimDir, limit.InspectMemory
	spec.Patience = busyFactor*d.options.InspectTime + time.Second // ctx ends first, and says why
	p, err := d.options.Launcher.Start(ctx, spec)
	if err != nil {
		return nil, "", err
	}
	return d.read(ctx, &reader{process: p, out: bufio.NewReader(p.Wire()), of: of}, input)
}

// errCut is the end of an answer before it was whole.
var errCut = errors.New("its answer was cut off")

// read puts one question to a reader, and keeps the reader when it answered. The error
// says how its process ended, which it waits for.
func (d *Interpreters) read(ctx context.Context, one *reader, input []byte) ([]byte, string, error) {
	p := one.process
	stop := context.AfterFunc(ctx, p.Kill)
	bound := d.boundTime(p)
	var feeding sync.WaitGroup
	feeding.Go(func() { // ends with the process, which is killed when ctx ends
		_, _ = p.Wire().Write(input) // one that does not read says why by its exit
	})
	out, err := line(one.out)
	tooLong := bound()
	if err == nil && !tooLong {
		feeding.Wait()
		if stop() {
			d.readers.put(one)
			return out, "", nil
		}
	}
	if err == nil || errors.Is(err, errCut) {
		p.End()
	} else {
		p.Kill()
	}
	<-p.Done()
	feeding.Wait()
	if tooLong {
		return nil, p.Stderr(), errTooLong
	}
	if exit := p.Exit(); exit != "exit 0" {
		return nil, p.Stderr(), ended(exit)
	}
	return nil, p.Stderr(), ended(errCut.Error())
}

// line reads one answer, of maxInspected bytes at most.
func line(from *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := from.ReadSlice('\n')
		out = append(out, part...)
		switch {
		case len(out) > maxInspected:
			return nil, errors.New("its answer is too long")
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return out, errCut
		case err != nil:
			return nil, err
		default:
			return bytes.TrimSuffix(out, []byte{'\n'}), nil
		}
	}
}
