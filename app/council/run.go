package council

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/app/chat"
)

// RunState names the progress of a run.
type RunState string

// The states of a run, in their usual order. Asking may not occur, or repeatedly.
const (
	Running   RunState = "running"
	Asking    RunState = "asking"    // tools, or all members, failed; a person retries or goes on
	Counting  RunState = "counting"  // all votes are cast and hidden; they are opened next
	Ready     RunState = "ready"     // the members are done; the notes can be handed over
	Answering RunState = "answering" // the main model has the notes, and answers
	Over      RunState = "over"
)

// TaskKind is the kind of a Task.
type TaskKind string

// The kinds of tasks.
const (
	Summarize TaskKind = "summary"  // the helper sums up the chat, for members with that policy
	UseTool   TaskKind = "tool"     // mode tools: one tool of a member
	Opine     TaskKind = "answer"   // a member answers
	Look      TaskKind = "review"   // it reviews the others' answers
	Cast      TaskKind = "ballot"   // it votes
	Draft     TaskKind = "draft"    // it answers, and others object
	Oppose    TaskKind = "critique" // it objects to the draft

	// Synthesize is the main model's answer. It is the kind of a TaskView, and of no Task.
	Synthesize TaskKind = "synthesis"
)

// TaskState names the progress of a Task.
type TaskState string

// The states of a task. Those after Working are final, apart from a retry.
const (
	Waiting TaskState = "waiting"
	Working TaskState = "working"
	Done    TaskState = "done"
	Failed  TaskState = "failed"
	Skipped TaskState = "skipped" // by a person, or because its member failed before
	Stopped TaskState = "stopped" // with the run, or by finishing early
	Capped  TaskState = "capped"  // no money or time was left for it
)

// Final reports whether a task is over unless it is retried.
func (s TaskState) Final() bool { return s != Waiting && s != Working }

// Task is one piece of work of one member in one stage.
type Task struct {
	ID      string // "1/ada/answer", "1/ada/look:look"; stable over replays
	Stage   int    // from 0
	Kind    TaskKind
	Member  string // id; empty for the council's own
	Tool    string // UseTool: as it is assigned
	Attempt int    // number of starts
	State   TaskState
	Why     string // Skipped, Stopped, Capped: a sentence
	Started time.Time
	Ended   time.Time
	Asked   time.Duration // of the newest attempt: how long it waited for a person's answers
	// End is the end of the newest attempt. Of an attempt that was skipped or stopped meanwhile it has
	// only the requests and calls.
	End    End
	Lost   chat.Usage // of attempts that no longer count
	Nudges []string   // the person's words to it
	// UnderWay counts attempts that have not ended, including those that no longer count, which
	// still cost.
	UnderWay int
}

// Seat is a member in a run.
type Seat struct {
	Member Member
	Roll   *float64 // its dice, 0 to under 100; nil where none were thrown
	In     bool     // it takes part
	Why    string   // a sentence: why it is not In, or which tools it lacks; or ""
}

// Run is the state of one run after its steps. Use Replay, or Apply on a zero Run. It is a value:
// Apply on one copy does not change another. It is not safe for concurrent use.
type Run struct {
	Begin
	State  RunState
	Seats  []Seat // in the order of the council
	Tasks  []Task // in the order of stages, then of seats, then of a member's tools
	Began  time.Time
	Handed time.Time // when the main model got the notes
	Ended  time.Time
	Early  *Early // why it ended early, or nil
	Opened bool   // the ballots were opened
	Away   []Away // times in which nobody worked on it
	Notes  Hash
	Answer *Answer
	Last   Step // the newest step
	// Ratings hold the person's newest rating of each point, in the order of the first ones.
	Ratings Ratings
}

// Rating is a person's thumb on a member's point.
type Rating struct {
	Member string `json:"member"`
	Point  int    `json:"point"` // counts from 1
	Good   bool   `json:"good"`
}

// Ratings hold one Rating for each rated point.
type Ratings []Rating

// with returns the ratings with n in place of the one on the same point.
func (all Ratings) with(n Rating) Ratings {
	same := func(o Rating) bool { return o.Member == n.Member && o.Point == n.Point }
	if i := slices.IndexFunc(all, same); i >= 0 {
		all[i] = n // Apply works on a copy
		return all
	}
	return append(all, n)
}

// of returns the ratings of a member's points.
func (all Ratings) of(member string) []Rating {
	others := func(o Rating) bool { return o.Member != member }
	return append([]Rating{}, slices.DeleteFunc(slices.Clone(all), others)...)
}

// Early holds the reason why a run ended early.
type Early struct {
	By  By
	Why string // a sentence
}

// Away is a time in which nobody worked on a run, since the program was closed.
type Away struct {
	From, To time.Time
}

// After returns how long a run had been worked on at a time, without the times in Away.
func (r *Run) After(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	took := t.Sub(r.Began)
	for _, a := range r.Away {
		if !t.Before(a.To) {
			took -= a.To.Sub(a.From)
		}
	}
	return max(took, 0)
}

// ErrStep is the error of a step that cannot follow those before it.
var ErrStep = errors.New("this step cannot happen to the run now")

// Replay rebuilds a run from its steps.
func Replay(steps []Step) (Run, error) {
	var r Run
	for _, s := range steps {
		if err := r.Apply(s); err != nil {
			return r, fmt.Errorf("step %d: %w", s.Number, err)
		}
	}
	return r, nil
}

// Next lists the work to do now.
type Next struct {
	// Start lists the tasks to start, in order. Those that are Working go on.
	Start []string
	Open  bool // the ballots were opened are to be opened: a step Opens
	Ready bool // hand the notes to the main model, with a step Hands
	Over  bool
}

// Next returns what to do now. The caller also ends work on tasks that are not Working, and on
// attempts that are not the newest.
func (r *Run) Next() Next {
	switch r.State {
	case Running:
		return Next{Start: r.due()}
	case Counting:
		return Next{Open: true}
	case Ready:
		return Next{Ready: true}
	case Over:
		return Next{Over: true}
	}
	return Next{}
}

// Apply applies a step. On ErrStep nothing changes. The end of an attempt that no longer counts is no
// error: its usage is added to Lost, and its requests stay visible where it is the newest.
func (r *Run) Apply(s Step) error {
	if s.Number != r.Last.Number+1 || (s.Kind == Begins) != (s.Number == 1) || s.At.Before(r.Last.At) {
		return ErrStep
	}
	next := *r // shares nothing that a step changes
	next.Seats, next.Tasks, next.Ratings = slices.Clone(r.Seats), slices.Clone(r.Tasks), slices.Clone(r.Ratings)
	if err := next.take(s); err != nil {
		return err
	}
	next.Last = s
	next.settle()
	*r = next
	return nil
}

func (r *Run) take(s Step) error {
	switch {
	case s.Kind == Begins && s.Begin != nil:
		return r.begin(s)
	case s.Kind == Rates:
		r.Ratings = r.Ratings.with(Rating{s.Member, s.Point, s.Good})
		return nil
	case s.Kind == Ends: // work that was stopped ends a little later
		return r.end(s)
	case r.State == Over:
		return ErrStep
	case s.Kind == Resumes:
		return r.resume(s)
	case s.Kind == Starts:
		return r.start(s)
	case s.Kind == Acts:
		return r.act(s)
	case s.Kind == Opens && r.State == Counting:
		r.Opened, r.State = true, Ready
	case s.Kind == Hands && r.State == Ready:
		r.Notes, r.Handed, r.State = s.Notes, s.At, Answering
	case s.Kind == Concludes && (r.State == Answering || r.State == Ready) && s.Answer != nil:
		r.Answer, r.State, r.Ended = s.Answer, Over, s.At
	default:
		return ErrStep
	}
	return nil
}

// begin seats the members and lists the tasks.
func (r *Run) begin(s Step) error {
	r.Begin, r.Began, r.State = *s.Begin, s.At, Running
	rolls := Rolls(r.Seed, r.Council)
	for i, m := range r.Council.Members {
		seat := Seat{Member: m, Roll: rolls[i]}
		if seat.Why = r.absence(m, rolls[i]); seat.Why == "" {
			seat.In, seat.Why = true, r.Lacks[m.ID]
		}
		r.Seats = append(r.Seats, seat)
	}
	r.Tasks = r.plan()
	for id, end := range r.Kept {
		if t := r.Task(id); t != nil {
			t.State, t.End, t.Attempt, t.Started, t.Ended = end.State, end, 1, s.At, s.At
		}
	}
	return nil
}

// absence explains why a member does not take part, or returns "".
func (r *Run) absence(m Member, roll *float64) string {
	switch {
	case m.Off:
		return m.Name + " is switched off."
	case r.Only != "" && m.ID != r.Only:
		return "Another member was asked by name."
	case r.Out[m.ID] != "":
		return r.Out[m.ID]
	case r.Council.Mode == Tools && len(m.Tools) == 0:
		return m.Name + " has no tools."
	case r.Council.Mode == Tools && m.Chance <= 0:
		return m.Name + " never takes part: its chance is 0 %."
	case roll != nil && r.Only == "" && *roll >= m.Chance:
		return fmt.Sprintf("%s threw %.1f; it takes part below %g.", m.Name, *roll, m.Chance)
	}
	return ""
}

// resume restarts everything that was under way when the program ended.
func (r *Run) resume(s Step) error {
	if r.State == Answering { // the answer was not finished; the model gets the notes again
		r.State = Ready
	}
	if s.Turn != "" {
		r.Turn = s.Turn
	}
	if s.Model != "" { // else the run is only ended
		r.Models, r.Out = maps.Collect(maps.All(r.Models)), maps.Collect(maps.All(r.Out))
		r.Models[""], r.Out[""] = s.Model, s.Text
	}
	r.Away = append(slices.Clip(r.Away), Away{r.Last.At, s.At})
	for i := range r.Tasks {
		r.Tasks[i].UnderWay = 0 // they ended with the program
		if r.Tasks[i].State == Working {
			r.Tasks[i].State = Waiting
		}
	}
	return nil
}

func (r *Run) start(s Step) error {
	t := r.Task(s.Task)
	if t == nil || t.State != Waiting || s.Attempt != t.Attempt+1 || !slices.Contains(r.Next().Start, t.ID) {
		return ErrStep
	}
	t.State, t.Attempt, t.Started, t.Asked = Working, s.Attempt, s.At, 0
	t.UnderWay++
	return nil
}

func (r *Run) end(s Step) error {
	t := r.Task(s.Task)
	if t == nil || s.End == nil || !s.End.State.Final() || s.Attempt < 1 || s.Attempt > t.Attempt {
		return ErrStep
	}
	t.UnderWay = max(t.UnderWay-1, 0)
	if s.Attempt == t.Attempt { // also of one that was skipped meanwhile
		t.Asked = time.Duration(s.End.AskedMS) * time.Millisecond
	}
	if s.Attempt != t.Attempt || t.State != Working {
		t.Lost = t.Lost.Add(s.End.Usage)
		if s.Attempt == t.Attempt { // its requests and calls stay visible
			e := s.End
			t.End.Requests, t.End.Calls, t.End.Turn, t.End.Refused = e.Requests, e.Calls, e.Turn, e.Refused
			t.End.Origins = e.Origins
		}
		return nil
	}
	if t.End.State != "" { // of an attempt before this one
		t.Lost = t.Lost.Add(t.End.Usage)
	}
	t.State, t.End, t.Ended = s.End.State, *s.End, s.At
	switch {
	case t.State == Done:
	case t.End.Failure == nil:
		t.Why = "It ended before it was done."
	case t.State != Failed:
		t.Why = t.End.Failure.Message
	}
	return nil
}

func (r *Run) act(s Step) error {
	switch {
	case s.Act == Stop:
		r.leaveOut("", Stopped, s.Text, s.At)
		r.State, r.Ended, r.Early = Over, s.At, &Early{s.By, s.Text}
	case r.State == Answering || r.State == Ready:
		return ErrStep
	case s.Act == Skip && s.Member != "" && r.leaveOut(s.Member, Skipped, "You skipped it.", s.At):
	case s.Act == Nudge && s.Member != "":
		return r.nudge(s)
	case s.Act == Retry:
		return r.retry(s)
	case s.Act == GoOn && r.State == Asking:
		r.State = Ready
		r.metCap()
	case s.Act == Finish:
		r.leaveOut("", Stopped, s.Text, s.At)
		if r.Early = (&Early{s.By, s.Text}); r.State == Asking {
			r.State = Running // settle says what is next
		}
	default:
		return ErrStep
	}
	return nil
}

// nudge restarts a member's tasks under way with a person's words.
func (r *Run) nudge(s Step) error {
	err := ErrStep
	for t := range r.TasksOf(s.Member) {
		if t.State == Working {
			t.State, t.Nudges, err = Waiting, append(slices.Clip(t.Nudges), s.Text), nil
		}
	}
	return err
}

// retry restarts failed tasks, those that were skipped because of them, and those of other members
// that had no words to be about. A task that a person skipped is restarted where it is named.
func (r *Run) retry(s Step) error {
	if r.Early != nil {
		return ErrStep
	}
	again := map[string]bool{} // members
	for i := range r.Tasks {
		t := &r.Tasks[i]
		named := slices.Contains(s.Tasks, t.ID) || len(s.Tasks) == 0 && s.Member != "" && s.Member == t.Member
		all := len(s.Tasks) == 0 && s.Member == ""
		if (named || all) && t.State == Failed || named && t.State == Skipped {
			again[t.Member] = true
			t.State, t.Why = Waiting, ""
		}
	}
	if len(again) == 0 {
		return ErrStep
	}
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.State == Skipped && (again[t.Member] && t.Why == failedBefore || t.Why == AloneWhy) {
			t.State, t.Why = Waiting, ""
		}
	}
	r.State = Running
	return nil
}

// failedBefore is the reason of tasks that are skipped because their member failed.
const failedBefore = "It failed before."

// leaveOut ends the open tasks of a member, or of all, and reports whether there were any.
func (r *Run) leaveOut(member string, as TaskState, why string, at time.Time) (some bool) {
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.State.Final() || member != "" && t.Member != member {
			continue
		}
		if t.State == Working {
			t.Ended = at
		}
		t.State, t.Why, some = as, why, true
	}
	return some
}

// Task returns a task by its id, or nil.
func (r *Run) Task(id string) *Task {
	i := slices.IndexFunc(r.Tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &r.Tasks[i]
}

// TasksOf yields the tasks of a member, in their order; for "" those of the council.
func (r *Run) TasksOf(member string) iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		for i := range r.Tasks {
			if t := &r.Tasks[i]; t.Member == member && !yield(t) {
				return
			}
		}
	}
}

// Spent returns the usage of the run so far, or of one member, without the main answer.
func (r *Run) Spent(member string) chat.Usage {
	var sum chat.Usage
	for _, t := range r.Tasks {
		if member == "" || t.Member == member {
			sum = sum.Add(t.Lost).Add(t.End.Usage)
		}
	}
	return sum
}

// said returns a member's newest answer, draft or critique that is done, or nil.
func (r *Run) said(member string) (newest *Task) {
	for t := range r.TasksOf(member) {
		if t.State == Done && (t.Kind == Opine || t.Kind == Draft || t.Kind == Oppose) {
			newest = t
		}
	}
	return newest
}

func (r *Run) seat(member string) *Seat {
	i := slices.IndexFunc(r.Seats, func(s Seat) bool { return s.Member.ID == member })
	if i < 0 {
		return nil
	}
	return &r.Seats[i]
}

// Member returns a member by its id. Where the run has none, its id is its name.
func (r *Run) Member(id string) Member {
	if s := r.seat(id); s != nil {
		return s.Member
	}
	return Member{ID: id, Name: id}
}

// nameOf returns the name of a member, with its letter where another has the same name.
func (r *Run) nameOf(member string) string {
	if r.seat(member) == nil {
		return member
	}
	name, same := shownLine(r.Member(member).Name), 0
	for _, s := range r.Seats {
		if s.In && sameName(s.Member.Name, name) {
			same++
		}
	}
	if same > 1 {
		return name + " (" + r.Letter("", member) + ")"
	}
	return name
}

// sameName reports whether two names look the same to a person.
func sameName(a, b string) bool { return strings.EqualFold(shownLine(a), shownLine(b)) }
