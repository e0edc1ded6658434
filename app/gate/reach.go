package gate

import (
	"context"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/tool"
)

// Reach grants and revokes the permissions of a plugin, and the folders, hosts, programs and secrets
// that it may use. All of them are [Rules], or follow from the approval of the plugin.
type Reach struct {
	*shared
	decisions *Decisions
	approvals *Approvals
	rules     *Rules
}

// SetPermission grants or denies a plugin one of the permissions it asks for, in place
// of what was set before. Effect Ask unsets it.
func (r *Reach) SetPermission(ctx context.Context, plugin, permission string, effect Effect) error {
	if permission == "" {
		return fault.New(fault.Invalid, "gate.permission", "No permission was named.",
			"conclave plugins show "+plugin+" lists what it asks for.")
	}
	if effect == Allow {
		if err := r.Usable(plugin, permission); err != nil {
			return err
		}
		if permission == Filesystem {
			return fault.New(fault.Invalid, "gate.permission", "Files are granted folder by folder, and no folder was named.",
				"conclave plugins grant "+plugin+" filesystem --match path=FOLDER lets it read there; with --match access=write "+
					"it may write too.")
		}
	}
	was := func(rule *Rule) bool {
		return rule.Permission == permission && (effect != Allow || rule.Effect != Deny || len(rule.Match) == 0)
	}
	if effect == Ask || !IsPermission(permission) {
		_, err := r.rules.revokeWhere(ctx, plugin, was)
		return err
	}
	return r.rules.replace(ctx, Rule{Effect: effect, Plugin: plugin, Permission: permission, Scope: Always}, was)
}

// Permissions returns the permissions that the person granted and denied the plugin,
// sorted. Approving a plugin grants those that its card showed, each of which can be
// revoked, except those that open the sandbox: a person grants each of these by
// itself.
func (r *Reach) Permissions(plugin string) (granted, denied []string) {
	defer r.decisions.unlock()
	return r.decisions.lock().permissions(plugin)
}

// Can returns what calls of a tool can do, as a person reads it; none where that is not
// known.
func (r *Reach) Can(t tool.Tool) []string {
	all, why := r.capabilities(t)
	return why.Labels(all)
}

// Capabilities returns what calls of a tool can do; none where that is not known.
func (r *Reach) Capabilities(t tool.Tool) []Capability {
	all, _ := r.capabilities(t)
	return all
}

func (r *Reach) capabilities(t tool.Tool) ([]Capability, Inferred) {
	f := r.decisions.lock()
	defer r.decisions.unlock()
	if t.Plugin == BuiltIn || f.known[t.Plugin].Plugin == "" {
		return nil, nil
	}
	return f.ofTool(t, f.able(t.Plugin))
}

// GrantablePath returns the real path of a folder or file that a plugin may be given
// access to; path is as a person writes it. The error is a fault: kind not_found when
// it does not exist, invalid, with the reason, when no plugin may access it.
func (r *Reach) GrantablePath(path string) (string, error) { return r.places.grantable(path, false) }

// GrantableByHand is GrantablePath of a path that a person names to grant it by itself: of their home
// it may be hidden then, if it is to be read alone. What is hidden starts programs as they like when
// it is written.
func (r *Reach) GrantableByHand(path string, write bool) (string, error) {
	return r.places.grantable(path, !write)
}

// Usable returns the error of granting a plugin a permission that does not exist, or that can do
// nothing for it, so that nothing is shown as granted that is not. The kind is invalid.
func (r *Reach) Usable(plugin, permission string) error {
	if !IsPermission(permission) {
		return fault.New(fault.Invalid, "gate.permission", "There is no permission "+shown(permission)+".",
			"There are: "+strings.Join(AllPermissions(), ", ")+".")
	}
	sealed := r.approvals.version(plugin).Sealed
	if sealed.Why == "" || !IsWall(permission) {
		return nil
	}
	return fault.New(fault.Invalid, "gate.permission",
		"The permission "+permission+" would do nothing for "+plugin+": "+sealed.Why+".", sealed.Instead[permission])
}

// grantSingle lets a plugin use a permission for one thing, in place of all of them.
func (r *Reach) grantSingle(ctx context.Context, plugin, permission, field, value string) error {
	return r.rules.replace(ctx, Rule{
		Effect: Allow, Plugin: plugin, Permission: permission, Scope: Always,
		Match: []Match{{Field: field, Op: Equals, Value: value}},
	}, func(old *Rule) bool {
		m, single := old.single(old.Permission == permission, field)
		return old.Permission == permission && (!single || m.Value == value)
	})
}

// revokeSingle takes back what grantSingle granted. The kind is not_found when the plugin was not given it.
func (r *Reach) revokeSingle(ctx context.Context, plugin, permission, field, value string) error {
	gone, err := r.rules.revokeWhere(ctx, plugin, func(old *Rule) bool {
		m, single := old.single(old.Permission == permission, field)
		return single && m.Value == value
	})
	if err == nil && len(gone) == 0 {
		return notGiven(plugin, "the "+field+" "+value)
	}
	return err
}

// notGiven is the error of taking back what a plugin was not given.
func notGiven(plugin, what string) error {
	return fault.New(fault.NotFound, "gate.revoke", plugin+" was not given "+what+".",
		"conclave plugins show "+plugin+" lists what it was given.")
}

// Single returns the rules about single hosts that a plugin may or may not connect to, and about the
// single ports on which it may or may not listen.
func (r *Reach) Single(plugin string) (hosts, ports []Rule) {
	for _, rule := range r.rules.permissionRules(plugin) {
		if _, ok := rule.host(); ok {
			hosts = append(hosts, rule)
		}
		if _, ok := rule.port(); ok {
			ports = append(ports, rule)
		}
	}
	return hosts, ports
}
