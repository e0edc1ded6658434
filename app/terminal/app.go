package terminal

import (
	"context"

	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/responder"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model/connections"
	"conclave/app/plugin/host"
	"conclave/app/plugin/library"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/toolport"
	"conclave/app/record/activity"
	"conclave/app/record/undo"
	"conclave/app/service"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/mcpserver"
)

// App holds the parts of the core that commands use; package core makes it.
type App struct {
	Data    string
	Plugins string

	Host  *host.Host
	Gate  *gate.Gate
	Tools *tool.Registry
	Calls *call.Runner

	// Secrets stores those that plugins use and do not see.
	Secrets *service.Secrets

	Library  *library.Library
	Packages *packages.Installer

	Councils        *deliberation.Runner
	CouncilSettings council.Settings
	Responder       responder.Chooser

	HTTP     *toolport.Port
	Programs *mcpserver.Server
	Chats    Chats
	Activity activity.Log
	Undo     *undo.Keeper
	Models   *connections.Models
	Settings *settings.Current

	// Watch follows the plugins folder until ctx ends; its channel carries why it ended. Where the
	// program watches the folder already, the channel only waits for ctx.
	Watch func(ctx context.Context) <-chan error
	// LogChanges returns a channel that receives when the plugin's log has grown, until stop.
	LogChanges func(plugin string) (changed <-chan struct{}, stop func())
	// Backup copies the store to the file at path, with the files attached to its chats.
	Backup func(ctx context.Context, path string) (MediaReport, error)
	// Mask returns a function that removes secrets from a text.
	Mask func(ctx context.Context) (func(string) string, error)
	// Doctor checks this machine.
	Doctor func(ctx context.Context) []Finding
	// Close releases the core; the last one closes it.
	Close func()
}

// Chats reads and writes chats. Errors are *fault.Error. It is an interface because the store is
// an adapter, which a front may not import.
type Chats interface {
	// Conversation reads one conversation. Kind not_found when there is none.
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	// Path reads the visible messages of a conversation, first to head.
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)
	// UpdateConversation reads, changes and writes one conversation in one step.
	UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error
	// ImportConversation writes a new conversation with these messages, each of which answers the
	// one before it: all of it, or nothing.
	ImportConversation(ctx context.Context, c *chat.Conversation, messages []chat.Message) error
	// EachOnPath calls do with each visible message of a conversation, first to head, a few of which are in
	// the memory at a time. It ends with the error of do.
	EachOnPath(ctx context.Context, id chat.ConversationID, do func(chat.Message) error) error
	List(ctx context.Context, o chat.ListOptions) (chat.Page, error)
	// Call returns one record of a tool call.
	Call(ctx context.Context, id uint64) (chat.CallRecord, error)
	// Calls lists records of tool calls, newest first.
	Calls(ctx context.Context, f chat.CallFilter) ([]chat.CallRecord, error)
	// HasMedia reports whether the file of an attachment exists.
	HasMedia(m chat.Media) bool
	// MissingMedia returns how many files attached to a chat do not exist.
	MissingMedia(ctx context.Context, id chat.ConversationID) (int, error)
	// Find searches messages and titles; the conversation that changed last comes first.
	Find(ctx context.Context, words string, limit int) ([]chat.SearchResult, error)
}

// Finding is one line of doctor.
type Finding struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Found string `json:"found"`
	Fix   string `json:"fix,omitempty"` // what to do when it is not OK
}
