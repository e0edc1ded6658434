package permit

import (
	"context"
	"errors"
)

// ErrNobody says that there is nobody to ask, which means no.
var ErrNobody = errors.New("there is nobody to ask")

// AlwaysAsker says yes to every call it is asked about, once. It is the command
// line's --approve always: built-in refusals, the person's own refusals and the
// pause switch still hold, since nobody is asked about those. About a plugin it
// answers ErrNobody: those that a command names are approved by the command, for
// as long as it runs (Trust.ThisRun).
type AlwaysAsker struct{}

// Ask allows a call, and what is about no plugin.
func (AlwaysAsker) Ask(_ context.Context, p Pending) (Answer, error) {
	if p.Kind != KindCall && p.Plugin != "" {
		return Answer{}, ErrNobody
	}
	return Answer{Effect: Allow, Scope: Once}, nil
}

// By is who decided, for the record.
func (AlwaysAsker) By() string { return "--approve always" }

// NeverAsker says no to everything it is asked: the command line's --approve
// never, and what a program without a terminal does.
type NeverAsker struct{}

// Ask returns ErrNobody.
func (NeverAsker) Ask(context.Context, Pending) (Answer, error) { return Answer{}, ErrNobody }
