package plugin

import (
	"context"

	"conclave/app/plugin/sandbox"
)

// Dialect recognises the plugins of one ecosystem and knows how to run them. A
// plugin's life: Recognize (read) → Inspect (read) → the person approves → Spec
// → the process starts and is handshaken over the wire (docs/WIRE.md) → list →
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
	Spec(ctx context.Context, src Source, m Manifest, place Place) (sandbox.Spec, error)
}

// Connector is a Dialect whose plugins are no processes that Conclave starts: it
// reaches them at an address, or in memory. Its Spec is not asked.
type Connector interface {
	Dialect
	// Connect reaches the plugin, in place of starting it. It returns once there is a
	// connection, not once the plugin is ready. The error is a *Problem when the
	// person can do something.
	Connect(ctx context.Context, src Source, m Manifest, place Place) (Connection, error)
	// Confinement says what holds its plugins.
	Confinement() sandbox.Confinement
}

// Connection is a running plugin as the host talks to it: a process behind walls,
// an address, or something in memory. The host ends it when the plugin rests, and
// connects anew when it is wanted again.
type Connection = sandbox.Process

// Sourcer is a Dialect whose plugins write beside their code. What they write is
// no edit: only the files it names count.
type Sourcer interface {
	// Sources returns the files of src that are its code, relative and sorted, as
	// Manifest.Files will; false when src is not of this dialect.
	Sources(src Source) ([]string, bool)
}
