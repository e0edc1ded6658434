package gate

import (
	"context"
	"slices"
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
	return path, r.grantSingle(ctx, plugin, Programs, programField, path)
}

// RevokeProgram takes a program back. The kind is not_found when the plugin was not given it.
func (r *Reach) RevokeProgram(ctx context.Context, plugin, program string) error {
	path, err := r.places.programFile(program)
	if err != nil {
		path = program // it was removed meanwhile
	}
	return r.revokeSingle(ctx, plugin, Programs, programField, path)
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
