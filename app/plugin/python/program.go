package python

import (
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// Program describes a process of the interpreter that runs argv, whose first
// part is the interpreter's file or a link to it: what it needs to read and
// execute, and nothing to write. It is for tools of the interpreter's own, such
// as venv; Spec describes the worker of a plugin.
func (p Python) Program(argv []string) sandbox.Spec {
	return sandbox.Spec{
		Kind: "command", Argv: argv, Env: Environment(""),
		Read: readable(p, nil), Execute: Loader(p.Executable),
	}
}

// Loader returns the files that starting the program at path executes: itself,
// and the ELF loader it names.
func Loader(path string) []string {
	if loader := plugin.Loader(path); loader != "" {
		return []string{path, loader}
	}
	return []string{path}
}
