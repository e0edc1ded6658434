// Package runtimes finds the programs that MCP servers are started with: it asks the person's login shell for its
// PATH, knows the usual places, and has a sentence with a cure for each runtime that is missing. It starts no server.
package runtimes

import (
	"context"
	"errors"
)

// Environment is the part of the person's environment in which servers start.
type Environment struct {
	// Variables are NAME=value: PATH, HOME, USER, LANG, TMPDIR, proxies and certificates, and nothing else.
	Variables []string
	all       map[string]string // of the login shell, for placeholders
	path      []string
}

// Lookup returns a variable of the login shell, for placeholders that the person wrote.
func (e *Environment) Lookup(name string) (string, bool) {
	value, ok := e.all[name]
	return value, ok
}

// Missing is the error of a command that was not found.
type Missing struct {
	Command string // as the configuration has it
	Runtime string // what it belongs to: node, uv, python, docker, bun, deno, dotnet; empty for another
	Message string // one sentence
	Cure    string // what the person can do, one sentence
}

// Error returns the sentence.
func (m *Missing) Error() string { return m.Message }

// Login returns the environment of the person's login shell: it asks once, within 5 s, and keeps the answer until
// Forget. A shell that does not answer is no error; the usual places are searched then.
func Login(ctx context.Context) *Environment { return &Environment{} }

// Forget makes the next Login ask again.
func Forget() {}

// Resolve returns the file that a command starts, absolute with links not resolved; dir is the folder that relative
// paths belong to. The error is a *Missing.
func (e *Environment) Resolve(command, dir string) (string, error) {
	return "", errors.New("commands cannot be resolved yet")
}
