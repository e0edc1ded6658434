package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// setStatus writes the new state of the entry and announces it.
func (e *entry) setStatus(v version, state plugin.State, problem *plugin.Problem, began time.Time,
	more func(*plugin.Status),
) {
	e.h.announce(e.writeStatus(v, state, problem, began, more))
}

// writeStatus writes the new state of the entry and returns what is to be announced.
func (e *entry) writeStatus(v version, state plugin.State, problem *plugin.Problem, began time.Time,
	more func(*plugin.Status),
) plugin.Update {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v.digest != "" && v.digest != e.record.Digest && problem == nil {
		e.record.Generation++
	}
	e.waiting = version{}
	if state == plugin.NeedsApproval || state == plugin.Quarantined {
		e.waiting = v
	}
	s := &e.status
	s.State, s.Problem, s.Digest, s.Path = state, problem, v.digest, v.src.Display
	s.Shown = e.shownLocked()
	s.Generation = e.record.Generation
	s.Load = since(began)
	if v.manifest.Dialect != "" {
		s.Manifest, s.Imports, s.Options, s.Notes = v.manifest, v.listing.Imports, v.options, v.notes
		s.Isolation, s.Home, s.Wants = v.confinement(e.h), v.listing.Home, v.listing.Wants
	}
	if more != nil {
		more(s)
	}
	u := plugin.Update{
		Plugin: e.id, Generation: s.Generation, State: state, Took: s.Load, Problem: problem,
		Tools: ids(s.Tools),
	}
	if state == plugin.NeedsApproval || state == plugin.Quarantined {
		u.Tools = ids(v.forApproval(e.h).Tools) // those of the version that waits
	}
	return u
}

// shownLocked returns the digest of what waits for approval; empty when nothing does.
func (e *entry) shownLocked() string {
	if e.waiting.digest == "" {
		return ""
	}
	return e.waiting.forApproval(e.h).Digest()
}

func ids(tools []tool.Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.ID()
	}
	return out
}

// fail shows a problem. What served before goes on; after a restart that is the
// last good copy.
func (e *entry) fail(src plugin.Source, digest string, began time.Time, p *plugin.Problem) {
	serving := e.keepOldVersion(src)
	e.setStatus(version{src: src, digest: digest}, failedState(p), p, began, func(s *plugin.Status) {
		s.Serving, s.LastGood, s.Changes = serving != nil, serving != nil && serving.version().digest != digest, nil
		if serving == nil {
			s.Tools, s.Enabled = nil, nil
		}
	})
	e.h.o.Gate.Questions.Drop(e.id) // nothing waits to be approved any more
	e.h.o.Log.Info("a plugin did not load", "plugin", e.id, "err", p.Error())
}

// setInactive takes the plugin out of service in the given state.
func (e *entry) setInactive(src plugin.Source, state plugin.State, p *plugin.Problem) {
	e.unpublish()
	e.mu.Lock()
	s := &e.status
	s.State, s.Problem, s.Path, s.Serving, s.LastGood, s.Digest, s.Changes = state, p, src.Display, false, false, "", nil
	s.Shown, e.waiting = "", version{}
	s.Tools = fromStored(e.record.Tools)
	if len(s.Tools) == 0 {
		s.Tools = e.record.Listing.Tools
	}
	u := plugin.Update{Plugin: e.id, Generation: s.Generation, State: state, Problem: p, Tools: []string{}}
	e.mu.Unlock()
	e.h.o.Gate.Questions.Drop(e.id)
	e.h.announce(u)
}

// setOff takes a plugin out of service that its own files switch off.
func (e *entry) setOff(v version, began time.Time) {
	e.unpublish()
	e.setStatus(v, plugin.Disabled, v.manifest.Off, began, func(s *plugin.Status) {
		s.Serving, s.LastGood, s.Changes, s.Tools, s.Enabled = false, false, nil, nil, nil
	})
	e.h.o.Gate.Questions.Drop(e.id)
}

func (e *entry) unpublish() {
	if old, _ := e.swap(nil, func() bool { return true }); old != nil {
		old.retire()
	}
}

// remove removes the entry of a plugin that is gone. Its state, record and data stay,
// for a plugin that comes back (a branch switched, a file renamed twice).
func (e *entry) remove() {
	e.unpublish()
	e.h.o.Gate.Questions.Drop(e.id)
	e.h.mu.Lock()
	e.mu.Lock()
	gone := e.source == (plugin.Source{})
	if gone {
		delete(e.h.entries, e.id)
	}
	e.status.Digest = ""
	e.mu.Unlock()
	e.h.mu.Unlock()
	if gone {
		if err := errors.Join(e.h.o.Gate.Approvals.MarkRemoved(e.h.ctx, e.id), e.forgetStranger()); err != nil {
			e.h.o.Log.Warn("that a plugin is gone could not be kept", "plugin", e.id, "err", err)
		}
		e.h.retryReservations(e)
		e.h.announce(plugin.Update{Plugin: e.id, State: plugin.Disabled, Removed: true, Tools: []string{}})
	}
}

// forgetStranger deletes the record of a plugin that registered, was decided about by
// nobody, and is gone: any program can make up names without end.
func (e *entry) forgetStranger() error {
	decided := slices.ContainsFunc(e.h.o.Gate.Approvals.List(), func(a gate.Approval) bool { return a.Plugin == e.id })
	if e.from == fromFolder || e.temporary {
		return nil
	}
	if decided {
		e.save() // before another of its name reads it
		return nil
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	e.mu.Lock()
	e.forgotten = true
	e.mu.Unlock()
	return e.h.o.Store.DeletePluginCache(context.WithoutCancel(e.h.ctx), e.id)
}

// keepOldVersion returns what may serve while the newest save does not: what
// served before, after a restart the last good copy, or nil. A version whose
// approval was taken back is taken out of service, and so is one whose identity
// another plugin has.
func (e *entry) keepOldVersion(src plugin.Source) *runner {
	e.mu.Lock()
	serving := e.serving
	e.mu.Unlock()
	if serving != nil {
		if e.h.outranked(e, serving.version().manifest) {
			e.unpublish()
			return nil
		}
		// What differs from the newest approval was approved once; what has none
		// any more was taken back.
		if status, changes := e.h.o.Gate.Approvals.Status(serving.version().forApproval(e.h)); status == gate.Approved ||
			len(changes) > 0 {
			return serving
		}
		e.unpublish()
		return nil
	}
	v, ok := e.good(src)
	if !ok || e.h.outranked(e, v.manifest) {
		return nil
	}
	if status, _ := e.h.o.Gate.Approvals.Status(v.forApproval(e.h)); status != gate.Approved {
		return nil
	}
	next := newRunner(e.h, e, v)
	e.applyPermissions(v)
	e.swap(next, func() bool { return true })
	e.mu.Lock()
	e.status.Tools, e.status.Manifest, e.status.Loaded = v.tools, v.manifest, e.record.Good.Loaded
	e.mu.Unlock()
	return next
}

// whichServes says which version serves while the newest save does not.
func whichServes(m plugin.Manifest, s plugin.Status) string {
	newest := "A new version waits for your approval."
	if s.Problem != nil {
		newest = "The newest version did not load."
	}
	which := "The version of "
	if m.Version != "" {
		which = "Version " + m.Version + " of "
	}
	return newest + " " + which + s.Loaded.Local().Format("January 2, 2006 at 15:04") + " is used."
}

// returned tells the gate that something lies under the name of a plugin that may
// have left. A stranger does not bring back the version that served before.
func (e *entry) returned(c gate.PluginVersion) {
	stranger, err := e.h.o.Gate.Approvals.MarkReturned(e.h.ctx, c)
	if stranger {
		err = errors.Join(err, e.forgetServed(e.h.ctx))
	}
	if err != nil {
		e.h.o.Log.Warn("what a plugin that left had could not be withdrawn", "plugin", e.id, "err", err)
	}
}

// previewPermissions returns the permissions of a plugin that is only previewed: to
// offer tools, which opens nothing.
func (v version) previewPermissions() []string {
	needed := v.facts().ToolsPermission
	return slices.DeleteFunc(slices.Clone(v.manifest.Permissions), func(p string) bool { return p != needed })
}
