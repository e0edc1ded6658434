package functions_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/functions"
)

// property is one parameter of a tool's schema.
func property(t testing.TB, tools []listed, tool, name string) map[string]any {
	t.Helper()
	for _, one := range tools {
		if one.Name != tool {
			continue
		}
		var schema struct{ Properties map[string]map[string]any }
		must(t, json.Unmarshal(one.Schema, &schema))
		found, ok := schema.Properties[name]
		if !ok {
			t.Fatalf("%s has no parameter %s: %s", tool, name, one.Schema)
		}
		return found
	}
	t.Fatalf("there is no tool %s in %v", tool, names(tools))
	return nil
}

func TestLF13DescriptionsComeFromFieldThenAnnotatedThenDocstring(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		path := filepath.Join(files(t, map[string]string{"plug.py": `
from typing import Annotated
from pydantic import Field

def order(a: Annotated[int, "annotated"] = Field(1, description="field"),
          b: Annotated[int, "annotated"] = 1, c: int = 1, d: int = 1):
    """
    Order them.

      Indented by two.

    Args:
        a: docstring
        b: docstring
        c (int, optional): docstring: with a colon
            and a second line
        d: docstring

    Example:
        order(1)
    """

def numpy_style(x, y=2, *rest):
    """Plot.

    Parameters
    ----------
    x, y : float
        Where.

    Returns
    -------
    None
    """

def rest_style(size: int, name: str):
    """Store.

    :param int size: how large
    :type size: int
    :param name: what it is
        called
    :returns: nothing
    """

def stray(glob_patterns: list):
    """Search.

    Args:
        patterns: where to look
    """

def none(x): pass
`}), "plug.py")
		tools := launch(t, d, source(t, path)).List()
		for _, want := range []struct{ tool, name, text string }{
			{"order", "a", "field"},
			{"order", "b", "annotated"},
			{"order", "c", "docstring: with a colon and a second line"},
			{"numpy_style", "x", "Where."},
			{"numpy_style", "y", "Where."},
			{"rest_style", "size", "how large"},
			{"rest_style", "name", "what it is called"},
		} {
			equal(t, want.tool+"."+want.name, property(t, tools, want.tool, want.name)["description"], any(want.text))
		}
		if got, there := property(t, tools, "stray", "glob_patterns")["description"]; there {
			t.Errorf("a stray name described the parameter: %v", got)
		}
		for tool, want := range map[string]string{
			"order":       "Order them.\n\n  Indented by two.\n\nExample:\n    order(1)",
			"numpy_style": "Plot.\n\nReturns\n-------\nNone",
			"rest_style":  "Store.\n\n:returns: nothing",
			"stray":       "Search.\n\nArgs:\n    patterns: where to look",
			"none":        "",
		} {
			i := slices.IndexFunc(tools, func(l listed) bool { return l.Name == tool })
			equal(t, "description of "+tool, tools[i].Description, want)
			if tool == "stray" && (len(tools[i].Meta.Warnings) != 1 ||
				!strings.Contains(tools[i].Meta.Warnings[0], "patterns")) {
				t.Errorf("warnings of stray: %q", tools[i].Meta.Warnings)
			}
		}
	})
}

func TestLF14AParameterNamedTitleIsOfferedEverywhere(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
from pydantic import BaseModel
class Book(BaseModel):
    title: str
    properties: dict = {}
def add(title: str, book: Book): return [title, book.title]
`)
		got := w.Call("add", `{"title":"a","book":{"title":"b"}}`)
		equal(t, "result", string(got.Meta.Result), `["a","b"]`)
		tools := relist(t, w)
		book := property(t, tools, "add", "book")
		if _, ok := book["properties"].(map[string]any)["title"]; !ok {
			t.Errorf("the model lost its title: %v", book)
		}
		equal(t, "title", property(t, tools, "add", "title")["type"], any("string"))
	})
}

// relist asks a running worker for its tools again.
func relist(t testing.TB, w *worker) []listed {
	t.Helper()
	var result struct{ Tools []listed }
	must(t, json.Unmarshal(w.Wait(w.Request("tools/list", map[string]any{})).Result, &result))
	return result.Tools
}

func TestLF15SchemasHoldNoInvalidNumbersNoTitlesAndNothingUncallable(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
import math
from typing import Optional
from pydantic import BaseModel, Field
class Deep(BaseModel):
    limit: float = math.inf
    inner: Optional["Deep"] = Field(None, title="Inner")
def run(x: float = math.nan, y: dict = {"a": math.inf}, z: Deep = Field(None, title="Z"), *args, _hidden=1, **kw): ...
`)
		tools := relist(t, w)
		text := string(tools[0].Schema)
		for _, bad := range []string{"NaN", "Infinity", `"title"`, "_hidden", `"args"`, `"kw"`} {
			if strings.Contains(text, bad) {
				t.Errorf("%s is in %s", bad, text)
			}
		}
		if !json.Valid([]byte(text)) {
			t.Error("not JSON")
		}
	})
}

func TestLF16UnknownAnnotationsWarnAndLeaveTheirNeighboursAlone(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
from typing import Callable, List, Type, TypeVar, Any, Generic
T = TypeVar("T")
B = TypeVar("B", bound=int)
class Thing: ...
class Bag(Generic[T]): ...
def one(a: Thing, b: Callable[[int], str], c: Type[int], d: "No.Such", e: Bag[int], ok: int): return [a, ok]
def two(xs: List[T], t: T, b: B, a: Any): return xs
`)
		tools := relist(t, w)
		equal(t, "warnings of one", len(tools[0].Meta.Warnings), 5)
		equal(t, "schema of one", compact(t, tools[0].Schema),
			`{"type":"object","properties":{"a":{},"b":{},"c":{},"d":{},"e":{},"ok":{"type":"integer"}},"required":["a","b","c","d","e","ok"]}`)
		equal(t, "schema of two", compact(t, tools[1].Schema),
			`{"type":"object","properties":{"xs":{"type":"array","items":{}},"t":{},"b":{"type":"integer"},"a":{}},"required":["xs","t","b","a"]}`)
		equal(t, "warnings of two", len(tools[1].Meta.Warnings), 0)
		equal(t, "result", string(w.Call("one", `{"a":{"x":1},"b":1,"c":2,"d":3,"e":4,"ok":"5"}`).Meta.Result), `[{"x":1},5]`)
	})
}

func TestAToolSaysMoreOfItselfWithTheDecorator(t *testing.T) {
	w := serve(t, aPython(t), `
import conclave

@conclave.tool(title="Build it", description="as given", timeout=1.5, serial=True, visibility="deferred")
def build(x: int):
    "Not this."
    return x

@conclave.tool
def plain(): ...
`)
	tools := relist(t, w)
	got := tools[0]
	equal(t, "title", got.Title, "Build it")
	equal(t, "description", got.Description, "as given")
	equal(t, "timeout", got.Meta.TimeoutMS, 1500)
	equal(t, "serial", got.Meta.Serial, true)
	equal(t, "visibility", got.Meta.Visibility, "deferred")
	equal(t, "names", strings.Join(names(tools), " "), "build plain")
}

func TestAToolSaysThatOtherCallsMayRunWhileItWaitsWhereItIsAsync(t *testing.T) {
	w := serve(t, aPython(t), `
import llm

async def waits(n: int = 1): return n
async def streams():
    yield 1
def computes(): return 1

class Box(llm.Toolbox):
    async def asks(self): return 1
    def counts(self):
        "Runs on the event loop, since the other one does, and blocks it."
        return 2

@llm.hookimpl
def register_tools(register):
    for one in (waits, streams, computes, Box): register(one)
`)
	for _, one := range relist(t, w) {
		want := one.Name != "computes" && one.Name != "Box_counts"
		equal(t, one.Name, one.Meta.Async, want)
	}
}
