package core

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"conclave/app/base/version"
	"conclave/app/terminal/remote"
	"conclave/store"
)

// wantsStore are the arguments by which a window asks the program that has the store to give way: commands that
// follow something end there, and begin again in the window.
var wantsStore = []string{"window", "wants"}

// askedPatience limits how long the owner of a store has to take note of that.
const askedPatience = 2 * time.Second

// askToGiveWay asks the owner of a store to give way, if it can. A command that cannot goes on.
func askToGiveWay(ctx context.Context, data string) {
	ctx, cancel := context.WithTimeout(ctx, askedPatience)
	defer cancel()
	_, _ = remote.Run(ctx, data, remote.Command{Version: version.Version, Args: wantsStore},
		remote.Streams{Out: io.Discard, Err: io.Discard}) // it may have ended, or be of another version
}

// givingWay tells the commands of this program once that a window wants the store.
type givingWay struct {
	wanted chan struct{}
	once   sync.Once
}

func newGivingWay() *givingWay { return &givingWay{wanted: make(chan struct{})} }

// knows implements the argument of Core.Serve.
func (g *givingWay) knows(args []string) bool {
	if g == nil || !slices.Equal(args, wantsStore) {
		return false
	}
	g.once.Do(func() { close(g.wanted) })
	return true
}

// takeTime limits how long a program that gave way waits for the store to be taken.
const takeTime = 3 * time.Second

// untilTaken waits until another program has the store.
func untilTaken(ctx context.Context, data string) {
	ctx, cancel := context.WithTimeout(ctx, takeTime)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if _, owned := store.OwnerOf(data); owned {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}

// sharedInput is an input that one reader after another reads: what comes for a reader that is closed goes to the
// next one. Use newSharedInput.
type sharedInput struct {
	from io.Reader

	mu      sync.Mutex // guards the fields below
	changed *sync.Cond
	pending []byte
	err     error
	reading bool // a goroutine waits for from
}

func newSharedInput(from io.Reader) *sharedInput {
	s := &sharedInput{from: from}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// open returns a reader of what comes from now on.
func (s *sharedInput) open() *inputReader { return &inputReader{of: s} }

// fill reads once, at most n bytes.
func (s *sharedInput) fill(n int) {
	buffer := make([]byte, n)
	n, err := s.from.Read(buffer)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending, s.err, s.reading = append(s.pending, buffer[:n]...), err, false
	s.changed.Broadcast()
}

// inputReader reads a sharedInput until it is closed.
type inputReader struct {
	of     *sharedInput
	closed bool // guarded by of.mu
}

// Read implements io.Reader.
func (r *inputReader) Read(p []byte) (int, error) {
	s := r.of
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case r.closed:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		case len(s.pending) > 0:
			n := copy(p, s.pending)
			s.pending = s.pending[n:]
			return n, nil
		case s.err != nil:
			return 0, s.err
		case !s.reading:
			s.reading = true
			go s.fill(len(p)) // ends with the read, or with the program: one of a terminal cannot be called back
		}
		s.changed.Wait()
	}
}

// Close implements io.Closer. A Read that waits returns.
func (r *inputReader) Close() error {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.closed = true
	r.of.changed.Broadcast()
	return nil
}
