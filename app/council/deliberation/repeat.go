package deliberation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
)

// loadBefore reads the run that is continued or repeated.
func (s *session) loadBefore(ctx context.Context, from council.RunID) error {
	run, log, err := s.r.stored(ctx, from)
	if err != nil {
		return err
	}
	s.before, s.log, s.council = run, log, run.Council
	if run.Conversation != s.req.Conversation {
		return fault.New(fault.Invalid, "deliberation.run", "This council run belongs to another chat.", "Open that chat.")
	}
	if s.how.Resume != "" {
		if run.State == council.Over || s.r.loop(from) != nil {
			return tooLate()
		}
		return nil
	}
	changed, _, err := change(run.Council, s.how.Change)
	s.council = changed
	s.how.Only = run.Only
	return err
}

// change returns a council with one change, and a sentence about it.
func change(c council.Council, by Change) (council.Council, string, error) {
	if by == (Change{}) {
		return c, "Everybody did their work again.", nil
	}
	i := slices.IndexFunc(c.Members, func(m council.Member) bool { return m.ID == by.Member })
	if i < 0 {
		return c, "", fault.New(fault.NotFound, "deliberation.again", "The council of this run has no member "+by.Member+".",
			"conclave council replay shows who was in it.")
	}
	c.Members = slices.Clone(c.Members)
	m := &c.Members[i]
	said := ""
	switch {
	case by.Model != nil:
		said = fmt.Sprintf("%s spoke through %s.", m.Name, cmp.Or(*by.Model, "the helper's model"))
		m.Model = *by.Model
	case by.Role != nil:
		said = m.Name + " had no role."
		if *by.Role != "" {
			said = fmt.Sprintf("The role of %s was “%s”.", m.Name, *by.Role)
		}
		m.Role = *by.Role
	case by.Context != nil:
		said = fmt.Sprintf("%s was given another part of the chat.", m.Name)
		m.Context = *by.Context
	case by.Tools != nil:
		said = m.Name + " had no tools."
		if len(*by.Tools) > 0 {
			said = fmt.Sprintf("%s had the tools %s.", m.Name, strings.Join(*by.Tools, ", "))
		}
		m.Tools = *by.Tools
	default:
		said = fmt.Sprintf("%s did its work again.", m.Name)
	}
	return c, said, c.Check()
}

// repeat fills the beginning of a run that repeats another. Letters and dice stay the same, and so do
// results from before the first effect of the change; where everybody works again, no results are
// reused.
func (s *session) repeat(b *council.Begin) {
	_, b.Change, _ = change(s.before.Council, s.how.Change) // loadBefore checked it
	b.Again, b.Seed, b.Kept = s.before.Begin.Run, s.before.Seed, map[string]council.End{}
	b.Places = s.before.Places // reused words name points by these letters
	if s.how.Change == (Change{}) {
		return
	}
	var begun council.Run
	if begun.Apply(council.Step{Number: 1, Kind: council.Begins, At: s.r.o.Now(), Begin: b}) != nil {
		return // a first step can be applied
	}
	ids := map[work]string{} // of the tasks of this run
	for i, w := range worksOf(begun.Tasks) {
		ids[w] = begun.Tasks[i].ID
	}
	works := worksOf(s.before.Tasks)
	first := slices.IndexFunc(s.before.Tasks, func(t council.Task) bool { return t.Member == s.how.Change.Member })
	for i, t := range s.before.Tasks {
		if t.State != council.Done || t.Member == s.how.Change.Member {
			continue
		}
		id, there := ids[works[i]]
		if there && (first < 0 || i < first || t.Stage <= s.before.Tasks[first].Stage) {
			end := t.End
			end.Usage = chat.Usage{} // it was paid for in that run
			b.Kept[id] = end
		}
	}
}

// work identifies a task across runs of a council. Its id does not, since it has the stage, and a
// summary shifts all stages.
type work struct {
	member string
	kind   council.TaskKind
	tool   string
	stage  int // after the summary
}

// worksOf identifies tasks.
func worksOf(tasks []council.Task) []work {
	first := max(0, slices.IndexFunc(tasks, func(t council.Task) bool { return t.Kind != council.Summarize }))
	works := make([]work, len(tasks))
	for i, t := range tasks {
		works[i] = work{t.Member, t.Kind, t.Tool, t.Stage - tasks[first].Stage}
	}
	return works
}

// keptTexts returns the texts of reused results.
func (s *session) keptTexts(ctx context.Context, b council.Begin) (map[council.Hash][]byte, error) {
	texts := map[council.Hash][]byte{}
	for _, end := range b.Kept {
		hashes := []council.Hash{end.Text, end.Ballot}
		for _, r := range end.Requests {
			hashes = append(hashes, r.Body, r.Given)
		}
		for _, h := range hashes {
			if h == "" {
				continue
			}
			text, err := s.r.Text(ctx, s.keptFrom, h)
			if fault.KindOf(err) == fault.NotFound { // a body that was too long to be stored
				continue
			}
			if err != nil {
				return nil, err
			}
			texts[h] = text
		}
		for _, r := range end.Requests {
			s.keepBlocks(ctx, r.Given, texts)
		}
	}
	return texts, nil
}
