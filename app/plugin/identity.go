package plugin

import (
	"fmt"
)

// claim takes the identity that m gives its plugin, which no two plugins of the
// folder share where its ecosystem says so. The error is a *Problem that names
// the plugin which has it. A plugin keeps its claim until it is gone, or calls
// itself something else.
func (h *Host) claim(e *entry, m Manifest) error {
	if e.temporary {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := ""
	if m.Identity != "" {
		key = m.Contract + "/" + m.Identity
	}
	h.yieldClaim(e, key)
	if key == "" {
		return nil
	}
	if by := h.identities[key]; by != nil && by != e && h.entries[by.id] == by {
		return &Problem{Kind: "refused", Message: fmt.Sprintf("There is a plugin that calls itself %s already: %s.", m.Identity, by.id),
			Hint: "Remove one of the two: conclave plugins remove " + e.id + "."}
	}
	h.identities[key] = e
	return nil
}

// yieldClaim drops the claims of e but the one for keep. The caller holds mu.
func (h *Host) yieldClaim(e *entry, keep string) {
	for key, by := range h.identities {
		if by == e && key != keep {
			delete(h.identities, key)
		}
	}
}

// unclaimed makes the plugins that were refused for their identity look again,
// after one of the folder is gone.
func (h *Host) unclaimed(gone *entry) {
	h.mu.Lock()
	h.yieldClaim(gone, "")
	var refused []*entry
	for _, e := range h.entries {
		e.mu.Lock()
		if p := e.status.Problem; e.status.State == Failed && p != nil && p.Kind == "refused" {
			refused = append(refused, e)
		}
		e.mu.Unlock()
	}
	h.mu.Unlock()
	for _, e := range refused {
		e.force()
	}
}
