// Package job defines the configuration with which Conclave starts a worker for one
// Spindle plugin. It is its own package so that neither side imports the other:
// the window knows no engine, and the engine knows no host. See [Config].
package job

import (
	"encoding/json"
	"time"
)

// Config says all that a worker needs to run one plugin: the Input of a
// sandbox.Spec of kind "js". Zero durations and sizes mean the defaults below.
type Config struct {
	// Plugin is the plugin's id. It names the plugin in its log.
	Plugin string `json:"plugin"`
	// Folder is the absolute folder the plugin's modules are read from. For a
	// plugin of one file it is the folder of that file; nothing else in it may be
	// read.
	Folder string `json:"folder"`
	// Single says that the plugin is one file.
	Single bool `json:"single,omitempty"`
	// Entry is the module that is evaluated, relative to Folder, with slashes.
	// Empty means that the plugin has no backend; it is then ready at once and
	// has no tools.
	Entry string `json:"entry"`
	// Manifest becomes spindle.manifest.
	Manifest json.RawMessage `json:"manifest"`
	// Identifier is the author's own id, which notices about permissions carry.
	Identifier string `json:"identifier"`
	// Permissions are those the plugin asks for. They count as granted when
	// whoever is on the other side cannot say what is granted.
	Permissions []string `json:"permissions"`
	// Sources holds the text of every source file by its relative path, for
	// systems whose sandbox forbids a worker to open files at all. When it is not
	// nil, nothing is read from Folder.
	Sources map[string]string `json:"sources,omitempty"`
	// Built is a folder of what was built of the plugin's TypeScript before
	// ([BuiltName]), which may not exist. Empty means that nothing is kept.
	Built string `json:"built,omitempty"`

	HeapBytes   int64 `json:"heap_bytes,omitempty"`    // limit of the JavaScript heap
	LoadBusyMS  int64 `json:"load_busy_ms,omitempty"`  // computing time allowed while loading
	LoadTotalMS int64 `json:"load_total_ms,omitempty"` // after this a plugin that still awaits counts as loaded
	CallMS      int64 `json:"call_ms,omitempty"`       // a call that brings no deadline
	IdleBusyMS  int64 `json:"idle_busy_ms,omitempty"`  // computing in one go while no call is open
}

// The defaults of Config.
const (
	// DefaultHeap holds the largest bundle measured (1.8 MB of source, 21 MB of
	// heap) three times over, and stops an allocation bomb in 0.3 s.
	DefaultHeap = 64 << 20
	// DefaultLoadBusy is ten times what a 540 KB bundle needs.
	DefaultLoadBusy = 2 * time.Second
	// DefaultLoadTotal is upstream's cap (contracts/spindle, section 4.3), half a second
	// early so that the answer is there before plugin.LoadTimeout ends.
	DefaultLoadTotal = 9500 * time.Millisecond
	// DefaultCall is the time that a call may take (contracts/spindle, section 7.9).
	DefaultCall = 30 * time.Second
	// DefaultIdleBusy is the time after which computing that nobody asked for
	// is taken for an endless loop.
	DefaultIdleBusy = 5 * time.Second
)

// ordinary is the size of a backend that the defaults are enough for: more than
// twice the largest bundle that is common (1.8 MB).
const ordinary = 4 << 20

// Fit raises the limits for a backend of size bytes: memory for its text and code,
// and time to read it. The largest seen has 11.4 MB. It returns the memory that its
// process needs in addition.
func (c *Config) Fit(size int64) (more int64) {
	if size <= ordinary {
		return 0
	}
	heap := 20 * size // code written densely; text in it costs less
	c.HeapBytes = DefaultHeap + heap
	c.LoadBusyMS = DefaultLoadTotal.Milliseconds()
	return heap + 6*size // the file itself, as it is read and passed on
}

// WithDefaults returns c with every zero limit replaced by its default.
func (c Config) WithDefaults() Config {
	set := func(field *int64, value int64) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.HeapBytes, DefaultHeap)
	set(&c.LoadBusyMS, DefaultLoadBusy.Milliseconds())
	set(&c.LoadTotalMS, DefaultLoadTotal.Milliseconds())
	set(&c.CallMS, DefaultCall.Milliseconds())
	set(&c.IdleBusyMS, DefaultIdleBusy.Milliseconds())
	if len(c.Manifest) == 0 {
		c.Manifest = json.RawMessage("{}")
	}
	return c
}
