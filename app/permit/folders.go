package permit

import (
	"context"
	"maps"
	"slices"
	"strings"

	"conclave/app/fault"
	"conclave/app/place"
)

// The permissions that open the sandbox of a plugin's process. They are louder
// than others: approving a plugin that asks for one does not grant it. What each
// opens is in app/plugin/start.go, for plugins of every kind.
const (
	Network    = "network"
	Programs   = "programs"
	Filesystem = "filesystem"
)

var sandboxPermissions = []string{Network, Programs, Filesystem}

// IsWall reports whether a permission opens the sandbox of a plugin's process.
func IsWall(permission string) bool { return slices.Contains(sandboxPermissions, permission) }

// Web is the permission of plugins for which Conclave itself makes requests to the web. Of
// hosts, it has the rules that Network has.
const Web = "cors_proxy"

// AboutHosts reports whether rules of a permission may be about hosts.
func AboutHosts(permission string) bool { return permission == Network || permission == Web }

// localNetwork is granted by its own command alone: no manifest asks for it, and no
// yes to a plugin includes it.
const localNetwork = "local_network"

// ManualOnly reports whether a person grants the permission by itself only, never by
// approving a plugin that asks for it.
func ManualOnly(permission string) bool {
	return IsWall(permission) || permission == localNetwork
}

// IsPermission reports whether there is a permission of that name.
func IsPermission(permission string) bool {
	_, known := permissionWords[permission]
	return known
}

// Requestable returns those of permissions that exist and that a plugin may ask for,
// each once. So a name that a plugin's author invented never becomes a permission.
func Requestable(permissions []string) []string {
	out := []string{}
	for _, p := range permissions {
		if IsPermission(p) && p != localNetwork && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// approvable returns what of permissions an approval grants.
func approvable(permissions []string) []string {
	return slices.DeleteFunc(Requestable(permissions), ManualOnly)
}

// Folder is a folder or a file outside of a plugin's own that the plugin may access.
type Folder struct {
	Path  string `json:"path"` // absolute, without links
	Write bool   `json:"write"`
	// the setting of the plugin's that named it; empty when it was granted by itself
	Setting string `json:"setting,omitempty"`
}

// Sentence says what a plugin may do there: “read files in /home/me/Notes”.
func (f Folder) Sentence() string {
	if f.Write {
		return "read and write files in " + f.Path
	}
	return "read files in " + f.Path
}

// settingNote begins the note of a rule that a setting made.
const settingNote = "setting:"

// folder returns the folder that a rule is about.
func (g Rule) folder() (Folder, bool) {
	path, write, ok := g.place()
	return Folder{Path: path, Write: write, Setting: strings.TrimPrefix(g.Note, settingNote)}, ok && g.Effect == Allow
}

// Folders returns the folders and files that the plugin's process opens by itself, since the
// person let the plugin access them, sorted by path. See Opened for others.
func (r *Reach) Folders(plugin string) []Folder {
	defer r.decisions.unlock()
	return r.decisions.lock().folders(plugin)
}

// cuts reports whether a rule about files refuses or asks about some of what another one allows.
func (g *Rule) cuts(allowed *Rule) bool {
	at, write, ok := g.place()
	in, writes, also := allowed.place()
	return ok && also && (writes || !write) && (place.Holds(in, at) || place.Holds(at, in))
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
			return fault.New(fault.Invalid, "permit.folder",
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
	grantable := r.GrantablePath
	if f.Setting == "" {
		grantable = func(path string) (string, error) { return r.GrantableByHand(path, f.Write) }
	}
	path, err := grantable(f.Path)
	if err != nil {
		return Folder{}, err
	}
	f.Path = path
	access, note := "read", ""
	if f.Write {
		access = "write"
	}
	if f.Setting != "" {
		note = settingNote + f.Setting
	}
	rule := Rule{
		Effect: Allow, Plugin: plugin, Permission: Filesystem, Scope: Always, Note: note,
		Match: []Match{{Field: "path", Op: PathUnder, Value: path}, {Field: "access", Op: Equals, Value: access}},
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
		return fault.New(fault.NotFound, "permit.folder", plugin+" was not given "+path+".",
			"conclave plugins show "+plugin+" lists what it was given.")
	}
	return r.dropFolders(ctx, plugin, func(f Folder) bool { return f.Path == path })
}

// SetFolders grants read access to the folders that a plugin's settings name, and
// revokes it for those that they no longer name. Paths must come from GrantablePath.
func (r *Reach) SetFolders(ctx context.Context, plugin string, named []Folder) error {
	if err := r.dropFolders(ctx, plugin,
		func(old Folder) bool { return old.Setting != "" && !slices.Contains(named, old) }); err != nil {
		return err
	}
	here := r.settingFolders(plugin)
	for _, f := range named {
		if slices.Contains(here, f) {
			continue
		}
		if _, err := r.GrantFolder(ctx, plugin, f); err != nil {
			return err
		}
	}
	return nil
}

// settingFolders returns what the plugin was given because a setting names it.
func (r *Reach) settingFolders(plugin string) []Folder {
	var found []Folder
	for _, rule := range r.rules.permissionRules(plugin) {
		if f, ok := rule.folder(); ok && f.Setting != "" {
			found = append(found, f)
		}
	}
	return found
}

// dropFolders revokes the rules of folders that which reports.
func (r *Reach) dropFolders(ctx context.Context, plugin string, which func(Folder) bool) error {
	_, err := r.rules.revokeWhere(ctx, plugin, ofFolders(which))
	return err
}

// ofFolders reports the rules of the folders that which reports.
func ofFolders(which func(Folder) bool) func(*Rule) bool {
	return func(rule *Rule) bool {
		path, write, ok := rule.place() // what was said of files as a whole has none
		return rule.Permission == Filesystem &&
			(!ok || which(Folder{Path: path, Write: write, Setting: strings.TrimPrefix(rule.Note, settingNote)}))
	}
}

// Usable returns the error of granting a plugin a permission that does not exist, or that can do
// nothing for it, so that nothing is shown as granted that is not. The kind is invalid.
func (r *Reach) Usable(plugin, permission string) error {
	if !IsPermission(permission) {
		return fault.New(fault.Invalid, "permit.permission", "There is no permission "+shown(permission)+".",
			"There are: "+strings.Join(slices.Sorted(maps.Keys(permissionWords)), ", ")+".")
	}
	sealed := r.approvals.version(plugin).Sealed
	if sealed.Why == "" || !IsWall(permission) {
		return nil
	}
	return fault.New(fault.Invalid, "permit.permission",
		"The permission "+permission+" would do nothing for "+plugin+": "+sealed.Why+".", sealed.Instead[permission])
}

// shown is a name that somebody invented, as a sentence may hold it.
func shown(name string) string {
	short := []rune(strings.ToValidUTF8(name, "\uFFFD"))
	for i, r := range short {
		if r < ' ' || r > '~' {
			short[i] = '?'
		}
	}
	return "“" + string(short[:min(len(short), 64)]) + "”"
}
