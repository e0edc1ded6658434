package host

import (
	"context"
	"sync"
)

// tasks are the goroutines that the host waits for when it closes, and the loads among them. It is safe
// for concurrent use.
type tasks struct {
	wg     sync.WaitGroup
	mu     sync.Mutex // guards the fields below
	closed bool
	loads  inFlight // of all plugins
}

// inFlight counts the loads under way, of one plugin or of all. tasks.mu guards it.
type inFlight struct {
	busy  int
	aside int           // those of them for which no chat waits
	quiet chan struct{} // closed whenever busy becomes 0, and replaced whenever aside changes
}

func (a *inFlight) began() {
	if a.busy == 0 {
		a.quiet = make(chan struct{})
	}
	a.busy++
}

func (a *inFlight) ended() {
	if a.busy--; a.busy == 0 {
		close(a.quiet)
	}
}

// spawn runs do in the background; close waits for it. Once the host is closed it does nothing and
// reports false: Close itself ends what there is to end.
func (t *tasks) spawn(do func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.wg.Go(do)
	}
	return !t.closed
}

// began counts a load of a plugin, or reports false when the host is closed.
func (t *tasks) began(of *inFlight) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.loads.began()
	of.began()
	t.wg.Add(1)
	return true
}

func (t *tasks) ended(of *inFlight) {
	t.mu.Lock()
	of.ended()
	t.loads.ended()
	t.mu.Unlock()
	t.wg.Done()
}

// setAside has no chat wait for a load under way, until back is called.
func (t *tasks) setAside(of *inFlight) (back func()) {
	move := func(by int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, a := range []*inFlight{of, &t.loads} {
			a.aside += by
			close(a.quiet)
			a.quiet = make(chan struct{})
		}
	}
	move(1)
	return func() { move(-1) }
}

// busy reports whether a plugin is loading.
func (t *tasks) busy(a *inFlight) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return a.busy > 0
}

// wait waits until nothing is loading, or for ctx's end, whose cause it returns.
func (t *tasks) wait(ctx context.Context, a *inFlight) error {
	return t.waitUntil(ctx, a, func(now inFlight) bool { return now.busy == 0 })
}

// waitOffered is wait, but for the loads that were set aside.
func (t *tasks) waitOffered(ctx context.Context, a *inFlight) error {
	return t.waitUntil(ctx, a, func(now inFlight) bool { return now.busy <= now.aside })
}

func (t *tasks) waitUntil(ctx context.Context, a *inFlight, over func(now inFlight) bool) error {
	for {
		t.mu.Lock()
		now := *a
		t.mu.Unlock()
		if over(now) {
			return nil
		}
		select {
		case <-now.quiet:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// over reports whether the host is closed.
func (t *tasks) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// close has nothing begin any more.
func (t *tasks) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}
