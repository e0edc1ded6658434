package maibot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// entryName is the file that is loaded.
const entryName = "plugin.py"

// Dialect recognises MaiBot plugins and describes their worker. Its methods are
// safe for concurrent use.
type Dialect struct{ python *python.Interpreters }

var _ plugin.Dialect = (*Dialect)(nil)

// New returns the dialect on the machine's Python.
func New(interpreters *python.Interpreters) *Dialect {
	interpreters.Add(python.Ecosystem{
		Name: "maibot", Shim: shim,
		Replaces: map[string]string{"maibot-plugin-sdk": "maibot_sdk", "maibot-sdk": "maibot_sdk"},
		Manifest: manifestName, Requires: requires,
	})
	return &Dialect{interpreters}
}

// Recognize takes a folder with a _manifest.json. The error is a *plugin.Problem
// for one whose manifest is wrong, that has no plugin.py, or whose id another
// folder has too.
func (d *Dialect) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if !src.Holds(manifestName) {
		return nil, nil
	}
	m, err := readManifest(src.Path)
	if err != nil {
		return nil, err
	}
	if !isFile(filepath.Join(src.Path, entryName)) {
		return nil, &plugin.Problem{
			Kind: "script", File: manifestName, Message: "There is a " + manifestName + ", but no " +
				entryName + " beside it.",
			Hint: "A MaiBot plugin is a folder with both.",
		}
	}
	if same := neighbours(src)[m.id]; len(same) > 1 {
		return nil, &plugin.Problem{
			Kind: "refused", File: manifestName,
			Message: fmt.Sprintf("The id %s is that of more than one plugin: %s.", m.id, strings.Join(same, ", ")),
			Hint:    "Remove all but one, then reload it.",
		}
	}
	sources, err := python.Sources(src.Path, entryName, python.OwnFiles(src.Path))
	if err != nil {
		return nil, err
	}
	return &plugin.Manifest{
		Dialect: Name, Name: m.name, Version: m.version, Description: m.about, Author: m.author, Homepage: m.home,
		Entry: entryName, Permissions: permissions(m.capabilities, sources), Files: Files(src.Path),
		Identity: m.id, Notices: m.notes,
	}, nil
}

// CodeFiles returns the files of a plugin that are its code; false when it is not of
// this dialect. A plugin writes settings and notes into the same folder, and what it
// writes is no edit.
func (d *Dialect) CodeFiles(src plugin.Source) ([]string, bool) {
	if !src.Holds(manifestName) {
		return nil, false
	}
	return Files(src.Path), true
}

// Files returns the files below dir that are a plugin's code and what comes with
// it, relative and sorted: all but its settings, which the person edits.
func Files(dir string) []string {
	return slices.DeleteFunc(plugin.SourceFiles(dir), func(name string) bool { return name == settingsName })
}

// settingsName is the file of a plugin's settings, next to its code.
const settingsName = "config.toml"

// maxSettings bounds what is read of it; real ones have some kilobytes.
const maxSettings = 1 << 20

// bringSettings puts the person's settings next to the copy that a plugin runs from,
// as old as they are: they are data, and no part of what was approved.
func bringSettings(home, copied string) error {
	if home == copied {
		return nil
	}
	to := filepath.Join(copied, settingsName)
	info, err := os.Lstat(filepath.Join(home, settingsName))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if was, err := os.Lstat(to); err == nil && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) {
		return nil
	}
	text, _, err := safefs.ReadSource(home, settingsName, maxSettings)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// provided are the first parts of the modules that the shim has.
var provided = []string{"maibot_sdk", "plugins"}

// Inspect tells which tools are declared and what is imported. The error is a
// *plugin.Problem.
func (d *Dialect) Inspect(ctx context.Context, src plugin.Source, m plugin.Manifest) (plugin.Listing, error) {
	files, err := python.Sources(src.Path, m.Entry, python.Files(src.Path))
	if err != nil {
		return plugin.Listing{}, err
	}
	answer, err := d.python.Inspect(ctx, m.Entry, files)
	if err != nil {
		return plugin.Listing{}, err
	}
	return answer.Declared(append(provided, filepath.Base(src.Display)), func(f python.InspectedMark) tool.Tool {
		if f.Decorator != "Tool" && f.Decorator != "Action" {
			return tool.Tool{}
		}
		return tool.Tool{
			Name: cmp.Or(f.Text("name"), f.Value(0)), Visibility: tool.Deferred,
			Description: cmp.Or(f.Text("brief_description"), f.Text("description"), f.Value(1)),
		}
	}), nil
}

// extra tells the loader conclave_maibot what the worker does not know.
type extra struct {
	Manifest map[string]any `json:"manifest"`
	Folder   string         `json:"folder"`        // the person's, to read
	SDK      string         `json:"sdk,omitempty"` // shim or installed; empty lets the loader choose
	Notes    []string       `json:"notes,omitempty"`
}

// farewell is the time that a plugin may take to leave: five seconds for its on_unload,
// one to get there (contracts/maibot, section 10).
const farewell = 6 * time.Second

// minimum is the oldest Python that MaiBot's plugins are written for.
const minimum = ">=3.10"

// Spec describes the worker of a plugin. The error is a *plugin.Problem of kind
// unavailable when there is no Python of 3.10 or newer, or another plugin is
// missing.
func (d *Dialect) Spec(ctx context.Context, src plugin.Source, _ plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	m, err := readManifest(src.Path)
	if err != nil {
		return sandbox.Spec{}, err
	}
	found, err := d.python.Python(ctx)
	if err != nil {
		return sandbox.Spec{}, err
	}
	if !python.Satisfies(found.Version, minimum) {
		return sandbox.Spec{}, &plugin.Problem{
			Kind:    "unavailable",
			Message: "MaiBot plugins need Python 3.10 or newer; this is " + found.Version + ".",
			Hint:    "Install a newer Python, or name one in the settings.",
		}
	}
	if missing := absent(src, m); len(missing) > 0 {
		return sandbox.Spec{}, plugin.NeedsPlugins(manifestName, missing)
	}
	home := cmp.Or(src.Display, src.Path)
	c := python.FolderConfig(src, entryName)
	c.Loader, c.Modules, c.Package = "conclave_maibot", []string{"maibot"}, true
	x := extra{Manifest: m.raw, Folder: home}
	if err := bringSettings(home, src.Path); err != nil {
		return sandbox.Spec{}, &plugin.Problem{
			Kind: "unavailable", File: settingsName, Message: "Its " + settingsName + " could not be read: " + err.Error() + ".",
		}
	}
	if start.Storage != "" {
		// Its settings and its notes lie next to its code (contracts/maibot, section 1), and
		// its folder's name is that of its modules.
		if x.Notes, err = c.UseWritableCopy(src, start.Storage, filepath.Base(home)); err != nil {
			return sandbox.Spec{}, err
		}
	}
	c.Extra = x
	spec, err := d.python.Spec(ctx, start, c, []string{src.Path, filepath.Join(home, settingsName)})
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec.Memory = sandbox.EcosystemMemory
	spec.Patience = farewell
	return spec, nil
}

// absent returns the plugins that m needs and that do not lie beside it.
func absent(src plugin.Source, m manifest) []string {
	var missing []string
	if len(m.plugins) == 0 {
		return nil
	}
	here := neighbours(src)
	for _, id := range m.plugins {
		if len(here[id]) == 0 {
			missing = append(missing, id)
		}
	}
	return missing
}
