package python

import (
	"io/fs"
	"slices"
	"strings"

	"conclave/app/plugin/sandbox"
)

// Program describes a process of the interpreter that runs argv, whose first
// part is the interpreter's file or a link to it: what it needs to read and
// execute, and nothing to write. It is for tools of the interpreter's own, such
// as venv; a plugin's worker is what Spec describes.
func (p Python) Program(argv []string) sandbox.Spec {
	return sandbox.Spec{
		Kind: "command", Argv: argv, Env: Environment(""),
		Read: readable(p, nil), Execute: executable(p.Executable),
	}
}

// Loader returns the files that starting the program at path executes: itself,
// and the ELF loader it names.
func Loader(path string) []string { return executable(path) }

// searched returns the modules in a folder of the shim that is no package itself
// but is put on an interpreter's path, such as shim/maibot/sdk.
func searched(dir string) (modules []string) {
	if _, err := fs.Stat(shim, dir+"/__init__.py"); err == nil {
		return nil
	}
	entries, err := fs.ReadDir(shim, dir)
	if err != nil {
		return nil // a file
	}
	for _, entry := range entries {
		modules = append(modules, strings.TrimSuffix(entry.Name(), ".py"))
	}
	return modules
}

// Provided returns the names of the modules that the worker brings along: its
// own, those of the ecosystems, and the stand-ins for packages that are not
// installed.
func Provided() (modules, standins []string) {
	top, err := fs.ReadDir(shim, "shim")
	if err != nil {
		return nil, nil // it is part of this program
	}
	for _, entry := range top {
		name := strings.TrimSuffix(entry.Name(), ".py")
		if !entry.IsDir() || name == "conclave_worker" {
			modules = append(modules, name)
			continue
		}
		inner, err := fs.ReadDir(shim, "shim/"+name)
		if err != nil {
			continue
		}
		for _, module := range inner {
			name := strings.TrimSuffix(module.Name(), ".py")
			if entry.Name() == "standins" {
				standins = append(standins, name)
				continue
			}
			modules = append(modules, name)
			modules = append(modules, searched("shim/"+entry.Name()+"/"+module.Name())...)
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules), standins
}
