package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/app/fault"
	"conclave/app/permit"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Source is one plugin as it lies in the plugins folder: a single file, or a
// folder.
type Source struct {
	ID      string // folder identity: the file or folder name without its ending, made [a-zA-Z0-9_-]
	Path    string // absolute path of the file or folder to read
	Folder  bool
	Display string // the path a person knows it by; differs from Path for the copy that its processes run from
	Alone   bool   // it is loaded by itself: other plugins beside it do not matter
}

// Manifest is what a dialect understood of a plugin by reading it, before any of
// it has run.
type Manifest struct {
	Contract    string   `json:"contract"` // functions, spindle …
	Name        string   `json:"name"`     // display name
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	Author      string   `json:"author,omitempty"`
	Homepage    string   `json:"homepage,omitempty"`
	Entry       string   `json:"entry"`           // what is loaded, relative to the plugin's folder
	Permissions []string `json:"permissions"`     // what it asks for, in its own ecosystem's words
	Files       []string `json:"files,omitempty"` // the source files, relative; nil means every file that is not ignored

	// Identity is what the plugin calls itself, where its ecosystem lets no two
	// have one name; Add names its folder so. Empty otherwise.
	Identity string `json:"identity,omitempty"`
	// Hidden counts the characters that were removed from its texts because nobody
	// sees them (manifest.go).
	Hidden int `json:"hidden,omitempty"`
	// Notices are sentences that a person should read: what of it does not run.
	Notices []string `json:"notices,omitempty"`
	// Panel is its part for a window of its own, which is not run; empty without.
	Panel string `json:"panel,omitempty"`
	// Seeds are copied into its storage, once for each version that runs.
	Seeds []Seed `json:"seeds,omitempty"`
	// WorkingCopy says that its author works in the folder, so that it is not
	// replaced by what it came from.
	WorkingCopy bool `json:"working_copy,omitempty"`
}

// Listing is what can be told of a plugin without running it.
type Listing struct {
	Known   bool        `json:"known"` // whether Tools is complete; false when only running can tell
	Tools   []tool.Tool `json:"tools"` // Name, Description, Line and, where known, Parameters
	Imports []string    `json:"imports"`
	// Options is the JSON Schema of what a person may set (options.go); nil when
	// that is nothing, or when only running can tell.
	Options json.RawMessage `json:"options,omitempty"`
}

// Problem says why a plugin did not load, for a person. It is an error.
type Problem struct {
	Kind    string   `json:"kind"`    // script, deadline, memory, crashed, refused, flooded, unavailable
	Message string   `json:"message"` // one sentence
	Type    string   `json:"type,omitempty"`
	File    string   `json:"file,omitempty"` // relative to the plugin's folder
	Line    int      `json:"line,omitempty"` // from 1
	Column  int      `json:"column,omitempty"`
	Frame   string   `json:"frame,omitempty"` // a few lines of source with the place marked
	Hint    string   `json:"hint,omitempty"`
	Missing []string `json:"missing,omitempty"` // packages
	Stderr  string   `json:"stderr,omitempty"`  // tail, when it crashed
}

// Error returns "file:line: message", with as much of the place as is known.
func (p *Problem) Error() string {
	if p.File == "" {
		return p.Message
	}
	if p.Line == 0 { // the file as a whole
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// asProblem returns err as a Problem: itself, or one made of its sentence.
func asProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.cleaned()
	}
	f := fault.Of(err)
	message := f.Message
	if f.Kind == fault.Internal {
		message = strings.TrimSpace(err.Error())
	}
	return (&Problem{Kind: "crashed", Message: message, Hint: f.Hint}).cleaned()
}

// Place says where a plugin's process may live.
type Place struct {
	Storage string          // the plugin's own folder for data, absolute; it exists, and belongs to the plugin alone
	Runtime string          // Conclave's folder for unpacked shims and caches, absolute; the plugin may only read it
	Work    string          // the working folder the process starts in
	Code    string          // digest of the files it is started from; empty for a throw-away look
	Granted []string        // the permissions the person granted it, in permit's words
	Folders []permit.Folder // what it may reach outside of its own folders

	Options json.RawMessage // what the person set, an object without secrets; nil when nothing
	Secrets []string        // the paths of the secret settings that are set; options.secret tells them

	Site []string // folders of packages that were installed for it, which it may read; before the machine's own
}

// Layout is one way in which a dialect's plugins lie in the plugins folder. The
// sentence for an entry that is no plugin and the table of docs/PLUGINS.md are
// made from all dialects' layouts.
type Layout struct {
	Entry string // what lies there: "NAME.py"
	What  string // what that is: "a file of functions"
	Page  string // the page of docs/ about it: "PYTHON.md"
}

// Dialect recognises the plugins of one ecosystem and knows how to run them. A
// plugin's life: Recognize (read) → Inspect (read) → the person approves → Spec
// → the process starts and is handshaken over the wire (docs/WIRE.md) → list →
// calls → end. Methods are safe for concurrent use.
type Dialect interface {
	// Contract names the ecosystem: "functions", "spindle".
	Contract() string
	// Layouts are the entries of a plugins folder that are its plugins.
	Layouts() []Layout
	// Recognize reads src and returns its manifest, or nil when another dialect
	// should be asked. A plugin that is clearly this dialect's but broken is a
	// *Problem.
	Recognize(ctx context.Context, src Source) (*Manifest, error)
	// Inspect tells what can be told without running any of the plugin's code.
	// Source that cannot be read as its language is a *Problem.
	Inspect(ctx context.Context, src Source, m Manifest) (Listing, error)
	// Spec describes the process to start. A missing interpreter is a *Problem
	// of kind unavailable.
	Spec(ctx context.Context, src Source, m Manifest, place Place) (sandbox.Spec, error)
}

// LoadTimeout is how long a plugin may take from its start to a listed tool set.
const LoadTimeout = 10 * time.Second
