package council

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Letter returns the letter by which a member is cited: that of its place in the council,
// "a" for the first (but see Begin.Places). For a viewer, which is another member, it is
// the letter of an unsigned answer: drawn from the seed for that viewer alone, so that no
// letter tells whose an answer is. It is "" for who has none: somebody who does not take
// part, or the viewer.
func (r *Run) Letter(viewer, member string) string {
	if i := r.seat(member); viewer == "" && r.Places && i >= 0 && r.Seats[i].In {
		return letter(i)
	}
	return letter(slices.Index(r.lettered(viewer), member))
}

// shownLetter is the letter that a lane shows: also of who sits out, where it has one.
func (r *Run) shownLetter(member string) string {
	if i := r.seat(member); r.Places && i >= 0 {
		return letter(i)
	}
	return r.Letter("", member)
}

// OfLetter returns the member that has a letter for a viewer, or "".
func (r *Run) OfLetter(viewer, letter string) string {
	all := r.lettered(viewer)
	if viewer == "" && r.Places {
		all = nil
		for _, s := range r.Seats {
			all = append(all, s.Member.ID)
		}
	}
	if len(letter) != 1 || letter[0] < 'a' || int(letter[0]-'a') >= len(all) {
		return ""
	}
	id := all[letter[0]-'a']
	if i := r.seat(id); i < 0 || !r.Seats[i].In {
		return ""
	}
	return id
}

// Called returns the name of the member that is cited by a letter, or "".
func (r *Run) Called(letter string) string {
	if id := r.OfLetter("", letter); id != "" {
		return r.nameOf(id)
	}
	return ""
}

// lettered returns the ids of the members that have letters for a viewer, in their order.
func (r *Run) lettered(viewer string) []string {
	var all []string
	for _, s := range r.Seats {
		if s.In && s.Member.ID != viewer {
			all = append(all, s.Member.ID)
		}
	}
	if viewer != "" {
		number := map[string]uint64{}
		for _, id := range all {
			number[id] = drawn(r.Seed, viewer, id)
		}
		slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(number[a], number[b]) })
	}
	return all
}

// Drawn tells whose a letter is that was drawn for one member.
type Drawn struct {
	Letter string `json:"letter"`
	Name   string `json:"name"`
}

// Drawn tells whose the letters are by which a member knew the unsigned answers of the others:
// its reviews and its ballot name them by these. It is empty for one that has neither.
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

// drawn is the number by which a member is sorted among the answers that a viewer sees.
func drawn(seed uint64, viewer, member string) uint64 {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), viewer+"\x00"+member...))
	return binary.BigEndian.Uint64(sum[:])
}

func letter(i int) string {
	if i < 0 {
		return ""
	}
	return string(rune('a' + i)) // limit.CouncilMembers is less than there are letters
}
