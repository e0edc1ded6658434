package permit

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"conclave/app/fault"
)

// Grants returns the remembered answers of every scope, oldest first.
func (g *Gate) Grants(ctx context.Context) ([]Grant, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	grants := make([]Grant, 0, len(g.grants))
	for _, grant := range g.grants {
		if grant.Expires.IsZero() || now.Before(grant.Expires) {
			grants = append(grants, *grant)
		}
	}
	slices.SortStableFunc(grants, func(a, b Grant) int { return a.Made.Compare(b.Made) })
	return grants, nil
}

// Add remembers a grant as it is given, with a new ID and Made where those are
// empty, and settles what it decides among the requests that wait. One that
// outlives the program is written first; when that fails it holds until Conclave
// quits, and the error says so.
func (g *Gate) Add(ctx context.Context, grant Grant) (Grant, error) {
	if grant.ID == "" {
		grant.ID = newID("grant")
	}
	if grant.Made.IsZero() {
		grant.Made = g.o.Now()
	}
	var failed error
	if g.o.Store != nil && grant.outlives() {
		if err := g.o.Store.PutGrant(ctx, grant); err != nil {
			f := fault.Of(err)
			failed = fault.Wrap(f.Kind, "permit.add",
				"The permission holds until Conclave quits, but it could not be kept for longer: "+f.Message, f.Hint, err)
			grant.Scope = UntilQuit
		}
	}
	g.mu.Lock()
	g.grants = append(g.grants, &grant)
	kept := grant
	g.mu.Unlock()
	g.regranted(kept)
	return kept, failed
}

// outlives reports whether the grant holds after a restart. A chat does, so its
// grants do.
func (g Grant) outlives() bool { return g.Scope == Always || g.Scope == ThisChat }

// Revoke forgets a grant and returns it, so that Add can take that back. The
// kind is not_found when there is none.
func (g *Gate) Revoke(ctx context.Context, id string) (Grant, error) {
	g.mu.Lock()
	i := slices.IndexFunc(g.grants, func(grant *Grant) bool { return grant.ID == id })
	var grant Grant
	if i >= 0 {
		grant = *g.grants[i]
	}
	g.mu.Unlock()
	if i < 0 {
		return Grant{}, fault.New(fault.NotFound, "permit.revoke", "There is no rule "+id+".",
			"conclave permissions list shows what there is.")
	}
	if g.o.Store != nil && grant.outlives() {
		if err := g.o.Store.DeleteGrant(ctx, id); err != nil {
			return Grant{}, err
		}
	}
	g.mu.Lock()
	g.grants = slices.DeleteFunc(g.grants, func(grant *Grant) bool { return grant.ID == id })
	g.mu.Unlock()
	g.regranted(grant)
	return grant, nil
}

// regranted puts in force that a grant came or went.
func (g *Gate) regranted(grant Grant) {
	g.recheckWaiting()
	if grant.Permission != "" {
		g.notifyPlugin(grant.Plugin)
	}
}

// revokeAll revokes the grants of a plugin that which reports, and returns them.
func (g *Gate) revokeAll(ctx context.Context, plugin string, which func(*Grant) bool) ([]Grant, error) {
	g.mu.Lock()
	var found []string
	for _, grant := range g.grants {
		if grant.Plugin == plugin && which(grant) {
			found = append(found, grant.ID)
		}
	}
	g.mu.Unlock()
	var revoked []Grant
	for _, id := range found {
		grant, err := g.Revoke(ctx, id)
		if err != nil {
			return revoked, err
		}
		revoked = append(revoked, grant)
	}
	return revoked, nil
}

// SetPermission grants or denies a plugin one of the permissions it asks for, in
// place of what was said before. Effect Ask forgets what was said.
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
	_, err := g.revokeAll(ctx, plugin, func(grant *Grant) bool { return grant.Permission == permission })
	if err != nil || effect == Ask || !Known(permission) {
		return err
	}
	_, err = g.Add(ctx, Grant{Effect: effect, Plugin: plugin, Permission: permission, Scope: Always})
	return err
}

// Permissions returns what the person granted and denied the plugin, sorted.
// Approving a plugin grants the permissions that its card showed, one by one
// revocable, but for those that open its walls: each of them is a yes of its own.
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
	for _, grant := range g.grants {
		if grant.Plugin != plugin || !Known(grant.Permission) {
			continue
		}
		if _, folder := grant.folder(); grant.Permission != Filesystem || grant.Effect == Deny || folder {
			said[grant.Permission] = grant.Effect
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

// Sentence shows a grant back as one sentence, without its full stop: “Notes may
// run write_note, when I ask, until Conclave quits”.
func Sentence(g Grant, pluginName string) string {
	name := cmp.Or(pluginName, g.Plugin)
	if g.Permission != "" {
		if f, ok := g.folder(); ok {
			return name + " may " + f.Sentence()
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
	until := ", " + grantScope(g.Scope)
	switch g.Effect {
	case Deny:
		if g.Scope == Always {
			return name + " may never run " + what
		}
		return name + " may not run " + what + until
	case Ask:
		return name + " has to ask each time before it runs " + what
	}
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
			who = append(who, "when "+id+" asks in the council")
		default:
			who = append(who, "when "+string(c)+" asks")
		}
	}
	sentence := name + " may run " + what
	if len(who) > 0 {
		sentence += ", " + listed(who)
	}
	return sentence + until
}

func grantScope(s Scope) string {
	switch s {
	case ThisAnswer:
		return "for one answer"
	case ThisChat:
		return "in one chat"
	case UntilQuit:
		return "until Conclave quits"
	case Always:
		return "always"
	}
	return "once"
}
