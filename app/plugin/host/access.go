package host

import (
	"slices"

	"conclave/app/gate"
)

// access holds the permissions and folders that a process was started with. The
// sandbox of a running process cannot be opened further, so different access needs
// another process.
type access struct {
	granted  []string
	folders  []gate.Folder
	programs []string
}

// access returns what the person grants the plugin now. A plugin that is loaded a
// second time for a run has the access of the first.
func (r *runner) access() access {
	id := r.e.grantee()
	now, _ := r.h.o.Gate.Reach.Permissions(id)
	return access{now, r.h.o.Gate.Reach.Folders(id), r.h.o.Gate.Reach.Programs(id)}
}

// reads returns the permissions with which a process with this access reads what others wrote,
// without asking for it. What programs do for it is noted when they are started.
func (o access) reads() []string {
	var all []string
	if len(o.folders) > 0 {
		all = append(all, gate.Filesystem)
	}
	for _, p := range []string{gate.Network, gate.Web} {
		if slices.Contains(o.granted, p) {
			all = append(all, p)
		}
	}
	return all
}

// equal reports whether one process can have both: they need the same sandbox, and agree about what the dialect
// announces when a process starts. The host asks about other permissions when they are used.
func (o access) equal(other access, announced []string) bool {
	return slices.Equal(o.folders, other.folders) && slices.Equal(o.programs, other.programs) &&
		slices.Equal(atStart(o.granted, announced), atStart(other.granted, announced))
}

// atStart returns those permissions that matter when a process starts.
func atStart(permissions, announced []string) []string {
	return slices.DeleteFunc(slices.Clone(permissions), func(p string) bool {
		return !gate.IsWall(p) && !slices.Contains(announced, p)
	})
}
