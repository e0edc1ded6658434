// Package model is how Conclave speaks with models, whoever makes them: the Model
// that streams events, the Provider that lists and opens models, the Error that
// says what went wrong in a person's words, and the bounded retry.
//
// It knows no vendor: each vendor is a package below this one, and imports it.
// What they share is here: Link, the way to a server with its timeouts and
// refusals; CallAssembler, which puts streamed tool calls together; Scanner, which finds model
// servers on this computer. The shared suite
// every vendor passes is in modeltest. Read Model, Request, Event and Error first.
package model

import (
	"context"
	"encoding/json"
	"iter"

	"conclave/app/chat"
)

// Model is one model that can be talked to. Its methods are safe for concurrent
// use.
type Model interface {
	// Info describes the model and what it can do.
	Info() Info
	// Stream asks the model once and yields what it says as it says it. The
	// sequence ends after an Event of kind End, or with exactly one error, which
	// is an *Error or ctx's cause. Breaking out of the loop or ending ctx stops
	// the request and frees the connection.
	Stream(ctx context.Context, request Request) iter.Seq2[Event, error]
}

// Provider is a place models come from, under one connection of the person's.
type Provider interface {
	// Models lists what can be used, sorted by id. Errors are *Error.
	Models(ctx context.Context) ([]Info, error)
	// Open returns a model by its id without asking the network. A model that
	// does not exist fails at its first Stream.
	Open(id string) Model
}

// Connection is the way to one provider. Its key is not in it: vendors get it
// from Key each time they need it, so that it lives nowhere else.
type Connection struct {
	Name    string            `json:"name"` // the left half of "connection/model"; ^[a-z0-9][a-z0-9._-]*$
	Kind    string            `json:"kind"` // openai, anthropic, google, ollama, demo
	Title   string            `json:"title,omitempty"`
	URL     string            `json:"url,omitempty"`     // base address; empty = the vendor's own
	Headers map[string]string `json:"headers,omitempty"` // extra request headers, none secret
	// Models are ids the person added by hand, for servers that do not list.
	Models []string `json:"models,omitempty"`
	HasKey bool     `json:"has_key"`
	// ServedBy is another user of this computer, by name or number, whose program the person
	// lets serve the connection; "unknown" where the system does not say whose it is.
	ServedBy string `json:"served_by,omitempty"`
	// Can holds what the person knows of models, by id; it overrules what is listed
	// and what is guessed.
	Can map[string]Features `json:"can,omitempty"`

	// Listed are the models that it listed in an earlier run of the program.
	Listed []Info `json:"-"`
	// Key reads the secret at the moment of use; nil when the connection needs
	// none. It returns "" and a fault when the key store is locked or missing.
	Key func(ctx context.Context) (string, error) `json:"-"`
}

// Info describes one model.
type Info struct {
	Connection string   `json:"connection"`
	ID         string   `json:"id"` // the vendor's id; may hold slashes
	Title      string   `json:"title"`
	Provider   string   `json:"provider"` // the connection's kind
	Can        Features `json:"can"`
	Context    int64    `json:"context_tokens,omitempty"` // window in tokens; 0 = not known
	Price      *Price   `json:"price,omitempty"`          // as its server lists it; nil = not known
}

// Name returns "connection/id", as a person writes it.
func (m Info) Name() string { return m.Connection + "/" + m.ID }

// Features say what a model can do. A capability that is not known is true
// for Tools (most can; the refusal is a typed error) and false for the others.
type Features struct {
	Tools     bool `json:"tools"`
	Vision    bool `json:"vision"`
	Reasoning bool `json:"reasoning"`
}

// Request is one question to a model.
type Request struct {
	System   string
	Messages []Message
	Tools    []ToolDefinition
	// NoCalls tells the model that it must answer without calling tools, though
	// Tools are listed (the history may hold calls): the closing request.
	NoCalls bool
	// MustCall tells the model that it must call one of Tools, where the vendor can say so.
	MustCall    bool
	MaxTokens   int64    // 0 = the vendor's default, or a sensible one where the vendor demands a number
	Temperature *float64 // nil = the vendor's default
	TopP        *float64 // nil = the vendor's default; left out where a model takes one of the two
	Reasoning   string   // "", "off", "low", "medium", "high"
}

// Message is one message of the history. Media parts carry their bytes in
// Media.Data.
type Message struct {
	Role  chat.Role // user, assistant or tool; system text is in Request.System
	Parts []chat.Part
}

// ToolDefinition is a tool as a request describes it to a model.
type ToolDefinition struct {
	Name        string // matches ^[a-zA-Z0-9_-]{1,64}$
	Description string
	Parameters  json.RawMessage // JSON Schema of an object
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds of events, in the order a stream usually brings them.
const (
	Reasoning EventKind = "reasoning"  // Text: a piece of the model's thinking
	Text      EventKind = "text"       // Text: a piece of the answer
	CallStart EventKind = "call_start" // Call: id and tool name are known, arguments still come
	Call      EventKind = "call"       // Call: one whole tool call
	Vendor    EventKind = "vendor"     // Part: data to send back unchanged; belongs to the part before it
	Moved     EventKind = "moved"      // Text: reasoning or text, which is what all said so far turned out to be
	Drawn     EventKind = "drawn"      // Media: a picture that the model made, with its bytes
	Notice    EventKind = "notice"     // Text: a sentence for the person about the answer, which is no part of it
	End       EventKind = "end"        // Usage, Stop: the answer is whole
)

// Event is one thing a streaming model said. Kind says which fields count.
type Event struct {
	Kind  EventKind
	Text  string
	Call  chat.ToolCall              // Arguments hold a JSON object, or Raw holds text that was none
	Part  map[string]json.RawMessage // Vendor: merged into the last part's chat.Part.Vendor
	Media *chat.Media                // Drawn
	Usage chat.Usage
	Stop  StopReason
}

// StopReason is the reason why a model stopped.
type StopReason string

// The reasons, wire-neutral.
const (
	StopEnd    StopReason = "end"    // it was finished
	StopCalls  StopReason = "calls"  // it waits for tool results
	StopLength StopReason = "length" // the token limit cut it
	StopFilter StopReason = "filter" // the provider's filter cut it
)
