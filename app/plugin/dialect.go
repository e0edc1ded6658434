package plugin

import (
	"context"
	"time"

	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
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

// Connector is a Dialect with plugins that are not processes which Conclave starts. The host does not
// call Spec for those.
type Connector interface {
	Dialect
	// Connects reports whether the plugin is such a one.
	Connects(m Manifest) bool
	// Connect returns the backend that reaches the plugin. The error is a *Problem when the person can do
	// something.
	Connect(ctx context.Context, src Source, m Manifest, start StartOptions, to Listener) (Backend, error)
	// Confinement describes the sandbox of its plugins.
	Confinement() sandbox.Confinement
}

// Adapter is a Dialect whose processes speak a protocol of their ecosystem. The host starts one as
// its Spec describes.
type Adapter interface {
	Dialect
	// Adapt greets a process that was just started, and returns the backend that talks to it. The host ends
	// the process. The error is a *Problem, or the cause of ctx's end; the process has not been ended then.
	Adapt(ctx context.Context, process sandbox.Process, src Source, m Manifest, to Listener) (Backend, error)
}

// Splitter is a Dialect whose plugins are the entries of configuration files.
type Splitter interface {
	Dialect
	// Split returns the plugins of the file or folder at src, which is in the plugins folder; ok is false
	// where that is not of this dialect. Their ids begin with the id of src. What cannot be read is a source
	// that Recognize refuses. It is called at each look at the plugins folder.
	Split(src Source) (all []Source, ok bool)
}

// Patient is a Dialect whose plugins may take another time to load than LoadTimeout. Loads of its plugins hold up
// nothing: no chat waits for one.
type Patient interface {
	Dialect
	// LoadTime returns the time for the first start of a version, and for those after it. The first is longer where
	// starting it installs something.
	LoadTime(m Manifest) (first, later time.Duration)
}

// Tidier is a Dialect that makes files below Conclave's folder for its plugins (StartOptions.Runtime).
type Tidier interface {
	Dialect
	// Tidy removes what it made for versions of plugins whose digests are not there, except what was used since
	// Conclave started.
	Tidy(runtime string, digests []string) error
}

// SignsIn is a Dialect whose plugins may want the person to sign in to a service.
type SignsIn interface {
	Dialect
	// SignIn signs the person in for a plugin, on their act. It shows the page and waits for the person. Calls at
	// once for one plugin are one sign-in. The error is a fault, or the cause of ctx's end; of kind not_found where
	// the plugin wants no sign-in, as far as is known, and a *ServicesError where the person has to choose.
	SignIn(ctx context.Context, src Source, m Manifest, how Signing) error
	// SignOut forgets the sign-in, and has the service forget it where that is offered. The error is as
	// that of SignIn.
	SignOut(ctx context.Context, src Source, m Manifest) error
	// SignedIn returns the address of the service where the person is signed in, empty where they are not, and
	// a sentence that says why calls fail until they sign in, empty where they do not. It reads no keychain.
	SignedIn(id string) (service, need string)
}

// ProgramChooser is a Dialect whose plugins are started with programs of the person's computer. For a command that
// is not found, the person can choose one (Problem.Program).
type ProgramChooser interface {
	Dialect
	// ChooseProgram has a command be the program at path, for all plugins. The error is a sentence.
	ChooseProgram(command, path string) error
}

// Describer is a Dialect with facts about its plugins for their cards.
type Describer interface {
	Dialect
	// Describe returns them, from what reading a plugin showed and the tools that it listed.
	Describe(id string, m Manifest, tools []tool.Tool) []Fact
}

// Fact is one line about a plugin on its card: “Protocol”, “MCP 2025-11-25”.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
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
