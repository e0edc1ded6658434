package client

import (
	"encoding/json"

	"conclave/app/tool/elicit"
)

// Kinds of questions.
const (
	Form     = "form"     // values for fields
	URL      = "url"      // a page to visit
	Sampling = "sampling" // a text from a model
)

// Question is something that a server asks of the person, or of a model. Texts are the server's: they
// are to be shown as text, cleaned, and never followed.
type Question struct {
	Kind string
	// Call is the ID of the Call that it belongs to; empty when it belongs to none or to one of several.
	Call string
	// Number counts the questions that are to be answered together: 2 of 3. One question is 1 of 1.
	Number, Of int

	Message string  // what a Form or URL question says
	Fields  []Field // of a Form
	// Address belongs to a URL question: the page to open. Nobody has fetched it.
	Address string
	// Again reports that the server gets its request again with the answer: Accept a URL question once the
	// person has finished. Without it the server waits itself: Accept as soon as the person agrees.
	Again bool
	// Finished is closed when the server reports that the visit of Address is over. It is nil where the
	// server does not report that.
	Finished <-chan struct{}

	Sampling *SamplingRequest // of a Sampling question
}

// What a person does with a question.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel" // closed it without an answer
)

// Reply is the answer to a Question.
type Reply struct {
	// Action is Accept, Decline or Cancel; anything else is Cancel.
	Action string
	// Values are those of an accepted Form by field; a field without one was emptied. Nil leaves all fields
	// to their defaults.
	Values map[string]any
	// Generated holds what the model wrote, for an accepted Sampling question.
	Generated *Generated
}

// Field is one field of a Form, as plugins of all dialects ask for it.
type Field = elicit.Field

// Choice is a value of a Field.
type Choice = elicit.Choice

// SamplingRequest asks a model for a text.
type SamplingRequest struct {
	Messages    []SamplingMessage
	System      string
	MaxTokens   int
	Temperature *float64
	Stop        []string
	// Hints are names of models that would do, the best first; Cost, Speed and Intelligence are 0 to 1.
	Hints                     []string
	Cost, Speed, Intelligence float64
	// Tools and ToolChoice are the server's own tools, as it sent them: their calls go back to it.
	Tools      []json.RawMessage
	ToolChoice json.RawMessage
	Metadata   json.RawMessage
}

// SamplingMessage is one message of a SamplingRequest.
type SamplingMessage struct {
	Role   string // user or assistant
	Blocks []Block
}

// Generated holds what a model wrote for a SamplingRequest.
type Generated struct {
	Model  string
	Blocks []Block // text, image, audio or tool_use
	Reason string  // endTurn, stopSequence, maxTokens or toolUse
}
