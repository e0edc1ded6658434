package app

import (
	"context"
	"sync"
)

// life is the context of bound calls: Wails gives them none, so each takes the
// window's, which ends with it.
type life struct {
	mu  sync.Mutex
	ctx context.Context //nolint:containedctx // the one context bound calls have
}

// begin sets the window's context.
func (l *life) begin(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
}

// window returns the context of the window's runtime, nil before it exists.
func (l *life) window() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ctx
}

// call returns the context of one bound call. Before the window exists it is one
// that has ended.
func (l *life) call() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		return ended
	}
	return l.ctx
}

var ended = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errNoContext)
	return ctx
}()
