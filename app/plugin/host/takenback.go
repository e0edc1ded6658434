package host

import (
	"cmp"
	"slices"

	"conclave/app/permit"
	"conclave/app/place"
)

// takenBackReason tells a call why its process ended.
const takenBackReason = "The tool's process was ended because the person took back something that its plugin was " +
	"allowed. What the call did until then stays."

// endTakenBack ends the processes of a plugin that may do what it may no longer, in whatever
// version: a sandbox that stands cannot be narrowed, nor can a file that is open be closed.
func (h *Host) endTakenBack(id string) {
	var over []*session
	for _, s := range h.sessionsOf(id) {
		if s.access.exceeds(s.r.access()) || s.r.keepsTakenBack() {
			over = append(over, s)
		}
	}
	for _, s := range over {
		s.r.retireSession(s)
		s.kill(takenBackReason)
		s.r.forgetLent()
	}
}

// sessionsOf returns the processes of a plugin. One that was replaced may have calls still.
func (h *Host) sessionsOf(id string) []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*session
	for s := range h.sessions {
		if cmp.Or(s.r.e.settingsOf, s.r.e.id) == id {
			all = append(all, s)
		}
	}
	return all
}

// exceeds reports whether a process with this access may do what one with other may not.
func (o access) exceeds(other access) bool {
	missing := func(p string) bool { return !slices.Contains(other.granted, p) }
	notGiven := func(f permit.Folder) bool {
		return !slices.ContainsFunc(other.folders, func(g permit.Folder) bool {
			return place.Inside(g.Path, f.Path) && (g.Write || !f.Write)
		})
	}
	notStarted := func(p string) bool { return !slices.Contains(other.programs, p) }
	return slices.ContainsFunc(onlySandbox(o.granted), missing) || slices.ContainsFunc(o.folders, notGiven) ||
		slices.Contains(o.granted, permit.Programs) && other.programs != nil &&
			(o.programs == nil || slices.ContainsFunc(o.programs, notStarted))
}
