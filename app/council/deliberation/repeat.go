package deliberation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"conclave/app/base/fault"
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
	said := m.Name + " did its work again."
	switch {
	case by.Model != nil:
		m.Model, said = *by.Model, m.Name+" spoke through "+cmp.Or(*by.Model, "the helper's model")+"."
	case by.Role != nil:
		if m.Role, said = *by.Role, m.Name+" had no role."; m.Role != "" {
			said = "The role of " + m.Name + " was “" + m.Role + "”."
		}
	case by.Context != nil:
		m.Context, said = *by.Context, m.Name+" was given another part of the chat."
	case by.Tools != nil:
		if m.Tools, said = *by.Tools, m.Name+" had no tools."; len(m.Tools) > 0 {
			said = m.Name + " had the tools " + strings.Join(m.Tools, ", ") + "."
		}
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
	_ = begun.Apply(council.Step{Number: 1, Kind: council.Begins, At: s.r.o.Now(), Begin: b}) // a first step can be
	ids := map[work]string{}                                                                  // of the tasks of this run
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
			b.Kept[id] = withoutUsage(t.End)
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
