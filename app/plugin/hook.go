package plugin

import (
	"encoding/json"
	"time"
)

// Hook is a function of a running plugin that Conclave calls during a turn: it changes
// a prompt before a model gets it, or gives the value of a macro. The process
// registers it with hooks.register; host.Host.RunHook calls it.
type Hook struct {
	Plugin   string          // its id
	Title    string          // display name
	Kind     string          // interceptor, context_handler or macro
	Name     string          // its name among its kind; empty when the plugin has one
	Priority int             // lower runs first
	Timeout  time.Duration   // how long it may take
	Data     json.RawMessage // what the plugin said about it, an object or nil
	Order    uint64          // of registration, among all; no two hooks share it
	Own      bool            // it runs for a text of its own plugin's, and needs no permission
}
