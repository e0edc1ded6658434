package host

import (
	"context"
	"slices"
	"strings"

	"conclave/app/fault"
	"conclave/app/plugin"
)

// Enlisted is a plugin that has been approved and is switched on, as who lends its
// process sees it.
type Enlisted struct {
	ID       string
	Manifest plugin.Manifest // of the version in service, or of the newest save where none is
	Granted  []string        // the permissions that the person granted
	Broken   *plugin.Problem // why it is not in service although it should be; nil when it is
}

// Enlisted returns the plugins of a dialect that are in service, and those that should
// be and are not: they do not load, or keep dying. They are sorted by id.
func (h *Host) Enlisted(dialect string) []Enlisted {
	h.mu.Lock()
	var entries []*entry
	for _, e := range h.entries {
		entries = append(entries, e)
	}
	h.mu.Unlock()
	var all []Enlisted
	for _, e := range entries {
		if one, ok := e.enlisted(dialect); ok {
			one.Granted, _ = h.o.Gate.Permissions(e.id)
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Enlisted) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (e *entry) enlisted(dialect string) (Enlisted, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.preview || e.state.Disabled || e.source == (plugin.Source{}) {
		return Enlisted{}, false
	}
	if e.serving != nil {
		m := e.serving.version().manifest
		return Enlisted{ID: e.id, Manifest: m}, m.Dialect == dialect
	}
	broken := e.status.State == plugin.Failed || e.status.State == plugin.NeedsPackages ||
		e.status.State == plugin.Quarantined && e.status.Problem != nil
	return Enlisted{ID: e.id, Manifest: e.status.Manifest, Broken: e.status.Problem},
		broken && e.status.Manifest.Dialect == dialect
}

// Borrow returns the connection of a plugin's running process, which it starts first
// where none runs. Whoever borrows it gives it back with release. The error is a
// *Problem, a fault when the plugin is off or gone, or the cause of ctx's end.
func (h *Host) Borrow(ctx context.Context, id string) (_ plugin.Connection, release func(), _ error) {
	e, err := h.known(id)
	if err != nil {
		return nil, nil, err
	}
	r := e.runner()
	switch {
	case e.disabled():
		return nil, nil, errOff
	case r == nil:
		return nil, nil, fault.New(fault.Unavailable, "plugin.borrow", "The plugin "+id+" is not in service.", "")
	}
	s, err := r.use(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s.process, func() { r.release(s) }, nil
}
