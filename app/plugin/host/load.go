package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"conclave/app/bus"
	"conclave/app/fault"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// load brings the entry in line with what lies at src. The error is errNewer
// when the files changed meanwhile, unless again is false; everything else is
// shown on the plugin's card.
func (e *entry) load(ctx context.Context, src plugin.Source, force, again bool) error {
	began := time.Now()
	if src == (plugin.Source{}) {
		e.vanish()
		return nil
	}
	if err := e.recall(ctx); err != nil {
		e.fail(src, "", began, &plugin.Problem{Kind: "unavailable", Message: "What Conclave knows of this plugin cannot be read: " + fault.Of(err).Message})
		return nil
	}
	if e.disabled() {
		e.rest(src, plugin.Disabled, nil)
		return nil
	}
	seen, err := e.h.sight(ctx, src)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, os.ErrNotExist):
		return nil // the removal is on its way
	case err != nil && seen.digest == "":
		f := fault.Of(err)
		e.fail(src, "", began, &plugin.Problem{Kind: "script", Message: f.Message, Hint: f.Hint, File: filepath.Base(src.Path)})
		return nil
	}
	e.mu.Lock()
	same := !force && !e.decided && seen.digest == e.status.Digest && e.status.State != plugin.Loading
	e.decided = false
	if !same && e.serving == nil {
		e.status.State = plugin.Loading // until the load is over, whatever interrupts it
	}
	e.mu.Unlock()
	if same {
		return nil
	}
	e.h.o.Bus.Changed(bus.Plugins, "")

	var v version
	if err == nil {
		v, err = e.read(ctx, src, seen)
	}
	if err == nil {
		err = e.survey(ctx, v)
	}
	if err == nil {
		err = e.h.claim(e, v.manifest)
	}
	if err == nil {
		err = e.offer(ctx, v, began, force)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, errNewer) && again:
		return errNewer
	case errors.Is(err, errNewer):
		err = errBusy
	}
	e.fail(src, seen.digest, began, e.packaged(plugin.ProblemOf(err)))
	return nil
}

func (e *entry) disabled() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.Disabled
}

// offer takes a version that was read as far as the gate lets it: to a card that
// waits, or to a published tool set. The error is a *Problem, errNewer, or the
// cause of ctx's end.
func (e *entry) offer(ctx context.Context, v version, began time.Time, force bool) error {
	if !e.admitted(v, began, true) {
		return nil
	}
	if serving := e.reuse(v, force); serving != nil {
		e.repermit()
		if !e.settled(v) {
			e.publish(ctx, v, serving, began)
		}
		return nil
	}
	muted := e.permit(v)
	runs := !muted && (!v.listed || force)
	if runs && !force {
		if err := e.knownToHang(v); err != nil {
			return err
		}
	}
	// Before any of it runs: a process that is started later must find the files as
	// they were approved, whatever is saved meanwhile.
	if _, err := e.pin(v); err != nil {
		return err
	}
	next := newRunner(e.h, e, v)
	if runs {
		tools, said, err := next.list(ctx)
		if ctx.Err() == nil {
			e.noteHang(v, err)
		}
		if err != nil {
			next.retire()
			return err
		}
		v.tools, v.listed, v.told = tools, true, said
		next.become(v)
		if !e.admitted(v, began, true) {
			next.retire()
			return nil
		}
	}
	if !e.publish(ctx, v, next, began) {
		next.retire()
	}
	return nil
}

// reuse returns the serving runner when it runs v already, so that a decision
// about a plugin does not end its process; nil otherwise.
func (e *entry) reuse(v version, force bool) *runner {
	e.mu.Lock()
	serving := e.serving
	e.mu.Unlock()
	if force || serving == nil || !v.listed {
		return nil
	}
	if now := serving.version(); now.digest != v.digest || now.src != v.src || !now.listed {
		return nil
	}
	if serving.resting() != nil {
		return nil // a decision starts it afresh
	}
	serving.become(v)
	return serving
}

// settled reports whether the card says already that v serves.
func (e *entry) settled(v version) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status.State == plugin.Ready && e.status.Digest == v.digest && e.status.Problem == nil
}

// publish puts v in service and lets the old version finish what it is doing. It
// reports false when ctx has ended: something newer is coming.
func (e *entry) publish(ctx context.Context, v version, next *runner, began time.Time) bool {
	old, ok := e.swap(next, func() bool { return ctx.Err() == nil })
	if !ok {
		return false
	}
	if old != nil && old != next {
		old.retire()
	}
	e.settle(v, plugin.Ready, nil, began, func(s *plugin.Status) {
		s.Tools, s.Serving, s.Listed, s.LastGood, s.Changes = v.tools, true, v.listed, false, nil
		if old != next {
			s.Loaded = time.Now()
		}
	})
	e.remember(v)
	e.repermit()     // what was granted may have changed before it served,
	next.listAgain() // and so may its tools
	return true
}

// swap puts next in service (nil: nothing) and publishes its tools in one step,
// if ok, which is asked under e.mu, says so. It returns what served before.
func (e *entry) swap(next *runner, ok func() bool) (old *runner, done bool) {
	e.publishing.Lock()
	defer e.publishing.Unlock()
	e.mu.Lock()
	if !ok() {
		e.mu.Unlock()
		return nil, false
	}
	old, e.serving = e.serving, next
	var tools []tool.Tool
	if next != nil {
		v := next.version()
		tools, e.status.Enabled = v.published(e.state.Tools)
		if e.muted {
			tools = nil
		}
	}
	e.mu.Unlock()
	if next == nil {
		e.h.o.Registry.Withdraw(e.id)
	} else {
		e.h.o.Registry.Publish(e.id, tools, next)
	}
	return old, true
}

// fail shows a problem. What served before goes on; after a restart that is the
// last good copy.
func (e *entry) fail(src plugin.Source, digest string, began time.Time, p *plugin.Problem) {
	serving := e.keepServing(src)
	e.settle(version{src: src, digest: digest}, failedState(p), p, began, func(s *plugin.Status) {
		s.Serving, s.LastGood, s.Changes = serving != nil, serving != nil && serving.version().digest != digest, nil
		if serving == nil {
			s.Tools, s.Enabled = nil, nil
		}
	})
	e.h.o.Gate.Forget(e.id) // nothing waits to be approved any more
	e.h.o.Log.Info("a plugin did not load", "plugin", e.id, "err", p.Error())
}

// rest takes the plugin out of service in the given state.
func (e *entry) rest(src plugin.Source, state plugin.State, p *plugin.Problem) {
	e.unpublish()
	e.mu.Lock()
	s := &e.status
	s.State, s.Problem, s.Path, s.Serving, s.LastGood, s.Digest, s.Changes = state, p, src.Display, false, false, "", nil
	s.Tools = unkeep(e.record.Tools)
	if len(s.Tools) == 0 {
		s.Tools = e.record.Listing.Tools
	}
	u := plugin.Update{Plugin: e.id, Generation: s.Generation, State: state, Problem: p, Tools: []string{}}
	e.mu.Unlock()
	e.h.o.Gate.Forget(e.id)
	e.h.announce(u)
}

func (e *entry) unpublish() {
	if old, _ := e.swap(nil, func() bool { return true }); old != nil {
		old.retire()
	}
}

// vanish removes the entry of a plugin that is gone. Its state, record and data
// stay, for a plugin that comes back (a branch switched, a file renamed twice).
func (e *entry) vanish() {
	e.unpublish()
	e.h.o.Gate.Forget(e.id)
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
		if err := e.h.o.Gate.Left(e.h.ctx, e.id); err != nil {
			e.h.o.Log.Warn("that a plugin is gone could not be kept", "plugin", e.id, "err", err)
		}
		e.h.unclaimed(e)
		e.h.announce(plugin.Update{Plugin: e.id, State: plugin.Disabled, Removed: true, Tools: []string{}})
	}
}
