package functions

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Dialect recognises Python functions and describes their worker. Its methods
// are safe for concurrent use.
type Dialect struct {
	python *python.Interpreters
	facts  plugin.Facts
}

var _ plugin.Dialect = (*Dialect)(nil)

// New returns the dialect on the machine's Python.
func New(interpreters *python.Interpreters) *Dialect {
	interpreters.Add(python.Ecosystem{Name: "llm", Shim: shim, Replaces: map[string]string{"llm": "llm"}})
	return &Dialect{interpreters, facts()}
}

// Recognize takes a .py file, or a folder with entry points for llm, with NAME/NAME.py or
// with an __init__.py. A folder may have such a file and the manifest of another dialect,
// which is why this one is asked last. The error is a *plugin.Problem for one that is
// empty, too large or unreadable.
func (d *Dialect) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	entry := filepath.Base(src.Path)
	if !src.Folder {
		if !strings.EqualFold(filepath.Ext(entry), ".py") {
			return nil, nil
		}
	} else {
		p, found, err := readProject(src.Path)
		if err != nil {
			return nil, err
		}
		if found {
			return p.manifest(src), nil
		}
		if entry, found = folderEntry(src.Path); !found {
			return nil, nil
		}
	}
	source, err := python.ReadSource(rootOf(src), entry)
	if err != nil {
		return nil, err
	}
	m := &plugin.Manifest{Dialect: Name, Name: src.ID, Entry: entry, Permissions: []string{}}
	m.Description = python.Docstring(source)
	m.Version = python.Assigned(source, "__version__")
	m.Author = python.Assigned(source, "__author__")
	m.Homepage = python.Assigned(source, "__url__")
	if !src.Folder {
		m.Files = append([]string{entry}, siblingFiles(src, entry, source)...)
	}
	return m, nil
}

// manifest describes a plugin that is packaged for llm.
func (p project) manifest(src plugin.Source) *plugin.Manifest {
	return &plugin.Manifest{
		Dialect: Name, Name: cmp.Or(p.name, src.ID), Version: p.version, Description: p.description,
		Author: p.author, Homepage: p.home, Entry: p.entry, Permissions: []string{},
	}
}

// folderEntry returns the file of a folder that is loaded, by its name.
func folderEntry(dir string) (string, bool) {
	base := filepath.Base(dir)
	for _, name := range []string{base + ".py", strings.ReplaceAll(base, "-", "_") + ".py", "__init__.py"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return name, true
		}
	}
	return "", false
}

// rootOf returns the folder that a plugin's files are named relative to.
func rootOf(src plugin.Source) string {
	if src.Folder {
		return src.Path
	}
	return filepath.Dir(src.Path)
}

// Inspect tells which functions will become tools and what is imported, from
// the syntax trees. The error is a *plugin.Problem.
func (d *Dialect) Inspect(ctx context.Context, src plugin.Source, m plugin.Manifest) (plugin.Listing, error) {
	names := m.Files
	if src.Folder {
		names = python.Files(src.Path)
	}
	files, err := python.Sources(rootOf(src), m.Entry, names)
	if err != nil {
		return plugin.Listing{}, err
	}
	inspect := d.python.Inspect
	if _, packaged, err := packagedIn(src); err != nil {
		return plugin.Listing{}, err
	} else if packaged {
		inspect = d.python.InspectRegistered
	}
	answer, err := inspect(ctx, m.Entry, files)
	if err != nil {
		return plugin.Listing{}, err
	}
	if problem := unsuitable(m.Entry, answer); problem != nil {
		return plugin.Listing{}, problem
	}
	listing := plugin.Listing{
		Known: answer.Known, Tools: []tool.Tool{}, Imports: answer.Imports, Options: answer.Options, Home: answer.Home,
	}
	for _, f := range answer.Functions {
		title, description := marked(answer.Decorated, m.Entry, f)
		listing.Tools = append(listing.Tools, tool.Tool{
			Plugin: src.ID, Name: f.Name, Title: cmp.Or(title, f.Name), Description: cmp.Or(description, f.Doc),
			Visibility: tool.Direct, Dialect: Name, File: m.Entry, Line: f.Line,
		})
	}
	return listing, nil
}

// marked returns the title and the description that a function of a file is given with
// @conclave.tool, where they are written out; else they are known once it ran.
func marked(marks []python.InspectedMark, file string, f python.InspectedFunction) (title, description string) {
	for _, mark := range marks {
		if mark.Decorator == "tool" && mark.File == file && mark.Line == f.Line {
			title, _ = mark.Options["title"].(string)
			description, _ = mark.Options["description"].(string)
		}
	}
	return title, description
}

// unsuitable returns why a file that Python can read is no file of functions, or
// nil: it is a tool file of Open WebUI, whose public functions are helpers, or it
// has nothing to offer.
func unsuitable(entry string, read python.Inspected) *plugin.Problem {
	const page = "docs/PYTHON.md shows what such a file looks like."
	switch {
	case registers(read):
		return nil
	case has(read, "Tools"):
		return &plugin.Problem{
			Kind: "unavailable", File: entry,
			Message: entry +
				" is a tool file of Open WebUI: its tools are the methods of its class Tools. " +
				"Conclave does not run such files yet.",
			Hint: "The methods work as functions in a separate file; " + page,
		}
	case len(read.Functions) > 0 || !read.Known || read.Exports:
		return nil
	case has(read, "Pipe", "Filter", "Action", "Event"):
		return &plugin.Problem{
			Kind: "unavailable", File: entry,
			Message: entry + " is a file of Open WebUI that changes Open WebUI itself; it has no tools.",
			Hint:    "It can be removed from the plugins folder.",
		}
	}
	return &plugin.Problem{
		Kind: "script", File: entry,
		Message: entry + " has no public function, so there is no tool in it.",
		Hint: "A tool is a function whose name does not begin with _, with type hints and a docstring: " +
			"def word_count(text: str) -> int: … " + page,
	}
}

// registers reports whether the entry offers tools in the way of the llm program:
// by a hook, or by a toolbox.
func registers(read python.Inspected) bool {
	for _, bases := range read.Classes {
		if slices.Contains(bases, "Toolbox") {
			return true
		}
	}
	return slices.ContainsFunc(read.Decorated, func(m python.InspectedMark) bool {
		return m.Decorator == "hookimpl" && m.Name == "register_tools"
	})
}

// has reports whether the entry has a class of one of the names.
func has(read python.Inspected, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := read.Classes[name]
		return ok
	})
}

// packagedIn is readProject of a plugin that is a folder.
func packagedIn(src plugin.Source) (project, bool, error) {
	if !src.Folder {
		return project{}, false, nil
	}
	return readProject(src.Path)
}

// modules are the folders of the shim that every plugin finds modules in: llm is
// Conclave's own, whether the real one is installed or not.
var modules = []string{"llm"}

// loader is the module of the shim that loads the plugins.
const loader = "conclave_functions"

// Spec describes the worker of a plugin. The error is a *plugin.Problem of kind
// unavailable when there is no Python.
func (d *Dialect) Spec(ctx context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	own := []string{src.Path} // what of the plugin may be read
	if src.Folder {
		c := python.FolderConfig(src, m.Entry)
		c.Loader, c.Modules = loader, modules
		p, packaged, err := packagedIn(src)
		switch {
		case err != nil:
			return sandbox.Spec{}, err
		case packaged:
			c.Extra, c.Paths = map[string][]string{"points": p.points}, []string{p.path}
			if p.path != "" {
				c.Paths = append(c.Paths, "")
			}
		default:
			c.Package = m.Entry == "__init__.py"
		}
		return d.python.Spec(ctx, start, c, own)
	}
	folder := filepath.Dir(src.Path)
	c := python.Config{
		ID: src.ID, Loader: loader, Modules: modules, Root: folder, Home: folder, Entry: src.Path, Display: src.Path,
	}
	names, files := siblings(folder, m)
	c.Siblings = names
	return d.python.Spec(ctx, start, c, slices.Concat(own, files))
}

// siblings returns the modules next to a single file in folder that it may import,
// and their files.
func siblings(folder string, m plugin.Manifest) (names, files []string) {
	for _, file := range m.Files {
		if file == m.Entry {
			continue
		}
		name, _, _ := strings.Cut(file, "/")
		name = strings.TrimSuffix(name, ".py")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		files = append(files, filepath.Join(folder, filepath.FromSlash(file)))
	}
	return names, files
}
