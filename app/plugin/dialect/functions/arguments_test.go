package functions_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/functions"
)

func TestLF18ValuesArriveAsTheirTypes(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
import datetime, decimal, enum, pathlib, typing, uuid, collections
from dataclasses import dataclass, field
from pydantic import BaseModel, Field
class Line(BaseModel):
    name: str
    price: float = Field(..., gt=0)
class Order(BaseModel):
    lines: typing.List[Line]
    note: typing.Optional[str] = None
@dataclass
class Point:
    x: int
    tags: list = field(default_factory=list)
class Size(enum.Enum):
    SMALL = "s"
class At(typing.NamedTuple):
    x: int
    y: int = 5
class Opt(typing.TypedDict, total=False):
    deep: bool
def model(order: Order): return [type(order).__name__, order.lines[0].name, order.lines[1].price, order.note]
def data(p: Point, at: At, opt: Opt): return [type(p).__name__, p.x, p.tags, at.x, at.y, opt]
def types(a: Size, b: datetime.datetime, c: datetime.date, d: pathlib.Path, e: uuid.UUID, f: decimal.Decimal, g: bytes,
          h: typing.Set[int], i: typing.Tuple[int, str], j: typing.Deque[int], k: datetime.timedelta, l: datetime.time):
    return [type(v).__name__ for v in (a, b, c, e, f, g, h, i, j, k, l)] + [isinstance(d, pathlib.Path), a.name]
`)
		equal(t, "model", w.Call("model", `{"order":{"lines":[{"name":"a","price":"1.5"},{"name":"b","price":2}]}}`).Text(),
			`["Order","a",2.0,null]`)
		equal(t, "data", w.Call("data", `{"p":{"x":"1"},"at":[2],"opt":{"deep":"yes"}}`).Text(),
			`["Point",1,[],2,5,{"deep":true}]`)
		equal(t, "types", w.Call("types", `{"a":"s","b":"2024-01-02T03:04:05Z","c":"2024-01-02","d":"/x","e":"12345678-1234-5678-1234-567812345678",
			"f":"1.50","g":"ab","h":[1,1],"i":[1,"x"],"j":[1],"k":"PT1H","l":"12:30"}`).Text(),
			`["Size","datetime","date","UUID","Decimal","bytes","set","tuple","deque","timedelta","time",true,"SMALL"]`)
		bad := w.Call("model", `{"order":{"lines":[{"name":"a","price":-1},{"price":2}]}}`)
		equal(t, "status", bad.Meta.Status, "bad_arguments")
		for _, place := range []string{"order.lines[0].price", "order.lines[1].name"} {
			if !strings.Contains(bad.Text(), place) {
				t.Errorf("%q does not name %s", bad.Text(), place)
			}
		}
	})
}

func TestLF19BoundsHoldBeforeTheFunctionIsEntered(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
from typing import Annotated, Optional
from pydantic import Field
entered = []
def fib(n: int = Field(..., ge=0, le=100)): entered.append(n); return n
def dial(level: Annotated[Optional[int], Field(ge=1)] = None, name: Annotated[str, Field(pattern="^[a-z]+$", max_length=3)] = "x"): return [level, name]
def count(): return len(entered)
`)
		for name, one := range map[string][2]string{
			"too large":  {"fib", `{"n":250}`},
			"too small":  {"fib", `{"n":-1}`},
			"pattern":    {"dial", `{"name":"A"}`},
			"too long":   {"dial", `{"name":"abcd"}`},
			"annotated":  {"dial", `{"level":0}`},
			"wrong type": {"fib", `{"n":5.5}`},
		} {
			got := w.Call(one[0], one[1])
			if got.Meta.Status != "bad_arguments" || !got.IsError {
				t.Errorf("%s: %+v", name, got)
			}
		}
		equal(t, "entered", w.Call("count", "").Text(), "0")
		equal(t, "null is in no bound", w.Call("dial", `{"level":null}`).Text(), `[null,"x"]`)
		equal(t, "message", w.Call("fib", `{"n":250}`).Text(),
			"Error: arguments do not fit fib:\n- n: expected at most 100, got the integer 250")
	})
}

func TestLF20FieldDefaultsAreFilledIn(t *testing.T) {
	w := serve(t, aPython(t), `
from pydantic import Field
made = []
def make():
    made.append(1)
    return []
def f(a: int = Field(5), b: list = Field(default_factory=make), c=Field("x"), _d: int = Field(9)):
    b.append(1)
    return [a, b, c, _d, len(made)]
`)
	equal(t, "first", w.Call("f", "{}").Text(), `[5,[1],"x",9,1]`)
	equal(t, "second", w.Call("f", `{"a":6}`).Text(), `[6,[1],"x",9,2]`)
}

func TestLF21ConversionsAcceptAndRefuseAsListed(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
import datetime, decimal, enum, typing, re
class Size(enum.Enum):
    SMALL = "s"; LARGE = "l"
class Number(enum.IntEnum):
    ONE = 1
def integer(v: int): return repr(v)
def number(v: float): return repr(v)
def boolean(v: bool): return repr(v)
def text(v: str): return repr(v)
def items(v: typing.List[int]): return repr(v)
def fixed(v: typing.Tuple[int, str]): return repr(v)
def several(v: typing.Tuple[int, ...]): return repr(v)
def unique(v: typing.Set[int]): return repr(sorted(v))
def mapping(v: typing.Dict[int, float]): return repr(v)
def enumeration(v: Size): return v.name
def ordinal(v: Number): return v.name
def literal(v: typing.Literal[1, "a", True]): return repr(v)
def moment(v: datetime.datetime): return v.isoformat()
def day(v: datetime.date): return v.isoformat()
def clock(v: datetime.time): return v.isoformat()
def span(v: datetime.timedelta): return repr(v.total_seconds())
def money(v: decimal.Decimal): return str(v)
def data(v: bytes): return repr(v)
def either(v: typing.Union[int, str]): return repr(v)
def other(v: typing.Union[str, float, None]): return repr(v)
def anything(v: typing.Any): return repr(v)
def pattern(v: typing.Pattern): return v.pattern
`)
		const refused = "\x00refused"
		for name, cases := range map[string]map[string]string{
			"integer": {
				`5`: "5", `"5"`: "5", `" 5 "`: "5", `5.0`: "5", `"5.0"`: "5", `true`: "1", `5.5`: refused, `"x"`: refused,
				`null`: refused, `[]`: refused, `"5.5"`: refused, `""`: refused,
			},
			"number": {`1`: "1.0", `"1.5"`: "1.5", `1.5`: "1.5", `"x"`: refused, `null`: refused},
			"boolean": {
				`true`: "True", `0`: "False", `1`: "True", `"YES"`: "True", `"off"`: "False", `"T"`: "True", `"n"`: "False",
				`"1"`: "True", `2`: refused, `""`: refused, `"maybe"`: refused,
			},
			"text":        {`"x"`: "'x'", `5`: refused, `true`: refused, `null`: refused},
			"items":       {`["1",2]`: "[1, 2]", `[]`: "[]", `"12"`: refused, `{}`: refused, `["x"]`: refused},
			"fixed":       {`["1","x"]`: "(1, 'x')", `[1]`: refused, `[1,"x",2]`: refused},
			"several":     {`["1",2]`: "(1, 2)", `[]`: "()"},
			"unique":      {`[2,1,"1"]`: "[1, 2]", `1`: refused},
			"mapping":     {`{"1":"2"}`: "{1: 2.0}", `{"x":1}`: refused, `[]`: refused},
			"enumeration": {`"s"`: "SMALL", `"SMALL"`: refused},
			"ordinal":     {`1`: "ONE", `2`: refused},
			"literal":     {`1`: "1", `1.0`: "1", `"a"`: "'a'", `true`: "True", `"1"`: refused, `2`: refused},
			"moment": {
				`"2024-01-02T03:04:05Z"`: "2024-01-02T03:04:05+00:00", `"2024-01-02 03:04"`: "2024-01-02T03:04:00",
				`"2024-01-02T03:04:05.12+0200"`: "2024-01-02T03:04:05.120000+02:00",
				`"2024-01-02"`:                  "2024-01-02T00:00:00", `0`: "1970-01-01T00:00:00+00:00", `"soon"`: refused,
				`true`:         refused,
				`"2024-13-01"`: refused,
			},
			"day": {
				`"2024-01-02"`: "2024-01-02", `"2024-01-02T00:00:00"`: "2024-01-02", `"2024-01-02T01:00:00"`: refused,
				`86400`: "1970-01-02", `"x"`: refused,
			},
			"clock": {`"12:30"`: "12:30:00", `"12:30:05.5Z"`: "12:30:05.500000+00:00", `3600`: "01:00:00", `"25:00"`: refused},
			"span": {
				`90`: "90.0", `"PT1H30M"`: "5400.0", `"P1DT2H"`: "93600.0", `"01:30:00"`: "5400.0", `"-PT1S"`: "-1.0",
				`"1 day, 1:00:00"`: "90000.0", `"x"`: refused, `"PT"`: refused, `"P"`: refused,
			},
			"money":    {`"1.50"`: "1.50", `2`: "2", `1.1`: "1.1", `"x"`: refused, `"NaN"`: refused},
			"data":     {`"é"`: `b'\xc3\xa9'`, `5`: refused},
			"either":   {`1`: "1", `"1"`: "'1'", `1.0`: "1", `[]`: refused},
			"other":    {`1`: "1.0", `null`: "None", `"x"`: "'x'", `[]`: refused},
			"anything": {`{"a":[1]}`: "{'a': [1]}", `null`: "None"},
			"pattern":  {`"a+"`: "a+", `"("`: refused},
		} {
			for given, want := range cases {
				got := w.Call(name, fmt.Sprintf(`{"v":%s}`, given))
				text := got.Text()
				if got.Meta.Status == "bad_arguments" {
					text = refused
				}
				if text != want {
					t.Errorf("%s(%s): got %q, want %q", name, given, text, want)
				}
			}
		}
	})
}

func TestLF22AllProblemsAreReportedTogether(t *testing.T) {
	w := serve(t, aPython(t), "def f(a: int, b: str, c: list = []): ...\n")
	got := w.Call("f", `{"b":5,"c":"x","d":1}`)
	equal(t, "text", got.Text(), strings.Join([]string{
		"Error: arguments do not fit f:",
		"- b: expected text, got the integer 5",
		`- c: expected a list, got the text "x"`,
		"- d: is not a parameter; it takes a, b, c",
		"- a: is required",
	}, "\n"))
}

func TestLF23ArgumentsThatAreNoObjectAreAnErrorResult(t *testing.T) {
	w := serve(t, aPython(t), "def f(a: int = 1): return a\n")
	for _, bad := range []string{`[1]`, `"x"`, `5`} {
		equal(t, bad, w.Call("f", bad).Meta.Status, "bad_arguments")
	}
	equal(t, "null", w.Call("f", "null").Text(), "1")
	equal(t, "none", w.Call("f", "").Text(), "1")
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	w.Send(map[string]any{"id": "deep", "method": "ping"}) // the worker must survive what follows
	w.Call("f", `{"a":1}`)
	if _, err := fmt.Fprintf(w.In,
		`{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"f","arguments":{"a":%s}}}`+"\n", deep); err != nil {
		t.Fatal(err)
	}
	equal(t, "after a value that nests too deeply", w.Call("f", `{"a":2}`).Text(), "2")
}

func TestLF24EveryKindOfParameterIsCalledRightly(t *testing.T) {
	w := serve(t, aPython(t), `
def f(a, _b=2, c=3, /, d=4, *args, e, _g=7, **kw): return [a, _b, c, d, list(args), e, _g, kw]
def need(_token: str): return _token
def typed(**kw: int): return kw
def call(x: int, llm_tool_call): return [llm_tool_call.name, llm_tool_call.arguments, llm_tool_call.tool_call_id]
class Callable:
    "An object."
    def __call__(self, n: int): return n
def make(): return 1
make = Callable()
`)
	equal(t, "all", w.Call("f", `{"a":"1","e":"5","d":"6","more":6}`).Text(), `["1",2,3,6,[],"5",7,{"more":6}]`)
	equal(t, "positional-only default", w.Call("f", `{"a":"1","c":9,"e":"5"}`).Text(), `["1",2,9,4,[],"5",7,{}]`)
	equal(t, "private but required", w.Call("need", `{"_token":"t"}`).Text(), "t")
	equal(t, "typed keywords", w.Call("typed", `{"x":"5"}`).Text(), `{"x":5}`)
	equal(t, "wrong keyword", w.Call("typed", `{"x":"y"}`).Meta.Status, "bad_arguments")
	got := w.Answered(w.Ask("call", `{"x":1}`, map[string]any{"conclave/call-id": "c7"}))
	equal(t, "llm_tool_call", got.Text(), `["call",{"x":1},"c7"]`)
	equal(t, "callable object", w.Call("make", `{"n":"3"}`).Text(), "3")
}
