package plugin

import (
	"context"
	"encoding/json"

	"conclave/app/plugin/sandbox"
)

// Dialect recognises the plugins of one ecosystem and knows how to run them. The life
// of a plugin: Recognize (read) → Inspect (read) → the person approves it → Spec → its
// process starts and initializes over the wire (docs/WIRE.md) → it lists its tools →
// calls → end. Methods are safe for concurrent use.
type Dialect interface {
	// Facts say what is special about its plugins. They are the same at every call.
	Facts() Facts
	// Recognize reads src and returns its manifest, or nil when another dialect
	// should be asked. A plugin that is clearly this dialect's but broken is a
	// *Problem. A source without files is asked of its own dialect alone.
	Recognize(ctx context.Context, src Source) (*Manifest, error)
	// Inspect tells what can be told without running any of the plugin's code.
	// Source that cannot be read as its language is a *Problem.
	Inspect(ctx context.Context, src Source, m Manifest) (Listing, error)
	// Spec describes the process to start. A missing interpreter is a *Problem
	// of kind unavailable.
	Spec(ctx context.Context, src Source, m Manifest, start StartOptions) (sandbox.Spec, error)
}

// Connector is a Dialect whose plugins are no processes that Conclave starts: Connect
// reaches them at an address, or in memory. The host does not call its Spec.
type Connector interface {
	Dialect
	// Connect reaches the plugin, in place of starting it. It returns once there is a
	// connection, not once the plugin is ready. The error is a *Problem when the
	// person can do something.
	Connect(ctx context.Context, src Source, m Manifest, start StartOptions) (Connection, error)
	// Confinement says what holds its plugins.
	Confinement() sandbox.Confinement
}

// Adapter is a Dialect whose processes speak a protocol of their own. The host starts
// one as its Spec says, and speaks over what Adapt makes of it.
type Adapter interface {
	Dialect
	// Adapt puts what the host speaks (docs/WIRE.md) on top of a process that has just
	// been started. Whatever goes wrong is told when the connection is initialized.
	Adapt(process sandbox.Process, src Source, m Manifest) Connection
}

// Connection is a running plugin to the host: a process in a sandbox, an address, or
// something in memory. The host ends it when the plugin is idle, and connects again
// for the next call.
type Connection = sandbox.Process

// Asker is a Connection that can be asked in the words of its own dialect: recorded calls name
// such a question by its event.
type Asker interface {
	// Ask asks, and returns the answer as JSON; null for what is told and not answered. The
	// error is a sentence of what went wrong.
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// CodeLister is a Dialect whose plugins write files into the folder of their code.
// What they write is no edit: only the files that CodeFiles names count.
type CodeLister interface {
	// CodeFiles returns the files of src that are its code, relative and sorted, as
	// Manifest.Files will; false when src is not of this dialect.
	CodeFiles(src Source) ([]string, bool)
}

// Prober is a Dialect whose plugins run elsewhere, and may have ended.
type Prober interface {
	Dialect
	// Probe looks whether what would be called answers, and calls none of it. The
	// *Problem says what does not; nil is that all of it does.
	Probe(ctx context.Context, src Source) *Problem
}
