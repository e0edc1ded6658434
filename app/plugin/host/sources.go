package host

import (
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin"
)

// Plugins come from sources, which report what they have whenever that changes:
// the plugins folder (Scan, Watch), or whatever lets plugins register while Conclave runs. From then
// on all are alike.

// fromFolder is the source that the plugins folder is.
const fromFolder = "the plugins folder"

// SetRegistered sets the plugins without files that the source named from has now;
// those it had before and does not have any more are removed. The host skips a plugin
// whose id another source uses, until the next call. SetRegistered does not wait for
// the loads; WaitIdle does. No plugin runs before a person approved its row. Kind
// invalid, with nothing changed, for a plugin without an id or of an unknown dialect, for
// one that is too large, and for too many.
func (h *Host) SetRegistered(from string, all []plugin.Source) error {
	seen := map[string]bool{}
	if len(all) > limit.RegisteredPlugins {
		return fault.New(fault.Invalid, "plugin.offer", "More than 100 plugins are registered, the most that are kept.",
			"None of these is taken.")
	}
	for _, src := range all {
		switch {
		case len(src.Row)+len(src.Tools) > limit.RegisteredPlugin:
			return fault.New(fault.Invalid, "plugin.offer",
				strings.ReplaceAll("The plugin PLUGIN registers more than 4 MiB of tools, the most that is kept.",
					"PLUGIN", src.ID),
				"Register fewer tools, or describe them more briefly.")
		case src.ID == "" || src.ID != plugin.LegalID(src.ID) || seen[src.ID]:
			return fault.New(fault.Invalid, "plugin.offer",
				"A plugin of "+from+" has a missing, invalid or duplicate id: “"+src.ID+"”.",
				"Use letters, digits, - and _, and each id once.")
		case src.HasFiles() || h.Dialects.named(src.Dialect) == nil:
			return fault.New(fault.Invalid, "plugin.offer", "Conclave knows no plugins of the kind “"+src.Dialect+"”, which "+
				src.ID+" of "+from+" is said to be.", "")
		}
		seen[src.ID] = true
	}
	h.take(from, slices.Clone(all), func(*entry) bool { return true })
	return nil
}
