package functions_test

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin/python/pythontest"
)

// careless is a file that does what files should not; loading it works all the
// same.
const careless = `import os, sys, threading, time
print("printed while loading")
sys.stderr.write("and this\n")
try:
    open(os.path.join(os.path.dirname(__file__), "beside.txt"), "w")
    wrote = "yes"
except OSError as err:
    wrote = type(err).__name__


class Odd:
    def __repr__(self):
        raise RuntimeError("no words for it")


def twice(n: int) -> int:
    """The first of two of one name."""
    return n


def twice(n: int) -> int:
    """The second of two of one name."""
    return 2 * n


def default(when=Odd(), how: "no such type" = 1 << 70000, *, fine: int = 1) -> str:
    """Defaults with no JSON form."""
    return str(fine)


def beside() -> str:
    """Whether it could write beside itself."""
    return wrote


def quit() -> str:
    """Ends itself."""
    sys.exit(3)


def interrupt() -> str:
    """Interrupts itself."""
    raise KeyboardInterrupt


def thread() -> str:
    """Leaves a thread running."""
    def run():
        while True:
            print("still here")
            time.sleep(0.05)
    threading.Thread(target=run, daemon=True).start()
    threading.Thread(target=run).start()
    return "left it"


def huge() -> str:
    """A hundred megabytes."""
    return "x" * 100_000_000


def odd():
    """What has no JSON form."""
    return {"a": Odd(), ("t", 1): {1, 2}, "loop": object}


def ring():
    """A list that holds itself."""
    loop = []
    loop.append(loop)
    return loop


def deep():
    """Lists in lists."""
    value = []
    for _ in range(100000):
        value = [value]
    return value


def words(word: str = "none", /) -> str:
    """Lone surrogates."""
    return "\ud800" + word


def raises():
    """Raises what cannot be said."""
    class Mute(Exception):
        def __str__(self):
            raise ValueError("mute")
    raise Mute


def fine() -> str:
    """Always answers."""
    return "fine"
`

func TestLF48WhatAFileDoesWrongIsASentenceAndTheNextCallWorks(t *testing.T) {
	dir := files(t, map[string]string{"plug/plug.py": careless})
	w := pythontest.BehindWalls(t, aPython(t), filepath.Join(dir, "plug"))
	tools := w.List()
	for n, name := range names(tools) {
		if name == "twice" && (n != 0 || tools[n].Description != "The second of two of one name.") {
			t.Errorf("twice is offered at %d as %q", n, tools[n].Description)
		}
		if name == "default" {
			equal(t, "schema of default", compact(t, tools[n].Schema),
				`{"type":"object","properties":{"when":{},"how":{},"fine":{"type":"integer","default":1}}}`)
		}
	}
	for _, want := range []struct{ name, status, text string }{
		{"twice", "bad_arguments", "n: is required"},
		{"default", "ok", "1"},
		{"beside", "ok", ""},
		{"quit", "raised", "SystemExit: 3"},
		{"interrupt", "raised", "KeyboardInterrupt"},
		{"thread", "ok", "left it"},
		{"huge", "", ""},
		{"odd", "ok", `"('t', 1)":[1,2]`},
		{"ring", "ok", "[[...]]"},
		{"deep", "ok", "[nested over 100 levels deep; the rest as text: "},
		{"words", "ok", "none"},
		{"raises", "raised", "Mute"},
	} {
		a := w.Call(want.name, `{}`)
		if want.status != "" && a.Meta.Status != want.status || !strings.Contains(a.Text(), want.text) {
			text := a.Text()
			t.Errorf("%s: got %s %.200q, want %s %q", want.name, a.Meta.Status, text, want.status, want.text)
		}
		if len(a.Text()) > 4<<20 {
			t.Errorf("%s: %d bytes came over the wire", want.name, len(a.Text()))
		}
		equal(t, "after "+want.name, w.Call("fine", `{}`).Text(), "fine")
	}
}
