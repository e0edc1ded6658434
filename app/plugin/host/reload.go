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
//	concerns   is the plugin one that the changed names mean?
//	requestLoad, run  one load at a time; whatever happens meanwhile, another follows
//	loadNow    one task after the other, until there is none
//	digest     of all files that loading it reads, once
//	read       its manifest, and what it offers without being run
//	judge      the gate's answer
//	ensureCopy, start  the copy that it runs from; does it run, and what does it list?
//	step       publishes: the old version finishes its calls and ends (runner.retire)
//
// Where it fails or waits for a person, checkOld finds out what serves meanwhile.

// concerns reports whether a change of one of these names in the plugins folder
// may change the plugin: it is one of them, it imports one, or it does not load
// and may be waiting for one.
func (e *entry) concerns(names []string) bool {
	now := e.now()
	imported := func(file string) bool {
		first, _, _ := strings.Cut(file, "/")
		return slices.Contains(names, first)
	}
	return slices.Contains(names, filepath.Base(now.source.Path)) || !now.source.Folder &&
		(now.status.State == plugin.Failed || now.status.State == plugin.NeedsPackages ||
			slices.ContainsFunc(now.status.Manifest.Files, imported))
}

// reload makes the entry look at its files again. A load under way is given up:
// the last edit wins.
func (e *entry) reload() { e.requestLoad(request{interrupt: true}) }

// reloadForced makes it load again though nothing changed.
func (e *entry) reloadForced() { e.requestLoad(request{interrupt: true, force: true}) }

// reloadDecided is reload after a decision about it: the same files are not taken for a
// no-op. A load under way may be what was decided about, and goes on.
func (e *entry) reloadDecided() {
	if !e.approving.Load() {
		e.requestLoad(request{decided: true})
	}
}

func (e *entry) requestLoad(r request) {
	if e.h.tasks.began(&e.inFlight) {
		e.step(loadAsked{r})
		e.h.tasks.ended(&e.inFlight) // a load that it began is counted by itself
	}
}

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

// run loads until nothing is wanted any more.
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
		e.loadNow(ctx, task)
		e.stepWith(func() event {
			e.cancel = nil
			return loadOver{cut: ctx.Err() != nil}
		})
		cancel(nil)
	}
}

// loadNow does one task after the other, until there is none or ctx ends.
func (e *entry) loadNow(ctx context.Context, task effect) {
	slots := e.h.slots
	if !e.decidedAbout() {
		slots = e.h.spare // a folder full of new plugins is not in the way of those that serve
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return
	}
	for task.do != "" {
		ended := e.perform(ctx, task)
		taken := false
		next := e.stepWith(func() event {
			if taken = ctx.Err() == nil; taken {
				return ended
			}
			return nil
		})
		if started, ok := ended.(runnerStarted); ok && !taken && started.run != nil {
			started.run.retire()
		}
		if !taken && task.run != nil {
			task.run.retire()
		}
		task = next
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
		tools, enabled := e.running.published(e.state.Tools)
		e.status.Enabled = enabled
		if e.toolsDenied {
			tools = nil
		}
		e.h.o.Registry.Publish(e.id, tools, f.run)
	case doUnpublish:
		e.h.o.Registry.Unpublish(e.id)
	case doAdopt:
		f.run.setVersion(f.version)
	case doCancel:
		if e.cancel != nil {
			e.cancel(errNewer)
		}
	}
}

// doNow does the other effects that take no time. It reports false for a task.
func (e *entry) doNow(f effect) bool {
	switch f.do {
	case doUnpublish, doAdopt, doCancel:
	case doPublish:
		e.h.o.Bus.Changed(bus.Tools, "")
	case doNotice:
		e.h.o.Bus.Changed(bus.Plugins, "")
	case doBegin:
		if e.h.tasks.began(&e.inFlight) {
			go e.run() // ends when nothing is left to do; Close waits for it
		}
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
	case doLog:
		e.h.o.Log.Info("a plugin did not load", "plugin", e.id, "err", f.outcome.problem.Error())
	default:
		return f.do == ""
	}
	return true
}

// perform does a task, and returns the event with which it ends.
func (e *entry) perform(ctx context.Context, task effect) event {
	switch task.do {
	case doDigest:
		return e.look(ctx, task.version.src)
	case doRead:
		return e.readVersion(ctx, task)
	case doJudge:
		return e.judge(task)
	case doStart:
		return e.start(ctx, task)
	case doFallBack:
		return e.checkOld(*task.outcome)
	case doRemove:
		e.remove()
	}
	return nil
}

// follow does a task outside of a load, and those that follow from it.
func (e *entry) follow(ctx context.Context, ev event) {
	for task := e.step(ev); task.do != ""; task = e.step(e.perform(ctx, task)) {
		continue
	}
}

// look reads what is stored of the plugin, once, and digests its files.
func (e *entry) look(ctx context.Context, src plugin.Source) event {
	if err := e.memory.recall(ctx); err != nil {
		return filesDigested{err: &plugin.Problem{
			Kind:    "unavailable",
			Message: "What Conclave knows of this plugin cannot be read: " + fault.Of(err).Message,
		}}
	}
	if e.disabled() {
		return filesDigested{}
	}
	seen, err := e.files.digest(ctx, src)
	return filesDigested{seen, err}
}

// read finds out what src is without running any of it: from the record when the
// files are the same as then, else by asking the dialects. The error is a
// *Problem, errNewer when src was saved again meanwhile, or the cause of ctx's
// end.
func (e *entry) read(ctx context.Context, src plugin.Source, s digested) (version, error) {
	v := version{src: src, digest: s.digest, settings: e.settings()}
	rec := e.now().record
	if rec.Digest == s.digest && src.Tools == "" {
		// A toolbox's settings make its tools: others are listed again, whichever
		// process set them.
		v.manifest, v.listing, v.listed, v.tools = rec.Manifest, rec.Listing, rec.Listed && rec.Settings == v.settings,
			fromStored(rec.Tools)
		v.selfReport = selfReport{rec.Options, rec.Notes, rec.Wakes}
		if v.dialect = e.h.Dialects.named(rec.Manifest.Dialect); v.dialect != nil {
			v.isolation = confinementOf(v.dialect, e.h.o.Launcher)
			return v, nil
		}
	}
	if s.manifest == nil {
		var err error
		if s.manifest, s.dialect, err = e.h.Dialects.Recognize(ctx, src); err != nil {
			return v, err
		}
	}
	v.dialect, v.manifest, v.isolation = s.dialect, *s.manifest, confinementOf(s.dialect, e.h.o.Launcher)
	var err error
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
	return v, nil
}

// readVersion reads a version, finds the packages that it needs, and reserves its identity.
func (e *entry) readVersion(ctx context.Context, task effect) event {
	v, err := e.read(ctx, task.version.src, task.seen)
	if err == nil && v.manifest.Off == nil {
		err = e.needs.find(ctx, e.h.o.Environments, v)
		if err == nil {
			err = e.h.identities.reserve(e, v.manifest)
		}
	}
	return sourceRead{time.Now(), v, err}
}

// judge asks the gate about a version. Where that is to be pinned, definitions that nobody could know
// when the code was approved are approved with it now.
func (e *entry) judge(task effect) event {
	v := task.version
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
// approved, whatever is saved meanwhile.
func (e *entry) start(ctx context.Context, task effect) event {
	v := task.version
	if _, err := e.files.ensure(v, e.inUse(v)); err != nil {
		return runnerStarted{now: time.Now(), version: v, err: err}
	}
	next := newRunner(e.h, e, v)
	if task.toolsDenied || v.listed && !task.force {
		return runnerStarted{now: time.Now(), version: v, run: next}
	}
	tools, said, err := next.list(ctx)
	if ctx.Err() == nil {
		e.memory.noteHungLoad(v, err)
	}
	if err == nil {
		v.tools, v.listed, v.selfReport = tools, true, said
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

// forgetStranger deletes the record of a plugin that registered, was decided about by
// nobody, and is gone: any program can make up names without end.
func (m *memory) forgetStranger() error {
	decided := slices.ContainsFunc(m.e.h.o.Gate.Approvals.List(), func(a gate.Approval) bool { return a.Plugin == m.e.id })
	if m.e.from == fromFolder || m.e.temporary {
		return nil
	}
	if decided {
		m.save() // before another of its name reads it
		return nil
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	m.e.mu.Lock()
	m.forgotten = true
	m.e.mu.Unlock()
	return m.e.h.o.Store.DeletePluginCache(context.WithoutCancel(m.e.h.ctx), m.e.id)
}

// whichServes returns which version serves while the newest save does not.
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

// returned notes with the gate that something lies under the name of a plugin that may
// have left. A stranger does not bring back the version that served before.
func (m *memory) returned(c gate.PluginVersion) {
	stranger, err := m.e.h.o.Gate.Approvals.MarkReturned(m.e.h.ctx, c)
	if stranger {
		err = errors.Join(err, m.forgetServed(m.e.h.ctx))
	}
	if err != nil {
		m.e.h.o.Log.Warn("what a plugin that left had could not be withdrawn", "plugin", m.e.id, "err", err)
	}
}

// previewPermissions returns the permissions of a plugin that is only previewed: to
// offer tools, which opens nothing.
func (v version) previewPermissions() []string {
	needed := v.facts().ToolsPermission
	return slices.DeleteFunc(slices.Clone(v.manifest.Permissions), func(p string) bool { return p != needed })
}
