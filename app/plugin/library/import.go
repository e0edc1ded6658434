package library

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
)

// Imported describes what Import made of a configuration file.
type Imported struct {
	Added []Added
	Left  []plugin.LeftOut // of what it made nothing
}

// Added is a plugin that Import made.
type Added struct {
	ID    string
	Name  string   // as the configuration has it
	Notes []string // what of it will not be as it was
}

// Import makes a plugin of each entry of another program's configuration file, such as
// PicoClaw's config.json; found is false for anything else, which Add is for. Files
// are copied from the folder of the file alone. Nothing runs, and each plugin waits for
// approval. What cannot be taken over is left out by name; when that is everything, the
// error is of kind invalid, or conflict where all is there already.
func (l *Library) Import(ctx context.Context, from string) (made Imported, found bool, err error) {
	return l.importWith(ctx, from, l.o.Host.Dialects)
}

// ImportServers is Import of MCP servers alone: a configuration may also have entries of other
// ecosystems, as PicoClaw's has hooks.
func (l *Library) ImportServers(ctx context.Context, from string) (made Imported, found bool, err error) {
	dialect := l.o.Host.Dialects.Text()
	if dialect == nil {
		return Imported{}, false, errNoTexts
	}
	return l.importWith(ctx, from, dialect)
}

// fileImporter reads a configuration file; nil is a file that it does not know.
type fileImporter interface {
	Import(ctx context.Context, path string) (*plugin.Import, error)
}

func (l *Library) importWith(ctx context.Context, from string,
	reads fileImporter,
) (made Imported, found bool, err error) {
	what, err := l.importable(ctx, from, reads)
	if what == nil || err != nil {
		return Imported{}, err != nil, err
	}
	made, err = l.make(ctx, from, what)
	return made, true, err
}

// ImportText makes a plugin of each server of a text that a person typed or pasted: a
// configuration, a link, an address, a command. name is for the only one; empty leaves it to
// the text. It is otherwise like Import. Kind unavailable where no dialect reads texts.
func (l *Library) ImportText(ctx context.Context, text, name string) (Imported, error) {
	dialect := l.o.Host.Dialects.Text()
	if dialect == nil {
		return Imported{}, errNoTexts
	}
	what, err := dialect.ImportText(ctx, text, name)
	if err != nil {
		return Imported{}, importFault(err)
	}
	return l.make(ctx, "", what)
}

// Places lists the configurations of other programs from which plugins can be imported.
func (l *Library) Places(env func(name string) string, dir string) []plugin.Place {
	if dialect := l.o.Host.Dialects.Text(); dialect != nil {
		return dialect.Places(env, dir)
	}
	return nil
}

// OfText reports whether a plugin is of the dialect that makes plugins of texts: an MCP server.
func (l *Library) OfText(s plugin.Status) bool {
	dialect := l.o.Host.Dialects.Text()
	return dialect != nil && s.Manifest.Dialect == dialect.Facts().Name
}

// Export returns the configuration of a plugin in the form of another program, with placeholders
// for its secrets. Kind invalid for a form that there is not, and for a plugin that has no
// configuration of this kind.
func (l *Library) Export(id, form string) (string, error) {
	s, err := l.o.Host.Status(id)
	if err != nil {
		return "", err
	}
	if !l.OfText(s) {
		return "", fault.New(fault.Invalid, "plugin.export",
			"The plugin "+id+" has no configuration that other programs read.", "")
	}
	text, err := l.o.Host.Dialects.Text().Export(s.Manifest, form)
	return text, importFault(err)
}

var errNoTexts = fault.New(fault.Unavailable, "plugin.import", "No plugins are made of texts here.", "")

// importFault returns a *plugin.Problem as a fault.
func importFault(err error) error {
	if p, ok := errors.AsType[*plugin.Problem](err); ok {
		return fault.New(fault.Invalid, "plugin.import", p.Error(), p.Hint)
	}
	return err
}

// make makes the plugins of a configuration, which lies at from; empty for a text.
func (l *Library) make(ctx context.Context, from string, what *plugin.Import) (made Imported, err error) {
	made.Left = what.Left
	dir, err := l.staging()
	if err != nil {
		return Imported{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is of no further use
	conflicts := 0
	for _, p := range what.Plugins {
		one, err := l.addImported(ctx, from, dir, p)
		switch {
		case ctx.Err() != nil:
			return made, context.Cause(ctx)
		case err != nil:
			f := fault.Of(err)
			if f.Kind == fault.Conflict {
				conflicts++
			}
			made.Left = append(made.Left, plugin.LeftOut{Name: p.Name, Why: f.Message})
		default:
			made.Added = append(made.Added, one)
		}
	}
	if len(made.Added) > 0 {
		return made, nil
	}
	kind := fault.Invalid
	if conflicts == len(made.Left) {
		kind = fault.Conflict
	}
	of := "the text"
	if from != "" {
		of = filepath.Base(from)
	}
	return made, fault.New(kind, "plugin.import", "No plugin was made of "+of+".",
		"What would have to be different stands with each of them.")
}

// importable returns what can be made of from; nil when it is no configuration file.
func (l *Library) importable(ctx context.Context, from string, reads fileImporter) (*plugin.Import, error) {
	if Remote(from) {
		return nil, nil
	}
	if info, err := os.Stat(from); err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // Add says so
	}
	what, err := reads.Import(ctx, from)
	return what, importFault(err)
}

// addImported makes one plugin.
func (l *Library) addImported(ctx context.Context, from, dir string, p plugin.ImportedPlugin) (Added, error) {
	if other, ok := l.o.Host.Same(p.Same); ok {
		return Added{}, fault.New(fault.Conflict, "plugin.import", plugin.AlreadyThere(other), "")
	}
	to := filepath.Join(l.o.Dir, p.Folder)
	if _, err := os.Lstat(to); err == nil || l.o.Host.Known(p.Folder) {
		return Added{}, fault.New(fault.Conflict, "plugin.import", "There is a plugin "+p.Folder+" already.", "")
	}
	s := &staged{dir: dir, path: filepath.Join(dir, p.Folder), base: p.Folder, folder: true, from: from}
	err := l.writeImported(from, s.path, p)
	if err == nil {
		err = move(s.path, to)
	}
	if err != nil {
		return Added{}, notCopied("plugin.import", p.Folder, l.o.Dir, err)
	}
	id, err := l.added(ctx, s, p.Folder)
	one := Added{ID: id, Name: p.Name}
	if err != nil {
		return one, err
	}
	one.Notes = slices.Clone(p.Notes)
	switch err := l.keepSecrets(ctx, id, p.Secrets); {
	case err != nil: // it is there all the same
		f := fault.Of(err)
		one.Notes = append(one.Notes, "Its secrets were not kept. Enter them on its card.",
			strings.TrimSpace(f.Message+" "+f.Hint))
	case p.Kept != "":
		one.Notes = append(one.Notes, p.Kept)
	}
	return one, nil
}

// keepSecrets gives a plugin that was just added the secrets among its settings.
func (l *Library) keepSecrets(ctx context.Context, id string, secrets map[string]string) error {
	if len(secrets) == 0 {
		return nil
	}
	if err := l.o.Host.WaitLoaded(ctx, id); err != nil {
		return err
	}
	values, err := json.Marshal(secrets)
	if err != nil {
		return err
	}
	return l.o.Host.Settings.Set(ctx, id, values)
}

func (l *Library) writeImported(from, to string, p plugin.ImportedPlugin) error {
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return err
	}
	var err error
	if len(p.Files) > 0 {
		err = safefs.CopyFiles(filepath.Dir(from), p.Files, to, plugin.MaxBytes)
	} else {
		err = os.MkdirAll(to, 0o700)
	}
	if err != nil {
		return err
	}
	for name, text := range p.Texts {
		if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
			return err
		}
	}
	return bounded(to)
}

// stageUpdate is stage for the plugin id, where from may be a configuration file with
// others.
func (l *Library) stageUpdate(ctx context.Context, id, from string) (_ *staged, err error) {
	what, err := l.importable(ctx, from, l.o.Host.Dialects)
	if err != nil {
		return nil, err
	}
	if what == nil {
		return l.stage(ctx, from)
	}
	at := slices.IndexFunc(what.Plugins, func(p plugin.ImportedPlugin) bool { return p.Folder == id })
	if at < 0 {
		return nil, fault.New(fault.NotFound, "plugin.update", "The plugin "+id+" cannot be made of "+from+" any more.",
			"Name what should replace it, or see why: conclave plugins add "+from+".")
	}
	dir, err := l.staging()
	if err != nil {
		return nil, err
	}
	s := &staged{dir: dir, path: filepath.Join(dir, id), base: id, folder: true, from: from}
	defer func() {
		if err != nil {
			s.discard()
		}
	}()
	if err := l.writeImported(from, s.path, what.Plugins[at]); err != nil {
		return nil, notCopied("plugin.update", id, dir, err)
	}
	return s, l.inspect(ctx, s)
}
