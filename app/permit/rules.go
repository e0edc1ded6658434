package permit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/app/fault"
)

// Rules returns the rules of every scope that still hold, oldest first.
func (g *Gate) Rules(ctx context.Context) ([]Rule, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	rules := make([]Rule, 0, len(g.rules))
	for _, rule := range g.rules {
		if (rule.Expires.IsZero() || now.Before(rule.Expires)) && (rule.MaxUses == 0 || rule.Uses < rule.MaxUses) {
			rules = append(rules, *rule)
		}
	}
	slices.SortStableFunc(rules, func(a, b Rule) int { return a.Made.Compare(b.Made) })
	return rules, nil
}

// RuleScope returns how long a rule holds, and whether there still is one of that id.
func (g *Gate) RuleScope(id string) (Scope, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rulesLocked()
	rule, ok := g.byID[id]
	if !ok {
		return "", false
	}
	return rule.Scope, true
}

// AddRule adds a rule, with a new ID and Made where those are empty, and resolves the
// waiting requests that it decides. The kind is invalid for conditions that cannot be
// used, and then there is no rule. It writes a rule that outlives the program first;
// if that fails, the rule holds until Conclave quits, and the error says so.
func (g *Gate) AddRule(ctx context.Context, rule Rule) (Rule, error) {
	if rule.ID == "" {
		rule.ID = newID("grant")
	}
	if rule.Made.IsZero() {
		rule.Made = g.o.Now()
	}
	if err := g.check(&rule); err != nil {
		return Rule{}, err
	}
	var failed error
	if g.o.Store != nil && rule.outlives() {
		if err := g.o.Store.PutRule(ctx, rule); err != nil {
			f := fault.Of(err)
			failed = fault.Wrap(f.Kind, "permit.add",
				"The permission holds until Conclave quits, but it could not be kept for longer: "+f.Message, f.Hint, err)
			rule.Scope = UntilQuit
		}
	}
	g.mu.Lock()
	g.rules = append(g.rules, &rule)
	g.byTool = nil
	kept := rule
	g.mu.Unlock()
	g.rulesChanged(kept)
	g.recheckRunning("")
	return kept, failed
}

// check makes a rule comparable and reads its conditions.
func (g *Gate) check(rule *Rule) error {
	if rule.Origin != nil {
		return rule.vouches()
	}
	if rule.Scope == ThisProject && rule.Project == "" {
		return fault.New(fault.Invalid, "permit.add", "A rule for a project has to name its folder.",
			"Your home folder is none, and neither is what holds it.")
	}
	if err := rule.spites(); err != nil {
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
			if path, ok := g.places.realPath(m.Value); ok {
				rule.Match[i].Value = path
			}
		case HostIs, HostSuffix:
			if host, ok := hostOf(m.Value); ok && !strings.Contains(m.Value, "/") {
				rule.Match[i].Value = host
			}
		}
	}
	if rule.MaxUses < 0 {
		return fault.New(fault.Invalid, "permit.add", "A rule cannot hold less than once.",
			"Leave the number out for no bound.")
	}
	var err error
	rule.conditions, err = compile(rule.Match, rule.Effect)
	return err
}

// compiled reads the conditions of a rule from the store. One that this version cannot
// read allows nothing, and asks or denies always.
func (g *Gate) compiled(rule *Rule) *Rule {
	if rule.Permission == Filesystem || rule.Origin != nil {
		return rule
	}
	var err error
	if rule.conditions, err = compile(rule.Match, rule.Effect); err != nil {
		rule.broken = true
		g.o.Log.Warn("a rule's conditions cannot be read", "rule", rule.ID, "err", err)
	}
	return rule
}

// outlives reports whether the rule holds after a restart. A chat does, so its
// rules do.
func (g Rule) outlives() bool { return g.lasts() || g.Scope == ThisChat }

// lasts reports whether the rule holds in more chats than one, whatever ends.
func (g Rule) lasts() bool { return g.Scope == Always || g.Scope == ThisProject }

// RevokeRule deletes a rule and returns it, so that AddRule can restore it. The calls under way
// that it alone allowed end. The kind is not_found when there is none.
func (g *Gate) RevokeRule(ctx context.Context, id string) (Rule, error) {
	g.mu.Lock()
	i := slices.IndexFunc(g.rules, func(rule *Rule) bool { return rule.ID == id })
	var rule Rule
	if i >= 0 {
		rule = *g.rules[i]
	}
	g.mu.Unlock()
	if i < 0 {
		return Rule{}, fault.New(fault.NotFound, "permit.revoke", "There is no rule "+id+".",
			"conclave permissions list shows what there is.")
	}
	if g.o.Store != nil && rule.outlives() {
		if err := g.o.Store.DeleteRule(ctx, id); err != nil {
			return Rule{}, err
		}
	}
	g.mu.Lock()
	g.rules = slices.DeleteFunc(g.rules, func(rule *Rule) bool { return rule.ID == id })
	g.byTool = nil
	g.mu.Unlock()
	g.rulesChanged(rule)
	g.recheckRunning(rule.ID)
	return rule, nil
}

// rulesChanged puts in force that a rule came or went.
func (g *Gate) rulesChanged(rule Rule) {
	g.recheckWaiting()
	if rule.Permission != "" {
		g.notifyPlugin(rule.Plugin)
	}
}

// revokeRules revokes the rules of a plugin that which reports, and returns them.
func (g *Gate) revokeRules(ctx context.Context, plugin string, which func(*Rule) bool) ([]Rule, error) {
	g.mu.Lock()
	var found []string
	for _, rule := range g.rules {
		if rule.Plugin == plugin && which(rule) {
			found = append(found, rule.ID)
		}
	}
	g.mu.Unlock()
	var revoked []Rule
	for _, id := range found {
		rule, err := g.RevokeRule(ctx, id)
		if err != nil {
			return revoked, err
		}
		revoked = append(revoked, rule)
	}
	return revoked, nil
}

// replaceRules adds a rule in place of those of its plugin that which reports. The new one is
// there before the others go, so that what both allow is never taken back, which ends calls.
func (g *Gate) replaceRules(ctx context.Context, rule Rule, which func(*Rule) bool) error {
	added, err := g.AddRule(ctx, rule)
	if added.ID == "" {
		return err
	}
	_, gone := g.revokeRules(ctx, rule.Plugin, func(old *Rule) bool { return old.ID != added.ID && which(old) })
	return cmp.Or(err, gone)
}

// SetPermission grants or denies a plugin one of the permissions it asks for, in place
// of what was set before. Effect Ask unsets it.
func (g *Gate) SetPermission(ctx context.Context, plugin, permission string, effect Effect) error {
	if permission == "" {
		return fault.New(fault.Invalid, "permit.permission", "No permission was named.",
			"conclave plugins show "+plugin+" lists what it asks for.")
	}
	if effect == Allow {
		if err := g.usable(plugin, permission); err != nil {
			return err
		}
		if permission == Filesystem {
			return fault.New(fault.Invalid, "permit.permission", "Files are granted folder by folder, and no folder was named.",
				"conclave plugins grant "+plugin+" filesystem --match path=FOLDER lets it read there; with --match access=write "+
					"it may write too.")
		}
	}
	was := func(rule *Rule) bool {
		return rule.Permission == permission && (effect != Allow || rule.Effect != Deny || len(rule.Match) == 0)
	}
	if effect == Ask || !IsPermission(permission) {
		_, err := g.revokeRules(ctx, plugin, was)
		return err
	}
	return g.replaceRules(ctx, Rule{Effect: effect, Plugin: plugin, Permission: permission, Scope: Always}, was)
}

// Permissions returns the permissions that the person granted and denied the plugin,
// sorted. Approving a plugin grants those that its card showed, each of which can be
// revoked, except those that open the sandbox: a person grants each of these by
// itself.
func (g *Gate) Permissions(plugin string) (granted, denied []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.permissionsLocked(plugin)
}

func (g *Gate) permissionsLocked(plugin string) (granted, denied []string) {
	granted, denied = []string{}, []string{}
	said := map[string]Effect{}
	if a, ok := g.approvals[plugin]; ok && a.Effect == Allow {
		for _, p := range approvable(a.Permissions) {
			said[p] = Allow
		}
	}
	g.rulesLocked()
	for _, rule := range g.ofPlugin[plugin] {
		if !IsPermission(rule.Permission) {
			continue
		}
		if _, ok := rule.host(); ok { // a host that is allowed opens the way out, which asks for others
			if rule.Effect == Allow && said[rule.Permission] == "" {
				said[rule.Permission] = Allow
			}
			continue
		}
		if _, ok := rule.program(); ok {
			if rule.Effect == Allow && said[rule.Permission] == "" {
				said[rule.Permission] = Allow
			}
			continue
		}
		if rule.opened() { // opens no sandbox
			continue
		}
		_, folder := rule.folder()
		if folder && !g.byItselfLocked(rule) { // nor does that
			continue
		}
		if rule.Permission != Filesystem || rule.Effect == Deny || folder {
			said[rule.Permission] = rule.Effect
		}
	}
	for p, effect := range said {
		switch effect {
		case Allow:
			granted = append(granted, p)
		case Deny:
			denied = append(denied, p)
		}
	}
	slices.Sort(granted)
	slices.Sort(denied)
	return granted, denied
}

// Sentence returns a rule as a sentence without its full stop: “Notes may run
// write_note, when I ask, until Conclave quits”.
func Sentence(g Rule, pluginName string) string {
	if g.Origin != nil {
		return g.vouchSentence()
	}
	name := cmp.Or(pluginName, g.Plugin)
	if g.Permission != "" {
		if sentence, ok := g.openingSentence(name); ok {
			return sentence
		}
		if f, ok := g.folder(); ok {
			return name + " may " + f.Sentence()
		}
		if l, ok := g.secret(); ok {
			return name + " " + l.sentence()
		}
		if command, folder, ok := g.command(); ok {
			may := map[Effect]string{
				Allow: " may start “", Ask: " has to ask each time before it starts “", Deny: " may not start “",
			}[g.Effect]
			return name + may + plain(command) + "” in " + folder + strings.TrimSuffix(", "+g.holds(), ", always")
		}
		if path, ok := g.program(); ok && g.Effect == Allow {
			return name + " may start " + path
		}
		if host, ok := g.host(); ok {
			return name + map[Effect]string{
				Allow: " may connect to ", Ask: " has to ask each time before it connects to ",
				Deny: " may not connect to ",
			}[g.Effect] + host + strings.TrimSuffix(", "+g.holds(), ", always")
		}
		if g.Effect == Allow {
			return name + " has the permission " + g.Permission
		}
		return name + " does not have the permission " + g.Permission
	}
	what := g.Tool
	if what == "*" {
		what = "any of its tools"
	}
	if len(g.Match) > 0 {
		what += ", " + Sentences(g.Match)
	}
	until := ", " + g.holds()
	if left := g.MaxUses - g.Uses; g.MaxUses > 0 {
		until += fmt.Sprintf(", %d more times", max(left, 0))
		if left == 1 {
			until = strings.TrimSuffix(until, "s")
		}
	}
	if !g.Expires.IsZero() {
		until += ", until " + g.Expires.Local().Format("January 2, 2006 15:04")
	}
	if who := g.when(); who != "" {
		what += ", " + who
	}
	switch g.Effect {
	case Deny:
		if g.Scope == Always {
			return name + " may never run " + what + strings.TrimPrefix(until, ", always")
		}
		return name + " may not run " + what + until
	case Ask:
		return name + " has to ask each time before it runs " + what + strings.TrimPrefix(until, ", always")
	}
	if len(g.Origins) > 0 {
		until += ", in spite of " + OriginWords(g.Origins)
	}
	return name + " may run " + what + until
}

// when says whose calls a rule about calls is about: “when I ask”; empty is everybody's.
func (g Rule) when() string {
	var who []string
	for _, c := range g.Callers {
		switch kind, id, _ := strings.Cut(string(c), ":"); {
		case kind == "main":
			who = append(who, "when I ask")
		case kind == "person":
			who = append(who, "when I run it myself")
		case kind == "member" && id == "*":
			who = append(who, "when council members ask")
		case kind == "member":
			who = append(who, "when "+cmp.Or(g.CallerName, id)+" asks in the council")
		case kind == "plugin":
			who = append(who, "when the plugin "+id+" asks")
		case kind == "http" && id == "":
			who = append(who, "when a program asks")
		case kind == "http":
			who = append(who, "when the program "+shownName(id)+" asks")
		default:
			who = append(who, "when "+string(c)+" asks")
		}
	}
	return listed(who)
}

// holds says where and how long a rule holds.
func (g Rule) holds() string {
	switch g.Scope {
	case ThisAnswer:
		return "for one answer"
	case ThisChat:
		return "in one chat"
	case ThisProject:
		return "in chats of the project " + g.Project
	case UntilQuit:
		return "until Conclave quits"
	case Always:
		return "always"
	}
	return "once"
}
