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
	// *Problem.
	Recognize(ctx context.Context, src Source) (*Manifest, error)
	// Inspect tells what can be told without running any of the plugin's code.
	// Source that cannot be read as its language is a *Problem.
	Inspect(ctx context.Context, src Source, m Manifest) (Listing, error)
	// Spec describes the process to start. A missing interpreter is a *Problem
	// of kind unavailable.
	Spec(ctx context.Context, src Source, m Manifest, place Place) (sandbox.Spec, error)
}

// Sourcer is a Dialect whose plugins write beside their code. What they write is
// no edit: only the files it names count.
type Sourcer interface {
	// Sources returns the files of src that are its code, relative and sorted, as
	// Manifest.Files will; false when src is not of this dialect.
	Sources(src Source) ([]string, bool)
}
