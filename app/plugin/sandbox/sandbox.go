// Package sandbox defines how a process in a sandbox is described: what it may read,
// write and start, and how whoever started it controls it. The host of plugins and the
// program that becomes a plugin's process (app/cmd/conclave-worker) share these types;
// plugin/worker starts the processes, plugin/worker/confine sets up the sandbox.
package sandbox

import (
	"context"
	"io"
	"strings"
	"time"
)

// TooMuchMemory is the reason for which a process over its memory was ended.
const TooMuchMemory = "It took more memory than a plugin may have."

// Spec describes one process and its sandbox.
type Spec struct {
	// "js", "pdf": the engine, the reader of PDFs inside conclave-worker · "command":
	// Argv, behind the launcher
	Kind string
	Argv []string
	Env  []string // the whole environment; nothing is inherited
	Dir  string
	// Input is the process's configuration, which holds what the person set and is
	// nobody else's to read: a "js" worker has it from its spec (a JSON value), a
	// "command" as the first thing on its standard input, behind a line with its
	// length. Other programs of this computer can read Argv.
	Input []byte

	Read    []string // files and folders it may read
	Execute []string // files it may read and execute
	Write   []string // folders it may read and write
	// Exact are those of the paths above that held no link when they were looked at. One that leads
	// over a link once the sandbox is put up is left out: another program put it there since.
	Exact   []string
	Sockets bool // may open sockets; false refuses every kind
	// Proxy is the address of this computer, as 127.0.0.1:4711, to which alone its
	// sockets connect, over TCP; empty leaves them everything of the internet.
	Proxy string
	// Held says that the launcher makes the connections of the process, none of which
	// then goes elsewhere than to Proxy. The launcher sets it.
	Held  bool
	Spawn bool // may start other programs

	// Listens reports that the process may ask for ports of this computer, to which only processes of its
	// plugin connect. Listen decides about each; Ports knows those of all processes of the plugin. The
	// launcher lets none listen where it cannot hold them to that.
	Listens bool
	Listen  Listener `json:"-"`
	Ports   *Ports   `json:"-"`

	// Open decides about a file or folder that the process may not open by itself and asks
	// for; nil: nobody is asked. path has its links resolved, its last part may not exist
	// yet. It may block until ctx ends.
	Open func(ctx context.Context, path string, write bool) Opening `json:"-"`
	// Opens says that such files are opened by the launcher. The launcher sets it.
	Opens bool

	Memory    int64 // RLIMIT_DATA in bytes; 0 = the default of its kind
	FileBytes int64 // RLIMIT_FSIZE in bytes
	Files     uint64

	// Line is the number of bytes a line of its output may have; 0 = wire.MaxLine.
	Line int64

	// Patience is the time that it may take to end by itself once its input has ended;
	// 0 = the default, which is enough for whatever has nothing to shut down.
	Patience time.Duration
	// Notice is the time that it, and what it started, may take to end after they were asked to (SIGTERM), once
	// Patience is over; 0 = none.
	Notice time.Duration
}

// Opening is a decision about a file.
type Opening int

// The decisions.
const (
	NotAsked Opening = iota // nobody decided: it is as the sandbox has it
	Refused
	Opened // it is opened for the process
)

// ScriptMemory is the default of Memory for a "js" worker. It leaves the Go runtime
// room in addition to the engine's heap of 64 MiB; with less than 128 MiB its start
// fails now and then.
const ScriptMemory = 192 << 20

// PythonMemory is the Memory of a Python worker, and the default of any that is no "js"
// worker: an interpreter with its libraries and its threads' stacks takes 60 MiB of it,
// the rest is the plugin's, past which it sees MemoryError.
const PythonMemory = 256 << 20

// EcosystemMemory is the Memory of a Python worker for plugins of another program. What
// they import (pydantic, httpx, images) takes twice what a plugin of functions does.
const EcosystemMemory = 512 << 20

// NotStarted is the exit status of a process that could not become the program of its
// spec; it wrote the reason to standard error.
const NotStarted = 127

// Launcher starts processes in a sandbox. plugin/worker is the real one.
type Launcher interface {
	// Start starts one process. It returns once the process exists, not once it
	// is ready. The error is a *Problem when the person can do something.
	Start(ctx context.Context, spec Spec) (Process, error)
	// Confinement describes which sandbox this system has.
	Confinement() Confinement
}

// Confinement describes what holds a process on this system.
type Confinement struct {
	// Level is printed by the command line as "isolation": process+landlock,
	// process or none.
	Level string
	// Sentence stands on the plugin's card when Level is not the best:
	// "Runs as you, not isolated." Empty otherwise.
	Sentence string
	// Network stands on the card of a plugin that may use the network, where the
	// system does not hold its connections to Spec.Proxy. Empty otherwise.
	Network string
	// Ports stands on the card of a plugin that may listen on ports, where the system cannot turn away
	// connections by others. Empty otherwise.
	Ports string
	// Found says for a card what a process with a sandbox of the best level can still learn of files that it
	// may not open. Empty otherwise.
	Found string
}

// NotHeld is the sentence of a system that leaves connections to the process.
const NotHeld = "Its connections are to go through Conclave, but this system does not hold it to that: " +
	"it could connect elsewhere, unseen."

// NoPorts is the sentence of a system on which no plugin is let listen on a port.
const NoPorts = "It is let listen on no port here, since nothing would keep other programs from it."

// None is the confinement of a system without a sandbox, as macOS and Windows are.
func None() Confinement {
	return Confinement{Level: "none", Sentence: "Runs as you, not isolated.", Network: NotHeld, Ports: NoPorts}
}

// Note returns what a person should know of the sandbox of a plugin; network and ports say
// whether that may use the network, and listen on ports.
func (c Confinement) Note(network, ports bool) string {
	said := c.Sentence
	if network {
		said = strings.TrimSpace(said + " " + c.Network)
	}
	if ports {
		said = strings.TrimSpace(said + " " + c.Ports)
	}
	return said
}

// Process is one running child.
type Process interface {
	// Wire is the child's standard output (to read) and input (to write). It
	// enforces the bound on one line; past it, Read fails with ErrFlooded.
	Wire() io.ReadWriteCloser
	// Done is closed when the process has been reaped.
	Done() <-chan struct{}
	// Exit describes how it ended, once Done is closed: "exit 3", "signal: killed".
	Exit() string
	// Stderr returns the last 64 KiB of its standard error.
	Stderr() string
	// End closes its input, waits a moment, and kills its whole group. It
	// returns once the process is reaped, and may be called more than once.
	End()
	// Kill ends it at once.
	Kill()
	// Usage reads what it has used so far; zero where the system does not say.
	Usage() Usage
	// Deleted returns the bytes on disk of files that no folder holds any more and
	// the process still has open; 0 where the system does not say. It is asked
	// after calls, at most once a second.
	Deleted() int64
}

// Usage counts what a process has used.
type Usage struct {
	CPU time.Duration
	// Waited is the time that its first thread could have run and did not, since others had the
	// processors. Linux alone says so.
	Waited time.Duration
	Memory int64 // proportional set size in bytes, resident size where that is unknown
}
