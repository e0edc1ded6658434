package council

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/limit"
	"conclave/app/llm"
)

// Macro is where a system text, or a message of the person, wants the notes of the
// council (contracts/spindle, section 10.10).
const Macro = "{{lumiaCouncilDeliberation}}"

// fromEnd is how many messages follow the notes (contracts/spindle, section 10.9).
const fromEnd = 4

// Insert puts notes into a request: where the macro stands, and else before the last four
// messages, never between a call and its result. It returns where, for Put.
func Insert(r *llm.Request, notes string) (at int) {
	if hasMacro(r) {
		Put(r, notes, AtMacro)
		return AtMacro
	}
	at = max(0, len(r.Messages)-fromEnd)
	for at > 0 && at < len(r.Messages) && r.Messages[at].Role == chat.RoleTool {
		at--
	}
	Put(r, notes, at)
	return at
}

// AtMacro is the place of notes that stand where the macro stood.
const AtMacro = -1

// Put puts notes into a request at the place where Insert put them into the first one of
// the same turn, so that what the model read before stays as it was. Every macro is taken
// out.
func Put(r *llm.Request, notes string, at int) {
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
	// Models take one system text, at the start; and some take no two messages of one side
	// after each other.
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
		r.Messages = slices.Insert(r.Messages, at, llm.Message{Role: chat.RoleUser, Parts: []chat.Part{part}})
	}
}

func hasMacro(r *llm.Request) bool {
	if strings.Contains(r.System, Macro) {
		return true
	}
	return slices.ContainsFunc(r.Messages, func(m llm.Message) bool {
		return m.Role == chat.RoleUser && strings.Contains(chat.TextOf(m.Parts), Macro)
	})
}

// Notes returns what the main model is told of a run, or "" where there is nothing to
// tell. history holds the older outputs that are kept, in mode tools.
func Notes(r Run, text func(Hash) string, history string) string {
	if r.Council.Mode == Tools {
		return toolNotes(r, text, history)
	}
	var spoke []string // ids
	for _, s := range r.Seats {
		if r.said(s.Member.ID) != nil {
			spoke = append(spoke, s.Member.ID)
		}
	}
	if len(spoke) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Council\n" + chairText + "\n")
	names := 0
	for _, id := range spoke {
		m, letter := r.Seats[r.seat(id)].Member, r.Letter("", id)
		fmt.Fprintf(&b, "\n### %s, called %s", r.nameOf(id), letter)
		if role := shownLine(m.Role); role != "" {
			b.WriteString(" (" + cut(role, maxClaim) + ")")
		}
		shown, _ := Split(text(r.said(id).End.Text))
		words := cut(shown, maxSaid) + r.pointLines(id, letter, text)
		for _, t := range r.Tasks {
			if t.Member != id || t.State != Done || t.Kind != Look {
				continue
			}
			if seen, _ := Split(text(t.End.Text)); seen != "" {
				words += "\n\nOf the others' answers: " + cut(seen, maxSaid) + r.signing(id)
			}
		}
		names += len(r.Points(id, text))
		b.WriteString("\n" + Fence(r.Seed, "", id, r.nameOf(id)+", a member of the council", words) + "\n")
	}
	tallies, err := Count(r, text)
	if err == nil && len(tallies) > 0 {
		b.WriteString("\n### The vote\n")
		for _, t := range tallies {
			fmt.Fprintf(&b, "- %s: %g votes, score %.1f\n", t.Choice, t.Votes, t.Score)
		}
	}
	for _, sentence := range r.missing(text) {
		b.WriteString("\n" + sentence)
	}
	if len(spoke) > 1 && names > 1 {
		b.WriteString("\n\n" + groupsText)
	}
	return strings.TrimSpace(b.String())
}

// maxSaid bounds, in bytes, what the main model, and other members, are told of one answer:
// ten times what members are asked for.
const maxSaid = 16 << 10

// signing says which letter was whose for a member that reviewed unsigned answers: the
// main model knows them by other letters.
func (r *Run) signing(viewer string) string {
	var pairs []string
	for _, id := range r.lettered(viewer) {
		if r.said(id) != nil {
			pairs = append(pairs, r.Letter(viewer, id)+" is "+r.Letter("", id))
		}
	}
	return "\n(In this review " + strings.Join(pairs, ", ") + ".)"
}

// AnswerCut ends an answer that was longer than it may be.
var AnswerCut = "[" + limit.MemberAnswer.Person + "]"

// missing returns a sentence for the model that was to answer and cannot, and for each member that
// took part and said nothing, or nothing that can be compared.
func (r *Run) missing(text func(Hash) string) []string {
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
			why := r.first(id, Failed)
			if why == nil {
				why = r.first(id, "")
			}
			sentences = append(sentences, name+" did not answer."+because(why))
		case len(r.Points(id, text)) == 0 && !r.judged(id, text):
			why := " gave no points"
			if strings.HasSuffix(text(r.said(id).End.Text), AnswerCut) {
				why = " said more than an answer may hold, and was cut before it gave points"
			}
			sentences = append(sentences, name+why+", so its answer was not compared.")
		}
	}
	return append(sentences, r.unvoted()...)
}

// toolsMissing returns a sentence for each tool of a member that failed, or that it went without.
func (r *Run) toolsMissing(member, name string) (sentences []string) {
	for _, t := range r.Tasks {
		if t.Member != member {
			continue
		}
		title := cmp.Or(shownLine(r.Titles[t.Tool]), t.Tool)
		switch t.State {
		case Failed:
			sentences = append(sentences, name+": "+title+" failed."+because(&t))
		case Skipped:
			sentences = append(sentences, name+" went without "+title+"."+because(&t))
		}
	}
	return sentences
}

// judged reports whether all that a member was asked is to speak of another's draft, and
// it did: then its stances are compared, and it needs no points of its own.
func (r *Run) judged(member string, text func(Hash) string) bool {
	t := r.said(member)
	return t != nil && t.Kind == Oppose &&
		slices.ContainsFunc(r.stances(text), func(s stance) bool { return s.by == member })
}

// unvoted returns a sentence for each ballot that does not count, and one where none does.
// They do not repeat what stands in a ballot: the main model reads them as Conclave's.
func (r *Run) unvoted() (sentences []string) {
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

// first returns the first task of a member in a state, "" any.
func (r *Run) first(member string, state TaskState) *Task {
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Member == member && (state == "" || t.State == state) {
			return t
		}
	}
	return nil
}

// because returns the sentence that says why a task was not done, after a space.
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
