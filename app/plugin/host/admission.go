package host

import (
	"errors"
	"slices"
	"time"

	"conclave/app/permit"
	"conclave/app/plugin"
)

// namedBy is who approves what a command names, for the record.
const namedBy = "named on the command line"

// admitted asks the gate about v and, when it is not approved, leaves the card
// that says so. What was approved before goes on serving. With pin, definitions
// that nobody could know when the code was approved are pinned now.
func (e *entry) admitted(v version, began time.Time, pin bool) bool {
	c := v.candidate(e.h)
	if e.bare {
		c.Permissions = v.harmless()
	}
	e.returned(c)
	verdict, changes := e.h.o.Gate.Status(c)
	if e.temporary && verdict == permit.Waiting {
		// Naming a file for this run is the yes to running it.
		e.trusting.Store(true)
		err := e.h.o.Gate.Trust(e.h.ctx, c, permit.Trust{ThisRun: true, By: namedBy})
		e.trusting.Store(false)
		if err == nil {
			verdict = permit.Approved
		}
	}
	switch verdict {
	case permit.Approved:
		if pin {
			if err := e.h.o.Gate.Listed(c); err != nil {
				e.h.o.Log.Warn("an approval could not be pinned", "plugin", e.id, "err", err)
			}
		}
		return true
	case permit.Refused:
		e.rest(v.src, plugin.Disabled, &plugin.Problem{Kind: "refused", Message: "You turned this version off.", Hint: "Enable the plugin to be asked again."})
		return false
	}
	serving := e.keepServing(v.src)
	if slices.ContainsFunc(changes, func(c permit.Change) bool { return c.Field == "code" }) {
		c.Diff = e.diff(v)
		_, changes = e.h.o.Gate.Status(c)
	}
	e.h.o.Gate.Propose(c)
	state := plugin.NeedsApproval
	if len(changes) > 0 && !permit.Expected(changes) {
		state = plugin.Quarantined
	}
	e.settle(v, state, nil, began, func(s *plugin.Status) {
		s.Changes, s.Listed = changes, v.listed
		s.Serving, s.LastGood = serving != nil, serving != nil && serving.version().digest != v.digest
		if serving == nil {
			s.Tools, s.Enabled = c.Tools, nil
		}
	})
	e.remember(v)
	return false
}

// returned tells the gate that something lies under the name of a plugin that may
// have left. A stranger does not bring back the version that served before.
func (e *entry) returned(c permit.Candidate) {
	stranger, err := e.h.o.Gate.Returned(e.h.ctx, c)
	if stranger {
		err = errors.Join(err, e.outOfService(e.h.ctx))
	}
	if err != nil {
		e.h.o.Log.Warn("what a plugin that left had could not be withdrawn", "plugin", e.id, "err", err)
	}
}

// harmless are the permissions of a plugin that is only looked at: to say what it
// offers, which opens nothing.
func (v version) harmless() []string {
	needed := v.facts().ToolsPermission
	return slices.DeleteFunc(slices.Clone(v.manifest.Permissions), func(p string) bool { return p != needed })
}

// keepServing returns what may serve while the newest save does not: what
// served before, after a restart the last good copy, or nil. A version whose
// approval was taken back is taken out of service, and so is one whose identity
// another plugin has.
func (e *entry) keepServing(src plugin.Source) *runner {
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
		if verdict, changes := e.h.o.Gate.Status(serving.version().candidate(e.h)); verdict == permit.Approved || len(changes) > 0 {
			return serving
		}
		e.unpublish()
		return nil
	}
	v, ok := e.good(src)
	if !ok || e.h.outranked(e, v.manifest) {
		return nil
	}
	if verdict, _ := e.h.o.Gate.Status(v.candidate(e.h)); verdict != permit.Approved {
		return nil
	}
	next := newRunner(e.h, e, v)
	e.permit(v)
	e.swap(next, func() bool { return true })
	e.mu.Lock()
	e.status.Tools, e.status.Manifest, e.status.Loaded = v.tools, v.manifest, e.record.Good.Loaded
	e.mu.Unlock()
	return next
}
