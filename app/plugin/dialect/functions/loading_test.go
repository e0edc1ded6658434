package functions_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/python/pythontest"
)

// mixed has one of everything that must or must not become a tool.
const mixed = `"""Mixed."""
import functools, json, math
from subprocess import run
from collections import defaultdict, Counter
from datetime import datetime
from typing import Optional, List, Literal, TYPE_CHECKING
from dataclasses import dataclass
from urllib.request import urlopen

def decorator(f):
    @functools.wraps(f)
    def inner(*a, **k): return f(*a, **k)
    return inner

def bare(f):
    def inner(*a, **k): return f(*a, **k)
    return inner

@dataclass
class Helper: x: int = 0

class Other:
    def method(self): ...

square = lambda x: x * x
double = functools.partial(pow, 2)

def zulu(): return "z"
@decorator
def wrapped(n: int = 1): return n
@functools.lru_cache(maxsize=None)
def cached(n: int): return n
@bare
def hidden_signature(n: int): return n
alias = zulu
async def later(): return 1
def _private(): ...
def gen(n: int):
    yield from range(n)
if math.pi > 3:
    def conditional(): ...
try:
    import no_such_module_at_all
except ImportError:
    def fallback(): ...
if TYPE_CHECKING:
    def never(): ...
if __name__ == "__main__":
    def main(): ...
    raise SystemExit("ran as a script")
`

var mixedTools = []string{"zulu", "wrapped", "cached", "hidden_signature", "later", "gen", "conditional", "fallback"}

func TestLF01AFileOffersItsPublicFunctionsInSourceOrder(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		path := filepath.Join(files(t, map[string]string{"mixed.py": mixed}), "mixed.py")
		src := source(t, path)
		m, err := d.Recognize(t.Context(), src)
		must(t, err)
		equal(t, "dialect", m.Dialect, "functions")
		equal(t, "description", m.Description, "Mixed.")
		tools := launch(t, d, src).List()
		equal(t, "tools", strings.Join(names(tools), " "), strings.Join(mixedTools, " "))
		equal(t, "line of zulu", tools[0].Meta.Line, 28)
		equal(t, "file", tools[0].Meta.File, "mixed.py")
	})
}

func TestLF03AllNarrowsAndCanAdd(t *testing.T) {
	w := serve(t, aPython(t), `
from functools import partial
__all__ = ["double", "second", "Thing", "missing"]
def first(): ...
def second(): ...
class Thing: ...
def _power(base: int, exponent: int) -> int:
    "Raise."
    return base ** exponent
double = partial(_power, 2)
`)
	tools := relist(t, w)
	equal(t, "tools", strings.Join(names(tools), " "), "double second")
	equal(t, "description of a partial", tools[0].Description, "Raise.")
	equal(t, "call of a partial", w.Call("double", `{"exponent":3}`).Text(), "8")
}

func TestLF03DecoratedFunctionsAreOfferedOnceUnderTheirOwnName(t *testing.T) {
	w := serve(t, aPython(t), mixed)
	tools := relist(t, w)
	equal(t, "schema of a wrapped function", compact(t, tools[1].Schema),
		`{"type":"object","properties":{"n":{"type":"integer","default":1}}}`)
	equal(t, "schema of a cached function", compact(t, tools[2].Schema),
		`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	equal(t, "cached", w.Call("cached", `{"n":"4"}`).Text(), "4")
	equal(t, "hidden signature", w.Call("hidden_signature", `{"n":4}`).Text(), "4")
}

func TestLF05APluginIsARealModuleAndSiblingsImport(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		dir := files(t, map[string]string{
			"main_one.py": `
from __future__ import annotations
import sys, calendar, helper
from dataclasses import dataclass
from pack.inner import deep

@dataclass
class Point:
    x: int
    y: int = 0

def where(): return [__file__, __name__.startswith("conclave_fn_"), sys.modules[__name__].where is where]
def point(p: Point): return p.x + p.y
def siblings(): return [helper.NAME, deep(), calendar.isleap(2024), helper.__file__]
`,
			"helper.py":        "import second\nNAME = 'helper ' + second.NAME\n",
			"second.py":        "NAME = 'second'\n",
			"pack/__init__.py": "",
			"pack/inner.py":    "def deep(): return 'deep'\n",
			"calendar.py":      "raise RuntimeError('another plugin was imported')\n",
			"unrelated.py":     "",
		})
		path := filepath.Join(dir, "main_one.py")
		w := launch(t, d, source(t, path))
		w.List()
		equal(t, "where", w.Call("where", "").Text(), `["`+path+`",true,true]`)
		equal(t, "point", w.Call("point", `{"p":{"x":1,"y":2}}`).Text(), "3")
		equal(t, "siblings", w.Call("siblings", "{}").Text(),
			`["helper second","deep",true,"`+filepath.Join(dir, "helper.py")+`"]`)
		m, err := d.Recognize(t.Context(), source(t, path))
		must(t, err)
		if !slices.Contains(m.Files, "second.py") || slices.Contains(m.Files, "unrelated.py") {
			t.Errorf("files: %v", m.Files)
		}
	})
}

func TestLF05AFolderIsServedByItsOwnFileOrAsAPackage(t *testing.T) {
	d := aPython(t)
	dir := files(t, map[string]string{
		"my-kit/my_kit.py": "import queue\nfrom lib import helper\ndef f(): return [helper(), queue.MINE]\n",
		"my-kit/queue.py":  "MINE = 'own queue'\n",
		"my-kit/lib.py":    "def helper(): return 'lib'\n",
		"package/__init__.py": "from .parts import one\nfrom package.parts import two\ndef f(): " +
			"return [one(), two(), __file__]\n",
		"package/parts.py": "def one(): return 1\ndef two(): return 2\n",
		"other/readme.txt": "",
	})
	w := launch(t, d, source(t, filepath.Join(dir, "my-kit")))
	w.List()
	equal(t, "folder", w.Call("f", "").Text(), `["lib","own queue"]`)
	w = launch(t, d, source(t, filepath.Join(dir, "package")))
	equal(t, "file", w.List()[0].Meta.File, "__init__.py")
	equal(t, "package", w.Call("f", "").Text(), `[1,2,"`+filepath.Join(dir, "package", "__init__.py")+`"]`)
	if m, err := d.Recognize(t.Context(), source(t, filepath.Join(dir, "other"))); m != nil || err != nil {
		t.Errorf("other: got %v, %v; want neither", m, err)
	}
}

func TestACopyIsAllThatAPluginIsReadFrom(t *testing.T) {
	d := aPython(t)
	copied := files(t, map[string]string{
		"plug.py": "import helper\ndef where(): return [__file__, helper.N, helper.__file__]\ndef fail(): " +
			"raise ValueError('x')\n",
		"helper.py": "N = 7\n",
	})
	original := files(t, map[string]string{"plug.py": "syntax error here\n", "helper.py": "N = 8\n"})
	src := plugin.Source{ID: "plug", Path: filepath.Join(copied, "plug.py"), Display: filepath.Join(original, "plug.py")}
	w := launch(t, d, src)
	w.List()
	equal(t, "where", w.Call("where", "").Text(), `["`+src.Path+`",7,"`+filepath.Join(copied, "helper.py")+`"]`)
	trace := w.Call("fail", "").Meta.Traceback
	if !strings.Contains(trace, src.Path+`", line 3, in fail`) || !strings.Contains(trace, "raise ValueError('x')") {
		t.Errorf("traceback: %s", trace)
	}
}

func TestLF06WhatDoesNotLoadSaysWhereAndWhy(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		for name, want := range map[string]struct {
			source, kind, class, message, frame, hint string
			line                                      int
			missing                                   string
		}{
			"syntax": {
				source: "def f(x):\n    return x\ndef g(x):\n  retrun x\n", kind: "script", class: "SyntaxError",
				message: "invalid syntax", frame: "> 4 |   retrun x", line: 4,
			},
			"exception": {
				source: "import json\n\ndata = json.loads('{')\n", kind: "script", class: "JSONDecodeError",
				message: "JSONDecodeError: Expecting", frame: "> 3 | data = json.loads('{')", line: 3,
			},
			"exit": {
				source: "import sys\nsys.exit(3)\n", kind: "script", class: "SystemExit",
				message: "ended itself", hint: "__main__", line: 2,
			},
			"package": {
				source: "import os\nimport sklearn.linear\n", kind: "unavailable", class: "ModuleNotFoundError",
				message: "needs the package sklearn; it is not installed", hint: "-m pip install scikit-learn", line: 2,
				missing: "sklearn",
			},
			"null byte": {source: "x = 1\x00\n", kind: "script", class: "SyntaxError", message: "null", line: 1},
			"memory": {
				source: "x = 1\nraise MemoryError\n", kind: "memory", class: "MemoryError", message: "ran out of memory", line: 2,
			},
			"hook": {
				source: "import llm\n\n@llm.hookimpl\ndef register_tools(register):\n    register(int)\n", kind: "script",
				class:   "TypeError",
				message: "llm.Toolbox classes; int is another class", frame: "> 5 |     register(int)", line: 5,
			},
			"more of llm": {
				source: "from llm import magic\n", kind: "unavailable", class: "ImportError",
				message: "It imports magic, which Conclave's stand-in of the module llm does not have.",
				hint:    "cannot be installed here", line: 1,
			},
		} {
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(files(t, map[string]string{"plug.py": want.source}), "plug.py")
				got := launch(t, d, source(t, path)).Initialize()
				if got == nil {
					t.Fatal("it loaded")
				}
				equal(t, "kind", got.Kind, want.kind)
				equal(t, "type", got.Type, want.class)
				equal(t, "file", got.File, "plug.py")
				equal(t, "line", got.Line, want.line)
				for what, pair := range map[string][2]string{
					"message": {got.Message, want.message}, "frame": {got.Frame, want.frame}, "hint": {got.Hint, want.hint},
				} {
					if !strings.Contains(pair[0], pair[1]) {
						t.Errorf("%s: got %q, want it to hold %q", what, pair[0], pair[1])
					}
				}
				equal(t, "missing", strings.Join(got.Missing, " "), want.missing)
			})
		}
	})
}

func TestLF06AProblemInASiblingNamesTheSibling(t *testing.T) {
	d := aPython(t)
	for name, helper := range map[string]string{"syntax": "x = (\n", "exception": "y = 1\nx = 1 / 0\n"} {
		t.Run(name, func(t *testing.T) {
			dir := files(t, map[string]string{"plug.py": "import helper\ndef f(): ...\n", "helper.py": helper})
			got := launch(t, d, source(t, filepath.Join(dir, "plug.py"))).Initialize()
			if got == nil {
				t.Fatal("it loaded")
			}
			equal(t, "file", got.File, "helper.py")
			if got.Frame == "" || got.Line == 0 {
				t.Errorf("no place: %+v", got)
			}
		})
	}
}

func TestLF06AnEndlessLoadIsGivenUpWithItsLine(t *testing.T) {
	t.Parallel()
	src := source(t, filepath.Join(files(t, map[string]string{
		"plug.py": "import os\nopen(os.environ['HOME'] + '/begun', 'w').close()\nwhile True:\n    pass\n",
	}), "plug.py"))
	got, limit := pythontest.GivesUp(t, aPython(t), src)
	equal(t, "kind", got.Kind, "deadline")
	if got.Line != 3 && got.Line != 4 {
		t.Errorf("line: got %d, want the loop's", got.Line)
	}
	if !strings.Contains(got.Message, fmt.Sprintf("still loading after %g s", limit.Seconds())) {
		t.Errorf("message: %s", got.Message)
	}
}

func TestLF08InspectingRunsNothingAndListsTheSameTools(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		mark := filepath.Join(t.TempDir(), "ran")
		path := filepath.Join(files(t, map[string]string{"mixed.py": mixed + "open(" + quote(mark) + ", 'w').close()\n"}),
			"mixed.py")
		src := source(t, path)
		m, err := d.Recognize(t.Context(), src)
		must(t, err)
		listing, err := d.Inspect(t.Context(), src, *m)
		must(t, err)
		if _, err := os.Stat(mark); err == nil {
			t.Error("inspecting ran the plugin")
		}
		var found []string
		for _, one := range listing.Tools {
			found = append(found, one.Name)
		}
		equal(t, "tools", strings.Join(found, " "), strings.Join(mixedTools, " "))
		equal(t, "known", listing.Known, true)
		equal(t, "line", listing.Tools[0].Line, 28)
		for _, module := range []string{"subprocess", "urllib.request", "no_such_module_at_all"} {
			if !slices.Contains(listing.Imports, module) {
				t.Errorf("%s is not among the imports %v", module, listing.Imports)
			}
		}
	})
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "\\'") + "'" }

func TestLF08InspectingTellsAProblemAndWhatOnlyRunningCanTell(t *testing.T) {
	d := aPython(t)
	inspect := func(text string) (plugin.Listing, error) {
		src := source(t, filepath.Join(files(t, map[string]string{"plug.py": text}), "plug.py"))
		m, err := d.Recognize(t.Context(), src)
		must(t, err)
		return d.Inspect(t.Context(), src, *m)
	}
	_, err := inspect("def f(:\n")
	problem, ok := errors.AsType[*plugin.Problem](err)
	if !ok || problem.Line != 1 || problem.Column == 0 || problem.Frame == "" {
		t.Errorf("got %#v, want a Problem with a place", err)
	}
	listing, err := inspect("from functools import partial\n__all__ = ['p']\np = partial(print)\n")
	must(t, err)
	equal(t, "known", listing.Known, false)
	equal(t, "tools", len(listing.Tools), 1)
	if _, err = inspect(strings.Repeat("(", 100000)); err == nil {
		t.Error("100,000 brackets were read")
	}
	listing, err = inspect("# -*- coding: latin-1 -*-\ndef f():\n    '\xe4'\n")
	must(t, err)
	equal(t, "docstring in Latin-1", listing.Tools[0].Description, "ä")
}

func TestLF09OnlyTheStandInServesWithoutPydantic(t *testing.T) {
	w := serve(t, aPython(t), `
import sys
def llm_loaded(): return "llm" in sys.modules
`)
	equal(t, "llm", w.Call("llm_loaded", "").Text(), "false")
}

func TestLF11NothingIsWrittenNextToTheFile(t *testing.T) {
	d := aPython(t)
	dir := files(t, map[string]string{"plug.py": "import helper\ndef f(): return helper.N\n", "helper.py": "N = 1\n"})
	w := launch(t, d, source(t, filepath.Join(dir, "plug.py")))
	w.List()
	equal(t, "call", w.Call("f", "").Text(), "1")
	if err := w.Ended(); err != nil {
		t.Errorf("end: %v", err)
	}
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			found = append(found, entry.Name())
		}
		return err
	})
	must(t, err)
	equal(t, "files", strings.Join(found, " "), "helper.py plug.py")
}
