package gate

import (
	"context"
	"slices"

	"conclave/app/base/fault"
)

// AllowProgram lets a plugin start one program, a name on the person's PATH or an absolute
// path, and returns its file, links resolved. It is the permission programs for that file
// alone, in place of one for all of them. What the program is started with is the plugin's
// business: the sandbox holds the file, and sees no arguments.
func (r *Reach) AllowProgram(ctx context.Context, plugin, program string) (path string, err error) {
	if err := r.Usable(plugin, Programs); err != nil {
		return "", err
	}
	if path, err = r.places.programFile(program); err != nil {
		return "", err
	}
	return path, r.rules.replace(ctx, Rule{
		Effect: Allow, Plugin: plugin, Permission: Programs, Scope: Always,
		Match: []Match{{Field: programField, Op: Equals, Value: path}},
	}, func(old *Rule) bool {
		at, one := old.program()
		return old.Permission == Programs && (!one || at == path)
	})
}

// RevokeProgram takes a program back. The kind is not_found when the plugin was not given it.
func (r *Reach) RevokeProgram(ctx context.Context, plugin, program string) error {
	path, err := r.places.programFile(program)
	if err != nil {
		path = program // it was removed meanwhile
	}
	gone, err := r.rules.revokeWhere(ctx, plugin, func(old *Rule) bool {
		at, one := old.program()
		return one && at == path
	})
	if err == nil && len(gone) == 0 {
		return fault.New(fault.NotFound, "gate.program", plugin+" was not given the program "+path+".",
			"conclave plugins show "+plugin+" lists what it was given.")
	}
	return err
}

// Programs returns the files of the programs that a plugin may start, sorted, where it has
// the permission for these alone; nil where it has none, or that for all of them.
func (r *Reach) Programs(plugin string) []string {
	var all []string
	for _, rule := range r.rules.permissionRules(plugin) {
		path, one := rule.program()
		switch {
		case rule.Permission != Programs || rule.Effect != Allow:
		case !one:
			return nil
		default:
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
