package neko

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Dialect recognises N.E.K.O plugins and describes their worker. Its methods are
// safe for concurrent use.
type Dialect struct{ python *python.Interpreters }

var _ plugin.Dialect = (*Dialect)(nil)

// New returns the dialect on the machine's Python.
func New(interpreters *python.Interpreters) *Dialect {
	interpreters.Add(python.Ecosystem{Name: "neko", Shim: shim, Replaces: map[string]string{"n-e-k-o": "plugin"}})
	return &Dialect{interpreters}
}

// Recognize takes a folder with a plugin.toml. The error is a *plugin.Problem for
// one whose manifest is wrong.
func (d *Dialect) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if !src.Holds(manifestName) {
		return nil, nil
	}
	m, err := readManifest(src)
	if err != nil {
		return nil, err
	}
	return &plugin.Manifest{
		Dialect: Name, Name: m.name, Version: m.version, Description: m.about, Author: m.author, Homepage: m.home,
		Entry: m.entry.file, Permissions: permissions(src.Path), Identity: m.id, Notices: m.notes,
	}, nil
}

// provided are the first parts of the modules that the shim has.
var provided = []string{"plugin", "plugins", "config", "utils", "main_logic"}

// Inspect tells which tools are declared and what is imported, from the syntax
// trees. More tools may be registered once it runs. The error is a
// *plugin.Problem.
func (d *Dialect) Inspect(ctx context.Context, src plugin.Source, m plugin.Manifest) (plugin.Listing, error) {
	files, err := python.Sources(src.Path, m.Entry, python.OwnFiles(src.Path))
	if err != nil {
		return plugin.Listing{}, err
	}
	shorten(files, m.Entry)
	answer, err := d.python.Inspect(ctx, m.Entry, files)
	if err != nil {
		return plugin.Listing{}, err
	}
	listing := answer.Declared(provided, func(f python.InspectedMark) tool.Tool {
		if f.Decorator != "llm_tool" {
			return tool.Tool{}
		}
		return tool.Tool{Name: cmp.Or(f.Text("name"), f.Name), Description: f.Text("description"), Visibility: tool.Direct}
	})
	listing.Wants = permissions(src.Path)
	return listing, nil
}

// maxParsed bounds the sources that are parsed for what they import and declare,
// in bytes: a megabyte takes a second.
const maxParsed = 512 << 10

// shorten empties files, the largest first, until what is left is not too much.
// The entry, and what declares tools, comes last of all.
func shorten(files map[string][]byte, entry string) {
	size := 0
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(strings.Compare(rank(files, a, entry), rank(files, b, entry)), len(files[a])-len(files[b]),
			strings.Compare(a, b))
	})
	for _, name := range names {
		if size += len(files[name]); size > maxParsed && name != entry {
			files[name] = []byte{}
		}
	}
}

// rank sorts what tells most of a plugin first.
func rank(files map[string][]byte, name, entry string) string {
	switch {
	case name == entry:
		return "0"
	case bytes.Contains(files[name], []byte("llm_tool")):
		return "1"
	}
	return "2"
}

// extra tells the loader conclave_neko what the worker does not know.
type extra struct {
	Plugin   string         `json:"plugin"`  // its own id
	Package  string         `json:"package"` // the name it is imported by
	Module   string         `json:"module"`  // of the entry, below the package
	Class    string         `json:"class"`
	Manifest map[string]any `json:"manifest"`
	Runtime  map[string]any `json:"runtime"`           // what its runtime configuration says
	Example  string         `json:"example,omitempty"` // the runtime configuration to begin with
	Vendor   string         `json:"vendor,omitempty"`
	Startup  float64        `json:"startup"` // seconds its start may take
	Failure  string         `json:"failure"`
	Notes    []string       `json:"notes"`
}

// patience is the time that a plugin's shutdown functions may take (contracts/neko,
// item 21: a graceful stop of 1.5 s, and 0.5 s until it is killed).
const patience = 2 * time.Second

// Spec describes the worker of a plugin. The error is a *plugin.Problem of kind
// unavailable when there is no Python, or another plugin is missing.
func (d *Dialect) Spec(ctx context.Context, src plugin.Source, _ plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	m, err := readManifest(src)
	if err != nil {
		return sandbox.Spec{}, err
	}
	if missing := absent(cmp.Or(src.Display, src.Path), m.wants); len(missing) > 0 {
		return sandbox.Spec{}, plugin.NeedsPlugins(manifestName, missing)
	}
	own := []string{src.Path}
	c := python.FolderConfig(src, m.entry.file)
	c.Loader, c.Modules, c.Package = "conclave_neko", []string{"neko"}, true
	x := extra{
		Plugin: m.id, Package: m.entry.of, Module: m.entry.module, Class: m.entry.class, Manifest: m.table,
		Runtime: map[string]any{},
		Startup: m.timeout, Failure: m.failure,
		Notes: append([]string{}, m.notes...),
	}
	if vendor := filepath.Join(src.Path, "vendor"); isFolder(vendor) {
		x.Vendor = vendor
	}
	if start.Storage != "" {
		if err := x.readRuntime(src.Path, start.Storage); err != nil {
			return sandbox.Spec{}, err
		}
		note, err := c.UseWritableCopy(src, start.Storage, m.id, "vendor")
		if err != nil {
			return sandbox.Spec{}, err
		}
		x.Notes = append(x.Notes, note...)
	}
	c.Extra = x
	spec, err := d.python.Spec(ctx, start, c, own)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec.Memory, spec.Patience = sandbox.EcosystemMemory, patience
	spec.Env = append(spec.Env, "NEKO_PLUGIN_SERVICE_NAME=Plugin_"+m.id,
		"NEKO_STORAGE_SELECTED_ROOT="+start.Storage, "NEKO_STORAGE_ANCHOR_ROOT="+start.Storage)
	return spec, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// runtimeConfig is where a plugin's changes to its configuration go, below its
// storage; its manifest is never written to (contracts/neko, items 5 and 6).
const runtimeConfig = "config/plugin.toml"

// readRuntime reads the runtime configuration, or what it begins with.
func (x *extra) readRuntime(dir, storage string) error {
	table, err := reader(safefs.ReadWritable).toml(storage, runtimeConfig)
	switch {
	case err == nil:
		x.Runtime = table
		return nil
	case !errors.Is(err, os.ErrNotExist):
		x.Notes = append(x.Notes, "Its runtime configuration is not used: "+plugin.Unreadable(manifestName, err).Error())
		return nil
	}
	const example = "config.example.toml"
	text, err := reader(safefs.ReadSource).text(dir, example)
	if err != nil {
		return nil //nolint:nilerr // most plugins have none
	}
	if x.Runtime, err = reader(safefs.ReadSource).toml(dir, example); err != nil {
		return plugin.Unreadable(manifestName, err)
	}
	x.Example = text
	return nil
}
