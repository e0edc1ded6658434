package worker

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// Bounds of what is kept of a process's standard error.
const (
	tailBytes = 64 << 10
	// maxLogLine cuts a line for those who follow; the tail keeps it whole.
	maxLogLine = 8 << 10
	// maxQueued bounds the lines that wait for one follower.
	maxQueued = 1024
)

// tail keeps the last bytes that were written, and passes lines on to followers.
// It is safe for concurrent use.
type tail struct {
	mu        sync.Mutex // guards the fields below
	data      []byte     // up to twice tailBytes, so that little is moved
	rest      []byte     // a line that has not ended, for the followers
	cut       bool       // rest is full: what follows on this line is left out
	followers []*follower
	closed    bool
	wg        sync.WaitGroup
}

// follower is one who is told lines. Its queue and dropped are guarded by the
// tail's mutex.
type follower struct {
	queue   []string
	dropped int
	over    bool
	wake    chan struct{} // holds one token when there is something to do
}

func newTail() *tail { return &tail{} }

// text returns the last tailBytes that were written.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data[max(0, len(t.data)-tailBytes):]), "\uFFFD")
}

func (t *tail) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > 2*tailBytes {
		t.data = append(t.data[:0], t.data[len(t.data)-tailBytes:]...)
	}
	for len(p) > 0 {
		line, after, ended := bytes.Cut(p, []byte{'\n'})
		if room := maxLogLine - len(t.rest); len(line) > room {
			line, t.cut = line[:room], true
		}
		t.rest = append(t.rest, line...)
		if !ended {
			return
		}
		t.pass()
		p = after
	}
}

// pass gives the line in rest to the followers.
func (t *tail) pass() {
	line := strings.ToValidUTF8(strings.TrimRight(string(t.rest), "\r"), "\uFFFD")
	if t.cut {
		line += " …"
	}
	t.rest, t.cut = t.rest[:0], false
	for _, f := range t.followers {
		f.add(line)
	}
}

func (f *follower) add(line string) {
	if len(f.queue) >= maxQueued {
		f.dropped++
		return
	}
	f.queue = append(f.queue, line)
	f.stir()
}

func (f *follower) stir() {
	select {
	case f.wake <- struct{}{}:
	default: // it has been told
	}
}

// follow tells the lines that are kept and those to come, until close.
func (t *tail) follow(line func(string)) {
	f := &follower{wake: make(chan struct{}, 1)}
	t.mu.Lock()
	kept := t.data[max(0, len(t.data)-tailBytes):]
	kept = kept[:len(kept)-min(len(kept), len(t.rest))] // what has not ended comes later
	for l := range bytes.Lines(kept) {
		f.add(strings.ToValidUTF8(strings.TrimRight(string(l), "\r\n"), "\uFFFD"))
	}
	f.over = t.closed
	f.stir()
	t.followers = append(t.followers, f)
	if t.closed {
		t.mu.Unlock()
		t.serve(f, line) // ends when the kept lines are told
		return
	}
	t.wg.Go(func() { t.serve(f, line) }) // ends with close
	t.mu.Unlock()
}

func (t *tail) serve(f *follower, line func(string)) {
	for range f.wake {
		t.mu.Lock()
		lines, dropped, over := f.queue, f.dropped, f.over
		f.queue, f.dropped = nil, 0
		t.mu.Unlock()
		for _, l := range lines {
			line(l)
		}
		if dropped > 0 {
			line(fmt.Sprintf("… %d lines left out", dropped))
		}
		if over {
			return
		}
	}
}

// close passes on a line that has not ended, and waits until the followers were
// told everything.
func (t *tail) close() {
	t.mu.Lock()
	if len(t.rest) > 0 {
		t.pass()
	}
	t.closed = true
	for _, f := range t.followers {
		f.over = true
		f.stir()
	}
	t.mu.Unlock()
	t.wg.Wait()
}
