package council

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"conclave/app/chat"
)

// Watch follows a run and returns its changes since any revision. Use NewWatch. It is not safe for
// concurrent use.
type Watch struct {
	o        WatchOptions
	run      Run
	revision uint64
	stepped  uint64            // revision of the newest change that may be of every lane
	changed  map[string]uint64 // revision of the newest progress in a member's lane
	live     map[string]*liveTask
	due      map[string]int64 // deadlines of tasks, and of the run ("")
	problem  string
	result   *Result
	made     RunState // of the run when result was made
}

// WatchOptions look up what steps only name. All are optional.
type WatchOptions struct {
	Text func(Hash) string
	Call func(id uint64) (chat.CallRecord, bool) // a record of a tool call
}

// liveTask is the visible progress of one attempt at a task.
type liveTask struct {
	attempt int
	phase   Phase
	note    string
	text    strings.Builder
	length  int // of text, in UTF-16 units
	pieces  []piece
	calls   []CalledView
}

// piece is the beginning of a text's growth at a revision.
type piece struct {
	revision   uint64
	at, offset int // in bytes, in UTF-16 units
}

// NewWatch returns a watch of a run without steps.
func NewWatch(o WatchOptions) *Watch {
	if o.Text == nil {
		o.Text = func(Hash) string { return "" }
	}
	return &Watch{o: o, changed: map[string]uint64{}, live: map[string]*liveTask{}}
}

// Step takes the run after a step.
func (w *Watch) Step(r Run) {
	w.revision++
	w.stepped, w.run = w.revision, r
}

// Problem takes a sentence about saving the run, or "".
func (w *Watch) Problem(sentence string) {
	w.revision++
	w.problem = sentence
}

// Due takes the deadlines of tasks under way, and under "" that of the run, in milliseconds after it
// began.
func (w *Watch) Due(due map[string]int64) {
	w.revision++
	w.stepped, w.due = w.revision, due
}

// Live takes the progress of a task at a time after the run began.
func (w *Watch) Live(task string, l Live, ms int64) {
	t := w.run.Task(task)
	if t == nil {
		return
	}
	w.revision++
	w.changed[t.Member] = w.revision
	seen := w.live[task]
	if seen == nil || seen.attempt != t.Attempt {
		seen = &liveTask{attempt: t.Attempt}
		w.live[task] = seen
	}
	seen.phase, seen.note = cmp.Or(l.Phase, seen.phase), l.Note
	if l.Text != "" {
		seen.pieces = append(seen.pieces, piece{w.revision, seen.text.Len(), seen.length})
		seen.text.WriteString(l.Text)
		for _, r := range l.Text {
			seen.length += utf16.RuneLen(r) // never -1 for a rune of a string
		}
	}
	if l.Call != nil {
		v := w.called(*l.Call, l.Request)
		if v.StartMS = ms; v.State != "waiting" && v.State != "running" {
			v.EndMS = ms
		}
		i := slices.IndexFunc(seen.calls, func(c CalledView) bool { return c.ID == v.ID })
		if i < 0 {
			seen.calls = append(seen.calls, v)
			return
		}
		v.StartMS = seen.calls[i].StartMS
		seen.calls[i] = v
	}
}

// called returns the view of a call record, without its times.
func (w *Watch) called(r chat.CallRecord, request string) CalledView {
	tool := cmp.Or(r.ToolID, r.ToolName)
	v := CalledView{
		ID: strconv.FormatUint(r.ID, 10), Tool: tool, Title: w.run.ToolTitle(tool), Request: request, State: "failed",
	}
	switch r.Status {
	case chat.CallOK:
		v.State = "done"
	case "", chat.CallAsked, chat.CallRunning, chat.CallPaused:
		if v.State = "running"; request != "" {
			v.State = "waiting"
		}
	case chat.CallRefused:
		if v.State = "refused"; r.Expired {
			v.State = "expired"
		}
	case chat.CallCancelled, chat.CallLimit:
		v.State = "stopped"
	}
	return v
}

// View returns the changes since a revision, or everything for 0.
func (w *Watch) View(since uint64, now time.Time) RunView {
	whole := since == 0 || since > w.revision
	r := &w.run
	spent := r.Spent("")
	if r.Answer != nil {
		spent = spent.Add(r.Answer.Usage)
	}
	if !r.Ended.IsZero() {
		now = r.Ended
	}
	v := RunView{
		Run: string(r.Run), Conversation: string(r.Conversation), Revision: w.revision, Reset: whole && since != 0,
		Turn: r.Turn, Question: uint64(r.Question), Mode: r.Council.Mode, State: r.State, Began: chat.Stamp(r.Began),
		MS: w.ms(now), Estimate: w.estimate(), Spent: spending(spent, w.ms(now)), Again: string(r.Again),
		Change: r.Change, Lanes: []LaneView{}, Result: w.Result(), Problem: w.problem,
	}
	if r.Early != nil {
		v.Early = r.Early.Why
	}
	if r.State == Running || r.State == Asking {
		v.DueMS = w.due[""]
	}
	for i, s := range r.Seats {
		if s.In {
			v.Members++
		}
		if whole || max(w.stepped, w.changed[s.Member.ID]) > since {
			v.Lanes = append(v.Lanes, w.lane(&r.Seats[i], since, whole, now))
		}
	}
	if whole || max(w.stepped, w.changed[""]) > since {
		v.Lanes = append(v.Lanes, w.chair(since, whole, now))
	}
	return v
}

// lane returns a member's lane.
func (w *Watch) lane(s *Seat, since uint64, whole bool, now time.Time) LaneView {
	m := s.Member
	v := LaneView{
		Member: m.ID, Name: shownLine(m.Name), Role: shownLine(m.Role),
		Letter: letter(slices.Index(w.run.lettered(""), m.ID)), Color: m.Color, Avatar: m.Persona.Avatar,
		Model: cmp.Or(w.run.Models[m.ID], m.Model), In: s.In, Why: s.Why, Roll: s.Roll, Chance: m.Chance,
		Context: m.Context, Tools: append([]string{}, m.Tools...),
		Drawn: w.run.Drawn(m.ID), Ratings: w.run.Ratings.of(m.ID),
	}
	v.Tasks, v.Spent = w.tasks(m.ID, since, whole, now)
	return v
}

// chair returns the lane of the model that writes the answer, with the council's own tasks.
func (w *Watch) chair(since uint64, whole bool, now time.Time) LaneView {
	r := &w.run
	v := LaneView{
		Name: "Chair", Model: cmp.Or(r.Models[""], r.Council.Chair), In: true, Why: r.Out[""], Chance: 100,
		Tools: []string{}, Drawn: []Drawn{}, Ratings: []Rating{},
	}
	v.Tasks, v.Spent = w.tasks("", since, whole, now)
	answer := TaskView{
		ID: ChairTask, Kind: Synthesize, Title: taskTitles[Synthesize], State: Waiting, Calls: []CalledView{},
		Expected: w.expected(ChairTask),
	}
	for _, t := range r.Tasks {
		answer.Stage = max(answer.Stage, t.Stage+1)
	}
	if !r.Handed.IsZero() {
		answer.Attempt, answer.StartMS = 1, w.ms(r.Handed)
	}
	switch {
	case r.State == Answering:
		answer.State, answer.Phase = Working, Writing
	case r.Answer != nil:
		answer.State, answer.EndMS = Done, w.ms(r.Ended)
		answer.Spent = spending(r.Answer.Usage, answer.EndMS-answer.StartMS)
		switch r.Answer.Reason {
		case chat.EndError:
			answer.State = Failed
		case chat.EndStopped:
			answer.State = Stopped
		}
	case r.State == Over:
		answer.State = Stopped
		if r.Early != nil {
			answer.Why = r.Early.Why
		}
	}
	v.Tasks = append(v.Tasks, answer)
	if r.Answer != nil {
		used := r.Answer.Usage
		for t := range r.TasksOf("") {
			used = used.Add(t.Lost).Add(t.End.Usage)
		}
		v.Spent = spending(used, v.Spent.MS+answer.Spent.MS)
	}
	return v
}

// tasks returns the tasks of a member, and their total spending.
func (w *Watch) tasks(member string, since uint64, whole bool, now time.Time) ([]TaskView, Spending) {
	tasks := []TaskView{}
	var used chat.Usage
	var from, to int64
	for t := range w.run.TasksOf(member) {
		v := w.task(t, since, whole, now)
		tasks, used = append(tasks, v), used.Add(t.Lost).Add(t.End.Usage)
		if t.Attempt > 0 {
			if from == 0 || v.StartMS < from {
				from = v.StartMS
			}
			if t.State.Final() { // a result from an earlier run ended when this one began
				to = max(to, v.EndMS)
			} else {
				to = max(to, w.ms(now))
			}
		}
	}
	return tasks, spending(used, to-from)
}

func (w *Watch) task(t *Task, since uint64, whole bool, now time.Time) TaskView {
	r := &w.run
	v := TaskView{
		ID: t.ID, Stage: t.Stage, Kind: t.Kind, Tool: t.Tool, Title: cmp.Or(taskTitles[t.Kind], r.ToolTitle(t.Tool)),
		Attempt: t.Attempt, State: t.State, Why: t.Why, Bytes: t.End.Bytes,
		Sealed: t.Kind == Cast && t.State == Done && !r.Opened, Calls: []CalledView{},
		Sent: len(t.End.Requests), Expected: w.expected(t.ID),
	}
	if t.Attempt > 0 {
		v.StartMS = w.ms(t.Started)
	}
	ended := now
	if t.State.Final() && !t.Ended.IsZero() {
		ended, v.EndMS = t.Ended, w.ms(t.Ended)
		v.AskedMS = min(max(t.Asked.Milliseconds(), 0), max(v.EndMS-v.StartMS, 0)) // a file may hold anything
	}
	if v.Spent = spending(t.Lost.Add(t.End.Usage), 0); t.Attempt > 0 {
		v.Spent.MS = max(0, ended.Sub(t.Started).Milliseconds())
	}
	if f := t.End.Failure; f != nil && (t.State == Failed || t.State.Final() && t.Why == f.Message) {
		v.Why, v.Hint, v.Detail = f.Message, f.Hint, f.Detail
	}
	seen := w.live[t.ID]
	if seen != nil && seen.attempt != t.Attempt {
		seen = nil
	}
	v.Calls = append(v.Calls, w.calls(t, seen)...)
	for _, call := range v.Calls {
		if call.State == "refused" || call.State == "expired" {
			v.Refused++
		}
	}
	v.Refused = max(v.Refused, t.End.Refused) // a run from a file has no call records
	if t.State != Working {
		return v
	}
	if seen != nil {
		v.Phase, v.Note, v.Bytes = seen.phase, seen.note, seen.text.Len()
		v.Text, v.Offset = seen.since(since, whole)
	}
	if v.DueMS = w.due[t.ID]; t.Kind == UseTool {
		v.Phase = cmp.Or(v.Phase, Using)
	}
	v.Phase = cmp.Or(v.Phase, Reading)
	return v
}

// calls returns the calls of a task: those that were seen in progress, or else their records.
func (w *Watch) calls(t *Task, seen *liveTask) (calls []CalledView) {
	switch {
	case seen != nil:
		return seen.calls
	case w.o.Call == nil:
		return nil
	}
	for _, id := range t.End.Calls {
		if record, ok := w.o.Call(id); ok {
			call := w.called(record, "")
			call.StartMS, call.EndMS = w.ms(record.Started), w.ms(record.Ended)
			calls = append(calls, call)
		}
	}
	return calls
}

// since returns the text added after a revision, and its offset.
func (t *liveTask) since(revision uint64, whole bool) (text string, offset int) {
	for _, p := range t.pieces {
		if whole || p.revision > revision {
			return t.text.String()[p.at:], p.offset
		}
	}
	return "", t.length
}

// taskTitles are the titles of tasks in a lane. One of kind UseTool has that of its tool.
var taskTitles = map[TaskKind]string{
	Summarize: "Summary of the chat", Opine: "Answer", Look: "Review", Cast: "Ballot", Draft: "Draft",
	Oppose: "Critique", Synthesize: "Answer",
}

// Result returns the result so far, or nil.
func (w *Watch) Result() *Result {
	r := &w.run
	if r.State != Ready && r.State != Answering && r.State != Over {
		return nil
	}
	if w.result == nil || w.made != r.State {
		result := ResultOf(*r, w.o.Text)
		w.result, w.made = &result, r.State
	}
	return w.result
}

// expected returns the estimate of a task.
func (w *Watch) expected(task string) Spending {
	if e := w.run.Begin.Estimate; e != nil {
		return e.Tasks[task]
	}
	return Spending{}
}

// estimate returns the estimate of the run, without those of its tasks.
func (w *Watch) estimate() Estimate {
	r := &w.run
	if r.Begin.Estimate != nil {
		e := *r.Begin.Estimate
		e.Tasks = nil
		return e
	}
	e := Estimate{Calls: 1, Cap: r.Council.Limits.Money, Problems: []string{}}
	for _, t := range r.Tasks {
		if t.Kind == UseTool {
			e.Tools++
		} else {
			e.Calls++
		}
	}
	return e
}

// ms returns the milliseconds for which the run was worked on up to a time, 0 for the zero time.
func (w *Watch) ms(t time.Time) int64 { return w.run.After(t).Milliseconds() }

func spending(u chat.Usage, ms int64) Spending {
	return Spending{Input: u.Input, Output: u.Output, MS: ms, Cost: u.Cost, Known: u.Known()}
}
