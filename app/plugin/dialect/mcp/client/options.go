package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Eras of the protocol. A modern server (2026-07-28 and later) knows no sessions; a legacy one begins
// with an initialize handshake.
const (
	Modern = "modern"
	Legacy = "legacy"
)

// Transports of a session.
const (
	Stdio = "stdio"
	HTTP  = "http" // Streamable HTTP
	SSE   = "sse"  // HTTP with server-sent events, 2024-11-05
)

// Options hold the settings of a session. The zero value is a client without capabilities. Functions
// may be called concurrently, by goroutines of the session; all but Ask must return at once, and none
// may call Close.
type Options struct {
	// Era holds what Server reported the last time for this exact configuration. Empty asks the server.
	Era string
	// Transport restricts OverHTTP to HTTP or SSE. Empty tries both.
	Transport string
	// Client describes the program to the server. The zero value is Conclave without a version.
	Client Implementation
	// Header is sent with each HTTP request, to the server's origin only.
	Header http.Header
	// AllowHTTP permits an address without TLS that is not on this computer.
	AllowHTTP bool

	// Form, URL and Sampling are the questions that Ask answers; a server learns of no others.
	Form, URL, Sampling bool
	// Ask answers a question of the server. It may take as long as the person does. ctx ends with the call that
	// the question belongs to, and with the session; Ask must return then. An error refuses the question.
	Ask func(ctx context.Context, q Question) (Reply, error)
	// Roots returns the folders that the server may work in. Nil announces none.
	Roots func() []Root

	// Log gets lines for the server's log: what it logs itself, output that is no message, what was left
	// out and why. Levels are debug, info, warn and error. They may hold secrets.
	Log func(level, text string)
	// Traffic gets each message of the protocol as it is written, but for answers of the person, and the status of
	// HTTP responses without one. text is valid until it returns, and may hold secrets. Nil is for nobody.
	Traffic func(sent bool, text []byte)
	// LogLevel is the least important level the server should send. Empty is warning.
	LogLevel string
	// ToolsChanged, ResourcesChanged and PromptsChanged report, at most every 200 ms, that a list should be
	// read again.
	ToolsChanged, ResourcesChanged, PromptsChanged func()
	// ResourceUpdated reports that a resource changed which was passed to Subscribe.
	ResourceUpdated func(uri string)

	Limits Limits
}

// Implementation describes the program to the server.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Root is a folder that a server may work in.
type Root struct {
	URI  string `json:"uri"` // file://…
	Name string `json:"name,omitempty"`
}

// Limits are bounds of a session; zero fields have the default that is named.
type Limits struct {
	FirstByte time.Duration // how long a server may take to its first output: 10 s
	Probe     time.Duration // and from there to its answer to the first question: 3 s
	Connect   time.Duration // the whole handshake: 30 s

	Silence time.Duration // how long a call may go without a sign of life: 60 s
	Longest time.Duration // how long a call may take in all: 30 min
	Request time.Duration // how long anything else may take: 60 s
	Answer  time.Duration // how long the person has for a question: 10 min
	Poll    time.Duration // the least pause between two looks at a task: 1 s
	Idle    time.Duration // after which a silent legacy server on the network is looked for: 5 min
	Calls   int           // calls at once: 16
}

// Info describes the server of a session.
type Info struct {
	Era       string // Modern or Legacy
	Transport string // Stdio, HTTP or SSE
	Version   string // of the protocol: 2025-11-25

	Name, Title, ServerVersion string
	Website                    string
	Icons                      Icons
	Instructions               string
	Implementation             json.RawMessage // serverInfo as it came
	Capabilities               Capabilities
}

// Capabilities hold what a server announced.
type Capabilities struct {
	Tools, Resources, Prompts, Completions, Logging bool
	Subscribe                                       bool // to resources
	Tasks                                           bool
	ToolsChange, ResourcesChange, PromptsChange     bool // it reports changes of the list

	Raw json.RawMessage // as they came
}

// Icons are pictures of one thing. Those that cannot be read are left out.
type Icons []Icon

// UnmarshalJSON implements json.Unmarshaler.
func (i *Icons) UnmarshalJSON(raw []byte) error {
	*i = nil
	for _, one := range listOf(raw) {
		var icon Icon
		if json.Unmarshal(one, &icon) == nil && icon.Source != "" {
			*i = append(*i, icon)
		}
	}
	return nil
}

// Icon is a picture of a server, tool, prompt or resource. Nothing fetches it.
type Icon struct {
	Source string   `json:"src"`
	MIME   string   `json:"mimeType,omitempty"`
	Sizes  []string `json:"sizes,omitempty"`
	Theme  string   `json:"theme,omitempty"`
}
