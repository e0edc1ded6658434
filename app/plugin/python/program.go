package python

import (
	"io/fs"
	"slices"
	"strings"

	"conclave/app/plugin"
)

// Program describes a process of the interpreter that runs argv, whose first
// part is the interpreter's file or a link to it: what it needs to read and
// execute, and nothing to write. It is for tools of the interpreter's own, such
// as venv; a plugin's worker is what Spec describes.
func (p Python) Program(argv []string) plugin.Spec {
	return plugin.Spec{
		Kind: "command", Argv: argv, Env: Environment(""),
		Read: readable(p, nil), Execute: executable(p.Executable),
	}
}

// Loader returns the files that starting the program at path executes: itself,
// and the ELF loader it names.
func Loader(path string) []string { return executable(path) }

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
			} else {
				modules = append(modules, name)
			}
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules), standins
}
