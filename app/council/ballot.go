package council

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// storedBallot is a ballot as it is stored. Older runs add a salt, which is ignored.
type storedBallot struct {
	Ballot *Ballot `json:"ballot"`
}

// EncodeBallot returns the text that End.Ballot names.
func EncodeBallot(b Ballot) []byte {
	raw, err := json.Marshal(storedBallot{&b})
	if err != nil { // scores are finite, see ReadBallot
		return []byte("{}")
	}
	return raw
}

// DecodeBallot reads a text that End.Ballot names.
func DecodeBallot(text string) (Ballot, error) {
	var stored storedBallot
	if err := json.Unmarshal([]byte(text), &stored); err != nil || stored.Ballot == nil {
		return Ballot{}, errors.New("it cannot be read")
	}
	return *stored.Ballot, nil
}

// Choices returns what a member votes between: the council's choices, or the letters of the others'
// answers.
func (r *Run) Choices(member string) []string {
	if len(r.Council.Choices) > 0 {
		return r.Council.Choices
	}
	var letters []string
	for _, id := range r.lettered(member) {
		if t := r.said(id); t != nil {
			letters = append(letters, r.Letter(member, id))
		}
	}
	return letters
}

// Chosen returns the name of the member whose answer a ballot chose, or "".
func (r Record) Chosen(t Task, b Ballot) string {
	if len(r.Council.Choices) > 0 || b.Abstain {
		return ""
	}
	if id := r.OfLetter(t.Member, b.Choice); id != "" {
		return r.nameOf(id)
	}
	return ""
}

// Count counts the votes of a run once they are opened; before that it returns nil. The error names
// the first ballot that cannot be read.
func Count(r Run, text func(Hash) string) ([]Tally, error) {
	if !r.Opened {
		return nil, nil
	}
	tallies := choosable(&r)
	weights := make([]float64, len(tallies)) // of those who scored
	for _, t := range r.Tasks {
		if t.Kind != Cast || t.State != Done {
			continue
		}
		weight := r.Member(t.Member).Weight
		b, err := DecodeBallot(text(t.End.Ballot))
		if err != nil {
			return nil, fmt.Errorf("the ballot of %s: %w", r.nameOf(t.Member), err)
		}
		for i := range tallies {
			says := tallies[i].Choice
			if tallies[i].Member != "" {
				says = r.Letter(t.Member, tallies[i].Member)
			}
			if says != "" && b.Choice == says && !b.Abstain {
				tallies[i].Votes += weight
			}
			if score, ok := b.Scores[says]; ok && says != "" {
				tallies[i].Score += weight * score
				weights[i] += weight
			}
		}
	}
	for i := range tallies {
		if weights[i] > 0 {
			tallies[i].Score /= weights[i]
		}
	}
	slices.SortStableFunc(tallies, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(b.Score, a.Score))
	})
	return tallies, nil
}

// choosable lists the choices, with nothing counted yet.
func choosable(r *Run) []Tally {
	tallies := []Tally{}
	for _, c := range r.Council.Choices {
		tallies = append(tallies, Tally{Choice: c})
	}
	if len(tallies) > 0 {
		return tallies
	}
	for _, s := range r.Seats {
		if r.said(s.Member.ID) != nil {
			tallies = append(tallies, Tally{Choice: r.nameOf(s.Member.ID), Member: s.Member.ID})
		}
	}
	return tallies
}
