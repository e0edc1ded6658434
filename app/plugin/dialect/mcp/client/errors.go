package client

import (
	"errors"
	"fmt"
)

// How a session, or a request of it, fails. Messages of these errors are for a person.
var (
	// ErrClosed means that this side closed the session.
	ErrClosed = errors.New("the connection to the server is closed")
	// ErrEnded means that the server closed it, or that nothing more can be read from it.
	ErrEnded = errors.New("the server ended the connection")
	// ErrStartAgain means that the process ended at the first question, which old servers do not know: start
	// it once more with Options.Era set to Legacy.
	ErrStartAgain = fmt.Errorf("%w at the first question", ErrEnded)
	// ErrNotSent means that the server did not get the request.
	ErrNotSent = errors.New("the server did not get the request")
	// ErrUnknown means that nobody knows whether the call happened.
	ErrUnknown = errors.New("nobody knows whether the call happened")
	// ErrTimeout means that the server gave no sign of life for as long as the call may wait, or that the
	// call took longer than it may at all.
	ErrTimeout = errors.New("the server took too long")
	// ErrVersion means that there is no version of the protocol that both sides speak.
	ErrVersion = errors.New("no common version of the protocol")
	// ErrNotThere means that the server has no such resource.
	ErrNotThere = errors.New("the server has no such resource")
	// ErrNotOffered means that the server announced nothing of the kind, and was not asked.
	ErrNotOffered = errors.New("the server does not offer this")
	// ErrAddress means that an address is not one a server may have.
	ErrAddress = errors.New("the address cannot be used")
)

// A RefusedError is an HTTP answer that is no message: 401, 403, 502.
type RefusedError struct {
	Status int
	URL    string // without its query
	Text   string // the first line of the body, or the message of Err
	Err    error  // a *jsonrpc.Error when the body was one; else nil
}

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }

// Error returns a sentence.
func (e *RefusedError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s answered with HTTP status %d", e.URL, e.Status)
	}
	return fmt.Sprintf("%s answered with HTTP status %d: %s", e.URL, e.Status, e.Text)
}
