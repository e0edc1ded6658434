package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The rings, from the bottom up, as the rows of the drawing in docs/ARCHITECTURE.md.
const (
	words = iota
	interfaces
	doers
	adapters
	fronts
	builders
	programs
	onlyTests
)

// layers lists what each package may import, ring by ring: packages of Conclave by their
// path below the module, others by the beginning of theirs. A package that is not here
// fails the test, so that a new one gets its place before it gets callers. What each one is
// for is in docs/ARCHITECTURE.md.
//
// Arrows point at what is imported, and never up: a word knows no interface, an interface no
// doer, a doer no adapter, and nobody the window. A row that says otherwise fails, too.
var layers = []map[string][]string{
	words: {
		// The standard library, and chat its errors; plugins are files alone.
		"app/base/fault":      {},
		"app/base/bus":        {},
		"app/base/version":    {},
		"app/base/limit":      {},
		"app/base/language":   {"golang.org/x/sys"},
		"app/base/pattern":    {},
		"app/base/hidden":     {},                                       // characters that nobody sees
		"app/base/shorten":    {},                                       // texts that are longer than there is room for
		"app/base/place":      {"app/base/fault"},                       // where paths lie
		"app/net/address":     {},                                       // which addresses are nobody's to ask
		"app/base/jsonobject": {},                                       // members and texts of JSON in their order
		"app/base/textdiff":   {"github.com/rogpeppe/go-internal/diff"}, // two texts line by line
		"app/chat":            {"app/base/fault", "app/base/place"},
		"app/chat/prompt":     {"app/base/fault", "app/base/pattern"}, // texts that a person saved, with places
		"app/model/cost":      {"app/base/fault", "app/chat"},         // of requests to models
		"app/record/activity": {"app/chat"},                           // the record of what tools did, as a chain
		"plugins":             {},
	},
	interfaces: {
		// Words, and the one library each of them is about.
		"app/model": {"app/base/fault", "app/chat", "app/net/loopback", "app/base/hidden"},
		"app/tool":  {"app/chat", "app/base/hidden", "app/base/jsonobject"},
		// what plugins ask the person
		"app/tool/elicit": {
			"app/base/bus", "app/base/fault", "app/chat", "app/tool", "github.com/google/uuid", "golang.org/x/net/idna",
		},
		"app/gate": {
			"app/base/fault",
			"app/base/bus",
			"app/record/activity",
			"app/chat",
			"app/net/address",
			"app/base/jsonobject",
			"app/base/textdiff",
			"app/base/place",
			"golang.org/x/net/idna", // hosts as the name service knows them
			"golang.org/x/text",     // what names look like
		},
		"app/chat/render": {
			"app/base/hidden",
			"app/chat/render/syntax",
			"github.com/yuin/goldmark",
			"golang.org/x/net/html",
			"golang.org/x/net/idna",
		},
		"app/chat/render/syntax": {},
		"app/base/settings":      {"app/base/fault", "app/base/language", "app/model/cost"},
		// What a council is, and how its deliberation goes on: a state machine without effects.
		"app/council":       {"app/base/fault", "app/chat", "app/model/cost", "app/model", "app/tool"},
		"app/plugin/wire":   {"github.com/modelcontextprotocol/go-sdk"},
		"app/plugin/watch":  {"app/base/fault", "app/base/place", "github.com/fsnotify/fsnotify"},
		"app/plugin/safefs": {"app/base/place"},
		// What dialects, services, launcher, host, window and terminal must agree on.
		"app/plugin": {
			"app/base/fault", "app/chat", "app/tool", "app/tool/elicit", "app/gate", "app/plugin/watch", "app/plugin/sandbox",
			"app/base/place",
		},
		"app/plugin/sandbox":             {}, // what a process behind walls is described by
		"app/plugin/dialect/spindle/job": {}, // what the host and the engine both know of a job
		// MCP servers as people write them down, and the programs they start with: pure, so that fronts may ask.
		// one such server, over standard streams or HTTP
		"app/plugin/dialect/mcp/client": {
			"app/base/fault", "app/base/jsonobject", "app/base/shorten", "app/tool", "app/tool/elicit",
			"github.com/modelcontextprotocol/go-sdk",
		},
		// signing in to MCP servers
		"app/plugin/dialect/mcp/auth": {
			"app/base/fault", "app/base/hidden", "app/net/address", "app/net/fetch", "app/net/loopback",
			"github.com/modelcontextprotocol/go-sdk",
		},
		"app/plugin/dialect/mcp/config":   {"app/net/address", "go.yaml.in/yaml/v4"},
		"app/plugin/dialect/mcp/runtimes": {"app/base/place"},
		"app/plugin/dialect/mcp/bundle":   {"app/plugin/dialect/mcp/config", "golang.org/x/text"},
		"app/chat/document":               {"golang.org/x/text"}, // what files are, and what models are shown of them
		"app/net/fetch":                   {"app/net/address"},   // what plugins and the window both ask servers with
		// the way out of plugins' processes
		"app/net/egress": {"app/net/address", "app/net/fetch", "app/net/loopback"},
		// HTTP for the programs of this computer
		"app/net/loopback": {"app/base/fault", "golang.org/x/sys"},
		// What a page shows of a conversation: of words and interfaces alone.
		// What the transcript and the views of both fronts show alike.
		"app/chat/showing": {"app/chat"},
		"app/chat/transcript": {
			"app/base/fault", "app/chat", "app/base/jsonobject", "app/tool", "app/chat/render", "app/chat/showing",
		},
	},
	doers: {
		// Words, interfaces, and the neighbours named.
		"app/tool/hook": {"app/base/fault", "app/chat", "app/model", "app/tool", "app/gate", "app/base/textdiff"},
		"app/tool/call": {
			"app/base/fault",
			"app/chat",
			"app/tool/hook",
			"app/tool",
			"app/tool/elicit",
			"app/gate",
			"github.com/google/uuid",
			"golang.org/x/sync",
		},
		// Tools for other programs, over the protocol and over HTTP.
		"app/tool/mcpserver": {
			"app/base/fault", "app/base/bus", "app/base/version", "app/chat", "app/gate", "app/net/loopback", "app/tool",
			"app/tool/call", "app/tool/hook", "github.com/modelcontextprotocol/go-sdk",
		},
		"app/chat/turn": {
			"app/base/fault",
			"app/chat",
			"app/tool/call",
			"app/tool/hook",
			"app/chat/document",
			"app/model",
			"app/tool",
			"app/gate",
			"github.com/google/uuid",
		},
		// What calls changed, as it was before: it knows neither plugins nor the store.
		"app/record/undo": {"app/base/fault", "app/base/place", "app/plugin/safefs", "golang.org/x/sys"},
		"app/plugin/host": {
			"app/base/fault",
			"app/base/bus",
			"app/chat",
			"app/base/jsonobject",
			"app/tool",
			"app/tool/elicit",
			"app/gate",
			"app/plugin",
			"app/plugin/wire",
			"app/base/place",
			"app/plugin/watch",
			"app/plugin/safefs",
			"app/plugin/sandbox",
			"app/base/version",
			"app/chat/document",
		},
		"app/plugin/library": {
			"app/base/fault", "app/chat", "app/tool", "app/gate", "app/plugin", "app/plugin/host", "app/plugin/watch",
			"app/plugin/safefs",
		},
		// Who writes in a chat: above turns and calls, and asked by all that follow.
		"app/chat/conversation": {"app/base/fault", "app/chat", "app/tool/call", "app/chat/turn", "app/gate"},
		// Models by name, over the person's connections; it knows no vendor.
		"app/model/connections": {
			"app/base/fault", "app/base/place", "app/base/settings", "app/chat", "app/model", "app/model/cost",
		},
		// Who answers a message: the model of its chat, and the council.
		"app/chat/responder": {
			"app/base/settings", "app/chat", "app/council", "app/council/deliberation", "app/model",
		},
		// Chats as files.
		"app/chat/exchange": {
			"app/base/fault", "app/base/limit", "app/base/jsonobject", "app/chat", "app/council", "app/tool",
			"github.com/google/uuid",
		},
		// PDFs, read in processes.
		"app/chat/document/pdfprocess": {"app/chat/document", "app/plugin/sandbox"},
		// Which files of calls are kept, and what of that is on record.
		"app/record/changes": {
			"app/base/place", "app/chat", "app/gate", "app/record/activity", "app/record/undo",
		},
		// The port at which programs register tools.
		"app/plugin/toolport": {"app/base/bus", "app/base/fault", "app/base/settings", "app/net/loopback"},
		// Councils: above the owner of chats, through whom members speak.
		"app/council/deliberation": {
			"app/base/fault",
			"app/base/bus",
			"app/chat",
			"app/model",
			"app/tool",
			"app/gate",
			"app/tool/hook",
			"app/tool/call",
			"app/chat/turn",
			"app/chat/conversation",
			"app/council",
			"app/model/cost",
			"github.com/google/uuid",
		},
		"app/service": {
			"app/base/fault",
			"app/base/bus",
			"app/chat",
			"app/model/cost",
			"app/council",
			"app/chat/conversation",
			"app/tool/hook",
			"app/model",
			"app/tool",
			"app/base/settings",
			"app/plugin",
			"app/net/fetch",
			"app/chat/document",
			"github.com/google/uuid",
		},
		// Conclave's events, as plugins get them.
		"app/service/events": {
			"app/chat", "app/council", "app/council/deliberation", "app/plugin/host", "app/service",
		},
		// What the dialects of Python plugins are built on, and their packages.
		"app/plugin/python": {
			"app/base/fault",
			"app/base/place",
			"app/tool",
			"app/gate",
			"app/plugin",
			"app/plugin/safefs",
			"app/plugin/sandbox",
			"github.com/BurntSushi/toml",
		},
		"app/plugin/packages": {
			"app/base/fault", "app/tool", "app/plugin", "app/plugin/host", "app/plugin/safefs", "app/plugin/sandbox",
			"app/plugin/python", "github.com/BurntSushi/toml",
		},
	},
	adapters: {
		// The package whose interface they satisfy and what lies below it, one technology,
		// never each other.
		"app/chat/document/pdf": {"app/chat/document", "github.com/ledongthuc/pdf"},
		"app/base/keys":         {"app/base/fault", "filippo.io/age", "github.com/zalando/go-keyring"},
		"app/terminal/remote":   {"app/base/fault", "golang.org/x/sys"},
		"app/model/demo":        {"app/chat", "app/base/jsonobject", "app/base/language", "app/model"},
		"app/model/openai":      {"app/chat", "app/model"},
		"app/model/anthropic":   {"app/chat", "app/model"},
		"app/model/google":      {"app/chat", "app/model"},
		"app/model/ollama":      {"app/model"},
		"app/plugin/dialect/functions": {
			"app/tool", "app/plugin", "app/plugin/safefs", "app/plugin/sandbox", "app/plugin/python",
			"github.com/BurntSushi/toml",
		},
		"app/plugin/dialect/maibot": {
			"app/base/fault", "app/tool", "app/plugin", "app/plugin/safefs", "app/plugin/sandbox", "app/plugin/python",
		},
		"app/plugin/dialect/neko": {
			"app/tool", "app/plugin", "app/plugin/safefs", "app/plugin/sandbox", "app/plugin/wire", "app/plugin/python",
			"github.com/BurntSushi/toml",
		},
		// Hooks of turns are its plugins' trade: it knows the points they come to.
		"app/plugin/dialect/picoclaw": {
			"app/base/fault",
			"app/chat",
			"app/model",
			"app/tool",
			"app/gate",
			"app/tool/hook",
			"app/chat/turn",
			"app/plugin",
			"app/base/place",
			"app/plugin/safefs",
			"app/plugin/watch",
			"app/base/jsonobject",
			"app/plugin/sandbox",
			"app/plugin/python",
		},
		// tools that programs register over HTTP
		"app/plugin/dialect/httptools": {
			"app/base/fault",
			"app/net/address",
			"app/net/loopback",
			"app/chat",
			"app/gate",
			"app/tool",
			"app/tool/call",
			"app/tool/hook",
			"app/plugin",
			"app/plugin/sandbox",
		},
		// what the conformance suite has a client do
		"app/plugin/dialect/mcp/conformance": {
			"app/base/fault", "app/plugin/dialect/mcp/auth", "app/plugin/dialect/mcp/client", "app/tool/elicit",
		},
		// servers of the Model Context Protocol
		"app/plugin/dialect/mcp": {
			"app/base/fault", "app/base/place", "app/base/version", "app/chat", "app/gate", "app/net/fetch", "app/plugin",
			"app/plugin/dialect/mcp/auth",
			"app/plugin/dialect/mcp/bundle", "app/plugin/dialect/mcp/client", "app/plugin/dialect/mcp/config",
			"app/plugin/dialect/mcp/runtimes",
			"app/plugin/safefs", "app/plugin/sandbox", "app/tool", "app/tool/elicit",
		},
		"app/plugin/dialect/spindle": {
			"app/base/fault", "app/tool", "app/gate", "app/plugin", "app/plugin/safefs", "app/plugin/sandbox",
			"app/plugin/dialect/spindle/job",
		},
		"app/plugin/dialect/spindle/engine": {
			"app/plugin/wire", "app/plugin/dialect/spindle/job", "modernc.org/quickjs", "github.com/evanw/esbuild",
			"github.com/google/uuid", "github.com/nlnwa/whatwg-url/url",
		},
		"app/plugin/worker": {
			"app/net/loopback", "app/plugin", "app/plugin/sandbox", "app/plugin/wire",
			"golang.org/x/sys",
		},
		"app/plugin/worker/confine": {
			"app/base/version", "app/plugin/sandbox",
			"github.com/landlock-lsm/go-landlock", "golang.org/x/sys",
		},
		"store": {
			"app/base/fault",
			"app/chat",
			"app/chat/prompt",
			"app/model/cost",
			"app/record/activity",
			"app/council",
			"app/base/jsonobject",
			"app/gate",
			"go.etcd.io/bbolt",
			"github.com/google/uuid",
			"golang.org/x/sys",
		},
		"store/search": {
			"app/base/fault", "app/chat", "github.com/clipperhouse/uax29/v2",
			"golang.org/x/text", "golang.org/x/sys",
		},
	},
	fronts: {
		// What a person sees, as values: made of words, interfaces and doers alone.
		"app/view": {
			"app/base/fault", "app/base/settings", "app/base/textdiff", "app/chat", "app/chat/showing", "app/council",
			"app/gate", "app/model", "app/model/cost", "app/plugin", "app/record/activity", "app/tool",
			"app/tool/elicit",
			"app/tool/mcpserver",
		},
		// The window and the terminal: words, interfaces, doers; never an adapter.
		"app/window": {
			"app/record/undo",
			"app/base/fault",
			"app/base/place",
			"app/base/bus",
			"app/chat",
			"app/chat/prompt",
			"app/record/activity",
			"app/model/cost",
			"app/model",
			"app/model/connections",
			"app/plugin/toolport",
			"app/tool",
			"app/tool/mcpserver",
			"app/net/loopback",
			"app/tool/elicit",
			"app/gate",
			"app/base/settings",
			"app/base/language",
			"app/chat/showing",
			"app/chat/transcript",
			"app/chat/turn",
			"app/chat/conversation",
			"app/chat/responder",
			"app/chat/exchange",
			"app/council",
			"app/council/deliberation",
			"app/plugin",
			"app/plugin/host",
			"app/plugin/library",
			"app/plugin/packages",
			"app/service",
			"app/net/fetch",
			"app/chat/render",
			"app/base/textdiff",
			"app/tool/hook",
			"app/view",
			"github.com/wailsapp/wails/v2/pkg/runtime",
			"github.com/google/uuid",
		},
		"app/terminal": {
			"app/chat/showing",
			"app/record/undo",
			"app/base/place",
			"app/base/fault",
			"app/chat",
			"app/record/activity",
			"app/base/jsonobject",
			"app/tool/call",
			"app/net/loopback",
			"app/tool/mcpserver",
			"app/model",
			"app/model/connections",
			"app/plugin/toolport",
			"app/tool",
			"app/tool/elicit",
			"app/gate",
			"app/model/cost",
			"app/base/textdiff",
			"app/base/settings",
			"app/base/language",
			"app/chat/responder",
			"app/chat/exchange",
			"app/chat/turn",
			"app/council",
			"app/council/deliberation",
			"app/plugin",
			"app/plugin/host",
			"app/plugin/library",
			"app/plugin/packages",
			"app/service",
			"app/base/version",
			"app/view",
			"github.com/spf13/cobra",
			"github.com/spf13/pflag",
			"github.com/google/uuid",
		},
	},
	builders: {
		// The core knows everything but the window, the index (whose start costs) and the
		// engine (which only a worker may run); windowstore is what of it is the window's.
		"app/core": {
			"app/base/language",
			"app/plugin/dialect/mcp/conformance",
			"app/net/address",
			"app/record/undo",
			"app/record/activity",
			"app/base/fault",
			"app/base/bus",
			"app/base/version",
			"app/chat",
			"app/model/cost",
			"app/tool/call",
			"app/tool/mcpserver",
			"app/chat/conversation",
			"app/chat/responder",
			"app/chat/exchange",
			"app/tool/hook",
			"app/council",
			"app/council/deliberation",
			"app/model",
			"app/tool",
			"app/tool/elicit",
			"app/gate",
			"app/base/settings",
			"app/chat/turn",
			"app/plugin",
			"app/service",
			"app/terminal",
			"app/net/egress",
			"app/net/loopback",
			"app/chat/document",
			"app/plugin/watch",
			"app/base/keys",
			"app/terminal/remote",
			"app/model/demo",
			"app/model/openai",
			"app/model/anthropic",
			"app/model/google",
			"app/model/ollama",
			"app/plugin/host",
			"app/plugin/library",
			"app/plugin/packages",
			"app/plugin/python",
			"app/plugin/dialect/functions",
			"app/plugin/dialect/maibot",
			"app/plugin/dialect/mcp",
			"app/plugin/dialect/neko",
			"app/plugin/dialect/httptools",
			"app/plugin/dialect/picoclaw",
			"app/plugin/dialect/spindle",
			"app/plugin/sandbox",
			"app/plugin/worker",
			"app/plugin/worker/confine",
			"store",
			"plugins",
			"golang.org/x/sys",
			"golang.org/x/term", // the person's terminal is here
			"app/core/doctor",
			"app/core/restore",
			"app/model/connections",
			"app/chat/document/pdfprocess",
			"app/record/changes",
			"app/plugin/toolport",
			"app/service/events",
		},
		// What of it decides something, in packages of their own.
		"app/core/doctor": {
			"app/base/fault", "app/base/version", "app/model", "app/model/connections", "app/plugin", "app/plugin/host",
			"app/plugin/python", "app/plugin/sandbox", "app/terminal", "store",
		},
		"app/core/restore": {
			"app/base/fault", "app/base/keys", "app/base/settings", "app/gate", "app/model", "app/terminal",
			"app/plugin/dialect/httptools", "app/tool/mcpserver", "store",
		},
		"app/window/windowstore": {
			"app/window",
			"app/base/bus",
			"app/chat",
			"app/core",
			"app/model",
			"app/chat/transcript",
			"store",
			"store/search",
		},
	},
	programs: {
		// What is linked into one program each.
		"app/cmd/conclave": {"app/core", "app/base/version"},
		"app/cmd/conclave-worker": {
			"app/base/version",
			"app/chat/document/pdf",
			"app/plugin/sandbox",
			"app/plugin/dialect/spindle/engine",
			"app/plugin/worker/confine",
		},
		"app/window/desktop": {
			"app/window",
			"app/chat/render", // for the terminal's program, which does not link it
			"app/base/fault",
			"app/base/settings",
			"app/base/version",
			"app/window/windowstore",
			"app/core",
			"app/terminal/remote",
			"app/terminal",
			"store",
			"app/net/loopback", // before the development server
			"github.com/wailsapp/wails/v2",
		},
		"":           {"app/window/desktop"},
		"app":        {}, // this test
		"build/icon": {}, // draws the icon
	},
	onlyTests: {
		// What only tests import.
		"app/chat/document/pdftest": {},
		"app/model/modeltest":       {"app/base/fault", "app/chat", "app/model", "app/test/testkit"},
		"store/storetest":           {"store"},
		"store/layouttest":          {},
		"app/plugin/python/pythontest": {
			"app/plugin", "app/plugin/sandbox", "app/plugin/python", "app/plugin/worker", "app/plugin/worker/confine",
			"app/test/programtest", "app/test/testkit",
		},
		"app/plugin/plugintest": {
			"app/base/fault",
			"app/plugin/host",
			"app/plugin/library",
			"app/base/bus",
			"app/chat",
			"app/gate",
			"app/plugin",
			"app/plugin/sandbox",
			"app/tool",
			"app/test/testkit",
		},
		"app/plugin/hosttest":                  {},
		"app/plugin/dialect/mcp/auth/authtest": {},
		"app/plugin/dialect/mcp/mcptest":       {}, // a server that breaks any rule
		"app/test/testkit":                     {},
		"app/test/sourcetest":                  {"app/test/testkit"},
		"app/test/programtest":                 {"app/base/version", "app/plugin/sandbox"},
		"app/test/bench":                       {},
		"app/test/bench/chats":                 {"app/base/settings", "app/chat", "store"},
		"app/test/bench/patches":               {"app/chat/render"},
	},
}

// everywhere may be imported by any package: the list of bounds, the cutting of texts, and patterns,
// which know nobody.
var everywhere = []string{"app/base/limit", "app/base/pattern", "app/base/shorten"}

// exceptions are the imports that cross a ring's border on purpose. One that the
// code no longer needs fails the test.
var exceptions = map[[2]string]string{
	{
		"app/gate", "app/tool",
	}: "a request is about a tool and its digest; a second Tool in permit would have to be kept equal to the first",
	{
		"app/base/settings", "app/model",
	}: "what a person sets includes their connections, and llm.Connection is what a provider is made from",
	{
		"app/model/ollama", "app/model/openai",
	}: "Ollama speaks the OpenAI wire; what is its own is the list of models and pulling one",
	{
		"app/plugin/host", "github.com/modelcontextprotocol/go-sdk",
	}: "the host holds the client session that wire.Dial returns and names its two handlers; no MCP type leaves " +
		"worker.go",
	{
		"app/plugin/host", "github.com/rogpeppe/go-internal",
	}: "lines of changed code are compared with its diff package, which has no dependencies; the tests use the " +
		"module already",
	{
		"app/plugin/dialect/spindle/engine", "github.com/modelcontextprotocol/go-sdk",
	}: "a worker in Go is an MCP server; wire.Serve takes the SDK's",
	{
		"app/plugin/worker", "app/plugin/worker/confine",
	}: "the launcher and the child it starts share the description of the walls",
}

// gone are packages that must not be in a program at all, however they would get
// there, and why.
var gone = []struct {
	program string
	env     []string
	tags    string
	never   string // the beginning of an import path
	why     string
}{
	{"conclave/app/cmd/conclave", nil, "", "github.com/wailsapp/", "linking the web view costs every command 75 ms"},
	{"conclave/app/cmd/conclave", nil, "", "conclave/app/window$", "the terminal program has no window"},
	{
		"conclave/app/cmd/conclave", nil, "", "google.golang.org/genai",
		"its initialisation costs every start 3 ms (docs/adr/0008)",
	},
	{
		"conclave/app/cmd/conclave", nil, "", "modernc.org/quickjs",
		"a plugin's code runs in a worker, never beside the store",
	},
	{
		"conclave/app/cmd/conclave",
		nil,
		"",
		"github.com/evanw/esbuild",
		"nested source can end the process that builds it",
	},
	{"conclave/app/cmd/conclave", nil, "", "github.com/ledongthuc/", "a PDF is read in a process of its own"},
	{"conclave/app/cmd/conclave-worker", nil, "", "conclave/app/plugin$", "a plugin's process holds no host"},
	{"conclave/app/cmd/conclave-worker", nil, "", "conclave/app/gate", "a plugin's process holds no gate"},
	{"conclave/app/cmd/conclave-worker", nil, "", "conclave/app/model", "a plugin's process holds no model"},
	{
		"conclave/app/cmd/conclave-worker",
		nil,
		"",
		"conclave/app/core",
		"a plugin's process is the engine and the walls",
	},
	{"conclave/app/cmd/conclave-worker", nil, "", "conclave/store", "a plugin's process holds no store"},
	{"conclave/app/cmd/conclave-worker", nil, "", "go.etcd.io/bbolt", "a plugin's process holds no store"},
	{
		"conclave/app/cmd/conclave-worker", nil, "", "github.com/openai/",
		"its initialisation costs every start of a plugin 1 ms",
	},
	{
		"conclave/app/cmd/conclave-worker", nil, "", "github.com/anthropics/",
		"its initialisation costs every start of a plugin",
	},
	{"conclave/app/cmd/conclave-worker", nil, "", "github.com/spf13/", "a plugin's process has no commands"},
	{
		"conclave/app/cmd/conclave-worker", nil, "", "github.com/yuin/goldmark",
		"its initialisation costs every start of a plugin 1 ms",
	},
	{"conclave/app/cmd/conclave-worker", []string{"CGO_ENABLED=0"}, "", "runtime/cgo", "it is one static file"},
	{"conclave/app/cmd/conclave", []string{"CGO_ENABLED=0"}, "", "runtime/cgo", "it is one static file"},
	{"conclave/app/core", nil, "", "github.com/wailsapp/", "both programs are built on it"},
	{"conclave/app/core", nil, "", "conclave/app/window$", "both programs are built on it"},
	{"conclave/app/core", nil, "", "modernc.org/quickjs", "a plugin's code runs in a worker, never beside the store"},
	{
		"conclave/app/core", nil, "", "github.com/ledongthuc/",
		"a PDF is read in a process of its own, never beside the store",
	},
	{
		"conclave", nil, "desktop,production,webkit2_41", "github.com/ledongthuc/",
		"a PDF is never read in the window's process",
	},
	{
		"conclave", nil, "desktop,production,webkit2_41", "modernc.org/quickjs",
		"a plugin's code never runs in the window's process",
	},
	{
		"conclave", nil, "desktop,production,webkit2_41", "github.com/evanw/esbuild",
		"nested source can end the process that builds it",
	},
	{
		"conclave", nil, "desktop,production,webkit2_41", "conclave/app/plugin/dialect/spindle/engine",
		"the engine belongs to the worker",
	},
	{"conclave/app/chat/turn", nil, "", "go.etcd.io/bbolt", "a turn asks for a Log and never sees the store"},
	{
		"conclave/app/chat/conversation",
		nil,
		"",
		"go.etcd.io/bbolt",
		"a conversation asks for a Store and never sees the disk",
	},
	{
		"conclave/app/plugin/host", nil, "", "conclave/app/plugin/worker",
		"the host asks for a Launcher and never sees a process",
	},
}

// pkg holds what go list tells of one package.
type pkg struct {
	ImportPath string
	Imports    []string
	Error      *struct{ Err string }
}

// list asks go list about patterns, with what they depend on when deps is set.
func list(t *testing.T, env []string, tags string, deps bool, patterns ...string) []pkg {
	t.Helper()
	args := []string{"list", "-e", "-json=ImportPath,Imports,Error", "-tags", tags}
	if deps {
		args = append(args, "-deps")
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, patterns...)...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), env...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", patterns, err, problems.String())
	}
	var all []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("read what go list says: %v", err)
		}
		all = append(all, p)
	}
}

const module = "conclave"

// ours are the folders with Go in them; below frontend/node_modules lies Go of
// other people.
var ours = []string{".", "./app/...", "./store/...", "./plugins/...", "./build/..."}

// below returns an import path of ours as the tables write it.
func below(path string) (name string, own bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

// standard reports whether path is in the standard library: no dot in its first
// part, and not ours.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first != module
}

// systems are those whose files are looked at: an import in a file for Windows
// is an import.
var systems = []string{"linux", "darwin", "windows"}

func TestNoImportPointsUpwards(t *testing.T) {
	used := map[[2]string]bool{}
	on := map[string][]string{} // by what is wrong: the systems for which it is
	for _, system := range systems {
		for _, p := range list(t, []string{"GOOS=" + system, "CGO_ENABLED=0"}, "webkit2_41", false, ours...) {
			from, _ := below(p.ImportPath)
			_, allowed, known := layer(from)
			if !known {
				wrong := p.ImportPath + " has no row in the table layers: add one, with what it may import"
				on[wrong] = append(on[wrong], system)
				continue
			}
			for _, imported := range p.Imports {
				if standard(imported) || allows(everywhere, imported) || allows(allowed, imported) {
					continue
				}
				if exception, ok := exceptionFor(from, imported); ok {
					used[exception] = true
					continue
				}
				wrong := p.ImportPath + " imports " + imported + ", which its row in the table layers does not list"
				on[wrong] = append(on[wrong], system)
			}
		}
	}
	for _, wrong := range slices.Sorted(maps.Keys(on)) {
		t.Errorf("%s (%s)", wrong, strings.Join(on[wrong], ", "))
	}
	for exception, why := range exceptions {
		if !used[exception] {
			t.Errorf("the exception %s → %s is not needed any more: take it out", exception[0], exception[1])
		}
		if why == "" {
			t.Errorf("the exception %s → %s says no reason", exception[0], exception[1])
		}
	}
}

// layer returns a package's ring, and what it may import.
func layer(name string) (ring int, allowed []string, known bool) {
	for ring, rows := range layers {
		if allowed, known := rows[name]; known {
			return ring, allowed, true
		}
	}
	return 0, nil, false
}

func TestNoRowOfTheTablePointsUpwards(t *testing.T) {
	seen := map[string]bool{}
	for ring, rows := range layers {
		for name, allowed := range rows {
			if seen[name] {
				t.Errorf("%s has two lines in the table of layers", name)
			}
			seen[name] = true
			for to := range exceptions {
				if to[0] == name {
					allowed = append(slices.Clone(allowed), to[1])
				}
			}
			for _, imported := range allowed {
				if its, _, own := layer(imported); own && (its > ring || ring == fronts && its == adapters) {
					t.Errorf("%s may import %s, which its ring may not", name, imported)
				}
			}
		}
	}
}

// allows reports whether one of allowed is imported, or holds it when it is not
// ours: a module may be used in all its packages.
func allows(allowed []string, imported string) bool {
	if name, own := below(imported); own {
		return slices.Contains(allowed, name)
	}
	return slices.ContainsFunc(
		allowed,
		func(a string) bool { return imported == a || strings.HasPrefix(imported, a+"/") },
	)
}

func exceptionFor(from, imported string) ([2]string, bool) {
	for exception := range exceptions {
		if exception[0] == from && allows([]string{exception[1]}, imported) {
			return exception, true
		}
	}
	return [2]string{}, false
}

func TestEveryLayerOfTheTableExists(t *testing.T) {
	var there []string
	for _, p := range list(t, nil, "webkit2_41", false, ours...) {
		name, _ := below(p.ImportPath)
		there = append(there, name)
	}
	for _, rows := range layers {
		for name := range rows {
			if !slices.Contains(there, name) {
				t.Errorf("the table names %s, which does not exist", name)
			}
		}
	}
}

func TestNoPackageIsWhereItMustNotBe(t *testing.T) {
	type question struct{ program, env, tags string }
	answers := map[question][]pkg{}
	for _, rule := range gone {
		q := question{rule.program, strings.Join(rule.env, " "), rule.tags}
		if answers[q] == nil {
			answers[q] = list(t, rule.env, rule.tags, true, rule.program)
		}
		never, exact := strings.CutSuffix(rule.never, "$")
		for _, p := range answers[q] {
			if p.ImportPath == never || !exact && strings.HasPrefix(p.ImportPath, never) {
				t.Errorf("%s has %s in it (%s); imported by %v", rule.program, p.ImportPath, rule.why,
					importers(answers[q], p.ImportPath))
				break
			}
		}
	}
}

func importers(all []pkg, path string) []string {
	var found []string
	for _, p := range all {
		if slices.Contains(p.Imports, path) {
			found = append(found, p.ImportPath)
		}
	}
	return found
}

// TestTheTerminalProgramAndTheWorkerArePureGo asks for a build without C on every system: a
// package that has no other implementation cannot be listed then.
func TestTheTerminalProgramAndTheWorkerArePureGo(t *testing.T) {
	for _, system := range systems {
		for _, p := range list(t, []string{"GOOS=" + system, "CGO_ENABLED=0"}, "", true, "conclave/app/cmd/conclave",
			"conclave/app/cmd/conclave-worker") {
			if p.Error != nil {
				t.Errorf("on %s, %s cannot be built without C: %s", system, p.ImportPath, p.Error.Err)
			}
			if slices.Contains(p.Imports, "C") {
				t.Errorf("on %s, %s has C in it", system, p.ImportPath)
			}
		}
	}
}

// starters are the packages that may start a program, and which.
var starters = map[string]string{
	"app/plugin/worker":           "the processes of plugins",
	"app/plugin/worker/confine":   "becomes the program of a plugin, in its sandbox",
	"app/plugin/python":           "asks a Python what it is, and to read a file without running it",
	"app/plugin/dialect/picoclaw": "none: it looks for the program that a hook names, and the worker becomes it",
	"app/plugin/library":          "git, for a plugin that is added by its address",
	"app/core":                    "none: it looks for uv",
	"app/core/doctor":             "ldd and conclave-worker version",
	"app/terminal":                "the window's program, and the browser for a sign-in",
	"app/window/desktop":          "itself, as the small window that waits for a command of the terminal",
	"app/window":                  "the person's editor, and the system's way to open a folder",
	"app/model/modeltest":         "a model server, in tests",

	"app/plugin/dialect/mcp/runtimes": "the login shell of the person, for its PATH",
	"app/plugin/dialect/mcp/mcptest":  "a server of the protocol, in tests",
	"app/plugin/python/pythontest":    "the workers of Python dialects, in tests",
	"app/test/programtest":            "the Go compiler, in tests",
}

func TestOnlyTheseStartPrograms(t *testing.T) {
	for _, system := range systems {
		for _, p := range list(t, []string{"GOOS=" + system, "CGO_ENABLED=0"}, "webkit2_41", false, ours...) {
			name, _ := below(p.ImportPath)
			if slices.Contains(p.Imports, "os/exec") && starters[name] == "" {
				t.Errorf("%s imports os/exec; starting a program is not its task", p.ImportPath)
			}
		}
	}
}
