package host

import (
	"maps"
	"slices"
	"sync"

	"conclave/app/base/place"
	"conclave/app/gate"
)

// revokedReason is the error of a call whose process was ended.
const revokedReason = "The tool's process was ended because the person took back something that its plugin was " +
	"allowed. What the call did until then stays."

// endRevoked ends the processes of a plugin that may do what it may no longer, in whatever
// version: a sandbox that stands cannot be narrowed, nor can a file that is open be closed.
func (p *processes) endRevoked(id string) {
	for _, s := range p.of(id) {
		if s.exceeds() {
			s.kill(revokedReason)
		}
	}
}

// exceeds reports whether the process may do what its plugin may no longer.
func (s *session) exceeds() bool {
	return s.access.exceeds(s.r.access()) || s.opened.revoked(s.r.h.o.Gate)
}

// keepsRevoked returns the running session where it may have files open by a rule that was
// taken back, else nil.
func (r *runner) keepsRevoked() *session {
	if s := r.current(); s != nil && s.opened.revoked(r.h.o.Gate) {
		return s
	}
	return nil
}

// openedFiles holds the ids of the rules by which Conclave opened files for one process, which may keep
// them open. It is safe for concurrent use.
type openedFiles struct {
	mu    sync.Mutex
	rules map[string]bool
}

// note notes a rule by which a file was opened: also one that was taken back since. One for an
// answer ends by itself, and ends no process.
func (o *openedFiles) note(g *gate.Gate, rule string) {
	if scope, there := g.Rules.Scope(rule); rule == "" || there && scope == gate.ThisAnswer {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rules[rule] = true
}

// revoked reports whether one of the rules was taken back.
func (o *openedFiles) revoked(gate *gate.Gate) bool {
	o.mu.Lock()
	rules := slices.Collect(maps.Keys(o.rules))
	o.mu.Unlock()
	return slices.ContainsFunc(rules, func(rule string) bool {
		_, there := gate.Rules.Scope(rule)
		return !there
	})
}

// of returns the processes of a plugin. One that was replaced may have calls still.
func (p *processes) of(id string) []*session {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*session
	for s := range p.live {
		if s.r.e.grantee() == id {
			all = append(all, s)
		}
	}
	return all
}

// exceeds reports whether a process with this access may do what one with other may not.
func (o access) exceeds(other access) bool {
	missing := func(p string) bool { return !slices.Contains(other.granted, p) }
	notGiven := func(f gate.Folder) bool {
		return !slices.ContainsFunc(other.folders, func(g gate.Folder) bool {
			return place.Inside(g.Path, f.Path) && (g.Write || !f.Write)
		})
	}
	notStarted := func(p string) bool { return !slices.Contains(other.programs, p) }
	return slices.ContainsFunc(atStart(o.granted, nil), missing) || slices.ContainsFunc(o.folders, notGiven) ||
		slices.Contains(o.granted, gate.Programs) && other.programs != nil &&
			(o.programs == nil || slices.ContainsFunc(o.programs, notStarted))
}
