package host

import (
	"context"
	"errors"
	"slices"

	"conclave/app/chat"
	"conclave/app/gate"
)

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

// works notes that a plugin works on the call of ctx, until the function returned is
// called.
func (h *Host) works(ctx context.Context, id string) (over func()) {
	c, ok := gate.Behalf(ctx)
	if !ok {
		return func() {}
	}
	w := &work{Call: c, asked: map[*question]bool{}}
	h.mu.Lock()
	h.working[id] = append(h.working[id], w)
	h.mu.Unlock()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		left := slices.DeleteFunc(slices.Clone(h.working[id]), func(one *work) bool { return one == w })
		if h.working[id] = left; len(left) == 0 {
			delete(h.working, id)
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
func (h *Host) During(ctx context.Context, id string) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	q := &question{end: end}
	h.mu.Lock()
	defer h.mu.Unlock()
	works := h.working[id]
	q.works = len(works)
	for _, w := range works {
		w.asked[q] = true
	}
	return ctx, func() {
		end(nil)
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, w := range works {
			delete(w.asked, q)
		}
	}
}

// Working returns the calls that a plugin works on.
func (h *Host) Working(id string) []gate.Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []gate.Call
	for _, w := range h.working[id] {
		all = append(all, w.Call)
	}
	return all
}

// Behalf returns the call on whose behalf a plugin does what it does now: the only one
// that it works on, or else nobody's, since a process does not say for which of them.
// Of several calls of one answer that chat is returned, or the one that the plugin says it
// is; it could say any of them. Text of others in the chat of one is in the chat of each.
func (h *Host) Behalf(id, said string) gate.Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.working[id]
	switch {
	case len(calls) == 0:
		return gate.Call{}
	case len(calls) == 1:
		return calls[0].Call
	}
	shared := gate.Call{Conversation: calls[0].Conversation, Turn: calls[0].Turn, Asker: calls[0].Asker}
	same := true
	for _, c := range calls {
		same = same && c.Conversation == shared.Conversation && c.Turn == shared.Turn
		shared.Taint = chat.AddOrigins(shared.Taint, c.Taint...)
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
