package council

import (
	"fmt"
	"strings"
)

// unsigned reports whether the members whose words a task is about are not named to it.
func (k TaskKind) unsigned() bool { return k == Look || k == Cast }

// viewer is the member for whom the letters are drawn by which a task knows the others; "" where
// they are those by which everybody does.
func (t Task) viewer() string {
	if t.Kind.unsigned() {
		return t.Member
	}
	return ""
}

// Others returns what other members said, for the member of a task, in the order in which
// it is shown: of a review and a ballot under letters drawn for it, else signed.
func (r *Run) Others(t Task, text func(Hash) string) []Said {
	var all []Said
	for _, id := range r.shown(t) {
		o := Said{Member: id, Letter: r.Letter(t.viewer(), id)}
		if !t.Kind.unsigned() {
			o.Name = r.nameOf(id)
		}
		shown, _ := Split(text(r.said(id).End.Text))
		o.Text = cut(shown, maxSaid) + r.pointLines(id, o.Letter, text)
		o.Cut = shown[min(len(shown), maxSaid):]
		all = append(all, o)
	}
	return all
}

// shown returns the members whose words a task is given, in the order in which it is.
func (r *Run) shown(t Task) []string {
	var all []string
	for _, id := range r.lettered(t.viewer()) {
		if said := r.said(id); id != t.Member && said != nil && r.shows(t, *said) {
			all = append(all, id)
		}
	}
	if r.Council.Mode == Relay {
		all = all[r.relayed(all):]
	}
	return all
}

// relayed returns from which on of those that spoke before a member of a relay it is told: of the
// newest, which holds what was said before it, unless that member was told nothing of it.
func (r *Run) relayed(before []string) int {
	for i := len(before) - 1; i > 0; i-- {
		if r.Seats[r.seat(before[i])].Member.Context.In(r.Council).Others {
			return i
		}
	}
	return 0
}

// shows reports whether a task is about what another said.
func (r *Run) shows(t, said Task) bool {
	switch t.Kind {
	case Look, Cast:
		return said.Stage < t.Stage
	case Oppose:
		return said.Kind == Draft
	case Opine:
		return r.Council.Mode == Relay && said.Stage < t.Stage
	}
	return false
}

// AloneWhy says why a task is skipped that Alone is true of.
const AloneWhy = "No other member answered."

// Alone reports whether a task is about what others said, and none of them said anything.
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

// pointLines lists the points of a member, by the names under which others refer to them.
func (r *Run) pointLines(member, letter string, text func(Hash) string) string {
	var b strings.Builder
	for i, p := range r.Points(member, text) {
		if i == 0 {
			b.WriteString("\n\nPoints:")
		}
		fmt.Fprintf(&b, "\n%s%d: %s", letter, i+1, p.Claim)
	}
	return b.String()
}

// opinions are the kinds of tasks at whose end stands an opinion.
func (k TaskKind) opinions() bool { return k == Opine || k == Draft || k == Oppose || k == Look }

// Points returns the points of a member: those of its answer, and then those that its
// reviews add.
func (r *Run) Points(member string, text func(Hash) string) []Point {
	var points []Point
	for _, t := range r.Tasks {
		if t.Member == member {
			points = append(points, t.points(text)...)
		}
	}
	return points
}

// points returns the points that a task adds to those of its member.
func (t Task) points(text func(Hash) string) []Point {
	if t.State != Done || !t.Kind.opinions() {
		return nil
	}
	_, block := Split(text(t.End.Text))
	o, _ := ReadOpinion(block) // without one it has no points
	for i := range o.Points {
		p := &o.Points[i]
		p.Checked = p.Basis == FromTool && rests(t.End.Used, p.Source)
	}
	return o.Points
}

// PointsBefore counts the points that the member of a task made before it: the first of the
// task has the number after them.
func (r *Run) PointsBefore(t Task, text func(Hash) string) (n int) {
	for _, before := range r.Tasks {
		if before.ID == t.ID {
			break
		}
		if before.Member == t.Member {
			n += len(before.points(text))
		}
	}
	return n
}

// rests reports whether a source names a tool that was really called: by its whole name,
// or by its own.
func rests(used []string, source string) bool {
	same := func(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
	for _, id := range used {
		_, name, _ := strings.Cut(id, ":")
		if same(id, source) || same(name, source) || source == "" && len(used) == 1 {
			return true
		}
	}
	return false
}

// position returns what a member thinks in a few words, as it said last, or "".
func (r *Run) position(member string, text func(Hash) string) string {
	position := ""
	for _, t := range r.Tasks {
		if t.Member == member && t.State == Done && t.Kind.opinions() {
			_, block := Split(text(t.End.Text))
			if o, err := ReadOpinion(block); err == nil && o.Position != "" {
				position = o.Position
			}
		}
	}
	return position
}
