package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
)

// Rules keeps the person's rules of every scope, and counts how often they and tools were used. Its
// methods are safe for concurrent use.
type Rules struct {
	*shared
	// changed is called without a lock once a rule was added or removed.
	changed func(rule Rule, removed bool)

	mu        sync.Mutex // guards the fields below
	book      ruleBook
	touched   map[string]bool // ids of rules whose last use the store does not have yet
	uses      map[string]Use  // by tool id
	unwritten map[string]bool // tool ids whose use the store does not have yet
	writing   *time.Timer     // writes them; nil while nothing is due
	writes    sync.WaitGroup  // the timer that runs, or is to run
	closed    bool
}

// usesWritten is the delay before uses are written: they only show when
// a tool was used last, so a crash may lose a minute of them, and calls that follow
// closely cost no write each.
const usesWritten = time.Minute

// read reads the rules and the uses of tools from the store. Uses that cannot be read are logged:
// they decide nothing.
func (r *Rules) read(ctx context.Context) error {
	rules, err := r.store.Rules(ctx)
	if err != nil {
		return fmt.Errorf("read the permissions: %w", err)
	}
	for i := range rules {
		r.book.add(r.compiled(&rules[i]))
		if rules[i].Effect != Allow {
			continue
		}
		id, last := rules[i].Plugin+":"+rules[i].Tool, rules[i].LastUsed
		u := r.uses[id]
		r.uses[id] = Use{
			Times: u.Times + rules[i].Uses, Last: latest(u.Last, last),
			Yes: u.Yes + rules[i].Uses, Allowed: latest(u.Allowed, last),
		}
	}
	uses, err := r.store.Uses(ctx)
	if err != nil {
		r.log.Warn("when tools were last used cannot be read", "err", err)
	}
	for id, u := range uses { // the uses of rules are among them
		of := r.uses[id]
		r.uses[id] = Use{
			Times: max(u.Times, of.Times), Last: latest(u.Last, of.Last),
			Yes: max(u.Yes, of.Yes), Allowed: latest(u.Allowed, of.Allowed), Deleted: u.Deleted,
		}
	}
	return nil
}

// close writes when rules and tools were last used.
func (r *Rules) close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	if r.writing != nil && r.writing.Stop() {
		r.writes.Done()
	}
	r.writing = nil
	r.mu.Unlock()
	r.writes.Wait()
	return errors.Join(r.writeRules(ctx), r.writeUses(ctx))
}

// List returns the rules of every scope that still hold, oldest first. The error is ctx's cause.
func (r *Rules) List(ctx context.Context) ([]Rule, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	rules := make([]Rule, 0, len(r.book.rules))
	for _, rule := range r.book.rules {
		if !rule.spent(now) {
			rules = append(rules, *rule)
		}
	}
	slices.SortStableFunc(rules, func(a, b Rule) int { return a.Made.Compare(b.Made) })
	return rules, nil
}

// Scope returns how long a rule holds, and whether there still is one of that id.
func (r *Rules) Scope(id string) (Scope, bool) {
	rule, there := r.get(id)
	return rule.Scope, there
}

// get returns a copy of a rule, and whether there is one of that id.
func (r *Rules) get(id string) (Rule, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rule := r.book.rule(id); rule != nil {
		return *rule, true
	}
	return Rule{}, false
}

// Add adds a rule, with a new ID and Made where those are empty, and resolves the
// waiting requests that it decides. The kind is invalid for conditions that cannot be
// used, and then there is no rule. It writes a rule that outlives the program first;
// if that fails, the rule holds until Conclave quits, and the error says so.
func (r *Rules) Add(ctx context.Context, rule Rule) (Rule, error) {
	if rule.ID == "" {
		rule.ID = newID("grant")
	}
	if rule.Made.IsZero() {
		rule.Made = r.now()
	}
	if err := r.places.ready(&rule); err != nil {
		return Rule{}, err
	}
	var failed error
	if r.store != nil && rule.outlives() {
		if err := r.store.PutRule(ctx, rule); err != nil {
			f := fault.Of(err)
			failed = fault.Wrap(f.Kind, "gate.add",
				"The permission holds until Conclave quits, but it could not be saved for longer: "+f.Message, f.Hint, err)
			rule.Scope = UntilQuit
		}
	}
	r.mu.Lock()
	r.book.add(&rule)
	added := rule // its uses are counted from now on
	r.mu.Unlock()
	r.changed(added, false)
	return added, failed
}

// Revoke deletes a rule and returns it, so that Add can restore it. The calls under way
// that it alone allowed end. The kind is not_found when there is none.
func (r *Rules) Revoke(ctx context.Context, id string) (Rule, error) {
	rule, known := r.get(id)
	if !known {
		return Rule{}, fault.New(fault.NotFound, "gate.revoke", "There is no rule "+id+".",
			"conclave permissions list shows what there is.")
	}
	if r.store != nil && rule.outlives() {
		if err := r.store.DeleteRule(ctx, id); err != nil {
			return Rule{}, err
		}
	}
	r.mu.Lock()
	r.book.remove(func(rule *Rule) bool { return rule.ID == id })
	r.mu.Unlock()
	r.changed(rule, true)
	return rule, nil
}

// revokeWhere revokes the rules of a plugin that which reports, and returns them.
func (r *Rules) revokeWhere(ctx context.Context, plugin string, which func(*Rule) bool) ([]Rule, error) {
	r.mu.Lock()
	var found []string
	for _, rule := range r.book.rules {
		if rule.Plugin == plugin && which(rule) {
			found = append(found, rule.ID)
		}
	}
	r.mu.Unlock()
	var revoked []Rule
	for _, id := range found {
		rule, err := r.Revoke(ctx, id)
		if err != nil {
			return revoked, err
		}
		revoked = append(revoked, rule)
	}
	return revoked, nil
}

// replace adds a rule in place of those of its plugin that which reports. The new one is
// there before the others go, so that what both allow is never revoked, which ends calls.
func (r *Rules) replace(ctx context.Context, rule Rule, which func(*Rule) bool) error {
	added, err := r.Add(ctx, rule)
	if added.ID == "" {
		return err
	}
	_, gone := r.revokeWhere(ctx, rule.Plugin, func(old *Rule) bool { return old.ID != added.ID && which(old) })
	return cmp.Or(err, gone)
}

// endTurn deletes the rules that held for one answer.
func (r *Rules) endTurn(turn string) {
	r.mu.Lock()
	removed := r.book.remove(func(rule *Rule) bool { return rule.Scope == ThisAnswer && rule.Turn == turn })
	r.mu.Unlock()
	if removed {
		r.bus.Changed(bus.Permissions, "")
	}
}

// permissionRules returns copies of the rules about a plugin's permissions, oldest first.
func (r *Rules) permissionRules(plugin string) []Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Rule
	for _, rule := range r.book.about(plugin) {
		all = append(all, *rule)
	}
	return all
}

// Uses returns how often the gate allowed calls of a tool, and when last.
func (r *Rules) Uses(toolID string) (times int, last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.uses[toolID]
	return u.Times, u.Last
}

// MarkDeleting records that a call of a tool deleted files: from now on its calls are asked about
// as those of a tool that deletes.
func (r *Rules) MarkDeleting(toolID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u := r.uses[toolID]; !u.Deleted {
		u.Deleted = true
		r.uses[toolID] = u
		r.writeSoonLocked(toolID)
	}
}

// noteLocked counts a released call; person reports that a person allowed it when asked, as one did
// where there is a rule. It returns a copy of the call's rule where the use of that has to be
// written at once.
func (r *Rules) noteLocked(toolID, rule string, person bool) *Rule {
	now, u := r.now(), r.uses[toolID]
	u.Times, u.Last = u.Times+1, now
	if person || rule != "" {
		u.Yes, u.Allowed = u.Yes+1, now
	}
	r.uses[toolID] = u
	r.writeSoonLocked(toolID)
	known := r.book.rule(rule)
	if known == nil {
		return nil
	}
	known.Uses++
	known.LastUsed = now
	if known.MaxUses > 0 && known.outlives() {
		written := *known
		return &written
	}
	r.touched[rule] = true
	return nil
}

// counted writes the use of a rule that has only so many of them, and denies the call
// when that fails: after a crash it would be used once too often.
func (r *Rules) counted(ctx context.Context, d Decision, rule *Rule) Decision {
	if rule == nil || r.store == nil {
		return d
	}
	err := r.store.PutRule(context.WithoutCancel(ctx), *rule)
	if err == nil {
		return d
	}
	r.log.Warn("the use of a rule could not be written", "rule", rule.ID, "err", err)
	why := "it could not be written that the rule was used, and that rule has only so many uses"
	return Decision{
		Effect: Deny, Why: why, Reason: why, By: d.By, Rule: d.Rule, Step: d.Step, Arguments: d.Arguments,
		Path: d.Path,
	}
}

// writeSoonLocked has the tool's use written with others after a while, or by close,
// which ends the timer or waits for it.
func (r *Rules) writeSoonLocked(toolID string) {
	if r.store == nil {
		return
	}
	r.unwritten[toolID] = true
	if r.writing != nil || r.closed {
		return
	}
	r.writes.Add(1)
	r.writing = time.AfterFunc(usesWritten, func() {
		defer r.writes.Done()
		r.mu.Lock()
		r.writing = nil
		r.mu.Unlock()
		if err := r.writeUses(r.base); err != nil {
			r.log.Warn("when tools were last used could not be written", "err", err)
		}
	})
}

// writeUses writes the uses that the store does not have yet.
func (r *Rules) writeUses(ctx context.Context) error {
	r.mu.Lock()
	uses := map[string]Use{}
	for id := range r.unwritten {
		uses[id] = r.uses[id]
	}
	r.mu.Unlock()
	if len(uses) == 0 || r.store == nil {
		return nil
	}
	if err := r.store.PutUses(ctx, uses); err != nil {
		return err // they are written with the next ones
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.unwritten, func(id string, _ bool) bool { return r.uses[id] == uses[id] })
	return nil
}

// writeRules writes the rules whose last use changed.
func (r *Rules) writeRules(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	r.mu.Lock()
	var changed []Rule
	for _, rule := range r.book.rules {
		if r.touched[rule.ID] && rule.outlives() {
			changed = append(changed, *rule)
		}
	}
	clear(r.touched)
	r.mu.Unlock()
	var errs []error
	for _, rule := range changed {
		errs = append(errs, r.store.PutRule(ctx, rule))
	}
	return errors.Join(errs...)
}

// Trust lets a person trust text of an origin in one chat, with a rule that can be
// revoked. The kind is invalid for origins that are not named.
func (r *Rules) Trust(ctx context.Context, in chat.ConversationID, origin chat.Origin) (Rule, error) {
	if known, ok := r.get(r.Trusted(in)[origin]); ok {
		return known, nil
	}
	return r.Add(ctx, Rule{Effect: Allow, Scope: ThisChat, Conversation: in, Origin: &origin})
}

// Trusted returns the ids of the rules by which a person trusts origins of a chat.
func (r *Rules) Trusted(in chat.ConversationID) map[chat.Origin]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.book.index()
	of := map[chat.Origin]string{}
	for text, id := range r.book.trusted {
		if text.in == in {
			of[text.origin] = id
		}
	}
	return of
}

// ready makes a rule comparable and reads its conditions.
func (p *places) ready(rule *Rule) error {
	if rule.Origin != nil {
		return rule.checkTrust()
	}
	if rule.Scope == ThisProject && rule.Project == "" {
		return fault.New(fault.Invalid, "gate.add", "A rule for a project has to name its folder.",
			"Your home folder is no project, and neither is a folder above it.")
	}
	if err := rule.checkIgnored(); err != nil {
		return err
	}
	if rule.Permission == Filesystem {
		return nil // its conditions are a folder's, see Rule.folder
	}
	rule.Match = slices.Clone(rule.Match) // the caller's stays as it is
	for i, m := range rule.Match {
		rule.Match[i].Sole = m.Sole && rule.Digest != ""
		switch m.Op {
		case PathUnder:
			if path, ok := p.realPath(m.Value); ok {
				rule.Match[i].Value = path
			}
		case HostIs, HostSuffix:
			if host, ok := hostOf(m.Value); ok && !strings.Contains(m.Value, "/") {
				rule.Match[i].Value = host
			}
		}
	}
	if rule.MaxUses < 0 {
		return fault.New(fault.Invalid, "gate.add", "A rule cannot hold less than once.",
			"Leave the number out for no bound.")
	}
	var err error
	rule.conditions, err = compile(rule.Match, rule.Effect)
	return err
}

// compiled reads the conditions of a rule from the store. One that this version cannot
// read allows nothing, and asks or denies always.
func (r *Rules) compiled(rule *Rule) *Rule {
	if rule.Permission == Filesystem || rule.Origin != nil {
		return rule
	}
	var err error
	if rule.conditions, err = compile(rule.Match, rule.Effect); err != nil {
		rule.broken = true
		r.log.Warn("a rule's conditions cannot be read", "rule", rule.ID, "err", err)
	}
	return rule
}
