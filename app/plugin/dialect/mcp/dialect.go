package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"conclave/app/net/fetch"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/auth"
	"conclave/app/plugin/dialect/mcp/config"
	"conclave/app/plugin/dialect/mcp/runtimes"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Options of a Dialect. The zero value is a dialect whose servers on the web are asked without a sign-in.
type Options struct {
	Version string    // of Conclave, for servers
	Keys    auth.Keys // keeps the tokens of servers on the web; nil signs in nowhere
	Changed func()    // is called after what plugin.SignsIn reports has changed; nil is nobody
	Log     *slog.Logger
	Eras    string // the file that keeps which protocol each server speaks; empty keeps it in memory
	// Programs is the file that keeps which programs the person chose for commands; empty keeps it in memory.
	Programs string
	Resolver *net.Resolver // finds servers on the web; nil is the system's
}

// Dialect recognises MCP servers. Use New. It is safe for concurrent use.
type Dialect struct {
	o        Options
	eras     eras
	programs runtimes.Chosen

	mu     sync.Mutex                   // guards the fields below
	files  map[string]file              // configurations by path, as they were read last
	values map[string]map[string]string // by plugin, the secrets that its entry holds itself

	accounts   map[string]account    // by plugin
	ways       map[string]way        // by plugin
	installing map[string]installing // by plugin, while the process that installs it runs
	started    map[string]string     // by plugin, the program that its command was since the start
	work       map[string][]string   // by plugin, the files and folders that it was last started to work on
	also       map[string]string     // by plugin, what its server offers besides tools, once it has run
	unpacked   map[string]bool       // the digests of bundles that were started
}

// way makes the connections to a plugin's server on the web. It outlives the server's sessions: which of them is the
// first is the server's to decide.
type way struct {
	*http.Transport
	server string // its row and address
}

// account holds the sign-in of a plugin's server.
type account struct {
	*auth.Account
	server string // its row, with the values that a sign-in uses
}

var (
	_ plugin.Adapter    = (*Dialect)(nil)
	_ plugin.Connector  = (*Dialect)(nil)
	_ plugin.Splitter   = (*Dialect)(nil)
	_ plugin.CodeLister = (*Dialect)(nil)
	_ plugin.Patient    = (*Dialect)(nil)
	_ plugin.Describer  = (*Dialect)(nil)
	_ plugin.Tidier     = (*Dialect)(nil)
)

// New returns the dialect.
func New(o Options) *Dialect {
	return &Dialect{
		o: o, files: map[string]file{}, values: map[string]map[string]string{}, eras: eras{path: o.Eras},
		programs: runtimes.Chosen{Path: o.Programs},
		accounts: map[string]account{}, ways: map[string]way{}, installing: map[string]installing{},
		started: map[string]string{}, also: map[string]string{}, work: map[string][]string{},
		unpacked: map[string]bool{},
	}
}

// ChooseProgram implements plugin.ProgramChooser.
func (d *Dialect) ChooseProgram(command, path string) error {
	runtimes.Forget() // what was installed meanwhile is looked for, too
	return d.programs.Choose(command, path)
}

// Recognize implements plugin.Dialect.
func (d *Dialect) Recognize(ctx context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if src.Dialect != Name {
		return d.recognizeFile(ctx, src)
	}
	r, err := readRow(src.Row)
	if err != nil {
		return nil, err
	}
	m := r.manifest()
	m.Notices = append(m.Notices, outside(src, *r.Server)...)
	if src.HasFiles() && src.Folder {
		m.Files = codeOf(src.Path)
	}
	return m, context.Cause(ctx)
}

// recognizeFile reads a configuration that lies anywhere: of one server it is that one's manifest, of several
// one that names them.
func (d *Dialect) recognizeFile(ctx context.Context, src plugin.Source) (*plugin.Manifest, error) {
	all, ok := d.Split(src)
	switch {
	case !ok:
		return nil, context.Cause(ctx)
	case len(all) == 1:
		return d.Recognize(ctx, all[0])
	}
	m := &plugin.Manifest{Dialect: Name, Name: src.ID, Entry: FileName, Permissions: []string{}}
	names := make([]string, 0, len(all))
	for _, one := range all {
		names = append(names, one.ID)
	}
	m.Description = "The MCP servers " + listed(names) + "."
	return m, context.Cause(ctx)
}

// Inspect implements plugin.Dialect. Which tools a server offers is known once it runs.
func (d *Dialect) Inspect(ctx context.Context, _ plugin.Source, m plugin.Manifest) (plugin.Listing, error) {
	return plugin.Listing{
		Tools: []tool.Tool{}, Imports: []string{}, Options: config.Form(serverOf(m)), Data: present(data(serverOf(m))...),
	}, context.Cause(ctx)
}

// Connects implements plugin.Connector: a server with an address is no process of Conclave's.
func (d *Dialect) Connects(m plugin.Manifest) bool { return serverOf(m).Remote() }

// Confinement implements plugin.Connector.
func (d *Dialect) Confinement() sandbox.Confinement {
	return sandbox.Confinement{
		Level: "none", Sentence: "Runs on another computer, or outside of Conclave: what its tools do can change unseen.",
	}
}

// serverOf returns the server that a manifest of this dialect is of.
func serverOf(m plugin.Manifest) config.Server {
	var s config.Server
	if json.Unmarshal(m.Detail, &s) != nil {
		return config.Server{}
	}
	return s
}

// secretsOf returns the secrets that an entry of a file holds itself.
func (d *Dialect) secretsOf(id string) map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.values[id]
}

// workOf returns the files and folders that a plugin was last started to work on.
func (d *Dialect) workOf(id string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.work[id]
}

// Account returns how Conclave is signed in to the server of a plugin; nil for a plugin without an address, or that
// was not reached since the start.
func (d *Dialect) Account(id string) *auth.Account {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.accounts[id].Account
}

// accountOf returns the account of a plugin whose server is s with its values; nil where its entry has a key, or says
// that there is no sign-in. Two entries with one address are two accounts.
func (d *Dialect) accountOf(id, row string, s config.Server) (*auth.Account, error) {
	if d.o.Keys == nil || s.OAuth != nil && s.OAuth.Off || keyed(s) {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := row + "\n" + s.URL
	if s.OAuth != nil {
		key += "\n" + s.OAuth.ClientID + "\n" + s.OAuth.ClientSecret
	}
	if known := d.accounts[id]; known.server == key {
		return known.Account, nil
	}
	o := auth.Options{
		Server: s.URL, Name: s.Name, ID: id, Keys: d.o.Keys, Changed: d.o.Changed, Log: d.o.Log,
		Base: d.wayTo(id, row, s),
	}
	if s.OAuth != nil {
		o.Scopes = s.OAuth.Scopes
		if s.OAuth.ClientID != "" {
			o.Client = &auth.Client{ID: s.OAuth.ClientID, Secret: s.OAuth.ClientSecret}
		}
	}
	a, err := auth.New(o)
	if err != nil {
		return nil, err
	}
	d.accounts[id] = account{a, key}
	return a, nil
}

// wayTo returns what makes the connections to a plugin's server. The caller holds mu.
func (d *Dialect) wayTo(id, row string, s config.Server) *http.Transport {
	key := row + "\n" + s.URL
	known := d.ways[id]
	if known.server == key {
		return known.Transport
	}
	if known.Transport != nil {
		known.CloseIdleConnections()
	}
	made := way{fetch.NewSettled(d.o.Resolver), key}
	d.ways[id] = made
	return made.Transport
}

// clientOf returns the client that reaches a plugin's server, and the account that it signs in with; nil for none.
func (d *Dialect) clientOf(id, row string, s config.Server) (*http.Client, *auth.Account, error) {
	account, err := d.accountOf(id, row, s)
	if err != nil {
		return nil, nil, err
	}
	if account != nil {
		return &http.Client{Transport: account}, account, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return &http.Client{Transport: d.wayTo(id, row, s)}, nil, nil
}

// keyed reports whether a server's entry has a key: then there is no sign-in (MC-89).
func keyed(s config.Server) bool {
	for name, value := range s.Headers {
		if strings.EqualFold(name, "Authorization") && value != "" {
			return true
		}
	}
	return false
}

// hides reports whether a configuration leaves a tool out.
func hides(s config.Server, name string) bool {
	return s.Include != nil && !slices.Contains(s.Include, name) || slices.Contains(s.Exclude, name)
}
