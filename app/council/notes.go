package council

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
)

// Macro marks the place for the notes in a system text or a message of the person (contracts/spindle,
// section 10.10).
const Macro = "{{lumiaCouncilDeliberation}}"

// fromEnd is the number of messages after the notes (contracts/spindle, section 10.9).
const fromEnd = 4

// Insert puts notes into a request: at the macro, or else before the last four messages, never between
// a call and its result. It returns the place, for Put.
func Insert(r *model.Request, notes string) (at int) {
	at = AtMacro
	if !hasMacro(r) {
		at = max(0, len(r.Messages)-fromEnd)
		for at > 0 && at < len(r.Messages) && r.Messages[at].Role == chat.RoleTool {
			at--
		}
	}
	Put(r, notes, at)
	return at
}

// AtMacro is the place of notes that replace the macro.
const AtMacro = -1

// Put puts notes into a later request of the same turn, where Insert put them in the first, so that
// the model's earlier input stays the same. It removes every macro.
func Put(r *model.Request, notes string, at int) {
	left := ""
	if at == AtMacro {
		left = notes
	}
	r.Messages = slices.Clone(r.Messages)
	replace := func(s string) string {
		before, after, found := strings.Cut(s, Macro)
		if !found {
			return s
		}
		s, left = before+left+strings.ReplaceAll(after, Macro, ""), ""
		return s
	}
	r.System = replace(r.System)
	for i, m := range r.Messages {
		if m.Role != chat.RoleUser {
			continue
		}
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			if m.Parts[j].Kind == chat.PartText {
				m.Parts[j].Text = replace(m.Parts[j].Text)
			}
		}
		r.Messages[i] = m
	}
	if at == AtMacro || notes == "" {
		return
	}
	// Models accept one system text, at the start, and some reject two messages of one role in a row.
	part := chat.TextPart("[System note]\n" + notes)
	at = min(at, len(r.Messages))
	switch {
	case at > 0 && r.Messages[at-1].Role == chat.RoleUser:
		m := &r.Messages[at-1]
		m.Parts = append(slices.Clone(m.Parts), part)
	case at < len(r.Messages) && r.Messages[at].Role == chat.RoleUser:
		m := &r.Messages[at]
		m.Parts = append([]chat.Part{part}, m.Parts...)
	default:
		r.Messages = slices.Insert(r.Messages, at, model.Message{Role: chat.RoleUser, Parts: []chat.Part{part}})
	}
}

func hasMacro(r *model.Request) bool {
	if strings.Contains(r.System, Macro) {
		return true
	}
	return slices.ContainsFunc(r.Messages, func(m model.Message) bool {
		return m.Role == chat.RoleUser && strings.Contains(chat.TextOf(m.Parts), Macro)
	})
}

// Notes returns the notes of a run for the main model, or "" where there is nothing to say. In mode
// tools, history holds the older outputs.
func Notes(run Run, text func(Hash) string, history string) string {
	r := Record{&run, text}
	if r.Council.Mode == Tools {
		return r.toolNotes(history)
	}
	spoke := r.spoke()
	if len(spoke) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Council\n" + chairText + "\n")
	names := 0
	for _, id := range spoke {
		m, letter := r.Member(id), r.Letter("", id)
		fmt.Fprintf(&b, "\n### %s, called %s", r.nameOf(id), letter)
		if role := shownLine(m.Role); role != "" {
			b.WriteString(" (" + cut(role, maxClaim) + ")")
		}
		words := cut(r.shownBy(*r.said(id)), maxSaid) + r.pointLines(id, letter)
		for t := range r.TasksOf(id) {
			if t.State != Done || t.Kind != Look {
				continue
			}
			if seen := r.shownBy(*t); seen != "" {
				words += "\n\nOf the others' answers: " + cut(seen, maxSaid) + r.signing(id)
			}
		}
		names += len(r.Points(id))
		b.WriteString("\n" + Fence(r.Seed, "", id, r.nameOf(id)+", a member of the council", words) + "\n")
	}
	tallies, err := Count(run, text)
	if err == nil && len(tallies) > 0 {
		b.WriteString("\n### The vote\n")
		for _, t := range tallies {
			fmt.Fprintf(&b, "- %s: %g votes, score %.1f\n", t.Choice, t.Votes, t.Score)
		}
	}
	for _, sentence := range r.missing() {
		b.WriteString("\n" + sentence)
	}
	if len(spoke) > 1 && names > 1 {
		b.WriteString("\n\n" + groupsText)
	}
	return strings.TrimSpace(b.String())
}

// maxSaid bounds, in bytes, how much of one answer the main model and other members see: ten times
// what members are asked for.
const maxSaid = 16 << 10

// signing maps the letters that a reviewer had for unsigned answers to the letters that the main model
// knows.
func (r Record) signing(viewer string) string {
	var pairs []string
	for _, id := range r.lettered(viewer) {
		if r.said(id) != nil {
			pairs = append(pairs, r.Letter(viewer, id)+" is "+r.Letter("", id))
		}
	}
	return "\n(In this review " + strings.Join(pairs, ", ") + ".)"
}

// AnswerCut ends an answer that was cut because it was too long.
const AnswerCut = "[The answer was longer than 256 KiB and was cut here.]"

// missing returns sentences: for a chair that could not be asked, and for each member that took part
// without an answer, or with one that cannot be compared.
func (r Record) missing() []string {
	sentences := []string{}
	if why := r.Out[""]; why != "" {
		sentences = append(sentences, shownLine(why))
	}
	for _, s := range r.Seats {
		id, name := s.Member.ID, r.nameOf(s.Member.ID)
		switch {
		case !s.In:
		case r.Council.Mode == Tools:
			sentences = append(sentences, r.toolsMissing(id, name)...)
		case r.said(id) == nil:
			sentences = append(sentences, name+" did not answer."+because(r.first(id)))
		case len(r.Points(id)) == 0 && !r.judged(id):
			why := " gave no points"
			if strings.HasSuffix(r.Text(r.said(id).End.Text), AnswerCut) {
				why = " said more than an answer may hold, and was cut before it gave points"
			}
			sentences = append(sentences, name+why+", so its answer was not compared.")
		}
	}
	return append(sentences, r.unvoted()...)
}

// NotThere explains why a member goes without a tool that no plugin offers.
func NotThere(tool string) string { return "The tool " + tool + " is not available." }

// toolsMissing returns a sentence for each tool of a member that failed or was skipped.
func (r Record) toolsMissing(member, name string) (sentences []string) {
	for t := range r.TasksOf(member) {
		title := cmp.Or(shownLine(r.Titles[t.Tool]), t.Tool)
		switch t.State {
		case Failed:
			sentences = append(sentences, name+": "+title+" failed."+because(t))
		case Skipped:
			sentence := name + " went without " + title + "."
			if r.Lacks[member] == "" || t.Why != NotThere(t.Tool) { // the run says the cause once
				sentence += because(t)
			}
			sentences = append(sentences, sentence)
		}
	}
	return sentences
}

// judged reports whether a member's only task was to object to a draft, and it took stances. It needs
// no points then.
func (r Record) judged(member string) bool {
	t := r.said(member)
	return t != nil && t.Kind == Oppose &&
		slices.ContainsFunc(r.stances(), func(s stance) bool { return s.by == member })
}

// unvoted returns a sentence for each ballot that does not count, and one where none does. None quotes
// a ballot, since the main model reads them as Conclave's words.
func (r Record) unvoted() (sentences []string) {
	cast, counts := 0, 0
	for _, t := range r.Tasks {
		if t.Kind != Cast {
			continue
		}
		cast++
		switch t.State {
		case Done:
			counts++
		case Failed:
			sentences = append(sentences, "The ballot of "+r.nameOf(t.Member)+" could not be counted.")
		default:
			sentences = append(sentences, r.nameOf(t.Member)+" did not vote.")
		}
	}
	if cast > 0 && counts == 0 {
		sentences = append(sentences, "No vote could be counted.")
	}
	return sentences
}

// first returns the first task of a member that failed, or else its first task.
func (r Record) first(member string) (first *Task) {
	for t := range r.TasksOf(member) {
		if t.State == Failed {
			return t
		}
		first = cmp.Or(first, t)
	}
	return first
}

// because returns the reason why a task was not done, after a space.
func because(t *Task) string {
	switch {
	case t == nil:
		return ""
	case t.State == Failed && t.End.Failure != nil:
		return " " + cut(shownLine(t.End.Failure.Message), maxClaim)
	case t.Why != "":
		return " " + t.Why
	}
	return ""
}
