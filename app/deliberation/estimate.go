package deliberation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"conclave/app/chat"
	"conclave/app/cost"
	"conclave/app/council"
	"conclave/app/llm"
	"conclave/app/turn"
)

// What work is taken to come to before anybody knows: tokens that are written, and seconds
// that it takes a model.
var usually = map[council.TaskKind]struct {
	tokens  int64
	seconds float64
}{
	council.Summarize: {400, 8}, council.UseTool: {300, 4}, council.Opine: {450, 9}, council.Draft: {450, 9},
	council.Look: {350, 7}, council.Cast: {120, 3}, council.Oppose: {350, 7}, council.Synthesize: {700, 12},
}

// What takes less, in seconds, before anybody knows: a call of a tool, and what is scripted.
const (
	toolSeconds     = 1
	scriptedSeconds = 2
)

// Estimate says what a council may come to if it is asked so: Conversation is empty for a chat that
// is not begun, and a Model of nil is the chat's own. Members that take part by chance are counted
// as if they did.
func (r *Runner) Estimate(ctx context.Context, c council.Council, req turn.Request) (council.Estimate, error) {
	s := &session{r: r, req: req, tools: r.o.Tools.Set()}
	c = c.WithTools(s.tools.Tools())
	s.council = c
	var err error
	if id := req.Conversation; id != "" {
		if s.chat, err = r.o.Chats.Conversation(ctx, id); err != nil {
			return council.Estimate{}, err
		}
		if s.path, err = r.o.Chats.Path(ctx, id); err != nil {
			return council.Estimate{}, err
		}
	}
	question := append([]chat.Part{chat.TextPart(req.Text)}, req.Attachments...)
	s.path = append(slices.Clip(s.path), chat.Message{Role: chat.RoleUser, State: chat.Complete, Parts: question})
	if r.o.Background != nil {
		if s.background, err = r.o.Background(ctx, req.Conversation, s.path); err != nil {
			return council.Estimate{}, err
		}
	}
	if req.Model == nil {
		s.req.Model, err = r.o.Models.Open(ctx, s.chat.Model)
	}
	if s.choose(ctx); s.req.Model == nil {
		return council.Estimate{}, err
	}
	b := council.Begin{Council: c, Out: map[string]string{}, Models: map[string]string{}, Reserve: map[string]float64{}}
	s.seats(ctx, &b)
	return s.estimate(ctx, b), nil
}

// estimate says what the run that begins so may come to.
func (s *session) estimate(ctx context.Context, b council.Begin) council.Estimate {
	s.r.recall(ctx)
	b.Council.Members = slices.Clone(b.Council.Members)
	for i := range b.Council.Members {
		if m := &b.Council.Members[i]; m.Chance > 0 || s.toolsAlone() { // there are no dice then
			m.Chance = 100
		}
	}
	e := estimator{s: s, Estimate: council.Estimate{
		Cap: b.Council.Limits.Money, Known: true, Problems: []string{}, Tasks: map[string]council.Spending{},
	}}
	if err := e.run.Apply(council.Step{Number: 1, Kind: council.Begins, At: s.r.o.Now(), Begin: &b}); err != nil {
		return e.Estimate // a first step can be applied
	}
	for _, seat := range e.run.Seats {
		if why := e.run.NoVoice(seat.Member); seat.In && why != "" {
			e.problem(seat.Member.Name + " " + why + ".")
		}
	}
	said := map[string]int64{} // by member: tokens of what it says that others are shown
	tasks := e.run.Tasks
	if s.toolsAlone() { // the main model calls what there is, or does not
		for _, t := range tasks {
			e.without(t)
		}
		tasks = nil
	}
	for stage := 0; ; stage++ {
		now := slices.DeleteFunc(slices.Clone(tasks), func(t council.Task) bool { return t.Stage != stage })
		if len(now) == 0 {
			break
		}
		e.stage(ctx, now, said)
	}
	u := s.mostOfChair()
	u.Output = usually[council.Synthesize].tokens
	info := s.req.Model.Info()
	answer := s.priced(info, u)
	long := e.seconds(pace{kind: council.Synthesize, model: info.Name()}, info.Provider == demo)
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

// stage adds what the tasks of one stage come to. Members work at once, as many as may, and a
// member does all that it has at once.
func (e *estimator) stage(ctx context.Context, tasks []council.Task, said map[string]int64) {
	var members []string
	longest := map[string]float64{} // by member
	next := map[string]int64{}
	for _, t := range tasks {
		if !slices.Contains(members, t.Member) {
			members = append(members, t.Member)
		}
		m := e.member(t.Member)
		of := e.s.paceOf(e.run, t)
		var model llm.Model
		if of.model != "" {
			model, _ = e.s.r.o.Models.Open(ctx, of.model) // of one that cannot be opened nothing is known
		}
		long := e.seconds(of, model != nil && model.Info().Provider == demo)
		longest[t.Member] = max(longest[t.Member], long)
		if t.Kind == council.UseTool {
			e.Tools++
			needs := NeedsModel(e.s.tools, t.Tool, m)
			if needs != "" && e.run.Models[t.Member] == "" {
				e.Helper = true
				e.problem(needs + " Choose one for the council, or a model for " + m.Name + ".")
				continue
			}
			e.without(t)
			if needs == "" {
				e.task(t.ID, chat.Usage{}, long)
				continue
			}
		}
		written := usually[t.Kind].tokens
		if most := cmp.Or(m.MaxTokens, e.run.Council.Helper.MaxTokens); most > 0 {
			written = min(written, most)
		}
		u := e.s.most(m)
		u.Output = written
		for other, tokens := range said {
			if other != t.Member && (t.Kind == council.Look || t.Kind == council.Cast || t.Kind == council.Oppose ||
				e.run.Council.Mode == council.Relay) {
				u.Input += tokens
			}
		}
		if t.Kind == council.Opine || t.Kind == council.Draft {
			next[t.Member] = written
		}
		if model != nil {
			u = e.s.priced(model.Info(), u)
		}
		e.add(t.ID, u, long)
	}
	if e.run.Council.Mode == council.Relay {
		clear(said) // each is given the answer before it alone
	}
	for member, tokens := range next {
		said[member] = tokens
	}
	ends := make([]float64, cmp.Or(e.run.Council.Parallel, council.PerRun))
	for _, m := range members { // whoever is next begins where one is done first
		ends[slices.Index(ends, slices.Min(ends))] += longest[m]
	}
	e.Seconds += slices.Max(ends)
}

// seconds is how long some work is taken to take: as long as it took lately, else as long as
// such work usually does.
func (e *estimator) seconds(of pace, scripted bool) float64 {
	took, known := e.s.r.paces.lately(of)
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

// without says that a member goes without the tool of a task, where it does.
func (e *estimator) without(t council.Task) {
	why := ""
	if prompt, ok := builtInOf(t.Tool); !ok {
		if _, there := e.s.tools.ByID(t.Tool); there { // else problems says why
			_, why = usable(e.s.tools, t.Tool)
		}
	} else if e.s.toolsAlone() {
		why = NotInline(prompt)
	}
	if why != "" {
		e.problem(e.member(t.Member).Name + " goes without a tool: " + why)
	}
}

// problem adds a sentence, once.
func (e *estimator) problem(sentence string) {
	if !slices.Contains(e.Problems, sentence) {
		e.Problems = append(e.Problems, sentence)
	}
}

// member returns a member by its id; the council's own is zero.
func (e *estimator) member(id string) council.Member {
	i := slices.IndexFunc(e.run.Seats, func(s council.Seat) bool { return s.Member.ID == id })
	if i < 0 {
		return council.Member{}
	}
	return e.run.Seats[i].Member
}

// task notes what a task may come to.
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

// problems says what stands against the run, in sentences.
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

// priced returns u with what it costs, where that is known.
func (s *session) priced(m llm.ModelInfo, u chat.Usage) chat.Usage {
	if s.r.o.Price == nil {
		return u
	}
	return s.r.o.Price(m, u)
}
