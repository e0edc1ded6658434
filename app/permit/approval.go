package permit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Status says whether the plugin may run (Listed is false) or models may see its tools
// (Listed is true). It asks nobody. For a version that waits it also returns how it
// differs from the approved one. The gate remembers the version, so whoever runs
// plugins calls Status before each of the two steps.
func (g *Gate) Status(c PluginVersion) (ApprovalStatus, []Change) {
	c = normalVersion(c)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.knowLocked(c)
	status, changes := g.statusLocked(c)
	if status == Approved && c.Listed {
		g.served[c.Plugin] = c
		for _, t := range c.Tools {
			g.released[t.ID()+" "+t.Digest] = true
		}
	}
	return status, changes
}

// knowLocked remembers the newest version of a plugin.
func (g *Gate) knowLocked(c PluginVersion) {
	if was, ok := g.known[c.Plugin]; !ok || was.Name != c.Name || was.key() != c.key() {
		g.alike.changed++
	}
	g.known[c.Plugin] = c
}

func (g *Gate) statusLocked(c PluginVersion) (ApprovalStatus, []Change) {
	a, ok := g.approvals[c.Plugin]
	switch {
	case !ok || a.Effect == "":
		return Waiting, nil
	case a.Effect != Allow:
		return Refused, nil
	}
	changes, wider := a.changes(c)
	if len(changes) == 0 || a.Developing && !wider || a.past(c) >= 0 {
		return Approved, nil
	}
	return Waiting, changes
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

// Propose adds a request to approve the version, unless one waits already, Status
// approves the version, or the person rejected it before. It does not wait; OnDecided
// tells the answer.
func (g *Gate) Propose(c PluginVersion) {
	c = normalVersion(c)
	g.mu.Lock()
	g.knowLocked(c)
	_, news := g.newsLocked(c)
	looked := g.likenessesLocked(c)
	g.mu.Unlock()
	if !news {
		return
	}
	warnings := looked.found()
	g.mu.Lock()
	changes, news := g.newsLocked(c) // it may be answered by now
	if news {
		g.takeLocked(func(e *openRequest) bool { return e.Kind != KindCall && e.Plugin == c.Plugin })
		g.requests = append(g.requests, &openRequest{
			Request: g.describeVersionLocked(c, changes, warnings), version: c, done: make(chan struct{}),
		})
	}
	g.mu.Unlock()
	if news {
		g.notify()
	}
}

// newsLocked reports whether a person is to be asked about a version, and is not yet; and what it
// changes.
func (g *Gate) newsLocked(c PluginVersion) (changes []Change, news bool) {
	status, changes := g.statusLocked(c)
	return changes, status == Waiting && !slices.Contains(g.approvals[c.Plugin].Rejected, c.key()) &&
		!slices.ContainsFunc(g.requests, func(e *openRequest) bool {
			return e.Kind != KindCall && e.Plugin == c.Plugin && e.version.key() == c.key()
		})
}

// describeVersionLocked returns the request that asks a person to approve the version, with the
// warnings of its likenesses.
func (g *Gate) describeVersionLocked(c PluginVersion, changes []Change, warnings []string) Request {
	permissions := approvable(c.Permissions)
	name := g.pluginName(c.Plugin)
	p := Request{
		ID: newID("ask"), Nonce: newID("n"), Kind: KindPlugin, Plugin: c.Plugin, PluginName: name,
		Title: name + " is new", Capabilities: append([]Capability{}, capabilitiesOf(c, permissions, nil)...),
		Reach:  reachOf(c, permissions, nil, ""),
		Reason: "Asked because: none of it runs before you have looked at it.", Scopes: []Scope{Always}, Count: 1,
		Asked: g.o.Now(), Changes: changes,
		Folder: c.Folder, Permissions: c.Permissions, Hidden: c.Hidden, Warnings: warnings,
	}
	marks := marksOf("what it says of itself", c.Marked)
	for _, t := range c.Tools {
		p.Hidden += t.Hidden
		marks = append(marks, marksOf("its tool “"+t.Name+"”", t.Marked)...)
		p.Tools = append(p.Tools, ShownTool{t.Name, ToolText(t)})
	}
	p.Marks = bounded(marks)
	a, known := g.approvals[c.Plugin]
	if !known || a.Code == "" {
		return p
	}
	p.Kind = KindChanged
	switch {
	case a.Code == c.Code && Expected(changes) && changes[0].Field == FirstListed:
		p.Title = name + " shows what it offers"
		p.Reason = "Asked because: it runs now, and what a model is told of it could not be read before."
		return p
	case Expected(changes):
		p.Title = name + " offers other tools with your settings"
		p.Reason = "Asked because: you changed its settings, and a model is told of these tools."
		return p
	}
	if !a.RemovedAt.IsZero() && a.Code != c.Code {
		p.Title = name + " is not the plugin that was here"
		p.Reason = "Asked because: that one was removed, and this is other code under its name. " + leftBehind
		return p
	}
	p.Title = name + " changed since you approved it"
	p.Reason = "Asked because: its code is not what you approved."
	if slices.ContainsFunc(changes,
		func(c Change) bool { return c.Field == "description" || c.Field == "title" || c.Field == "parameters" }) {
		p.Title = name + " now describes itself differently"
		p.Reason = "Asked because: what a model is told of it is not what you approved."
	}
	return p
}

// AskApproval returns the status of the version and, while that is Waiting, asks asker
// for approval; without an asker, a person at a window, for as long as ctx lasts. With
// nobody to ask the status stays Waiting. The error is a fault when an answer could
// not be kept.
func (g *Gate) AskApproval(ctx context.Context, c PluginVersion, asker Asker) (ApprovalStatus, error) {
	c = normalVersion(c)
	status, changes := g.Status(c)
	if status != Waiting {
		return status, nil
	}
	if asker == nil {
		return g.awaitDecision(ctx, c)
	}
	g.mu.Lock()
	looked := g.likenessesLocked(c)
	g.mu.Unlock()
	warnings := looked.found()
	g.mu.Lock()
	p := g.describeVersionLocked(c, changes, warnings)
	g.mu.Unlock()
	a, err := asker.Ask(ctx, p)
	switch {
	case ctx.Err() != nil:
		return Waiting, context.Cause(ctx)
	case errors.Is(err, ErrNobody):
		return Waiting, nil
	case err != nil:
		return Waiting, fmt.Errorf("ask about the plugin %s: %w", c.Plugin, err)
	}
	by := "person"
	if named, ok := asker.(interface{ By() string }); ok {
		by = named.By()
	}
	if err := g.recordAnswer(ctx, c, a, by); err != nil {
		return Waiting, err
	}
	status, _ = g.Status(c)
	return status, nil
}

// awaitDecision proposes the version and waits until a person has decided about its
// plugin.
func (g *Gate) awaitDecision(ctx context.Context, c PluginVersion) (ApprovalStatus, error) {
	decided := make(chan struct{}, 1)
	stop := g.OnDecided(func(plugin string) {
		if plugin == c.Plugin {
			select {
			case decided <- struct{}{}:
			default: // a wake-up is due already
			}
		}
	})
	defer stop()
	g.Propose(c)
	g.mu.Lock()
	nobody := g.windows == 0
	g.mu.Unlock()
	if nobody {
		return Waiting, nil
	}
	select {
	case <-decided:
		status, _ := g.Status(c)
		return status, nil
	case <-ctx.Done():
		return Waiting, context.Cause(ctx)
	}
}

// Approve approves the version as it is, whatever the person decided before, and
// removes the requests about its plugin.
func (g *Gate) Approve(ctx context.Context, c PluginVersion, t ApproveOptions) error {
	if t.By == "" {
		t.By = "person"
	}
	return g.record(ctx, normalVersion(c), Answer{Effect: Allow, Scope: Always, Developing: t.Developing}, t)
}

// KeepOld records that the person was shown the version and keeps the approved one: the gate does
// not ask about this version again, and removes the requests about its plugin.
func (g *Gate) KeepOld(ctx context.Context, c PluginVersion) error {
	return g.recordAnswer(ctx, normalVersion(c), Answer{Effect: Deny, Scope: Once}, "person")
}

// AskAgain forgets that the person turned the plugin off and which of its versions
// they rejected, so that the gate asks them again. What they approved stays. Switching
// a plugin on calls it.
func (g *Gate) AskAgain(ctx context.Context, plugin string) error {
	g.mu.Lock()
	a, ok := g.approvals[plugin]
	g.mu.Unlock()
	if !ok || a.Effect == Allow && len(a.Rejected) == 0 {
		return nil
	}
	if a.Code == "" { // nothing was ever approved
		if g.o.Store != nil {
			if err := g.o.Store.DeleteApproval(ctx, plugin); err != nil {
				return err
			}
		}
		g.mu.Lock()
		delete(g.approvals, plugin)
		g.alike.changed++
		g.mu.Unlock()
		return nil
	}
	a.Effect, a.Rejected = Allow, nil
	return g.keep(ctx, a, g.forThisRun(plugin))
}

// recordAnswer records what a person answered about a version. Allow approves it; Deny
// with Always turns the plugin off; any other Deny keeps the approved version in
// service, and the gate does not ask about this one again.
func (g *Gate) recordAnswer(ctx context.Context, c PluginVersion, a Answer, by string) error {
	return g.record(ctx, c, a, ApproveOptions{By: by})
}

func (g *Gate) record(ctx context.Context, c PluginVersion, answer Answer, t ApproveOptions) error {
	g.mu.Lock()
	old, known := g.approvals[c.Plugin]
	g.mu.Unlock()
	a := old
	a.Plugin = c.Plugin
	switch {
	case answer.Effect == Deny && answer.Scope == Always:
		a.Effect, a.Past = Deny, nil
	case answer.Effect == Deny:
		if !known {
			a.Effect = "" // neither allowed nor turned off
		}
		a.Past = slices.DeleteFunc(slices.Clone(a.Past), func(p PastApproval) bool { return p.Code == c.Code })
		a.Rejected = append(slices.Clone(a.Rejected), c.key())
		a.Rejected = a.Rejected[max(0, len(a.Rejected)-maxRejected):]
	default:
		a = Approval{
			Plugin: c.Plugin, Dialect: c.Dialect, Code: c.Code, Permissions: slices.Clone(c.Permissions),
			Developing: answer.Developing || old.Developing && t.By != "person", Effect: Allow, Bundled: t.Bundled,
		}
		if c.Listed {
			a.pin(c)
		} else {
			a.readAs(c, old)
		}
		a.Past = old.superseded(a)
	}
	a.At, a.By = g.o.Now(), t.By
	if err := g.keep(ctx, a, t.ThisRun); err != nil {
		return err
	}
	g.mu.Lock()
	g.takeLocked(func(e *openRequest) bool { return e.Kind != KindCall && e.Plugin == c.Plugin })
	g.mu.Unlock()
	g.decided(c.Plugin)
	return nil
}

// decided passes on that something was decided about a plugin.
func (g *Gate) decided(plugin string) {
	g.mu.Lock()
	listeners := make([]func(string), 0, len(g.listeners))
	for listen := range g.listeners {
		listeners = append(listeners, *listen)
	}
	g.mu.Unlock()
	g.recheckWaiting()
	g.notifyPlugin(plugin)
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

// keep puts an approval in force, and writes it unless it is for this run only:
// then what was said before comes back when the run is over.
func (g *Gate) keep(ctx context.Context, a Approval, thisRun bool) error {
	if g.o.Store != nil && !thisRun {
		if err := g.o.Store.PutApproval(ctx, a); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, running := g.beforeRun[a.Plugin]
	switch before, known := g.approvals[a.Plugin]; {
	case !thisRun:
		delete(g.beforeRun, a.Plugin)
	case running: // what lasts is known already
	case known:
		g.beforeRun[a.Plugin] = &before
	default:
		g.beforeRun[a.Plugin] = nil
	}
	g.approvals[a.Plugin] = a
	g.alike.changed++
	g.releaseLocked(a)
	return nil
}

// forThisRun reports whether what is in force about a plugin ends with a run.
func (g *Gate) forThisRun(plugin string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, running := g.beforeRun[plugin]
	return running
}

// RunEnded revokes what was approved for one run only, and calls the OnDecided
// listeners.
func (g *Gate) RunEnded(plugin string) {
	g.mu.Lock()
	before, running := g.beforeRun[plugin]
	delete(g.beforeRun, plugin)
	g.alike.changed++
	switch {
	case !running:
	case before == nil:
		delete(g.approvals, plugin)
	default:
		g.approvals[plugin] = *before
	}
	g.mu.Unlock()
	if running {
		g.decided(plugin)
	}
}

// releaseLocked remembers the definitions of an approval for the turns that
// froze them: a newer approval does not make them strangers.
func (g *Gate) releaseLocked(a Approval) {
	if a.Effect != Allow {
		return
	}
	for name, digest := range a.Tools {
		g.released[a.Plugin+":"+name+" "+digest] = true
	}
}

// Adopt makes a version that Status approves the approved one: a version approved
// earlier comes back into service, and the approval gets the tool definitions of a
// version whose definitions the person saw when they approved its code, or that widens
// nothing in a plugin under development. It does nothing when nothing is new, or when
// the version is not approved.
func (g *Gate) Adopt(c PluginVersion) error {
	c = normalVersion(c)
	g.mu.Lock()
	a := g.approvals[c.Plugin]
	status, _ := g.statusLocked(c)
	g.mu.Unlock()
	if status != Approved {
		return nil
	}
	if a.Code == c.Code && (!c.Listed || !a.Unlisted && a.Settings == c.Settings && a.pinned(c)) {
		return nil
	}
	next := a
	next.Permissions, next.Dialect = slices.Clone(c.Permissions), c.Dialect
	next.Bundled = a.Bundled && a.Code == c.Code
	next.Code = c.Code
	if c.Listed {
		next.pin(c)
	} else if i := a.past(c); i >= 0 && a.Past[i].Set != "" {
		next.Unlisted, next.Read, next.ReadAll, next.Set = false, nil, false, a.Past[i].Set
	} else if a.Developing {
		return nil // the approval moves on once its tools are known
	}
	if next.Code != a.Code {
		next.Past = a.superseded(next)
	}
	return g.keep(g.base, next, g.forThisRun(c.Plugin))
}

// DropRequests removes the requests about a plugin that is gone or switched off. Its
// approval stays, for a plugin that comes back unchanged.
func (g *Gate) DropRequests(plugin string) {
	g.mu.Lock()
	taken := g.takeLocked(func(e *openRequest) bool { return e.Kind != KindCall && e.Plugin == plugin })
	g.mu.Unlock()
	if len(taken) > 0 {
		g.notify()
	}
}

// Decided reports whether a person ever approved a plugin or turned it off.
func (g *Gate) Decided(plugin string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.approvals[plugin]
	return ok
}

// Approvals returns the plugins that were approved or turned off, by id.
func (g *Gate) Approvals() []Approval {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Approval, 0, len(g.approvals))
	for _, a := range g.approvals {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Approval) int { return strings.Compare(a.Plugin, b.Plugin) })
	return list
}

// OnDecided calls listen with the id of each plugin about which a person decided,
// until the caller calls stop. listen runs on the goroutine that recorded the answer.
func (g *Gate) OnDecided(listen func(plugin string)) (stop func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listeners[&listen] = struct{}{}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.listeners, &listen)
	}
}
