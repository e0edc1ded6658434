package permit

import (
	"context"
	"errors"
)

// ErrNobody says that there is nobody to ask, which means no.
var ErrNobody = errors.New("there is nobody to ask")

// AlwaysAsker allows every call that it is asked about, once: the command line's
// --approve always. Built-in refusals, the person's own rules and the pause switch
// still hold, since the gate asks nobody about those. About a plugin it returns
// ErrNobody: the command approves the plugins that it names, for as long as it runs
// (ApproveOptions.ThisRun). It is not asked for what reaches beyond calls, which a person
// allows by a command of its own.
type AlwaysAsker struct{}

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
