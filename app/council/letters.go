package council

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Letter returns the letter by which a member is cited, "a" for the first that takes
// part. For a viewer, which is another member, it is the letter of an unsigned answer:
// drawn from the seed for that viewer alone, so that no letter tells whose an answer is.
// It is "" for who has none: somebody who does not take part, or the viewer.
func (r *Run) Letter(viewer, member string) string {
	return letter(slices.Index(r.lettered(viewer), member))
}

// OfLetter returns the member that has a letter for a viewer, or "".
func (r *Run) OfLetter(viewer, letter string) string {
	all := r.lettered(viewer)
	if len(letter) != 1 || letter[0] < 'a' || int(letter[0]-'a') >= len(all) {
		return ""
	}
	return all[letter[0]-'a']
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
		slices.SortStableFunc(all, func(a, b string) int {
			return cmp.Compare(drawn(r.Seed, viewer, a), drawn(r.Seed, viewer, b))
		})
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
