package council

import (
	"cmp"
	"slices"
)

// Letter returns the letter of a member: "a" for the first seat of the council (but see
// Begin.Places). For a viewer, which is another member, it is the letter of an unsigned answer, in an
// order that is random for each viewer. It is "" for members that do not take part, and for the viewer.
func (r *Run) Letter(viewer, member string) string {
	if s := r.seat(member); s == nil || !s.In {
		return ""
	}
	return letter(slices.Index(r.lettered(viewer), member))
}

// OfLetter returns the member that has a letter for a viewer, or "".
func (r *Run) OfLetter(viewer, letter string) string {
	all := r.lettered(viewer)
	if len(letter) != 1 || letter[0] < 'a' || int(letter[0]-'a') >= len(all) {
		return ""
	}
	if id := all[letter[0]-'a']; r.Letter(viewer, id) != "" {
		return id
	}
	return ""
}

// Called returns the name of the member that is cited by a letter, or "".
func (r *Run) Called(letter string) string { return r.nameOf(r.OfLetter("", letter)) }

// lettered returns the ids of members in the order of their letters for a viewer, with members that
// sit out where their places have letters too.
func (r *Run) lettered(viewer string) []string {
	var all []string
	for _, s := range r.Seats {
		if id := s.Member.ID; viewer == "" && r.Places || s.In && id != viewer {
			all = append(all, id)
		}
	}
	if viewer != "" {
		number := map[string]uint64{}
		for _, id := range all {
			number[id] = r.random(viewer + "\x00" + id)
		}
		slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(number[a], number[b]) })
	}
	return all
}

// Drawn is the letter that one member had for another.
type Drawn struct {
	Letter string `json:"letter"`
	Name   string `json:"name"`
}

// Drawn returns the letters of the others in a member's reviews and ballot; none where it has neither.
func (r *Run) Drawn(viewer string) []Drawn {
	all := []Drawn{}
	if !slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.Member == viewer && t.Kind.unsigned() }) {
		return all
	}
	for i, id := range r.lettered(viewer) {
		all = append(all, Drawn{letter(i), r.nameOf(id)})
	}
	return all
}

func letter(i int) string {
	if i < 0 {
		return ""
	}
	return string(rune('a' + i)) // limit.CouncilMembers is less than there are letters
}
