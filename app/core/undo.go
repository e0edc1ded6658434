package core

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/permit"
	"conclave/app/plugin/safefs"
	"conclave/app/undo"
)

// maxChanges is how many of the files that a call changed its record names; the rest is
// counted.
const maxChanges = 50

// keep has old versions kept of the files that a call may change: those in the folders that
// its plugin may write.
func (c *Core) keep(ctx context.Context, r *chat.CallRecord) func(*chat.CallRecord) {
	var folders []string
	given := slices.Concat(c.Gate.Folders(r.Plugin), c.Gate.Opened(r.Plugin))
	slices.SortFunc(given, func(a, b permit.Folder) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range given { // so that one comes before what is in it
		inside := func(of string) bool { return safefs.Inside(of, f.Path) }
		if f.Write && !slices.ContainsFunc(folders, inside) {
			folders = append(folders, filepath.Clean(f.Path))
		}
	}
	if len(folders) == 0 {
		return nil
	}
	call := undo.Call{ID: r.ID, Turn: r.Turn, Plugin: r.Plugin, Tool: r.ToolID}
	watch, err := c.Undo.Begin(ctx, call, folders)
	if err != nil {
		return nil // ctx has ended: the call is not made
	}
	r.Undo = call.Handle()
	return func(r *chat.CallRecord) {
		set, err := watch.End()
		if err != nil {
			c.Log.Warn("old versions of a folder cannot be kept", "plugin", r.Plugin, "err", err)
			r.Unkept = "Conclave could not look at every folder that it may write, so it may have changed more. " +
				"The log says why."
		}
		for _, change := range set.Shown() {
			if r.Changed++; len(r.Changes) < maxChanges {
				r.Changes = append(r.Changes, chat.FileChange{
					Path: change.Path(), What: change.What(), NotKept: change.NotKept(),
				})
			}
		}
		if r.Changed == 0 {
			r.Undo = ""
		}
	}
}
