package terminal

import (
	"context"
	"sync"

	"conclave/app/base/fault"
)

// Interrupt handles Ctrl-C before it ends the command. It does nothing until Set. It is safe for
// concurrent use.
type Interrupt struct {
	mu   sync.Mutex // guards stop
	stop func() bool
}

// Set sets the function that Stop calls; nil is nothing. stop reports whether it
// stopped anything.
func (i *Interrupt) Set(stop func() bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stop = stop
}

// Stop calls the function that was set, and reports whether it stopped anything. If
// not, the caller ends the command.
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
