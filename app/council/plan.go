package council

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/app/cost"
	"conclave/app/limit"
)

// PerRun is how many members work at once when nobody says otherwise.
const PerRun = 4

// NoVoice says of a member that takes part what it has no part in, since it is given nothing of
// what the others say: a sentence without its subject and full stop, "" where that is nothing.
func (r *Run) NoVoice(m Member) string {
	c, seats := r.Council, 0
	for _, s := range r.Seats {
		if s.In {
			seats++
		}
	}
	if seats < 2 || m.Context.In(c).Others {
		return ""
	}
	switch {
	case c.Mode == Vote && len(c.Choices) == 0:
		return "is not given what the others say, so it has no vote"
	case c.Mode == Review:
		return "is not given what the others say, so it reviews nothing"
	}
	return ""
}

// plan lists the tasks of a run.
func (r *Run) plan() []Task {
	var tasks []Task
	stage := 0
	var seats []Member
	for _, s := range r.Seats {
		if s.In {
			seats = append(seats, s.Member)
		}
	}
	all := func(kind TaskKind, members []Member) {
		for _, m := range members {
			tasks = append(tasks, Task{
				ID: fmt.Sprintf("%d/%s/%s", stage, m.ID, kind), Stage: stage, Kind: kind, Member: m.ID, State: Waiting,
			})
		}
		stage++
	}
	c := r.Council
	// Who is given nothing of what others say has no part in what is about that.
	told := slices.DeleteFunc(slices.Clone(seats), func(m Member) bool { return !m.Context.In(c).Others })
	if slices.ContainsFunc(seats, func(m Member) bool { return m.Context.In(c).Span == Summary }) {
		tasks = append(tasks, Task{ID: "0//summary", Kind: Summarize, State: Waiting})
		stage++
	}
	switch c.Mode {
	case Tools:
		for _, m := range seats {
			for _, tool := range m.Tools {
				tasks = append(tasks, Task{
					ID: fmt.Sprintf("%d/%s/%s", stage, m.ID, tool), Stage: stage, Kind: UseTool, Member: m.ID, Tool: tool,
					State: Waiting,
				})
			}
		}
	case Relay:
		for i := range seats {
			all(Opine, seats[i:i+1])
		}
	case Advocate:
		if len(seats) == 0 {
			break
		}
		others := func(given bool) []Member {
			return slices.DeleteFunc(slices.Clone(seats[1:]), func(m Member) bool { return m.Context.In(c).Others != given })
		}
		all(Draft, seats[:1])
		stage-- // who is not given the draft answers meanwhile
		all(Opine, others(false))
		all(Oppose, others(true))
	default:
		all(Opine, seats)
		if len(seats) < 2 { // nobody to look at, and nothing to count
			break
		}
		switch c.Mode {
		case Review:
			for range cmp.Or(c.Rounds, 2) - 1 {
				all(Look, told)
			}
		case Vote:
			if len(c.Choices) > 0 {
				told = seats
			}
			all(Cast, told)
		}
	}
	return tasks
}

// due returns the tasks to start: those of the first stage that is not over, of as many
// members as may work at once, that fit under the caps.
func (r *Run) due() []string {
	at := slices.IndexFunc(r.Tasks, func(t Task) bool { return !t.State.final() })
	if at < 0 {
		return nil
	}
	stage, room := r.Tasks[at].Stage, cmp.Or(r.Council.Parallel, PerRun)
	working := map[string]bool{} // members
	money := r.Spent("").Cost
	for _, t := range r.Tasks {
		if t.State == Working {
			working[t.Member] = true
		}
		money += r.reserve(t) * float64(t.UnderWay)
	}
	var due []string
	for _, t := range r.Tasks {
		if t.State != Waiting || t.Stage != stage || !working[t.Member] && len(working) >= room {
			continue
		}
		if limit := r.Council.Limits.Money; limit > 0 && money+r.reserve(t)+r.Reserve[""] > limit {
			continue
		}
		working[t.Member] = true
		money += r.reserve(t)
		due = append(due, t.ID)
	}
	return due
}

// reserve returns what a task may cost at most.
func (r *Run) reserve(t Task) float64 {
	if most, there := r.Reserve[ReserveOf(t.Member, t.Tool)]; there {
		return most
	}
	return r.Reserve[t.Member]
}

// ReserveOf is the key in Begin.Reserve of what a tool of a member may cost.
func ReserveOf(member, tool string) string { return member + "/" + tool }

// settle brings the run to where a step leaves it: members that failed are out of later
// stages, tasks for which there is no money are capped, and once nothing is left to do
// the run goes on to its next state.
func (r *Run) settle() {
	if r.State != Running {
		return
	}
	if r.Council.Mode != Tools {
		for _, t := range r.Tasks {
			if t.State == Failed && t.Member != "" {
				r.leaveOut(t.Member, Skipped, failedBefore, t.Ended)
			}
		}
	}
	r.capMembers()
	// What was nudged or skipped may still cost something; until that is known, nothing is capped.
	underWay := slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.UnderWay > 0 })
	if !underWay && len(r.due()) == 0 {
		r.capRest()
	}
	if slices.ContainsFunc(r.Tasks, func(t Task) bool { return !t.State.final() }) {
		return
	}
	cast := slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.Kind == Cast && t.State == Done })
	switch {
	case r.failed() && r.Asks && r.Early == nil:
		r.State = Asking
		return
	case cast && !r.Opened:
		r.State = Counting
	default:
		r.State = Ready
	}
	r.metCap()
}

// failed reports whether a person is to say how it goes on: a tool failed in mode tools,
// or all that was tried did.
func (r *Run) failed() bool {
	some, all := false, true
	for _, t := range r.Tasks {
		some = some || t.State == Failed
		all = all && (t.State != Done || t.Kind == Summarize)
	}
	return some && (all || r.Council.Mode == Tools)
}

// capMembers leaves out members that have used what they may.
func (r *Run) capMembers() {
	for _, seat := range r.Seats {
		l, spent := seat.Member.Limits, r.Spent(seat.Member.ID)
		if l.Money > 0 && spent.Cost >= l.Money || l.Tokens > 0 && spent.Input+spent.Output >= l.Tokens {
			for i := range r.Tasks {
				if t := &r.Tasks[i]; t.Member == seat.Member.ID && t.State == Waiting {
					t.State, t.Why = Capped, seat.Member.Name+" has used what it may in one run."
				}
			}
		}
	}
}

// capRest ends the tasks that wait although nothing is under way: they do not fit under
// the run's cap. Those of later stages go with them.
func (r *Run) capRest() {
	most := cost.Words(r.Council.Limits.Money, true)
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.State == Waiting {
			t.State, t.Why = Capped, "There was no money left for it under the cap of "+most+"."
			if r.Early == nil {
				r.Early = atCap(most, "choose cheaper models")
			}
		}
	}
}

// metCap says that the run's cap was reached where tasks met it in the middle of their work,
// which capRest does of those that were not begun.
func (r *Run) metCap() {
	met := func(t Task) bool { return t.State == Capped && t.End.Cap }
	if r.Early != nil || !slices.ContainsFunc(r.Tasks, met) {
		return
	}
	var most []string
	help := "give the members less to read"
	if tokens := r.Council.Limits.Tokens; tokens > 0 {
		most = append(most, limit.Counted(int(tokens), "token"))
	}
	if money := r.Council.Limits.Money; money > 0 {
		most, help = append(most, cost.Words(money, true)), "choose cheaper models"
	}
	r.Early = atCap(strings.Join(most, " or "), help)
}

// atCap is the end of a run at its cap, with what else than raising it would help.
func atCap(most, help string) *Early {
	return &Early{
		Cap, "The cap of " + most + " was reached, and the answer made with what there was. Raise it, or " + help +
			", to have more done.",
	}
}
