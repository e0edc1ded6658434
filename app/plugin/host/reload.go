package host

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// A saved file, from the notice to the new version in service, read from the top. What follows from each
// step is decided in life.go:
//
//	scan, take          which plugins does the folder hold, and which of them do the changed names mean?
//	requestLoad, run    one load at a time; whatever happens meanwhile, another follows
//	perform             a task, and what follows from it at once; then the next one:
//	  files.digest        of all files that loading it reads, once
//	  readVersion         its manifest, and what it offers without being run
//	  judge               the gate's answer
//	  start               the copy that it runs from; does it run (start.go), and what does it list?
//	step                publishes: the old version finishes its calls and ends (runner.retire)
//
// Where it fails or waits for a person, checkOld finds out what serves meanwhile.

// scan compares the folder with the entries; names limits which existing ones
// are looked at again (nil: all).
func (h *Host) scan(names []string) error {
	h.scanning.Lock()
	defer h.scanning.Unlock()
	sources, news, err := h.Folder.sources()
	if news && !h.tasks.over() {
		now := fault.Of(err)
		h.announce(plugin.Update{
			State:   plugin.Failed,
			Problem: &plugin.Problem{Kind: "unavailable", Message: now.Message, Hint: now.Hint}, Tools: []string{},
		})
	}
	if err != nil || h.tasks.over() {
		h.o.Bus.Changed(bus.Plugins, "")
		return err
	}
	h.take(fromFolder, sources, func(e *entry) bool { return names == nil || e.concerns(names) })
	return nil
}

// take compares what a source has with its entries. Those that are new or moved are
// looked at, and of the others those that again names.
func (h *Host) take(from string, all []plugin.Source, again func(*entry) bool) {
	var kicked []*entry
	seen := map[string]bool{}
	if h.tasks.over() {
		return
	}
	h.mu.Lock()
	for _, src := range all {
		seen[src.ID] = true
		e, known := h.entries[src.ID]
		if known && e.from != from {
			h.o.Log.Warn("a plugin is passed over: another of its name is there", "plugin", src.ID, "from", from,
				"other", e.from)
			continue
		}
		if !known {
			e = newEntry(h, from, src)
			h.entries[src.ID] = e
		}
		moved := e.now().source != src
		e.step(sourceSet{src})
		if !known || moved || again(e) {
			kicked = append(kicked, e)
		}
	}
	for id, e := range h.entries {
		// One that nobody named may be back by now, with the same files: its watcher
		// would not report it.
		if !seen[id] && e.from == from && again(e) {
			e.step(sourceSet{})
			kicked = append(kicked, e)
		}
	}
	h.mu.Unlock()
	for _, e := range kicked {
		e.requestLoad(request{interrupt: true})
	}
}

// concerns reports whether a change of one of these names in the plugins folder
// may change the plugin: it is one of them, it imports one, or it does not load
// and may be waiting for one.
func (e *entry) concerns(names []string) bool {
	now := e.now()
	imported := func(file string) bool {
		first, _, _ := strings.Cut(file, "/")
		return slices.Contains(names, first)
	}
	return slices.Contains(names, filepath.Base(cmp.Or(now.source.Path, now.source.Display))) || !now.source.Folder &&
		(now.status.State == plugin.Failed || now.status.State == plugin.NeedsPackages ||
			slices.ContainsFunc(now.status.Manifest.Files, imported))
}

// requestLoad has the entry look at its files again. One load runs at a time: one that is under way goes on,
// or is given up if that is asked, so that the last edit wins.
func (e *entry) requestLoad(r request) {
	if !e.h.tasks.began(&e.inFlight) {
		return
	}
	e.mu.Lock()
	begins := e.life.wants(r)
	if !begins && r.interrupt && e.cancel != nil {
		e.cancel(errNewer)
	}
	e.mu.Unlock()
	if !begins {
		e.h.tasks.ended(&e.inFlight)
		return
	}
	go e.run() // ends when nothing is left to do; Close waits for it
}

// reloadForced has the entry load again though nothing changed.
func (e *entry) reloadForced() { e.requestLoad(request{interrupt: true, force: true}) }

// maxAgain bounds how often one load begins again because the files changed under
// it. Whoever watches the folder looks again anyway.
const maxAgain = 5

// errNewer ends a load that a newer save made pointless.
var errNewer = errors.New("a newer version was saved")

// errBusy is the problem of a plugin that is saved faster than it can be read.
var errBusy = &plugin.Problem{
	Kind: "unavailable", Message: "Its files change faster than they can be read.",
	Hint: "Save it once more when whatever writes it is done.",
}

// run loads until nothing is wanted any more: one task after the other, until there is none or the load is
// given up.
func (e *entry) run() {
	defer e.h.tasks.ended(&e.inFlight)
	for {
		ctx, cancel := context.WithCancelCause(e.h.ctx)
		task := e.stepWith(func() event {
			e.cancel = cancel
			return loadBegan{time.Now(), e.h.ctx.Err() != nil}
		})
		if task.do == "" {
			cancel(nil)
			return
		}
		slots := e.h.slots
		switch {
		case e.h.Dialects.patient(e.now().source):
			slots = e.h.patient // those that install something, or hang, are in nobody's way
		case !e.decidedAbout():
			slots = e.h.spare // a folder full of new plugins is not in the way of those that serve
		}
		select {
		case slots <- struct{}{}:
			for task.do != "" {
				task = e.perform(ctx, task)
			}
			<-slots
		case <-ctx.Done():
		}
		e.stepWith(func() event {
			e.cancel = nil
			return loadOver{cut: ctx.Err() != nil}
		})
		cancel(nil)
	}
}

// perform does a task, and what follows from it at once. It returns the task that is next, if there is one.
// Where ctx ended meanwhile, nothing follows.
func (e *entry) perform(ctx context.Context, task effect) (next effect) {
	var ended event
	switch task.do {
	case doRecall:
		ended = recalled{e.memory.recall(ctx)}
	case doDigest:
		seen, err := e.files.digest(ctx, task.version.src)
		ended = filesDigested{seen, err}
	case doRead:
		v, err := e.readVersion(ctx, task.version.src, task.seen)
		ended = sourceRead{time.Now(), v, err}
	case doJudge:
		ended = e.judge(task)
	case doStart:
		ended = e.start(ctx, task)
	case doFallBack:
		ended = e.checkOld(*task.outcome)
	case doRemove:
		e.remove()
	}
	taken := false
	next = e.stepWith(func() event {
		if taken = ctx.Err() == nil; taken {
			return ended
		}
		return nil
	})
	if taken {
		return next
	}
	if started, ok := ended.(runnerStarted); ok && started.run != nil {
		started.run.retire()
	}
	if task.run != nil {
		task.run.retire()
	}
	return next
}

// follow does the tasks that follow from an event outside of a load.
func (e *entry) follow(ev event) {
	for task := e.step(ev); task.do != ""; {
		task = e.perform(e.h.ctx, task)
	}
}

// step takes in an event, and does what follows from it at once. It returns the task that is next, if
// there is one.
func (e *entry) step(ev event) (task effect) { return e.stepWith(func() event { return ev }) }

// stepWith is step of an event that is made under the entry's lock; nil is none.
func (e *entry) stepWith(happens func() event) (task effect) {
	var effects []effect
	e.mu.Lock()
	if ev := happens(); ev != nil {
		effects = ev.apply(&e.life)
	}
	for _, f := range effects {
		e.doLocked(f)
	}
	e.mu.Unlock()
	for _, f := range effects {
		if e.doNow(f) {
			continue
		}
		task = f
	}
	return task
}

// doLocked does those effects that belong to the state: which tools are published is what serves, and a
// load that is given up changes nothing. The caller holds mu.
func (e *entry) doLocked(f effect) {
	switch f.do {
	case doPublish:
		tools, enabled := e.running.published(e.state)
		e.status.Enabled = enabled
		if e.toolsDenied {
			tools = nil
		}
		e.h.o.Registry.Publish(e.id, tools, f.run)
	case doUnpublish:
		e.h.o.Registry.Unpublish(e.id)
	case doAdopt:
		f.run.setVersion(f.version)
	}
}

// doNow does the other effects that take no time. It reports false for a task.
func (e *entry) doNow(f effect) bool {
	switch f.do {
	case doUnpublish, doAdopt:
	case doPublish:
		e.h.o.Bus.Changed(bus.Tools, "")
	case doNotice:
		e.h.o.Bus.Changed(bus.Plugins, "")
	case doRetire:
		f.run.retire()
	case doAnnounce:
		e.h.announce(f.update)
	case doPropose:
		e.h.o.Gate.Questions.Propose(f.outcome.pending)
	case doDrop:
		e.h.o.Gate.Questions.Drop(e.id) // nothing waits to be approved any more
	case doRemember:
		e.memory.remember(f.version)
	case doAccess:
		e.permissionsChanged()
	case doRelist:
		f.run.listAgain()
	case doRenew:
		f.run.renewUnlessListed()
	case doLog:
		e.h.o.Log.Info("a plugin did not load", "plugin", e.id, "err", f.outcome.problem.Error())
	default:
		return f.do == ""
	}
	return true
}

// readVersion finds out what src is without running any of it: from the record when the files are the same as
// then, else by asking the dialects. It finds the packages that the version needs, and reserves its identity.
// The error is a *Problem, errNewer when src was saved again meanwhile, or the cause of ctx's end.
func (e *entry) readVersion(ctx context.Context, src plugin.Source, s digested) (v version, err error) {
	v, known := e.recorded(src, s.digest)
	if !known {
		if s.manifest == nil {
			if s.manifest, s.dialect, err = e.h.Dialects.Recognize(ctx, src); err != nil {
				return v, err
			}
		}
		v.dialect, v.manifest, v.isolation = s.dialect, *s.manifest, confinementOf(s.dialect, *s.manifest, e.h.o.Launcher)
		if v.listing, err = v.dialect.Inspect(ctx, src, v.manifest); err != nil {
			return v, err
		}
		v.options = usable(v.listing.Options)
		v.listing.Clean(&v.manifest)
		for i := range v.listing.Tools {
			t := &v.listing.Tools[i]
			t.Plugin, t.Dialect = src.ID, v.manifest.Dialect
			*t = tool.Normal(*t)
		}
		if src.Tools != "" {
			v.tools, v.listed = v.listing.Tools, true
		}
		if !e.files.holds(src, v) { // what was read is not what the digest says
			return v, errNewer
		}
	}
	if v.manifest.Off != nil {
		return v, nil
	}
	if err := e.needs.find(ctx, e.h.o.Environments, v); err != nil {
		return v, err
	}
	return v, e.h.identities.reserve(e, v.manifest)
}

// judge asks the gate about a version. Where that is to be pinned, definitions that nobody could know
// when the code was approved are approved with it now.
func (e *entry) judge(task effect) event {
	v := task.version
	now := e.now()
	v.tools, _ = now.approvedWords(v)
	c := v.forApproval()
	if e.preview {
		c.Permissions = v.previewPermissions()
	}
	e.memory.returned(c)
	status, changes := e.h.o.Gate.Approvals.Status(c)
	if e.temporary && status == gate.Waiting && e.isNamed(c, changes) {
		e.approving.Store(true)
		err := e.h.o.Gate.Approvals.Approve(e.h.ctx, c, gate.ApproveOptions{ThisRun: true, By: namedBy})
		e.approving.Store(false)
		if err == nil {
			status = gate.Approved
		}
	}
	if status == gate.Waiting {
		adopted, err := e.h.o.Gate.Approvals.AdoptFirst(c)
		if err != nil {
			e.h.o.Log.Warn("the first tools could not be approved", "plugin", e.id, "err", err)
		} else if adopted {
			status, changes = e.h.o.Gate.Approvals.Status(c)
		}
	}
	d := gateDecided{began: task.began, version: v, run: task.run, again: task.again, status: status}
	switch {
	case status == gate.Approved:
		if task.pin {
			if err := e.h.o.Gate.Approvals.Adopt(c); err != nil {
				e.h.o.Log.Warn("an approval could not be pinned", "plugin", e.id, "err", err)
			}
		}
		if d.run == nil {
			d.access, d.toolsDenied = e.grantedNow(v)
			d.err = e.mayStart(v, d.toolsDenied, task.force)
		}
	case status == gate.Waiting && slices.ContainsFunc(changes, func(c gate.Change) bool { return c.Field == "code" }):
		if good, ok := e.memory.good(v.src); ok {
			c.Diff = e.files.diff(good, v)
		}
		_, changes = e.h.o.Gate.Approvals.Status(c)
	}
	d.pending, d.changes, d.now = c, changes, time.Now()
	return d
}

// isNamed reports whether naming the plugin for this run was the yes to a version: to the files
// that lay there then, and to what these list first, unless reading them showed something else.
// What runs with no permission, for a look, may list anything.
func (e *entry) isNamed(c gate.PluginVersion, changes []gate.Change) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.named = cmp.Or(e.named, c.Code)
	return e.preview || c.Code == e.named && (len(changes) == 0 || gate.Expected(changes))
}

// mayStart returns why an approved version is not started: it lacks packages that it declares, or it
// took too long the last time.
func (e *entry) mayStart(v version, toolsDenied, force bool) error {
	if v.facts().NeedsDeclared {
		if p := e.needs.missing(e.id, e.temporary); p != nil {
			return p
		}
	}
	if toolsDenied || v.listed || force {
		return nil
	}
	return e.memory.knownToHang(v)
}

// start copies an approved version and, where its tools are not known, runs it and lists them. It is
// copied before any of it runs: a process that is started later must find the files as they were
// approved, whatever is saved meanwhile. A copy that was made before is read when a process starts from it.
func (e *entry) start(ctx context.Context, task effect) event {
	v := task.version
	runs := !task.toolsDenied && (!v.listed || task.force)
	if runs || !e.files.copied(v) {
		if _, err := e.files.ensure(v, e.inUse(v)); err != nil {
			return runnerStarted{now: time.Now(), version: v, err: err}
		}
	}
	next := newRunner(e.h, e, v)
	if !runs {
		return runnerStarted{now: time.Now(), version: v, run: next}
	}
	bounded, cancel := boundLoad(ctx, v.loadTime(e.h.o.LoadTimeout))
	defer cancel()
	if e.h.Dialects.patient(v.src) {
		defer e.h.tasks.setAside(&e.inFlight)()
	}
	s, err := next.use(bounded)
	if err == nil {
		loadClockOf(bounded).follow(s.process)
		err = s.list(bounded, &v)
		next.release(s)
	}
	if ctx.Err() == nil {
		e.memory.noteHungLoad(v, err)
	}
	if err == nil {
		next.setVersion(v)
	}
	return runnerStarted{now: time.Now(), version: v, run: next, listed: true, err: err}
}

// checkOld finds out what may serve while the newest save does not: what served before, or after a
// restart the last good copy. A version whose approval was taken back may not, nor may one whose
// identity another plugin has.
func (e *entry) checkOld(o outcome) event {
	if o.problem != nil && !e.temporary {
		o.problem = e.needs.explain(e.id, o.problem)
	}
	d := oldChecked{outcome: o, serving: e.runner()}
	switch {
	case d.serving != nil:
		v := d.serving.version()
		status, changes := e.h.o.Gate.Approvals.Status(v.forApproval())
		// What differs from the newest approval was approved once; what has none
		// any more was taken back.
		d.stop = e.h.identities.outranked(e, v.manifest) || status != gate.Approved && len(changes) == 0
	default:
		v, ok := e.memory.good(o.version.src)
		if !ok || e.h.identities.outranked(e, v.manifest) {
			break
		}
		if status, _ := e.h.o.Gate.Approvals.Status(v.forApproval()); status == gate.Approved {
			d.good = newRunner(e.h, e, v)
			d.access, d.denied = e.grantedNow(v)
		}
	}
	d.now = time.Now()
	return d
}

// remove removes the entry of a plugin that is gone.
func (e *entry) remove() {
	e.step(wentAway{})
	e.h.identities.removed(e)
	e.h.mu.Lock()
	gone := e.now().source == (plugin.Source{}) // it may be back by now, and then it is loaded again
	if gone {
		delete(e.h.entries, e.id)
	}
	e.h.mu.Unlock()
	if !gone {
		return
	}
	if err := errors.Join(e.h.o.Gate.Approvals.MarkRemoved(e.h.ctx, e.id), e.memory.forgetStranger()); err != nil {
		e.h.o.Log.Warn("that a plugin is gone could not be kept", "plugin", e.id, "err", err)
	}
	e.h.retryRefused()
	e.h.announce(plugin.Update{Plugin: e.id, State: plugin.Disabled, Removed: true, Tools: []string{}})
}
