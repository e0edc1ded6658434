package council

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Seal puts a ballot into an envelope. The commit is recorded when the member has voted;
// the envelope is read when all have.
func Seal(b Ballot, salt string) (envelope []byte, commit Hash) {
	envelope, err := json.Marshal(SealedBallot{Salt: salt, Ballot: b})
	if err != nil { // a ballot that was read can be written: its scores are numbers
		envelope = []byte("{}")
	}
	return envelope, HashOf(envelope)
}

// Choices returns what a member votes between: the council's choices, or the letters by
// which it is shown the answers of the others.
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

// Chosen names the member whose unsigned answer a ballot chose, or returns "".
func (r *Run) Chosen(t Task, b Ballot) string {
	if len(r.Council.Choices) > 0 || b.Abstain {
		return ""
	}
	if id := r.OfLetter(t.Member, b.Choice); id != "" {
		return r.nameOf(id)
	}
	return ""
}

// Count counts the ballots of a run, once they are opened. The error says that an
// envelope is not the one that was sealed.
func Count(r Run, open func(Hash) ([]byte, error)) ([]Tally, error) {
	if !r.Opened {
		return nil, nil
	}
	tallies := r.choosable()
	weights := make([]float64, len(tallies)) // of those who scored
	for _, t := range r.Tasks {
		if t.Kind != Cast || t.State != Done {
			continue
		}
		name, weight := r.nameOf(t.Member), 1.0
		if i := r.seat(t.Member); i >= 0 {
			weight = r.Seats[i].Member.Weight
		}
		b, err := opened(t.End.Commit, open)
		if err != nil {
			return nil, fmt.Errorf("the ballot of %s: %w", name, err)
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
		if a.Votes != b.Votes {
			return sign(b.Votes - a.Votes)
		}
		return sign(b.Score - a.Score)
	})
	return tallies, nil
}

// choosable lists what there is to choose, with nothing counted.
func (r *Run) choosable() []Tally {
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

func opened(commit Hash, open func(Hash) ([]byte, error)) (Ballot, error) {
	envelope, err := open(commit)
	if err != nil {
		return Ballot{}, err
	}
	if HashOf(envelope) != commit {
		return Ballot{}, fmt.Errorf("it is not the one that was sealed")
	}
	var sealed SealedBallot
	err = json.Unmarshal(envelope, &sealed)
	return sealed.Ballot, err
}

func sign(f float64) int {
	switch {
	case f < 0:
		return -1
	case f > 0:
		return 1
	}
	return 0
}
