package host

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Ready waits until the plugins that nobody has read yet since the start, and those of
// the dialect, are not loading any more: what guards calls must not come too late. It
// waits no longer than ctx, and a plugin's load, may take.
func (h *Host) Ready(ctx context.Context, dialect string) {
	h.mu.Lock()
	var loading []*entry
	for _, e := range h.entries {
		if e.inFlight.busy > 0 {
			loading = append(loading, e)
		}
	}
	h.mu.Unlock()
	if len(loading) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, busyFactor*h.o.LoadTimeout)
	defer cancel()
	for _, e := range loading {
		e.mu.Lock()
		wait := e.serving == nil && (e.status.Manifest.Dialect == "" || e.status.Manifest.Dialect == dialect)
		e.mu.Unlock()
		if wait {
			_ = h.wait(ctx, &e.inFlight) // then it is as it is
		}
	}
}

// Enlisted returns the plugins of a dialect that are in service, and those that should
// be and are not: they do not load, or keep dying. They are sorted by id.
func (h *Host) Enlisted(dialect string) []plugin.Enlisted {
	h.mu.Lock()
	var entries []*entry
	for _, e := range h.entries {
		entries = append(entries, e)
	}
	h.mu.Unlock()
	var all []plugin.Enlisted
	for _, e := range entries {
		if one, ok := e.enlisted(dialect); ok {
			one.Granted, _ = h.o.Gate.Reach.Permissions(e.id)
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b plugin.Enlisted) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (e *entry) enlisted(dialect string) (plugin.Enlisted, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.preview || e.state.Disabled || e.source == (plugin.Source{}) {
		return plugin.Enlisted{}, false
	}
	if e.serving != nil {
		m := e.serving.version().manifest
		return plugin.Enlisted{ID: e.id, Manifest: m}, m.Dialect == dialect
	}
	broken := e.status.State == plugin.Failed || e.status.State == plugin.NeedsPackages ||
		e.status.State == plugin.Quarantined && e.status.Problem != nil
	return plugin.Enlisted{ID: e.id, Manifest: e.status.Manifest, Broken: e.status.Problem},
		broken && e.status.Manifest.Dialect == dialect
}

// Borrow returns the backend of a plugin, which it starts first where none runs. Whoever borrows it gives it back with release. The error is a
// *Problem, a fault when the plugin is off or gone, or the cause of ctx's end.
func (h *Host) Borrow(ctx context.Context, id string) (_ plugin.Backend, release func(), _ error) {
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
	return s.backend, func() { r.release(s) }, nil
}

// Inject takes up the tools that a plugin injects into a turn, and returns those that a
// model may be offered, by name, with their invoker. A definition that is seen for the
// first time is pinned: which tools the approved code injects, reading it could not
// tell, and each call is asked about like others. One that says something else than
// what was pinned waits for a person, and is left out, as is what they switched off.
func (h *Host) Inject(ctx context.Context, id string, tools []tool.Tool) (map[string]tool.Tool, tool.Invoker, error) {
	e, err := h.known(id)
	if err != nil {
		return nil, nil, err
	}
	r := e.runner()
	if r == nil {
		return nil, nil, fault.New(fault.Unavailable, "plugin.inject", "The plugin "+id+" is not in service.", "")
	}
	e.injecting.Lock()
	defer e.injecting.Unlock()
	v := r.version()
	next, changed := v.with(tools)
	if changed {
		if err := e.takeUp(ctx, r, next); err != nil {
			return nil, nil, err
		}
		v = r.version()
	}
	offered := map[string]tool.Tool{}
	published, enabled := v.published(e.switched())
	for _, t := range tools {
		t = v.normal(t)
		i := slices.IndexFunc(published, func(p tool.Tool) bool { return p.Name == t.Name && p.Digest == t.Digest })
		if i >= 0 && enabled[t.Name] {
			offered[t.Name] = published[i]
		}
	}
	return offered, r, nil
}

// switched returns which tools the person switched on or off.
func (e *entry) switched() map[string]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.state.Tools)
}

// normal returns a tool that v's process injects, as it is pinned.
func (v version) normal(t tool.Tool) tool.Tool {
	t.Plugin, t.Dialect, t.File = v.src.ID, v.manifest.Dialect, v.manifest.Entry
	return tool.Normal(t)
}

// with returns v with more tools, or with others in the place of those of their name,
// as far as the bounds go, and whether that makes a difference.
func (v version) with(tools []tool.Tool) (version, bool) {
	changed := false
	all := slices.Clone(v.tools)
	for _, t := range tools {
		t = v.normal(t)
		i := slices.IndexFunc(all, func(known tool.Tool) bool { return known.Name == t.Name })
		switch {
		case i >= 0 && all[i].Digest == t.Digest:
			continue
		case len(t.Description)+len(t.Parameters) > limit.ToolDefinition:
			continue
		case i >= 0:
			all[i] = t
		case len(all) >= limit.PluginTools:
			continue
		default:
			all = append(all, t)
		}
		changed = true
	}
	v.tools, v.listed = all, true
	return v, changed
}

// takeUp pins what v offers besides what r does; what differs waits for a person.
func (e *entry) takeUp(ctx context.Context, r *runner, v version) error {
	began := time.Now()
	c := v.forApproval(e.h)
	status, changes := e.h.o.Gate.Approvals.Status(c)
	more := !slices.ContainsFunc(changes, func(c gate.Change) bool {
		return c.Field != "added" && c.Field != gate.FirstListed
	})
	if status == gate.Waiting && more {
		e.approving.Store(true)
		err := e.h.o.Gate.Approvals.Approve(e.h.ctx, c, gate.ApproveOptions{By: byCode, ThisRun: e.temporary})
		e.approving.Store(false)
		if err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if e.checkApproval(v, began, true) {
		e.publishAgain(r, v, began)
	}
	return nil
}

// byCode is who approves what approved code injects, for the record.
const byCode = "its code, which you approved"
