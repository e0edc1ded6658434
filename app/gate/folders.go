package gate

import (
	"context"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/place"
)

// Folders returns the folders and files that the plugin's process opens by itself, since the
// person let the plugin access them, sorted by path. See Opened for others.
func (r *Reach) Folders(plugin string) []Folder {
	defer r.decisions.unlock()
	return r.decisions.lock().folders(plugin)
}

// refusedWhole returns the error of granting a folder that lies in one which the person refuses,
// and by another rule than those that the grant replaces: it would do nothing.
func (r *Reach) refusedWhole(granted Rule, replaces func(*Rule) bool) error {
	path, _, _ := granted.place()
	f := r.decisions.lock()
	defer r.decisions.unlock()
	for _, rule := range f.book.about(granted.Plugin) {
		if at, _, _ := rule.place(); rule.Effect == Deny && rule.stays() && rule.cuts(&granted) &&
			place.Inside(at, path) && !replaces(rule) {
			return fault.New(fault.Invalid, "gate.folder",
				"A rule of yours refuses "+plain(path)+": "+Sentence(*rule, f.pluginName(rule.Plugin))+".",
				"Take that rule back first, in Settings, Permissions, or with conclave permissions revoke "+rule.ID+".")
		}
	}
	return nil
}

// GrantFolder lets a plugin access a folder or a file, in place of what was granted
// for it before. The path may begin with ~/. It returns the folder with its real path,
// links resolved. The error is a fault of kind invalid for one that no plugin may
// access, or that a rule of the person's refuses.
func (r *Reach) GrantFolder(ctx context.Context, plugin string, f Folder) (Folder, error) {
	if err := r.Usable(plugin, Filesystem); err != nil {
		return Folder{}, err
	}
	path, err := r.places.grantable(f.Path, f.Setting == "" && !f.Write)
	if err != nil {
		return Folder{}, err
	}
	f.Path = path
	note := ""
	if f.Setting != "" {
		note = settingNote + f.Setting
	}
	rule := Rule{
		Effect: Allow, Plugin: plugin, Permission: Filesystem, Scope: Always, Note: note,
		Match: []Match{
			{Field: pathField, Op: PathUnder, Value: path}, {Field: accessField, Op: Equals, Value: access(f.Write)},
		},
	}
	replaces := ofFolders(func(old Folder) bool {
		return old.Path == path && (old.Setting == f.Setting || f.Setting == "")
	})
	if err := r.refusedWhole(rule, replaces); err != nil {
		return Folder{}, err
	}
	return f, r.rules.replace(ctx, rule, replaces)
}

// RevokeFolder revokes a plugin's access to a folder or file. The kind is not_found
// when it has none.
func (r *Reach) RevokeFolder(ctx context.Context, plugin, path string) error {
	path = place.Real(r.places.expand(path))
	if !slices.ContainsFunc(slices.Concat(r.Folders(plugin), r.Opened(plugin)),
		func(f Folder) bool { return f.Path == path }) {
		return notGiven(plugin, path)
	}
	_, err := r.rules.revokeWhere(ctx, plugin, ofFolders(func(f Folder) bool { return f.Path == path }))
	return err
}

// SetFolders grants read access to the folders that a plugin's settings name, and
// revokes it for those that they no longer name. Paths must come from GrantablePath.
func (r *Reach) SetFolders(ctx context.Context, plugin string, named []Folder) error {
	if _, err := r.rules.revokeWhere(ctx, plugin, ofFolders(func(old Folder) bool {
		return old.Setting != "" && !slices.Contains(named, old)
	})); err != nil {
		return err
	}
	rules := r.rules.permissionRules(plugin)
	for _, f := range named {
		if slices.ContainsFunc(rules, func(rule Rule) bool { there, ok := rule.folder(); return ok && there == f }) {
			continue
		}
		if _, err := r.GrantFolder(ctx, plugin, f); err != nil {
			return err
		}
	}
	return nil
}

// ofFolders reports the rules of the folders that which reports.
func ofFolders(which func(Folder) bool) func(*Rule) bool {
	return func(rule *Rule) bool {
		path, write, ok := rule.place() // what was said of files as a whole has none
		return rule.Permission == Filesystem &&
			(!ok || which(Folder{Path: path, Write: write, Setting: strings.TrimPrefix(rule.Note, settingNote)}))
	}
}
