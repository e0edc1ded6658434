package host

import (
	"fmt"
	"sync"

	"conclave/app/plugin"
)

// identities holds which plugin has which name that no two plugins share. It is safe for concurrent use.
type identities struct {
	mu sync.Mutex
	of map[string]*entry
}

// reserve reserves the identity that m gives its plugin, which no two plugins of the
// folder share where its ecosystem says so. Of two, the one that has served before
// gets it, so that a new one which nobody approved cannot put it out of service; then
// the one whose folder's name comes first, whatever was read first. The error is a
// *Problem that names the plugin which has it. A plugin keeps its identity until it is
// removed, or has another.
func (i *identities) reserve(e *entry, m plugin.Manifest) error {
	if e.temporary {
		return nil
	}
	key := identityKey(m)
	i.mu.Lock()
	i.release(e, key)
	if key == "" {
		i.mu.Unlock()
		return nil
	}
	by := i.of[key]
	if by == e {
		by = nil
	}
	if by != nil && by.outranks(e) {
		i.mu.Unlock()
		return &plugin.Problem{
			Kind:    "refused",
			Message: fmt.Sprintf("There is a plugin that calls itself %s already: %s.", m.Identity, by.id),
			Hint:    "Remove one of the two.",
		}
	}
	i.of[key] = e
	i.mu.Unlock()
	if by != nil {
		by.reloadForced() // it was read first, and is refused now
	}
	return nil
}

// outranks reports whether e has an identity before other.
func (e *entry) outranks(other *entry) bool {
	if mine, its := e.hasServed(), other.hasServed(); mine != its {
		return mine
	}
	return e.id < other.id
}

// hasServed reports whether a version of it was ever in service.
func (e *entry) hasServed() bool {
	now := e.now()
	return now.serving != nil || now.record.Good != nil
}

// identityKey returns what no two plugins may share; empty when they may.
func identityKey(m plugin.Manifest) string {
	if m.Identity == "" {
		return ""
	}
	return m.Dialect + "/" + m.Identity
}

// outranked reports whether another plugin has the identity that m gives e.
func (i *identities) outranked(e *entry, m plugin.Manifest) bool {
	key := identityKey(m)
	if key == "" || e.temporary {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	by := i.of[key]
	return by != nil && by != e
}

// release releases the identities of e, all but one. The caller holds mu.
func (i *identities) release(e *entry, but string) {
	for key, by := range i.of {
		if by == e && key != but {
			delete(i.of, key)
		}
	}
}

// removed releases what a plugin that was removed had.
func (i *identities) removed(gone *entry) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.release(gone, "")
}

// FindIdentity returns the id of the plugin that has the identity of m, or "".
func (h *Host) FindIdentity(m plugin.Manifest) string {
	h.identities.mu.Lock()
	defer h.identities.mu.Unlock()
	if by := h.identities.of[identityKey(m)]; by != nil {
		return by.id
	}
	return ""
}

// retryRefused reloads the plugins that were refused for their identity, after one of the folder was
// removed.
func (h *Host) retryRefused() {
	for _, e := range h.all() {
		if s := e.now().status; s.State == plugin.Failed && s.Problem != nil && s.Problem.Kind == "refused" {
			e.reloadForced()
		}
	}
}
