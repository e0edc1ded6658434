package window

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/textdiff"
	"conclave/app/chat/render"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/view"
)

// Runs lists the runs of a chat, oldest first.
func (c *Council) Runs(conversation string) ([]view.RunHeader, error) {
	headers, err := c.core.Councils.Runs(c.call(), id(conversation))
	return view.Map(headers, func(h council.Header) view.RunHeader {
		return view.NewRunHeader(h, c.core.Councils.Live(h.Run))
	}), err
}

// Run returns what changed of a run since a revision; at 0 all of it. A notice “council”
// with the run's id says that there is more.
func (c *Council) Run(run string, since uint64) (council.RunView, error) {
	if file, ok := c.runs.opened(run); ok {
		return language.Shown(viewOf(file)), nil
	}
	now, err := c.core.Councils.View(c.call(), council.RunID(run), since)
	return language.Shown(now), err
}

// viewOf returns the view of a run that was read from a file. Its id differs from that of the run in
// the store, which may have other content.
func viewOf(file council.FileRun) council.RunView {
	w := council.NewWatch(council.WatchOptions{Text: council.ReadText(file.Text).Words})
	w.Step(file.Run)
	v := w.View(0, file.Run.Last.At)
	v.Run = "file " + string(file.ID)
	return v
}

// Said returns the outcome of a task that ended.
func (c *Council) Said(run, task string) (SaidView, error) {
	out := SaidView{Stances: []council.Stance{}}
	state, t, text, err := c.runs.taskOf(c.call(), run, task)
	if err != nil {
		return out, err
	}
	if t.Kind == council.Cast && !state.Opened {
		return out, nil // hidden until all have voted
	}
	said, err := text(t.End.Text)
	if err != nil {
		return out, err
	}
	shown, block := council.Split(said)
	record := council.Record{Run: &state, Text: text.Words}
	switch t.Kind {
	case council.Cast:
		if ballot, err := council.DecodeBallot(record.Text(t.End.Ballot)); err == nil {
			out.Ballot, out.Chosen = &ballot, record.Chosen(t, ballot)
		}
	case council.UseTool, council.Summarize:
		shown = said
	default:
		out.Stances = record.Stances(t, block)
		if opinion, err := council.ReadOpinion(block); err == nil && block != "" {
			for i, p := range opinion.Points {
				opinion.Points[i].Source = record.SourceTitle(t, p)
			}
			out.Opinion = &opinion
			out.First = record.PointsBefore(t)
		}
	}
	out.Text = shown
	for _, b := range render.Render(shown) {
		out.HTML += b.HTML
	}
	return out, nil
}

// Sent returns the requests of a task's newest attempt as they were sent.
func (c *Council) Sent(run, task string) ([]view.SentRequest, error) {
	state, t, text, err := c.runs.taskOf(c.call(), run, task)
	if err != nil {
		return nil, err
	}
	requests, err := view.NewSentRequests(state, t, text)
	return language.Shown(requests), err
}

// Compare returns how what was sent for a task differs from what was sent for another: the
// request of that number, from 0, or the last one where there are fewer.
func (c *Council) Compare(run, task, other string, request int) ([]view.DiffLine, error) {
	first, err := c.Sent(run, task)
	if err != nil {
		return nil, err
	}
	second, err := c.Sent(run, other)
	if err != nil {
		return nil, err
	}
	return diffOf(asText(first, request), asText(second, request)), nil
}

// asText returns what one of some requests was made of, as a text: that of a number, or the last.
func asText(sent []view.SentRequest, request int) string {
	var b strings.Builder
	if len(sent) > 0 {
		for _, block := range sent[min(max(request, 0), len(sent)-1)].Blocks {
			b.WriteString("— " + block.Title + " —\n" + strings.TrimRight(block.Text, "\n") + "\n")
		}
	}
	return b.String()
}

// diffOf returns how a text differs from another, with some lines around each difference;
// all of its lines where it does not.
func diffOf(before, after string) []view.DiffLine {
	lines := []view.DiffLine{}
	if before == after {
		for line := range strings.Lines(before) {
			lines = append(lines, view.DiffLine{Kind: textdiff.Same, Text: strings.TrimSuffix(line, "\n")})
		}
		return lines
	}
	return view.DiffLines(textdiff.Lines(before, after))
}

// Act has something happen to a run that is live: to a member, to tasks of their ids, or to
// all of it. The text is the person's to a member (nudge). Kind conflict when it comes too
// late.
func (c *Council) Act(run string, act council.Act, member string, tasks []string, text string) error {
	if text == "" {
		text = act.Why()
	}
	return c.core.Councils.Act(c.call(), council.RunID(run), act, member, tasks, text)
}

// Resume goes on with a run that was cut off, and has its question answered; to finish is
// to begin nothing new, and answer with what there is.
func (c *Council) Resume(run string, finish bool) (Sent, error) {
	return c.again(run, deliberation.How{Resume: council.RunID(run), Finish: finish})
}

// Again has the question of a run answered again, by its council with one change.
func (c *Council) Again(run string, change deliberation.Change) (Sent, error) {
	return c.again(run, deliberation.How{Again: council.RunID(run), Change: change})
}

func (c *Council) again(run string, how deliberation.How) (Sent, error) {
	ctx := c.call()
	state, _, err := c.runs.source(ctx, run)
	if err != nil {
		return Sent{}, err
	}
	if _, fromFile := c.runs.opened(run); fromFile {
		return Sent{}, fault.New(fault.Invalid, "app.council", "This run was opened from a file and has no chat here.",
			"Ask its question in a chat.")
	}
	parent := state.Question
	return c.chats.turns.begin(ctx, state.Conversation, turn.Request{Parent: &parent}, "", false, how)
}

// Export returns a run as a file that another person can open; secrets are masked.
func (c *Council) Export(run string) (RunFile, error) {
	ctx := c.call()
	mask, err := c.core.Mask(ctx)
	if err != nil {
		return RunFile{}, err
	}
	var file bytes.Buffer
	left, err := c.core.Councils.Export(ctx, &file, council.RunID(run), mask)
	if err != nil {
		return RunFile{}, err
	}
	return RunFile{Name: "council-" + run + ".json", Text: file.String(), Left: view.List(left)}, nil
}

// Open reads the file of a run.
func (c *Council) Open(text string) (OpenedRun, error) {
	file, err := council.ReadRun([]byte(text))
	if err != nil {
		return OpenedRun{}, err
	}
	out := OpenedRun{View: viewOf(file), Report: file}
	c.runs.files.Store(out.View.Run, file)
	return out, nil
}

// Rate saves a rating of a member's point, which counts from 1; good is a thumb up.
func (c *Council) Rate(run, member string, point int, good bool) error {
	return c.core.Councils.Rate(c.call(), council.RunID(run), member, point, good)
}

// Helped counts the person's thumbs on members' points in the runs of all chats, by the
// names of the members, and for how long each said nothing of its own.
func (c *Council) Helped() (map[string]HelpedCount, error) {
	headers, err := c.core.Councils.Runs(c.call(), "")
	if err != nil {
		return nil, err
	}
	out, spoke := map[string]HelpedCount{}, map[string]bool{} // those that said something of their own since
	slices.SortStableFunc(headers, func(a, b council.Header) int { return b.Began.Compare(a.Began) })
	for _, h := range headers {
		for _, s := range h.Seats {
			count := out[s.Name]
			count.Rated, count.Helped = count.Rated+s.Rated, count.Helped+s.Helped
			switch {
			case h.State != council.Over || h.Mode == council.Tools: // it says nothing of that
			case !s.Same || s.Helped > 0:
				spoke[s.Name] = true
			case !spoke[s.Name]:
				count.Same++
			}
			if count != (HelpedCount{}) {
				out[s.Name] = count
			}
		}
	}
	return out, nil
}

// runReader reads runs, from the store or from files that were opened. It is safe for concurrent use.
type runReader struct {
	councils *deliberation.Runner
	files    sync.Map // of council.FileRun, by the id of their view
}

// opened returns a run that was read from a file.
func (c *runReader) opened(run string) (file council.FileRun, ok bool) {
	if found, there := c.files.Load(run); there {
		file, ok = found.(council.FileRun)
	}
	return file, ok
}

// source reads the steps and texts of a run, from the store or an opened file.
func (c *runReader) source(ctx context.Context, run string) (council.Run, council.ReadText, error) {
	if file, ok := c.opened(run); ok {
		return file.Run, file.Text, nil
	}
	state, err := c.councils.Stored(ctx, council.RunID(run))
	return state, c.councils.Texts(ctx, council.RunID(run)), err
}

// taskOf finds a task of a run.
func (c *runReader) taskOf(ctx context.Context, run, task string) (council.Run, council.Task, council.ReadText, error) {
	state, text, err := c.source(ctx, run)
	if err != nil {
		return state, council.Task{}, nil, err
	}
	found := state.Task(task)
	if found == nil {
		return state, council.Task{}, nil, fault.New(fault.NotFound, "app.council", "This run has no such task.", "")
	}
	return state, *found, text, nil
}
