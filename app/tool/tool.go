// Package tool defines the tools that a model can call: the Tool, the immutable
// numbered Set of them that one turn uses, and the Registry that plugins publish into.
//
// It knows no plugin, no process and no permission. Read Tool, Set and Registry first.
// Whoever calls a tool for somebody goes through gate.Gate before.
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"conclave/app/chat"
)

// Visibility describes how a tool reaches a model.
type Visibility string

// The visibilities, as the command line writes them.
const (
	Direct   Visibility = "direct"   // offered to the main model
	Deferred Visibility = "deferred" // found through tool_search
	Hidden   Visibility = "hidden"   // callable by people and plugins only
)

// Tool is one function that a model can call, as its plugin defined it. Values are
// immutable once they are in a Set.
type Tool struct {
	Plugin      string          `json:"plugin"`      // the plugin's id
	Name        string          `json:"name"`        // the plugin's own name for it
	WireName    string          `json:"wire_name"`   // what a model sees, in a new chat or in one (Set.Named)
	Title       string          `json:"title"`       // display name; the name when the plugin gave none
	Description string          `json:"description"` // cleaned, never cut
	Parameters  json.RawMessage `json:"parameters"`  // JSON Schema of an object, as the plugin gave it
	// the plugin's own hints (MCP ToolAnnotations); never trusted
	Annotations json.RawMessage `json:"annotations,omitempty"`
	// Output is the Shape of what its results hold as Value, where its plugin declares that; nil for none. No model
	// reads it, and it is no part of what a person approves.
	Output json.RawMessage `json:"output,omitempty"`

	// Qualified says that WireName always begins with the plugin, however unique
	// Name is: prompts of its ecosystem look for a function that ends in "__NAME".
	Qualified bool `json:"qualified,omitempty"`

	CouncilEligible bool       `json:"council_eligible"`
	InlineAvailable bool       `json:"inline_available"`
	Visibility      Visibility `json:"visibility"`

	Dialect string        `json:"contract"`       // the name of its plugin's dialect
	File    string        `json:"file,omitempty"` // relative to the plugin's folder
	Line    int           `json:"line,omitempty"` // 1-based; 0 when unknown
	Digest  string        `json:"digest"`         // SHA-256 (hex) of the definition; made by Normal
	Timeout time.Duration `json:"-"`              // how long one call may take; 0 = the default, 30 s
	// ForRoom says that it is deferred so that the definitions of a request fit (Set.Fit).
	ForRoom  bool     `json:"-"`
	Serial   bool     `json:"serial,omitempty"`   // one call at a time
	Async    bool     `json:"async,omitempty"`    // its author says that other calls may run while one waits
	Warnings []string `json:"warnings,omitempty"` // what is odd about its definition
	// its schema is the plugin's own: arguments are checked against it, whatever the dialect
	Strict bool `json:"strict,omitempty"`
	// the object it belongs to, with its settings, secrets masked: SQLite({"path":"x.db"})
	Instance string `json:"instance,omitempty"`
	Hidden   int    `json:"hidden,omitempty"` // hidden characters that were removed from its texts
	// Marked holds the lines of which they were removed, as Marked returns them.
	Marked []string `json:"marked,omitempty"`

	// Member is the id of the council member whose tool this copy is, where a main model is
	// offered the members' tools beside its own (Set.With).
	Member string `json:"member,omitempty"`
	// MemberName is that member's name, with which WireName begins.
	MemberName string `json:"-"`

	// Role is the role that it is for alone: the name of a council member, or MainRole for
	// the main model; empty is everybody. NotFor are roles that it is not for.
	Role   string   `json:"role,omitempty"`
	NotFor []string `json:"not_for,omitempty"`

	// Convention is that of its plugin's dialect, and Code the digest of the files of the
	// plugin's version; the host sets both when it publishes the tool.
	Convention Convention `json:"-"`
	Code       string     `json:"-"`
	// KeepWords says that models get these words whatever its plugin says by now, which may differ as SameButWords
	// allows. The host sets it when it publishes the tool.
	KeepWords bool `json:"-"`
	// Guide holds a text of its plugin for models about using its tools; empty for none. The host sets it when it
	// publishes the tool.
	Guide string `json:"-"`

	normal *normalized // what Normal made its digest of; nil of a tool that it has not seen
}

// ID returns the name that is unique among all tools: "plugin:name".
func (t Tool) ID() string { return t.Plugin + ":" + t.Name }

// Whose says whose a wire name of the tool is: its id, and for a council member's copy the
// member's before it, behind which comes a "/" that no plugin's id holds.
func (t Tool) Whose() string {
	if t.Member == "" {
		return t.ID()
	}
	return t.Member + "/" + t.ID()
}

// MainRole is the role of the main model, which is no member of a council.
const MainRole = "Conclave"

// For reports whether the tool is for somebody of this role.
func (t Tool) For(role string) bool {
	return (t.Role == "" || t.Role == role) && !slices.Contains(t.NotFor, role)
}

// forModel reports whether a main model may be offered the tool.
func (t Tool) forModel() bool { return t.Visibility != Hidden && t.For(MainRole) }

// DefaultTimeout limits how long a call may take when neither the tool nor the
// person says otherwise (contracts/llm-functions, section 8.6).
const DefaultTimeout = 30 * time.Second

// The calls of one plugin that run at once when the person sets nothing. Twelve are those of a council's
// members, who call a tool at the same moment. Four are for code whose author said nothing about other calls
// (contracts/llm-functions, section 8.3): it may compute all the time, and each call has a deadline.
const (
	fewAtOnce  = 4
	manyAtOnce = 12
)

// CallsAtOnce returns how many calls of a plugin with these tools run at once when the person sets nothing:
// twelve if each of its tools says that other calls may run while one waits, else four.
func CallsAtOnce(tools []Tool) int {
	if len(tools) == 0 || slices.ContainsFunc(tools, func(t Tool) bool { return !t.Async }) {
		return fewAtOnce
	}
	return manyAtOnce
}

// TimeLimit returns how long a call of the tool may take when the person sets nothing.
func (t Tool) TimeLimit() time.Duration { return cmp.Or(t.Timeout, DefaultTimeout) }

// Call is one request to run a tool, after the gate allowed it.
type Call struct {
	ID        string          // unique per call
	Tool      Tool            // as it was in the Set the turn froze
	Arguments json.RawMessage // a JSON object, already checked against the schema
	// RawArguments is the text of Arguments as the model wrote it, which may be no JSON
	// (Convention.Raw).
	RawArguments string
	Conversation chat.ConversationID
	Deadline     time.Time // when whoever asked stops waiting

	CouncilMember   json.RawMessage // the member's context object, or nil outside a council
	ContextMessages []ContextMessage

	// Progress, when not nil, gets a running tool's progress notes. It may be
	// called from any goroutine while Call runs, never after.
	Progress func(note string)
	// Moved, when not nil, gets the deadline that takes the place of Deadline, each time that
	// a person is asked for what the call does, and answered: that takes no time of the call's.
	Moved func(deadline time.Time)
}

// ContextMessage is one flattened message that a council or inline call hands
// to the tool (contracts/spindle, section 7).
type ContextMessage struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
	Name    string `json:"name,omitempty"`
}

// Result is the answer of a tool. Either Content or Error is set; a Result with Status
// ok and no Content is a tool that said nothing.
type Result struct {
	Status    chat.CallStatus     // ok, raised, bad_arguments, timeout, died, cancelled, paused
	Content   []chat.Part         // text and media, in order; media parts carry Data until stored
	Value     json.RawMessage     // the typed value when the text is not all of it; may be nil
	Links     []chat.ResourceLink // resources that it names, for the person
	Meta      json.RawMessage     // what an MCP server adds for programs, for the record alone; may be nil
	Error     string              // the sentence the model is given when Status is not ok
	ErrorType string              // class name of an exception
	Traceback string              // local only, never for a model
	Printed   string              // what the call printed, its last 8 KiB
	Notes     []string            // sentences for the person, in addition to what the model gets
	Handled   bool                // nothing is left to say: the turn ends if that is so of all calls of its message
	EndTurn   bool                // the tool wants no further request to the model (contracts/maibot, section 7.3)
	CallsOff  CallsOff            // the tool's plugin calls the whole turn off; Error is why
	// Outside says that the plugin's code was given text of others: files that Conclave opened
	// for it, or the output of programs that it started for it.
	Outside bool
	// Shared describes where texts of other plugins came from that the plugin's code was given:
	// variables, world books, characters, personas, macros.
	Shared []chat.Origin
	// Kept describes where text came from of other chats that the plugin's code may have kept. It counts
	// for a result of which nothing else says where it is from.
	Kept []chat.Origin
}

// CallsOff describes how a tool's plugin calls the turn off in which it was called.
type CallsOff string

// The ways to call a turn off; empty is none.
const (
	Ends        CallsOff = "ends"       // it ends with an error, and what was said stays
	TakesItBack CallsOff = "takes_back" // what was said in it is taken back too
)

// Invoker runs calls of the tools that were published with it.
type Invoker interface {
	// Call runs one tool and blocks until it answered, its deadline passed or
	// ctx ended. Everything that can go wrong with the tool is a Result; the
	// error is for what went wrong with Conclave. It is safe for concurrent use.
	Call(ctx context.Context, call Call) (Result, error)
}
