package client

import "encoding/json"

// Resource is something that a server can be asked to read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIME        string `json:"mimeType"`
	Size        int64  `json:"size"` // in bytes; 0 when unknown
	Icons       []Icon `json:"icons"`
}

// Template is a family of resources whose addresses have places to fill (RFC 6570).
type Template struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIME        string `json:"mimeType"`
	Icons       []Icon `json:"icons"`
}

// Prompt is a message, or several, that a server writes for the person.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []PromptArgument `json:"arguments"`
	Icons       []Icon           `json:"icons"`
}

// PromptArgument is a value that a Prompt is filled with.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// PromptResult is a Prompt filled with values.
type PromptResult struct {
	Description string
	Messages    []PromptMessage
	Meta        json.RawMessage
}

// PromptMessage is one message of a PromptResult.
type PromptMessage struct {
	Role  string // user or assistant
	Block Block
}

// Reference names what a value is completed for: a prompt by its name, or a template by its URITemplate.
// One of the two is set.
type Reference struct{ Prompt, Template string }

// Completion holds values that an argument could have.
type Completion struct {
	Values []string
	Total  int  // 0 when unknown
	More   bool // there are others
}
