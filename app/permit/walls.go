package permit

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/fault"
)

// The permissions that open the walls around a plugin's process. They are louder
// than others: approving a plugin that asks for one does not grant it. What each
// opens is in app/plugin/place.go, for plugins of every kind.
const (
	Network    = "network"
	Programs   = "programs"
	Filesystem = "filesystem"
)

var walls = []string{Network, Programs, Filesystem}

// IsWall reports whether a permission opens the walls around a process.
func IsWall(permission string) bool { return slices.Contains(walls, permission) }

// localNetwork is granted by its own command alone: no manifest asks for it, and no
// yes to a plugin includes it.
const localNetwork = "local_network"

// ManualOnly reports whether a permission is granted by a yes of its own, never by
// approving the plugin that asks for it.
func ManualOnly(permission string) bool {
	return IsWall(permission) || permission == localNetwork
}

// Known reports whether there is a permission of that name that does something
// here.
func Known(permission string) bool {
	_, known := permissionWords[permission]
	return known
}

// Requestable returns what of permissions a plugin may ask for: those that there are,
// each once. Text that its maker invented never becomes a permission.
func Requestable(permissions []string) []string {
	out := []string{}
	for _, p := range permissions {
		if Known(p) && p != localNetwork && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// approvable returns what of permissions an approval grants.
func approvable(permissions []string) []string {
	return slices.DeleteFunc(Requestable(permissions), ManualOnly)
}

// Match is one condition of a grant: Op is how the field of what is asked compares
// with Value.
type Match struct {
	Field string `json:"field"` // path, access
	Op    string `json:"op"`    // path-under, equals
	Value string `json:"value"`
}

// Folder is a folder, or a file, outside of its own that a plugin may reach.
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

// settingNote begins the note of a grant that a setting made.
const settingNote = "setting:"

// folder returns the folder that a grant is about.
func (g Grant) folder() (Folder, bool) {
	if g.Permission != Filesystem || g.Effect != Allow {
		return Folder{}, false
	}
	f := Folder{Setting: strings.TrimPrefix(g.Note, settingNote)}
	for _, m := range g.Match {
		switch m.Field {
		case "path":
			f.Path = m.Value
		case "access":
			f.Write = m.Value == "write"
		}
	}
	return f, f.Path != ""
}

// Folders returns the folders and files that the person let the plugin reach,
// sorted by path.
func (g *Gate) Folders(plugin string) []Folder {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.foldersLocked(plugin)
}

func (g *Gate) foldersLocked(plugin string) []Folder {
	found := map[string]Folder{}
	for _, grant := range g.grants {
		f, ok := grant.folder()
		if !ok || grant.Plugin != plugin {
			continue
		}
		if before, twice := found[f.Path]; twice {
			f.Write = f.Write || before.Write
			if before.Setting == "" {
				f.Setting = ""
			}
		}
		found[f.Path] = f
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
}

// GrantFolder lets a plugin reach a folder or a file, in place of what was said of
// it before. The path may begin with ~/. It returns the folder as it is kept: the
// real one, links resolved. The error is a fault of kind invalid for one that no
// plugin may be given.
func (g *Gate) GrantFolder(ctx context.Context, plugin string, f Folder) (Folder, error) {
	if err := g.usable(plugin, Filesystem); err != nil {
		return Folder{}, err
	}
	path, err := g.Reachable(f.Path)
	if err != nil {
		return Folder{}, err
	}
	f.Path = path
	if err := g.dropFolders(ctx, plugin,
		func(old Folder) bool { return old.Path == path && (old.Setting == f.Setting || f.Setting == "") }); err != nil {
		return Folder{}, err
	}
	access, note := "read", ""
	if f.Write {
		access = "write"
	}
	if f.Setting != "" {
		note = settingNote + f.Setting
	}
	_, err = g.Add(ctx, Grant{
		Effect: Allow, Plugin: plugin, Permission: Filesystem, Scope: Always, Note: note,
		Match: []Match{{"path", "path-under", path}, {"access", "equals", access}},
	})
	return f, err
}

// RevokeFolder takes a folder or file back from a plugin. The kind is not_found
// when it does not have it.
func (g *Gate) RevokeFolder(ctx context.Context, plugin, path string) error {
	path = resolved(g.expand(path))
	if !slices.ContainsFunc(g.Folders(plugin), func(f Folder) bool { return f.Path == path }) {
		return fault.New(fault.NotFound, "permit.folder", plugin+" was not given "+path+".",
			"conclave plugins show "+plugin+" lists what it was given.")
	}
	return g.dropFolders(ctx, plugin, func(f Folder) bool { return f.Path == path })
}

// SetFolders makes the folders that the plugin's settings name the ones it may read
// for their sake: those of before that are no longer named are taken back. Paths
// must be what Reachable returned.
func (g *Gate) SetFolders(ctx context.Context, plugin string, named []Folder) error {
	if err := g.dropFolders(ctx, plugin,
		func(old Folder) bool { return old.Setting != "" && !slices.Contains(named, old) }); err != nil {
		return err
	}
	here := g.settingFolders(plugin)
	for _, f := range named {
		if slices.Contains(here, f) {
			continue
		}
		if _, err := g.GrantFolder(ctx, plugin, f); err != nil {
			return err
		}
	}
	return nil
}

// settingFolders returns what the plugin was given because a setting names it.
func (g *Gate) settingFolders(plugin string) []Folder {
	g.mu.Lock()
	defer g.mu.Unlock()
	var found []Folder
	for _, grant := range g.grants {
		if f, ok := grant.folder(); ok && grant.Plugin == plugin && f.Setting != "" {
			found = append(found, f)
		}
	}
	return found
}

// dropFolders revokes the grants of folders that which reports.
func (g *Gate) dropFolders(ctx context.Context, plugin string, which func(Folder) bool) error {
	_, err := g.revokeAll(ctx, plugin, func(grant *Grant) bool {
		f, folder := grant.folder() // what was said of files as a whole has none
		return grant.Permission == Filesystem && (!folder || which(f))
	})
	return err
}

// usable reports a permission that there is not, or that can do nothing for the
// plugin, so that nothing is shown as granted that is not.
func (g *Gate) usable(plugin, permission string) error {
	if !Known(permission) {
		return fault.New(fault.Invalid, "permit.permission", "There is no permission "+shown(permission)+".",
			"There are: "+strings.Join(slices.Sorted(maps.Keys(permissionWords)), ", ")+".")
	}
	g.mu.Lock()
	sealed := g.known[plugin].Sealed
	g.mu.Unlock()
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

// expand makes a path that begins with ~ absolute.
func (g *Gate) expand(path string) string {
	switch {
	case g.home == "":
	case path == "~":
		return g.home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(g.home, path[2:])
	}
	return path
}
