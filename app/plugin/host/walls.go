package host

import (
	"cmp"
	"slices"

	"conclave/app/permit"
)

// openings hold what a process was started with. The system lets nobody widen the
// walls of one that runs, so that other walls need another process.
type openings struct {
	granted []string
	folders []permit.Folder
}

// walls returns what the person grants the plugin now. One that is offered once
// more for a run has what the first one has.
func (r *runner) walls() openings {
	id := cmp.Or(r.e.settingsOf, r.e.id)
	now, _ := r.h.o.Gate.Permissions(id)
	return openings{now, r.h.o.Gate.Folders(id)}
}

// equal reports whether both open the same walls; other permissions are asked about
// when they are used.
func (o openings) equal(other openings) bool {
	return slices.Equal(o.folders, other.folders) && slices.Equal(onlyWalls(o.granted), onlyWalls(other.granted))
}

func onlyWalls(permissions []string) []string {
	return slices.DeleteFunc(slices.Clone(permissions), func(p string) bool { return !permit.IsWall(p) })
}
