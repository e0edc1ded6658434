package model

import (
	"errors"
	"fmt"
	"time"

	"conclave/app/base/fault"
)

// ErrorKind is the meaning of a provider's failure, whatever its wire calls it.
type ErrorKind string

// The kinds of provider failures.
const (
	KeyRefused     ErrorKind = "key_refused"      // 401, 403
	KeyMissing     ErrorKind = "key_missing"      // nothing to send
	RateLimited    ErrorKind = "rate_limited"     // 429; with RetryAfter if the server sent it
	QuotaUsedUp    ErrorKind = "quota_used_up"    // 402, 429 with insufficient_quota: waiting does not help
	Overloaded     ErrorKind = "overloaded"       // 503, 529, 500, 502, 504
	ContextTooLong ErrorKind = "context_too_long" // the request does not fit the model
	ModelUnknown   ErrorKind = "model_unknown"    // 404 for a model
	NoTools        ErrorKind = "no_tools"         // the model refuses tool definitions
	BadRequest     ErrorKind = "bad_request"      // any other 4xx
	Unreachable    ErrorKind = "unreachable"      // refused, no such host, no network, TLS
	TimedOut       ErrorKind = "timed_out"        // nothing came for too long
	StreamCut      ErrorKind = "stream_cut"       // the answer stopped in the middle
	Malformed      ErrorKind = "malformed"        // the answer is not the provider's format
	Filtered       ErrorKind = "filtered"         // the provider declined to answer
	TooMuch        ErrorKind = "too_much"         // the model writes more than Conclave takes
	TooManyTools   ErrorKind = "too_many_tools"   // more tools were offered than the server takes
	// the server reported an error without details, or ended its answer with an unknown reason
	Failed ErrorKind = "failed"
	// something answers there, but no model server: a web page, a 404 for the path, a
	// redirect elsewhere
	WrongAddress ErrorKind = "wrong_address"
	// a program of this computer answers, of another user whom the person did not name
	StrangersServer ErrorKind = "strangers_server"
)

// Error is a provider's failure. Sentence and Hint are for a person; Detail is
// the provider's own message, cleaned of secrets, shown on request.
type Error struct {
	Kind       ErrorKind
	Provider   string // what the person calls the connection
	Model      string
	Host       string        // the address asked, without path or key
	Status     int           // HTTP status; 0 when there was no answer
	RetryAfter time.Duration // from Retry-After or the vendor's own header; 0 if not sent
	Detail     string
	// User is whose program answers, of a StrangersServer; "" where the system does not say.
	// Connection is the name of the connection, where there is one.
	User, Connection string
	// Found ends the sentence: what Conclave found wrong with the answer or the address, in
	// Conclave's words.
	Found string
	// Unanswered says of a StreamCut, or of an answer that may not be whole, that nothing had come.
	Unanswered bool
	Advice     string // what to do next, where the caller knows more than Hint; empty elsewhere
	Err        error
}

// Error returns the sentence with the detail.
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Sentence()
	}
	return fmt.Sprintf("%s (%s)", e.Sentence(), e.Detail)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether asking again may help: rate limits, overload, a
// server that could not be reached for a moment, a stream cut before its first
// event. A server on this computer that refuses connections is not running, and
// waiting would only delay saying so.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimited, Overloaded, TimedOut, StreamCut:
		return true
	case Unreachable:
		return !IsLoopback(e.Host)
	}
	return false
}

// Fault returns the error as a person sees it.
func (e *Error) Fault() *fault.Error {
	f := fault.Wrap(fault.Provider, "llm.stream", e.Sentence(), e.Hint(), e)
	f.Detail = e.Details()
	return f
}

// IsWrongAddress reports whether an error says that no model server answers at an address.
func IsWrongAddress(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == WrongAddress
}
