package call

import (
	"context"
	"sync"
)

type askingKey struct{}

// WithAsking returns a context for calls whose caller's clock stands still while a person is asked about
// one of them, before it is made or while it runs. begins is called from any goroutine when a person is
// asked, and the function it returns once they answered or need not any more. Neither may block.
func WithAsking(ctx context.Context, begins func() (over func())) context.Context {
	return context.WithValue(ctx, askingKey{}, begins)
}

// asking tracks whether a person is asked about a call. It is safe for concurrent use.
type asking struct {
	begins func() (over func()) // nil: nobody counts

	mu    sync.Mutex // guards ended
	ended func()     // nil while nobody is asked
}

// askingOf returns the tracking of a call that is made with ctx.
func askingOf(ctx context.Context) *asking {
	begins, _ := ctx.Value(askingKey{}).(func() (over func()))
	return &asking{begins: begins}
}

func (a *asking) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.begins != nil && a.ended == nil {
		a.ended = a.begins()
	}
}

func (a *asking) over() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended != nil {
		a.ended()
		a.ended = nil
	}
}
