// Package fault defines the errors that a person sees: what happened, to what, and
// what they can do about it.
//
// An [Error] is made once, where the meaning is known (an adapter, a validator).
// Between there and the top, plain wrapped errors are fine; at the top [Of] finds the
// Error inside, or makes an internal one whose details go to the log and not to the
// person. The package imports nothing of Conclave's.
package fault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Kind describes what sort of failure an Error is. Kinds are part of the command
// line's public interface (the "kind" of an error with --json, and the exit
// status).
type Kind string

// The kinds. A new one needs an exit status in app/terminal.
const (
	Internal    Kind = "internal"    // a fault of Conclave's own; details are in the log
	Invalid     Kind = "invalid"     // what was given cannot be used
	Usage       Kind = "usage"       // the command line was used wrongly
	NotFound    Kind = "not_found"   // no such chat, tool, plugin, model or file
	NotAllowed  Kind = "not_allowed" // a permission was refused, or nobody could be asked
	Provider    Kind = "provider"    // the model's provider failed or refused
	Unavailable Kind = "unavailable" // something needed is missing, full or unreachable
	Locked      Kind = "locked"      // another process holds it
	Damaged     Kind = "damaged"     // a file is not what it should be
	Conflict    Kind = "conflict"    // it was changed or settled meanwhile
	Timeout     Kind = "timeout"     // it took longer than allowed
	Canceled    Kind = "canceled"    // the person stopped it
)

// Error is a failure with a sentence for a person. The zero value is not
// useful; fill at least Kind and Message.
type Error struct {
	Kind    Kind
	Op      string // what was being done, for the log: "store.open"
	Message string // what happened, to what: one sentence, ending in a full stop
	Hint    string // what to do next: a sentence, or empty when there is nothing
	// Detail quotes the other side (a model's server, say) in its own words,
	// cleaned of secrets and of what a screen would obey; often empty.
	Detail string
	Err    error // the cause, for the log and for errors.Is; may be nil
}

// Error returns the sentence and, in brackets, the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return fmt.Sprintf("%s (%v)", e.Message, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an Error without a cause.
func New(kind Kind, op, message, hint string) *Error {
	return &Error{Kind: kind, Op: op, Message: message, Hint: hint}
}

// Wrap returns an Error around a cause.
func Wrap(kind Kind, op, message, hint string, err error) *Error {
	return &Error{Kind: kind, Op: op, Message: message, Hint: hint, Err: err}
}

// Of returns the Error inside err, or an Error of kind Canceled or Timeout for
// an ended context, or of kind Internal for anything else. It returns nil for
// nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Wrap(Canceled, "", "It was stopped.", "", err)
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(Timeout, "", "It took too long and was stopped.", "Try again.", err)
	}
	return Wrap(Internal, "", "Conclave met an error it did not expect.",
		"The details are in the log; run conclave doctor.", err)
}

// KindOf returns the kind of Of(err), or "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	return Of(err).Kind
}

// Seconds is a time limit as sentences say it: "30 s", "1.5 s".
func Seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s" }
