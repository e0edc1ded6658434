package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"conclave/app/tool"
)

// ApproveOptions say how a command approves a plugin.
type ApproveOptions struct {
	Developing bool   // keep approving my own edits while they widen nothing
	Tools      bool   // also approve the tools that it lists first, unless something about them is odd
	ThisRun    bool   // do not remember it: it holds until RunEnded, at the latest until the program ends
	Bundled    bool   // its code comes with Conclave: what it lists first needs no showing
	By         string // who, for the record; empty means the person
}

// Approvals keeps which versions of plugins a person approved, and knows the versions there are. Its
// methods are safe for concurrent use.
type Approvals struct {
	*shared
	rules *Rules // of plugins that are removed and restored
	// changed is called without a lock once something was decided about a plugin, before the
	// listeners of OnDecided; answered reports that requests about it are answered.
	changed func(plugin string, answered bool)

	mu sync.Mutex // guards the fields below
	pluginBook
	beforeRun  map[string]*Approval // of plugins approved for one run: the approval before it, or nil
	listeners  map[*func(string)]struct{}
	likenesses *likenesses // nil once approvals or versions changed
}

// read reads the approvals from the store.
func (a *Approvals) read(ctx context.Context) error {
	approvals, err := a.store.Approvals(ctx)
	if err != nil {
		return fmt.Errorf("read the approvals: %w", err)
	}
	for _, one := range approvals {
		a.approvals[one.Plugin] = one
		a.releaseLocked(one)
	}
	return nil
}

// Status returns whether the plugin may run (Listed is false) or models may see its tools
// (Listed is true). It asks nobody. For a version that waits it also returns how it
// differs from the approved one. It remembers the version, so whoever runs
// plugins calls Status before each of the two steps.
func (a *Approvals) Status(c PluginVersion) (ApprovalStatus, []Change) {
	c = normalVersion(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.knowLocked(c)
	status, changes := a.status(c)
	if status == Approved && c.Listed {
		a.served[c.Plugin] = c
		for _, t := range c.Tools {
			a.released[t.ID()+" "+t.Digest] = true
		}
	}
	return status, changes
}

// knowLocked remembers the newest version of a plugin.
func (a *Approvals) knowLocked(c PluginVersion) {
	if was, ok := a.known[c.Plugin]; !ok || was.Name != c.Name || was.key() != c.key() {
		a.likenesses = nil
	}
	a.known[c.Plugin] = c
}

// version returns the newest version of a plugin; the zero one where there is none.
func (a *Approvals) version(plugin string) PluginVersion {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[plugin]
}

// of returns what was decided about a plugin; the zero Approval where nothing was.
func (a *Approvals) of(plugin string) Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.approvals[plugin]
}

// Approve approves the version as it is, whatever the person decided before, and
// removes the requests about its plugin.
func (a *Approvals) Approve(ctx context.Context, c PluginVersion, t ApproveOptions) error {
	return a.record(ctx, normalVersion(c), Answer{Effect: Allow, Scope: Always, Developing: t.Developing}, t)
}

// KeepOld records that the person saw the version and stays with the approved one: nobody is asked
// about this version again, and the requests about its plugin are removed.
func (a *Approvals) KeepOld(ctx context.Context, c PluginVersion) error {
	return a.record(ctx, normalVersion(c), Answer{Effect: Deny, Scope: Once}, ApproveOptions{})
}

// AskAgain forgets that the person turned the plugin off and which of its versions
// they rejected, so that they are asked again. What they approved stays. Switching
// a plugin on calls it.
func (a *Approvals) AskAgain(ctx context.Context, plugin string) error {
	a.mu.Lock()
	old, ok := a.approvals[plugin]
	a.mu.Unlock()
	if !ok || old.Effect == Allow && len(old.Rejected) == 0 {
		return nil
	}
	if old.Code == "" { // nothing was ever approved
		if a.store != nil {
			if err := a.store.DeleteApproval(ctx, plugin); err != nil {
				return err
			}
		}
		a.mu.Lock()
		delete(a.approvals, plugin)
		a.likenesses = nil
		a.mu.Unlock()
		return nil
	}
	old.Effect, old.Rejected = Allow, nil
	return a.put(ctx, old, a.forThisRun(plugin))
}

// record records what a person answered about a version. Allow approves it; Deny
// with Always turns the plugin off; any other Deny keeps the approved version in
// service, and the gate does not ask about this one again.
func (a *Approvals) record(ctx context.Context, c PluginVersion, answer Answer, t ApproveOptions) error {
	if t.By == "" {
		t.By = "person"
	}
	a.mu.Lock()
	old, known := a.approvals[c.Plugin]
	a.mu.Unlock()
	next := old
	next.Plugin = c.Plugin
	switch {
	case answer.Effect == Deny && answer.Scope == Always:
		next.Effect, next.Past = Deny, nil
	case answer.Effect == Deny:
		if !known {
			next.Effect = "" // neither allowed nor turned off
		}
		next.Past = slices.DeleteFunc(slices.Clone(next.Past), func(p PastApproval) bool { return p.Code == c.Code })
		next.Rejected = append(slices.Clone(next.Rejected), c.key())
		next.Rejected = next.Rejected[max(0, len(next.Rejected)-maxRejected):]
	default:
		next = Approval{
			Plugin: c.Plugin, Dialect: c.Dialect, Code: c.Code, Permissions: slices.Clone(c.Permissions),
			Developing: answer.Developing || old.Developing && t.By != "person", Effect: Allow, Bundled: t.Bundled,
			ToolsToo: t.Tools,
		}
		if c.Listed {
			next.pin(c)
		} else {
			next.readAs(c, old)
		}
		next.Past = old.superseded(next)
	}
	next.At, next.By = a.now(), t.By
	if err := a.put(ctx, next, t.ThisRun); err != nil {
		return err
	}
	a.decided(c.Plugin, true)
	return nil
}

// decided passes on that something was decided about a plugin.
func (a *Approvals) decided(plugin string, answered bool) {
	a.mu.Lock()
	listeners := make([]func(string), 0, len(a.listeners))
	for listen := range a.listeners {
		listeners = append(listeners, *listen)
	}
	a.mu.Unlock()
	a.changed(plugin, answered)
	for _, listen := range listeners {
		listen(plugin)
	}
}

// put puts an approval in force, and writes it unless it is for this run only:
// then the approval before it comes back when the run is over.
func (a *Approvals) put(ctx context.Context, next Approval, thisRun bool) error {
	if a.store != nil && !thisRun {
		if err := a.store.PutApproval(ctx, next); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, running := a.beforeRun[next.Plugin]
	switch before, known := a.approvals[next.Plugin]; {
	case !thisRun:
		delete(a.beforeRun, next.Plugin)
	case running: // what lasts is known already
	case known:
		a.beforeRun[next.Plugin] = &before
	default:
		a.beforeRun[next.Plugin] = nil
	}
	a.approvals[next.Plugin] = next
	a.likenesses = nil
	a.releaseLocked(next)
	return nil
}

// forThisRun reports whether what is in force about a plugin ends with a run.
func (a *Approvals) forThisRun(plugin string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, running := a.beforeRun[plugin]
	return running
}

// RunEnded revokes what was approved for one run only, and calls the OnDecided
// listeners.
func (a *Approvals) RunEnded(plugin string) {
	a.mu.Lock()
	before, running := a.beforeRun[plugin]
	delete(a.beforeRun, plugin)
	a.likenesses = nil
	switch {
	case !running:
	case before == nil:
		delete(a.approvals, plugin)
	default:
		a.approvals[plugin] = *before
	}
	a.mu.Unlock()
	if running {
		a.decided(plugin, false)
	}
}

// releaseLocked remembers the definitions of an approval for the turns that
// froze them: a newer approval does not make them strangers.
func (a *Approvals) releaseLocked(of Approval) {
	if of.Effect != Allow {
		return
	}
	for name, digest := range of.Tools {
		a.released[of.Plugin+":"+name+" "+digest] = true
	}
}

// Adopt makes a version that Status approves the approved one: a version approved
// earlier comes back into service, and the approval gets the tool definitions of a
// version whose definitions the person saw when they approved its code, or that widens
// nothing in a plugin under development. It does nothing when nothing is new, or when
// the version is not approved.
func (a *Approvals) Adopt(c PluginVersion) error {
	if now := a.of(c.Plugin); now.adopted(c) { // nearly always, so the definitions are not digested again first
		return nil
	}
	c = normalVersion(c)
	a.mu.Lock()
	old := a.approvals[c.Plugin]
	status, _ := a.status(c)
	a.mu.Unlock()
	if status != Approved || old.adopted(c) {
		return nil
	}
	next := old
	next.Permissions, next.Dialect = slices.Clone(c.Permissions), c.Dialect
	next.Bundled, next.ToolsToo = old.Bundled && old.Code == c.Code, old.ToolsToo && old.Code == c.Code
	next.Code = c.Code
	if c.Listed {
		next.pin(c)
	} else if i := old.past(c); i >= 0 && old.Past[i].Set != "" {
		next.Unlisted, next.Read, next.ReadAll, next.Set = false, nil, false, old.Past[i].Set
	} else if old.Developing {
		return nil // the approval moves on once its tools are known
	}
	if next.Code != old.Code {
		next.Past = old.superseded(next)
	}
	return a.put(a.base, next, a.forThisRun(c.Plugin))
}

// AdoptFirst approves the tools that a version lists first, where the person approved its start together with
// them (ApproveOptions.Tools) and nothing about them is odd: no hidden characters, and nothing that Shadowing
// reports. It reports whether it did. A version that Status has not seen is not approved.
func (a *Approvals) AdoptFirst(c PluginVersion) (bool, error) {
	old := a.of(c.Plugin)
	if !old.ToolsToo || !c.Listed || old.Code != c.Code {
		return false, nil
	}
	c = normalVersion(c)
	a.mu.Lock()
	status, changes := a.status(c)
	seen := a.known[c.Plugin].key() == c.key()
	a.mu.Unlock()
	odd := slices.ContainsFunc(changes, func(c Change) bool { return c.Field != FirstListed }) ||
		slices.ContainsFunc(c.Tools, func(t tool.Tool) bool { return t.Hidden > 0 || len(t.Marked) > 0 })
	if status != Waiting || !seen || odd || len(a.Shadowing(c.Plugin)) > 0 {
		return false, nil
	}
	next := old
	next.pin(c)
	return true, a.put(a.base, next, a.forThisRun(c.Plugin))
}

// Decided reports whether a person ever approved a plugin or turned it off.
func (a *Approvals) Decided(plugin string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.approvals[plugin]
	return ok
}

// List returns the plugins that were approved or turned off, by id.
func (a *Approvals) List() []Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]Approval, 0, len(a.approvals))
	for _, one := range a.approvals {
		list = append(list, one)
	}
	slices.SortFunc(list, func(x, y Approval) int { return strings.Compare(x.Plugin, y.Plugin) })
	return list
}

// OnDecided calls listen with the id of each plugin about which a person decided,
// until the caller calls stop. listen runs on the goroutine that recorded the answer.
func (a *Approvals) OnDecided(listen func(plugin string)) (stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listeners[&listen] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.listeners, &listen)
	}
}
