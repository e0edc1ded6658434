package functions_test

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/python/pythontest"
)

// sequences and parcels are files as people write them: annotations that are
// imported names, bounds, a nested model, a Literal with a default, printing,
// raising on demand.
const (
	sequences = `from typing import List, Literal, Optional
from pydantic import BaseModel, Field


def fibonacci(n: int = Field(..., description="index, 0-based", ge=0, le=100)) -> int:
    """One number of the sequence."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def convert(value: float, unit: Literal["c", "f"] = "c") -> str:
    """Convert a temperature."""
    print("converting")
    return "%.1f f" % (value * 9 / 5 + 32) if unit == "c" else "%.1f c" % ((value - 32) * 5 / 9)


def fail(really: bool = True) -> str:
    """Raise on demand."""
    if really:
        raise ValueError("asked to fail")
    return "fine"
`
	parcels = `from pydantic import BaseModel, Field
from typing import Dict, Union


class Address(BaseModel):
    """Where somebody lives."""

    city: str = Field(..., min_length=1)
    floor: int = 0


class Parcel(BaseModel):
    to: Address
    kilos: float = Field(1.0, gt=0)


def ship(parcel: Parcel, fast: bool = False) -> Dict[str, Union[str, float]]:
    """Quote a parcel."""
    return {"to": parcel.to.city, "price": parcel.kilos * (4 if fast else 2)}
`
	imports = `from typing import Optional, List, Dict, Union, Literal
from datetime import datetime
from collections import defaultdict, Counter
from subprocess import run
from urllib.request import urlopen
from json import dumps
from math import sqrt
from pathlib import Path
from decimal import Decimal
from dataclasses import dataclass


def mine(when: Optional[datetime] = None, names: List[str] = []) -> str:
    """The only one."""
    return "mine"
`
)

func TestLF02FilesAsPeopleWriteThemLoadWithAndWithoutPydantic(t *testing.T) {
	dir := files(t, map[string]string{"sequences.py": sequences, "parcels.py": parcels, "imports.py": imports})
	check := func(t *testing.T, d *functions.Dialect) {
		for name, want := range map[string]string{
			"sequences": "fibonacci convert fail", "parcels": "ship", "imports": "mine",
		} {
			w := launch(t, d, source(t, filepath.Join(dir, name+".py")))
			equal(t, name, strings.Join(names(w.List()), " "), want)
			switch name {
			case "sequences":
				equal(t, "fibonacci", w.Call("fibonacci", `{"n":30}`).Text(), "832040")
				equal(t, "250 of at most 100", w.Call("fibonacci", `{"n":250}`).Meta.Status, "bad_arguments")
				converted := w.Call("convert", `{"value":100}`)
				equal(t, "convert", converted.Text(), "212.0 f")
				equal(t, "printed", converted.Meta.Printed, "converting\n")
				equal(t, "fail", w.Call("fail", `{}`).Text(), "Error: ValueError: asked to fail")
			case "parcels":
				equal(t, "ship", w.Call("ship", `{"parcel":{"to":{"city":"Oslo"},"kilos":3},"fast":true}`).Text(),
					`{"to":"Oslo","price":12.0}`)
			}
		}
	}
	endPythons(t, check)
	t.Run("the usual one", func(t *testing.T) { check(t, aPython(t)) })
}

func TestLF07AMissingPackageIsNamedWithTheCommandThatInstallsIt(t *testing.T) {
	t.Parallel()
	d := aPython(t)
	p := launch(t, d,
		source(t,
			filepath.Join(files(t, map[string]string{"plug.py": "import math\nimport no_such_package_at_all.part\n"}),
				"plug.py"))).Initialize()
	if p == nil || p.Kind != "unavailable" || p.Line != 2 || len(p.Missing) != 1 ||
		p.Missing[0] != "no_such_package_at_all" || !strings.HasSuffix(p.Hint, " -m pip install no_such_package_at_all") {
		t.Errorf("got %+v", p)
	}
}

// faults is one file with what upstream's loader, schemas and calls fail on.
const faults = `import functools, math, os, subprocess, sys, typing
from subprocess import run
import llm


class Helper:
    """M3: no tool."""


class Stock(llm.Toolbox):
    """M3, M14: neither a tool here nor evaluated."""

    @property
    def broken(self):
        raise RuntimeError("evaluated")


def decorate(f):
    return f


def register(f):
    return f


square = lambda x: x * x
partial = functools.partial(pow, 2)
alias = math.sqrt


class Movie(typing.TypedDict):
    title: str
    year: int


def m4(n: int, part: Movie = None) -> str:
    """Arguments are checked."""
    return "%d %s" % (n + 1, part)


def m8(title: str, other: int = 1) -> str:
    """A parameter called title."""
    return title


def m9(first, /, *rest, _hidden=1, **more: int) -> str:
    """Every kind of parameter."""
    return "%s %s %s %s" % (first, rest, _hidden, more)


def m10(count=3, limit=math.inf, kind: Helper = None, call: typing.Callable = None) -> str:
    """Defaults and annotations without a JSON form."""
    return "%s %s" % (count, limit)


def m11() -> str:
    """Prints, its child too, and leaves."""
    print("printed")
    sys.stdout.flush()
    subprocess.call([sys.executable, "-c", "print('by a child')"])
    sys.exit(4)


async def m12(n: int) -> str:
    """Three of them meet, or nobody returns."""
    import asyncio
    global arrived
    arrived += 1
    while arrived < 3:
        await asyncio.sleep(0.01)
    return str(n)


arrived = 0
`

// TestLF48FaultsOfThePeer has one file of what the peer fails on, by the numbers
// of contracts/llm-functions, section 2.8. M5 is TestLF23…, M6 TestLF29…, M7 TestLF39…,
// M13 TestLF04…, M15 TestLF25…; M16 is measured by the benchmarks.
func TestLF48FaultsOfThePeer(t *testing.T) {
	t.Parallel()
	w := serve(t, aPython(t), faults)
	schema := func(name string) string {
		for _, one := range w.Tools {
			if one.Name == name {
				return compact(t, one.Schema)
			}
		}
		return ""
	}
	t.Run("M1 M2 M3 only the file's own functions", func(t *testing.T) {
		equal(t, "tools", strings.Join(names(w.Tools), " "), "decorate register m4 m8 m9 m10 m11 m12")
	})
	t.Run("M4 arguments", func(t *testing.T) {
		equal(t, "converted", w.Call("m4", `{"n":"5","part":{"title":"x","year":1}}`).Text(), "6 {'title': 'x', 'year': 1}")
		for _, wrong := range []string{`{}`, `{"n":"five"}`, `{"n":1,"more":2}`, `{"n":1,"part":{"year":1}}`} {
			equal(t, wrong, w.Call("m4", wrong).Meta.Status, "bad_arguments")
		}
	})
	t.Run("M8 title", func(t *testing.T) {
		equal(t, "schema", schema("m8"),
			`{"type":"object","properties":{"title":{"type":"string"},"other":{"type":"integer","default":1}},"required":["title"]}`)
		equal(t, "answer", w.Call("m8", `{"title":"T"}`).Text(), "T")
	})
	t.Run("M9 parameters", func(t *testing.T) {
		equal(t, "schema", schema("m9"),
			`{"type":"object","properties":{"first":{"type":"string"}},"required":["first"],"additionalProperties":{"type":"integer"}}`)
		equal(t, "answer", w.Call("m9", `{"first":"a","x":2}`).Text(), "a () 1 {'x': 2}")
	})
	t.Run("M10 defaults", func(t *testing.T) {
		equal(t, "schema", schema("m10"),
			`{"type":"object","properties":{"count":{"type":"integer","default":3},"limit":{"type":"number"},"kind":{"default":null},"call":{"default":null}}}`)
		equal(t, "answer", w.Call("m10", `{}`).Text(), "3 inf")
	})
	t.Run("M11 printing and leaving", func(t *testing.T) {
		a := w.Call("m11", `{}`)
		if a.Meta.Status != "raised" || !strings.Contains(a.Text(), "SystemExit: 4") ||
			!strings.Contains(a.Meta.Printed, "printed") {
			t.Errorf("got %s %q, printed %q", a.Meta.Status, a.Text(), a.Meta.Printed)
		}
		w.Logged("by a child")
	})
	t.Run("M12 a batch runs together", func(t *testing.T) {
		ids := []int{w.Ask("m12", `{"n":1}`, nil), w.Ask("m12", `{"n":2}`, nil), w.Ask("m12", `{"n":3}`, nil)}
		for n, id := range ids {
			equal(t, "answer", w.Answered(id).Text(), string(rune('1'+n)))
		}
	})
	t.Run("M14 listing a toolbox evaluates nothing", func(t *testing.T) {
		box := serve(t, aPython(t), `import llm

class Stock(llm.Toolbox):
    def __init__(self):
        self.callback = print

    @property
    def broken(self):
        raise RuntimeError("evaluated")

    def count(self) -> int:
        """Count."""
        return 3

@llm.hookimpl
def register_tools(register):
    register(Stock)
`)
		equal(t, "tools", strings.Join(pythontest.Names(box.Tools), " "), "Stock_count")
		equal(t, "answer", box.Call("Stock_count", `{}`).Text(), "3")
	})
}
