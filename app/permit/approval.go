package permit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/tool"
)

// ApprovalStatus says whether a person approved a version of a plugin.
type ApprovalStatus string

// The verdicts.
const (
	Approved ApprovalStatus = "approved" // may run (not Listed), or its tools may reach a model (Listed)
	Waiting  ApprovalStatus = "waiting"  // a person has to look at it first
	Refused  ApprovalStatus = "refused"  // the person turned it off
)

// maxRejected bounds the versions remembered as not approved, and maxPast those
// that were approved earlier.
const (
	maxRejected = 16
	maxPast     = 16
)

// ApproveOptions say how a command approves a plugin.
type ApproveOptions struct {
	Developing bool   // keep approving my own edits while they widen nothing
	ThisRun    bool   // do not remember it: it holds until RunEnded, at the latest until the program ends
	Bundled    bool   // its code comes with Conclave: what it lists first needs no showing
	By         string // who, for the record; empty means the person
}

// normalVersion normalizes the tools, so that they can be compared, and drops
// permissions that do not exist.
func normalVersion(c PluginVersion) PluginVersion {
	c.Permissions = Requestable(c.Permissions)
	c.Tools = slices.Clone(c.Tools)
	for i := range c.Tools {
		c.Tools[i].Plugin = c.Plugin
		c.Tools[i] = tool.Normal(c.Tools[i])
	}
	return c
}

// Approvals keeps which versions of plugins a person approved, and knows the versions there are. Its
// methods are safe for concurrent use.
type Approvals struct {
	store Store
	now   func() time.Time
	base  context.Context // see Gate
	rules *Rules          // of plugins that are removed and restored
	// changed is called without a lock once something was decided about a plugin, before the
	// listeners of OnDecided; answered reports that requests about it are answered.
	changed func(plugin string, answered bool)

	mu sync.Mutex // guards the fields below
	pluginBook
	beforeRun  map[string]*Approval // of plugins approved for one run: the approval before it, or nil
	listeners  map[*func(string)]struct{}
	likenesses likenessCache
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
		a.likenesses.changed++
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

// past returns the index among the versions approved earlier of this one, or -1. One
// that has listed its tools must list those that were approved with it.
func (a Approval) past(c PluginVersion) int {
	return slices.IndexFunc(a.Past, func(p PastApproval) bool {
		return p.Code == c.Code && (!c.Listed || p.Set != "" && p.Set == tool.SetDigest(c.Tools))
	})
}

// superseded returns the versions approved earlier, this one included, once the person
// approves by.
func (a Approval) superseded(by Approval) []PastApproval {
	past := slices.Clone(a.Past)
	if a.Effect == Allow && a.Code != "" {
		p := PastApproval{Code: a.Code, Permissions: a.Permissions, Settings: a.Settings}
		if !a.Unlisted {
			p.Set = a.Set
		}
		past = append(past, p)
	}
	kept := past[:0]
	for i, p := range past {
		again := slices.ContainsFunc(past[i+1:], func(q PastApproval) bool { return q.Code == p.Code && q.Set == p.Set })
		if !again && (p.Code != by.Code || p.Set != by.Set) {
			kept = append(kept, p)
		}
	}
	return kept[max(0, len(kept)-maxPast):]
}

// key identifies the version among those that a person rejected.
func (c PluginVersion) key() string {
	if c.Listed {
		return c.Code + "/" + tool.SetDigest(c.Tools)
	}
	return c.Code
}

// Digest identifies what a person decides about when they are shown the version: its files, its
// permissions, and every word of its tools that is known. A version with another digest is
// another question.
func (c PluginVersion) Digest() string {
	c = normalVersion(c)
	shown := struct {
		Plugin, Name, Dialect, Code, Settings, Permissions string
		Listed                                             bool
		Tools                                              [][3]string
	}{Plugin: c.Plugin, Name: c.Name, Dialect: c.Dialect, Code: c.Code, Settings: c.Settings,
		Permissions: listedSorted(c.Permissions), Listed: c.Listed}
	for _, t := range c.Tools {
		shown.Tools = append(shown.Tools, [3]string{t.Name, t.Digest, ToolText(t)})
	}
	raw, err := json.Marshal(shown)
	if err != nil {
		panic(err) // it holds texts alone
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Approve approves the version as it is, whatever the person decided before, and
// removes the requests about its plugin.
func (a *Approvals) Approve(ctx context.Context, c PluginVersion, t ApproveOptions) error {
	if t.By == "" {
		t.By = "person"
	}
	return a.record(ctx, normalVersion(c), Answer{Effect: Allow, Scope: Always, Developing: t.Developing}, t)
}

// KeepOld records that the person saw the version and stays with the approved one: nobody is asked
// about this version again, and the requests about its plugin are removed.
func (a *Approvals) KeepOld(ctx context.Context, c PluginVersion) error {
	return a.recordAnswer(ctx, normalVersion(c), Answer{Effect: Deny, Scope: Once}, "person")
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
		a.likenesses.changed++
		a.mu.Unlock()
		return nil
	}
	old.Effect, old.Rejected = Allow, nil
	return a.put(ctx, old, a.forThisRun(plugin))
}

// recordAnswer records what a person answered about a version. Allow approves it; Deny
// with Always turns the plugin off; any other Deny keeps the approved version in
// service, and the gate does not ask about this one again.
func (a *Approvals) recordAnswer(ctx context.Context, c PluginVersion, answer Answer, by string) error {
	return a.record(ctx, c, answer, ApproveOptions{By: by})
}

// record is recordAnswer, with the options of a command.
func (a *Approvals) record(ctx context.Context, c PluginVersion, answer Answer, t ApproveOptions) error {
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

// readAs writes what reading showed of a version into the approval. Definitions
// that were approved with the version before stay approved.
func (a *Approval) readAs(c PluginVersion, old Approval) {
	a.Unlisted, a.ReadAll, a.Read = true, c.ReadAll, map[string]string{}
	for _, t := range c.Tools {
		a.Read[t.Name] = ToolText(t)
	}
	if old.Effect == Allow {
		a.Set, a.Tools, a.Texts, a.Titles, a.Schemas = old.Set, old.Tools, old.Texts, old.Titles, old.Schemas
	}
}

// pin writes the definitions of a listed version into the approval.
func (a *Approval) pin(c PluginVersion) {
	a.Unlisted, a.ReadAll, a.Read, a.Settings = false, false, nil, c.Settings
	a.Set = tool.SetDigest(c.Tools)
	a.Tools, a.Texts, a.Titles, a.Schemas = map[string]string{}, map[string]string{}, map[string]string{},
		map[string]json.RawMessage{}
	for _, t := range c.Tools {
		a.Tools[t.Name], a.Texts[t.Name], a.Titles[t.Name], a.Schemas[t.Name] = t.Digest, t.Description, t.Title, t.Parameters
	}
}

// pinned reports whether the approval's definitions are those of a listed version.
func (a *Approval) pinned(c PluginVersion) bool {
	return len(a.Tools) == len(c.Tools) && !slices.ContainsFunc(c.Tools,
		func(t tool.Tool) bool { return a.Tools[t.Name] != t.Digest })
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
	a.likenesses.changed++
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
	a.likenesses.changed++
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
	c = normalVersion(c)
	a.mu.Lock()
	old := a.approvals[c.Plugin]
	status, _ := a.status(c)
	a.mu.Unlock()
	if status != Approved {
		return nil
	}
	if old.Code == c.Code && (!c.Listed || !old.Unlisted && old.Settings == c.Settings && old.pinned(c)) {
		return nil
	}
	next := old
	next.Permissions, next.Dialect = slices.Clone(c.Permissions), c.Dialect
	next.Bundled = old.Bundled && old.Code == c.Code
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
