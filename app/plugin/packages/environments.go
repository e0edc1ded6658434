package packages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
)

// DefaultIndex is the package index, unless the person sets another.
const DefaultIndex = "https://pypi.org/simple"

// installTimeout bounds one installation: a few hundred megabytes over a slow
// line.
const installTimeout = 45 * time.Minute

// Options say where to find things. Dir, Python and Launcher must be set.
type Options struct {
	Dir      string // the folder of all environments; made when it is needed
	Python   *python.Interpreters
	Launcher sandbox.Launcher
	Index    string        // where packages come from; empty is DefaultIndex
	Timeout  time.Duration // of one installation; 0 is 45 minutes
	UV       string        // the path of the program uv, which is faster than pip; empty when there is none
	Log      *slog.Logger
}

// Environments keeps one virtual environment for each plugin that needs packages. Its
// methods are safe for concurrent use, but the host sees to it that only one at a time
// installs or removes a plugin's environment.
//
// An environment is a folder env-… in the plugin's own folder below Options.Dir. It
// counts once current.json names it, which is the last thing an installation writes;
// any other is unfinished, or was replaced.
type Environments struct {
	o Options

	mu    sync.Mutex // guards the fields below
	swept map[string]bool
	read  map[string]inspection // by plugin id
}

var (
	_ host.Environments = (*Environments)(nil)
	_ Environment       = (*Environments)(nil)
)

// inspection holds what was last read of a plugin's sources.
type inspection struct {
	digest string
	found  python.Inspected
}

// New returns the environments. It touches no file.
func New(o Options) *Environments {
	if o.Index == "" {
		o.Index = DefaultIndex
	}
	if o.Timeout == 0 {
		o.Timeout = installTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Environments{o: o, swept: map[string]bool{}, read: map[string]inspection{}}
}

// plan holds what a plugin wants, for a card and for an installer.
type plan struct {
	packages  plugin.Packages
	lines     []wanted // of the packages that an installation takes, in their order
	indexes   []string
	addresses bool // some of the lines name addresses
}

// Packages returns what the plugin needs and whether it is there; nil when it needs
// nothing, or there is no Python to ask, which starting the plugin reports.
func (e *Environments) Packages(ctx context.Context, src plugin.Source, m plugin.Manifest,
	l plugin.Listing,
) (*plugin.Packages, error) {
	e.sweepOnce(src.ID)
	p, err := e.plan(ctx, src, m, l)
	if err != nil || p == nil {
		return nil, err
	}
	return &p.packages, nil
}

func (e *Environments) plan(ctx context.Context, src plugin.Source, m plugin.Manifest,
	l plugin.Listing,
) (*plan, error) {
	d := declare(src, m, e.o.Python.Ecosystems())
	wants := merge(d.wants)
	if len(wants) == 0 && len(l.Imports) == 0 && len(d.notes) == 0 {
		return nil, nil
	}
	py, err := e.o.Python.Python(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, nil
	}
	p := &plan{packages: plugin.Packages{
		Packages: []plugin.Package{}, Notes: append([]string{}, d.notes...), Elsewhere: []string{},
		Python: py.Version, Index: redact(e.o.Index),
	}, indexes: d.indexes}
	now, _ := e.current(src.ID, py)
	s := resolution{e: e, src: src, m: m, py: py, own: now.site, machine: machineSite(src, py), values: markersOf(py)}
	s.have = distributions(append(slices.Clone(s.own), s.machine...))
	guessed := s.guessed(wants, l.Imports)
	if err := s.weigh(ctx, wants, guessed); err != nil {
		return nil, err
	}
	for _, w := range wants {
		if d.self != "" && canonical(w.name) == d.self {
			continue
		}
		p.add(s.declared(w), w)
	}
	for _, module := range guessed {
		one := s.guess(module)
		p.add(one, wanted{requirement: requirement{name: one.Name}, guessed: one.Status != plugin.PackageInstalled})
	}
	if len(p.packages.Packages) == 0 && len(p.packages.Notes) == 0 && now.Path == "" {
		return nil, nil
	}
	p.finish(d, py)
	p.packages.Unable = e.unable(py)
	if now.Path != "" {
		p.packages.Made, p.packages.Path, p.packages.Bytes = now.Made, now.Path, now.Bytes
		p.packages.Stale = now.Digest != p.packages.Digest || len(now.site) == 0
	}
	return p, nil
}

// add takes a package into the plan.
func (p *plan) add(one plugin.Package, w wanted) {
	p.packages.Packages = append(p.packages.Packages, one)
	if one.Status == plugin.PackageSkipped || one.Status == plugin.PackageProvided && !one.Optional {
		return
	}
	p.lines = append(p.lines, w)
	if w.url != "" {
		p.addresses = true
		p.packages.Elsewhere = append(p.packages.Elsewhere, redact(w.url))
	}
}

// finish names the other indexes, the Python it is for, and the digest of it all.
func (p *plan) finish(d declaration, py python.Python) {
	for _, index := range d.indexes {
		p.packages.Elsewhere = append(p.packages.Elsewhere, redact(index))
	}
	if !python.Satisfies(py.Version, d.python) {
		p.packages.Notes = append(p.packages.Notes, "It is for Python "+clip(d.python)+", and this is Python "+py.Version+".")
	}
	sum := sha256.New()
	for _, w := range p.lines {
		sum.Write([]byte(w.text() + "\x00" + strings.Join(w.hashes, " ") + "\x00"))
	}
	for _, index := range p.indexes {
		sum.Write([]byte(index + "\x00"))
	}
	p.packages.Digest = hex.EncodeToString(sum.Sum(nil))[:16]
}

// machineSite are the folders of packages that the plugin can import without an
// environment: what it brings in vendor/, and the Python's own.
func machineSite(src plugin.Source, py python.Python) []string {
	site := slices.Clone(py.Site)
	if src.Folder {
		site = append([]string{filepath.Join(src.Path, "vendor")}, site...)
	}
	return site
}

// resolution compares what a plugin needs with what is installed.
type resolution struct {
	e       *Environments
	src     plugin.Source
	m       plugin.Manifest
	py      python.Python
	own     []string // the site folders of its environment
	machine []string
	have    map[string]string // canonical name → version
	values  map[string]string // of markers
	found   python.Inspected  // which imports it loads without
}

// declared returns the state of one declared package.
func (s *resolution) declared(w wanted) plugin.Package {
	name := canonical(w.name)
	one := plugin.Package{Name: name, Requirement: redact(w.text()), From: w.from, Version: s.have[name]}
	modules, standins := s.e.o.Python.Provided()
	switch {
	case !counts(w.marker, s.values):
		one.Status, one.Version, one.Note = plugin.PackageSkipped, "", "Not for this system or this Python."
		return one
	case slices.Contains(modules, s.replacement(name)) && one.Version == "":
		one.Status, one.Note = plugin.PackageProvided, "Conclave has its own modules in its place."
		return one
	case one.Version == "" && s.bundled(name, w.name):
		one.Status, one.Note = plugin.PackageInstalled, "The plugin brings it along."
		return one
	case one.Version == "":
		one.Status = plugin.PackageMissing
	case w.url == "" && !python.Satisfies(one.Version, w.spec):
		one.Status = plugin.PackageOutdated
	default:
		one.Status = plugin.PackageInstalled
	}
	one.Optional = s.guarded(name, w.name)
	if slices.Contains(standins, strings.ReplaceAll(name, "-", "_")) && one.Status != plugin.PackageInstalled {
		one.Optional, one.Note = true, "Conclave has a stand-in for the common part of it."
	}
	if w.url != "" {
		one.Note = "It comes from a separate address, which is asked about separately."
	}
	return one
}

// bundled reports whether a plugin has a module of a package in vendor/, without the
// metadata that has its version.
func (s *resolution) bundled(name, written string) bool {
	return s.src.Folder && slices.ContainsFunc(append(modulesOf(name), modulesOf(written)...), func(module string) bool {
		return holds([]string{filepath.Join(s.src.Path, "vendor")}, module)
	})
}

// replacement returns the module that the worker brings in place of a package, or "".
func (s *resolution) replacement(name string) string {
	for _, e := range s.e.o.Python.Ecosystems() {
		if module := e.Replaces[name]; module != "" {
			return module
		}
	}
	return ""
}

// guarded reports whether all imports of a package's modules are caught.
func (s *resolution) guarded(name, written string) bool {
	caught := false
	for _, module := range append(modulesOf(name), modulesOf(written)...) {
		caught = caught || slices.Contains(s.found.Guarded, module)
	}
	return caught
}

// guessed returns the imported modules that nobody declared and that are nowhere
// on this machine but, perhaps, in the environment.
func (s *resolution) guessed(wants []wanted, imports []string) []string {
	known, _ := s.e.o.Python.Provided()
	var found []string
	for _, name := range imports {
		module, _, _ := strings.Cut(name, ".")
		switch {
		case nobodys[module], slices.Contains(known, module), slices.Contains(found, module), standard(s.py, module),
			s.src.Folder && module == filepath.Base(s.src.Path), module == s.src.ID, holds(s.machine, module):
			continue
		}
		declared := slices.ContainsFunc(wants, func(w wanted) bool {
			return canonical(w.name) == packageNamed(module) || slices.Contains(modulesOf(w.name), module)
		})
		if !declared {
			found = append(found, module)
		}
	}
	return found
}

// guess returns the state of a package whose name was taken from an import.
func (s *resolution) guess(module string) plugin.Package {
	name := packageNamed(module)
	one := plugin.Package{
		Name: name, Requirement: name, From: "the import of " + module, Status: plugin.PackageMissing,
		Guessed: true,
		Note:    "Nobody declared it: the name is taken from the import.",
	}
	_, standins := s.e.o.Python.Provided()
	switch {
	case slices.Contains(standins, module):
		// It is offered all the same: a plugin may need more than a stand-in has.
		one.Status, one.Optional, one.Note = plugin.PackageProvided, true,
			"Conclave has a stand-in for the common part of it."
	case slices.Contains(s.found.Guarded, module):
		one.Optional = true
	case slices.Contains(s.found.Lazy, module):
		one.Optional, one.Note = true, "Needed once a tool uses it. "+one.Note
	}
	if holds(s.own, module) {
		one.Status, one.Version = plugin.PackageInstalled, s.have[name]
	}
	return one
}

// weigh finds out which imports the plugin loads without, if that matters. The
// error is the cause of ctx's end.
func (s *resolution) weigh(ctx context.Context, wants []wanted, guessed []string) error {
	missing := len(guessed) > 0 || slices.ContainsFunc(wants, func(w wanted) bool {
		return s.have[canonical(w.name)] == "" && counts(w.marker, s.values)
	})
	if !missing {
		return nil
	}
	root, names := s.src.Path, []string(nil)
	if s.src.Folder {
		names = python.Files(root)
	} else {
		root, names = filepath.Dir(root), s.m.Files
	}
	entry := s.m.Entry
	if s.src.Folder && !slices.Contains(names, entry) && len(names) > 0 {
		entry = names[0]
	}
	files, err := python.Sources(root, entry, names)
	if err != nil {
		return nil //nolint:nilerr // loading says what is wrong with it
	}
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(files); err != nil {
		return nil //nolint:nilerr // bytes are always JSON
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	s.e.mu.Lock()
	known := s.e.read[s.src.ID]
	s.e.mu.Unlock()
	if known.digest != digest {
		found, err := s.e.o.Python.Inspect(ctx, entry, files)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			found = python.Inspected{} // then every import counts
		}
		known = inspection{digest, found}
		s.e.mu.Lock()
		s.e.read[s.src.ID] = known
		s.e.mu.Unlock()
	}
	s.found = known.found
	return nil
}

// serverOf is where an index lies, for a sentence.
func serverOf(index string) string {
	if u, err := url.Parse(index); err == nil && u.Host != "" {
		return u.Host
	}
	return "the index"
}

// record describes what an environment is: current.json.
type record struct {
	Dir       string    `json:"dir"`    // the folder env-…
	Digest    string    `json:"digest"` // of the list it was made for
	Abi       string    `json:"abi"`    // cpython-3.11-linux-amd64
	Python    string    `json:"python"` // what made it: 3.11.7
	Made      time.Time `json:"made"`
	Bytes     int64     `json:"bytes"`
	Installed []string  `json:"installed"` // name version
}

// standing is the environment of a plugin as it lies there.
type standing struct {
	record
	Path string   // absolute; empty without one
	site []string // its folders of packages; none when it does not fit the interpreter
}

// abi names what compiled packages are made for.
func abi(py python.Python) string {
	return "cpython-" + minorOf(py.Version) + "-" + runtime.GOOS + "-" + runtime.GOARCH
}

// home is the folder of all that is kept for one plugin.
func (e *Environments) home(id string) string { return filepath.Join(e.o.Dir, id) }

const currentFile = "current.json"

// current reads which environment the plugin has.
func (e *Environments) current(id string, py python.Python) (standing, bool) {
	text, err := os.ReadFile(filepath.Join(e.home(id), currentFile))
	if err != nil {
		return standing{}, false
	}
	var s standing
	if json.Unmarshal(text, &s.record) != nil || !strings.HasPrefix(s.Dir, "env-") || filepath.Base(s.Dir) != s.Dir {
		return standing{}, false
	}
	s.Path = filepath.Join(e.home(id), s.Dir)
	if s.Abi == abi(py) {
		if site := siteOf(s.Path, py); dirExists(site) {
			s.site = []string{site}
		}
	}
	return s, true
}

func dirExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// siteOf is where the packages of an environment lie.
func siteOf(path string, py python.Python) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(path, "Lib", "site-packages")
	}
	return filepath.Join(path, "lib", "python"+minorOf(py.Version), "site-packages")
}

// interpreterOf is the interpreter of an environment.
func interpreterOf(path string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(path, "Scripts", "python.exe")
	}
	return filepath.Join(path, "bin", "python")
}

// Site returns the folders of the packages in the plugin's environment; none when
// it has none, or was made for another Python.
func (e *Environments) Site(ctx context.Context, id string) []string {
	if _, err := os.Stat(filepath.Join(e.home(id), currentFile)); err != nil {
		return nil
	}
	py, err := e.o.Python.Python(ctx)
	if err != nil {
		return nil // describing the process says why
	}
	now, _ := e.current(id, py)
	return now.site
}

// Remove deletes the plugin's environment and everything kept for it.
func (e *Environments) Remove(id string) error { return os.RemoveAll(e.home(id)) }

// sweepOnce deletes what an installation that was cut off left, the first time
// the plugin is seen: nothing of it runs yet.
func (e *Environments) sweepOnce(id string) {
	e.mu.Lock()
	done := e.swept[id]
	e.swept[id] = true
	e.mu.Unlock()
	if !done {
		e.sweep(id)
	}
}

// sweep deletes every environment of the plugin but the current one.
func (e *Environments) sweep(id string) {
	entries, err := os.ReadDir(e.home(id))
	if err != nil {
		return
	}
	var now record
	if text, err := os.ReadFile(filepath.Join(e.home(id), currentFile)); err == nil {
		_ = json.Unmarshal(text, &now) // damaged: then none is current
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "env-") && entry.Name() != now.Dir {
			if err := os.RemoveAll(filepath.Join(e.home(id), entry.Name())); err != nil {
				e.o.Log.Warn("a half-made environment could not be deleted", "plugin", id, "err", err)
			}
		}
	}
}
