package cli

import (
	"context"
	"time"

	"conclave/app/activity"
	"conclave/app/call"
	"conclave/app/chat"
	"conclave/app/conversation"
	"conclave/app/cost"
	"conclave/app/council"
	"conclave/app/deliberation"
	"conclave/app/llm"
	"conclave/app/permit"
	"conclave/app/plugin/host"
	"conclave/app/plugin/library"
	"conclave/app/plugin/packages"
	"conclave/app/service"
	"conclave/app/settings"
	"conclave/app/tool"
	"conclave/app/turn"
	"conclave/app/undo"
)

// App is the core as commands use it; package core makes it.
type App struct {
	Version string
	Data    string
	Plugins string

	Host          *host.Host
	Gate          *permit.Gate
	Tools         *tool.Registry
	Conversations *conversation.Owner
	Calls         *call.Runner

	// Secrets keeps those that plugins use and do not see.
	Secrets *service.Services

	Library  *library.Library
	Packages *packages.Installer

	Councils        *deliberation.Runner
	CouncilSettings council.Settings

	HTTP     HTTPTools
	Chats    Chats
	Activity activity.Log
	Undo     *undo.Keeper
	Models   Models
	Settings *settings.Current

	// Watch follows the plugins folder until ctx ends; its channel carries why
	// it ended. A program that watches anyway gives a channel that waits.
	Watch func(ctx context.Context) <-chan error
	// LogChanges wakes whenever the plugin's log grew, until stop.
	LogChanges func(plugin string) (changed <-chan struct{}, stop func())
	// Backup writes a whole copy of the store to the file at path, with the files attached to
	// its chats.
	Backup func(ctx context.Context, path string) (MediaReport, error)
	// Mask returns what takes secrets out of a text.
	Mask func(ctx context.Context) (func(string) string, error)
	// Doctor checks what this machine has.
	Doctor func(ctx context.Context) []Finding
	// OpenWindow starts the window's program, and returns once it runs.
	OpenWindow func(ctx context.Context) error
	// Close gives the core back; the last one closes it.
	Close func()
}

// HTTPTools is the port at which programs register tools; package core has it. Errors are
// *fault.Error.
type HTTPTools interface {
	// Serve opens a port until stop is called; 0 is that of the settings.
	Serve(ctx context.Context, port int) (address string, stop func(), err error)
	// Address returns where programs register tools in the Conclave that this command runs
	// in, because the settings say so, and why they cannot, or which was refused.
	Address() (string, error)
	// SetToken makes a token that programs must carry, or lets them register without.
	SetToken(ctx context.Context, wanted bool) (string, error)
}

// Chats reads and writes chats for commands; the store does it. Errors are
// *fault.Error.
type Chats interface {
	turn.Log
	CreateConversation(ctx context.Context, c *chat.Conversation) error
	// ImportConversation writes a new conversation with these messages, each of
	// which answers the one before it: all of it, or nothing.
	ImportConversation(ctx context.Context, c *chat.Conversation, messages []chat.Message) error
	List(ctx context.Context, o chat.ListOptions) (chat.Page, error)
	// Call returns one record of a tool call.
	Call(ctx context.Context, id uint64) (chat.CallRecord, error)
	// Calls lists records of tool calls, newest first.
	Calls(ctx context.Context, f chat.CallFilter) ([]chat.CallRecord, error)
	// HasMedia reports whether the file of an attachment is there.
	HasMedia(m chat.Media) bool
	// MissingMedia returns how many files attached to a chat are not there.
	MissingMedia(ctx context.Context, id chat.ConversationID) (int, error)
	// Find looks for messages and titles, last changed conversation first.
	Find(ctx context.Context, words string, limit int) ([]chat.SearchResult, error)
}

// Models opens, lists and changes models and connections for commands; package core
// does it. Errors are *fault.Error.
type Models interface {
	// Open returns a model by "connection/model", or the default for "".
	Open(ctx context.Context, name string) (llm.Model, error)
	Connections(ctx context.Context) ([]llm.Connection, error)
	// List asks every connection for its models; a connection that fails is in
	// the second value by its name.
	List(ctx context.Context) ([]llm.ModelInfo, map[string]error)
	Add(ctx context.Context, c llm.Connection, key string) error
	// SetServedBy names the user of this computer whose program may serve a connection, besides the
	// person and services.
	SetServedBy(ctx context.Context, name, user string) error
	Test(ctx context.Context, name string) (models int, took time.Duration, err error)
	SetDefault(ctx context.Context, name string) error
	Default(ctx context.Context) (string, error)
	// Prices returns what models cost; SetPrices replaces the person's own rows.
	Prices(ctx context.Context) (cost.Table, error)
	SetPrices(ctx context.Context, own []cost.Price) error
	// Pull has an Ollama server download a model.
	Pull(ctx context.Context, name string, progress func(status string, done, total int64)) error
}

// Finding is one line of doctor.
type Finding struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Found string `json:"found"`         // what there is
	Fix   string `json:"fix,omitempty"` // what to do when it is not OK
}
