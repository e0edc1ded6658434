package library

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

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
	what, err := l.importable(ctx, from)
	if what == nil || err != nil {
		return Imported{}, err != nil, err
	}
	made.Left = what.Left
	dir, err := l.staging()
	if err != nil {
		return Imported{}, true, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is of no further use
	conflicts := 0
	for _, p := range what.Plugins {
		one, err := l.addImported(ctx, from, dir, p)
		switch {
		case ctx.Err() != nil:
			return made, true, context.Cause(ctx)
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
		return made, true, nil
	}
	kind := fault.Invalid
	if conflicts == len(made.Left) {
		kind = fault.Conflict
	}
	return made, true, fault.New(kind, "plugin.import", "No plugin was made of "+filepath.Base(from)+".",
		"What would have to be different stands with each of them.")
}

// importable returns what can be made of from; nil when it is no configuration file.
func (l *Library) importable(ctx context.Context, from string) (*plugin.Import, error) {
	if Remote(from) {
		return nil, nil
	}
	if info, err := os.Stat(from); err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // Add says so
	}
	what, err := l.o.Host.Dialects.Import(ctx, from)
	if p, ok := errors.AsType[*plugin.Problem](err); ok {
		return nil, fault.New(fault.Invalid, "plugin.import", p.Error(), p.Hint)
	}
	return what, err
}

// addImported makes one plugin.
func (l *Library) addImported(ctx context.Context, from, dir string, p plugin.ImportedPlugin) (Added, error) {
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
	return Added{ID: id, Name: p.Name, Notes: p.Notes}, err
}

func (l *Library) writeImported(from, to string, p plugin.ImportedPlugin) error {
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return err
	}
	if err := safefs.CopyFiles(filepath.Dir(from), p.Files, to, plugin.MaxBytes); err != nil {
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
	what, err := l.importable(ctx, from)
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
