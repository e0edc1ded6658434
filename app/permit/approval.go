package permit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/app/tool"
)

// Verdict is where a plugin stands with the person.
type Verdict string

// The verdicts.
const (
	Approved Verdict = "approved" // may run (not Listed), or its tools may reach a model (Listed)
	Waiting  Verdict = "waiting"  // a person has to look at it first
	Refused  Verdict = "refused"  // the person turned it off
)

// maxRejected bounds the versions remembered as not approved, and maxPast those
// that were approved earlier.
const (
	maxRejected = 16
	maxPast     = 16
)

// Trust says how an approval that comes from a command is meant.
type Trust struct {
	Developing bool   // keep approving my own edits while they widen nothing
	ThisRun    bool   // do not remember it: it holds until RunEnded, at the latest until the program ends
	Own        bool   // its code comes with Conclave: what it lists first needs no showing
	By         string // who, for the record; empty means the person
}

// normalCandidate makes the tools comparable, and leaves of what it asks for what
// there is.
func normalCandidate(c Candidate) Candidate {
	c.Permissions = Requestable(c.Permissions)
	c.Tools = slices.Clone(c.Tools)
	for i := range c.Tools {
		c.Tools[i].Plugin = c.Plugin
		c.Tools[i] = tool.Normal(c.Tools[i])
	}
	return c
}

// Status says whether the candidate may run (Listed false) or its tools may
// reach a model (Listed true), without asking anybody, and for one that waits
// what differs from what was approved. It is how the gate learns of a plugin, so
// whoever runs plugins calls it before each of the two.
func (g *Gate) Status(c Candidate) (Verdict, []Change) {
	c = normalCandidate(c)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known[c.Plugin] = c
	verdict, changes := g.statusLocked(c)
	if verdict == Approved && c.Listed {
		for _, t := range c.Tools {
			g.released[t.ID()+" "+t.Digest] = true
		}
	}
	return verdict, changes
}

func (g *Gate) statusLocked(c Candidate) (Verdict, []Change) {
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

// past returns which of the versions approved earlier the candidate is, or -1. One
// that has listed its tools must list those that were approved with it.
func (a Approval) past(c Candidate) int {
	return slices.IndexFunc(a.Past, func(p PastApproval) bool {
		return p.Code == c.Code && (!c.Listed || p.Set != "" && p.Set == tool.SetDigest(c.Tools))
	})
}

// superseded returns the versions approved earlier, with this one, which another
// one now follows.
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

// version names what a person said no to.
func (c Candidate) version() string {
	if c.Listed {
		return c.Code + "/" + tool.SetDigest(c.Tools)
	}
	return c.Code
}

// Propose puts the candidate before a person, once: a card in the pending list.
// What they say arrives through OnDecided. A version they have said no to is not
// shown again by itself, and neither is one that Status approves.
func (g *Gate) Propose(c Candidate) {
	c = normalCandidate(c)
	g.mu.Lock()
	g.known[c.Plugin] = c
	verdict, changes := g.statusLocked(c)
	proposed := false
	if verdict == Waiting && !slices.Contains(g.approvals[c.Plugin].Rejected, c.version()) {
		proposed = !slices.ContainsFunc(g.pending, func(e *openRequest) bool {
			return e.Kind != KindCall && e.Plugin == c.Plugin && e.candidate.version() == c.version()
		})
	}
	if proposed {
		g.takeLocked(func(e *openRequest) bool { return e.Kind != KindCall && e.Plugin == c.Plugin })
		g.pending = append(g.pending, &openRequest{
			Pending: g.describeCandidateLocked(c, changes), candidate: c, done: make(chan struct{}),
		})
	}
	g.mu.Unlock()
	if proposed {
		g.notify()
	}
}

// describeCandidateLocked is a plugin as a person is shown it.
func (g *Gate) describeCandidateLocked(c Candidate, changes []Change) Pending {
	capabilities, sentence := reach(c, approvable(c.Permissions))
	name := g.pluginName(c.Plugin)
	p := Pending{
		ID: newID("ask"), Nonce: newID("n"), Kind: KindPlugin, Plugin: c.Plugin, PluginName: name,
		Title: name + " is new", Capabilities: append([]Capability{}, capabilities...), Reach: sentence,
		Reason: "Asked because: none of it runs before you have looked at it.", Scopes: []Scope{Always}, Count: 1,
		Asked: g.o.Now(), Changes: changes,
		Folder: c.Folder, Permissions: c.Permissions, Hidden: c.Hidden,
	}
	for _, t := range c.Tools {
		p.Hidden += t.Hidden
		p.Tools = append(p.Tools, ShownTool{t.Name, Words(t)})
	}
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
	if !a.Left.IsZero() && a.Code != c.Code {
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

// Approved is Status, and asks about a candidate that waits: the asker, else a
// person at a window, for as long as ctx lasts. With nobody to ask it stays
// Waiting. The error is a fault when an answer could not be kept.
func (g *Gate) Approved(ctx context.Context, c Candidate, asker Asker) (Verdict, error) {
	c = normalCandidate(c)
	verdict, changes := g.Status(c)
	if verdict != Waiting {
		return verdict, nil
	}
	if asker == nil {
		return g.awaitDecision(ctx, c)
	}
	g.mu.Lock()
	p := g.describeCandidateLocked(c, changes)
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
	if err := g.decide(ctx, c, a, by); err != nil {
		return Waiting, err
	}
	verdict, _ = g.Status(c)
	return verdict, nil
}

// awaitDecision proposes the candidate and waits until a person has decided
// about its plugin.
func (g *Gate) awaitDecision(ctx context.Context, c Candidate) (Verdict, error) {
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
		verdict, _ := g.Status(c)
		return verdict, nil
	case <-ctx.Done():
		return Waiting, context.Cause(ctx)
	}
}

// Trust approves the candidate as it is, whatever was said before, and settles
// its card.
func (g *Gate) Trust(ctx context.Context, c Candidate, t Trust) error {
	if t.By == "" {
		t.By = "person"
	}
	return g.record(ctx, normalCandidate(c), Answer{Effect: Allow, Scope: Always, Developing: t.Developing}, t)
}

// TurnOff refuses the plugin in every version, until Reconsider.
func (g *Gate) TurnOff(ctx context.Context, plugin string) error {
	g.mu.Lock()
	c, ok := g.known[plugin]
	g.mu.Unlock()
	if !ok {
		c = Candidate{Plugin: plugin}
	}
	return g.decide(ctx, c, Answer{Effect: Deny, Scope: Always}, "person")
}

// Reconsider forgets that the plugin was turned off and which of its versions
// were not approved, so that the person is asked again. What was approved
// stays. It is what switching a plugin on means.
func (g *Gate) Reconsider(ctx context.Context, plugin string) error {
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
		g.mu.Unlock()
		return nil
	}
	a.Effect, a.Rejected = Allow, nil
	return g.keep(ctx, a, g.forThisRun(plugin))
}

// decide records what a person said about a candidate. For a plugin: Allow
// approves this version; Deny with Always turns the plugin off; any other Deny
// leaves what was approved before in service and is not asked about again.
func (g *Gate) decide(ctx context.Context, c Candidate, a Answer, by string) error {
	return g.record(ctx, c, a, Trust{By: by})
}

func (g *Gate) record(ctx context.Context, c Candidate, answer Answer, t Trust) error {
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
		a.Rejected = append(slices.Clone(a.Rejected), c.version())
		a.Rejected = a.Rejected[max(0, len(a.Rejected)-maxRejected):]
	default:
		a = Approval{
			Plugin: c.Plugin, Contract: c.Contract, Code: c.Code, Permissions: slices.Clone(c.Permissions),
			Developing: answer.Developing || old.Developing && t.By != "person", Effect: Allow, Own: t.Own,
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

// readAs writes what reading showed of a candidate into the approval. Definitions
// that were approved with the version before stay approved.
func (a *Approval) readAs(c Candidate, old Approval) {
	a.Unlisted, a.ReadAll, a.Read = true, c.ReadAll, map[string]string{}
	for _, t := range c.Tools {
		a.Read[t.Name] = Words(t)
	}
	if old.Effect == Allow {
		a.Set, a.Tools, a.Texts, a.Titles, a.Schemas = old.Set, old.Tools, old.Texts, old.Titles, old.Schemas
	}
}

// pin writes the definitions of a listed candidate into the approval.
func (a *Approval) pin(c Candidate) {
	a.Unlisted, a.ReadAll, a.Read, a.Settings = false, false, nil, c.Settings
	a.Set = tool.SetDigest(c.Tools)
	a.Tools, a.Texts, a.Titles, a.Schemas = map[string]string{}, map[string]string{}, map[string]string{},
		map[string]json.RawMessage{}
	for _, t := range c.Tools {
		a.Tools[t.Name], a.Texts[t.Name], a.Titles[t.Name], a.Schemas[t.Name] = t.Digest, t.Description, t.Title, t.Parameters
	}
}

// pinned reports whether the approval's definitions are those of a listed candidate.
func (a *Approval) pinned(c Candidate) bool {
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

// RunEnded takes back what was approved for a run only, and tells those who listen.
func (g *Gate) RunEnded(plugin string) {
	g.mu.Lock()
	before, running := g.beforeRun[plugin]
	delete(g.beforeRun, plugin)
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

// Listed puts a candidate in force that Status approves: a version approved
// earlier becomes the one in service, and definitions that were all shown when the
// code was approved, or that widen nothing in a plugin under development, are
// pinned. It costs nothing when nothing is new, and does nothing for a candidate
// that is not approved.
func (g *Gate) Listed(c Candidate) error {
	c = normalCandidate(c)
	g.mu.Lock()
	a := g.approvals[c.Plugin]
	verdict, _ := g.statusLocked(c)
	g.mu.Unlock()
	if verdict != Approved {
		return nil
	}
	if a.Code == c.Code && (!c.Listed || !a.Unlisted && a.Settings == c.Settings && a.pinned(c)) {
		return nil
	}
	next := a
	next.Permissions, next.Contract = slices.Clone(c.Permissions), c.Contract
	next.Own = a.Own && a.Code == c.Code
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

// Forget drops what waits for a plugin that is gone or switched off. What was
// approved stays, for one that comes back unchanged.
func (g *Gate) Forget(plugin string) {
	g.mu.Lock()
	taken := g.takeLocked(func(e *openRequest) bool { return e.Kind != KindCall && e.Plugin == plugin })
	g.mu.Unlock()
	if len(taken) > 0 {
		g.notify()
	}
}

// Approvals returns what was approved or turned off, by plugin.
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

// OnDecided calls listen with the id of each plugin about which a person
// decided, on the goroutine that carried the answer, until the function returned
// is called.
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
