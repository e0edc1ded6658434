package council

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Record is a run with its texts: what its members said. Text must return "" for a text that cannot
// be read.
type Record struct {
	*Run
	Text func(Hash) string
}

// Others returns the words of other members that a task is given, in the order of their letters.
// Reviews and ballots get them without names.
func (r Record) Others(t Task) []Said {
	var all []Said
	for _, id := range r.shown(t) {
		o := Said{Member: id, Letter: r.Letter(t.viewer(), id)}
		if !t.Kind.unsigned() {
			o.Name = r.nameOf(id)
		}
		shown := r.shownBy(*r.said(id))
		o.Text = cut(shown, maxSaid) + r.pointLines(id, o.Letter)
		o.Cut = shown[min(len(shown), maxSaid):]
		all = append(all, o)
	}
	return all
}

// pointLines lists a member's points under the names that others use for them.
func (r Record) pointLines(member, letter string) string {
	var b strings.Builder
	for i, p := range r.Points(member) {
		if i == 0 {
			b.WriteString("\n\nPoints:")
		}
		fmt.Fprintf(&b, "\n%s%d: %s", letter, i+1, p.Claim)
	}
	return b.String()
}

// shownBy returns the words of a finished task without their block.
func (r Record) shownBy(t Task) string {
	shown, _ := Split(r.Text(t.End.Text))
	return shown
}

// spoke returns the ids of the members that answered, in the order of the council.
func (r Record) spoke() (ids []string) {
	for _, s := range r.Seats {
		if r.said(s.Member.ID) != nil {
			ids = append(ids, s.Member.ID)
		}
	}
	return ids
}

// opinions yields the finished tasks that end with an opinion, of one member, or of all for "", each
// with its block.
func (r Record) opinions(member string) iter.Seq2[Task, string] {
	return func(yield func(Task, string) bool) {
		for _, t := range r.Tasks {
			opinion := t.Kind == Opine || t.Kind == Draft || t.Kind == Oppose || t.Kind == Look
			if t.State != Done || !opinion || member != "" && t.Member != member {
				continue
			}
			if _, block := Split(r.Text(t.End.Text)); !yield(t, block) {
				return
			}
		}
	}
}

// Points returns a member's points: those of its answer, then those that its reviews add.
func (r Record) Points(member string) (points []Point) {
	for t, block := range r.opinions(member) {
		points = append(points, pointsIn(t, block)...)
	}
	return points
}

// pointsIn returns the points in the block of a task.
func pointsIn(t Task, block string) []Point {
	o, _ := ReadOpinion(block) // a broken block holds none
	for i, p := range o.Points {
		o.Points[i].Checked = p.Basis == FromTool && calledTool(t.End.Used, p.Source)
	}
	return o.Points
}

// PointsBefore counts the points that the task's member made in earlier tasks.
func (r Record) PointsBefore(t Task) (n int) {
	for before, block := range r.opinions(t.Member) {
		if before.ID == t.ID {
			break
		}
		n += len(pointsIn(before, block))
	}
	return n
}

// calledTool reports whether a source names one of the tools that were called, with or without its
// plugin. A member that called a single tool need not name it.
func calledTool(used []string, source string) bool {
	same := func(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
	for _, id := range used {
		_, name, _ := strings.Cut(id, ":")
		if same(id, source) || same(name, source) || source == "" && len(used) == 1 {
			return true
		}
	}
	return false
}

// position returns a member's newest position, or "".
func (r Record) position(member string) (newest string) {
	for _, block := range r.opinions(member) {
		o, _ := ReadOpinion(block) // a broken block holds none
		newest = cmp.Or(o.Position, newest)
	}
	return newest
}

// claim is a point with its name, such as a2.
type claim struct {
	Point
	name   string
	member string
}

// claims returns the points of all members, in the order of the council.
func (r Record) claims() []claim {
	var all []claim
	for _, s := range r.Seats {
		for i, p := range r.Points(s.Member.ID) {
			all = append(all, claim{p, r.Letter("", s.Member.ID) + strconv.Itoa(i+1), s.Member.ID})
		}
	}
	return all
}

// stance is a Stance and the member that took it.
type stance struct {
	Stance
	by string
}

// stances returns each member's newest stance on each point of others.
func (r Record) stances() []stance {
	var all []stance
	for t, block := range r.opinions("") {
		for _, s := range r.Stances(t, block) {
			next := stance{s, t.Member}
			same := func(o stance) bool { return o.by == next.by && o.Point == next.Point }
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i] = next
			} else {
				all = append(all, next)
			}
		}
	}
	return all
}

// Stances returns the stances in a task's block, with the letters that everybody uses.
func (r Record) Stances(t Task, block string) []Stance {
	stances := []Stance{}
	read, _ := ReadStances(block) // a broken block holds none
	shown := r.shown(t)
	for _, s := range read {
		of := r.OfLetter(t.viewer(), s.Point[:1])
		if slices.Contains(shown, of) { // a stance on words that the member never saw is dropped
			s.Point = r.Letter("", of) + s.Point[1:]
			stances = append(stances, s)
		}
	}
	return stances
}
