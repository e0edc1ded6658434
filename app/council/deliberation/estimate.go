package deliberation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/model"
	"conclave/app/model/cost"
)

// usually holds the assumed output tokens and seconds of work before any was observed.
var usually = map[council.TaskKind]struct {
	tokens  int64
	seconds float64
}{
	council.Summarize: {400, 8}, council.UseTool: {300, 4}, council.Opine: {450, 9}, council.Draft: {450, 9},
	council.Look: {350, 7}, council.Cast: {120, 3}, council.Oppose: {350, 7}, council.Synthesize: {700, 12},
}

// Assumed seconds of a tool call, and of a scripted model.
const (
	toolSeconds     = 1
	scriptedSeconds = 2
)

// Estimate estimates a council's run for a request. Conversation is empty for a new chat; a nil Model
// is the chat's own. Members that take part by chance count fully.
func (r *Runner) Estimate(ctx context.Context, c council.Council, req turn.Request) (council.Estimate, error) {
	s := &session{r: r, req: req, tools: r.o.Tools.Set()}
	c = c.WithTools(s.tools.Tools())
	s.council = c
	question := chat.Message{
		Role: chat.RoleUser, State: chat.Complete,
		Parts: append([]chat.Part{chat.TextPart(req.Text)}, req.Attachments...),
	}
	err := s.readChat(ctx, func(path []chat.Message) []chat.Message { return append(slices.Clip(path), question) })
	if err != nil {
		return council.Estimate{}, err
	}
	if req.Model == nil {
		s.req.Model, err = r.o.Models.Open(ctx, s.chat.Model)
	}
	if s.chooseModel(ctx); s.req.Model == nil {
		return council.Estimate{}, err
	}
	b := council.Begin{Council: c}
	s.seats(ctx, &b)
	return s.estimate(ctx, b), nil
}

// estimate estimates the run that begins so.
func (s *session) estimate(ctx context.Context, b council.Begin) council.Estimate {
	s.r.loadDurations(ctx)
	b.Council.Members = slices.Clone(b.Council.Members)
	for i := range b.Council.Members {
		if m := &b.Council.Members[i]; m.Chance > 0 || s.toolsAlone() { // no dice then
			m.Chance = 100
		}
	}
	e := estimator{s: s, Estimate: council.Estimate{
		Cap: b.Council.Limits.Money, Known: true, Problems: []string{}, Tasks: map[string]council.Spending{},
	}}
	_ = e.run.Apply(council.Step{Number: 1, Kind: council.Begins, At: s.r.o.Now(), Begin: &b}) // a first step can be
	for _, seat := range e.run.Seats {
		if why := e.run.NoVoice(seat.Member); seat.In && why != "" {
			e.problem(seat.Member.Name + " " + why + ".")
		}
	}
	said := map[string]int64{} // by member: tokens of its words that others see
	tasks := e.run.Tasks
	if s.toolsAlone() { // the main model decides what to call
		for _, t := range tasks {
			e.without(t)
		}
		tasks = nil
	}
	for len(tasks) > 0 {
		later := slices.IndexFunc(tasks, func(t council.Task) bool { return t.Stage != tasks[0].Stage })
		if later < 0 {
			later = len(tasks)
		}
		e.stage(ctx, tasks[:later], said)
		tasks = tasks[later:]
	}
	u := s.maxAnswerUsage()
	u.Output = usually[council.Synthesize].tokens
	info := s.req.Model.Info()
	answer := s.r.o.Price(info, u)
	long := e.seconds(workKind{kind: council.Synthesize, model: info.Name()}, info.Provider == demo)
	e.add(council.ChairTask, answer, long)
	e.Seconds += long
	if most := b.Council.Limits.Seconds; most > 0 {
		e.Seconds = min(e.Seconds, float64(most))
	}
	e.problems(answer)
	return e.Estimate
}

// estimator adds up an estimate.
type estimator struct {
	council.Estimate
	s   *session
	run council.Run
}

// stage adds the tasks of one stage. Members work in parallel up to the bound, and each member does
// all its tasks at once. said holds, by member, the tokens of its words that others see.
func (e *estimator) stage(ctx context.Context, tasks []council.Task, said map[string]int64) {
	var members []string
	longest := map[string]float64{} // by member
	next := map[string]int64{}
	for _, t := range tasks {
		if !slices.Contains(members, t.Member) {
			members = append(members, t.Member)
		}
		longest[t.Member] = max(longest[t.Member], e.work(ctx, t, said))
		if t.Kind == council.Opine || t.Kind == council.Draft {
			next[t.Member] = e.Tasks[t.ID].Output
		}
	}
	if e.run.Council.Mode == council.Relay {
		clear(said) // each sees only the answer before it
	}
	maps.Copy(said, next)
	ends := make([]float64, cmp.Or(e.run.Council.Parallel, council.PerRun))
	for _, m := range members { // the next member begins when the first one is done
		ends[slices.Index(ends, slices.Min(ends))] += longest[m]
	}
	e.Seconds += slices.Max(ends)
}

// work adds a task, and returns the seconds that it takes.
func (e *estimator) work(ctx context.Context, t council.Task, said map[string]int64) float64 {
	m, of := e.run.Member(t.Member), e.s.kindOfWork(e.run, t)
	var info model.Info
	if of.model != "" {
		if opened, err := e.s.r.o.Models.Open(ctx, of.model); err == nil {
			info = opened.Info()
		}
	}
	long := e.seconds(of, info.Provider == demo)
	if t.Kind == council.UseTool {
		e.Tools++
		needs := NeedsModel(e.s.tools, t.Tool, m)
		if needs != "" && e.run.Models[t.Member] == "" {
			e.Helper = true
			e.problem(needs + " Choose one for the council, or a model for " + m.Name + ".")
			return long
		}
		if e.without(t); needs == "" {
			e.task(t.ID, chat.Usage{}, long)
			return long
		}
	}
	u := e.s.maxUsage(m)
	u.Output = usually[t.Kind].tokens
	if most := cmp.Or(m.MaxTokens, e.run.Council.Helper.MaxTokens); most > 0 {
		u.Output = min(u.Output, most)
	}
	switch {
	case t.Kind == council.Look, t.Kind == council.Cast, t.Kind == council.Oppose, e.run.Council.Mode == council.Relay:
		for other, tokens := range said {
			if other != t.Member {
				u.Input += tokens
			}
		}
	}
	if info.ID != "" {
		u = e.s.r.o.Price(info, u)
	}
	e.add(t.ID, u, long)
	return long
}

// seconds returns the expected duration of work: the recent median, or the default.
func (e *estimator) seconds(of workKind, scripted bool) float64 {
	took, known := e.s.r.durations.median(of)
	switch {
	case known:
		return took.Seconds()
	case scripted:
		return scriptedSeconds
	case of.kind == council.UseTool && of.model == "":
		return toolSeconds
	}
	return usually[of.kind].seconds
}

// without adds a problem where a member lacks the tool of a task. Of one that is not there, problems
// says why.
func (e *estimator) without(t council.Task) {
	if why := Unusable(e.s.tools, e.run.Council, t.Tool); why != "" && why != council.NotThere(t.Tool) {
		e.problem(e.run.Member(t.Member).Name + " goes without a tool: " + why)
	}
}

// problem adds a sentence, once.
func (e *estimator) problem(sentence string) {
	if !slices.Contains(e.Problems, sentence) {
		e.Problems = append(e.Problems, sentence)
	}
}

// task sets the estimate of a task.
func (e *estimator) task(id string, u chat.Usage, seconds float64) {
	e.Tasks[id] = council.Spending{
		Input: u.Input, Output: u.Output, MS: int64(seconds * 1000), Cost: u.Cost, Known: u.Known(),
	}
}

// add adds the one request of a task.
func (e *estimator) add(id string, u chat.Usage, seconds float64) {
	e.task(id, u, seconds)
	e.Calls++
	e.Input, e.Output, e.Cost = e.Input+u.Input, e.Output+u.Output, e.Cost+u.Cost
	e.Known = e.Known && u.Known()
}

// problems adds sentences on what limits or prevents the run.
func (e *estimator) problems(answer chat.Usage) {
	in := 0
	without := e.s.r.lacks(e.run.Council, e.s.tools)
	for _, seat := range e.run.Seats {
		switch {
		case seat.In:
			in++
			if why := without[seat.Member.ID]; why != "" {
				e.problem(seat.Member.Name + " goes without a tool: " + why)
			}
		case !seat.Member.Off:
			e.Problems = append(e.Problems, seat.Why)
			e.Helper = e.Helper || e.run.Out[seat.Member.ID] != "" && seat.Member.Model == ""
		}
	}
	if why := e.run.Out[""]; why != "" {
		e.Problems = append(e.Problems, why)
	}
	switch {
	case len(e.run.Seats) == 0:
		e.Problems = append(e.Problems, "The council has no members.")
	case in == 1 && e.run.Council.Mode != council.Tools:
		e.Problems = append(e.Problems, "One member works; there is nothing to compare.")
	}
	if e.Cap <= 0 {
		return
	}
	limit := cost.Words(e.Cap, true)
	switch {
	case answer.Cost > e.Cap:
		e.Problems = append(e.Problems, fmt.Sprintf(
			"The answer alone may cost %s, more than the cap of %s: the council would not work. Raise the cap, or choose a "+
				"cheaper model to write the answer.", cost.Words(answer.Cost, true), limit))
	case e.Cost > e.Cap:
		e.Problems = append(e.Problems, fmt.Sprintf("It may cost %s, and stops at its cap of %s.",
			cost.Words(e.Cost, e.Known), limit))
	case !e.Known:
		e.Problems = append(e.Problems, "The price of a model is not known, so the cap of "+limit+" cannot be kept.")
	}
}
