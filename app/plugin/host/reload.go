package host

import (
	"cmp"
	"context"
	"errors"
	"os"
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

// A saved file, from the notice to the new version in service, read from the top:
//
//	concerns   is the plugin one that the changed names mean?
//	requestLoad, run  one load at a time; whatever happens meanwhile, another follows
//	load       what lies there now, and is that news?
//	digest     of all files that loading it reads, once
//	read       its manifest, and what it offers without being run
//	deploy     may it run, does it, and what does it list?
//	checkApproval  the gate's answer, or the card that waits for one
//	ensureCopy  the copy that it runs from
//	publish    the swap: the old version finishes its calls and ends (runner.retire)
//
// Where it goes another way (it fails, it is switched off, it is gone), outcome.go
// has it.

// concerns reports whether a change of one of these names in the plugins folder
// may change the plugin: it is one of them, it imports one, or it does not load
// and may be waiting for one.
func (e *entry) concerns(names []string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.Contains(names, filepath.Base(e.source.Path)) {
		return true
	}
	if e.source.Folder {
		return false
	}
	return e.status.State == plugin.Failed || e.status.State == plugin.NeedsPackages ||
		slices.ContainsFunc(e.status.Manifest.Files, func(file string) bool {
			first, _, _ := strings.Cut(file, "/")
			return slices.Contains(names, first)
		})
}

// loadRequest says how to look at a plugin again.
type loadRequest struct{ interrupt, force, decided bool }

// reload makes the entry look at its files again. A load under way is given up:
// the last edit wins.
func (e *entry) reload() { e.requestLoad(loadRequest{interrupt: true}) }

// reloadForced makes it load again though nothing changed.
func (e *entry) reloadForced() { e.requestLoad(loadRequest{interrupt: true, force: true}) }

// reloadDecided is reload after a decision about it: the same files are not taken for a
// no-op. A load under way may be what was decided about, and goes on.
func (e *entry) reloadDecided() {
	e.decisions.Add(1)
	if !e.approving.Load() {
		e.requestLoad(loadRequest{decided: true})
	}
}

func (e *entry) requestLoad(l loadRequest) {
	if !e.h.began(e) {
		return
	}
	e.mu.Lock()
	e.dirty = true
	e.forced = e.forced || l.force
	e.decided = e.decided || l.decided
	if e.cancel != nil && l.interrupt {
		e.cancel(errNewer)
	}
	busy := e.loading
	e.loading = true
	e.mu.Unlock()
	if busy {
		e.h.ended(e)
		return
	}
	go e.run() // ends when nothing is left to do; Close waits for it
}

// maxAgain bounds how often one load begins again because the files changed under
// it. Whoever watches the folder looks again anyway.
const maxAgain = 5

// errNewer ends a load that a newer save made pointless.
var errNewer = errors.New("a newer version was saved")

// errBusy is said of a plugin that is saved faster than it can be read.
var errBusy = &plugin.Problem{
	Kind: "unavailable", Message: "Its files change faster than they can be read.",
	Hint: "Save it once more when whatever writes it is done.",
}

func (e *entry) run() {
	defer e.h.ended(e)
	for again := 0; ; {
		e.mu.Lock()
		if !e.dirty || e.h.ctx.Err() != nil {
			e.loading = false
			e.mu.Unlock()
			return
		}
		e.dirty = false
		force := e.forced
		e.forced = false
		src := e.source
		ctx, cancel := context.WithCancelCause(e.h.ctx)
		e.cancel = cancel
		e.mu.Unlock()

		var err error
		slots := e.h.slots
		if !e.decidedAbout() {
			slots = e.h.spare // a folder full of new plugins is not in the way of those that serve
		}
		select {
		case slots <- struct{}{}:
			err = e.load(ctx, src, force, again < maxAgain)
			<-slots
		case <-ctx.Done():
		}
		e.mu.Lock()
		e.cancel = nil
		if ctx.Err() != nil { // what was left undone is done next
			e.forced, e.decided = e.forced || force, true
		}
		if errors.Is(err, errNewer) && ctx.Err() == nil {
			again++
			e.dirty, e.forced = true, e.forced || force
		}
		e.mu.Unlock()
		cancel(nil)
	}
}

// load brings the entry in line with what lies at src. The error is errNewer
// when the files changed meanwhile, unless again is false; everything else is
// shown on the plugin's card.
func (e *entry) load(ctx context.Context, src plugin.Source, force, again bool) error {
	began := time.Now()
	if src == (plugin.Source{}) {
		e.remove()
		return nil
	}
	if err := e.recall(ctx); err != nil {
		e.fail(src, "", began, &plugin.Problem{
			Kind:    "unavailable",
			Message: "What Conclave knows of this plugin cannot be read: " + fault.Of(err).Message,
		})
		return nil
	}
	if e.disabled() {
		e.setInactive(src, plugin.Disabled, nil)
		return nil
	}
	seen, err := e.digest(ctx, src)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, os.ErrNotExist):
		return nil // the removal is on its way
	case err != nil && seen.digest == "":
		f := fault.Of(err)
		e.fail(src, "", began, &plugin.Problem{
			Kind: "script", Message: f.Message, Hint: f.Hint,
			File: filepath.Base(src.Path),
		})
		return nil
	}
	e.mu.Lock()
	same := !force && !e.decided && seen.digest == e.status.Digest && src.Tools == e.defined &&
		e.status.State != plugin.Loading
	e.decided, e.defined = false, src.Tools
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
	if err == nil && v.manifest.Off != nil {
		e.setOff(v, began)
		return nil
	}
	if err == nil {
		err = e.findPackages(ctx, v)
	}
	if err == nil {
		err = e.h.reserveID(e, v.manifest)
	}
	if err == nil {
		err = e.deploy(ctx, v, began, force)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, errNewer) && again:
		return errNewer
	case errors.Is(err, errNewer):
		err = errBusy
	}
	e.fail(src, seen.digest, began, e.asMissingPackage(plugin.ProblemOf(err)))
	return nil
}

// digested holds what one look at a plugin's files found.
type digested struct {
	digest   string
	manifest *plugin.Manifest // of a single file; nil when it was not needed yet
	dialect  plugin.Dialect
}

// digest looks at src. The files of a folder are all that is in it, or what its
// dialect says is code. Which files belong to a single one, only its dialect
// knows: it may import what lies beside it. The error wraps fs.ErrNotExist when
// src is gone; otherwise it is a fault or a *Problem.
func (e *entry) digest(ctx context.Context, src plugin.Source) (digested, error) {
	digest, err := e.digestOf(src, e.h.code(src))
	if err != nil || src.Folder || !src.HasFiles() {
		return digested{digest: digest}, err
	}
	m, d, err := e.h.recognize(ctx, src)
	if err != nil {
		return digested{digest: digest}, err
	}
	digest, err = e.digestOf(src, m.Files)
	return digested{digest, m, d}, err
}

// read finds out what src is without running any of it: from the record when the
// files are the same as then, else by asking the dialects. The error is a
// *Problem, errNewer when src was saved again meanwhile, or the cause of ctx's
// end.
func (e *entry) read(ctx context.Context, src plugin.Source, s digested) (version, error) {
	v := version{src: src, digest: s.digest, settings: e.settings()}
	e.mu.Lock()
	rec := e.record
	e.mu.Unlock()
	if rec.Digest == s.digest && src.Tools == "" {
		// A toolbox's settings make its tools: others are listed again, whichever
		// process set them.
		v.manifest, v.listing, v.listed, v.tools = rec.Manifest, rec.Listing, rec.Listed && rec.Settings == v.settings,
			fromStored(rec.Tools)
		v.selfReport = selfReport{rec.Options, rec.Notes, rec.Wakes}
		if v.dialect = e.h.dialect(rec.Manifest.Dialect); v.dialect != nil {
			return v, nil
		}
	}
	if s.manifest == nil {
		var err error
		if s.manifest, s.dialect, err = e.h.recognize(ctx, src); err != nil {
			return v, err
		}
	}
	v.dialect, v.manifest = s.dialect, *s.manifest
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
	if !e.holds(src, v) { // what was read is not what the digest says
		return v, errNewer
	}
	return v, nil
}

// deploy takes a version that was read as far as the gate lets it: to a card that
// waits, or to a published tool set. The error is a *Problem, errNewer, or the
// cause of ctx's end.
func (e *entry) deploy(ctx context.Context, v version, began time.Time, force bool) error {
	if !e.checkApproval(v, began, true) {
		if v.src.Tools != "" {
			e.withdraw(v)
		}
		return nil
	}
	if serving := e.reuse(v, force); serving != nil {
		e.permissionsChanged()
		if !e.serves(v) {
			e.publish(ctx, v, serving, began)
		}
		return nil
	}
	if v.facts().NeedsDeclared {
		if err := e.missingPackages(); err != nil {
			return err
		}
	}
	toolsDenied := e.applyPermissions(v)
	runs := !toolsDenied && (!v.listed || force)
	if runs && !force {
		if err := e.knownToHang(v); err != nil {
			return err
		}
	}
	// Before any of it runs: a process that is started later must find the files as
	// they were approved, whatever is saved meanwhile.
	if _, err := e.ensureCopy(v); err != nil {
		return err
	}
	next := newRunner(e.h, e, v)
	if runs {
		tools, said, err := next.list(ctx)
		if ctx.Err() == nil {
			e.noteHungLoad(v, err)
		}
		if err != nil {
			next.retire()
			return err
		}
		v.tools, v.listed, v.selfReport = tools, true, said
		next.setVersion(v)
		if !e.checkApproval(v, began, true) {
			next.retire()
			return nil
		}
	}
	if !e.publish(ctx, v, next, began) {
		next.retire()
	}
	return nil
}

// checkApproval asks the gate about v and, when it is not approved, leaves the card
// that says so. What was approved before goes on serving. With pin, definitions
// that nobody could know when the code was approved are pinned now.
func (e *entry) checkApproval(v version, began time.Time, pin bool) bool {
	c := v.forApproval(e.h)
	if e.preview {
		c.Permissions = v.previewPermissions()
	}
	e.returned(c)
	status, changes := e.h.o.Gate.Approvals.Status(c)
	if e.temporary && status == gate.Waiting && e.isNamed(c, changes) {
		e.approving.Store(true)
		err := e.h.o.Gate.Approvals.Approve(e.h.ctx, c, gate.ApproveOptions{ThisRun: true, By: namedBy})
		e.approving.Store(false)
		if err == nil {
			status = gate.Approved
		}
	}
	switch status {
	case gate.Approved:
		if pin {
			if err := e.h.o.Gate.Approvals.Adopt(c); err != nil {
				e.h.o.Log.Warn("an approval could not be pinned", "plugin", e.id, "err", err)
			}
		}
		return true
	case gate.Refused:
		e.setInactive(v.src, plugin.Disabled, &plugin.Problem{
			Kind: "refused", Message: "You turned this version off.",
			Hint: "Enable the plugin to be asked again.",
		})
		return false
	}
	serving := e.keepOldVersion(v.src)
	if slices.ContainsFunc(changes, func(c gate.Change) bool { return c.Field == "code" }) {
		c.Diff = e.diff(v)
		_, changes = e.h.o.Gate.Approvals.Status(c)
	}
	state := plugin.NeedsApproval
	if len(changes) > 0 && !gate.Expected(changes) {
		state = plugin.Quarantined
	}
	u := e.writeStatus(v, state, nil, began, func(s *plugin.Status) {
		s.Changes, s.Listed = changes, v.listed
		s.Serving, s.LastGood = serving != nil, serving != nil && serving.version().digest != v.digest
		if serving == nil {
			s.Tools, s.Enabled = c.Tools, nil
		}
	})
	e.h.o.Gate.Questions.Propose(c) // whoever hears of the request finds the card, and the other way round
	e.h.announce(u)
	e.remember(v)
	return false
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

// withdraw takes those tools out of service that next, which waits for approval, does
// not have any more as they are. What defines tools where it registers has no older version
// that could go on answering under the definition of before.
func (e *entry) withdraw(next version) {
	e.mu.Lock()
	serving := e.serving
	e.mu.Unlock()
	if serving == nil {
		return
	}
	v := serving.version()
	kept := slices.DeleteFunc(slices.Clone(v.tools), func(old tool.Tool) bool {
		return !slices.ContainsFunc(next.tools, func(t tool.Tool) bool { return sameTool(old, t) })
	})
	if len(kept) == len(v.tools) {
		return
	}
	v.tools = kept
	serving.setVersion(v)
	if _, ok := e.swap(serving, func() bool { return e.serving == serving }); !ok {
		return
	}
	e.mu.Lock()
	e.status.Tools = kept
	e.mu.Unlock()
	e.h.o.Bus.Changed(bus.Tools, "")
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
	if serving.backingOff() != nil {
		return nil // a decision starts it afresh
	}
	serving.setVersion(v)
	return serving
}

// serves reports whether the card says already that v serves.
func (e *entry) serves(v version) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status.State == plugin.Ready && e.status.Digest == v.digest && e.status.Problem == nil
}

// ensureCopy copies the files of v to where its processes run from, unless they lie there:
// so the code that was approved runs, whatever is written into the plugin's folder
// later, and a name that no digest counts cannot be loaded. Of older copies it
// leaves those that may still be in use: what serves, and the last good version,
// which serves after a restart while the newest save does not load.
//
// The error is errNewer when the files are not those of v any more; otherwise it is
// a *Problem.
func (e *entry) ensureCopy(v version) (plugin.Source, error) {
	if !v.src.HasFiles() {
		return v.src, nil
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	copied := e.copyOf(v)
	if e.holds(copied, v) {
		return copied, nil
	}
	err := e.copyVersion(v)
	switch {
	case err == nil:
		return copied, nil
	case !e.holds(v.src, v):
		return copied, errNewer
	}
	e.h.o.Log.Warn("a plugin's files could not be copied", "plugin", e.id, "err", err)
	return copied, &plugin.Problem{
		Kind: "unavailable", Message: "Its files could not be copied to where it runs from.",
		Hint: "Check the space of the disk and the permissions of " + filepath.Join(e.h.o.Data, "last-good") +
			", then reload it.",
	}
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
	e.setStatus(v, plugin.Ready, nil, began, func(s *plugin.Status) {
		s.Tools, s.Serving, s.Listed, s.LastGood, s.Changes = v.tools, true, v.listed, false, nil
		if old != next {
			s.Loaded = time.Now()
		}
	})
	e.remember(v)
	e.permissionsChanged() // what was granted may have changed before it served,
	next.listAgain()       // and so may its tools
	return true
}

// swap puts next in service (nil: nothing) and publishes its tools in one step,
// if ok, which is asked under e.mu, says so. It returns what served before.
func (e *entry) swap(next *runner, ok func() bool) (old *runner, done bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !ok() {
		return nil, false
	}
	old, e.serving = e.serving, next
	if next == nil {
		e.h.o.Registry.Unpublish(e.id)
		return old, true
	}
	v := next.version()
	tools, enabled := v.published(e.state.Tools)
	e.status.Enabled = enabled
	if e.toolsDenied {
		tools = nil
	}
	e.h.o.Registry.Publish(e.id, tools, next)
	return old, true
}
