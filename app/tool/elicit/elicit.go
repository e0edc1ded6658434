// Package elicit holds the questions that plugins ask the person while they work: a form to fill in, or
// an address to visit. What a plugin may do is not asked here, but by the gate.
//
// Read Question, Answer and Desk. An MCP server's elicitation is such a question; other dialects ask
// theirs the same way, so that there is one card for all.
package elicit

import (
	"encoding/json"
	"time"

	"conclave/app/chat"
)

// Question asks the person for something. Its texts are the plugin's: Desk removes hidden characters,
// and they are shown as text.
type Question struct {
	ID         string // the desk gives it
	Plugin     string // id of the plugin
	PluginName string
	Chat       chat.ConversationID // the chat whose call it belongs to; empty for none
	Call       string              // the id of that call; empty when it belongs to none
	Tool       string              // what was called; empty when it belongs to no call

	// Number counts the questions that are answered together: 2 of 3. One question is 1 of 1.
	Number, Of int

	Message string
	Fields  []Field // of a form; none for an address
	Address string  // the page to visit, http or https; empty for a form
	// Waits says that Accept is to mean that the visit is over; else, that the person agrees to it.
	Waits bool
	// Finished is closed when the plugin reports that the visit is over; nil where it does not.
	Finished <-chan struct{}

	Asked, Expires time.Time // the desk sets both
}

// Types of fields.
const (
	Text    = "string"
	Number  = "number"
	Integer = "integer"
	Boolean = "boolean"
	One     = "choice"  // one of the field's choices
	Several = "choices" // any of them
)

// Field is one field of a form.
type Field struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"` // empty: the name is shown
	Description string   `json:"description"`
	Type        string   `json:"type"` // Text, Number, Integer, Boolean, One or Several
	Required    bool     `json:"required"`
	Default     any      `json:"default"` // null for none
	Format      string   `json:"format"`  // of a text: email, uri, date or date-time; empty for any
	Pattern     string   `json:"pattern"` // of a text, a regular expression; empty for none
	MinLength   *int     `json:"min_length"`
	MaxLength   *int     `json:"max_length"`
	Minimum     *float64 `json:"minimum"`
	Maximum     *float64 `json:"maximum"`
	MinChoices  *int     `json:"min_choices"`
	MaxChoices  *int     `json:"max_choices"`
	Choices     []Choice `json:"choices"`
	// Secret reports that its name looks like that of a password, key or card, which a form should not
	// ask for.
	Secret bool `json:"secret"`
}

// Label returns what the person sees for the field.
func (f Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Choice is a value of a field and what the person sees for it.
type Choice struct {
	Value string `json:"value"`
	Title string `json:"title"`
}

// Action answers a question in one word.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel" // closed it, or nobody answered
)

// Answer is the answer to a Question.
type Answer struct {
	Action Action
	// Values are those of an accepted form by field: a string, float64, bool or []string. A field that the
	// person left empty is absent, also where it has a default; nil is an answer without a form, which
	// leaves all fields to their defaults.
	Values map[string]any
	// Why says why a question was cancelled without the person, for the record; empty otherwise.
	Why string
}

// Object returns the values as a JSON object.
func (a Answer) Object() json.RawMessage {
	if len(a.Values) == 0 {
		return json.RawMessage("{}")
	}
	raw, err := json.Marshal(a.Values)
	if err != nil { // of strings, numbers, booleans and lists of strings
		panic(err)
	}
	return raw
}
