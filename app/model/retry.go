package model

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// DefaultAttempts is the number of requests made in all if a Policy has none.
const DefaultAttempts = 3

// Policy bounds how often a request is tried again. The zero value is the
// default.
type Policy struct {
	Attempts int           // requests in all; 0 = DefaultAttempts, 1 = no retry
	Base     time.Duration // the first wait, doubled each time; 0 = 500 ms
	// Max is the longest single wait; 0 = 20 s, about as long as a person watches
	// a waiting line before wanting to decide for himself. A provider that asks
	// for more is not asked again: its error, which says how long, is returned.
	Max time.Duration
	// OnWait is called before each wait; it must not block.
	OnWait func(err *Error, wait time.Duration)
}

func (p Policy) filled() Policy {
	if p.Attempts <= 0 {
		p.Attempts = DefaultAttempts
	}
	if p.Base <= 0 {
		p.Base = 500 * time.Millisecond
	}
	if p.Max <= 0 {
		p.Max = 20 * time.Second
	}
	return p
}

// WithRetry returns m, asked again when its answer fails before the first event
// with an error that says it may help. Once something was said nothing is
// repeated: the person has read it. Waits end with ctx. The result is safe for
// concurrent use.
func WithRetry(m Model, p Policy) Model { return retrying{m, p.filled()} }

type retrying struct {
	Model
	p Policy
}

// Stream implements Model.
func (r retrying) Stream(ctx context.Context, request Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for attempt := 1; ; attempt++ {
			var failed error
			said := false
			for event, err := range r.Model.Stream(ctx, request) {
				if err != nil {
					failed = err
					break
				}
				said = true
				if !yield(event, nil) {
					return
				}
			}
			if failed == nil {
				return
			}
			wait, again := r.wait(ctx, attempt, said, failed)
			if !again {
				yield(Event{}, failed)
				return
			}
			if err := pause(ctx, wait); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// wait returns how long to wait before the next attempt, or false when there is
// none.
func (r retrying) wait(ctx context.Context, attempt int, said bool, failed error) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](failed)
	if said || !ok || !e.Retryable() || attempt >= r.p.Attempts || ctx.Err() != nil {
		return 0, false
	}
	wait := min(r.p.Base<<(attempt-1), r.p.Max)
	wait -= rand.N(wait/4 + 1) // so that many windows do not come back as one
	if e.RetryAfter > 0 {
		wait = e.RetryAfter
	}
	if wait > r.p.Max {
		return 0, false
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return 0, false // it would end while waiting; the provider's words are better than "too slow"
	}
	if r.p.OnWait != nil {
		r.p.OnWait(e, wait)
	}
	return wait, true
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
