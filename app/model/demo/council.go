package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/chat"
	"conclave/app/model"
)

// The members of the sample council and its chair, as models. They know one question, say
// in every answer that they are scripted, and use tools for real.
const (
	researcher = "researcher"
	sceptic    = "sceptic"
	maker      = "maker"
	chair      = "chair"
)

// sampleWords identify the question that the members know.
const sampleWords = "publish a guide of 1,500 words on 18 December 2026"

// member holds what one of them says and calls.
type member struct {
	name  string
	calls []toolCall
	// answer makes the text and the points of what the tools returned, by their names.
	answer func(results map[string]result) (text string, o opinion)
	review string
	// stances hold what it says of the points of the others, in their order.
	stances map[string][]stance
}

type toolCall struct{ plugin, name, arguments string }

// counted is a point that rests on a tool, or says that it did not run.
func counted(r result, tool, claim, without string) point {
	if !r.ok {
		return point{without, "own", ""}
	}
	return point{claim, "tool", tool}
}

type point struct {
	Claim  string `json:"claim"`
	Basis  string `json:"basis"`
	Source string `json:"source"`
}

type stance struct {
	Point string `json:"point"`
	Says  string `json:"says"`
	Why   string `json:"why"`
	tool  string // on whose result the point rests
}

type opinion struct {
	Position string   `json:"position"`
	Stances  []stance `json:"stances,omitempty"`
	Points   []point  `json:"points"`
}

// result is the result of a call.
type result struct {
	text   string
	fields map[string]any
	ok     bool
}

// of returns the result of a tool, which counts only if it has these numbers.
func of(results map[string]result, tool string, numbers ...string) result {
	r := results[tool]
	for _, name := range numbers {
		if _, ok := r.fields[name].(float64); !ok && r.ok {
			r.ok, r.text = false, "its answer has no number “"+name+"”."
		}
	}
	return r
}

// number returns a number of a result that of was asked for.
func (r result) number(name string) string {
	n, _ := r.fields[name].(float64) // it has it, or does not count
	return fmt.Sprintf("%g", n)
}

// or returns what is said where there is a result, or else why there is none.
func (r result) or(tool, said string) string {
	switch {
	case r.ok:
		return said
	case r.text == "":
		return missing(tool) + " is not here, so nothing was counted."
	}
	return missing(tool) + " did not do it: " + escape(r.text)
}

// missing begins the sentence that says why a result is missing.
func missing(tool string) string { return "The tool `" + tool + "`" }

var council = map[string]member{
	researcher: {
		name:  "Researcher",
		calls: []toolCall{{"dice", "days_between", `{"from":"2026-11-30","to":"2026-12-18"}`}},
		answer: func(results map[string]result) (string, opinion) {
			days := of(results, "days_between", "days", "weekdays")
			return days.or("days_between", fmt.Sprintf("From 30 November to 18 December there are **%s days**, of them "+
					"**%s weekdays**.", days.number("days"), days.number("weekdays"))) +
					" Four people write 1,500 words in less than two weeks.\n\nHow long a review takes, nobody said.",
				opinion{"Yes, there is time enough.", nil, []point{
					counted(days, "dice:days_between",
						"There are "+days.number("weekdays")+" weekdays from 30 November to 18 December.",
						"How many weekdays there are from 30 November to 18 December was not counted."),
					{"Four people write 1,500 words in less time than there is.", "own", ""},
				}}
		},
		review: "The week for a review is right, and I had left it out. Who begins matters little.",
		stances: map[string][]stance{
			sceptic: {
				{Says: "agree", Why: "It is counted.", tool: "days_between"}, {Says: "agree", Why: "I had left the review out."},
			},
			maker: {
				{Says: "agree", Why: "It is what the die shows.", tool: "roll_dice"},
				{Says: "agree", Why: "It can be counted.", tool: "text_statistics"},
				{Says: "agree", Why: "That is what I found."},
			},
		},
	},
	sceptic: {
		name:  "Sceptic",
		calls: []toolCall{{"dice", "days_between", `{"from":"2026-11-30","to":"2026-12-11"}`}},
		answer: func(results map[string]result) (string, opinion) {
			days := of(results, "days_between", "weekdays")
			return "A text is not finished when it is written: the last week is kept for a review. " +
					days.or("days_between", fmt.Sprintf("Without it **%s weekdays** are left.", days.number("weekdays"))) +
					" It goes wrong when the review is thought of on the last day.",
				opinion{"Only if the review is planned first.", nil, []point{
					counted(days, "dice:days_between",
						"Without the last week, for a review, "+days.number("weekdays")+" weekdays are left to write.",
						"How many weekdays are left without the last week, for a review, was not counted."),
					{"The time is enough only if the review is planned from the beginning.", "own", ""},
				}}
		},
		review: "The time there is was looked at with care. What follows from it is not: writing is not the slow part.",
		stances: map[string][]stance{
			researcher: {
				{Says: "agree", Why: "It is counted.", tool: "days_between"},
				{Says: "disagree", Why: "Writing is not the slow part, the review is."},
			},
			maker: {
				{Says: "unsure", Why: "A die chooses fairly, not well.", tool: "roll_dice"},
				{Says: "agree", Why: "It can be counted.", tool: "text_statistics"},
				{Says: "disagree", Why: "Not without a plan for the review."},
			},
		},
	},
	maker: {
		name: "Maker",
		calls: []toolCall{
			{"dice", "roll_dice", `{"notation":"1d4"}`},
			{"desk", "text_statistics", `{"text":"` + opening + `"}`},
		},
		answer: func(results map[string]result) (string, opinion) {
			die, text := of(results, "roll_dice", "total"), of(results, "text_statistics", "words")
			return "Let a die say who begins. " + die.or("roll_dice", fmt.Sprintf("It fell on **%s**, so person %s does.",
					die.number("total"), die.number("total"))) +
					fmt.Sprintf(" A first sentence to go on from:\n\n> %s\n\n", opening) +
					text.or("text_statistics", fmt.Sprintf("That is %s words of 1,500.", text.number("words"))),
				opinion{"Yes; begin now.", nil, []point{
					counted(die, "dice:roll_dice", "Person "+die.number("total")+" begins: the die fell so.",
						"Who begins is open: no die was thrown."),
					counted(text, "desk:text_statistics",
						"The first "+text.number("words")+" of the 1,500 words are written.",
						"A first sentence is written; its words were not counted."),
					{"Two and a half weeks are time enough.", "own", ""},
				}}
		},
		review: "Agreed on both. The week for a review costs nothing if we begin now.",
		stances: map[string][]stance{
			researcher: {
				{Says: "agree", Why: "It is counted.", tool: "days_between"}, {Says: "agree", Why: "A few are written already."},
			},
			sceptic: {
				{Says: "agree", Why: "It is counted.", tool: "days_between"}, {Says: "agree", Why: "It costs nothing."},
			},
		},
	},
}

// opening is the first sentence of the Maker.
const opening = "This guide is for everybody who was handed the keys and told nothing."

// deliberate decides what a member of the sample council, or its chair, does.
func deliberate(id string, r model.Request) performance {
	all := asked(r)
	if id == chair {
		return performance{say(conclude(all))}
	}
	m := council[id]
	task := taskOf(r)
	switch {
	case task == "ballot":
		return performance{say(block(map[string]any{"abstain": true, "why": "I am scripted, and have no view."}))}
	case !strings.Contains(all, sampleWords):
		return performance{say(m.scripted() +
			"I know one question, that of the sample council. To this one I have no view.\n\n" +
			block(opinion{"No view: scripted.", nil, []point{}}))}
	case task == "review":
		return performance{say(m.scripted() + m.review + "\n\n" + block(opinion{"As before.", m.stancesOn(all), []point{}}))}
	case task != "answer":
		return performance{say(m.scripted() + "I have nothing to add.\n")}
	}
	results, called := resultsOf(r)
	if p := m.use(r); !called && len(p) > 0 && !r.NoCalls {
		return numbered(p, r)
	}
	text, o := m.answer(results)
	return performance{say(m.scripted() + text + "\n\n" + block(o))}
}

// scripted returns who speaks.
func (m member) scripted() string {
	return "*Scripted: Demo guide plays the " + m.name + ". No model thought about this.*\n\n"
}

// use makes the member's calls, of the tools that are there.
func (m member) use(r model.Request) performance {
	var p performance
	for _, c := range m.calls {
		if t, ok := findTool(c.plugin+":"+c.name, r.Tools); ok {
			p = append(p, ask(t.Name, json.RawMessage(c.arguments), ""))
		}
	}
	return p
}

// stancesOn makes the member's stances of the answers of the others that it was shown,
// which are unsigned: each says itself who plays it.
func (m member) stancesOn(all string) []stance {
	var list []stance
	for _, words := range fences().FindAllStringSubmatch(all, -1) {
		letter := called().FindStringSubmatch(words[1])
		for _, id := range slices.Sorted(maps.Keys(m.stances)) {
			if letter == nil || !strings.Contains(words[2], council[id].scripted()) {
				continue
			}
			for i, s := range m.stances[id] {
				if s.tool != "" && strings.Contains(words[2], missing(s.tool)) {
					s.Says, s.Why = "unsure", "Its tool did not run."
				}
				s.Point = letter[1] + itoa(i+1)
				list = append(list, s)
			}
		}
	}
	return list
}

// The marks around members' words, and the letter by which an answer is called.
var (
	fences  = pattern.Lazy(`(?s)<<<words of ([^\n]*)>>>\n(.*?)\n<<<end `)
	called  = pattern.Lazy(`called ([a-z])\b`)
	heading = pattern.Lazy(`(?m)^### ([^\n,]+), called ([a-z])\b`)
)

// conclude writes the answer of the chair: each member's words, with the letter by which
// they are cited.
func conclude(all string) string {
	const scripted = "*Scripted: Demo guide plays the chair. No model thought about this.*\n\n"
	letters := map[string]string{}
	for _, h := range heading().FindAllStringSubmatch(all, -1) {
		letters[h[1]] = h[2]
	}
	if len(letters) == 0 {
		return scripted + "No council said anything to me.\n"
	}
	said := func(id, pattern string) string {
		for _, words := range fences().FindAllStringSubmatch(all, -1) {
			if strings.Contains(words[2], council[id].scripted()) {
				if found := regexp.MustCompile(pattern).FindStringSubmatch(words[2]); found != nil {
					return found[1]
				}
			}
		}
		return ""
	}
	cite := func(id string, n int) string { return " [" + letters[council[id].name] + itoa(n) + "]" }
	var b strings.Builder
	b.WriteString(scripted)
	days, left := said(researcher, `\*\*(\d+) weekdays`), said(sceptic, `\*\*(\d+) weekdays`)
	if days != "" {
		fmt.Fprintf(&b, "There are %s weekdays%s: enough for 1,500 words. ", days, cite(researcher, 1))
	}
	if left != "" {
		fmt.Fprintf(&b, "With the last week kept for a review, %s are left%s. ", left, cite(sceptic, 1))
	}
	if days == "" && left == "" {
		b.WriteString("The days were not counted; the members say why. ")
	}
	if n := said(maker, `fell on \*\*(\d+)`); n != "" {
		fmt.Fprintf(&b, "Person %s begins, as the die fell%s. ", n, cite(maker, 1))
	}
	b.WriteString("The members do not agree whether the time is enough by itself: plan the review first.\n\n")
	b.WriteString("Open **What did … see?** in the menu of a member to read what it was sent, or replay the run.\n\n")
	groups := [][]string{}
	if r, m := letters["Researcher"], letters["Maker"]; r != "" && m != "" {
		groups = append(groups, []string{r + "2", m + "3"})
	}
	b.WriteString(block(map[string]any{"groups": groups}))
	return b.String()
}

// block writes what is read of an answer and not shown.
func block(v any) string {
	data, err := json.Marshal(v)
	if err != nil { // texts and numbers can be written
		return ""
	}
	return "```council\n" + string(data) + "\n```\n"
}

// asked returns all texts of a request.
func asked(r model.Request) string {
	all := []string{r.System}
	for _, m := range r.Messages {
		all = append(all, chat.TextOf(m.Parts))
	}
	return strings.Join(all, "\n")
}

// taskOf finds a member's task by the block that it is asked for.
func taskOf(r model.Request) string {
	newest := ""
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == chat.RoleUser {
			newest = chat.TextOf(m.Parts)
			break
		}
	}
	switch {
	case strings.Contains(newest, `"choice":`):
		return "ballot"
	case strings.Contains(newest, `"stances":`):
		return "review"
	case strings.Contains(r.System+newest, `"points":`):
		return "answer"
	}
	return ""
}

// resultsOf returns the results of the calls that were made for the newest question, by the
// name of the tool, and whether there were any.
func resultsOf(r model.Request) (results map[string]result, called bool) {
	results = map[string]result{}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			called = true
			_, bare, found := strings.Cut(p.Result.Tool, "__")
			if !found {
				bare = p.Result.Tool
			}
			one := result{text: strings.TrimSpace(p.Result.Text()), ok: !p.Result.IsError}
			one.ok = json.Unmarshal([]byte(one.text), &one.fields) == nil && one.ok
			results[bare] = one
		}
	}
	return results, called
}
