package library

import (
	"context"
	"embed"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"conclave/app/fault"
	"conclave/app/plugin"
)

// templates holds one folder per kind; NAME in paths and texts becomes the new
// plugin's name.
//
//go:embed all:templates
var templates embed.FS

// Template is a kind of plugin that New can make.
type Template struct {
	Kind     string // the word of the command line
	Title    string
	Sentence string // what it is good for
	File     string // what it makes in the plugins folder; NAME stands for the name, a / at the end for a folder
	Common   bool   // one of the first three a newcomer is offered
}

// Templates lists the kinds, in the order a menu shows them.
func Templates() []Template {
	return []Template{
		{"python", "Python functions", "Each function of a file becomes a tool.", "NAME.py", true},
		{"toolbox", "Python toolbox", "Methods of a class that share a state and take settings.", "NAME.py", false},
		{"js", "JavaScript", "One script that registers its tools.", "NAME.js", true},
		{"ts", "TypeScript", "The same with types, built when it is loaded.", "NAME.ts", true},
		{"spindle", "Spindle extension", "A folder with a manifest that asks for permissions.", "NAME/", false},
		{"spindle-ts", "Spindle extension in TypeScript", "The same with types, built when it is loaded.", "NAME/", false},
		{"maibot", "MaiBot plugin", "A folder with a manifest, settings and tools that MaiBot runs too.", "NAME/", false},
		{"neko", "N.E.K.O plugin", "A folder with a manifest and a class of tools that N.E.K.O runs too.", "NAME/", false},
	}
}

// TemplateKinds returns the kinds' words.
func TemplateKinds() []string {
	var kinds []string
	for _, t := range Templates() {
		kinds = append(kinds, t.Kind)
	}
	return kinds
}

// typesFile describes the spindle object for editors; nothing loads it. It lies in
// the folder of an extension, and beside scripts, which share one.
const typesFile = "spindle.d.ts"

// typesIn returns the folder that a new plugin's types belong to, or "" for a kind
// without.
func typesIn(kind, dir, path string) string {
	switch kind {
	case "js", "ts":
		return dir
	case "spindle", "spindle-ts":
		return path
	}
	return ""
}

// writeTypes writes the types into folder.
func writeTypes(folder string) error {
	to := filepath.Join(folder, typesFile)
	text, err := templates.ReadFile("templates/kit/" + typesFile)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

var templateName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

// New makes a plugin from a template in the plugins folder, approved and developed
// by whoever makes it, and returns its id and path. Kind usage for an unknown kind
// or a name that cannot be, conflict when it exists.
func (l *Library) New(ctx context.Context, kind, name string) (id, path string, err error) {
	if !slices.Contains(TemplateKinds(), kind) {
		return "", "", fault.New(fault.Usage, "plugin.new", "There is no template of kind "+kind+".", "There are: "+strings.Join(TemplateKinds(), ", ")+".")
	}
	if !templateName.MatchString(name) {
		return "", "", fault.New(fault.Usage, "plugin.new", "A plugin cannot be named “"+name+"”.", "Use small letters, digits and _, beginning with a letter.")
	}
	base := "templates/" + kind
	entries, err := templates.ReadDir(base)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return "", "", fault.Wrap(fault.Unavailable, "plugin.new", "The plugins folder "+l.o.Dir+" cannot be made.", "", err)
	}
	for _, entry := range entries {
		to := filepath.Join(l.o.Dir, strings.ReplaceAll(entry.Name(), "NAME", name))
		if _, err := os.Lstat(to); err == nil {
			return "", "", fault.New(fault.Conflict, "plugin.new", "There is a "+filepath.Base(to)+" in the plugins folder already.", "Choose another name.")
		}
		if !strings.HasSuffix(to, plugin.TestsEnding) {
			path = to
		}
	}
	if err := l.putTemplate(kind, name, filepath.Base(path)); err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			return "", "", f
		}
		return "", "", fault.Wrap(fault.Unavailable, "plugin.new", "The plugin could not be written to "+path+".", "Check the space on its disk. Nothing was made.", err)
	}
	if err := l.o.Host.Scan(); err != nil {
		return "", "", err
	}
	if id, err = l.o.Host.Find(filepath.Base(path)); err != nil {
		return "", path, err
	}
	if err := l.o.Host.Loaded(ctx, id); err != nil {
		return id, path, err
	}
	// What lies there is Conclave's own text, and its permissions are the template's.
	return id, path, l.o.Host.Trust(ctx, id, true)
}

// putTemplate writes the template's files beside the plugins folder and moves
// them there, the plugin itself, which is called base, last.
func (l *Library) putTemplate(kind, name, base string) error {
	dir, err := l.staging()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // empty, or of no further use
	if err := writeTemplate("templates/"+kind, dir, name); err != nil {
		return err
	}
	if folder := typesIn(kind, dir, filepath.Join(dir, base)); folder != "" {
		if err := writeTypes(folder); err != nil {
			return err
		}
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range made {
		to := filepath.Join(l.o.Dir, e.Name())
		if _, err := os.Lstat(to); e.Name() == base || e.Name() == typesFile && err == nil {
			continue
		}
		if err := move(filepath.Join(dir, e.Name()), to); err != nil {
			return err
		}
	}
	return move(filepath.Join(dir, base), filepath.Join(l.o.Dir, base))
}

func writeTemplate(from, to, name string) error {
	entries, err := templates.ReadDir(from)
	if err != nil { // a file
		text, err := templates.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(strings.ReplaceAll(string(text), "NAME", name)), 0o600)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := writeTemplate(from+"/"+e.Name(), filepath.Join(to, strings.ReplaceAll(e.Name(), "NAME", name)), name); err != nil {
			return err
		}
	}
	return nil
}
