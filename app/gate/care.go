package gate

import (
	"slices"
	"strings"
)

// care returns sentences about the effects of a call that can be undone, and about those that
// cannot be shown before or undone. The arguments show what a call is asked to do; only its plugin
// knows what it then does.
func care(capabilities []Capability, folders []Folder) string {
	var said []string
	writes := slices.ContainsFunc(folders, func(f Folder) bool { return f.Write })
	switch {
	case len(capabilities) == 0 && writes:
		said = append(said,
			"What it changes in the folders that you gave it can be put back for 30 days; elsewhere it cannot.")
	case len(capabilities) == 0:
		said = append(said, "What it changes cannot be put back.")
	case writes && hasOne(capabilities, WriteFiles, Delete):
		said = append(said, "What it changes or deletes in the folders that it may write can be put back for 30 days.")
	}
	if slices.Contains(capabilities, SendWeb) {
		said = append(said, "What it will send cannot be shown before, and cannot be taken back.")
	}
	if slices.Contains(capabilities, CallModel) {
		said = append(said, "What it spends on models cannot be taken back.")
	}
	return strings.Join(said, " ")
}
