package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// MaxLine is the largest line either side may send, in bytes without its
// newline: 4 MiB (docs/WIRE.md).
const MaxLine = 4 << 20

// How a stream ends.
var (
	// ErrFlooded means that the other side sent a line over the bound, or more
	// requests than anybody could answer.
	ErrFlooded = errors.New("more was sent than the wire carries")
	// ErrClosed means that this side closed the stream.
	ErrClosed = errors.New("the wire is closed")
	// ErrBusy means that the other side does not read what is sent to it.
	ErrBusy = errors.New("too many events wait to be read")
)

// Codes of JSON-RPC errors (docs/WIRE.md, sections 1 and 5).
const (
	codeLoad        = -32001
	codeDenied      = -32010
	codeUnavailable = -32011
	codeInvalid     = -32012
	codeNotFound    = -32013
	codeFailed      = -32014

	// codeRejected tells the SDK that one message was not sent and that the
	// stream is sound (ErrRejected of its jsonrpc2 package).
	codeRejected = -32005
)

// A Broken is how a stream ended that was not simply closed. It is found in the
// errors of all calls that were open, and by [Transport.Err].
type Broken struct {
	Kind    string // crashed: what came was no message; flooded: too much came
	Message string // one sentence for a person
	Err     error  // the cause; ErrFlooded when Kind is flooded
}

// Error returns the sentence.
func (b *Broken) Error() string { return b.Message }

// Unwrap returns the cause.
func (b *Broken) Unwrap() error { return b.Err }

// excerpt limits the bytes of an odd line that its sentence quotes.
const excerpt = 80

func garbage(line []byte, cause error) *Broken {
	quoted := line
	if len(quoted) > excerpt {
		quoted = quoted[:excerpt]
	}
	return &Broken{
		Kind: "crashed", Err: cause,
		Message: fmt.Sprintf("It wrote something other than a message to its standard output: %q.", quoted),
	}
}

func flooded(message string) *Broken {
	return &Broken{Kind: "flooded", Message: message, Err: ErrFlooded}
}

// A HostError is the refusal or failure of a conclave/host request. A [Handler]
// returns one to choose the code of its answer; [HostClient.Call] returns one when the
// answer was an error.
type HostError struct {
	Kind    string // denied, unavailable, invalid, not_found or failed
	Message string
}

// Error returns the message.
func (e *HostError) Error() string { return e.Message }

// hostCodes are the codes of a HostError's kinds; any other kind is "failed".
var hostCodes = map[string]int64{
	"denied": codeDenied, "unavailable": codeUnavailable, "invalid": codeInvalid,
	"not_found": codeNotFound, "failed": codeFailed,
}

// answerError returns what goes over the wire for an error of a Handler. Anything but
// a HostError is "failed": its text may hold what a plugin must not see.
func answerError(err error) *jsonrpc.Error {
	e, ok := errors.AsType[*HostError](err)
	if !ok {
		e = &HostError{Kind: "failed", Message: "Conclave could not do this."}
	}
	code, known := hostCodes[e.Kind]
	kind := e.Kind
	if !known {
		code, kind = codeFailed, "failed"
	}
	data, _ := json.Marshal(map[string]string{"kind": kind}) // a map of strings always marshals
	return &jsonrpc.Error{Code: code, Message: e.Message, Data: data}
}

// hostError reads an error answer to a conclave/host request.
func hostError(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err
	}
	for kind, code := range hostCodes {
		if code == e.Code {
			return &HostError{Kind: kind, Message: e.Message}
		}
	}
	return &HostError{Kind: "failed", Message: e.Message}
}

// A LoadError is a worker's answer to initialize when its plugin did not load
// (docs/WIRE.md, section 1).
type LoadError struct {
	Problem json.RawMessage // data.problem as it came; nil when there was none
	Message string          // one sentence
}

// Error returns the sentence.
func (e *LoadError) Error() string { return e.Message }

// LoadFailure is the error a worker's initialize handler returns when its plugin
// did not load. problem is marshalled as data.problem; see docs/WIRE.md, section
// 1, for its fields.
func LoadFailure(message string, problem any) error {
	data, err := json.Marshal(map[string]any{"problem": problem})
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: codeLoad, Message: message, Data: data}
}

// asLoadError turns an error of initialize into a *LoadError when it is one.
func asLoadError(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != codeLoad {
		return err
	}
	var data struct {
		Problem json.RawMessage `json:"problem"`
	}
	// The SDK itself uses this code for "unknown error", without data.problem.
	if json.Unmarshal(e.Data, &data) != nil || len(data.Problem) == 0 {
		return err
	}
	return &LoadError{Problem: data.Problem, Message: e.Message}
}
