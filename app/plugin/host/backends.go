package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Backends gives access to running plugins to those who talk to them in the words of their dialect. Its
// methods are safe for concurrent use.
type Backends struct{ h *Host }

// Ready waits until the plugins that nobody has read yet since the start, and those of
// the dialect, are not loading any more: what guards calls must not come too late. It
// waits no longer than ctx, and a plugin's load, may take.
func (b *Backends) Ready(ctx context.Context, dialect string) {
	loading := slices.DeleteFunc(b.h.all(), func(e *entry) bool { return !b.h.tasks.busy(&e.inFlight) })
	if len(loading) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, busyFactor*b.h.o.LoadTimeout)
	defer cancel()
	for _, e := range loading {
		now := e.now()
		if is := cmp.Or(now.source.Dialect, now.status.Manifest.Dialect); now.serving == nil && (is == "" || is == dialect) {
			_ = b.h.tasks.wait(ctx, &e.inFlight) // then it is as it is
		}
	}
}

// Enlisted returns the plugins of a dialect that are in service, and those that should
// be and are not: they do not load, or keep dying. They are sorted by id.
func (b *Backends) Enlisted(dialect string) []plugin.Enlisted {
	var all []plugin.Enlisted
	for _, e := range b.h.all() {
		if one, ok := enlisted(e, dialect); ok {
			one.Granted, _ = b.h.o.Gate.Reach.Permissions(e.id)
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b plugin.Enlisted) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func enlisted(e *entry, dialect string) (plugin.Enlisted, bool) {
	now := e.now()
	if e.preview || now.state.Disabled || now.source == (plugin.Source{}) {
		return plugin.Enlisted{}, false
	}
	if now.serving != nil {
		m := now.serving.version().manifest
		return plugin.Enlisted{ID: e.id, Manifest: m}, m.Dialect == dialect
	}
	s := now.status
	broken := s.State == plugin.Failed || s.State == plugin.NeedsPackages ||
		s.State == plugin.Quarantined && s.Problem != nil
	return plugin.Enlisted{ID: e.id, Manifest: s.Manifest, Broken: s.Problem}, broken && s.Manifest.Dialect == dialect
}

// Borrow returns the backend of a plugin, which it starts first where none runs. Whoever borrows it gives
// it back with release. The error is a
// *Problem, a fault when the plugin is off or gone, or the cause of ctx's end.
func (b *Backends) Borrow(ctx context.Context, id string) (_ plugin.Backend, release func(), _ error) {
	e, err := b.h.known(id)
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
// tell, and each call is asked about like others. One that differs from
// what was pinned waits for a person, and is left out, as is what they switched off.
func (b *Backends) Inject(ctx context.Context, id string,
	tools []tool.Tool,
) (map[string]tool.Tool, tool.Invoker, error) {
	e, err := b.h.known(id)
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
		if err := b.takeUp(ctx, e, r, next); err != nil {
			return nil, nil, err
		}
		v = r.version()
	}
	offered := map[string]tool.Tool{}
	published, enabled := v.published(e.now().state)
	for _, t := range tools {
		t = v.normal(t)
		i := slices.IndexFunc(published, func(p tool.Tool) bool { return p.Name == t.Name && p.Digest == t.Digest })
		if i >= 0 && enabled[t.Name] {
			offered[t.Name] = published[i]
		}
	}
	return offered, r, nil
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
func (b *Backends) takeUp(ctx context.Context, e *entry, r *runner, v version) error {
	began := time.Now()
	c := v.forApproval()
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
	e.relisted(r, v, began, true)
	return nil
}

// byCode is who approves what approved code injects, for the record.
const byCode = "its code, which you approved"

// WriteLog writes a line to a plugin's log, as Host.WriteLog does.
func (b *Backends) WriteLog(id, level, text string) { b.h.WriteLog(id, level, text) }
