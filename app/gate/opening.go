package gate

import (
	"context"
	"path/filepath"
	"slices"

	"conclave/app/base/place"
)

// Opening is a file or folder outside of a plugin's own that its process wants to open.
type Opening struct {
	Plugin string
	Path   string // absolute, links resolved; the last part may not exist yet
	Write  bool
	Remove bool   // it is to be deleted, which is asked about each time; with Write
	Behalf Call   // the call that the plugin is working on, as far as that is known
	Within []Call // all that it works on: the file may be for any of them
}

// Open decides about a file that a plugin's process wants to open and that its sandbox
// does not let it open. It may ask. at is the folder or file that this is about; empty for
// a path that no plugin is given, about which nobody is asked.
func (g *Gate) Open(ctx context.Context, o Opening) (d Decision, at string) {
	if g.Reach.Usable(o.Plugin, Filesystem) != nil {
		return Decision{}, ""
	}
	at, file, ok := g.Reach.places.askedPlace(o.Path)
	if !ok {
		return Decision{}, ""
	}
	wants, capabilities := access(o.Write), []Capability{ReadFiles}
	if o.Write {
		capabilities = append(capabilities, WriteFiles)
	}
	if o.Remove {
		wants, capabilities = accessDelete, append(capabilities, Delete)
	}
	call := use(o.Plugin, Filesystem, openingArguments{at, file, wants}, o.Behalf, capabilities...)
	call.within, call.Taint = append(slices.Clone(o.Within), o.Behalf), o.Behalf.Taint
	return g.Decide(ctx, call).asAsked(), at
}

// OpensUnasked reports whether the sandbox of a plugin may be opened for a file or folder that nobody granted, since
// its program lies there or its configuration names it: not for a place that no plugin is given, for one that holds
// such a place, or for one that a rule refuses or asks about, also in part. path is absolute, with its links resolved.
func (r *Reach) OpensUnasked(plugin, path string) bool {
	if !filepath.IsAbs(path) || slices.ContainsFunc(r.places.apart(), func(kept string) bool {
		return place.Inside(kept, path) || place.Inside(path, kept)
	}) {
		return false
	}
	named := Rule{
		Effect: Allow, Plugin: plugin, Permission: Filesystem,
		Match: []Match{
			{Field: pathField, Op: PathUnder, Value: path}, {Field: accessField, Op: Equals, Value: access(false)},
		},
	}
	defer r.decisions.unlock()
	return r.decisions.lock().byItself(&named)
}

// Opened returns the folders and files that Conclave opens for the plugin when it asks
// for them, for as long as Conclave runs or always, sorted by path. They are none of
// Folders: its process cannot open them by itself. Among them are folders that were granted by
// hand while another rule refuses part of them, or asks about it.
func (r *Reach) Opened(plugin string) []Folder {
	f := r.decisions.lock()
	defer r.decisions.unlock()
	return f.foldersThat(plugin, func(rule *Rule) bool { return !f.byItself(rule) && rule.stays() })
}

// Writes reports whether a plugin may change what lies at a path, in a folder or as a file that
// the person lets it write, in any chat.
func (r *Reach) Writes(plugin, path string) bool {
	return slices.ContainsFunc(r.rules.permissionRules(plugin), func(rule Rule) bool {
		at, write, ok := rule.place()
		return ok && write && rule.Effect == Allow && place.Inside(at, path)
	})
}
