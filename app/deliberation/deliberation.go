// Package deliberation runs councils: it has the members of a chat's council work before
// the chat is answered, and hands what they say to the model that answers.
//
// The synthesis is the turn of the main model, which asks its council first. [Runner.Run]
// is conversation.Owner.Run with such a model: the question is saved and the chat held
// when the council begins, stopping the turn stops it, and the turn knows nothing of it.
// Members' requests to models are turns beside it, and their calls are calls, each with
// the member as its caller.
//
// What happens to a run is a step of package council. It is stored, and then shown.
//
// Read [Runner.Run] first.
package deliberation

import (
	"context"
	"log/slog"
	"time"

	"conclave/app/bus"
	"conclave/app/call"
	"conclave/app/chat"
	"conclave/app/conversation"
	"conclave/app/council"
	"conclave/app/llm"
	"conclave/app/tool"
	"conclave/app/turn"
)

// Models opens models; core.Models is the real one. Errors are *fault.Error.
type Models interface {
	// Open returns a model by "connection/model", or the default for "".
	Open(ctx context.Context, name string) (llm.Model, error)
	Default(ctx context.Context) (string, error)
}

// Chats reads chats, and adds to what they took; the store is the real one. Errors are
// *fault.Error.
type Chats interface {
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)
	turn.Names
}

// Options say what a Runner works with.
type Options struct {
	Log           council.Log
	Settings      council.Settings
	Conversations *conversation.Owner
	Calls         *call.Runner
	Tools         *tool.Registry
	Models        Models
	Chats         Chats
	Bus           *bus.Bus
	// Price returns a request's usage with what it cost, where that is known; nil knows
	// nothing.
	Price func(model llm.ModelInfo, u chat.Usage) chat.Usage
	// Background returns what is known beside a chat: personas, characters, world
	// information; nil knows nothing.
	Background func(ctx context.Context, id chat.ConversationID, path []chat.Message) ([]council.Background, error)
	// Load waits until plugins are not being loaded any more, also those that nobody looked
	// for yet; nil waits for none. The error is the cause of ctx's end.
	Load func(ctx context.Context, plugins ...string) error
	// Missing says why tools of a plugin are not there, and how they come back, in sentences; "" or
	// nil where nobody knows.
	Missing func(plugin string, tools []string) string
	// Call reads a record of a tool call; nil reads none.
	Call func(ctx context.Context, id uint64) (chat.CallRecord, error)
	// OnEvent is told of every step of every run, after it was stored; nil is not. It must
	// not block.
	OnEvent   func(Event)
	Slog      *slog.Logger     // nil discards
	Now       func() time.Time // nil is the system's clock
	Seed      func() uint64    // of a run; nil throws
	SaveAgain time.Duration    // how often a run that could not be kept is tried again; 0 is 5 s
}

// How says how the council of one answer is run. The zero value is as it is set.
type How struct {
	Skip    bool             // without it, this once
	Council *council.Council // in place of the one that is set
	Only    string           // the one member that is asked, by id
	Project string           // of a chat that is not kept: the folder whose council holds
	Resume  council.RunID    // goes on with this run
	Finish  bool             // of a run that goes on: begins nothing new, and answers with what there is
	Again   council.RunID    // repeats this run, with Change
	Change  Change
	// Chosen says that the request's model was chosen for this answer: it writes it, whatever the
	// chair is, or the run that is made again had.
	Chosen  bool
	Asks    bool        // somebody can be asked what to do about failed tools
	OnEvent func(Event) // is told of this run, after it was stored; nil is not
}

// Change is the one thing that differs when a run is made again. One of the fields beside
// Member is not nil; with none the member alone does its work again. The zero value has
// everybody do their work again.
type Change struct {
	Member  string                 `json:"member"`
	Model   *string                `json:"model"` // "connection/model"; "" is the helper's
	Role    *string                `json:"role"`  // "" is none
	Context *council.ContextPolicy `json:"context"`
	Tools   *[]string              `json:"tools"`
}

// Event is one thing that happened to a run, after it was stored; or, without Step, what
// can be seen of a task meanwhile.
type Event struct {
	Run  council.Run // as it is after the step; not changed any more
	Step *council.Step
	Task string
	Live *council.Live
	MS   int64 // that the run was worked on so far
	// Due, when not nil, tells when the time of each task under way is over that has a bound, and
	// under "" that of the run, in milliseconds that the run is worked on.
	Due map[string]int64
	// Unkept tells, where it is not nil, that what happens cannot be kept, in a sentence, or
	// with "" that it is again.
	Unkept *string
}
