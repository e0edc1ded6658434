package council

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"conclave/app/base/limit"
	"conclave/app/base/pattern"
	"conclave/app/base/shorten"
)

// Bounds of what is read from a block; the rest is ignored.
const (
	maxPoints   = 12
	maxStances  = 60
	maxGroups   = 60
	maxPosition = 160 // characters
	maxClaim    = 400
)

// errBlock is the error of a block without readable JSON.
var errBlock = errors.New("the block holds no JSON object that can be read")

// ReadOpinion reads an opinion from the block at the end of an answer. Unusable parts are ignored; a
// block without a usable part is an error.
func ReadOpinion(block string) (Opinion, error) {
	var read struct {
		Position text
		Points   listOf[struct{ Claim, Basis, Source text }]
	}
	if err := readBlock(block, &read); err != nil {
		return Opinion{}, err
	}
	o := Opinion{Position: read.Position.line(maxPosition), Points: []Point{}}
	for _, p := range read.Points {
		point := Point{Claim: p.Claim.line(maxClaim), Basis: FromOwn, Source: p.Source.line(maxPosition)}
		if b := Basis(strings.ToLower(p.Basis.line(20))); b == FromTool || b == FromGiven {
			point.Basis = b
		}
		if point.Claim != "" && len(o.Points) < maxPoints {
			o.Points = append(o.Points, point)
		}
	}
	if o.Position == "" && len(o.Points) == 0 {
		return Opinion{}, errors.New("the block holds neither a position nor points")
	}
	return o, nil
}

// pointName matches the name of a point: a member's letter, and a number from 1.
var pointName = pattern.Lazy(`^[a-z][1-9][0-9]{0,2}$`)

// ReadStances reads a member's stances on others' points.
func ReadStances(block string) ([]Stance, error) {
	var read struct {
		Stances listOf[struct{ Point, Says, Why text }]
	}
	if err := readBlock(block, &read); err != nil {
		return nil, err
	}
	stances, seen := []Stance{}, map[string]bool{}
	for _, s := range read.Stances {
		stance := Stance{
			Point: strings.ToLower(s.Point.line(8)), Says: strings.ToLower(s.Says.line(20)), Why: s.Why.line(maxClaim),
		}
		if pointName().MatchString(stance.Point) && slices.Contains(says, stance.Says) && !seen[stance.Point] &&
			len(stances) < maxStances {
			seen[stance.Point] = true
			stances = append(stances, stance)
		}
	}
	return stances, nil
}

// The values of Stance.Says.
const (
	SaysAgree    = "agree"
	SaysDisagree = "disagree"
	SaysUnsure   = "unsure"
)

var says = []string{SaysAgree, SaysDisagree, SaysUnsure}

// ReadGroups reads a chair's groups. Impossible names are ignored, and so are groups of fewer than
// two, and all but the first two points of a contradiction.
func ReadGroups(block string) (Groups, error) {
	var read struct{ Groups, Opposed listOf[listOf[text]] }
	if err := readBlock(block, &read); err != nil {
		return Groups{}, err
	}
	groups := Groups{Same: groupsOf(read.Groups), Opposed: groupsOf(read.Opposed)}
	for i, pair := range groups.Opposed {
		groups.Opposed[i] = pair[:2]
	}
	return groups, nil
}

// groupsOf returns the groups of possible names.
func groupsOf(read listOf[listOf[text]]) [][]string {
	groups := [][]string{}
	for _, g := range read {
		var group []string
		for _, name := range g {
			point := strings.ToLower(name.line(8))
			if pointName().MatchString(point) && !slices.Contains(group, point) && len(group) < maxStances {
				group = append(group, point)
			}
		}
		if len(group) > 1 && len(groups) < maxGroups {
			groups = append(groups, group)
		}
	}
	return groups
}

// ReadBallot reads a vote between choices. A ballot that neither chooses nor abstains is an error:
// nothing is guessed.
func ReadBallot(block string, choices []string) (Ballot, error) {
	var read struct {
		Choice, Why text
		Scores      map[string]json.RawMessage
		Abstain     bool
	}
	if err := readBlock(block, &read); err != nil {
		return Ballot{}, err
	}
	b := Ballot{Abstain: read.Abstain, Why: read.Why.line(maxClaim)}
	if b.Abstain {
		return b, nil
	}
	for name, raw := range read.Scores {
		var score float64
		choice, ok := choiceOf(name, choices)
		if !ok || json.Unmarshal(raw, &score) != nil || math.IsNaN(score) {
			continue
		}
		if b.Scores == nil {
			b.Scores = map[string]float64{}
		}
		if _, twice := b.Scores[choice]; twice {
			return Ballot{}, fmt.Errorf("the ballot scores “%s” twice", choice)
		}
		b.Scores[choice] = min(max(score, 0), 10)
	}
	said := read.Choice.line(maxClaim)
	choice, ok := choiceOf(said, choices)
	switch {
	case said == "":
		return Ballot{}, errors.New("the ballot names no choice")
	case !ok:
		return Ballot{}, fmt.Errorf("the ballot names “%s”, which is no choice", said)
	}
	b.Choice = choice
	return b, nil
}

// choiceOf finds a choice by its name, ignoring case.
func choiceOf(name string, choices []string) (string, bool) {
	same := func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), strings.TrimSpace(name)) }
	i := slices.IndexFunc(choices, same)
	if i < 0 || name == "" {
		return "", false
	}
	return choices[i], true
}

// readBlock reads the JSON object of a block into out, from the first brace on.
func readBlock(block string, out any) error {
	if len(block) > limit.CouncilBlock {
		return errors.New("The block at the end of a member's answer is longer than 64 KiB and was not read.")
	}
	start := strings.IndexByte(block, '{')
	if start < 0 {
		return errBlock
	}
	if json.NewDecoder(strings.NewReader(block[start:])).Decode(out) != nil {
		return errBlock
	}
	return nil
}

// text is a string in a model's JSON. Any other value is read as "".
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = text(s)
	}
	return nil
}

// line returns the text as one line of at most so many characters, without invisible ones.
func (t text) line(most int) string {
	seen := strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(t), ""))
	return shorten.To(strings.Join(strings.Fields(seen), " "), most)
}

// listOf is a list in a model's JSON, without unreadable items. Any other value is read as an empty
// list.
type listOf[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *listOf[T]) UnmarshalJSON(raw []byte) error {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	for _, one := range all {
		var item T
		if json.Unmarshal(one, &item) == nil {
			*l = append(*l, item)
		}
	}
	return nil
}
