package deliberation

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
)

// errSpent is the cause of a request that is not made because a cap leaves nothing for it; errCap where
// the cap is that of the run.
var (
	errSpent = errors.New("a cap was reached")
	errCap   = fmt.Errorf("of the run, %w", errSpent)
)

// ledger counts the usage of a run's members, request by request, so that parallel tasks stay under
// the caps together. The run itself learns the usage only when a task has ended. It is safe for
// concurrent use.
type ledger struct {
	mu    sync.Mutex               // guards the fields below
	used  map[string]chat.Usage    // by member
	held  map[*recorded]chat.Usage // the maximum usage of requests under way
	tasks []council.Task           // the current ones; those of a job are from its beginning
}

// newLedger returns the ledger of a run that begins or is resumed.
func newLedger(r council.Run) *ledger {
	l := &ledger{used: map[string]chat.Usage{}, held: map[*recorded]chat.Usage{}, tasks: r.Tasks}
	for _, t := range r.Tasks {
		l.used[t.Member] = l.used[t.Member].Add(t.Lost).Add(t.End.Usage)
	}
	return l
}

// sees takes the current tasks of the run.
func (l *ledger) sees(tasks []council.Task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks = tasks
}

// hold returns the maximum length of an answer in tokens, for so many tokens of input; 0 is unlimited.
// That much stays reserved until add or release. It is an error when nothing is left.
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
	for other, most := range l.held {
		if all = all.Add(most); other.job.Task.Member == m.job.Task.Member {
			own = own.Add(most)
		}
	}
	name, run, most := who(m.job), m.job.Run, m.maxTokens
	member := m.job.Member()
	if run.Council.Limits.Money > 0 { // as in Begin.Reserve
		most = least(most, usual(member, run.Council))
	}
	all.Cost += run.Reserve[""] // the answer must stay affordable
	for _, bound := range []struct {
		limits  council.Limits
		used    chat.Usage
		waiting int64
		err     error
	}{
		{member.Limits, own, ownWait, fault.Wrap(fault.Unavailable, "deliberation.cap",
			name+" has reached its limits for one run.", "Raise its limits, or give it less to read.", errSpent)},
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
	l.held[m] = m.price(chat.Usage{Input: input, Output: most})
	return most, nil
}

// waitingLocked returns how many tasks share the rest, this one included: open tasks of its stage
// without a reservation, of all members and of its member.
func (l *ledger) waitingLocked(m *recorded) (all, own int64) {
	holds := map[string]bool{}
	for other := range l.held {
		holds[other.job.Task.ID] = true
	}
	for _, t := range l.tasks {
		if t.State.Final() || holds[t.ID] || t.Stage != m.job.Task.Stage {
			continue
		}
		if all++; t.Member == m.job.Task.Member {
			own++
		}
	}
	return max(all, 1), max(own, 1)
}

// add counts the usage of a request that has ended.
func (l *ledger) add(m *recorded, u chat.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, m)
	l.used[m.job.Task.Member] = l.used[m.job.Task.Member].Add(u)
}

// release ends the reservation of a request.
func (l *ledger) release(m *recorded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, m)
}

// left returns the maximum length of an answer under limits after some usage, shared by so many tasks;
// bounded is false where the limits do not bound it.
func (m *recorded) left(limits council.Limits, used chat.Usage, input, waiting int64) (tokens int64, bounded bool) {
	if limits.Tokens > 0 {
		tokens, bounded = limits.Tokens-used.Input-used.Output-input, true
		if tokens > 0 {
			tokens = max(1, tokens/waiting)
		}
	}
	each := m.price(chat.Usage{Output: million}).Cost / million
	if limits.Money > 0 && each > 0 {
		affordable := int64((limits.Money - used.Cost - m.price(chat.Usage{Input: input}).Cost) / each)
		if !bounded || affordable < tokens {
			tokens, bounded = affordable, true
		}
	}
	return tokens, bounded
}

// usual returns the assumed length of a member's answer in tokens.
func usual(m council.Member, c council.Council) int64 {
	return cmp.Or(m.MaxTokens, c.Helper.MaxTokens, UsualAnswer)
}

// NotesTokens estimates how many tokens the notes of a council take in the request for the answer: 0 where it makes
// none.
func NotesTokens(c council.Council) (n int64) {
	if !c.Enabled || c.Mode == council.Tools && c.Tool.Mode == council.Inline {
		return 0
	}
	for _, m := range c.Members {
		n += usual(m, c)
	}
	return n
}

// least returns the smaller of two bounds, where 0 is unlimited.
func least(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}
