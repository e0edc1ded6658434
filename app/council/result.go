package council

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Groups is a chair's view of the members' points, by their names ("a2"). It can add no point.
type Groups struct {
	Same    [][]string // they make the same claim
	Opposed [][]string // pairs that contradict each other
}

// Compare makes the result of a run from the members' points. groups is the chair's; unknown names in
// it are ignored. Points with equal words always make the same claim.
func Compare(run Run, text func(Hash) string, groups Groups) Result {
	r := Record{&run, text}
	result := Result{
		Agreement: []Finding{}, Disagreement: []Finding{}, NotChecked: []Finding{}, Tally: []Tally{},
		Agreed: []string{}, Missing: r.missing(),
	}
	tallies, err := Count(run, text)
	switch {
	case err != nil:
		result.Missing = append(result.Missing, "The votes are not counted: "+err.Error()+".")
	case tallies != nil:
		result.Tally = tallies
	}
	stances := r.stances()
	shares, objects := map[string]bool{}, map[string]bool{} // members that share a point, or disagree with one
	adds := map[string]bool{}                               // members with a point that is disputed, or theirs alone
	claims := r.claims()
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
			// It is quoted where it contradicts.
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
		if !adds[id] && r.Council.Mode != Vote { // its ballot counts in any case
			result.Same = append(result.Same, r.Letter("", id))
		}
	}
	return result
}

// ResultOf makes the result of a run with the groups of its chair, if there are some.
func ResultOf(run Run, text func(Hash) string) Result {
	var groups Groups
	if run.Answer != nil && run.Answer.Groups != "" {
		groups, _ = ReadGroups(text(run.Answer.Groups)) // without them, points are compared by words
	}
	return Compare(run, text, groups)
}

// gathered is a group of points with the same claim, and who agrees and disagrees.
type gathered struct {
	finding, unchecked Finding
	in, own, against   map[string]bool // members that support it, made such a point, or disagree
}

func (r Record) gather(group []claim, stances []stance) gathered {
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
				// A member that disagrees with several points of a group is quoted once for each reason.
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

// opposition holds the claims that contradict a group.
type opposition struct {
	by     []claim
	quoted bool // an earlier group quotes it as a contradiction
}

// opposed returns what contradicts each group: for each pair of points, the claim from the other
// point's group.
func (r Record) opposed(all [][]claim, pairs [][]string) []opposition {
	found := make([]opposition, len(all))
	groups, named := map[string]int{}, map[string]claim{} // by name
	for i, group := range all {
		for _, c := range group {
			groups[c.name], named[c.name] = i, c
		}
	}
	for _, pair := range pairs {
		a, b := named[pair[0]], named[pair[1]]
		i, j := groups[a.name], groups[b.name]
		// A member cannot contradict itself, or a point with the same claim.
		if a.name == "" || b.name == "" || i == j || a.member == b.member {
			continue
		}
		if !slices.Contains(found[i].by, b) {
			found[i].by = append(found[i].by, b)
		}
		if !slices.Contains(found[j].by, a) {
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

// grouped puts claims together that are about the same, each into one group, in the order
// of their first.
func grouped(claims []claim, groups [][]string) [][]claim {
	group := make([]int, len(claims)) // by claim; the index of the first claim in it
	firsts := map[string]int{}        // by the words of a claim
	for i, c := range claims {
		words := plainWords(c.Claim)
		if first, there := firsts[words]; there {
			group[i] = first
			continue
		}
		group[i], firsts[words] = i, i
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
			first = to
			replace(group, from, to)
		}
	}
	all := make([][]claim, len(claims)) // by the index of the first claim
	for i, c := range claims {
		all[group[i]] = append(all[group[i]], c)
	}
	return slices.DeleteFunc(all, func(g []claim) bool { return g == nil })
}

// replace replaces a number everywhere in a list.
func replace(all []int, from, to int) {
	for i, n := range all {
		if n == from {
			all[i] = to
		}
	}
}

// plainWords returns the words of a claim without case and punctuation.
func plainWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("+-<>=≤≥≠%", r)
	}), " ")
}

// Agree reports whether a council with EarlyStop can stop now: the answers agree, and only reviews
// that have not begun are left. The answers agree when all positions are the same, or when all members
// have reviewed and agree with every point.
func Agree(run Run, text func(Hash) string) bool {
	r := Record{&run, text}
	if !r.Council.EarlyStop || r.State != Running || r.Early != nil {
		return false
	}
	last, left := -1, false // newest finished stage of answers or reviews
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
	for _, t := range r.Tasks { // a stage with waiting tasks is not finished
		left = left && (t.Stage != last || t.State != Waiting)
	}
	if !left {
		return false
	}
	spoke := r.spoke()
	if len(spoke) < 2 {
		return false
	}
	position := plainWords(r.position(spoke[0]))
	different := func(id string) bool { return plainWords(r.position(id)) != position }
	if position != "" && !slices.ContainsFunc(spoke, different) {
		return true
	}
	reviewed := map[string]bool{}
	for _, s := range r.stances() {
		if s.Says != SaysAgree {
			return false
		}
		reviewed[s.by] = true
	}
	return len(reviewed) == len(spoke)
}
