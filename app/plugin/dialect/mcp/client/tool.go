package client

import (
	"encoding/json"
	"time"
)

// Tool is a tool as its server defined it. Nothing in it is trusted.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"` // title, else the annotations' title, else the name
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`            // as it came, without references to the network
	Output      json.RawMessage `json:"outputSchema,omitempty"` // as it came
	Annotations json.RawMessage `json:"annotations,omitempty"`  // as they came
	Icons       Icons           `json:"icons,omitempty"`
	// Task is required when it can only be called as a task, optional when it may be, else empty.
	Task string          `json:"task,omitempty"`
	Meta json.RawMessage `json:"_meta,omitempty"`
	// Notes are sentences about what was changed or cannot be used.
	Notes []string `json:"notes,omitempty"`
}

// LeftOut is a tool that is not offered.
type LeftOut struct {
	Name   string
	Reason string // a sentence
}

// Call is one call of a tool.
type Call struct {
	// ID is the caller's name for the call, for Question.Call. No server sees it.
	ID        string
	Tool      string
	Arguments json.RawMessage // a JSON object; empty is {}
	ReadOnly  bool            // may be sent again when nobody knows whether it happened
	Task      string          // Tool.Task
	// Output is Tool.Output: a structured result that does not fit it gets a warning.
	Output json.RawMessage

	// Silence and Longest replace those of the session's limits where they are not zero.
	Silence, Longest time.Duration

	Progress func(Progress)           // nil for none; never backwards
	Log      func(level, text string) // lines that the server logs for this call; nil sends them to the session's
	// Running gets the state of a call that has become a task, before it is polled the first time and
	// after each change.
	Running func(Task)
}

// Progress counts the steps of a call.
type Progress struct {
	Done, Total float64 // Total is 0 when unknown
	Message     string
}

// Task is a call that runs on without an open request.
type Task struct {
	ID      string        `json:"id"`
	Status  string        `json:"status"` // working, input_required, completed, failed or cancelled
	Message string        `json:"message,omitempty"`
	TTL     time.Duration `json:"ttl,omitempty"` // how long the server keeps it; 0 is unknown
	Poll    time.Duration `json:"poll,omitempty"`
}

// Result holds what a call returned.
type Result struct {
	Blocks     []Block
	Structured json.RawMessage // nil for none
	// IsError reports that the tool, or the server instead of it, answered with an error: Blocks say which.
	IsError bool
	// Code is that of a JSON-RPC error; 0 for an answer of the tool.
	Code int
	Meta json.RawMessage // for the record, never for a model
	// Warnings are sentences for the record.
	Warnings []string
}

// Kinds of blocks.
const (
	TextBlock     = "text"
	ImageBlock    = "image"
	AudioBlock    = "audio"
	ResourceBlock = "resource"      // the content of a resource: Text or Data
	LinkBlock     = "resource_link" // the address of one
)

// Block is one part of a result, prompt or message.
type Block struct {
	// Type is one of the kinds above, tool_use or tool_result in sampling, or what the server wrote, which
	// then nobody here can read.
	Type string
	Text string
	Data []byte // of an image, of audio and of a resource that is not text
	MIME string

	URI, Name, Title, Description string // of a resource or link
	Size                          int64  // of a link; 0 when unknown

	Audience []string // user, assistant; empty is both
	Priority *float64
	Modified string

	// Raw is the block as it came.
	Raw json.RawMessage
}
