package plugin

import (
	"context"

	"conclave/app/chat"
)

// Sharer is a Backend that offers the person more than tools: resources, which they attach to a message,
// and prompts, which they begin one with. Its texts are the plugin's, and untrusted. Errors are sentences;
// lists of a server that has none are empty.
type Sharer interface {
	Backend
	// Resources returns what can be read, and what can be once its address is filled in.
	Resources(ctx context.Context) ([]Resource, []ResourceTemplate, error)
	// Read returns the content of a resource, one part for each of its pieces: media with bytes, or text.
	Read(ctx context.Context, uri string) ([]chat.Part, error)
	Prompts(ctx context.Context) ([]Prompt, error)
	// Fill returns the messages of a prompt for these values.
	Fill(ctx context.Context, name string, values map[string]string) ([]PromptMessage, error)
	// Watches reports whether the plugin tells when a resource changes.
	Watches() bool
	// Watch calls news when the plugin says that a resource changed, and once more when it has ended and says
	// nothing any longer, until stop. news takes no time; stop may wait for the plugin, and may be called again.
	Watch(ctx context.Context, uri string, news func(ended bool)) (stop func(), err error)
	// Complete returns values that the argument of a prompt, or the place of a template, could have; at
	// most a hundred. more says that there are others.
	Complete(ctx context.Context, c Completing) (values []string, more bool, err error)
}

// Resource is something that a plugin can be asked to read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"` // empty: the name is shown
	Description string `json:"description"`
	MIME        string `json:"mime_type"`
	Size        int64  `json:"size"` // in bytes; 0 when unknown
}

// ResourceTemplate is an address with places to fill: file:///{path}.
type ResourceTemplate struct {
	Template    string   `json:"template"` // RFC 6570
	Places      []string `json:"places"`   // the names in it
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
}

// Prompt is a message, or several, that a plugin writes for the person.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []PromptArgument `json:"arguments"`
}

// PromptArgument is a value that a prompt is filled with.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// PromptMessage is one message of a filled prompt.
type PromptMessage struct {
	Role  chat.Role
	Parts []chat.Part // text, and media with bytes
}

// Completing asks for values of one argument. One of Prompt and Template is set.
type Completing struct {
	Prompt, Template string
	Argument, Value  string            // its name, and how it begins
	Filled           map[string]string // the values of others
}
