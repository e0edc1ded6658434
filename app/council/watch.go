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
	changed  map[string]uint64 // newest revision of each member's lane; the chair's is ""
	live     map[string]*liveTask
	due      map[string]int64 // deadlines of tasks, and of the run ("")
	problem  string
	result   *Result
	made     [2]string // the state and groups that result was made from
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

// Step takes the run after a step, and returns the new revision.
func (w *Watch) Step(r Run) uint64 {
	w.revision++
	for _, s := range r.Seats {
		if w.differs(r, s.Member.ID) {
			w.changed[s.Member.ID] = w.revision
		}
	}
	w.changed[""] = w.revision
	w.run = r
	return w.revision
}

// Problem takes a sentence about saving the run, or "", and returns the new revision.
func (w *Watch) Problem(sentence string) uint64 {
	w.revision++
	w.problem = sentence
	return w.revision
}

// Due takes the deadlines of tasks under way, and under "" that of the run, in milliseconds after it
// began. It returns the new revision.
func (w *Watch) Due(due map[string]int64) uint64 {
	w.revision++
	for _, t := range w.run.Tasks {
		if w.due[t.ID] != due[t.ID] {
			w.changed[t.Member] = w.revision
		}
	}
	w.due = due
	return w.revision
}

// differs reports whether a member's tasks changed.
func (w *Watch) differs(r Run, member string) bool {
	if len(w.run.Tasks) != len(r.Tasks) || w.run.Opened != r.Opened || len(w.run.Seats) == 0 {
		return true
	}
	for i := range r.Tasks {
		before, now := &w.run.Tasks[i], &r.Tasks[i]
		if now.Member == member && (before.State != now.State || before.Attempt != now.Attempt ||
			before.Lost != now.Lost || before.Asked != now.Asked || before.End.Turn != now.End.Turn ||
			len(before.End.Requests) != len(now.End.Requests)) {
			return true
		}
	}
	return false
}

// Live takes the progress of a task at a time after the run began, and returns the new revision.
func (w *Watch) Live(task string, l Live, ms int64) uint64 {
	t := w.run.Task(task)
	if t == nil {
		return w.revision
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
		seen.call(w.called(*l.Call, l.Request), ms)
	}
	return w.revision
}

// call records the state of a call.
func (t *liveTask) call(v CalledView, ms int64) {
	for i := range t.calls {
		if t.calls[i].ID == v.ID {
			v.StartMS, v.EndMS = t.calls[i].StartMS, endOf(v, ms)
			t.calls[i] = v
			return
		}
	}
	v.StartMS, v.EndMS = ms, endOf(v, ms)
	t.calls = append(t.calls, v)
}

func endOf(v CalledView, ms int64) int64 {
	switch v.State {
	case "proposed", "waiting", "running":
		return 0
	}
	return ms
}

// called returns the view of a call record.
func (w *Watch) called(r chat.CallRecord, request string) CalledView {
	v := CalledView{ID: strconv.FormatUint(r.ID, 10), Tool: cmp.Or(r.ToolID, r.ToolName), Request: request}
	v.Title = w.run.ToolTitle(v.Tool)
	switch r.Status {
	case chat.CallOK:
		v.State = "done"
	case "", chat.CallAsked, chat.CallRunning, chat.CallPaused:
		v.State = "running"
		if request != "" {
			v.State = "waiting"
		}
	case chat.CallRefused:
		v.State = "refused"
		if r.Expired {
			v.State = "expired"
		}
	case chat.CallCancelled, chat.CallLimit:
		v.State = "stopped"
	default:
		v.State = "failed"
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
		if whole || w.changed[s.Member.ID] > since {
			v.Lanes = append(v.Lanes, w.lane(&r.Seats[i], since, whole, now))
		}
	}
	if whole || w.changed[""] > since {
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
		ID: ChairTask, Kind: Synthesize, Title: "Answer", State: Waiting, Calls: []CalledView{},
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
		for _, t := range r.Tasks {
			if t.Member == "" {
				used = used.Add(t.Lost).Add(t.End.Usage)
			}
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
	for i := range w.run.Tasks {
		t := &w.run.Tasks[i]
		if t.Member != member {
			continue
		}
		v := w.task(t, since, whole, now)
		tasks, used = append(tasks, v), used.Add(t.Lost).Add(t.End.Usage)
		if t.Attempt > 0 {
			if from == 0 || v.StartMS < from {
				from = v.StartMS
			}
			if t.State.final() { // a result from an earlier run ended when this one began
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
		ID: t.ID, Stage: t.Stage, Kind: t.Kind, Tool: t.Tool, Title: w.title(t), Attempt: t.Attempt, State: t.State,
		Why: t.Why, Bytes: t.End.Bytes, Sealed: t.Kind == Cast && t.State == Done && !r.Opened, Calls: []CalledView{},
		Sent: len(t.End.Requests), Expected: w.expected(t.ID),
	}
	if t.Attempt > 0 {
		v.StartMS = w.ms(t.Started)
	}
	ended := now
	if t.State.final() && !t.Ended.IsZero() {
		ended, v.EndMS = t.Ended, w.ms(t.Ended)
		v.AskedMS = min(max(t.Asked.Milliseconds(), 0), max(v.EndMS-v.StartMS, 0)) // a file may hold anything
	}
	if v.Spent = spending(t.Lost.Add(t.End.Usage), 0); t.Attempt > 0 {
		v.Spent.MS = max(0, ended.Sub(t.Started).Milliseconds())
	}
	if f := t.End.Failure; f != nil && (t.State == Failed || t.State.final() && t.Why == f.Message) {
		v.Why, v.Hint, v.Detail = f.Message, f.Hint, f.Detail
	}
	seen := w.live[t.ID]
	if seen != nil && seen.attempt == t.Attempt {
		v.Calls = append(v.Calls, seen.calls...)
		if t.State == Working {
			v.Phase, v.Note = seen.phase, seen.note
			v.Text, v.Offset = seen.since(since, whole)
			v.Bytes = seen.text.Len()
		}
	} else if w.o.Call != nil {
		for _, id := range t.End.Calls {
			if record, ok := w.o.Call(id); ok {
				call := w.called(record, "")
				call.StartMS, call.EndMS = w.ms(record.Started), w.ms(record.Ended)
				v.Calls = append(v.Calls, call)
			}
		}
	}
	for _, call := range v.Calls {
		if call.State == "refused" || call.State == "expired" {
			v.Refused++
		}
	}
	v.Refused = max(v.Refused, t.End.Refused) // a run from a file has no call records
	if t.State == Working {
		v.DueMS = w.due[t.ID]
	}
	if t.State == Working && v.Phase == "" {
		v.Phase = Reading
		if t.Kind == UseTool {
			v.Phase = Using
		}
	}
	return v
}

// since returns the text added after a revision, and its offset.
func (t *liveTask) since(revision uint64, whole bool) (text string, offset int) {
	if whole {
		return t.text.String(), 0
	}
	for i := len(t.pieces) - 1; i >= 0; i-- {
		if t.pieces[i].revision <= revision {
			if i == len(t.pieces)-1 {
				return "", t.length
			}
			return t.text.String()[t.pieces[i+1].at:], t.pieces[i+1].offset
		}
	}
	return t.text.String(), 0
}

// title returns the title of a task in a lane.
func (w *Watch) title(t *Task) string {
	switch t.Kind {
	case Summarize:
		return "Summary of the chat"
	case UseTool:
		return w.run.ToolTitle(t.Tool)
	case Look:
		return "Review"
	case Cast:
		return "Ballot"
	case Draft:
		return "Draft"
	case Oppose:
		return "Critique"
	}
	return "Answer"
}

// Result returns the result so far, or nil.
func (w *Watch) Result() *Result {
	r := &w.run
	switch r.State {
	case Ready, Answering, Over:
	default:
		return nil
	}
	of := [2]string{string(r.State), ""}
	var groups Groups
	if r.Answer != nil && r.Answer.Groups != "" {
		of[1] = string(r.Answer.Groups)
		// checked when they were stored; without them, points are compared by words
		groups, _ = ReadGroups(w.o.Text(r.Answer.Groups))
	}
	if w.result == nil || w.made != of {
		result := Compare(*r, w.o.Text, groups)
		w.result, w.made = &result, of
	}
	return w.result
}

// expected returns the estimate of a task.
func (w *Watch) expected(task string) Spending {
	r := &w.run
	if r.Begin.Estimate == nil {
		return Spending{}
	}
	return r.Begin.Estimate.Tasks[task]
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
