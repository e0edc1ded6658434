package config

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Transport is the way in which a server is reached.
type Transport string

// The transports. Unsaid is for an entry that names none: it is Stdio where there is a command, and else the order
// of contract MC-06 (Streamable HTTP, then the old SSE). SSE means that the old one is tried first.
const (
	Unsaid Transport = ""
	Stdio  Transport = "stdio"
	HTTP   Transport = "http"
	SSE    Transport = "sse"
)

// Server is one entry of a configuration. In its texts (Command, Args, the values of Env and Headers, Dir, EnvFile,
// URL, OAuth) placeholders are written ${input:ID}, whatever their program writes; each has an Input. ${userHome} and
// ${/} may stand there as well. All else is literal. Fill resolves them.
type Server struct {
	Name    string  `json:"name"`              // as the configuration has it
	Program Program `json:"program,omitempty"` // whose configuration it is
	// Scope tells servers of one name in one text apart: the folder of a project; empty for the person's own.
	Scope string `json:"scope,omitempty"`

	Transport Transport `json:"transport,omitempty"`

	Command string            `json:"command,omitempty"` // the program to start; empty for a remote server
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	EnvFile string            `json:"env_file,omitempty"` // a file of lines NAME=value
	Dir     string            `json:"dir,omitempty"`      // the working folder

	URL     string            `json:"url,omitempty"` // of a remote server
	Headers map[string]string `json:"headers,omitempty"`
	OAuth   *OAuth            `json:"oauth,omitempty"` // nil: nothing was said

	// StartTimeout bounds start and handshake, CallTimeout one call without a sign of life; 0 is the default.
	StartTimeout time.Duration `json:"start_timeout,omitempty"`
	CallTimeout  time.Duration `json:"call_timeout,omitempty"`

	Off     bool     `json:"off,omitempty"`     // the configuration switches it off
	Include []string `json:"include,omitempty"` // tools, by the server's names; nil: all
	Exclude []string `json:"exclude,omitempty"`

	Inputs   []Input  `json:"inputs,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // sentences about members without effect here
	// Marked are sentences about its command line that a person should read before the approval (MC-17).
	Marked []string `json:"marked,omitempty"`
	// Line is the line of its entry in the text, from 1; 0 where that is not known.
	Line int `json:"line,omitempty"`
}

// Remote reports whether the server is reached by an address.
func (s Server) Remote() bool { return s.Command == "" && s.URL != "" }

// OAuth holds what a configuration says about signing in.
type OAuth struct {
	ClientID     string   `json:"client_id,omitempty"`
	ClientSecret string   `json:"client_secret,omitempty"` // a placeholder after TakeSecrets
	Scopes       []string `json:"scopes,omitempty"`
	Off          bool     `json:"off,omitempty"` // the configuration says that there is no sign-in
}

// InputKind is the type of an input's value.
type InputKind string

// The kinds of inputs. Values of files and folders are paths, which the server may then read.
const (
	Text      InputKind = "string"
	Number    InputKind = "number"
	Boolean   InputKind = "boolean"
	File      InputKind = "file"
	Directory InputKind = "directory"
)

// Input is a value that the person gives: a field of the server's settings form.
type Input struct {
	ID          string    `json:"id"` // [A-Za-z0-9_-]+, as ${input:ID} has it
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Kind        InputKind `json:"kind,omitempty"` // empty is Text
	Secret      bool      `json:"secret,omitempty"`
	Optional    bool      `json:"optional,omitempty"` // without it, what holds its placeholder is left out
	Multiple    bool      `json:"multiple,omitempty"` // its value is a list
	Default     any       `json:"default,omitempty"`  // text, float64, bool, or []any of them; nil: none
	Choices     []string  `json:"choices,omitempty"`
	Min         *float64  `json:"min,omitempty"`
	Max         *float64  `json:"max,omitempty"`
	// Env names a variable of the person's environment whose value is used while nothing is set.
	Env string `json:"env,omitempty"`
}

// Problem is the reason why a configuration, or one entry of it, was not read. It is an error.
type Problem struct {
	Server  string `json:"server,omitempty"` // the entry; empty for the whole text
	Line    int    `json:"line,omitempty"`   // from 1; 0 where that is not known
	Column  int    `json:"column,omitempty"` // from 1, in characters
	Message string `json:"message"`          // one sentence
	Hint    string `json:"hint,omitempty"`
}

// Error returns "line 3, column 7: message" with the entry's name, as much as is known.
func (p Problem) Error() string {
	var where []string
	if p.Server != "" {
		where = append(where, p.Server)
	}
	if p.Line > 0 {
		where = append(where, fmt.Sprintf("line %d, column %d", p.Line, cmp.Or(p.Column, 1)))
	}
	if len(where) == 0 {
		return p.Message
	}
	return strings.Join(where, ", ") + ": " + p.Message
}
