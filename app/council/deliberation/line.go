package deliberation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
)

// Line is one line of `prompt --json` about a council. State decides which fields count.
type Line struct {
	Type   string `json:"type"`   // council, or permission
	Member string `json:"member"` // name; "" is the council's own
	State  string `json:"state,omitempty"`
	ID     string `json:"id,omitempty"`    // waiting, sat_out: the member's; permission: the request's
	AtMS   int64  `json:"at_ms,omitempty"` // after the run began

	Run     string       `json:"run,omitempty"` // started
	Mode    council.Mode `json:"mode,omitempty"`
	Members int          `json:"members,omitempty"` // that take part
	Calls   int          `json:"calls,omitempty"`   // requests to models, the answer among them
	Cap     float64      `json:"cap,omitempty"`     // US dollars

	Roll   *float64 `json:"roll,omitempty"` // waiting, sat_out
	Chance *float64 `json:"chance,omitempty"`
	Stage  int      `json:"stage,omitempty"` // from 1
	Tool   string   `json:"tool,omitempty"`
	Text   string   `json:"text,omitempty"`
	Kind   string   `json:"kind,omitempty"` // failed: of the failure; said: of the task
	Tasks  []string `json:"tasks,omitempty"`
	Count  int      `json:"count,omitempty"` // ballots

	// Drawn lists, for a review, the letters that the others have in it.
	Drawn []council.Drawn `json:"drawn,omitempty"`

	MS    int64 `json:"ms,omitempty"`
	Asked int64 `json:"asked_ms,omitempty"` // of that time: waiting for a person
	// Refused counts the refused calls of a member that was done all the same.
	Refused int      `json:"refused,omitempty"`
	Input   int64    `json:"input_tokens,omitempty"`
	Output  int64    `json:"output_tokens,omitempty"`
	Cost    *float64 `json:"cost,omitempty"` // US dollars; left out where it is not known
	// Estimate is the estimated cost of a member's work; done.
	Estimate *float64 `json:"estimate,omitempty"`

	*council.Result // completed, concluded

	Shared bool `json:"-"` // tools of other plugins in the run have the name of Tool

	Decision string `json:"decision,omitempty"` // permission
	Why      string `json:"why,omitempty"`
}

// Reporter turns the events of a run into lines. Its zero value has no texts. It is not safe for
// concurrent use.
type Reporter struct {
	Text func(council.Hash) string // of the run

	run    council.Run
	at     int64
	phases map[string]council.Phase // of tasks under way
	spoke  map[string]bool          // tasks whose words were reported as they came
	calls  map[string]chat.CallStatus
	asked  map[string]bool // calls whose permission was reported
	held   map[string]bool // members that were reported as waiting, by stage
}

// Report returns the lines of an event.
func (t *Reporter) Report(e Event) []Line {
	if t.phases == nil {
		t.phases, t.spoke = map[string]council.Phase{}, map[string]bool{}
		t.calls, t.asked, t.held = map[string]chat.CallStatus{}, map[string]bool{}, map[string]bool{}
	}
	t.at = e.MS
	var lines []Line
	switch {
	case e.Step != nil:
		lines = t.step(e.Run, *e.Step)
		t.run = e.Run
	case e.Live != nil:
		lines = t.live(e.Run, e.Task, *e.Live)
	case e.Due != nil:
	case e.SaveError != nil && *e.SaveError != "":
		lines = []Line{{State: "unkept", Text: *e.SaveError}}
	case e.SaveError != nil:
		lines = []Line{{State: "kept", Text: "Conclave can save this council run again."}}
	}
	for i := range lines {
		lines[i].Shared = shared(e.Run, lines[i].Tool)
		lines[i].Type, lines[i].AtMS = cmp.Or(lines[i].Type, "council"), t.at
	}
	return lines
}

// shared reports whether members have tools of several plugins by the name that a tool has.
func shared(r council.Run, id string) bool {
	_, name, ok := strings.Cut(id, ":")
	return ok && slices.ContainsFunc(r.Council.Members, func(m council.Member) bool {
		return slices.ContainsFunc(m.Tools, func(other string) bool {
			return other != id && strings.HasSuffix(other, ":"+name)
		})
	})
}

// step reports a step.
func (t *Reporter) step(r council.Run, s council.Step) []Line {
	var lines []Line
	switch s.Kind {
	case council.Begins:
		lines = t.begins(r)
	case council.Resumes:
		lines = []Line{{State: "resumed", Run: string(r.Run)}}
	case council.Starts:
		lines = append(t.starts(r, s), t.holds(r)...)
	case council.Ends:
		lines = t.ends(r, s)
	case council.Acts:
		lines = []Line{{Member: r.Member(s.Member).Name, State: string(s.Act), Text: s.Text}}
	case council.Opens:
		lines = []Line{{State: "opened"}}
	}
	lines = append(lines, t.finished(r)...)
	if r.State == t.run.State {
		return lines
	}
	switch r.State {
	case council.Asking:
		lines = append(lines, asking(r))
	case council.Counting:
		cast := func(t council.Task) bool { return t.Kind == council.Cast && t.State == council.Done }
		lines = append(lines, Line{State: "sealed", Count: count(r, cast)})
	case council.Answering:
		line := t.sum("completed", r, r.Spent(""))
		if count(r, func(t council.Task) bool { return t.State == council.Done }) == 0 {
			line.Text = noAnswers
		}
		lines = append(lines, line)
	case council.Over:
		if r.Answer == nil {
			lines = append(lines, t.sum("stopped", r, r.Spent("")))
		} else {
			lines = append(lines, t.sum("concluded", r, r.Spent("").Add(r.Answer.Usage)))
		}
	}
	return lines
}

// noAnswers is the text of a run in which no member finished a task.
const noAnswers = "no member answered"

// sum reports what was spent up to a state, and the result so far.
func (t *Reporter) sum(state string, r council.Run, u chat.Usage) Line {
	line := Line{State: state, MS: t.at, Input: u.Input, Output: u.Output, Cost: known(u)}
	if r.Early != nil {
		line.Text = r.Early.Why
	}
	if state != "stopped" {
		result := council.ResultOf(r, t.text)
		line.Result = &result
	}
	return line
}

// count counts the tasks of a run that match.
func count(r council.Run, match func(council.Task) bool) (n int) {
	for _, t := range r.Tasks {
		if match(t) {
			n++
		}
	}
	return n
}

// begins reports who takes part, and the estimate.
func (t *Reporter) begins(r council.Run) []Line {
	first := Line{State: "started", Run: string(r.Run), Mode: r.Council.Mode, Cap: r.Council.Limits.Money}
	first.Calls = 1 + count(r, func(t council.Task) bool { return t.Kind != council.UseTool })
	if e := r.Estimate; e != nil {
		if first.Calls = e.Calls; e.Known {
			first.Cost = &e.Cost
		}
	}
	lines := []Line{first}
	for _, s := range r.Seats {
		line := Line{Member: s.Member.Name, ID: s.Member.ID, State: "waiting", Roll: s.Roll, Text: s.Why}
		if s.Roll != nil {
			line.Chance = &s.Member.Chance
		}
		if !s.In {
			line.State = "sat_out"
		} else {
			lines[0].Members++
		}
		lines = append(lines, line)
		if why := r.NoVoice(s.Member); s.In && why != "" {
			lines = append(lines, Line{Member: s.Member.Name, ID: s.Member.ID, State: "waiting", Text: why + "."})
		}
	}
	if why := r.Out[""]; why != "" { // about the model that answers
		lines = append(lines, Line{State: "waiting", Text: why})
	}
	return lines
}

func (t *Reporter) starts(r council.Run, s council.Step) []Line {
	task := r.Task(s.Task)
	delete(t.phases, s.Task)
	delete(t.spoke, s.Task)
	if task == nil || task.Kind != council.UseTool || gone(r, task) {
		return nil // of other kinds, the worker reports when it reads
	}
	t.phases[s.Task] = council.Using
	return []Line{{Member: r.Member(task.Member).Name, State: "using", Tool: task.Tool}}
}

// gone reports whether a task is of a tool that was not there when the run began. The line of its
// member said so, and why.
func gone(r council.Run, task *council.Task) bool {
	return task.Kind == council.UseTool && task.State != council.Done && r.Lacks[task.Member] != "" &&
		r.Titles[task.Tool] == ""
}

// holds reports members that wait for a free place, and for whom, once per stage.
func (t *Reporter) holds(r council.Run) []Line {
	stage, working := -1, []string{}
	for _, task := range r.Tasks {
		if name := r.Member(task.Member).Name; task.State == council.Working && !slices.Contains(working, name) {
			stage, working = task.Stage, append(working, name)
		}
	}
	if r.Council.Parallel == 0 || len(working) < r.Council.Parallel {
		return nil // no member waits, or another task starts next
	}
	many := limit.Counted(r.Council.Parallel, "member") + " work at a time."
	if r.Council.Parallel == 1 {
		many = "one member works at a time."
	}
	var lines []Line
	for _, task := range r.Tasks {
		key := fmt.Sprint(task.Stage, "/", task.Member)
		if task.Stage != stage || task.State != council.Waiting || task.Member == "" || t.held[key] ||
			slices.Contains(working, r.Member(task.Member).Name) {
			continue
		}
		t.held[key] = true
		lines = append(lines, Line{
			Member: r.Member(task.Member).Name, ID: task.Member, State: "waiting", Stage: stage + 1,
			Text: "waits for " + limit.Listed(working) + ": " + many,
		})
	}
	return lines
}

func (t *Reporter) ends(r council.Run, s council.Step) []Line {
	task, before := r.Task(s.Task), t.run.Task(s.Task)
	if task == nil || before == nil || before.State != council.Working || task.Attempt != s.Attempt {
		return nil // of an attempt that no longer counts
	}
	line := Line{
		Member: r.Member(task.Member).Name, Tool: task.Tool, MS: task.Ended.Sub(task.Started).Milliseconds(),
		Asked: task.Asked.Milliseconds(), Stage: task.Stage + 1,
	}
	switch {
	case task.State == council.Failed:
		line.State = "failed"
		if f := task.End.Failure; f != nil {
			line.Text, line.Kind = f.Message, f.Kind
		}
	case task.State != council.Done:
		return nil
	case task.Kind == council.UseTool:
		line.State, line.Text = "used", t.text(task.End.Text)
	case task.Kind == council.Cast:
		line.State = "voted"
	default:
		line.State, line.Kind = "said", string(task.Kind)
		if !t.spoke[task.ID] {
			line.Text = Shown(t.text(task.End.Text))
		}
		if task.Kind == council.Look {
			line.Drawn = r.Drawn(task.Member)
		}
	}
	return []Line{line}
}

// Shown returns the part of a member's words that people see, without the block at their end.
func Shown(text string) string {
	shown, _ := council.Split(text)
	return strings.TrimSpace(shown)
}

// finished reports members whose last task just ended.
func (t *Reporter) finished(r council.Run) (lines []Line) {
	for _, m := range r.Council.Members {
		if over(r, m.ID) && !over(t.run, m.ID) {
			lines = append(lines, doneLine(r, m))
		}
	}
	return lines
}

// over reports whether a member has tasks, and all of them ended.
func over(r council.Run, member string) bool {
	some := false
	for t := range r.TasksOf(member) {
		if some = true; !t.State.Final() {
			return false
		}
	}
	return some
}

// doneLine reports the outcome of a member's tasks. With one done the member counts as done.
func doneLine(r council.Run, m council.Member) Line {
	u := r.Spent(m.ID)
	line := Line{
		Member: m.Name, ID: m.ID, State: string(council.Done), Input: u.Input, Output: u.Output, Cost: known(u),
		Estimate: expected(r, m.ID),
	}
	var failed Line // of the last task that was not done
	done, refused := false, 0
	for task := range r.TasksOf(m.ID) {
		if task.Attempt > 0 {
			line.MS = max(line.MS, r.After(task.Ended).Milliseconds())
		}
		refused += task.End.Refused
		if task.State == council.Done {
			done = true
			continue
		}
		if failed = (Line{State: string(task.State), Text: task.Why}); gone(r, task) {
			failed.Text = ""
		}
		if f := task.End.Failure; f != nil && task.State == council.Failed {
			failed.Text, failed.Kind = f.Message, f.Kind
		}
	}
	if done {
		line.Refused = refused // else the text says why nothing was done
	} else {
		line.State, line.Text, line.Kind = failed.State, failed.Text, failed.Kind
	}
	return line
}

// asking reports that a person has to decide about failed tasks.
func asking(r council.Run) Line {
	line := Line{State: "asking", Tasks: []string{}, Text: "The summary of the chat failed."}
	lost, tried, what := 0, 0, "members"
	for _, t := range r.Tasks {
		if t.State == council.Failed {
			line.Tasks = append(line.Tasks, t.ID)
		}
		if t.Member == "" || t.State != council.Failed && t.State != council.Done { // a summary belongs to no member
			continue
		}
		if tried++; t.State == council.Failed {
			lost++
		}
		if t.Kind == council.UseTool {
			what = "tools"
		}
	}
	if lost > 0 {
		line.Text = fmt.Sprintf("%d of %d %s failed.", lost, tried, what)
	}
	return line
}

// live reports the progress of a task.
func (t *Reporter) live(r council.Run, id string, l council.Live) []Line {
	task := r.Task(id)
	if task == nil {
		return nil
	}
	line := Line{Member: r.Member(task.Member).Name, Stage: task.Stage + 1}
	var lines []Line
	if l.Call != nil {
		lines = append(lines, t.call(line, l, task)...)
	}
	if l.Note != "" && l.Call == nil {
		lines = append(lines, Line{Member: line.Member, Stage: line.Stage, ID: task.Member, State: "waiting", Text: l.Note})
	}
	silent := l.Phase == "" || l.Phase == council.Using || task.Kind == council.UseTool && l.Text == ""
	if !silent && (l.Phase != t.phases[id] || l.Text != "") {
		line.State, line.Text = string(l.Phase), l.Text
		t.spoke[id] = t.spoke[id] || l.Text != ""
		lines = append(lines, line)
	}
	t.phases[id] = cmp.Or(l.Phase, t.phases[id])
	return lines
}

// call reports the state of a member's call. A task that is itself a call is reported by its steps.
func (t *Reporter) call(line Line, l council.Live, task *council.Task) []Line {
	c := l.Call
	key := fmt.Sprint(task.ID, "/", task.Attempt, "/", cmp.Or(c.RequestID, fmt.Sprint(c.ID)))
	var lines []Line
	if c.Decision != "" && !t.asked[key] {
		t.asked[key] = true
		lines = append(lines, Line{
			Type: "permission", Member: line.Member, ID: c.RequestID, Tool: c.ToolName, Decision: c.Decision, Why: c.DecidedBy,
		})
	}
	before, seen := t.calls[key]
	t.calls[key] = c.Status
	if task.Kind == council.UseTool || seen && before == c.Status {
		return lines
	}
	line.Tool = cmp.Or(c.ToolID, c.ToolName)
	switch c.Status {
	case "", chat.CallAsked, chat.CallRunning, chat.CallPaused:
		if seen {
			return lines
		}
		line.State = "using"
	case chat.CallOK:
		line.State, line.Text, line.MS = "used", c.ResultText, int64(c.MS)
	default:
		line.State, line.Text, line.MS, line.Kind = "failed", c.Error, int64(c.MS), string(c.Status)
	}
	return append(lines, line)
}

func (t *Reporter) text(h council.Hash) string {
	if t.Text == nil || h == "" {
		return ""
	}
	return t.Text(h)
}

// expected returns the estimated cost of a member's work, or nil where it is unknown or nothing.
func expected(r council.Run, member string) *float64 {
	sum := 0.0
	if r.Estimate == nil {
		return nil
	}
	for t := range r.TasksOf(member) {
		e, ok := r.Estimate.Tasks[t.ID]
		if !ok || !e.Known {
			return nil
		}
		sum += e.Cost
	}
	if sum == 0 {
		return nil
	}
	return &sum
}

func known(u chat.Usage) *float64 {
	if !u.Known() {
		return nil
	}
	return &u.Cost
}
