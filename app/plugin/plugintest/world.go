package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Script describes what a plugin of a [World] does, as JSON in a .py, .js or .ts file,
// or in main.py of a folder. A file that is no JSON is a syntax error.
type Script struct {
	Name        string         `json:"name,omitempty"`
	Identity    string         `json:"identity,omitempty"`
	Seeds       []plugin.Seed  `json:"seeds,omitempty"`
	Permissions []string       `json:"permissions,omitempty"`
	Files       []string       `json:"files,omitempty"` // siblings that it imports
	Tools       []Tool         `json:"tools"`
	Load        Load           `json:"load,omitempty"`
	Unlisted    bool           `json:"unlisted,omitempty"` // reading it does not list its tools
	Stderr      string         `json:"stderr,omitempty"`   // printed at the start
	Problem     plugin.Problem `json:"problem"`            // of LoadFails
	// the schema of its settings, returned by listing and, unless Unlisted, by reading
	Options json.RawMessage `json:"options,omitempty"`
}

// Load describes what a process does instead of becoming ready.
type Load string

// The ways to load.
const (
	LoadFine    Load = ""
	LoadFails   Load = "fails"   // answers initialize with the script's Problem
	LoadLacks   Load = "lacks"   // the same, until it is given an environment with packages
	LoadHangs   Load = "hangs"   // never answers
	LoadStarved Load = "starved" // waits for a processor while the World is Busy
	LoadExits   Load = "exits"   // ends with status 3 at once
	LoadGarbage Load = "garbage" // prints something else than messages
	LoadFloods  Load = "floods"  // prints a line without an end
)

// Tool is one tool of a Script.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Do          Do              `json:"do,omitempty"`
	Text        string          `json:"text,omitempty"` // what it says, or the value of Do
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`
	Async       bool            `json:"async,omitempty"` // other calls may run while one waits
}

// Do describes what a call of a Tool does.
type Do string

// What a call may do.
const (
	Says    Do = ""        // answers Text
	Raises  Do = "raises"  // fails with Text
	Waits   Do = "waits"   // answers Text once the test released it; see World.Release
	Hangs   Do = "hangs"   // never answers, and pays no heed to being cancelled
	Heeds   Do = "heeds"   // answers "cancelled" once it was cancelled
	Dies    Do = "dies"    // ends the process with status 3
	Blurts  Do = "blurts"  // writes garbage to the wire
	Becomes Do = "becomes" // changes the tools to those of the Script in Text, and says so
	Flips   Do = "flips"   // takes back all tools but itself, or offers them again, and says so
	Shows   Do = "shows"   // answers the content blocks in Text
	Tells   Do = "tells"   // answers, with Text for the person
	Asks    Do = "asks"    // passes its arguments {capability, args} on to Conclave, and answers the answer
)

// JSON returns the script as the text of a file.
func (s Script) JSON() string {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // a Script always marshals
	}
	return string(text)
}

// SaysText is the Script of a plugin with one tool that answers text.
func SaysText(name, text string) Script {
	return Script{Tools: []Tool{{Name: name, Description: "Says " + text + ".", Text: text}}}
}

// A World is a dialect and a launcher in memory. Use [NewWorld]. Its methods are
// safe for concurrent use.
type World struct {
	facts plugin.Facts

	Busy atomic.Bool // the machine has no time for plugins that are Starved

	mu      sync.Mutex // guards the fields below
	running map[*Process]struct{}
	started []string                       // the plugins whose processes were started, in order
	events  []string                       // what processes were sent: "plugin NAME payload"
	starts  map[string]plugin.StartOptions // where each plugin was last described to live
	calls   chan Called
	release chan struct{}
	before  func(id string)
	reading func(id string)
}

// Called is a call that has reached a plugin's code.
type Called struct{ Plugin, Tool string }

var (
	_ plugin.Dialect   = (*World)(nil)
	_ sandbox.Launcher = (*World)(nil)
)

// NewWorld returns a World whose plugins have the given facts; their layouts and
// endings are its own.
func NewWorld(facts plugin.Facts) *World {
	facts.Layouts = []plugin.Layout{{Entry: "NAME.py", What: "a scripted plugin", Page: "PLUGINS.md"}}
	facts.Endings = []string{".py", ".js", ".mjs", ".ts"}
	return &World{
		facts: facts, running: map[*Process]struct{}{}, starts: map[string]plugin.StartOptions{},
		calls: make(chan Called, 1000), release: make(chan struct{}),
	}
}

// Calls hears of each call of a tool that Waits, Hangs or Heeds, once it is
// under way.
func (w *World) Calls() <-chan Called { return w.calls }

// Release lets one call that Waits go on; it blocks until there is one.
func (w *World) Release() { w.release <- struct{}{} }

// Started returns the ids of the plugins whose processes were started, in order.
func (w *World) Started() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.started)
}

// StartedWith returns the options with which the plugin was last started.
func (w *World) StartedWith(id string) plugin.StartOptions {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts[id]
}

// Running returns how many processes run.
func (w *World) Running() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running)
}

// Events returns what processes were sent by conclave/event.
func (w *World) Events() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// BeforeStart has do called before each process reads its source, with the
// plugin's id.
func (w *World) BeforeStart(do func(id string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = do
}

// BeforeInspect has do called before each plugin is read, with its id.
func (w *World) BeforeInspect(do func(id string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reading = do
}

// Facts implements plugin.Dialect.
func (w *World) Facts() plugin.Facts { return w.facts }

func entryOf(src plugin.Source) string {
	if src.Folder {
		return "main.py"
	}
	return filepath.Base(src.Path)
}

func pathOf(src plugin.Source) string {
	if src.Folder {
		return filepath.Join(src.Path, "main.py")
	}
	return src.Path
}

func read(path string) (Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Script{}, &plugin.Problem{Kind: "unavailable", File: filepath.Base(path), Message: filepath.Base(path) +
			" cannot be read."}
	}
	return parse(path, text)
}

// parse reads the text of a script, which lies at path.
func parse(path string, text []byte) (Script, error) {
	if len(text) == 0 {
		return Script{}, &plugin.Problem{Kind: "script", File: filepath.Base(path), Message: filepath.Base(path) +
			" is empty."}
	}
	var s Script
	if err := json.Unmarshal(text, &s); err != nil {
		p := &plugin.Problem{
			Kind: "script", Type: "SyntaxError", File: filepath.Base(path), Line: 1,
			Message: "It is no JSON: " + err.Error() + ".",
		}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			p.Line += strings.Count(string(text[:syntax.Offset]), "\n")
		}
		lines := strings.Split(string(text), "\n")
		p.Frame = fmt.Sprintf("> %d | %s", p.Line, lines[p.Line-1])
		return Script{}, p
	}
	return s, nil
}

// Recognize implements plugin.Dialect. As a real dialect, it finds a file that is
// no source only when it is read whole: a syntax error is Inspect's.
func (w *World) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if src.Folder {
		if _, err := os.Stat(pathOf(src)); err != nil {
			return nil, nil
		}
	}
	m := &plugin.Manifest{Dialect: w.facts.Name, Name: src.ID, Entry: entryOf(src), Permissions: []string{}}
	s, err := read(pathOf(src))
	if p, ok := errors.AsType[*plugin.Problem](err); ok && p.Type == "" {
		return nil, err
	}
	if s.Name != "" {
		m.Name = s.Name
	}
	m.Permissions, m.Identity, m.Seeds = append(m.Permissions, s.Permissions...), s.Identity, s.Seeds
	if !src.Folder {
		m.Files = []string{m.Entry}
		for _, name := range s.Files {
			if _, err := os.Stat(filepath.Join(filepath.Dir(src.Path), name)); err == nil {
				m.Files = append(m.Files, name)
			}
		}
	}
	return m, nil
}

// Inspect implements plugin.Dialect.
func (w *World) Inspect(_ context.Context, src plugin.Source, m plugin.Manifest) (plugin.Listing, error) {
	w.mu.Lock()
	reading := w.reading
	w.mu.Unlock()
	if reading != nil {
		reading(src.ID)
	}
	s, err := read(pathOf(src))
	if err != nil {
		return plugin.Listing{}, err
	}
	listing := plugin.Listing{Known: !s.Unlisted, Tools: []tool.Tool{}, Imports: []string{}}
	if s.Unlisted {
		return listing, nil
	}
	listing.Options = s.Options
	for _, t := range s.Tools {
		listing.Tools = append(listing.Tools, tool.Tool{
			Plugin: src.ID, Name: t.Name, Title: t.Name,
			Description: t.Description, Dialect: w.facts.Name, File: m.Entry,
		})
	}
	return listing, nil
}

// Spec implements plugin.Dialect. The path travels as the only argument.
func (w *World) Spec(_ context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	w.mu.Lock()
	w.starts[src.ID] = start
	w.mu.Unlock()
	return sandbox.Spec{Kind: "command", Argv: append([]string{pathOf(src), src.ID}, m.Files...)}, nil
}

// Confinement implements sandbox.Launcher.
func (w *World) Confinement() sandbox.Confinement {
	return sandbox.Confinement{Level: "process+landlock"}
}

// Start implements sandbox.Launcher.
func (w *World) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return w.run(newProcess(w, spec.Argv[1], spec.Argv[0], spec.Argv[2:])), nil
}

func (w *World) run(p *Process) *Process {
	w.mu.Lock()
	w.started = append(w.started, p.id)
	before := w.before
	w.mu.Unlock()
	if before != nil {
		before(p.id)
	}
	w.mu.Lock()
	w.running[p] = struct{}{}
	w.mu.Unlock()
	go p.run() // ends with the process; whoever waits for its Done waits for it
	return p
}

func (w *World) gone(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, p)
}

func (w *World) onEvent(id, name string, payload json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, id+" "+name+" "+string(payload))
}
