package council

// unsigned reports whether a task shows other members' words without their names.
func (k TaskKind) unsigned() bool { return k == Look || k == Cast }

// viewer returns the member whose letters a task uses for the others, or "" for the letters that
// everybody uses.
func (t Task) viewer() string {
	if t.Kind.unsigned() {
		return t.Member
	}
	return ""
}

// shown returns the members whose words a task is given, in the order of their letters.
func (r *Run) shown(t Task) []string {
	var all []string
	for _, id := range r.lettered(t.viewer()) {
		if said := r.said(id); id != t.Member && said != nil && r.Council.Mode.shows(t, *said) {
			all = append(all, id)
		}
	}
	if r.Council.Mode != Relay {
		return all
	}
	// Of a relay the newest answer includes those before it, unless its author was not given them.
	for i := len(all) - 1; i > 0; i-- {
		if r.Member(all[i]).Context.In(r.Council).Others {
			return all[i:]
		}
	}
	return all
}

// shows reports whether a task is about what another member said.
func (m Mode) shows(t, said Task) bool {
	switch t.Kind {
	case Look, Cast:
		return said.Stage < t.Stage
	case Oppose:
		return said.Kind == Draft
	case Opine:
		return m == Relay && said.Stage < t.Stage
	}
	return false
}

// AloneWhy is the reason of a task that is skipped because of Alone.
const AloneWhy = "No other member answered."

// Alone reports whether a task is about other members' words and there are none.
func (r *Run) Alone(t Task) bool {
	switch t.Kind {
	case Look, Oppose:
	case Cast:
		if len(r.Council.Choices) > 0 {
			return false
		}
	default:
		return false
	}
	return len(r.shown(t)) == 0
}
