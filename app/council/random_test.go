package council_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/council"
)

// reserves bound what a task of each member may cost; the ends that this file makes
// cost no more.
var reserves = map[string]float64{"a": 0.01, "b": 0.01, "c": 0.004, "d": 0.01, "e": 0.01, "": 0.005}

// TestAnyOrderOfWhatHappensEndsInOneConsistentRun has things happen to runs of every mode
// in random order: tasks that end well, badly and late, acts at any moment, kills, and
// steps that cannot happen.
func TestAnyOrderOfWhatHappensEndsInOneConsistentRun(t *testing.T) {
	ended := map[string]int{}
	for seed := range uint64(1000) {
		chance := rand.New(rand.NewPCG(seed, 1))
		d := &chaos{driver: begin(t, randomCouncil(chance), func(b *council.Begin) {
			b.Seed, b.Asks, b.Reserve = seed, chance.IntN(2) == 0, reserves
			if chance.IntN(10) == 0 {
				b.Only = "b"
			}
			if chance.IntN(5) == 0 {
				b.Out = map[string]string{"c": "c has no model."}
			}
			if chance.IntN(4) == 0 {
				repeats(t, chance, b)
			}
		}), seed: seed, chance: chance, voted: map[string]int{}}
		for id, end := range d.run.Kept {
			if end.Ballot != "" {
				d.voted[id] = 1
			}
		}
		d.check()
		for n := 0; d.run.State != council.Over; n++ {
			if n > 600 {
				t.Fatalf("run %d of mode %s does not end: %s, %s", seed, d.run.Council.Mode, d.run.State, d.states())
			}
			d.random()
			d.check()
			if n%16 == 0 && d.run.State != council.Over {
				d.replays()
				d.canBeEnded()
			}
		}
		for len(d.flying) > 0 { // what was stopped ends a little later
			d.lands(0)
			d.check()
		}
		d.replays()
		d.accounted()
		ended[string(d.run.Council.Mode)]++
	}
	t.Logf("ended are %v", ended)
}

// repeats has a run repeat another, of which it takes over some of what was done, and what it has
// no use for.
func repeats(t *testing.T, chance *rand.Rand, b *council.Begin) {
	t.Helper()
	var r council.Run
	if err := r.Apply(council.Step{Number: 1, Kind: council.Begins, Begin: b}); err != nil {
		t.Fatal(err)
	}
	b.Again, b.Kept = "another", map[string]council.End{"9/nobody/answer": {State: council.Done}}
	for _, task := range r.Tasks {
		if chance.IntN(2) == 0 {
			continue
		}
		end := council.End{State: council.Done, Turn: "of another run"}
		if task.Kind == council.Cast {
			end.Ballot = council.HashOf([]byte(task.ID))
		}
		b.Kept[task.ID] = end
	}
}

func randomCouncil(chance *rand.Rand) council.Council {
	c := council.Default()
	c.Mode = council.Modes[chance.IntN(len(council.Modes))]
	c.Members = members([]string{"a", "b", "c", "d", "e"}[:chance.IntN(6)]...)
	c.Parallel, c.Rounds = chance.IntN(4), chance.IntN(5)
	if chance.IntN(3) == 0 {
		c.Choices = []string{"yes", "no"}
	}
	for i := range c.Members {
		m := &c.Members[i]
		m.Chance, m.Off = float64(chance.IntN(101)), chance.IntN(8) == 0
		switch chance.IntN(6) {
		case 0:
			m.Context.Span = council.Summary
		case 1:
			m.Context = council.ContextPolicy{Span: council.Question, Others: chance.IntN(2) == 0}
		case 2:
			m.Tools = append(m.Tools, "p:more")
		case 3:
			m.Limits.Money = 0.006
		}
	}
	if chance.IntN(3) == 0 {
		c.Limits.Money = 0.005 * float64(chance.IntN(16))
	}
	return c
}

// chaos drives a run at random.
type chaos struct {
	*driver
	seed   uint64
	chance *rand.Rand
	flying []council.Step // ends of attempts that were started, to come
	voted  map[string]int // the step in which a ballot was cast, by task
	opened int            // the step in which they were opened
}

// offer has a step happen that may be refused, and reports whether it happened. A step
// that is refused changes nothing (I7).
func (d *chaos) offer(s council.Step) bool {
	d.at = d.at.Add(time.Millisecond)
	if s.At.IsZero() {
		s.At = d.at
	}
	if s.Number == 0 {
		s.Number = d.run.Last.Number + 1
	}
	before := d.asJSON(d.run)
	switch err := d.run.Apply(s); {
	case err == nil:
		d.steps = append(d.steps, s)
		return true
	case !errors.Is(err, council.ErrStep):
		d.t.Fatalf("run %d: %v", d.seed, err)
	case d.asJSON(d.run) != before:
		d.t.Fatalf("run %d: a step that was refused changed the run: %+v", d.seed, s)
	}
	return false
}

func (d *chaos) must(s council.Step) {
	if !d.offer(s) {
		d.t.Fatalf("run %d in state %s refuses %s %s%s: %s", d.seed, d.run.State, s.Kind, s.Task, s.Act, d.states())
	}
}

func (d *chaos) asJSON(r council.Run) string {
	raw, err := json.Marshal(r)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}

// random has one thing happen.
func (d *chaos) random() {
	next, anybody := d.run.Next(), []string{"a", "b", "c", "nobody"}[d.chance.IntN(4)]
	switch what := d.chance.IntN(40); {
	case what == 0:
		d.replays() // a kill
		d.flying = nil
		d.must(council.Step{Kind: council.Resumes, Turn: fmt.Sprint("turn ", len(d.steps))})
	case what < 5:
		acts := []council.Act{
			council.Skip, council.Nudge, council.Nudge, council.Nudge, council.Retry, council.Retry, council.GoOn,
			council.Finish,
		}
		s := council.Step{
			Kind: council.Acts, Act: acts[d.chance.IntN(len(acts))], By: council.Person, Text: "So.", Member: anybody,
		}
		if len(d.run.Tasks) > 0 && d.chance.IntN(3) == 0 {
			s.Tasks = []string{d.run.Tasks[d.chance.IntN(len(d.run.Tasks))].ID}
		}
		d.offer(s)
	case what == 5 && d.chance.IntN(8) == 0:
		d.must(council.Step{Kind: council.Acts, Act: council.Stop, By: council.Person, Text: "Enough."})
	case what == 6:
		d.nonsense(anybody)
	case next.Open:
		d.must(council.Step{Kind: council.Opens})
		d.opened = len(d.steps)
	case next.Ready:
		d.must(council.Step{Kind: council.Hands})
	case d.run.State == council.Answering:
		d.must(council.Step{Kind: council.Concludes, Answer: &council.Answer{Reason: chat.EndDone}})
	case len(next.Start) > 0 && (len(d.flying) == 0 || d.chance.IntN(2) == 0):
		d.takesOff(next.Start[d.chance.IntN(len(next.Start))])
	case len(d.flying) > 0:
		d.lands(d.chance.IntN(len(d.flying)))
	case d.run.State == council.Asking:
		d.must(council.Step{Kind: council.Acts, Act: council.GoOn, By: council.Deadline})
	case d.run.State == council.Running:
		d.t.Fatalf("run %d: nothing works and nothing is to be done: %s", d.seed, d.states())
	}
}

// takesOff starts a task, and decides how it ends.
func (d *chaos) takesOff(id string) {
	task := d.task(id)
	d.must(council.Step{Kind: council.Starts, Task: id, Attempt: task.Attempt + 1})
	end := &council.End{
		Usage: chat.Usage{Output: 1, Cost: reserves[task.Member] * d.chance.Float64()}, Turn: fmt.Sprint(id, task.Attempt+1),
	}
	switch d.chance.IntN(8) {
	case 0, 1:
		end.State, end.Failure = council.Failed, &chat.Failure{Kind: "provider", Message: "It failed."}
	case 2:
		end.State = council.Stopped
	case 3:
		end.State, end.Cap = council.Capped, d.chance.IntN(2) == 0
		end.Failure = &chat.Failure{Kind: "unavailable", Message: "There was nothing left for it."}
	default:
		end.State = council.Done
		if task.Kind == council.Cast {
			end.Ballot = council.HashOf([]byte(id))
		}
	}
	d.flying = append(d.flying, council.Step{Kind: council.Ends, Task: id, Attempt: task.Attempt + 1, End: end})
}

// lands has an attempt end, early or late.
func (d *chaos) lands(i int) {
	s := d.flying[i]
	d.flying = slices.Delete(d.flying, i, i+1)
	before := d.task(s.Task)
	d.must(s)
	if after := d.task(s.Task); before.State != council.Working || before.Attempt != s.Attempt { // I2: it counts no more
		capped := before.State == council.Waiting && after.State == council.Capped // what it cost leaves no room
		if after.State != before.State && !capped || after.Attempt != before.Attempt || after.End.Text != before.End.Text {
			d.t.Fatalf("run %d: attempt %d of %s ended late and made it %s", d.seed, s.Attempt, s.Task, after.State)
		}
		if newest := s.Attempt == after.Attempt; newest != (after.End.Turn == s.End.Turn) {
			d.t.Fatalf("run %d: of attempt %d of %s, which ended late, is kept %+v", d.seed, s.Attempt, s.Task, after.End)
		}
	} else if s.End.Ballot != "" {
		d.voted[s.Task] = len(d.steps)
	}
}

// nonsense offers steps that cannot happen, whatever the run is.
func (d *chaos) nonsense(member string) {
	id := "0/" + member + "/answer"
	for _, s := range []council.Step{
		{Kind: "unheard"},
		{Kind: council.Begins, Begin: &council.Begin{}},
		{Kind: council.Ends, Task: id},
		{Kind: council.Starts, Task: "no task", Attempt: 1},
		{Kind: council.Starts, Task: id, Attempt: 99},
		{Kind: council.Ends, Task: id, Attempt: 99, End: &council.End{State: council.Done}},
		{Kind: council.Ends, Task: id, Attempt: 1, End: &council.End{State: council.Working}},
		{Kind: council.Acts, Act: "dance", By: council.Person},
		{Kind: council.Acts, Act: council.Skip, Member: "nobody"},
		{Kind: council.Concludes},
		{Kind: council.Resumes, Number: d.run.Last.Number},
		{Kind: council.Resumes, Number: d.run.Last.Number + 2},
		{Kind: council.Resumes, Number: d.run.Last.Number + 1, At: d.run.Last.At.Add(-1)},
	} {
		if d.offer(s) {
			d.t.Fatalf("run %d: %+v happened", d.seed, s)
		}
	}
}

func (d *chaos) task(id string) council.Task {
	return d.run.Tasks[slices.IndexFunc(d.run.Tasks, func(t council.Task) bool { return t.ID == id })]
}

// check looks at what holds after every step.
func (d *chaos) check() {
	fail := func(format string, a ...any) {
		d.t.Helper()
		d.t.Fatalf("run %d of mode %s, %s: %s; %s", d.seed, d.run.Council.Mode, d.run.State, fmt.Sprintf(format, a...),
			d.states())
	}
	last := d.steps[len(d.steps)-1]
	if last.Number != len(d.steps) || last.Number != d.run.Last.Number { // I1
		fail("step %d is number %d", len(d.steps), last.Number)
	}
	if len(d.steps) > 1 {
		if last.At.Before(d.steps[len(d.steps)-2].At) {
			fail("step %d is older than the one before it", last.Number)
		}
	}
	working, reserved, stage := map[string]bool{}, 0.0, -1
	for _, task := range d.run.Tasks {
		flying := slices.ContainsFunc(d.flying, func(s council.Step) bool {
			return s.Task == task.ID && s.Attempt == task.Attempt
		})
		if task.State == council.Working {
			working[task.Member] = true
			if !flying { // I2
				fail("%s works on an attempt that was not started or has ended", task.ID)
			}
		}
		final := task.State != council.Waiting && task.State != council.Working
		if !final && stage < 0 {
			stage = task.Stage
		}
		switch d.run.State {
		case council.Over, council.Ready, council.Answering, council.Asking, council.Counting:
			if !final {
				fail("%s is %s", task.ID, task.State)
			}
		}
		if d.run.Opened && task.Kind == council.Cast && task.State == council.Done && // I5
			(d.voted[task.ID] == 0 || d.voted[task.ID] > d.opened) {
			fail("the ballots were opened before %s was cast", task.ID)
		}
	}
	for _, s := range d.flying {
		reserved += reserves[d.task(s.Task).Member]
	}
	start := d.run.Next().Start
	if len(start) > 0 && d.run.State != council.Running {
		fail("%q are to be started", start)
	}
	most := d.run.Council.Limits.Money
	for _, id := range start { // I4
		task := d.task(id)
		seat := slices.IndexFunc(d.run.Seats, func(s council.Seat) bool { return s.Member.ID == task.Member })
		switch {
		case task.Kind != council.Summarize && (seat < 0 || !d.run.Seats[seat].In):
			fail("%s is to be started, whose member does not take part", id)
		case task.State != council.Waiting, task.Stage != stage:
			fail("%s is to be started, which is %s, in stage %d", id, task.State, stage)
		}
		working[task.Member] = true
		reserved += reserves[task.Member]
		if spent := d.run.Spent("").Cost; most > 0 && spent+reserved+reserves[""] > most+1e-9 {
			fail("%q are to be started, which may cost %g of %g", start, spent+reserved, most)
		}
	}
	parallel := d.run.Council.Parallel
	if parallel == 0 {
		parallel = 4
	}
	if len(working) > parallel {
		fail("%d members work at once", len(working))
	}
	if most > 0 && d.run.Spent("").Cost > most { // I6
		fail("spent are %g of %g", d.run.Spent("").Cost, most)
	}
}

// replays checks that the steps make the same run (I8), also when they are written and
// read, and goes on with that one.
func (d *chaos) replays() {
	raw, err := json.Marshal(d.steps)
	if err != nil {
		d.t.Fatal(err)
	}
	var steps []council.Step
	if err := json.Unmarshal(raw, &steps); err != nil {
		d.t.Fatal(err)
	}
	again, err := council.Replay(steps)
	if err != nil || d.asJSON(again) != d.asJSON(d.run) {
		d.t.Fatalf("run %d is not replayed: %v\n%s\n%s", d.seed, err, d.asJSON(again), d.asJSON(d.run))
	}
	d.run = again
}

// canBeEnded checks that a person can have the run end from where it stands (I9).
func (d *chaos) canBeEnded() {
	copied := *d.driver
	end := &chaos{driver: &copied, seed: d.seed, chance: d.chance, voted: map[string]int{}}
	end.steps, end.flying = slices.Clone(d.steps), slices.Clone(d.flying)
	end.offer(council.Step{Kind: council.Acts, Act: council.Finish, By: council.Person, Text: "Enough."})
	for len(end.flying) > 0 {
		end.lands(0)
	}
	if end.run.Next().Open {
		end.must(council.Step{Kind: council.Opens})
	}
	if end.run.Next().Ready {
		end.must(council.Step{Kind: council.Hands})
	}
	end.must(council.Step{Kind: council.Concludes, Answer: &council.Answer{Reason: chat.EndDone}})
	if !end.run.Next().Over {
		d.t.Fatalf("run %d: what was finished is %s: %s", d.seed, end.run.State, end.states())
	}
	end.accounted()
}

// accounted checks that every member is: out with a sentence, or with tasks that are each
// done, or not done for a reason (I3).
func (d *chaos) accounted() {
	voted := slices.ContainsFunc(d.run.Tasks, func(t council.Task) bool {
		return t.Kind == council.Cast && t.State == council.Done
	})
	if stopped := d.run.Answer == nil; voted && !stopped && !d.run.Opened {
		d.t.Fatalf("run %d is answered and its votes are not counted", d.seed)
	}
	for _, task := range d.run.Tasks { // what is taken over stays, and is not done again
		end, kept := d.run.Kept[task.ID]
		same := task.End.Turn == end.Turn && task.End.Ballot == end.Ballot
		if kept && (task.State != council.Done || task.Attempt != 1 || !same) {
			d.t.Fatalf("run %d: %s, which was taken over, is %s: %+v", d.seed, task.ID, task.State, task.End)
		}
	}
	for _, seat := range d.run.Seats {
		if seat.In == (seat.Why != "") {
			d.t.Fatalf("run %d: %s takes part: %v, and why is %q", d.seed, seat.Member.ID, seat.In, seat.Why)
		}
		tasks := 0
		for _, task := range d.run.Tasks {
			if task.Member != seat.Member.ID {
				continue
			}
			tasks++
			if task.State != council.Done && task.Why == "" && (task.State != council.Failed || task.End.Failure == nil) {
				d.t.Fatalf("run %d: nothing says why %s is %s", d.seed, task.ID, task.State)
			}
			if task.State == council.Capped && task.End.Cap && d.run.Early == nil {
				d.t.Fatalf("run %d: %s met the cap, and nothing says that it was reached", d.seed, task.ID)
			}
		}
		if seat.In != (tasks > 0) {
			d.t.Fatalf("run %d: %s takes part: %v, and has %d tasks", d.seed, seat.Member.ID, seat.In, tasks)
		}
	}
}

func TestNoLetterTellsWhoseAnUnsignedAnswerIs(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Review, members("a", "b", "c", "d", "e")
	c.Members[1].Off = true
	first := map[string]int{} // how often a member is the first that "a" is shown
	for seed := range uint64(400) {
		d := begin(t, c, func(b *council.Begin) { b.Seed = seed })
		for _, viewer := range []string{"", "a", "c", "d", "e"} {
			letters := map[string]bool{}
			for _, m := range []string{"a", "c", "d", "e"} {
				l := d.run.Letter(viewer, m)
				if (l == "") != (m == viewer) || letters[l] || l != "" && d.run.OfLetter(viewer, l) != m {
					t.Fatalf("seed %d: %s is %q for %q", seed, m, l, viewer)
				}
				letters[l] = true
			}
			if d.run.Letter(viewer, "b") != "" || d.run.OfLetter(viewer, "z") != "" || d.run.OfLetter(viewer, "") != "" {
				t.Fatalf("seed %d: who does not take part has a letter", seed)
			}
		}
		first[d.run.OfLetter("a", "a")]++
	}
	for _, m := range []string{"c", "d", "e"} {
		if first[m] < 100 || first[m] > 170 {
			t.Errorf("%s is the first of 400 times %d", m, first[m])
		}
	}
}

func TestARetryOfAFailedAnswerBringsItsReviewBack(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Review, members("a", "b")
	d := begin(t, c)
	failed := council.End{State: council.Failed, Failure: &chat.Failure{Message: "It failed."}}
	for _, id := range d.run.Next().Start {
		d.do(council.Step{Kind: council.Starts, Task: id, Attempt: 1})
	}
	d.do(council.Step{Kind: council.Ends, Task: "0/b/answer", Attempt: 1, End: &failed})
	if got := d.states(); got != "0/a/answer working, 0/b/answer failed, 1/a/review waiting, 1/b/review skipped" {
		t.Fatal(got)
	}
	d.do(council.Step{Kind: council.Acts, Act: council.Retry, By: council.Person, Tasks: []string{"0/b/answer"}})
	d.do(council.Step{Kind: council.Ends, Task: "0/a/answer", Attempt: 1, End: &council.End{State: council.Done}})
	d.work(nil)
	if got := d.states(); got != "0/a/answer done, 0/b/answer done, 1/a/review done, 1/b/review done" {
		t.Error(got)
	}
}

func TestARetryOfADraftBringsItsCriticsBack(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Advocate, members("a", "b")
	d := begin(t, c, func(b *council.Begin) { b.Asks = true })
	end := func(task string, attempt int, end council.End) {
		d.do(council.Step{Kind: council.Starts, Task: task, Attempt: attempt})
		d.do(council.Step{Kind: council.Ends, Task: task, Attempt: attempt, End: &end})
	}
	end("0/a/draft", 1, council.End{State: council.Failed, Failure: &chat.Failure{Message: "It failed."}})
	end("1/b/critique", 1, council.End{State: council.Skipped, Failure: &chat.Failure{Message: council.AloneWhy}})
	if got := d.states(); got != "0/a/draft failed, 1/b/critique skipped" || d.run.State != council.Asking {
		t.Fatal(d.run.State, got)
	}
	d.do(council.Step{Kind: council.Acts, Act: council.Retry, By: council.Person, Member: "a"})
	end("0/a/draft", 2, council.End{State: council.Done})
	end("1/b/critique", 2, council.End{State: council.Done})
	if got := d.states(); got != "0/a/draft done, 1/b/critique done" {
		t.Error(got)
	}
}

func TestWhatWasCutOffCountsUnderTheCapUntilItsCostIsKnown(t *testing.T) {
	c := council.Default()
	c.Members, c.Limits.Money = members("a", "b"), 0.025
	d := begin(t, c, func(b *council.Begin) { b.Reserve = reserves })
	for _, id := range d.run.Next().Start {
		d.do(council.Step{Kind: council.Starts, Task: id, Attempt: 1})
	}
	d.do(council.Step{Kind: council.Acts, Act: council.Nudge, By: council.Person, Member: "a", Text: "Shorter."})
	if start := d.run.Next().Start; len(start) > 0 {
		t.Errorf("%q are begun while the first attempt may cost as much", start)
	}
	d.do(council.Step{Kind: council.Ends, Task: "0/a/answer", Attempt: 1, End: &council.End{State: council.Stopped}})
	if start := d.run.Next().Start; !slices.Equal(start, []string{"0/a/answer"}) {
		t.Errorf("once it cost nothing %q are begun", start)
	}
}
