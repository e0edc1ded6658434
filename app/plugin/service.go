package plugin

import (
	"context"
	"encoding/json"

	"conclave/app/chat"
)

// Caller identifies the plugin that requests a service.
type Caller struct {
	Plugin  string // its id
	Name    string // display name
	Dialect string
	// digest of the files its process was started from; empty until they were compared after it
	// read them
	Code         string
	Call         string              // id of the open call it acts in; empty outside of calls
	Conversation chat.ConversationID // of that call; empty outside of calls
	// Open holds the ids of all calls that are open in its process. Which of several it acts in
	// is known of none for certain: code that runs in one can say that it is another, or none.
	Open []string

	// Granted reports whether the person granted it a permission. Tell sends its
	// process an event; the service's answer may overtake it. Read returns who else wrote
	// what its process was given of what plugins share, and Gave notes that it is given
	// more of it. All may be nil in tests.
	Granted func(permission string) bool
	Tell    func(event string, payload any) error
	Read    func() []chat.Author
	Gave    func(authors ...chat.Author)
}

// Service answers one kind of request of plugins to Conclave, by its name on the wire
// (docs/WIRE.md, section 5). Its errors are faults: NotAllowed reaches the plugin as
// denied, Invalid, NotFound and Unavailable under their names, any other as failed. It
// must be safe for concurrent use.
type Service struct {
	// Permission names what the person must have granted the plugin, in the words of
	// permit; empty needs none.
	Permission string
	// Pure says that it reads and changes nothing, so that a plugin which is only looked at
	// may use it too.
	Pure bool
	// Keeps says that it keeps a text of the plugin's where the plugin can read it later.
	Keeps bool
	// Do acts. The value is marshalled as JSON.
	Do func(ctx context.Context, by Caller, args json.RawMessage) (any, error)
}
