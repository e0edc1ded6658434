package functions_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
)

func TestAndF51AFileWithoutToolsSaysSoBeforeItIsApproved(t *testing.T) {
	d := aPython(t)
	for name, c := range map[string]struct{ text, message string }{
		"of Open WebUI": {
			"def helper(x: int) -> int:\n    return x\n\nclass Tools:\n    def lookup(self, word: " +
				"str) -> str:\n        return word\n",
			"plug.py is a tool file of Open WebUI: its tools are the methods of its class Tools. " +
				"Conclave does not run such files yet.",
		},
		"a filter of Open WebUI": {
			"class Filter:\n    def inlet(self, body): return body\n",
			"plug.py is a file of Open WebUI that changes Open WebUI itself; it has no tools.",
		},
		"constants":         {"X = 1\n", "plug.py has no public function, so there is no tool in it."},
		"private functions": {"def _f(): ...\n", "plug.py has no public function, so there is no tool in it."},
		"a class": {
			"class Filters:\n    def f(self): ...\n", "plug.py has no public function, so there is no tool in it.",
		},
		// These have tools, or may have.
		"a function": {"def f(): ...\n", ""},
		"a toolbox":  {"import llm\n\nclass Tools(llm.Toolbox):\n    def f(self): ...\n", ""},
		"a hook": {
			"import llm\n\nclass Tools: ...\n\n@llm.hookimpl\ndef register_tools(register):\n    register(print)\n", "",
		},
		"what it exports": {"from json import dumps\n__all__ = ['dumps']\n", ""},
		"in a branch":     {"try:\n    def f(): ...\nexcept ImportError:\n    pass\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			src := source(t, filepath.Join(files(t, map[string]string{"plug.py": c.text}), "plug.py"))
			m, err := d.Recognize(t.Context(), src)
			must(t, err)
			_, err = d.Inspect(t.Context(), src, *m)
			problem, ok := errors.AsType[*plugin.Problem](err)
			switch {
			case c.message == "" && err != nil:
				t.Errorf("got %v, want no problem", err)
			case c.message != "" && (!ok || problem.Message != c.message || !strings.HasSuffix(problem.Hint, ".")):
				t.Errorf("got %#v, want %q with a hint", err, c.message)
			}
		})
	}
}
