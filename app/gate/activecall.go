package gate

import (
	"sync"
)

// activeCalls holds the calls under way, which may be stopped.
type activeCalls struct {
	decisions *Decisions

	mu    sync.Mutex // guards the fields below; taken within a transaction of decisions
	calls map[*activeCall]struct{}
}

// activeCall is a call under way.
type activeCall struct {
	call Call
	d    Decision // that allowed it
	stop func(Decision)
}

// begin is Gate.Begin, of a call whose project is known.
func (a *activeCalls) begin(call Call, d Decision, stop func(Decision)) (now Decision, ended func()) {
	f := a.decisions.lock()
	defer a.decisions.unlock()
	r := f.again(&call, d)
	if r.effect == Allow || r.effect == Ask && (d.Rule == "" || f.book.rule(d.Rule) != nil) {
		one := &activeCall{call, d, stop}
		one.rebase(f, r)
		a.mu.Lock()
		a.calls[one] = struct{}{}
		a.mu.Unlock()
		return d, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.calls, one)
		}
	}
	if now = r.decision(&call); r.effect == Ask {
		now.Effect, now.Why, now.By, now.Reason = Deny, "you took back what allowed it, before it was run", "person", tookBack
	}
	now.Arguments, now.Waited = d.Arguments, d.Waited
	return now, func() {}
}

// rebase has a call whose rule is gone rest on what allows it now, so that revoking that
// stops it. One that was allowed once stays so.
func (one *activeCall) rebase(f *facts, now ruling) {
	if now.effect == Allow && one.d.Rule != "" && f.book.rule(one.d.Rule) == nil {
		one.d.Rule = now.rule
	}
}

// tookBack is the reason that the model reads where a call that was allowed is not made, or stopped.
const tookBack = "the person took the permission back"

// recheck stops the calls under way that the person refuses now, by the pause switch or
// a rule, and those that the rule of the id gone allowed and nothing else allows.
func (a *activeCalls) recheck(gone string) {
	over := map[*activeCall]Decision{}
	f := a.decisions.lock()
	a.mu.Lock()
	for one := range a.calls {
		r := f.again(&one.call, one.d)
		now := r.decision(&one.call)
		now.Path, now.Arguments = nil, nil
		switch {
		case r.effect == Deny && now.Step <= refusalsStep:
		case r.effect != Allow && gone != "" && one.d.Rule == gone:
			now.Effect, now.Why, now.By, now.Rule, now.Reason = Deny, "you took back what allowed it", "person", "", tookBack
		default:
			one.rebase(f, r)
			continue
		}
		over[one] = now
		delete(a.calls, one)
	}
	a.mu.Unlock()
	a.decisions.unlock()
	for one, d := range over {
		one.stop(d)
	}
}
