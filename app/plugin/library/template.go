package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/gate"
	"conclave/app/plugin"
)

// Templates lists the kinds that New can make, in the order a menu shows them.
func (l *Library) Templates() []plugin.Template {
	return slices.DeleteFunc(slices.Clone(l.o.Templates), func(t plugin.Template) bool { return t.Program })
}

// IsProgram reports whether a kind is made by NewProgram.
func (l *Library) IsProgram(kind string) bool {
	t, err := l.template(kind)
	return err == nil && t.Program
}

// template returns the template of a kind. Kind usage where there is none.
func (l *Library) template(kind string) (plugin.Template, error) {
	var kinds []string
	for _, t := range l.o.Templates {
		if t.Kind == kind {
			return t, nil
		}
		kinds = append(kinds, t.Kind)
	}
	return plugin.Template{}, fault.New(fault.Usage, "plugin.new", "There is no template of kind "+kind+".",
		"There are: "+strings.Join(kinds, ", ")+".")
}

// NewProgram makes a program that registers tools, in a folder of its name in dir, and
// returns its path. The kinds of errors are those of New.
func (l *Library) NewProgram(kind, dir, name string) (path string, err error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	template, err := l.template(kind)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil {
		return "", fault.New(fault.Conflict, "plugin.new", "There is a "+name+" in this folder already.",
			"Choose another name.")
	}
	if err := write(template, kind+"/NAME", path, name); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.new", "The program could not be written to "+path+".",
			"Check the space on its disk, and that you may write there.", err)
	}
	return path, nil
}

func checkName(name string) error {
	if gate.Reserved(name) {
		return fault.New(fault.Usage, "plugin.new", "A plugin cannot be named “"+name+
			"”: Conclave speaks under that name itself.", "Choose another name.")
	}
	if templateName().MatchString(name) {
		return nil
	}
	return fault.New(fault.Usage, "plugin.new", "A plugin cannot be named “"+name+"”.",
		"Use small letters, digits and _, beginning with a letter.")
}

var templateName = pattern.Lazy(`^[a-z][a-z0-9_]{0,47}$`)

// New makes a plugin from a template in the plugins folder, approved and under
// development by whoever makes it, and returns its id and path. Kind usage for an
// unknown kind or a name that is not allowed, conflict when it exists.
func (l *Library) New(ctx context.Context, kind, name string) (id, path string, err error) {
	template, err := l.template(kind)
	if err != nil {
		return "", "", err
	}
	if err := checkName(name); err != nil {
		return "", "", err
	}
	entries, err := fs.ReadDir(template.Files, "templates/"+kind)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return "", "", fault.Wrap(fault.Unavailable, "plugin.new", "The plugins folder "+l.o.Dir+" cannot be made.", "", err)
	}
	for _, entry := range entries {
		to := filepath.Join(l.o.Dir, strings.ReplaceAll(entry.Name(), "NAME", name))
		if _, err := os.Lstat(to); err == nil {
			return "", "", fault.New(fault.Conflict, "plugin.new", "There is a "+filepath.Base(to)+
				" in the plugins folder already.", "Choose another name.")
		}
		if !strings.HasSuffix(to, plugin.TestsEnding) {
			path = to
		}
	}
	written, err := l.putTemplate(ctx, template, name, filepath.Base(path))
	if err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			return "", "", f
		}
		return "", "", fault.Wrap(fault.Unavailable, "plugin.new", "The plugin could not be written to "+path+".",
			"Check the space on its disk. Nothing was made.", err)
	}
	if err := l.o.Host.Scan(); err != nil {
		return "", "", err
	}
	if id, err = l.o.Host.Find(filepath.Base(path)); err != nil {
		return "", path, err
	}
	if err := l.o.Host.WaitLoaded(ctx, id); err != nil {
		return id, path, err
	}
	return id, path, l.approveMade(ctx, id, written)
}

// approveMade approves a plugin whose files are those that Conclave has just written: its code,
// and then what that lists. written is their digest; other files wait for the person.
func (l *Library) approveMade(ctx context.Context, id, written string) error {
	for range 2 {
		s, err := l.o.Host.Status(id)
		if err != nil || s.Shown == "" {
			return err
		}
		if s.Digest != written {
			return fault.New(fault.Conflict, "plugin.new", "The files of "+id+" changed while it was made.",
				"Look at it, and approve it.")
		}
		if err := l.o.Host.Approvals.Approve(ctx, id, s.Shown, gate.ApproveOptions{Developing: true}); err != nil {
			return err
		}
	}
	return nil
}

// putTemplate writes the template's files next to the plugins folder and moves them there, the
// plugin itself, which is called base, last. It returns the digest of the plugin as written.
func (l *Library) putTemplate(ctx context.Context, t plugin.Template, name, base string) (digest string, err error) {
	dir, err := l.staging()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // empty, or of no further use
	if err := write(t, t.Kind, dir, name); err != nil {
		return "", err
	}
	if t.Types != "" {
		folder := dir
		if strings.HasSuffix(t.File, "/") {
			folder = filepath.Join(dir, base)
		}
		if err := write(t, t.Types, filepath.Join(folder, t.Types), name); err != nil {
			return "", err
		}
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range made {
		to := filepath.Join(l.o.Dir, e.Name())
		if _, err := os.Lstat(to); e.Name() == base || e.Name() == t.Types && err == nil {
			continue
		}
		if err := move(filepath.Join(dir, e.Name()), to); err != nil {
			return "", err
		}
	}
	if digest, err = l.o.Host.Dialects.CodeDigest(ctx, filepath.Join(dir, base)); err != nil {
		return "", err
	}
	return digest, move(filepath.Join(dir, base), filepath.Join(l.o.Dir, base))
}

// write writes the file or folder from of templates/ to the path to.
func write(t plugin.Template, from, to, name string) error {
	entries, err := fs.ReadDir(t.Files, "templates/"+from)
	if err != nil { // a file
		text, err := fs.ReadFile(t.Files, "templates/"+from)
		if err != nil {
			return err
		}
		text = []byte(strings.NewReplacer("NAME", name, "SHARED\n", t.Shared).Replace(string(text)))
		return os.WriteFile(to, text, 0o600)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := write(t, from+"/"+e.Name(), filepath.Join(to, strings.ReplaceAll(e.Name(), "NAME", name)),
			name); err != nil {
			return err
		}
	}
	return nil
}
