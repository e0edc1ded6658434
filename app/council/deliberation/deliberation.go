// Package deliberation runs councils: the members of a chat's council work before the chat is
// answered, and the model that answers gets their notes.
//
// The answer is the main model's turn. [Runner.Run] calls conversation.Owner.Run with a model that
// asks the council before its first request. So the question is saved and the chat is locked when the
// council begins, stopping the turn stops the council, and package turn does not know about councils.
// Members' requests are separate turns, and their calls have the member as the caller.
//
// Each thing that happens to a run is a step of package council, which is stored before it is shown.
//
// Read [Runner.Run] first.
package deliberation

import (
	"context"
	"log/slog"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/call"
)

// Models opens models; connections.Models is the real one. Errors are *fault.Error.
type Models interface {
	// Open returns a model by "connection/model", or the default for "".
	Open(ctx context.Context, name string) (model.Model, error)
	Default(ctx context.Context) (string, error)
}

// Chats reads chats and adds to their usage; the store is the real one. Errors are *fault.Error.
type Chats interface {
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)
	turn.Names
}

// Options configure a Runner. All are required, unless their comment allows nil.
type Options struct {
	Log           council.Log
	Settings      council.Settings
	Conversations *conversation.Owner
	Calls         *call.Runner
	Tools         *tool.Registry
	Models        Models
	Chats         Chats
	Bus           *bus.Bus
	// Price returns a usage with its cost, where that is known.
	Price func(model model.Info, u chat.Usage) chat.Usage
	// Background returns personas, characters and world information for a chat.
	Background func(ctx context.Context, id chat.ConversationID, path []chat.Message) ([]council.Background, error)
	// Load waits until plugins are loaded, including those that were not scanned yet. The error is the cause
	// of ctx's end.
	Load func(ctx context.Context, plugins ...string) error
	// Missing explains why tools of a plugin are not there, and how to get them back; "" where the reason is
	// unknown.
	Missing func(plugin string, tools []string) string
	// Call reads the record of a tool call.
	Call func(ctx context.Context, id uint64) (chat.CallRecord, error)
	// OnEvent, if set, is called after each step is saved. It must not block.
	OnEvent   func(Event)
	Slog      *slog.Logger     // nil discards
	Now       func() time.Time // nil is the system's clock
	Seed      func() uint64    // returns the seed of a run; nil is random
	SaveAgain time.Duration    // interval of attempts to save a run that could not be saved; 0 is 5 s
}

// How configures the council of one answer. The zero value uses the settings.
type How struct {
	Skip    bool             // answer without the council, this time
	Council *council.Council // replaces the one from the settings
	Only    string           // id of the one member that is asked
	Project string           // of a temporary chat: the folder whose council applies
	Resume  council.RunID    // continues this run
	Finish  bool             // with Resume: starts no new work, and answers with the results so far
	Again   council.RunID    // repeats this run, with Change
	Change  Change
	// Chosen is set where the person chose the request's model for this answer. It replaces the chair,
	// and the model of a repeated run.
	Chosen  bool
	Asks    bool        // a person can be asked about failed tools
	OnEvent func(Event) // if set, is called after each step of this run is saved
}

// Change is the one difference of a repeated run. At most one field after Member is set. With Member
// alone, that member works again; the zero value repeats everybody's work.
type Change struct {
	Member  string                 `json:"member"`
	Model   *string                `json:"model"` // "connection/model"; "" is the helper's
	Role    *string                `json:"role"`  // "" is none
	Context *council.ContextPolicy `json:"context"`
	Tools   *[]string              `json:"tools"`
}

// Event is one step of a run, after it was saved; or, without Step, progress in between.
type Event struct {
	Run  council.Run // after the step; not changed later
	Step *council.Step
	Task string
	Live *council.Live
	MS   int64 // working time of the run so far
	// Due, if set, holds the deadlines of tasks under way, and under "" that of the run, in milliseconds
	// of the run's working time.
	Due map[string]int64
	// SaveError, if set, is a sentence on why the run cannot be saved, or "" once it can again.
	SaveError *string
}
