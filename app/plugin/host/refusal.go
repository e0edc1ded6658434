package host

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"conclave/app/bus"
	"conclave/app/chat"
	"conclave/app/permit"
	"conclave/app/place"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// sentence tells a model, and whoever reads the call, what the plugin was refused.
func sentence(r plugin.Refusal, id string) string {
	what := map[string]string{permit.Network: "use the network", permit.Programs: "start other programs"}[r.Permission]
	switch {
	case r.Permission == permit.Filesystem && r.Write:
		what = "write files in " + r.Path
	case r.Permission == permit.Filesystem:
		what = "read files in " + r.Path
	case what == "":
		what = "do what needs the permission " + r.Permission
	}
	return "The plugin " + id + " may not " + what + ". The person can allow it in its menu, “What it may reach…”, " +
		"or with " + r.Command(id)
}

// maxRefusals bounds what is kept of a plugin's refusals, and maxRefusedPath the
// bytes of a path.
const (
	maxRefusals    = 8
	maxRefusedPath = 512
)

// refused notes for the plugin's card what it was refused and could be granted.
// usable are the refusals of the call: what a library tried while it was imported
// explains no answer.
func (e *entry) refused(found []plugin.Refusal) (usable []plugin.Refusal) {
	news := false
	e.mu.Lock()
	for _, one := range found[:min(len(found), maxRefusals)] {
		if !permit.IsPermission(one.Permission) || (one.Permission == permit.Filesystem) != (one.Path != "") ||
			!showable(one.Path) {
			continue
		}
		one.Write = one.Write && one.Path != ""
		loading := one.Loading
		if one.Loading = false; !loading {
			usable = append(usable, one)
		}
		if !slices.Contains(e.refusals, one) {
			e.refusals, news = append(e.refusals, one), true
		}
	}
	e.refusals = e.refusals[max(0, len(e.refusals)-maxRefusals):]
	e.mu.Unlock()
	if news {
		e.h.o.Bus.Changed(bus.Plugins, "")
	}
	return usable
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
func standing(refusals []plugin.Refusal, granted []string, folders []permit.Folder) []plugin.Refusal {
	return slices.DeleteFunc(refusals, func(one plugin.Refusal) bool {
		if one.Permission != permit.Filesystem {
			return slices.Contains(granted, one.Permission)
		}
		return slices.ContainsFunc(folders, func(f permit.Folder) bool {
			return place.Inside(f.Path, one.Path) && (f.Write || !one.Write)
		})
	})
}

// explainRefusals notes what the plugin was refused, and adds to a result that failed, or
// that repeats the system's words for it, which grant was missing, unless the plugin
// said so itself.
func (e *entry) explainRefusals(r *tool.Result, found []plugin.Refusal) {
	usable := e.refused(found)
	said := r.Error + chat.TextOf(r.Content)
	if strings.Contains(said, "conclave plugins grant") || r.Status == chat.CallOK &&
		!strings.Contains(said, "ermission denied") {
		return
	}
	for _, one := range usable {
		if r.Status == chat.CallOK {
			r.Content = append(r.Content, chat.Part{Kind: chat.PartText, Text: "\n" + sentence(one, e.id)})
		} else {
			r.Error = strings.TrimSuffix(r.Error, ".") + ". " + sentence(one, e.id)
		}
	}
}
