package host

import (
	"context"
	"slices"

	"conclave/app/permit"
)

// works notes that a plugin works on the call of ctx, until the function returned is
// called.
func (h *Host) works(ctx context.Context, id string) (over func()) {
	c, ok := permit.Behalf(ctx)
	if !ok {
		return func() {}
	}
	h.mu.Lock()
	h.working[id] = append(h.working[id], c)
	h.mu.Unlock()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		left := slices.Clone(h.working[id])
		if i := slices.IndexFunc(left, func(one permit.Call) bool { return one.ID == c.ID }); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		if h.working[id] = left; len(left) == 0 {
			delete(h.working, id)
		}
	}
}

// Working returns the calls that a plugin works on.
func (h *Host) Working(id string) []permit.Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.working[id])
}

// Behalf returns the call on whose behalf a plugin does what it does now: the only one
// that it works on, or else nobody's, since a process does not say for which of them.
// Of several calls of one answer that chat is returned, or the one that the plugin says it
// is; it could say any of them.
func (h *Host) Behalf(id, said string) permit.Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.working[id]
	switch {
	case len(calls) == 0:
		return permit.Call{}
	case len(calls) == 1:
		return calls[0]
	}
	shared := permit.Call{Conversation: calls[0].Conversation, Turn: calls[0].Turn, Asker: calls[0].Asker}
	for _, c := range calls[1:] {
		if c.Conversation != shared.Conversation || c.Turn != shared.Turn {
			return permit.Call{Asker: shared.Asker}
		}
	}
	if i := slices.IndexFunc(calls, func(c permit.Call) bool { return c.ID == said }); i >= 0 {
		return calls[i]
	}
	return shared
}
