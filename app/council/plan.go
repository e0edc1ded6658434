package council

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/model/cost"
)

// PerRun bounds how many members work at once by default.
const PerRun = 4

// NoVoice returns what a member has no part in because it does not see the others' words: a sentence
// without subject and full stop, or "".
func (r *Run) NoVoice(m Member) string {
	c := r.Council
	switch {
	case len(r.seated()) < 2 || m.Context.In(c).Others:
	case c.Mode == Vote && len(c.Choices) == 0:
		return "does not see the others' answers, so it has no vote"
	case c.Mode == Review:
		return "does not see the others' answers, so it reviews nothing"
	}
	return ""
}

// seated returns the members that take part.
func (r *Run) seated() (all []Member) {
	for _, s := range r.Seats {
		if s.In {
			all = append(all, s.Member)
		}
	}
	return all
}

// plan lists the tasks of a run. Members that do not see the others' words have no part in tasks about
// them.
func (r *Run) plan() (tasks []Task) {
	c, seats, stage := r.Council, r.seated(), 0
	add := func(kind TaskKind, members []Member) {
		for _, m := range members {
			tasks = append(tasks, newTask(stage, m.ID, kind, ""))
		}
		stage++
	}
	seeing := func(members []Member, others bool) []Member {
		return slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Context.In(c).Others != others })
	}
	if slices.ContainsFunc(seats, func(m Member) bool { return m.Context.In(c).Span == Summary }) {
		add(Summarize, []Member{{}})
	}
	switch c.Mode {
	case Tools:
		for _, m := range seats {
			for _, tool := range m.Tools {
				tasks = append(tasks, newTask(stage, m.ID, UseTool, tool))
			}
		}
	case Relay:
		for i := range seats {
			add(Opine, seats[i:i+1])
		}
	case Advocate:
		first := min(1, len(seats))
		add(Draft, seats[:first])
		stage-- // members that do not see the draft answer meanwhile
		add(Opine, seeing(seats[first:], false))
		add(Oppose, seeing(seats[first:], true))
	default:
		add(Opine, seats)
		switch {
		case len(seats) < 2: // nothing to review or to count
		case c.Mode == Review:
			for range cmp.Or(c.Rounds, 2) - 1 {
				add(Look, seeing(seats, true))
			}
		case c.Mode == Vote && len(c.Choices) > 0:
			add(Cast, seats)
		case c.Mode == Vote:
			add(Cast, seeing(seats, true))
		}
	}
	return tasks
}

func newTask(stage int, member string, kind TaskKind, tool string) Task {
	return Task{
		ID: fmt.Sprintf("%d/%s/%s", stage, member, cmp.Or(tool, string(kind))), Stage: stage, Kind: kind, Member: member,
		Tool: tool, State: Waiting,
	}
}

// due returns the tasks to start: of the first unfinished stage, for as many members as may work at
// once, within the caps.
func (r *Run) due() []string {
	at := slices.IndexFunc(r.Tasks, func(t Task) bool { return !t.State.Final() })
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

// reserve returns the maximum cost of a task.
func (r *Run) reserve(t Task) float64 {
	if most, there := r.Reserve[ReserveOf(t.Member, t.Tool)]; there {
		return most
	}
	return r.Reserve[t.Member]
}

// ReserveOf returns the key in Begin.Reserve for a tool of a member.
func ReserveOf(member, tool string) string { return member + "/" + tool }

// settle completes a step: members that failed leave later stages, tasks without money are capped, and
// a run with nothing left to do enters its next state.
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
	// Attempts that were nudged or skipped may still cost something; until that is known, nothing is capped.
	underWay := slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.UnderWay > 0 })
	if !underWay && len(r.due()) == 0 {
		r.capRest()
	}
	if slices.ContainsFunc(r.Tasks, func(t Task) bool { return !t.State.Final() }) {
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

// failed reports whether a person has to decide: a tool failed in mode tools, or everything failed.
func (r *Run) failed() bool {
	some, all := false, true
	for _, t := range r.Tasks {
		some = some || t.State == Failed
		all = all && (t.State != Done || t.Kind == Summarize)
	}
	return some && (all || r.Council.Mode == Tools)
}

// capMembers ends the tasks of members that reached their limits.
func (r *Run) capMembers() {
	for _, seat := range r.Seats {
		l, spent := seat.Member.Limits, r.Spent(seat.Member.ID)
		if l.Money > 0 && spent.Cost >= l.Money || l.Tokens > 0 && spent.Input+spent.Output >= l.Tokens {
			for t := range r.TasksOf(seat.Member.ID) {
				if t.State == Waiting {
					t.State, t.Why = Capped, seat.Member.Name+" has reached its limits for one run."
				}
			}
		}
	}
}

// capRest ends the tasks that wait although nothing is under way: they do not fit under the run's cap.
// Those of later stages end with them.
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

// metCap records that tasks met the run's cap in the middle of their work.
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

// atCap describes the end of a run at its cap, and what would help apart from raising it.
func atCap(most, help string) *Early {
	return &Early{
		Cap, "The cap of " + most + " was reached, and the answer made with what there was. Raise it, or " + help +
			", to have more done.",
	}
}
