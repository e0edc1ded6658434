package host

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// life is the state of a plugin: where it lies, what a load is to do, which version serves, which one
// waits for a person, and its card. Each event changes it (event.apply) and returns what is to be done
// about that. An event has no other effect: the entry does the rest (reload.go).
//
//	begun → recalled → digested → read → judged → started → judged → serving
//
// Where a step fails, or a person has to look, "fallback" finds out what may serve meanwhile, and the
// plugin has failed or waits. Outside of a load its process may die too often, list other tools, or be
// taken out of service.
type life struct {
	source  plugin.Source // where it lies; zero once it is gone
	wanted  request       // what the next load is to do
	loading bool          // a goroutine loads
	load    load          // the load under way
	defined string        // what source.Tools and source.Values were when it was looked at

	status  plugin.Status // its card
	serving *runner       // what its tools are called on, or nil
	running version       // what that runs, as far as it is known
	waiting version       // what the card waits for a decision about, or zero
	state   savedState    // what the person set
	record  record        // what the store keeps of it
	access  access        // what its process may reach, as it was last passed on
	// toolsDenied says that the person denied it the permission to offer tools.
	toolsDenied bool
}

// request is for another look at a plugin.
type request struct {
	some      bool // a load is wanted
	interrupt bool // a load under way is given up
	force     bool // load even what is the same
	decided   bool // look even at what is the same: a person decided about it
}

// load is one look at a plugin's files, and what follows from it.
type load struct {
	source plugin.Source
	began  time.Time // when it was noticed
	force  bool
	tries  int // how often it began again because the files changed under it
}

// An event is something that happened to a plugin.
type event interface{ apply(l *life) []effect }

// An effect is what the entry does about an event. Those of one event are done in order. A task, which
// takes its time, is the last of them and ends with another event.
type effect struct {
	do      act
	run     *runner
	version version
	seen    digested  // of read: what the files were
	began   time.Time // of judge: when the load or the listing began
	pin     bool      // of judge: definitions that nobody could know before are approved with it
	again   bool      // of judge: run serves, and has other tools now
	force   bool      // of judge and start: although nothing changed
	// of start: it may offer no tools, so that nothing is listed
	toolsDenied bool
	outcome     *outcome      // of fall back, propose and log
	update      plugin.Update // of announce
}

// act names what an effect does.
type act string

// The tasks of a load.
const (
	doRecall   act = "recall"    // what is stored of it
	doDigest   act = "digest"    // its files
	doRead     act = "read"      // what it is, without running it
	doJudge    act = "judge"     // have the gate decide about a version
	doStart    act = "start"     // copy it, run it and list its tools, where that is not known
	doFallBack act = "fall back" // find out what may serve while the newest version does not
	doRemove   act = "remove"    // the entry of a plugin that is gone
)

// What is done at once. The first three are done under the entry's lock.
const (
	doPublish   act = "publish"   // the tools of the runner that serves
	doUnpublish act = "unpublish" // all tools
	doAdopt     act = "adopt"     // have a runner take what is known of its version now
	doRetire    act = "retire"    // let a runner finish its calls and end
	doAnnounce  act = "announce"  // what the card shows now
	doNotice    act = "notice"    // that the card changed
	doPropose   act = "propose"   // ask a person
	doDrop      act = "drop"      // nothing is to be asked any more
	doRemember  act = "remember"  // the version, in the store
	doAccess    act = "access"    // pass on what the person grants
	doRelist    act = "relist"    // list again, if the process said that its tools changed
	doRenew     act = "renew"     // end a process that does not list the tools of its version
	doLog       act = "log"       // why a load failed
)

// outcome is why a load does not end with its version in service: it failed, or a person has to look.
type outcome struct {
	began   time.Time
	version version         // of a failure only source and digest
	problem *plugin.Problem // nil where a person has to look
	pending gate.PluginVersion
	changes []gate.Change
}

// sourceSet is that the plugin lies somewhere else now, or nowhere.
type sourceSet struct{ source plugin.Source }

func (e sourceSet) apply(l *life) []effect {
	l.source = e.source
	return nil
}

// wants notes that a load is wanted, and reports whether one has to begin for it, since none is under way.
func (l *life) wants(r request) (begins bool) {
	l.wanted.some = true
	l.wanted.force = l.wanted.force || r.force
	l.wanted.decided = l.wanted.decided || r.decided
	if l.loading {
		return false
	}
	l.loading, l.load.tries = true, 0
	return true
}

// loadBegan is that the goroutine looks for what to load. Without an effect there is nothing.
type loadBegan struct {
	now    time.Time
	closed bool // the host is
}

func (e loadBegan) apply(l *life) []effect {
	if !l.wanted.some || e.closed {
		l.loading = false
		return nil
	}
	l.load = load{source: l.source, began: e.now, force: l.wanted.force, tries: l.load.tries}
	l.wanted.some, l.wanted.force = false, false
	if l.source == (plugin.Source{}) {
		return []effect{{do: doRemove}}
	}
	return []effect{{do: doRecall}}
}

// loadOver is that a load has ended. What one that was given up left undone is done next.
type loadOver struct{ cut bool }

func (e loadOver) apply(l *life) []effect {
	if e.cut {
		l.wanted.force, l.wanted.decided = l.wanted.force || l.load.force, true
	}
	return nil
}

// recalled is that what is stored of the plugin was read, or why it could not be.
type recalled struct{ err error }

func (e recalled) apply(l *life) []effect {
	switch {
	case e.err != nil:
		return l.fails("", &plugin.Problem{
			Kind:    "unavailable",
			Message: "What Conclave knows of this plugin cannot be read: " + fault.Of(e.err).Message,
		})
	case l.state.Disabled:
		return l.outOfService(plugin.Disabled, nil)
	}
	return []effect{{do: doDigest, version: version{src: l.load.source}}}
}

// filesDigested is that the files were looked at. err is fs.ErrNotExist where there are none: their
// removal is on its way.
type filesDigested struct {
	seen digested
	err  error
}

func (e filesDigested) apply(l *life) []effect {
	src := l.load.source
	switch {
	case errors.Is(e.err, fs.ErrNotExist):
		return nil
	case e.err != nil && e.seen.digest == "":
		p, known := errors.AsType[*plugin.Problem](e.err)
		if !known {
			f := fault.Of(e.err)
			p = &plugin.Problem{Kind: "script", Message: f.Message, Hint: f.Hint, File: filepath.Base(src.Path)}
		}
		return l.fails("", p)
	}
	defined := src.Tools + src.Values
	same := !l.load.force && !l.wanted.decided && e.seen.digest == l.status.Digest && defined == l.defined &&
		l.status.State != plugin.Loading
	l.wanted.decided, l.defined = false, defined
	if same {
		return nil
	}
	if l.serving == nil {
		l.status.State = plugin.Loading // until the load is over, whatever interrupts it
	}
	if e.err != nil {
		return append([]effect{{do: doNotice}}, l.fails(e.seen.digest, plugin.ProblemOf(e.err))...)
	}
	return []effect{{do: doNotice}, {do: doRead, version: version{src: src}, seen: e.seen}}
}

// sourceRead is that the dialect has read a version, or why it could not.
type sourceRead struct {
	now     time.Time
	version version
	err     error
}

func (e sourceRead) apply(l *life) []effect {
	switch {
	case e.err != nil:
		return l.failed(e.version.digest, e.err)
	case e.version.manifest.Off != nil:
		return l.switchedOffByItself(e.version, e.now)
	}
	return []effect{l.judges(e.version, nil)}
}

// judges has the gate decide about the version of the load under way; run has listed it, if it is not nil.
func (l *life) judges(v version, run *runner) effect {
	return effect{
		do: doJudge, version: v, run: run, pin: true, force: l.load.force, began: l.load.began,
	}
}

// gateDecided holds the gate's decision about a version: one that was read, or one that run has listed.
type gateDecided struct {
	began   time.Time // of the load, or of the listing
	now     time.Time
	version version
	run     *runner // nil for one that was only read
	again   bool    // run serves, and has other tools now
	status  gate.ApprovalStatus
	pending gate.PluginVersion
	changes []gate.Change

	// Of one that is approved and was only read:
	err         error // why it cannot be started
	access      access
	toolsDenied bool
}

func (e gateDecided) apply(l *life) []effect {
	switch {
	case e.status == gate.Refused:
		return append(l.retired(e), l.outOfService(plugin.Disabled, &plugin.Problem{
			Kind: "refused", Message: "You turned this version off.", Hint: "Enable the plugin to be asked again.",
		})...)
	case e.status != gate.Approved:
		return append(l.retired(e), effect{do: doFallBack, outcome: &outcome{
			began: e.began, version: e.version, pending: e.pending, changes: e.changes,
		}})
	case e.again:
		return l.listedAgain(e)
	case e.run != nil:
		return l.serves(e.run, e.version, e.now)
	case l.runs(e.version):
		return l.reuses(e.version, e.now)
	case e.err != nil:
		return l.failed(e.version.digest, e.err)
	}
	l.access, l.toolsDenied = e.access, e.toolsDenied
	effects := []effect{{do: doStart, version: e.version, force: l.load.force, toolsDenied: e.toolsDenied}}
	if l.serving == nil && !e.version.listed && !e.toolsDenied && e.version.installs() {
		l.status.State = plugin.Installing
		return append([]effect{{do: doNotice}}, effects...)
	}
	return effects
}

// retired has the runner of a version that does not serve end.
func (l *life) retired(e gateDecided) []effect {
	if e.run == nil || e.again {
		return nil
	}
	return []effect{{do: doRetire, run: e.run}}
}

// runs reports whether what serves runs v already, so that a decision about a plugin does not end its
// process.
func (l *life) runs(v version) bool {
	if l.load.force || l.serving == nil || !v.listed {
		return false
	}
	return l.running.digest == v.digest && l.running.src == v.src && l.running.listed
}

// reuses has what serves go on, with what is known of its version now.
func (l *life) reuses(v version, now time.Time) []effect {
	effects := []effect{{do: doAdopt, run: l.serving, version: v}, {do: doAccess}}
	if !v.facts().Injects && !sameTools(v.tools, l.running.tools) {
		effects = append(effects, effect{do: doRenew, run: l.serving})
	}
	l.running = v
	if l.status.State == plugin.Ready && l.status.Digest == v.digest && l.status.Problem == nil {
		return effects
	}
	return append(effects, l.serves(l.serving, v, now)...)
}

// runnerStarted is that a version was copied, and listed its tools where they were not known.
type runnerStarted struct {
	now     time.Time
	version version
	run     *runner
	listed  bool // it ran
	err     error
}

func (e runnerStarted) apply(l *life) []effect {
	switch {
	case e.err != nil && e.run != nil:
		return append([]effect{{do: doRetire, run: e.run}}, l.failed(e.version.digest, e.err)...)
	case e.err != nil:
		return l.failed(e.version.digest, e.err)
	case e.listed:
		return []effect{l.judges(e.version, e.run)}
	}
	return l.serves(e.run, e.version, e.now)
}

// serves puts a version in service, and lets the one before finish what it is doing.
func (l *life) serves(run *runner, v version, now time.Time) []effect {
	old := l.serving
	l.serving, l.running = run, v
	if old != run {
		l.status.Loaded = now
	}
	l.status.Tools, l.status.Listed, l.status.Changes = v.tools, v.listed, nil
	l.status.Serving, l.status.LastGood = true, false
	u := l.card(outcome{began: l.load.began, version: v}, plugin.Ready, now)
	effects := []effect{
		{do: doPublish, run: run},
		{do: doAnnounce, update: u},
		{do: doRemember, version: v},
		{do: doAccess},           // what was granted may have changed before it served,
		{do: doRelist, run: run}, // and so may its tools
	}
	if old != nil && old != run {
		effects = slices.Insert(effects, 1, effect{do: doRetire, run: old})
	}
	return effects
}

// listedAgain publishes other tools of the version that a runner runs, if it still serves.
func (l *life) listedAgain(e gateDecided) []effect {
	run, v := e.run, e.version
	effects := []effect{{do: doAdopt, run: run, version: v}}
	if l.serving != run {
		return effects
	}
	l.running = v
	l.record.Generation++
	l.status.Tools, l.status.Serving, l.status.Listed, l.status.Changes = v.tools, true, true, nil
	u := l.card(outcome{began: e.began, version: v}, plugin.Ready, e.now)
	return append(effects, effect{do: doPublish, run: run}, effect{do: doAnnounce, update: u},
		effect{do: doRemember, version: v})
}

// oldChecked holds what may serve while the newest version does not: the runner that serves, unless it has
// to stop, or after a restart the last good copy.
type oldChecked struct {
	now     time.Time
	outcome outcome
	serving *runner // that was looked at
	stop    bool    // it may not serve any longer
	good    *runner // of the last good copy; where nothing serves
	access  access
	denied  bool
}

func (e oldChecked) apply(l *life) (effects []effect) {
	if l.serving == e.serving {
		switch {
		case e.stop:
			effects = l.stops()
		case e.good != nil:
			v := e.good.version()
			l.serving, l.running, l.access, l.toolsDenied = e.good, v, e.access, e.denied
			l.status.Tools, l.status.Manifest, l.status.Loaded = v.tools, v.manifest, l.record.Good.Loaded
			effects = []effect{{do: doPublish, run: e.good}}
		}
	}
	o := e.outcome
	l.status.Serving, l.status.LastGood = l.serving != nil, false
	if l.serving != nil {
		l.status.LastGood = l.running.digest != o.version.digest
	} else {
		l.status.Tools, l.status.Enabled = nil, nil
	}
	if o.problem != nil {
		l.status.Changes = nil
		state := plugin.Failed
		if needs, ok := lacking[o.problem.Kind]; ok {
			state = needs
		}
		return append(effects, effect{do: doAnnounce, update: l.card(o, state, e.now)}, effect{do: doDrop},
			effect{do: doLog, outcome: &o})
	}
	l.status.Changes, l.status.Listed = o.changes, o.version.listed
	if l.serving == nil {
		l.status.Tools = o.pending.Tools
	}
	state := plugin.NeedsApproval
	if len(o.changes) > 0 && !gate.Expected(o.changes) {
		state = plugin.Quarantined
	}
	u := l.card(o, state, e.now)
	effects = append(effects, l.withdraws(o.version)...)
	// Whoever hears of the request finds the card, and the other way round.
	return append(effects, effect{do: doPropose, outcome: &o}, effect{do: doAnnounce, update: u},
		effect{do: doRemember, version: o.version})
}

// lacking are the states of a plugin that does not load for something that a person can give it, by the kind of the
// problem.
var lacking = map[string]plugin.State{
	"packages": plugin.NeedsPackages, "settings": plugin.NeedsSettings, "sign-in": plugin.NeedsSignIn,
}

// withdraws takes those tools out of service that next, which waits, does not have any more as they are.
// What defines tools where it registers has no older version that could go on answering under the
// definition of before.
func (l *life) withdraws(next version) []effect {
	if next.src.Tools == "" || l.serving == nil {
		return nil
	}
	v := l.running
	left := slices.DeleteFunc(slices.Clone(v.tools), func(old tool.Tool) bool {
		return !slices.ContainsFunc(next.tools, func(t tool.Tool) bool { return sameTool(old, t) })
	})
	if len(left) == len(v.tools) {
		return nil
	}
	v.tools, l.status.Tools = left, left
	l.running = v
	return []effect{{do: doAdopt, run: l.serving, version: v}, {do: doPublish, run: l.serving}}
}

// processDied is that the process of a runner ended too often, and rests.
type processDied struct {
	run     *runner
	problem *plugin.Problem
	pending gate.PluginVersion // its version: trusting it once more starts it afresh
}

func (e processDied) apply(l *life) []effect {
	if l.serving != e.run {
		return nil
	}
	l.waiting = l.running
	effects := l.stops()
	l.status.State, l.status.Problem, l.status.Serving, l.status.LastGood = plugin.Quarantined, e.problem, false, false
	l.status.Shown = e.pending.Digest()
	return append(effects, effect{do: doAnnounce, update: l.update(nil)})
}

// lateStarted is that a plugin which serves was started for a call, or why it could not be: it may start the next
// time.
type lateStarted struct {
	run     *runner
	problem *plugin.Problem // nil where it started
}

func (e lateStarted) apply(l *life) []effect {
	was := l.status.Problem
	if l.serving != e.run || l.loading || l.status.LastGood || e.problem == nil && was == nil {
		return nil
	}
	l.status.State, l.status.Problem = plugin.Ready, e.problem
	if e.problem != nil {
		l.status.State = cmp.Or(lacking[e.problem.Kind], plugin.Failed)
	}
	return []effect{{do: doAnnounce, update: l.update(l.status.Tools)}}
}

// wentAway is that a plugin is gone. Its state, record and data stay, for a plugin that comes back (a
// branch switched, a file renamed twice).
type wentAway struct{}

func (wentAway) apply(l *life) []effect {
	effects := append(l.stops(), effect{do: doDrop})
	l.status.Digest = ""
	return effects
}

// republished is that the person switched tools on or off, or granted or denied the permission to offer
// any, while run served.
type republished struct{ run *runner }

func (e republished) apply(l *life) []effect {
	if l.serving != e.run {
		return nil
	}
	return []effect{{do: doPublish, run: e.run}, {do: doNotice}}
}

// failed ends a load with an error: the load begins again where the files changed
// under it, a few times.
func (l *life) failed(digest string, err error) []effect {
	if errors.Is(err, errNewer) {
		if l.load.tries < maxAgain {
			l.load.tries++
			l.wanted.some, l.wanted.force = true, l.wanted.force || l.load.force
			return nil
		}
		err = errBusy
	}
	return l.fails(digest, plugin.ProblemOf(err))
}

// fails has a problem shown, once it is known what serves meanwhile.
func (l *life) fails(digest string, p *plugin.Problem) []effect {
	return []effect{{do: doFallBack, outcome: &outcome{
		began: l.load.began, version: version{src: l.load.source, digest: digest}, problem: p,
	}}}
}

// stops takes what serves out of service.
func (l *life) stops() []effect {
	old := l.serving
	l.status.Serving = false
	if old == nil {
		return []effect{{do: doUnpublish}}
	}
	l.serving, l.running = nil, version{}
	return []effect{{do: doUnpublish}, {do: doRetire, run: old}}
}

// outOfService takes the plugin out of service in the given state.
func (l *life) outOfService(state plugin.State, p *plugin.Problem) []effect {
	effects := l.stops()
	s := &l.status
	s.State, s.Problem, s.Path, s.Serving, s.LastGood, s.Digest = state, p, l.load.source.Display, false, false, ""
	s.Changes, s.Shown, l.waiting = nil, "", version{}
	if s.Tools = fromStored(l.record.Tools); len(s.Tools) == 0 {
		s.Tools = l.record.Listing.Tools
	}
	return append(effects, effect{do: doDrop}, effect{do: doAnnounce, update: l.update(nil)})
}

// switchedOffByItself takes a plugin out of service whose own files switch it off.
func (l *life) switchedOffByItself(v version, now time.Time) []effect {
	effects := l.stops()
	s := &l.status
	s.Serving, s.LastGood, s.Changes, s.Tools, s.Enabled = false, false, nil, nil, nil
	u := l.card(outcome{began: l.load.began, version: v, problem: v.manifest.Off}, plugin.Disabled, now)
	return append(effects, effect{do: doAnnounce, update: u}, effect{do: doDrop})
}

// card writes the new state of the plugin on its card, and returns what is to be announced.
func (l *life) card(o outcome, state plugin.State, now time.Time) plugin.Update {
	v := o.version
	if v.digest != "" && v.digest != l.record.Digest && o.problem == nil {
		l.record.Generation++
	}
	s := &l.status
	s.State, s.Problem, s.Digest, s.Path = state, o.problem, v.digest, v.src.Display
	l.waiting, s.Shown = version{}, ""
	tools := s.Tools
	if state == plugin.NeedsApproval || state == plugin.Quarantined {
		l.waiting, s.Shown, tools = v, o.pending.Digest(), o.pending.Tools
	}
	s.Generation, s.Load = l.record.Generation, max(0, now.Sub(o.began))
	if v.manifest.Dialect != "" {
		s.Manifest, s.Imports, s.Options, s.Notes = v.manifest, v.listing.Imports, v.options, v.notes
		s.Isolation, s.Home, s.Data, s.Wants = v.isolation, v.listing.Home, v.listing.Data, v.listing.Wants
	}
	u := l.update(tools)
	u.Took = s.Load
	return u
}

// update returns what is announced of the state.
func (l *life) update(tools []tool.Tool) plugin.Update {
	s := l.status
	return plugin.Update{
		Plugin: s.ID, Generation: s.Generation, State: s.State, Problem: s.Problem, Tools: ids(tools),
	}
}

func ids(tools []tool.Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.ID()
	}
	return out
}
