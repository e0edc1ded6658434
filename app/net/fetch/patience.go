package fetch

import (
	"context"
	"time"
)

type patienceKey struct{}

// patience is a bound of time that stands still while a person is asked.
type patience struct {
	timer *time.Timer
	d     time.Duration
}

// WithPatience returns a context that ends with cause after d, without the time in which a
// person is asked. Call stop when it is not needed any more.
func WithPatience(ctx context.Context, d time.Duration, cause error) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &patience{time.AfterFunc(d, func() { cancel(cause) }), d}
	return context.WithValue(ctx, patienceKey{}, p), func() { p.timer.Stop(); cancel(nil) }
}

// Asking stops the clock of ctx while a person is asked, until the function returned is
// called. It then starts again.
func Asking(ctx context.Context) (answered func()) {
	p, ok := ctx.Value(patienceKey{}).(*patience)
	if !ok || !p.timer.Stop() {
		return func() {}
	}
	return func() { p.timer.Reset(p.d) }
}

// Refused is the error of a request to a host that a plugin may not connect to.
type Refused struct {
	Host   string // as a person reads it
	Reason string // a sentence without its full stop
}

// Error implements error.
func (r *Refused) Error() string { return "it may not connect to " + r.Host + ": " + r.Reason }
