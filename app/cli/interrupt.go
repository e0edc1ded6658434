package cli

import (
	"context"
	"sync"

	"conclave/app/fault"
)

// Interrupt does what a person's Ctrl-C does to a command before it ends it. Without
// anything set it does nothing. It is safe for concurrent use.
type Interrupt struct {
	mu   sync.Mutex // guards stop
	stop func() bool
}

// Set has Stop call stop from now on; nil is nothing. stop reports whether it
// stopped anything.
func (i *Interrupt) Set(stop func() bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stop = stop
}

// Stop does what was set, and reports whether that stopped anything. If not, the
// command is to be ended.
func (i *Interrupt) Stop() bool {
	i.mu.Lock()
	stop := i.stop
	i.mu.Unlock()
	return stop != nil && stop()
}

// during returns a context that the first Stop ends, until done is called. A nil
// Interrupt never ends it.
func (i *Interrupt) during(ctx context.Context) (_ context.Context, done func()) {
	if i == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	i.Set(func() bool {
		first := ctx.Err() == nil
		cancel(fault.New(fault.Canceled, "cli.interrupt", "It was interrupted.", ""))
		return first
	})
	return ctx, func() {
		i.Set(nil)
		cancel(nil)
	}
}
