package deliberation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/limit"
)

// Line is one line of what `prompt --json` tells of a council. Its State says which
// fields count.
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

	// Drawn tells of a review that was said whose the letters in it are.
	Drawn []council.Drawn `json:"drawn,omitempty"`

	MS    int64 `json:"ms,omitempty"`
	Asked int64 `json:"asked_ms,omitempty"` // of that time: a person was asked
	// Refused tells how many calls of a member were refused, of what came to something; done.
	Refused int      `json:"refused,omitempty"`
	Input   int64    `json:"input_tokens,omitempty"`
	Output  int64    `json:"output_tokens,omitempty"`
	Cost    *float64 `json:"cost,omitempty"` // US dollars; left out where it is not known
	// Estimate tells what a member's work was estimated to cost; done.
	Estimate *float64 `json:"estimate,omitempty"`

	*council.Result // completed, concluded

	Shared bool `json:"-"` // tools of other plugins in the run have the name of Tool

	Decision string `json:"decision,omitempty"` // permission
	Why      string `json:"why,omitempty"`
}

// Teller tells of a run in lines. The zero value tells of one whose texts cannot be read.
// It is not safe for concurrent use.
type Teller struct {
	Text func(council.Hash) string // of the run

	run    council.Run
	at     int64
	phases map[string]council.Phase // of the tasks that are worked on
	spoke  map[string]bool          // tasks whose words were told as they came
	calls  map[string]chat.CallStatus
	asked  map[string]bool // calls whose permission was told
	held   map[string]bool // members that were said to wait for their place, by stage
}

// Tell returns the lines of an event.
func (t *Teller) Tell(e Event) []Line {
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
	case e.Unkept != nil && *e.Unkept != "":
		lines = []Line{{State: "unkept", Text: *e.Unkept}}
	case e.Unkept != nil:
		lines = []Line{{State: "kept", Text: "What the council does is kept again."}}
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

// step tells what a step did.
func (t *Teller) step(r council.Run, s council.Step) []Line {
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
		lines = append(lines, Line{Member: nameOf(r, s.Member), State: string(s.Act), Text: s.Text})
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
			line.Text = nobodyDid
		}
		lines = append(lines, line)
	case council.Over:
		lines = append(lines, t.over(r))
	}
	return lines
}

// nobodyDid is said of a run in which no member came to a result.
const nobodyDid = "no member answered"

// begins tells who takes part, and what the run may come to.
func (t *Teller) begins(r council.Run) []Line {
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
	if why := r.Out[""]; why != "" { // of the model that answers
		lines = append(lines, Line{State: "waiting", Text: why})
	}
	return lines
}

func (t *Teller) starts(r council.Run, s council.Step) []Line {
	task := taskOf(r, s.Task)
	delete(t.phases, s.Task)
	delete(t.spoke, s.Task)
	if task == nil || task.Kind != council.UseTool {
		return nil // the worker says when it reads
	}
	if gone(r, task) {
		return nil
	}
	t.phases[s.Task] = council.Using
	return []Line{{Member: nameOf(r, task.Member), State: "using", Tool: task.Tool}}
}

// gone reports whether a task is of a tool that was not there when the run began. The line of its
// member said so, and why.
func gone(r council.Run, task *council.Task) bool {
	return task.Kind == council.UseTool && task.State != council.Done && r.Lacks[task.Member] != "" &&
		r.Titles[task.Tool] == ""
}

// holds tells of members that could work and wait for their place, and for whom, once in each stage.
func (t *Teller) holds(r council.Run) []Line {
	stage, working := -1, []string{}
	for _, task := range r.Tasks {
		if name := nameOf(r, task.Member); task.State == council.Working && !slices.Contains(working, name) {
			stage, working = task.Stage, append(working, name)
		}
	}
	if r.Council.Parallel == 0 || len(working) < r.Council.Parallel {
		return nil // nobody waits for a place, or another task starts next
	}
	many := limit.Counted(r.Council.Parallel, "member") + " work at a time."
	if r.Council.Parallel == 1 {
		many = "one member works at a time."
	}
	var lines []Line
	for _, task := range r.Tasks {
		key := fmt.Sprint(task.Stage, "/", task.Member)
		if task.Stage != stage || task.State != council.Waiting || task.Member == "" || t.held[key] ||
			slices.Contains(working, nameOf(r, task.Member)) {
			continue
		}
		t.held[key] = true
		lines = append(lines, Line{
			Member: nameOf(r, task.Member), ID: task.Member, State: "waiting", Stage: stage + 1,
			Text: "waits for " + listed(working) + ": " + many,
		})
	}
	return lines
}

// listed joins names: “Ada, Bo and Cy”.
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func (t *Teller) ends(r council.Run, s council.Step) []Line {
	task, before := taskOf(r, s.Task), taskOf(t.run, s.Task)
	if task == nil || before == nil || before.State != council.Working || task.Attempt != s.Attempt {
		return nil // of an attempt that counts no more
	}
	line := Line{
		Member: nameOf(r, task.Member), Tool: task.Tool, MS: task.Ended.Sub(task.Started).Milliseconds(),
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

// Shown returns what people are shown of what a member said: all but the block at its
// end that is for the program.
func Shown(text string) string {
	shown, _ := council.Split(text)
	return strings.TrimSpace(shown)
}

// finished tells of members all of whose tasks are final now, and were not before.
func (t *Teller) finished(r council.Run) []Line {
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
		if has(r, id, council.Done) { // what it did counts, though not all of it came to something
			line.State, line.Text, line.Kind = string(council.Done), "", ""
		} else {
			line.Refused = 0 // it says why it came to nothing
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

// asking tells that a person is to say how it goes on.
func asking(r council.Run) Line {
	failed := []string{}
	lost, tried := 0, 0
	what := "members"
	for _, task := range r.Tasks {
		if task.State == council.Failed {
			failed = append(failed, task.ID)
		}
		if task.Member == "" { // a summary is nobody's
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

// over tells how the run ended.
func (t *Teller) over(r council.Run) Line {
	if r.Answer == nil {
		line := t.sum("stopped", r, r.Spent(""), nil)
		if r.Early != nil {
			line.Text = r.Early.Why
		}
		return line
	}
	var groups council.Groups
	if r.Answer.Groups != "" {
		groups, _ = council.ReadGroups(t.text(r.Answer.Groups)) // without them points are compared by their words
	}
	result := council.Compare(r, t.text, groups)
	return t.sum("concluded", r, r.Spent("").Add(r.Answer.Usage), &result)
}

func (t *Teller) sum(state string, r council.Run, u chat.Usage, result *council.Result) Line {
	line := Line{State: state, MS: t.at, Input: u.Input, Output: u.Output, Cost: known(u), Result: result}
	if r.Early != nil {
		line.Text = r.Early.Why
	}
	return line
}

// live tells what can be seen of a task that is worked on.
func (t *Teller) live(r council.Run, id string, l council.Live) []Line {
	task := taskOf(r, id)
	if task == nil {
		return nil
	}
	line := Line{Member: nameOf(r, task.Member), Stage: task.Stage + 1}
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

// call tells how a call of a member stands. A task that is itself a call tells of it by
// its steps.
func (t *Teller) call(line Line, l council.Live, task *council.Task) []Line {
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

func (t *Teller) text(h council.Hash) string {
	if t.Text == nil || h == "" {
		return ""
	}
	return t.Text(h)
}

func taskOf(r council.Run, id string) *council.Task {
	i := slices.IndexFunc(r.Tasks, func(t council.Task) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &r.Tasks[i]
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

func nameOf(r council.Run, member string) string {
	for i := range r.Seats {
		if r.Seats[i].Member.ID == member {
			return r.Seats[i].Member.Name
		}
	}
	return member
}

// expected returns what the work of a member was estimated to cost, nil where that is not
// known, or nothing.
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
