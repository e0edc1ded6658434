package gate

import (
	"context"
	"errors"
	"slices"
)

// ErrNobody says that there is nobody to ask, which means no.
var ErrNobody = errors.New("there is nobody to ask")

// AlwaysAsker allows every call that it is asked about, once: the command line's
// --approve always. Built-in refusals, the person's own refusals and the pause switch
// still hold, since the gate asks nobody about those. It allows too what is asked about
// each time: what deletes, runs programs, or could carry away untrusted text.
// It is not asked where a rule of the person's has them asked, nor about what a hook would
// answer in place of a tool, nor for what reaches beyond calls, which a person allows by a
// separate command. About a plugin it returns ErrNobody: the command approves the plugins that it
// names, for as long as it runs (ApproveOptions.ThisRun).
type AlwaysAsker struct{}

// notForAlways returns why AlwaysAsker is not asked about a call, for the person and for the model;
// both are empty if it is asked. A rule to ask counts whichever step of the order came before it.
func (q *Questions) notForAlways(call *Call) (why, tell string) {
	if call.beyondCalls() {
		return "--approve always speaks for calls; this needs a separate permission", nobody(0).Reason
	}
	if call.Instead != "" {
		return "--approve always speaks for calls; this is an answer in place of " + call.Instead, nobody(0).Reason
	}
	defer q.decisions.unlock()
	if r := askRules(q.decisions.lock().check(call)); r.effect != "" {
		return "--approve always does not answer where you want to be asked: " + r.why,
			"a rule of the person's has them asked about it, which --approve always does not answer"
	}
	return "", ""
}

// by returns who answers for an asker, for the record.
func by(asker Asker) string {
	if named, ok := asker.(interface{ By() string }); ok {
		return named.By()
	}
	return "person"
}

// beyondCalls reports whether allowing it takes more than allowing calls: a way into this
// computer or its network, and more of the person's money than they let a plugin spend.
func (c *Call) beyondCalls() bool { return c.Near || c.Permission == Generation }

// Ask allows a call, and denies what is about a plugin.
func (AlwaysAsker) Ask(_ context.Context, p Request) (Answer, error) {
	if p.Kind != KindCall && p.Plugin != "" {
		return Answer{}, ErrNobody
	}
	return Answer{Effect: Allow, Scope: Once}, nil
}

// By returns who decided, for the record.
func (AlwaysAsker) By() string { return "--approve always" }

// NeverAsker denies everything it is asked about: the command line's --approve never,
// and what a program without a terminal uses.
type NeverAsker struct{}

// Ask returns ErrNobody.
func (NeverAsker) Ask(context.Context, Request) (Answer, error) { return Answer{}, ErrNobody }

// SampleAsker allows members of the sample council its own tools, once each time, while these
// only compute: whoever runs the sample asked for that. About everything else there is nobody
// to ask.
type SampleAsker struct{ Tools []string } // ids

// Ask implements [Asker].
func (a SampleAsker) Ask(_ context.Context, p Request) (Answer, error) {
	onlyComputes := len(p.Capabilities) > 0 &&
		!slices.ContainsFunc(p.Capabilities, func(c Capability) bool { return c != Compute })
	if p.Kind != KindCall || !p.Caller.IsMember() || !onlyComputes || !slices.Contains(a.Tools, p.Tool) {
		return Answer{}, ErrNobody
	}
	return Answer{Effect: Allow, Scope: Once}, nil
}

// By returns who decided, for the record.
func (SampleAsker) By() string { return "the sample council" }

func nobody(step int) Decision {
	return Decision{
		Effect: Deny, By: "nobody to ask", Step: step,
		Why:    "nobody could be asked: no window is open and this is not a terminal",
		Reason: "it needs a person's permission, and there is nobody to ask",
	}
}

func expired(step int) Decision {
	return Decision{
		Effect: Deny, By: "nobody to ask", Step: step, Expired: true,
		Why:    "no answer in 10 minutes, so it was not run",
		Reason: "nobody answered the permission request in 10 minutes, so it was not run",
	}
}

func stopped() Decision {
	return Decision{
		Effect: Deny, By: "nobody to ask", Why: "it was stopped before anybody answered",
		Reason: "the person stopped the answer",
	}
}

var errExpired = errors.New("nobody answered in time")
