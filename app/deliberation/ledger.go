package deliberation

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/fault"
)

// errSpent is the cause of the error of a request that is not made, since nothing is left for
// it under a cap; errCap where that is the run's, and not one of its member.
var (
	errSpent = errors.New("a cap was reached")
	errCap   = fmt.Errorf("of the run, %w", errSpent)
)

// ledger counts what the members of a run use, request by request, so that all of them stay
// under the caps: of the run as a machine, what a task used is known once it has ended, and
// several are under way at once. It is safe for concurrent use.
type ledger struct {
	mu    sync.Mutex            // guards the fields below
	used  map[string]chat.Usage // by member
	held  map[*recorded]holding // by whose request is under way
	tasks []council.Task        // as they are now; those of a job are as they were when it began
}

// holding is the most that a request comes to.
type holding struct {
	task council.Task
	most chat.Usage
}

// newLedger returns the ledger of a run that begins, or goes on.
func newLedger(r council.Run) *ledger {
	l := &ledger{used: map[string]chat.Usage{}, held: map[*recorded]holding{}, tasks: r.Tasks}
	for _, t := range r.Tasks {
		l.used[t.Member] = l.used[t.Member].Add(t.Lost).Add(t.End.Usage)
	}
	return l
}

// sees takes the tasks of the run as they are now.
func (l *ledger) sees(tasks []council.Task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks = tasks
}

// hold returns how many tokens the answer to a request of a model's may have, with so many of
// input, 0 for as many as it likes: that much is held until add or release. The error says
// that nothing is left.
func (l *ledger) hold(m *recorded, input int64) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all, own chat.Usage
	for member, u := range l.used {
		if all = all.Add(u); member == m.job.Task.Member {
			own = own.Add(u)
		}
	}
	allWait, ownWait := l.waitingLocked(m)
	for _, h := range l.held {
		if all = all.Add(h.most); h.task.Member == m.job.Task.Member {
			own = own.Add(h.most)
		}
	}
	name, run, most := who(m.job), m.job.Run, m.maxTokens
	member := memberOf(m.job)
	if run.Council.Limits.Money > 0 { // as the run reserves it
		most = least(most, usual(member, run.Council))
	}
	all.Cost += run.Reserve[""] // the answer is made all the same
	for _, bound := range []struct {
		limits  council.Limits
		used    chat.Usage
		waiting int64
		err     error
	}{
		{member.Limits, own, ownWait, fault.Wrap(fault.Unavailable, "deliberation.cap",
			name+" has used what it may in one run.", "Raise its limits, or give it less to read.", errSpent)},
		{run.Council.Limits, all, allWait, fault.Wrap(fault.Unavailable, "deliberation.cap",
			"There was nothing left for "+name+" under the council's cap.",
			"Raise the cap, or choose cheaper models.", errCap)},
	} {
		left, bounded := m.left(bound.limits, bound.used, input, bound.waiting)
		if bounded && left < 1 {
			return 0, bound.err
		}
		most = least(most, left)
	}
	l.held[m] = holding{m.job.Task, m.priced(chat.Usage{Input: input, Output: most})}
	return most, nil
}

// waitingLocked returns how many tasks share what is left, this one among them: those of its
// stage that are not over and hold nothing, of all members and of its own.
func (l *ledger) waitingLocked(m *recorded) (all, own int64) {
	holds := map[string]bool{}
	for _, h := range l.held {
		holds[h.task.ID] = true
	}
	for _, t := range l.tasks {
		open := t.State == council.Waiting || t.State == council.Working
		if !open || holds[t.ID] || t.Stage != m.job.Task.Stage {
			continue
		}
		if all++; t.Member == m.job.Task.Member {
			own++
		}
	}
	return max(all, 1), max(own, 1)
}

// add counts what a request used, which has ended.
func (l *ledger) add(m *recorded, u chat.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, m)
	l.used[m.job.Task.Member] = l.used[m.job.Task.Member].Add(u)
}

// release says that a request has ended.
func (l *ledger) release(m *recorded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, m)
}

// left returns how many tokens an answer may have under some limits, of which so much was
// used, and which so many tasks share; bounded is false where they say nothing of it.
func (m *recorded) left(limits council.Limits, used chat.Usage, input, waiting int64) (tokens int64, bounded bool) {
	if limits.Tokens > 0 {
		tokens, bounded = limits.Tokens-used.Input-used.Output-input, true
		if tokens > 0 {
			tokens = max(1, tokens/waiting)
		}
	}
	each := m.priced(chat.Usage{Output: million}).Cost / million
	if limits.Money > 0 && each > 0 {
		affordable := int64((limits.Money - used.Cost - m.priced(chat.Usage{Input: input}).Cost) / each)
		if !bounded || affordable < tokens {
			tokens, bounded = affordable, true
		}
	}
	return tokens, bounded
}

// priced fills in what a usage costs, where that is known.
func (m *recorded) priced(u chat.Usage) chat.Usage {
	if m.price == nil {
		return u
	}
	return m.price(m.Info(), u)
}

// usual returns how many tokens an answer of a member is taken to have.
func usual(m council.Member, c council.Council) int64 {
	return cmp.Or(m.MaxTokens, c.Helper.MaxTokens, UsualAnswer)
}

// least is the smaller of two bounds, of which 0 is none.
func least(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}
