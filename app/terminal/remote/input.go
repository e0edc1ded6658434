package remote

import (
	"io"
	"sync"
	"time"
)

// window bounds the input that is sent and that the command has not read, in bytes: of more, what
// a person sends behind it, an interrupt above all, would have to wait.
const window = 64 << 10

// input is the standard input of a command that runs in the owner: what came of it and the
// command has not read yet, at most window bytes. Use newInput.
type input struct {
	want func(bytes int) // tells the other side that so many more may come

	mu       sync.Mutex // guards the fields below
	changed  *sync.Cond
	pending  []byte
	over     int // bytes that were read or thrown away since want was called
	ended    bool
	flushing int // how often the other side was told to throw away what was typed, and has not yet
}

func newInput(want func(bytes int)) *input {
	in := &input{want: want}
	in.changed = sync.NewCond(&in.mu)
	return in
}

// Read returns what came, or waits for it.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.pending) == 0 && !in.ended {
		if in.over == 0 {
			in.changed.Wait()
			continue
		}
		more := in.over
		in.over = 0
		in.mu.Unlock()
		in.want(more)
		in.mu.Lock()
	}
	if len(in.pending) == 0 {
		return 0, io.EOF
	}
	n := copy(p, in.pending)
	in.pending = in.pending[n:]
	in.over += n
	return n, nil
}

// put adds what came, and never waits. While the other side throws away what was typed, this is of
// it, as is more than may come.
func (in *input) put(p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended || in.flushing > 0 || len(in.pending)+len(p) > window {
		in.over += len(p)
	} else {
		in.pending = append(in.pending, p...)
	}
	in.changed.Broadcast()
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
	in.over += len(in.pending)
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
