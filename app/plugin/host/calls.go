package host

import (
	"context"
	"errors"
	"slices"
	"sync"

	"conclave/app/chat"
	"conclave/app/gate"
)

// Calls holds the calls that plugins work on, and which questions to a person are about them. It is
// safe for concurrent use.
type Calls struct {
	mu      sync.Mutex
	working map[string][]*work // by plugin, oldest first
}

// work is a call that a plugin works on.
type work struct {
	gate.Call
	asked map[*question]bool // what a person is asked meanwhile
}

// question is one to a person about what a plugin does.
type question struct {
	works int // the calls that it may be for and that are not over
	end   context.CancelCauseFunc
}

// errCallOver is the cause of a question's end when what it was for is over.
var errCallOver = errors.New("the call that it was for is over")

// begin notes that a plugin works on the call of ctx, until the function returned is
// called.
func (c *Calls) begin(ctx context.Context, id string) (over func()) {
	call, ok := gate.Behalf(ctx)
	if !ok {
		return func() {}
	}
	w := &work{Call: call, asked: map[*question]bool{}}
	c.mu.Lock()
	c.working[id] = append(c.working[id], w)
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		left := slices.DeleteFunc(slices.Clone(c.working[id]), func(one *work) bool { return one == w })
		if c.working[id] = left; len(left) == 0 {
			delete(c.working, id)
		}
		for q := range w.asked {
			if q.works--; q.works == 0 {
				q.end(errCallOver)
			}
		}
	}
}

// During returns a context for a question to a person about what a plugin does. It ends with
// the last of the calls that the plugin works on now: nobody should be asked for what is over,
// nor allow it. For what a plugin does by itself it ends with ctx alone. Call stop afterwards.
func (c *Calls) During(ctx context.Context, id string) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	q := &question{end: end}
	c.mu.Lock()
	defer c.mu.Unlock()
	works := c.working[id]
	q.works = len(works)
	for _, w := range works {
		w.asked[q] = true
	}
	return ctx, func() {
		end(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, w := range works {
			delete(w.asked, q)
		}
	}
}

// Working returns the calls that a plugin works on.
func (c *Calls) Working(id string) []gate.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []gate.Call
	for _, w := range c.working[id] {
		all = append(all, w.Call)
	}
	return all
}

// Behalf returns the call on whose behalf a plugin does what it does now: the only one
// that it works on, or else nobody's, since a process does not say for which of them.
// Of several calls of one answer that chat is returned, or the one that the plugin says it
// is; it could say any of them. Text of others in the chat of one is in the chat of each.
func (c *Calls) Behalf(id, said string) gate.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.working[id]
	switch {
	case len(calls) == 0:
		return gate.Call{}
	case len(calls) == 1:
		return calls[0].Call
	}
	shared := gate.Call{Conversation: calls[0].Conversation, Turn: calls[0].Turn, Asker: calls[0].Asker}
	same := true
	for _, one := range calls {
		same = same && one.Conversation == shared.Conversation && one.Turn == shared.Turn
		shared.Taint = chat.AddOrigins(shared.Taint, one.Taint...)
	}
	if !same {
		return gate.Call{Asker: shared.Asker, Taint: shared.Taint}
	}
	if i := slices.IndexFunc(calls, func(w *work) bool { return w.ID == said }); i >= 0 {
		one := calls[i].Call
		one.Taint = shared.Taint
		return one
	}
	return shared
}
