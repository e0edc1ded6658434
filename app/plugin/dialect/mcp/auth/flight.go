package auth

import "context"

// flight is work that all who want it wait for.
type flight struct {
	done    chan struct{}
	err     error // set before done is closed
	waiting int
	cancel  context.CancelFunc
}

// share does the work of a slot, or waits for the work that somebody else began. The work ends with
// its last waiter if it may be given up; else it goes on within its own bound.
func (a *Account) share(ctx context.Context, slot **flight, giveUp bool, do func(context.Context) error) error {
	a.mu.Lock()
	f := *slot
	if f == nil {
		run, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{done: make(chan struct{}), cancel: cancel}
		*slot = f
		go func() { // ends with do
			defer cancel()
			err := do(run)
			a.mu.Lock()
			f.err = err
			if *slot == f {
				*slot = nil
			}
			a.mu.Unlock()
			close(f.done)
		}()
	}
	f.waiting++
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if f.waiting--; f.waiting == 0 && giveUp {
			f.cancel()
			if *slot == f {
				*slot = nil
			}
		}
	}()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
