package council

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/pattern"
	"conclave/app/tool"
)

// Refused are the name of a council or a member over limit.CouncilName, and a role, or a choice of the
// vote, over limit.CouncilRole.
const (
	nameTooLong = "A name in a council has at most 80 characters."
	roleTooLong = "A role, or a choice, of a council has at most 2,000 characters."
)

var memberID = pattern.Lazy(`^[a-z0-9][a-z0-9-]{0,63}$`)

// IsMemberID reports whether a member can have the id.
func IsMemberID(id string) bool { return memberID().MatchString(id) }

// Check returns a fault of kind invalid that names the first invalid value, or nil. A council without
// members is valid: it does nothing.
func (c Council) Check() error {
	if err := c.bounds(); err != nil {
		return err
	}
	if err := checkName("the council", c.Name, limit.CouncilName, nameTooLong); err != nil {
		return err
	}
	chosen := map[string]bool{}
	for _, choice := range c.Choices {
		plain := strings.ToLower(shownLine(choice))
		switch err := checkName("a choice of the vote", choice, limit.CouncilRole, roleTooLong); {
		case err != nil:
			return err
		case plain == "":
			return invalid("A choice of the vote is empty.", "Leave it out.")
		case chosen[plain]:
			return invalid("The vote has the choice “"+shownLine(choice)+"” twice.",
				"Leave one of them out; small and capital letters count as the same.")
		}
		chosen[plain] = true
	}
	for _, m := range c.Members {
		if err := checkName("a member", m.Name, limit.CouncilName, nameTooLong); err != nil {
			return err
		}
		if role := []rune(m.Role); len(role) > limit.CouncilRole {
			return invalid(roleTooLong, "Make the role of "+m.Name+" shorter.")
		}
	}
	return nil
}

// checkName refuses a name that has several lines, invisible characters, or too many characters.
func checkName(whose, name string, most int, tooLong string) error {
	switch {
	case shownLine(name) != strings.TrimSpace(name):
		return invalid("The name of "+whose+" has several lines or invisible characters: “"+shownLine(name)+"”.",
			"Write it again.")
	case len([]rune(name)) > most:
		return invalid(tooLong, "Make “"+cut(name, 40)+"” shorter.")
	}
	return nil
}

// shownLine returns a name as one line without invisible characters.
func shownLine(name string) string {
	name, _ = tool.Strip(name)
	return strings.Join(strings.Fields(name), " ")
}

// number is a setting with its bounds.
type number struct {
	name             string
	value, low, high float64
}

// bounds checks what a run depends on: modes, ids and numbers.
func (c Council) bounds() error {
	if !slices.Contains(Modes, c.Mode) {
		return invalid(fmt.Sprintf("A council cannot have the mode “%s”.", c.Mode),
			"It is one of: "+strings.Trim(fmt.Sprint(Modes), "[]")+".")
	}
	if m := c.Tool.Mode; m != Sidecar && m != Inline {
		return invalid(fmt.Sprintf("The tools of a council cannot have the mode “%s”.", m), "It is sidecar or inline.")
	}
	if len(c.Members) > limit.CouncilMembers {
		return invalid("A council has at most 24 members.", "Remove some.")
	}
	if err := within("The setting %s of a council cannot be %s.", append([]number{
		{"parallel", float64(c.Parallel), 0, float64(limit.CouncilMembers)},
		{"rounds", float64(c.Rounds), 0, maxRounds},
		{"sidecarContextWindow", float64(c.Tool.Window), 0, 10_000},
		{"maxWordsPerTool", float64(c.Tool.MaxWords), 0, 100_000},
		{"timeoutMs", float64(c.Tool.TimeoutMS), 0, maxSeconds * 1000},
		{"max_tokens of its helper", float64(c.Helper.MaxTokens), 0, maxTokens},
	}, append(c.Limits.numbers(), sampling(c.Helper.Temperature, c.Helper.TopP)...)...)); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, m := range c.Members {
		if err := m.bounds(); err != nil {
			return err
		}
		if seen[m.ID] {
			return invalid("Two members of the council have the id "+m.ID+".", "Give one of them another.")
		}
		seen[m.ID] = true
	}
	return nil
}

// within refuses a number outside its bounds, or NaN. The sentence has a place for its name and one
// for its value.
func within(sentence string, all []number) error {
	for _, n := range all {
		if !(n.value >= n.low && n.value <= n.high) {
			return invalid(fmt.Sprintf(sentence, n.name, plain(n.value)),
				fmt.Sprintf("It is from %s to %s.", plain(n.low), plain(n.high)))
		}
	}
	return nil
}

// plain writes a number without an exponent where that is readable.
func plain(n float64) string {
	if math.Abs(n) < 1e15 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// The largest numbers in a council. A larger one is a typing error.
const (
	maxRounds  = 4 // of answers and reviews
	maxSeconds = 24 * 60 * 60
	maxTokens  = 1_000_000_000
	maxMoney   = 100_000 // US dollars
	maxLast    = 10_000  // turns or messages
	maxHistory = 10      // contracts/spindle, section 9
)

func (m Member) bounds() error {
	who := "The member " + shownLine(m.Name)
	switch {
	case shownLine(m.Name) == "":
		return invalid("A member of the council has no name.", "Give each a name.")
	case !memberID().MatchString(m.ID):
		return invalid(fmt.Sprintf("%s cannot have the id “%s”.", who, m.ID),
			"Use small letters, digits and dashes, at most 64.")
	case len(m.Tools) > limit.CouncilTools:
		return invalid("A member of a council has at most 64 tools.", "Take some of "+shownLine(m.Name)+" away.")
	case !slices.Contains([]Span{AsMode, Question, Turns, Messages, Summary, Whole}, m.Context.Span):
		return invalid(fmt.Sprintf("%s cannot have the context policy “%s”.", who, m.Context.Span),
			"It is one of: question, turns, messages, summary, all.")
	case m.Context.Last < 0, (m.Context.Span == Turns || m.Context.Span == Messages) && m.Context.Last == 0:
		return invalid(who+" sees the last turns, but their number is missing.", "Set last to 1 or more.")
	}
	all := append([]number{
		{"chance", m.Chance, 0, 100},
		{"weight", m.Weight, 0, 100},
		{"max_tokens", float64(m.MaxTokens), 0, maxTokens},
		{"last", float64(m.Context.Last), 0, maxLast},
	}, append(m.Limits.numbers(), sampling(m.Temperature, m.TopP)...)...)
	for _, tool := range slices.Sorted(maps.Keys(m.Retention)) {
		all = append(all, number{"toolHistoryRetention", float64(m.Retention[tool]), 0, maxHistory})
	}
	return within(strings.ReplaceAll(who, "%", "%%")+" cannot have a %s of %s.", all)
}

func (l Limits) numbers() []number {
	return []number{
		{"limit of tokens", float64(l.Tokens), 0, maxTokens},
		{"limit of seconds", float64(l.Seconds), 0, maxSeconds},
		{"limit of money", l.Money, 0, maxMoney},
	}
}

// sampling returns the sampling settings that are set.
func sampling(temperature, topP *float64) (all []number) {
	if temperature != nil {
		all = append(all, number{"temperature", *temperature, 0, 2})
	}
	if topP != nil {
		all = append(all, number{"top_p", *topP, 0, 1})
	}
	return all
}

func invalid(message, hint string) error {
	return fault.New(fault.Invalid, "council.check", message, hint)
}
