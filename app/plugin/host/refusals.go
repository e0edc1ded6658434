package host

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"conclave/app/base/bus"
	"conclave/app/base/place"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// sentence returns what the plugin was refused, for a model and whoever reads the call.
func sentence(r plugin.Refusal, id string) string {
	what := map[string]string{
		gate.Network: "use the network", gate.Programs: "start other programs", gate.Listen: "listen on ports",
	}[r.Permission]
	switch {
	case r.Permission == gate.Filesystem && r.Write:
		what = "write files in " + r.Path
	case r.Permission == gate.Filesystem:
		what = "read files in " + r.Path
	case what == "":
		what = "do what needs the permission " + r.Permission
	}
	if r.Home {
		return "The plugin " + id + " has another home folder than the person, and looked there for " + r.Path +
			". The person can allow it to read that file in its menu, “What it may reach…”, or with " + r.Command(id)
	}
	return "The plugin " + id + " may not " + what + ". The person can allow it in its menu, “What it may reach…”, " +
		"or with " + r.Command(id)
}

// maxRefusals bounds what is kept of a plugin's refusals, maxReported what is read of those that it
// reports at once, and maxRefusedPath the bytes of a path.
const (
	maxRefusals    = 8
	maxReported    = 2 * maxRefusals
	maxRefusedPath = 512
)

// refusals holds what a plugin was refused since it was loaded, the newest last. It is safe for
// concurrent use.
type refusals struct {
	mu   sync.Mutex
	seen []plugin.Refusal
}

// all returns them.
func (r *refusals) all() []plugin.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// add notes what was refused and could be granted. usable are the refusals of the call: what a library
// tried while it was imported explains no answer. news reports that there is something for the card.
func (r *refusals) add(found []plugin.Refusal) (usable []plugin.Refusal, news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range found {
		if !gate.IsPermission(one.Permission) || (one.Permission == gate.Filesystem) != (one.Path != "") ||
			!showable(one.Path) {
			continue
		}
		one.Write = one.Write && one.Path != ""
		if !one.Loading {
			usable = append(usable, one)
		}
		one.Loading, one.Listing = false, false // nothing of the card's
		if !slices.Contains(r.seen, one) {
			r.seen, news = append(r.seen, one), true
		}
	}
	r.seen = r.seen[max(0, len(r.seen)-maxRefusals):]
	return usable, news
}

// refused notes for the plugin's card what it was refused and could be granted, and returns what of it
// explains the answer of a call.
func (e *entry) refused(found []plugin.Refusal) (usable []plugin.Refusal) {
	found = slices.Clone(found[:min(len(found), maxReported)])
	for i := range found {
		inHome(e.h.o.Gate, &found[i])
	}
	usable, news := e.refusals.add(found)
	if news {
		e.h.o.Bus.Changed(bus.Plugins, "")
	}
	return usable
}

// shownHome bounds how many files of a home folder a card names.
const shownHome = 3

// missingNotes are the sentences for a plugin's card about what its source will want and was not
// granted, as things are now.
func missingNotes(g *gate.Gate, id string, s plugin.Status) (notes []string) {
	for permission, without := range map[string]string{
		gate.Network:  "It may not use the network; what needs it will fail.",
		gate.Programs: "It may not start other programs; what needs them will fail.",
		gate.Listen:   "It may not listen on ports of this computer; what needs them will fail.",
	} {
		if permission == gate.Listen && slices.Contains(s.Granted, gate.Network) {
			continue // it is asked about each port
		}
		if slices.Contains(s.Wants, permission) && !slices.Contains(s.Granted, permission) {
			notes = append(notes, without+" To allow it: in its menu under “What it may reach…”, or "+
				plugin.Refusal{Permission: permission}.Command(id))
		}
	}
	slices.Sort(notes)
	if note := homeNote(g, id, s); note != "" {
		notes = append(notes, note)
	}
	return notes
}

// homeNote is the sentence for the card of a plugin whose source looks at a home folder, which is its
// own; empty where it names nothing that is there and was not granted.
func homeNote(g *gate.Gate, id string, s plugin.Status) string {
	whole := slices.Contains(s.Home, "~")
	paths := map[string]string{} // of those that are there and may be granted
	for _, name := range s.Home {
		if path, err := g.Reach.GrantableByHand(name, false); err == nil {
			paths[name] = path
		}
	}
	named := slices.DeleteFunc(slices.Sorted(maps.Keys(paths)), func(name string) bool {
		granted := func(f gate.Folder) bool { return place.Inside(f.Path, paths[name]) }
		within := func(other string) bool { return other != paths[name] && place.Inside(other, paths[name]) }
		return slices.ContainsFunc(s.Folders, granted) || slices.ContainsFunc(slices.Collect(maps.Values(paths)), within)
	})
	named = named[:min(len(named), shownHome)]
	switch {
	case len(named) > 0:
		return "Its source looks at your home folder (" + strings.Join(named, ", ") + "). When it " +
			"runs, it has another home folder, with only those files of yours that you let it read: " +
			plugin.Refusal{Permission: gate.Filesystem, Path: paths[named[0]]}.Command(id)
	case whole:
		return "Its source looks at your home folder. When it runs, it has another home folder, with only those files of " +
			"yours that you let it read: " + plugin.Refusal{Permission: gate.Filesystem, Path: "~/NAME"}.Command(id)
	}
	return ""
}

// inHome makes the path of a look at the plugin's own home folder that of the person's, if that has
// such a file which can be granted; else it is empty, and nobody learns whether there is one.
func inHome(g *gate.Gate, r *plugin.Refusal) {
	name, is := strings.CutPrefix(r.Path, "~/")
	if !is || r.Permission != gate.Filesystem {
		return
	}
	r.Path, r.Home, r.Write = "", true, false
	if path, err := g.Reach.GrantableByHand("~/"+name, false); err == nil {
		r.Path = path
	}
}

// ungranted returns refusals, and one for each path that a plugin's configuration names for it to work on,
// where these are there and can be granted. Which of them still stand, standing says.
func ungranted(g *gate.Gate, paths []string, refusals []plugin.Refusal) []plugin.Refusal {
	for _, path := range paths {
		real, err := g.Reach.GrantableByHand(path, false)
		one := plugin.Refusal{Permission: gate.Filesystem, Path: real}
		if err == nil && showable(real) && !slices.Contains(refusals, one) {
			refusals = append(refusals, one)
		}
	}
	return refusals
}

// showable reports whether a path, if any, is one that a person can read and judge.
func showable(path string) bool {
	if path == "" {
		return true
	}
	clean, hidden := tool.Strip(path)
	return len(path) <= maxRefusedPath && hidden == 0 && clean == path && filepath.IsAbs(path) &&
		filepath.Clean(path) == path &&
		strings.IndexFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// standing returns the refusals that still stand.
func standing(refusals []plugin.Refusal, granted []string, folders []gate.Folder) []plugin.Refusal {
	return slices.DeleteFunc(refusals, func(one plugin.Refusal) bool {
		if one.Permission != gate.Filesystem {
			return slices.Contains(granted, one.Permission)
		}
		return slices.ContainsFunc(folders, func(f gate.Folder) bool {
			return place.Inside(f.Path, one.Path) && (f.Write || !one.Write)
		})
	})
}

// stands returns those of refusals that the person did not grant meanwhile, or before: an error may have another cause.
// What a rule opens for one caller is not granted to all.
func (e *entry) stands(found []plugin.Refusal) []plugin.Refusal {
	if len(found) == 0 {
		return nil
	}
	granted, _ := e.h.o.Gate.Reach.Permissions(e.id)
	return standing(found, granted, e.h.o.Gate.Reach.Folders(e.id))
}

// explainRefusals adds to a result that failed, or that repeats the system's words for it, which grant was
// missing, unless the plugin named it itself. For a look at the person's home, and for a folder that was
// not listed, it always does.
func explainRefusals(id string, r *tool.Result, usable []plugin.Refusal) {
	said := r.Error + chat.TextOf(r.Content)
	if strings.Contains(said, "conclave plugins grant") {
		return
	}
	for _, one := range usable {
		// A look at a home that is empty fails in no words of the system's, nor does a folder that is taken for
		// an empty one.
		if r.Status == chat.CallOK && !one.Home && !one.Listing && !strings.Contains(said, "ermission denied") {
			continue
		}
		if r.Status == chat.CallOK {
			r.Content = append(r.Content, chat.TextPart("\n"+sentence(one, id)))
		} else {
			r.Error = strings.TrimSuffix(r.Error, ".") + ". " + sentence(one, id)
		}
	}
}
