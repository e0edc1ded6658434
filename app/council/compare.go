package council

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Groups holds what a chair says of the members' points, by their names ("a2"): which claim
// the same, and which contradict each other. It can add no point.
type Groups struct {
	Same    [][]string
	Opposed [][]string
}

// Compare makes the result of a run of the members' own points. groups are the chair's;
// names that are none are dropped. Points of equal words claim the same in any case.
func Compare(r Run, text func(Hash) string, groups Groups) Result {
	result := Result{
		Agreement: []Finding{}, Disagreement: []Finding{}, NotChecked: []Finding{}, Tally: []Tally{},
		Agreed: []string{}, Missing: r.missing(text),
	}
	tallies, err := Count(r, text)
	switch {
	case err != nil:
		result.Missing = append(result.Missing, "The votes are not counted: "+err.Error()+".")
	case tallies != nil:
		result.Tally = tallies
	}
	stances := r.stances(text)
	shares, objects := map[string]bool{}, map[string]bool{} // members that share a point; that are against one
	adds := map[string]bool{}                               // members with a point that is disputed, or nobody else's
	claims := r.claims(text)
	result.Points = len(claims)
	all := grouped(claims, groups.Same)
	opposed := r.opposed(all, groups.Opposed)
	for i, group := range all {
		g := r.gather(group, stances)
		maps.Copy(objects, g.against)
		for _, c := range opposed[i].by {
			g.finding.Against = append(g.finding.Against, r.nameOf(c.member)+" says otherwise: "+c.Claim)
			objects[c.member] = true
		}
		if len(g.in) == 1 || len(g.finding.Against) > 0 {
			maps.Copy(adds, g.own)
		}
		switch {
		case opposed[i].quoted && len(g.in) == 1 && len(g.against) == 0:
			// It stands as a sentence where it contradicts.
		case len(g.finding.Against) > 0:
			result.Disagreement = append(result.Disagreement, g.finding)
		case len(g.in) > 1:
			result.Agreement = append(result.Agreement, g.finding)
			maps.Copy(shares, g.in)
		}
		if len(g.unchecked.Points) > 0 {
			result.NotChecked = append(result.NotChecked, g.unchecked)
		}
	}
	for _, s := range r.Seats {
		id := s.Member.ID
		if !shares[id] || objects[id] {
			continue
		}
		result.Agreed = append(result.Agreed, r.Letter("", id))
		if !adds[id] && r.Council.Mode != Vote { // a ballot counts, whatever its words are
			result.Same = append(result.Same, r.Letter("", id))
		}
	}
	return result
}

// gathered is a group of points that claim the same, and who stands where about it.
type gathered struct {
	finding, unchecked Finding
	in, own, against   map[string]bool // members that stand in it; by a point of their own; that are against it
}

func (r *Run) gather(group []claim, stances []stance) gathered {
	g := gathered{
		finding:   Finding{Text: group[0].Claim, Points: []string{}, Agree: []string{}, Against: []string{}},
		unchecked: Finding{Points: []string{}, Agree: []string{}, Against: []string{}},
		in:        map[string]bool{}, own: map[string]bool{}, against: map[string]bool{},
	}
	for _, c := range group {
		g.finding.Points, g.in[c.member], g.own[c.member] = append(g.finding.Points, c.name), true, true
		if !c.Checked {
			if g.unchecked.Text == "" {
				g.unchecked.Text = c.Claim
			}
			g.unchecked.Points = append(g.unchecked.Points, c.name)
		}
		for _, s := range stances {
			switch {
			case s.Point != c.name:
			case s.Says == SaysAgree:
				g.in[s.by] = true
			case s.Says == SaysDisagree:
				g.against[s.by] = true
				// Of several points of one group a member says the same but once.
				if says := disagrees(r.nameOf(s.by), s.Why); !slices.Contains(g.finding.Against, says) {
					g.finding.Against = append(g.finding.Against, says)
				}
			}
		}
	}
	for _, s := range r.Seats {
		if id := s.Member.ID; g.in[id] && !g.own[id] && !g.against[id] {
			g.finding.Agree = append(g.finding.Agree, r.Letter("", id))
		}
	}
	return g
}

// opposition holds what contradicts a group of claims.
type opposition struct {
	by     []claim
	quoted bool // it stands itself among what contradicts a group before it
}

// opposed returns what contradicts each group, as pairs of points say: of the two groups
// that a pair names, each with the first of the other's claims.
func (r *Run) opposed(all [][]claim, pairs [][]string) []opposition {
	found := make([]opposition, len(all))
	find := func(name string) (int, claim) {
		for i, group := range all {
			for _, c := range group {
				if c.name == name {
					return i, c
				}
			}
		}
		return -1, claim{}
	}
	for _, pair := range pairs {
		i, a := find(pair[0])
		j, b := find(pair[1])
		// Nobody contradicts itself, nor who claims the same.
		if i < 0 || j < 0 || i == j || a.member == b.member {
			continue
		}
		has := func(all []claim, c claim) bool {
			return slices.ContainsFunc(all, func(o claim) bool { return o.name == c.name })
		}
		if !has(found[i].by, b) {
			found[i].by = append(found[i].by, b)
		}
		if !has(found[j].by, a) {
			found[j].by = append(found[j].by, a)
		}
		found[max(i, j)].quoted = true
	}
	return found
}

func disagrees(name, why string) string {
	if why == "" {
		return name + " disagrees."
	}
	return name + " disagrees: " + why
}

// claim is a point with the name by which it is cited.
type claim struct {
	Point
	name   string
	member string
}

// claims returns all points of a run, in the order of its members.
func (r *Run) claims(text func(Hash) string) []claim {
	var all []claim
	for _, s := range r.Seats {
		for i, p := range r.Points(s.Member.ID, text) {
			all = append(all, claim{p, r.Letter("", s.Member.ID) + itoa(i+1), s.Member.ID})
		}
	}
	return all
}

// stance is a Stance of a member.
type stance struct {
	Stance
	by string
}

// stances returns the newest stance of each member on each point of others.
func (r *Run) stances(text func(Hash) string) []stance {
	var all []stance
	for _, t := range r.Tasks {
		if t.State != Done || !t.Kind.opinions() {
			continue
		}
		_, block := Split(text(t.End.Text))
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

// Stances returns what the block of a task says of the points of others, by the letters of
// the members, whichever the task knew them by.
func (r *Run) Stances(t Task, block string) []Stance {
	stances := []Stance{}
	read, _ := ReadStances(block) // without a block there are none
	told := r.shown(t)
	for _, s := range read {
		of := r.OfLetter(t.viewer(), s.Point[:1])
		if slices.Contains(told, of) { // nobody can say what they think of words they were not told
			s.Point = r.Letter("", of) + s.Point[1:]
			stances = append(stances, s)
		}
	}
	return stances
}

// grouped puts claims together that are about the same, each into one group, in the order
// of their first.
func grouped(claims []claim, groups [][]string) [][]claim {
	group := make([]int, len(claims)) // by claim; the index of the first claim in it
	for i := range claims {
		group[i] = i
		for j := range i {
			if group[j] == j && same(claims[i].Claim, claims[j].Claim) {
				group[i] = j
				break
			}
		}
	}
	taken := map[string]bool{}
	for _, names := range groups {
		first := -1
		for i, c := range claims {
			if !slices.Contains(names, c.name) || taken[c.name] {
				continue
			}
			taken[c.name] = true
			if first < 0 {
				first = group[i]
				continue
			}
			from, to := max(first, group[i]), min(first, group[i])
			for j := range group {
				if group[j] == from {
					group[j] = to
				}
			}
			first = to
		}
	}
	var all [][]claim
	at := map[int]int{}
	for i, c := range claims {
		n, there := at[group[i]]
		if !there {
			n = len(all)
			at[group[i]], all = n, append(all, nil)
		}
		all[n] = append(all[n], c)
	}
	return all
}

// same reports whether two claims have the same words, whatever the case of their letters
// and their signs.
func same(a, b string) bool { return plainWords(a) == plainWords(b) }

func plainWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("+-<>=≤≥≠%", r)
	}), " ")
}

// Agree reports whether a council that stops early can stop now: the answers agree, and
// what is left are reviews that nobody has begun. They agree when all members say the same
// position, or when all have reviewed and nobody disagrees with or doubts a point.
func Agree(r Run, text func(Hash) string) bool {
	if !r.Council.EarlyStop || r.State != Running || r.Early != nil {
		return false
	}
	last, left := -1, false // the newest stage of answers or reviews that is over
	for _, t := range r.Tasks {
		switch {
		case t.State == Working, t.State == Waiting && t.Kind != Look:
			return false
		case t.State == Waiting:
			left = true
		case t.Kind == Opine || t.Kind == Look:
			last = max(last, t.Stage)
		}
	}
	for _, t := range r.Tasks { // a stage that is half done is not over
		left = left && (t.Stage != last || t.State != Waiting)
	}
	if !left {
		return false
	}
	var spoke []string
	for _, s := range r.Seats {
		if r.said(s.Member.ID) != nil {
			spoke = append(spoke, s.Member.ID)
		}
	}
	if len(spoke) < 2 {
		return false
	}
	position := plainWords(r.position(spoke[0], text))
	different := func(id string) bool { return plainWords(r.position(id, text)) != position }
	if position != "" && !slices.ContainsFunc(spoke, different) {
		return true
	}
	reviewed := map[string]bool{}
	for _, s := range r.stances(text) {
		if s.Says != SaysAgree {
			return false
		}
		reviewed[s.by] = true
	}
	return len(reviewed) == len(spoke)
}
