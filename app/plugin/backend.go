package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
)

// Backend is a running plugin as the host talks to it: a process that speaks the wire (docs/WIRE.md),
// a hook process that speaks its own protocol, or an address on this computer. The host decides when
// one begins and ends, bounds each call, and cleans and checks what it returns. Methods are safe for
// concurrent use.
type Backend interface {
	// List returns the tools as they are now, and what else the plugin says about itself. The error is a
	// *Problem, or the cause of ctx's end.
	List(ctx context.Context) (Offer, error)
	// Call runs one tool, and returns once it answered or the backend has ended. When ctx ends, Call tells
	// the tool and waits on: the host closes a backend whose tool does not stop. The error is ErrNotSent,
	// ErrEnded, or a refusal whose text the model gets.
	Call(ctx context.Context, call tool.Call) (Answer, error)
	// Done is closed once the backend can answer nothing more.
	Done() <-chan struct{}
	// Close ends the backend and its calls, and waits for them. It may be called more than once.
	Close()
}

// Offer holds what a backend lists. The host sets plugin and dialect of each tool.
type Offer struct {
	Tools   []tool.Tool
	Options json.RawMessage // JSON Schema of its settings; nil leaves what reading it showed
	Notes   []string        // sentences for its card
}

// Answer holds what a backend returns for a call. The host cuts, cleans and redacts it.
type Answer struct {
	tool.Result
	Refused []Refusal // what the sandbox denied the process, as it reports it
	// Alone says that a call which ran over its time ended by itself: its plugin goes on, and Error says how long it
	// was waited for. Otherwise the plugin is started again.
	Alone bool
}

// Errors of Backend.Call when the backend has ended.
var (
	// ErrEnded means that no answer will come.
	ErrEnded = errors.New("the plugin has ended")
	// ErrNotSent means that, in addition, no code of the plugin got the call.
	ErrNotSent = fmt.Errorf("%w before it got the call", ErrEnded)
)

// ErrStartAgain is the error of Adapter.Adapt for a process that has ended and was not the plugin yet: one that
// installed it, or that does not know how it was greeted. The host starts another, a few times.
var ErrStartAgain = errors.New("its process is to be started again")

// Listener receives what a backend reports between calls. Its functions are safe for
// concurrent use; all but Ask and Serve return at once.
type Listener struct {
	Log          func(level, text string) // a line for the plugin's log: debug, info, warn or error
	ToolsChanged func()                   // the host lists the tools again
	// Traffic takes a message of the protocol, for a person who looks for a fault. text is valid until it returns.
	Traffic func(sent bool, text []byte)
	// Ask has the person answer a question of the plugin, which the host signs with the plugin's name. It
	// returns when they did, or ctx ended: the one function here that takes time.
	Ask func(ctx context.Context, q elicit.Question) elicit.Answer
	// Serve answers a request to Conclave by a service's name (docs/WIRE.md), with JSON. call is the id of
	// the call that the request belongs to, or empty. It takes time, too.
	Serve func(ctx context.Context, service string, args json.RawMessage, call string) (json.RawMessage, error)
	// Granted and Folders hold what the person granted the plugin when the backend began.
	Granted []string
	Folders []gate.Folder
}

// Asker is a Backend that can be asked in the words of its own dialect. Recorded calls name such a
// question by its event.
type Asker interface {
	// Ask returns the answer as JSON; null for an event, which is not answered. The error is a sentence
	// about what went wrong.
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}
