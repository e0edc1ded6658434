package spindle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/spindle/job"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Options of a Dialect. The zero value is usable.
type Options struct {
	// SourceInside puts the text of a plugin's files into its worker's
	// configuration. It is for systems whose sandbox lets a worker open no file at
	// all: Linux without Landlock.
	SourceInside bool
	// Runtime is where what workers built is kept, as in plugin.StartOptions.
	Runtime string
}

// Dialect recognises Spindle extensions. It is safe for concurrent use.
type Dialect struct {
	o     Options
	facts plugin.Facts
}

var _ plugin.Dialect = (*Dialect)(nil)

// New returns a Dialect.
func New(o Options) *Dialect { return &Dialect{o, facts(keep(o.Runtime))} }

// endings of a plugin that is one script.
var endings = map[string]bool{".js": true, ".mjs": true, ".ts": true, ".mts": true}

// Recognize implements plugin.Dialect. Every JavaScript or TypeScript file is an
// extension of one file; a folder is one when it holds a manifest.
func (*Dialect) Recognize(ctx context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if !src.Folder {
		if !isScript(src.Path) {
			return nil, nil
		}
		text, err := readScript(src.Path)
		if err != nil {
			return nil, err
		}
		m := headOf(text, src)
		m.Permissions = withMacros(m.Permissions, text)
		m.Notices = append(m.Notices, cost(int64(len(text)))...)
		return m, nil
	}
	f, err := openManifest(src.Path)
	if f == nil || err != nil {
		return nil, err
	}
	defer f.close()
	m, err := f.readManifest()
	if err != nil {
		return nil, err
	}
	entry, err := f.findEntry(m)
	if err != nil {
		return nil, err
	}
	frontend, err := f.findFrontend(m)
	if err != nil {
		return nil, err
	}
	seeds, err := f.seeds(m)
	if err != nil {
		return nil, err
	}
	read := &plugin.Manifest{
		Dialect: Name, Name: m.Name, Version: m.Version, Description: m.Description, Author: m.Author,
		Homepage: m.link(), Entry: entry, Permissions: append([]string{}, m.Permissions...),
		Identity: m.Identifier, Notices: notices(m, entry, frontend), Panel: frontend, Seeds: seeds, WorkingCopy: m.DevMode,
	}
	if entry == "" { // nothing of it runs, so there is nobody to grant anything to
		read.Permissions = []string{}
	}
	if text, err := entryText(src, *read); entry != "" && err == nil { // Inspect says why it cannot be read
		read.Permissions = withMacros(read.Permissions, text)
		read.Notices = append(read.Notices, cost(int64(len(text)))...)
	}
	return read, nil
}

// cost returns what a backend takes that is larger than the ordinary.
func cost(size int64) []string {
	var needs job.Config
	if needs.Fit(size) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Its backend has %s: it may take %s of memory while it runs, and some seconds to start.",
		limit.Size(size), limit.Size(needs.HeapBytes))}
}

// macros is the permission that a script with macros asks for here: at home they
// need none. What asks for interceptor may fill in macros anyway.
const macros = "macros"

// withMacros adds it where the entry registers a macro.
func withMacros(permissions []string, entry string) []string {
	if !strings.Contains(entry, "registerMacro(") || slices.Contains(permissions, macros) ||
		slices.Contains(permissions, "interceptor") {
		return permissions
	}
	return append(permissions, macros)
}

func isScript(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, declarations := range []string{".d.ts", ".d.mts"} {
		if strings.HasSuffix(name, declarations) {
			return false
		}
	}
	return endings[filepath.Ext(name)]
}

// readScript reads a plugin of one file. The error is a *plugin.Problem.
func readScript(path string) (string, error) {
	name := filepath.Base(path)
	text, err := readFile(filepath.Dir(path), name)
	if err == nil && text == "" {
		err = &plugin.Problem{
			Kind: "script", File: name, Message: name + " is empty.",
			Hint: "A script that offers tools calls spindle.registerTool.",
		}
	}
	return text, err
}

// readFile reads a script below a folder. What another program put in its place meanwhile is neither waited for
// nor followed out of the folder. The error is a *plugin.Problem.
func readFile(folder, name string) (string, error) {
	text, size, err := safefs.ReadSource(folder, name, limit.ScriptFile)
	switch {
	case err != nil:
		return "", unreadable(name, err)
	case size > limit.ScriptFile:
		return "", &plugin.Problem{
			Kind: "refused", File: name,
			Message: "It has " + limit.Size(size) + "; a script may have " + limit.Size(limit.ScriptFile) + ".",
		}
	}
	return textOf(name, text)
}

// textOf returns the text of a script in UTF-8. The error is a *plugin.Problem: what is
// written otherwise no engine runs, so nobody is asked to approve it.
func textOf(name string, raw []byte) (string, error) {
	if bytes.IndexByte(raw, 0) >= 0 {
		return "", &plugin.Problem{
			Kind: "script", Type: "SyntaxError", File: name, Message: name + " is not written in UTF-8.",
			Hint: "Have your editor save it as UTF-8.",
		}
	}
	return strings.TrimPrefix(string(raw), "\uFEFF"), nil
}

func unreadable(name string, err error) *plugin.Problem {
	why := "it cannot be read"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "it does not exist"
	case errors.Is(err, fs.ErrPermission):
		why = "you may not read it"
	}
	return &plugin.Problem{Kind: "unavailable", File: name, Message: fmt.Sprintf("%s could not be opened: %s.", name, why)}
}

// Inspect implements plugin.Dialect. Only running an extension tells for certain
// what it registers, so the listing is not Known; the tools in it are those whose
// registration is written out in the entry. An extension without a backend has
// none for certain.
func (*Dialect) Inspect(ctx context.Context, src plugin.Source, m plugin.Manifest) (plugin.Listing, error) {
	if err := context.Cause(ctx); err != nil {
		return plugin.Listing{}, err
	}
	listing := plugin.Listing{Tools: []tool.Tool{}, Imports: []string{}}
	if m.Entry == "" {
		listing.Known = true
		return listing, nil
	}
	text, err := entryText(src, m)
	if err != nil {
		return plugin.Listing{}, err
	}
	for _, found := range scanTools(text) {
		found.Plugin, found.Dialect, found.File = src.ID, Name, m.Entry
		listing.Tools = append(listing.Tools, found)
	}
	listing.Imports = scanImports(text)
	return listing, nil
}

func entryText(src plugin.Source, m plugin.Manifest) (string, error) {
	if !src.Folder {
		return readScript(src.Path)
	}
	return readFile(src.Path, m.Entry)
}

// Spec implements plugin.Dialect: the engine inside conclave-worker, which may
// read the plugin and nothing else, and write nothing.
func (d *Dialect) Spec(ctx context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	if err := context.Cause(ctx); err != nil {
		return sandbox.Spec{}, err
	}
	cfg := job.Config{
		Plugin: src.ID, Folder: src.Path, Entry: m.Entry, Identifier: src.ID,
		Permissions: append([]string{}, m.Permissions...),
	}
	shown := any(map[string]any{
		"identifier": src.ID, "name": m.Name, "version": m.Version, "author": m.Author,
		"description": m.Description, "permissions": cfg.Permissions,
	})
	if src.Folder {
		f, err := openManifest(src.Path)
		if err != nil {
			return sandbox.Spec{}, err
		}
		if f == nil {
			return sandbox.Spec{}, unreadable(manifestNames[0], fs.ErrNotExist)
		}
		defer f.close()
		full, err := f.readManifest()
		if err != nil {
			return sandbox.Spec{}, err
		}
		cfg.Identifier, shown = full.Identifier, json.RawMessage(f.raw)
	} else {
		cfg.Single, cfg.Folder, cfg.Entry = true, filepath.Dir(src.Path), filepath.Base(src.Path)
	}
	manifest, err := json.Marshal(shown)
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("write the manifest of %s: %w", src.ID, err)
	}
	cfg.Manifest = manifest
	if d.o.SourceInside {
		if cfg.Sources, err = readSources(src); err != nil {
			return sandbox.Spec{}, err
		}
	}
	text, _ := entryText(src, m) // the worker says why it cannot be read
	more := cfg.Fit(int64(len(text)))
	read := []string{src.Path}
	if cfg.Sources == nil && start.Code != "" {
		cfg.Built = keptFolder(start.Runtime, src.ID, start.Code)
		if info, err := os.Stat(cfg.Built); err == nil && info.IsDir() {
			read = append(read, cfg.Built)
		}
	}
	cfg.LoadTotalMS = (start.Load * 95 / 100).Milliseconds() // before the host gives it up
	input, err := json.Marshal(cfg)
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("write the configuration of %s: %w", src.ID, err)
	}
	spec := sandbox.Spec{Kind: "js", Env: environment(), Dir: start.Work, Input: input, Read: read}
	if more > 0 {
		spec.Memory = sandbox.ScriptMemory + more
	}
	return spec, nil
}

// environment passes on what the time zone and the language depend on, and
// nothing else.
func environment() []string {
	var env []string
	for _, name := range []string{"TZ", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
