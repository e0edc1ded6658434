package council

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/app/chat"
)

// RunState says how far a run is.
type RunState string

// The states of a run, in the order in which it comes to them. Asking may be left out,
// and come again.
const (
	Running   RunState = "running"
	Asking    RunState = "asking"    // tools failed, or everybody did; a person says retry or go on
	Counting  RunState = "counting"  // all ballots are sealed, and are to be opened
	Ready     RunState = "ready"     // nothing more is done: the notes can be handed over
	Answering RunState = "answering" // the main model has the notes, and answers
	Over      RunState = "over"
)

// TaskKind says what a Task is.
type TaskKind string

// The kinds of tasks.
const (
	Summarize TaskKind = "summary"  // the helper sums the chat up, for the members that are given that
	UseTool   TaskKind = "tool"     // mode tools: one tool of a member
	Opine     TaskKind = "answer"   // a member answers
	Look      TaskKind = "review"   // it looks at the answers of the others
	Cast      TaskKind = "ballot"   // it votes
	Draft     TaskKind = "draft"    // it answers, to be spoken against
	Oppose    TaskKind = "critique" // it speaks against the draft

	// Synthesize is the main model's answer. No Task is of this kind; only a TaskView.
	Synthesize TaskKind = "synthesis"
)

// TaskState says how far a Task is.
type TaskState string

// The states of a task. Those after Working are final but for a retry.
const (
	Waiting TaskState = "waiting"
	Working TaskState = "working"
	Done    TaskState = "done"
	Failed  TaskState = "failed"
	Skipped TaskState = "skipped" // by a person, or because its member is out
	Stopped TaskState = "stopped" // with the run, or left out by finishing early
	Capped  TaskState = "capped"  // there was no money, or no time, for it
)

// final reports whether nothing more becomes of a task by itself.
func (s TaskState) final() bool { return s != Waiting && s != Working }

// Task is one piece of work of one member in one stage.
type Task struct {
	ID      string // "1/ada/answer", "1/ada/look:look"; stable over replays
	Stage   int    // from 0
	Kind    TaskKind
	Member  string // id; empty for the council's own
	Tool    string // UseTool: as it is assigned
	Attempt int    // how often it was started
	State   TaskState
	Why     string // Skipped, Stopped, Capped: a sentence
	Started time.Time
	Ended   time.Time
	Asked   time.Duration // of the newest attempt: for how long a person was asked about its calls
	// End is that of the newest attempt that ended. Of one that was left out meanwhile it has only
	// what that was sent and called.
	End    End
	Lost   chat.Usage // of attempts that count no more
	Nudges []string   // what the person said to it
	// UnderWay counts attempts that were started and did not end yet: also those that count no
	// more, which still cost.
	UnderWay int
}

// Seat is a member in a run.
type Seat struct {
	Member Member
	Roll   *float64 // what was thrown, 0 to under 100; nil where nothing was
	In     bool     // it takes part
	Why    string   // a sentence: not In, why; else what it has to do without, or ""
}

// Run is one deliberation, as its steps leave it. Use Replay, or Apply on a zero Run. It
// is a value: a copy is not changed by Apply of another, and it is not safe for
// concurrent use.
type Run struct {
	Begin
	State  RunState
	Seats  []Seat // in the order of the council
	Tasks  []Task // in the order of stages, then of seats, then of a member's tools
	Began  time.Time
	Handed time.Time // the main model was given the notes, and began to answer
	Ended  time.Time
	Early  *Early // what ended it before its time, if something did
	Opened bool   // the ballots
	Away   []Away // when nobody worked on it
	Notes  Hash
	Answer *Answer
	Last   Step // the newest step
	// Ratings hold the person's newest thumb on each point, in the order of the first ones.
	Ratings []Rating
}

// Rating tells whether a member's point helped the person.
type Rating struct {
	Member string `json:"member"`
	Point  int    `json:"point"` // counts from 1
	Good   bool   `json:"good"`
}

// Early says what ended a run before its time.
type Early struct {
	By  By
	Why string // a sentence
}

// Away is a time in which nobody worked on a run, since the program was closed.
type Away struct {
	From, To time.Time
}

// After returns how long a run had been worked on at a time: without what it was cut off.
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

// ErrStep says that a step cannot come after those before it.
var ErrStep = errors.New("this step cannot happen to the run now")

// Replay makes a run of its steps.
func Replay(steps []Step) (Run, error) {
	var r Run
	for _, s := range steps {
		if err := r.Apply(s); err != nil {
			return r, fmt.Errorf("step %d: %w", s.Number, err)
		}
	}
	return r, nil
}

// Next says what is to be done now.
type Next struct {
	// Start are the tasks to start, in order, besides those that are Working.
	Start []string
	Open  bool // the ballots are to be opened: a step Opens
	Ready bool // the notes are to be handed to the main model: a step Hands
	Over  bool
}

// Next returns what is to be done now. Whoever runs it also ends the work on tasks that
// are not Working any more, and on attempts that are not the newest.
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

// Apply has a step happen to the run. The error is ErrStep, with nothing changed; it is
// no error that an attempt ends which counts no more: what it used is added to Lost, and
// where it is the newest, what it was sent can be seen.
func (r *Run) Apply(s Step) error {
	if s.Number != r.Last.Number+1 || (s.Kind == Begins) != (s.Number == 1) || s.At.Before(r.Last.At) {
		return ErrStep
	}
	next := r.clone()
	if err := next.take(s); err != nil {
		return err
	}
	next.Last = s
	next.settle()
	*r = next
	return nil
}

// clone returns a copy that shares nothing which Apply changes.
func (r *Run) clone() Run {
	next := *r
	next.Seats, next.Tasks, next.Ratings = slices.Clone(r.Seats), slices.Clone(r.Tasks), slices.Clone(r.Ratings)
	return next
}

// rate puts a thumb in place of the one before it on the same point.
func (r *Run) rate(n Rating) {
	same := func(o Rating) bool { return o.Member == n.Member && o.Point == n.Point }
	if i := slices.IndexFunc(r.Ratings, same); i >= 0 {
		r.Ratings[i] = n
	} else {
		r.Ratings = append(r.Ratings, n)
	}
}

// ratingsOf returns the person's thumbs on a member's points.
func (r *Run) ratingsOf(member string) []Rating {
	others := func(o Rating) bool { return o.Member != member }
	return append([]Rating{}, slices.DeleteFunc(slices.Clone(r.Ratings), others)...)
}

func (r *Run) take(s Step) error {
	switch {
	case s.Kind == Begins && s.Begin != nil:
		return r.begin(s)
	case s.Kind == Rates:
		r.rate(Rating{s.Member, s.Point, s.Good})
		return nil
	case r.State == Over && s.Kind != Ends: // what was stopped ends a little later
		return ErrStep
	}
	switch s.Kind {
	case Resumes:
		return r.resume(s)
	case Starts:
		return r.start(s)
	case Ends:
		return r.end(s)
	case Acts:
		return r.act(s)
	case Opens:
		if r.State != Counting {
			return ErrStep
		}
		r.Opened, r.State = true, Ready
		return nil
	case Hands:
		if r.State != Ready {
			return ErrStep
		}
		r.Notes, r.Handed, r.State = s.Notes, s.At, Answering
		return nil
	case Concludes:
		if r.State != Answering && r.State != Ready || s.Answer == nil {
			return ErrStep
		}
		r.Answer, r.State, r.Ended = s.Answer, Over, s.At
		return nil
	}
	return ErrStep
}

// begin seats the members and lists the tasks.
func (r *Run) begin(s Step) error {
	r.Begin, r.Began, r.State = *s.Begin, s.At, Running
	rolls := Rolls(r.Seed, r.Council)
	for i, m := range r.Council.Members {
		seat := Seat{Member: m, Roll: rolls[i]}
		if seat.In, seat.Why = r.seated(m, rolls[i]); seat.In {
			seat.Why = r.Lacks[m.ID]
		}
		r.Seats = append(r.Seats, seat)
	}
	r.Tasks = r.plan()
	for id, end := range r.Kept {
		if t := r.task(id); t != nil {
			t.State, t.End, t.Attempt, t.Started, t.Ended = end.State, end, 1, s.At, s.At
		}
	}
	return nil
}

// seated says whether a member takes part, and why not.
func (r *Run) seated(m Member, roll *float64) (bool, string) {
	switch {
	case m.Off:
		return false, m.Name + " is switched off."
	case r.Only != "" && m.ID != r.Only:
		return false, "Another member was asked by name."
	case r.Out[m.ID] != "":
		return false, r.Out[m.ID]
	case r.Council.Mode == Tools && len(m.Tools) == 0:
		return false, m.Name + " has no tools."
	case r.Council.Mode == Tools && m.Chance <= 0:
		return false, m.Name + " never takes part: its chance is 0 %."
	case roll != nil && r.Only == "" && *roll >= m.Chance:
		return false, fmt.Sprintf("%s threw %.1f and takes part below %g.", m.Name, *roll, m.Chance)
	}
	return true, ""
}

// Rolls throws for each member whose chance is neither certain nor none, in mode tools
// (contracts/spindle, section 10.2): the first eight bytes of the SHA-256 of the seed and
// the member's id, as a share of all there could be. Anybody can check it, and one
// member's roll does not depend on the others.
func Rolls(seed uint64, c Council) []*float64 {
	rolls := make([]*float64, len(c.Members))
	for i, m := range c.Members {
		if c.Mode == Tools && m.Chance > 0 && m.Chance < 100 {
			sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), m.ID...))
			thrown := float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53) * 100
			rolls[i] = &thrown
		}
	}
	return rolls
}

// with returns a copy of m with an entry more, without it where that is empty.
func with(m map[string]string, key, value string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, m)
	all[key] = value
	if value == "" {
		delete(all, key)
	}
	return all
}

// resume lets everything begin again that was under way when the program ended.
func (r *Run) resume(s Step) error {
	if r.State == Answering { // the answer was not finished; it is given the notes again
		r.State = Ready
	}
	if s.Turn != "" {
		r.Turn = s.Turn
	}
	if s.Model != "" { // else it is only ended
		r.Models, r.Out = with(r.Models, "", s.Model), with(r.Out, "", s.Text)
	}
	r.Away = append(slices.Clip(r.Away), Away{r.Last.At, s.At})
	for i := range r.Tasks {
		r.Tasks[i].UnderWay = 0 // it ended with the program
		if r.Tasks[i].State == Working {
			r.Tasks[i].State = Waiting
		}
	}
	return nil
}

func (r *Run) start(s Step) error {
	t := r.task(s.Task)
	if t == nil || t.State != Waiting || s.Attempt != t.Attempt+1 || !slices.Contains(r.Next().Start, t.ID) {
		return ErrStep
	}
	t.State, t.Attempt, t.Started, t.Asked = Working, s.Attempt, s.At, 0
	t.UnderWay++
	return nil
}

func (r *Run) end(s Step) error {
	t := r.task(s.Task)
	if t == nil || s.End == nil || !s.End.State.final() || s.Attempt < 1 || s.Attempt > t.Attempt {
		return ErrStep
	}
	t.UnderWay = max(t.UnderWay-1, 0)
	if s.Attempt == t.Attempt { // also of one that was left out meanwhile
		t.Asked = time.Duration(s.End.AskedMS) * time.Millisecond
	}
	if s.Attempt != t.Attempt || t.State != Working {
		t.Lost = t.Lost.Add(s.End.Usage)
		if s.Attempt == t.Attempt { // what it was sent and called until then can be seen
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
	if (r.State == Answering || r.State == Ready) && s.Act != Stop ||
		(s.Act == Skip || s.Act == Nudge) && s.Member == "" {
		return ErrStep
	}
	switch s.Act {
	case Skip:
		if !r.leaveOut(s.Member, Skipped, "You skipped it.", s.At) {
			return ErrStep
		}
	case Nudge:
		return r.nudge(s)
	case Retry:
		return r.retry(s)
	case GoOn:
		if r.State != Asking {
			return ErrStep
		}
		r.State = Ready
		r.metCap()
	case Finish, Stop:
		r.leaveOut("", Stopped, s.Text, s.At)
		r.Early = &Early{s.By, s.Text}
		switch {
		case s.Act == Stop:
			r.State, r.Ended = Over, s.At
		case r.State == Asking:
			r.State = Running // settle says what is next
		}
	default:
		return ErrStep
	}
	return nil
}

// nudge has a member begin again what it does, with a person's words.
func (r *Run) nudge(s Step) error {
	err := ErrStep
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Member == s.Member && t.State == Working {
			t.State, t.Nudges, err = Waiting, append(slices.Clip(t.Nudges), s.Text), nil
		}
	}
	return err
}

// retry has failed tasks done again, and with them those that were skipped because of them, also
// those of other members that had nobody's words to be about. What a person skipped is done again
// where it is named.
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

// failedBefore says why a member that failed has no part in later stages.
const failedBefore = "It failed before."

// leaveOut ends all tasks of a member, or of all, that have not ended; those that were
// worked on ended then. It reports whether there were any.
func (r *Run) leaveOut(member string, as TaskState, why string, at time.Time) (some bool) {
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.State.final() || member != "" && t.Member != member {
			continue
		}
		if t.State == Working {
			t.Ended = at
		}
		t.State, t.Why, some = as, why, true
	}
	return some
}

func (r *Run) task(id string) *Task {
	i := slices.IndexFunc(r.Tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &r.Tasks[i]
}

// Spent returns what the run used so far, or one member of it; the main answer is not
// part of it.
func (r *Run) Spent(member string) chat.Usage {
	var sum chat.Usage
	for _, t := range r.Tasks {
		if member == "" || t.Member == member {
			sum = sum.Add(t.Lost).Add(t.End.Usage)
		}
	}
	return sum
}

// said returns the newest answer of a member that counts: one that is done, of the kinds
// in which a member says what it thinks. It is nil for none.
func (r *Run) said(member string) *Task {
	var newest *Task
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.Member == member && t.State == Done && (t.Kind == Opine || t.Kind == Draft || t.Kind == Oppose) {
			newest = t
		}
	}
	return newest
}

func (r *Run) seat(member string) int {
	return slices.IndexFunc(r.Seats, func(s Seat) bool { return s.Member.ID == member })
}

// nameOf returns the name of a member, with its letter where another has the same name.
func (r *Run) nameOf(member string) string {
	i := r.seat(member)
	if i < 0 {
		return member
	}
	name, same := shownLine(r.Seats[i].Member.Name), 0
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

// sameName reports whether people read two names as one.
func sameName(a, b string) bool { return strings.EqualFold(shownLine(a), shownLine(b)) }
