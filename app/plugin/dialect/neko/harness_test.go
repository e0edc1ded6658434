package neko_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/python"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

var must, write = testkit.Must, testkit.Write

func TestMain(m *testing.M) { programtest.Main(m) }

// everyPython runs a test on each Python of this machine.
func everyPython(t *testing.T, test func(t *testing.T, d *neko.Dialect)) {
	t.Helper()
	pythontest.Every(t, func(t *testing.T, i *python.Interpreters) { test(t, neko.New(i)) })
}

// aPython returns the dialect with the Python that a person would get.
func aPython(t testing.TB) *neko.Dialect {
	t.Helper()
	return neko.New(pythontest.Any(t))
}

// head begins every plugin of these tests.
const head = `
import asyncio, os, sys, threading, time
from plugin.sdk.plugin import *
from plugin.sdk.plugin import NekoPluginBase, Ok, Err, SdkError, EntryConflictError
`

// manifestOf is a plugin.toml with more lines in its [plugin] table, and tables
// after it.
func manifestOf(more ...string) string {
	return "[plugin]\nname = \"Probe\"\nid = \"probe\"\nentry = \"plugin.plugins.probe:Probe\"\n" +
		strings.Join(more, "\n") + "\n"
}

// folder writes a plugin whose class Probe has body, and returns where it lies.
// Files of more replace those made here.
func folder(t testing.TB, body string, more map[string]string) plugin.Source {
	t.Helper()
	tree := map[string]string{
		"probe/plugin.toml": manifestOf(),
		"probe/__init__.py": head + "\n\n@neko_plugin\nclass Probe(NekoPluginBase):\n" + indented(body),
	}
	for name, text := range more {
		tree["probe/"+name] = text
	}
	maps.DeleteFunc(tree, func(_, text string) bool { return text == gone })
	src := pythontest.Source(t, pythontest.Files(t, tree)+"/probe")
	return src
}

// gone stands for a file that folder is not to write.
const gone = "\x00"

func indented(body string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(body, "\n") + "\n") {
		b.WriteString("    " + line)
	}
	return b.String()
}

// serve starts a plugin whose class has body.
func serve(t testing.TB, d *neko.Dialect, body string) *pythontest.Worker {
	t.Helper()
	return pythontest.Launch(t, d, folder(t, body, nil))
}

// refused starts a plugin that does not load, and returns why.
func refused(t testing.TB, d *neko.Dialect, src plugin.Source) *plugin.Problem {
	t.Helper()
	p := pythontest.Launch(t, d, src).Initialize()
	if p == nil {
		t.Fatal("it loaded")
	}
	return p
}

// tool returns a listed tool.
func tool(t testing.TB, tools []pythontest.Listed, name string) pythontest.Listed {
	t.Helper()
	for _, one := range tools {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("no tool %s among %v", name, pythontest.Names(tools))
	panic("unreachable")
}

// says checks the text of an answer that is no error.
func says(t testing.TB, a pythontest.Answer, want string) {
	t.Helper()
	if a.IsError || a.Text() != want {
		t.Errorf("got %q (error %v), want %q", a.Text(), a.IsError, want)
	}
}

// fails checks that an answer is an error whose text has all of parts.
func fails(t testing.TB, a pythontest.Answer, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !a.IsError || !strings.Contains(a.Text(), part) {
			t.Errorf("got %q (error %v), want an error with %q", a.Text(), a.IsError, part)
		}
	}
}

// startOptions say where a plugin may live.
func startOptions(t testing.TB) plugin.StartOptions {
	t.Helper()
	return plugin.StartOptions{Storage: t.TempDir(), Runtime: programtest.Dir, Work: t.TempDir()}
}

func problemOf(t testing.TB, err error) *plugin.Problem {
	t.Helper()
	p, ok := errors.AsType[*plugin.Problem](err)
	if !ok {
		t.Fatalf("got %v, want a problem", err)
	}
	return p
}
