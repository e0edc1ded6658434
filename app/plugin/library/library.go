// Package library changes the plugins folder: it adds plugins from a file, a folder,
// an archive or a repository, makes new ones from templates, updates and removes them,
// undoes both, and makes the recorded calls of a plugin's tests. It starts no plugin, and
// approves only those that Conclave wrote itself; plugin/host loads what is in the
// folder.
//
// Read [Library] first.
package library

import (
	"log/slog"
	"sync"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
)

// Options configure a Library. All fields are required.
type Options struct {
	Dir  string     // the plugins folder; may not exist yet
	Data string     // Conclave's data folder, on whose disk plugins are put together
	Host *host.Host // loads what lies in Dir
	Gate *gate.Gate
	Log  *slog.Logger

	Templates []plugin.Template // the kinds that New can make
}

// Library changes what lies in one plugins folder. Its methods are safe for
// concurrent use. Use New before the host reads the folder for the first time.
type Library struct {
	o Options

	mu sync.Mutex // guards withdrawn
	// withdrawn holds what removed plugins had of the gate, by where they are kept.
	withdrawn map[string]removal
}

// New returns a library, after it undid what an ended program left unfinished.
func New(o Options) *Library {
	l := &Library{o: o, withdrawn: map[string]removal{}}
	l.clearStaging()
	return l
}
