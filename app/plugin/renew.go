package plugin

import "slices"

// walls are the permissions that a process is started with or without: the
// system lets nobody widen the walls of one that runs.
var walls = []string{"network", "programs", "filesystem"}

// rebuilds reports whether a change of permissions needs another process.
func rebuilds(before, after []string) bool {
	return slices.ContainsFunc(walls, func(p string) bool { return slices.Contains(before, p) != slices.Contains(after, p) })
}

// renew lets the process finish its calls and end; the next call starts another.
func (r *runner) renew() {
	r.mu.Lock()
	s := r.live
	r.live = nil
	end := false
	if s != nil {
		s.spent = true
		end = s.uses == 0
	}
	r.mu.Unlock()
	if end {
		s.close()
	}
}
