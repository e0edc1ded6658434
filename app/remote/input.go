package remote

import (
	"io"
	"sync"
	"time"
)

// input is the standard input of a command that runs in the owner: what came of it and the
// command has not read yet. It holds two frames at most; whoever puts a third waits. Use newInput.
type input struct {
	mu       sync.Mutex // guards the fields below
	changed  *sync.Cond
	pending  []byte
	ended    bool
	flushing int // how often the other side was told to throw away what was typed, and has not yet
}

func newInput() *input {
	in := &input{}
	in.changed = sync.NewCond(&in.mu)
	return in
}

// Read returns what came, or waits for it.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.pending) == 0 && !in.ended {
		in.changed.Wait()
	}
	if len(in.pending) == 0 {
		return 0, io.EOF
	}
	n := copy(p, in.pending)
	in.pending = in.pending[n:]
	in.changed.Broadcast()
	return n, nil
}

// put adds what came, once what came before is read. While the other side throws away what was
// typed, this is of it.
func (in *input) put(p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.pending) > 0 && !in.ended && in.flushing == 0 {
		in.changed.Wait()
	}
	if !in.ended && in.flushing == 0 {
		in.pending = p
		in.changed.Broadcast()
	}
}

// end says that no more comes.
func (in *input) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.changed.Broadcast()
}

// flush throws away what came and was not read, has tell ask the other side to do the same with
// what was typed there, and waits until it has, for as long as a command is patient. What comes
// before that is thrown away then, too.
func (in *input) flush(tell func() error) {
	in.mu.Lock()
	in.pending = nil
	in.flushing++
	in.changed.Broadcast()
	in.mu.Unlock()
	if tell() != nil {
		return // it is gone
	}
	late := false
	timer := time.AfterFunc(patience, func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		late = true
		in.changed.Broadcast()
	})
	defer timer.Stop()
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.flushing > 0 && !in.ended && !late {
		in.changed.Wait()
	}
}

// flushed says that the other side has thrown away what was typed.
func (in *input) flushed() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.flushing = max(in.flushing-1, 0)
	in.changed.Broadcast()
}
