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
		lines = append(lines, Line{State: "resumed", Run: string(r.Run)})
	case council.Starts:
		lines = append(lines, t.starts(r, s)...)
		lines = append(lines, t.holds(r)...)
	case council.Ends:
		lines = append(lines, t.ends(r, s)...)
	case council.Acts:
		lines = append(lines, Line{Member: r.Member(s.Member).Name, State: string(s.Act), Text: s.Text})
	case council.Opens:
		lines = append(lines, Line{State: "opened"})
	}
	lines = append(lines, t.finished(r)...)
	if r.State == t.run.State {
		return lines
	}
	switch r.State {
	case council.Asking:
		lines = append(lines, asking(r))
	case council.Counting:
		lines = append(lines, Line{State: "sealed", Count: len(tasksOf(r, council.Cast, council.Done))})
	case council.Answering:
		result := council.Compare(r, t.text, council.Groups{})
		line := t.sum("completed", r, r.Spent(""), &result)
		if !slices.ContainsFunc(r.Tasks, func(t council.Task) bool { return t.State == council.Done }) {
			line.Text = noAnswers
		}
		lines = append(lines, line)
	case council.Over:
		lines = append(lines, t.over(r))
	}
	return lines
}

// noAnswers is the text of a run in which no member finished a task.
const noAnswers = "no member answered"

// begins reports who takes part, and the estimate.
func (t *Reporter) begins(r council.Run) []Line {
	first := Line{State: "started", Run: string(r.Run), Mode: r.Council.Mode, Cap: r.Council.Limits.Money}
	first.Calls = 1
	for _, task := range r.Tasks {
		if task.Kind != council.UseTool {
			first.Calls++
		}
	}
	if e := r.Estimate; e != nil {
		if first.Calls = e.Calls; e.Known {
			first.Cost = &e.Cost
		}
	}
	lines := []Line{first}
	for i := range r.Seats {
		s := &r.Seats[i]
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
	if task == nil || task.Kind != council.UseTool {
		return nil // the worker reports when it reads
	}
	if gone(r, task) {
		return nil
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
func (t *Reporter) finished(r council.Run) []Line {
	var lines []Line
	for i := range r.Seats {
		id := r.Seats[i].Member.ID
		if !r.Seats[i].In || !final(r, id) || final(t.run, id) {
			continue
		}
		line := Line{Member: r.Seats[i].Member.Name, ID: id, State: string(council.Done)}
		u := r.Spent(id)
		line.Input, line.Output, line.Cost, line.Estimate = u.Input, u.Output, known(u), expected(r, id)
		for _, task := range r.Tasks {
			if task.Member != id {
				continue
			}
			if task.Attempt > 0 {
				line.MS = max(line.MS, r.After(task.Ended).Milliseconds())
			}
			line.Refused += task.End.Refused
			if task.State != council.Done {
				if line.State, line.Text = string(task.State), task.Why; gone(r, &task) {
					line.Text = ""
				}
				if f := task.End.Failure; f != nil && task.State == council.Failed {
					line.Text, line.Kind = f.Message, f.Kind
				}
			}
		}
		if has(r, id, council.Done) { // a member with one task done counts as done
			line.State, line.Text, line.Kind = string(council.Done), "", ""
		} else {
			line.Refused = 0 // its text says why nothing was done
		}
		lines = append(lines, line)
	}
	return lines
}

// final reports whether a member has tasks, and all of them ended.
func final(r council.Run, member string) bool {
	some := false
	for _, task := range r.Tasks {
		if task.Member != member {
			continue
		}
		if task.State == council.Waiting || task.State == council.Working {
			return false
		}
		some = true
	}
	return some
}

func has(r council.Run, member string, state council.TaskState) bool {
	return slices.ContainsFunc(r.Tasks, func(t council.Task) bool { return t.Member == member && t.State == state })
}

// asking reports that a person has to decide about failed tasks.
func asking(r council.Run) Line {
	failed := []string{}
	lost, tried := 0, 0
	what := "members"
	for _, task := range r.Tasks {
		if task.State == council.Failed {
			failed = append(failed, task.ID)
		}
		if task.Member == "" { // a summary belongs to no member
			continue
		}
		switch task.State {
		case council.Failed:
			lost++
			tried++
		case council.Done:
			tried++
		}
		if task.Kind == council.UseTool {
			what = "tools"
		}
	}
	text := fmt.Sprintf("%d of %d %s failed.", lost, tried, what)
	if lost == 0 {
		text = "The summary of the chat failed."
	}
	return Line{State: "asking", Text: text, Tasks: failed}
}

// over reports the end of the run.
func (t *Reporter) over(r council.Run) Line {
	if r.Answer == nil {
		line := t.sum("stopped", r, r.Spent(""), nil)
		if r.Early != nil {
			line.Text = r.Early.Why
		}
		return line
	}
	var groups council.Groups
	if r.Answer.Groups != "" {
		groups, _ = council.ReadGroups(t.text(r.Answer.Groups)) // without them, points are compared by their words
	}
	result := council.Compare(r, t.text, groups)
	return t.sum("concluded", r, r.Spent("").Add(r.Answer.Usage), &result)
}

func (t *Reporter) sum(state string, r council.Run, u chat.Usage, result *council.Result) Line {
	line := Line{State: state, MS: t.at, Input: u.Input, Output: u.Output, Cost: known(u), Result: result}
	if r.Early != nil {
		line.Text = r.Early.Why
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

func tasksOf(r council.Run, kind council.TaskKind, state council.TaskState) []council.Task {
	var tasks []council.Task
	for _, t := range r.Tasks {
		if t.Kind == kind && t.State == state {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// expected returns the estimated cost of a member's work, or nil where it is unknown or nothing.
func expected(r council.Run, member string) *float64 {
	sum := 0.0
	for _, t := range r.Tasks {
		if t.Member != member || r.Estimate == nil {
			continue
		}
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
