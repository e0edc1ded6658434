package deliberation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model/cost"
	"conclave/app/tool"
)

// Words returns a line for people: "used look: 3 files". It is empty for lines that a timeline leaves
// out.
func (l Line) Words() string {
	if l.Type == "permission" {
		if l.Decision == string(gate.Allow) {
			return ""
		}
		return fmt.Sprintf("%s %s: %s", l.Decision, oneLine(l.Tool, maxWords), oneLine(l.Why, maxWords))
	}
	tool := l.Tool
	if _, name, ok := strings.Cut(tool, ":"); ok && !l.Shared {
		tool = name
	}
	tool = oneLine(tool, maxWords)
	said := oneLine(l.Text, maxWords)
	switch l.State {
	case "started":
		return l.start()
	case "waiting":
		if l.Roll == nil {
			return oneLine(l.Text, 4*maxWords) // Conclave's sentence, with what to do at its end
		}
		return fmt.Sprintf("threw %.1f and takes part (below %g)", *l.Roll, *l.Chance)
	case "sat_out":
		return "sits out: " + said
	case "reading", "thinking", "writing":
		if l.Text != "" {
			return ""
		}
		return stateWords[l.State]
	case "using":
		return "uses " + tool
	case "used":
		return with("used "+tool+l.waited(), said)
	case "said":
		return with(cmp.Or(stateWords[l.Kind], l.Kind)+whose(l.Drawn)+l.waited(), said)
	case "voted":
		return "voted" + l.waited()
	case "failed":
		if l.ID != "" { // of the member; the failed task was reported above
			return ""
		}
		return with(strings.TrimSpace(tool+" failed")+l.waited(), said)
	case "sealed":
		return limit.Counted(l.Count, "vote") + " cast"
	case "opened", "resumed":
		return stateWords[l.State]
	case "asking":
		return said
	case "unkept", "kept":
		return oneLine(l.Text, 4*maxWords)
	case "done":
		if l.Input+l.Output == 0 && l.Refused == 0 { // its tasks were reported above
			return ""
		}
		return l.spent()
	case "completed", "concluded":
		return l.spent()
	}
	return with(strings.ReplaceAll(l.State, "_", " "), said)
}

// stateWords are the words for some states, and for kinds of tasks that are done.
var stateWords = map[string]string{
	"reading": "reads", "thinking": "thinks", "writing": "writes", "opened": "the votes are counted",
	"resumed": "goes on", "answer": "answered", "review": "reviewed the answers", "draft": "wrote a draft",
	"critique": "spoke against the draft", "summary": "summed the chat up",
}

// waited describes how long a task waited for a person.
func (l Line) waited() string {
	if l.Asked < 50 {
		return ""
	}
	return fmt.Sprintf(" (a person was asked for %.1f s)", float64(l.Asked)/1000)
}

// whose lists letters and names, if there are some: " (a is Ada, b is Cy)".
func whose(letters []council.Drawn) string {
	if len(letters) == 0 {
		return ""
	}
	var pairs []string
	for _, d := range letters {
		pairs = append(pairs, d.Letter+" is "+oneLine(d.Name, maxWords))
	}
	return " (" + strings.Join(pairs, ", ") + ")"
}

// start describes what the run may take.
func (l Line) start() string {
	parts := []string{limit.Counted(l.Members, "member"), limit.Counted(l.Calls, "request") + " to models"}
	if l.Cost != nil && *l.Cost > 0 {
		parts = append(parts, "about "+cost.Words(*l.Cost, true))
	}
	if l.Cap > 0 {
		parts = append(parts, "at most "+cost.Words(l.Cap, true))
	}
	if l.Run != "" { // needed to act on it from another terminal
		parts = append(parts, "run "+oneLine(l.Run, maxWords))
	}
	return strings.Join(parts, ", ")
}

// spent describes what was spent.
func (l Line) spent() string {
	parts := []string{l.State}
	switch {
	case l.State == "concluded":
		parts[0] = "answered"
	case l.State == "completed" && l.Text == noAnswers:
		parts[0] = "over"
	}
	if l.Refused > 0 {
		parts[0] += ", " + limit.Counted(l.Refused, "call") + " refused"
	}
	if n := l.Input + l.Output; n > 0 {
		dollars := 0.0
		if l.Cost != nil {
			dollars = *l.Cost
		}
		spent := cost.Words(dollars, l.Cost != nil)
		if l.Estimate != nil {
			spent += " (estimated " + cost.Words(*l.Estimate, true) + ")"
		}
		parts = append(parts, limit.Counted(int(n), "token"), spent)
	}
	return with(strings.Join(parts, " · "), oneLine(l.Text, maxWords))
}

// maxWords bounds, in characters, how much of a text a line of a timeline shows.
const maxWords = 100

func oneLine(s string, most int) string {
	s, _ = tool.Strip(s)
	return shorten.To(strings.Join(strings.Fields(s), " "), most)
}

func with(what, said string) string {
	if said == "" {
		return what
	}
	return what + ": " + said
}

// Box returns the lines of a result, as shown below the answer.
func Box(run council.Run, r council.Result) []string {
	var lines []string
	for _, part := range []struct {
		title    string
		findings []council.Finding
		who      bool // with the names of members
	}{{"Agreement", r.Agreement, true}, {"Disagreement", r.Disagreement, true}, {"Not checked", r.NotChecked, false}} {
		if len(part.findings) == 0 {
			continue
		}
		lines = append(lines, part.title)
		for _, f := range part.findings {
			points := ""
			if len(f.Points) > 0 {
				points = " [" + strings.Join(f.Points, ", ") + "]"
			}
			lines = append(lines, "  "+oneLine(f.Text, 300)+points)
			if part.who {
				lines = append(lines, "    "+strings.Join(standing(run, f), ", "))
			}
			for _, against := range f.Against {
				lines = append(lines, "    "+oneLine(against, 300))
			}
		}
	}
	if len(r.Tally) > 0 {
		lines = append(lines, "Votes")
		for _, t := range r.Tally {
			lines = append(lines, fmt.Sprintf("  %s: %g", oneLine(t.Choice, maxWords), t.Votes))
		}
	}
	for _, missing := range r.Missing {
		lines = append(lines, oneLine(missing, 300))
	}
	return lines
}

// standing names the members that support a finding.
func standing(run council.Run, f council.Finding) []string {
	var names []string
	for _, letter := range append(slices.Clone(f.Points), f.Agree...) {
		name := oneLine(run.Called(letter[:1]), maxWords)
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
