package deliberation

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/tool/call"
)

// stopTime bounds how long work under way may take to end once a run is over.
const stopTime = 400 * time.Millisecond

// askTime bounds the time in which a person can answer about failed tasks (contracts/spindle, section
// 10.8).
const askTime = 10 * time.Minute

// Causes of work that ends early. People read the state of the task instead.
var (
	errNotWorking = errors.New("the task is not worked on any more")
	errMemberTime = errors.New("the member's time is over")
	errSilent     = errors.New("the member's model said nothing for too long")
)

// attempt identifies one attempt at a task.
type attempt struct {
	task   string
	number int
}

// ended is the outcome of an attempt.
type ended struct {
	attempt
	work council.Work
}

// asked is an act that waits for its answer.
type asked struct {
	step   council.Step
	answer chan error
}

// concluded is the end of the main model's turn. Its answer is nil when the program closes.
type concluded struct {
	answer *council.Answer
	groups string // the model's list of points with the same claim
}

// loop executes one run: it starts the work that the state machine asks for, and applies the outcome
// as steps. Only its goroutine uses it, apart from its channels, texts and recorder.
type loop struct {
	r       *Runner
	s       *session
	id      council.RunID
	run     council.Run
	worker  *worker
	ledger  *ledger
	rec     *recorder
	watch   watch
	texts   textCache
	working map[attempt]*underWay
	result  *council.Result  // once there is one
	since   time.Time        // when it began or was resumed, moved by the time of a person's answers
	clock   *clock           // stops while a person is asked about any member's call
	asking  time.Time        // since when a person is asked
	due     map[string]int64 // the published deadlines

	ends      chan ended
	acts      chan asked
	moved     chan struct{} // receives when a clock stops or goes on
	concludes chan concluded
	stopTurn  context.CancelCauseFunc

	notes   string        // for the main model; read after ready
	origins []chat.Origin // of the notes; read after ready
	ready   chan struct{} // closed when the notes are stored
	over    chan struct{} // closed when the loop has ended
}

// start begins a run, or continues one, and returns its loop.
func (s *session) start(ctx context.Context, turnID string, stopTurn context.CancelCauseFunc) (*loop, error) {
	l := &loop{
		r: s.r, s: s, working: map[attempt]*underWay{}, ends: make(chan ended), acts: make(chan asked),
		moved: make(chan struct{}, 1), concludes: make(chan concluded, 1), stopTurn: stopTurn,
		ready: make(chan struct{}), over: make(chan struct{}),
	}
	l.clock = l.newClock()
	first := council.Step{Kind: council.Resumes, Turn: turnID, Model: s.req.Model.Info().Name(), Text: s.substitute}
	if s.how.Resume != "" {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
		l.id = s.how.Resume
	} else {
		b, err := s.begin(ctx, turnID)
		if err != nil {
			return nil, err
		}
		kept, err := council.TextsOf([]council.Step{{Begin: &b}}, s.r.Texts(ctx, s.keptFrom))
		if err != nil {
			return nil, err
		}
		l.texts.put(kept)
		first, l.id = council.Step{Kind: council.Begins, Begin: &b}, b.Run
	}
	l.watch.w = council.NewWatch(s.r.watchOptions(context.WithoutCancel(ctx), l.words))
	if s.how.Resume != "" {
		l.watch.w.Step(s.before) // as it was left, which the page has seen
	}
	l.rec = newRecorder(s.log, l.published, l.reportSaveState)
	if !s.r.addLoop(l) {
		l.rec.close()
		return nil, tooLate()
	}
	if err := l.first(ctx, first); err != nil {
		l.rec.close()
		close(l.over)
		l.r.removeLoop(l)
		return nil, err
	}
	l.ledger = newLedger(l.run)
	l.worker = newWorker(s, l.ledger)
	if s.how.Finish && l.run.State != council.Ready { // with notes, there is nothing to finish
		l.applyAct(council.Finish, council.Person, council.Finish.Why())
	}
	l.r.loops.Go(func() { // ends when the run is over, or with ctx
		defer close(l.over)
		defer l.r.removeLoop(l)
		defer l.holdUnsaved()
		defer l.rec.close()
		l.work(ctx)
		l.r.durations.observe(l.run)
	})
	return l, nil
}

// first applies the first step, for a resumed run to its stored state: since the turn began, somebody
// may have stopped or rated it.
func (l *loop) first(ctx context.Context, s council.Step) error {
	if s.Kind == council.Resumes {
		var err error
		if l.run, _, err = l.r.stored(ctx, l.id); err != nil {
			return err
		}
	}
	l.since = l.r.o.Now() // reading before it does not count as time of the run
	if !l.step(s, l.texts.copied()) {
		return tooLate()
	}
	return nil
}

// addLoop adds a loop to the live ones, unless its run is live already or the runner is closed.
func (r *Runner) addLoop(l *loop) bool {
	r.rates.Lock()
	defer r.rates.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[l.id] != nil || r.ctx.Err() != nil {
		return false
	}
	r.live[l.id] = l
	return true
}

func (r *Runner) removeLoop(l *loop) {
	r.mu.Lock()
	delete(r.live, l.id)
	r.mu.Unlock()
	r.o.Bus.Changed(bus.Council, string(l.id)) // a run that is not over can now be resumed
	r.o.Bus.Changed(bus.Councils, string(l.s.req.Conversation))
}

// work runs until the run is over. ctx is the turn's.
func (l *loop) work(ctx context.Context) {
	handed := false
	for {
		n := l.run.Next()
		l.endStale()
		switch {
		case l.agree(n):
			l.applyAct(council.Finish, council.Agreement, "The answers agree, so no review follows.")
			continue
		case len(n.Start) > 0:
			for _, id := range n.Start {
				l.begin(ctx, id)
			}
			continue
		case n.Open:
			l.step(council.Step{Kind: council.Opens}, nil)
			continue
		case n.Ready && !handed:
			l.hand()
			handed = true
			continue
		case n.Over:
			l.drain()
			l.spend()
			return
		}
		l.publishDue()
		if !l.wait(ctx) {
			for _, w := range l.working {
				w.cancel(ErrClosing)
			}
			l.drain()
			return
		}
	}
}

// wait waits for the next event and applies it. It reports false when the program closes.
func (l *loop) wait(ctx context.Context) bool {
	timer := time.NewTimer(l.next().Sub(l.r.o.Now()))
	defer timer.Stop()
	stopped := ctx.Done()
	if l.run.State == council.Answering || l.run.State == council.Ready { // the end of the turn concludes the run
		stopped = nil
	}
	select {
	case e := <-l.ends:
		l.end(e)
	case a := <-l.acts:
		l.answer(a)
	case c := <-l.concludes:
		if c.answer == nil {
			return false
		}
		l.conclude(c)
	case <-timer.C:
		l.late()
	case <-l.moved:
	case <-l.r.ctx.Done():
		return false
	case <-stopped:
		if closes(ctx) {
			return false
		}
		l.applyAct(council.Stop, council.Person, council.Stop.Why())
	}
	return true
}

// deadline returns the deadline of the current state, and the step that follows it.
func (l *loop) deadline() (time.Time, council.Step) {
	at, late := l.r.o.Now().Add(24*time.Hour), council.Step{Kind: council.Acts, Act: council.GoOn, By: council.Deadline}
	switch l.run.State {
	case council.Asking:
		return l.asking.Add(askTime), late
	case council.Running:
		stood, stands := l.clock.still()
		if most := l.run.Council.Limits.Seconds; most > 0 && !stands {
			late.Act, late.Text = council.Finish, "The council's time is over."
			return l.since.Add(time.Duration(most)*time.Second + stood), late
		}
	}
	return at, late
}

// next returns the next deadline of the run or of a member.
func (l *loop) next() time.Time {
	next, _ := l.deadline()
	for _, w := range l.working {
		if at, why := w.due(); why != nil && at.Before(next) {
			next = at
		}
	}
	return next
}

// publishDue publishes the deadlines of the run and of work under way.
func (l *loop) publishDue() {
	due := map[string]int64{}
	if at, late := l.deadline(); late.Act == council.Finish || l.run.State == council.Asking {
		due[""] = l.run.After(at).Milliseconds()
	}
	for a, w := range l.working {
		if at, why := w.due(); errors.Is(why, errMemberTime) {
			due[a.task] = l.run.After(at).Milliseconds()
		}
	}
	if maps.Equal(due, l.due) {
		return
	}
	l.due = due
	l.rec.add(record{Event: Event{Run: l.run, Due: due, MS: l.run.After(l.r.o.Now()).Milliseconds()}})
}

// late ends whatever passed its deadline.
func (l *loop) late() {
	now := l.r.o.Now()
	for _, w := range l.working {
		if at, why := w.due(); why != nil && !now.Before(at) {
			w.cancel(why)
			w.late = true
		}
	}
	if at, late := l.deadline(); !now.Before(at) {
		l.step(late, nil)
	}
}

func (l *loop) newClock() *clock {
	return &clock{now: l.r.o.Now, moved: func() {
		select {
		case l.moved <- struct{}{}:
		default:
		}
	}}
}

// step applies a step to the run, and has it stored and shown. It reports whether the step could be
// applied.
func (l *loop) step(s council.Step, texts council.Texts) bool {
	return l.apply(s, texts, nil) == nil
}

// applyAct applies an act that no person waits for.
func (l *loop) applyAct(act council.Act, by council.By, why string) {
	l.step(council.Step{Kind: council.Acts, Act: act, By: by, Text: why}, nil)
}

func (l *loop) apply(s council.Step, texts council.Texts, done chan struct{}) error {
	s.At = later(l.r.o.Now(), l.run.Last.At)
	s.Number = l.run.Last.Number + 1
	before := l.run.State
	if err := l.run.Apply(s); err != nil {
		l.r.o.Slog.Debug("a step came too late", "run", l.id, "kind", s.Kind, "act", s.Act, "task", s.Task)
		return err
	}
	switch {
	case l.run.State == council.Asking && (before != council.Asking || s.Kind == council.Resumes):
		l.asking = s.At
	case l.run.State == council.Running && before == council.Asking: // the person's time does not count
		l.since = l.since.Add(s.At.Sub(l.asking))
	}
	if l.ledger != nil { // nil at the first step
		l.ledger.sees(l.run.Tasks)
	}
	l.texts.put(texts)
	l.rec.add(record{
		Event{Run: l.run, Step: &s, MS: l.run.After(s.At).Milliseconds()}, council.HeaderOf(l.run, l.result), texts, done,
	})
	return nil
}

// begin starts the work on a task.
func (l *loop) begin(ctx context.Context, id string) {
	t := l.run.Task(id)
	at := attempt{id, t.Attempt + 1}
	if !l.step(council.Step{Kind: council.Starts, Task: id, Attempt: at.number}, nil) {
		return
	}
	own, cancel := context.WithCancelCause(ctx)
	job := council.Job{Run: l.run, Task: *l.run.Task(id), Attempt: at.number}
	w := &underWay{cancel: cancel, clock: l.newClock(), began: l.r.o.Now(), most: l.timeLeft(job.Task.Member)}
	l.working[at] = w
	own = call.WithAsking(timed{own, w}, func() (answered func()) {
		member, run := w.clock.asking(), l.clock.asking()
		return func() { member(); run() }
	})
	job.Text = l.r.Texts(own, l.id)
	go func() { // ends with the work, which ends with own; drain waits for it
		defer cancel(nil)
		work := l.do(own, job, func(v council.Live) {
			was := w.reading.Load() != 0
			w.observe(v, l.r.o.Now())
			if is := w.reading.Load() != 0; is != was {
				w.clock.moved() // the next deadline changed
			}
			l.rec.add(record{Event: Event{Run: job.Run, Task: id, Live: &v, MS: job.Run.After(l.r.o.Now()).Milliseconds()}})
		})
		select {
		case l.ends <- ended{at, work}:
		case <-l.over:
		}
	}()
}

// do does a task. A panic ends only that task.
func (l *loop) do(ctx context.Context, job council.Job, live func(council.Live)) (work council.Work) {
	defer func() {
		if p := recover(); p != nil {
			ref := strings.ToLower(rand.Text()[:8])
			l.r.o.Slog.Error("a task of a council panicked", "ref", ref, "run", l.id, "task", job.Task.ID, "err", p,
				"stack", string(debug.Stack()))
			work = errorWork(ctx, job, fault.New(fault.Internal, "deliberation.do",
				who(job)+" could not go on: Conclave met an error it did not expect.",
				"Try it again. The details are in the log under "+ref+"."))
		}
	}()
	return l.worker.do(ctx, job, live)
}

// timeLeft returns the rest of a member's time, negative where it is unlimited. The time of its finished
// tasks counts, including failed ones; parallel work counts once. Waiting for a person does not count,
// nor does work that is repeated.
func (l *loop) timeLeft(member string) time.Duration {
	left := time.Duration(l.run.Member(member).Limits.Seconds) * time.Second
	if left == 0 {
		return -1
	}
	tasks := slices.DeleteFunc(slices.Clone(l.run.Tasks), func(t council.Task) bool {
		return t.Member != member || t.State != council.Done && t.State != council.Failed
	})
	slices.SortFunc(tasks, func(a, b council.Task) int { return a.Started.Compare(b.Started) })
	var until time.Time // counted up to here
	for _, t := range tasks {
		from, to := later(t.Started, until), t.Ended.Add(-t.Asked)
		if to.After(from) {
			left, until = left-to.Sub(from), to
		}
	}
	return max(left, 0)
}

// words returns a text of the run, or "" where it cannot be read.
func (l *loop) words(h council.Hash) string {
	text, err := l.r.Texts(context.Background(), l.id)(h) // a short read
	if err != nil {
		l.r.o.Slog.Error("a text of a council's run cannot be read", "run", l.id, "err", err)
	}
	return text
}

// end applies the end of an attempt.
func (l *loop) end(e ended) {
	if w := l.working[e.attempt]; w != nil {
		stood, _ := w.clock.still()
		e.work.End.AskedMS = stood.Milliseconds()
	}
	delete(l.working, e.attempt)
	l.step(council.Step{Kind: council.Ends, Task: e.task, Attempt: e.number, End: &e.work.End}, e.work.Texts)
}

// endStale ends work on tasks that are not Working, and on attempts that are not the newest.
func (l *loop) endStale() {
	for at, w := range l.working {
		if t := l.run.Task(at.task); t.State != council.Working || t.Attempt != at.number {
			w.cancel(errNotWorking)
		}
	}
}

// drain waits up to stopTime for work under way. Its usage counts as lost; when the program closes, it
// is dropped.
func (l *loop) drain() {
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	for len(l.working) > 0 {
		select {
		case e := <-l.ends:
			if l.run.State == council.Over {
				l.end(e)
			}
			delete(l.working, e.attempt)
		case a := <-l.acts:
			a.answer <- tooLate()
		case <-timer.C:
			return
		}
	}
}

// errOver is the error of an act on a run that has ended, and is stored.
var errOver = errors.New("the run is over")

// act asks the loop to apply a person's step, and waits for the answer.
func (l *loop) act(ctx context.Context, s council.Step) error {
	a := asked{s, make(chan error, 1)}
	select {
	case l.acts <- a:
		return <-a.answer
	case <-l.over:
		return errOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *loop) answer(a asked) {
	if l.apply(a.step, nil, nil) != nil {
		a.answer <- tooLate()
		return
	}
	a.answer <- nil
	if a.step.Act == council.Stop {
		l.stopTurn(errStopped)
	}
}

// agree reports whether a council that stops early can stop: the answers are there and agree, and only
// reviews wait.
func (l *loop) agree(n council.Next) bool {
	retried := func(t council.Task) bool { return t.State == council.Waiting && t.Attempt > 0 }
	return len(n.Start) > 0 && !slices.ContainsFunc(l.run.Tasks, retried) && council.Agree(l.run, l.words)
}

// hand makes the notes and hands them to the main model. Without notes it answers as if there were no
// council.
func (l *loop) hand() {
	before, origins := older(context.Background(), l.s.log, l.run, l.r.o.Now())
	l.notes = council.Notes(l.run, l.words, before)
	l.origins = chat.AddOrigins(originsOfNotes(l.run), origins...)
	l.compare(council.Groups{})
	hands, texts := council.Step{Kind: council.Hands}, council.Texts{}
	if l.notes != "" {
		hands.Notes = texts.Add([]byte(l.notes))
	}
	shown := make(chan struct{})
	if l.apply(hands, texts, shown) == nil {
		<-shown
	}
	close(l.ready)
}

// compare updates the result for the run's header.
func (l *loop) compare(groups council.Groups) {
	result := council.Compare(l.run, l.words, groups)
	l.result = &result
}

// conclude applies the end of the main model's answer.
func (l *loop) conclude(c concluded) {
	texts := council.Texts{}
	if groups, err := council.ReadGroups(c.groups); err == nil && len(groups.Same)+len(groups.Opposed) > 0 {
		c.answer.Groups = texts.Add([]byte(c.groups))
		l.compare(groups)
	}
	l.step(council.Step{Kind: council.Concludes, Answer: c.answer}, texts)
}
