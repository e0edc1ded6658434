package functions_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin/dialect/functions"
)

// due returns the _meta of a call that may take this long.
func due(d time.Duration) map[string]any {
	return map[string]any{"conclave/deadline-ms": time.Now().Add(d).UnixMilli(), "conclave/call-id": "c1"}
}

func TestLF26AnExceptionIsAResultAndTheWorkerLives(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
import sys
def key(): return {}["k"]
def exits(): sys.exit(3)
def interrupts(): raise KeyboardInterrupt
def silent(): raise ValueError
async def late(): raise LookupError("late")
async def aexits(): sys.exit(4)
class Odd(Exception):
    def __str__(self): raise RuntimeError("no text")
def odd(): raise Odd
def deep(): return deep()
def chained():
    try: 1 / 0
    except ZeroDivisionError as e: raise ValueError("outer") from e
def fine(): return 1
`)
		for name, want := range map[string][2]string{
			"key":        {"Error: KeyError: 'k'", "KeyError"},
			"exits":      {"Error: SystemExit: 3", "SystemExit"},
			"interrupts": {"Error: KeyboardInterrupt", "KeyboardInterrupt"},
			"silent":     {"Error: ValueError", "ValueError"},
			"late":       {"Error: LookupError: late", "LookupError"},
			"aexits":     {"Error: SystemExit: 4", "SystemExit"},
			"odd":        {"Error: Odd", "Odd"},
			"deep":       {"Error: RecursionError: maximum recursion depth exceeded", "RecursionError"},
			"chained":    {"Error: ValueError: outer", "ValueError"},
		} {
			got := w.Call(name, "")
			if !strings.HasPrefix(got.Text(), want[0]) || strings.Contains(got.Text(), "Traceback") {
				t.Errorf("%s: got %q, want %q", name, got.Text(), want[0])
			}
			equal(t, name+" type", got.Meta.ErrorType, want[1])
			equal(t, name+" status", got.Meta.Status, "raised")
			if len(got.Meta.Traceback) > 8<<10 || strings.Contains(got.Meta.Traceback, "conclave_worker") {
				t.Errorf("%s: traceback of %d bytes: %s", name, len(got.Meta.Traceback), got.Meta.Traceback)
			}
		}
		trace := w.Call("chained", "").Meta.Traceback
		if !strings.Contains(trace, "ZeroDivisionError") || !strings.Contains(trace, "in chained") {
			t.Errorf("traceback of a chain: %s", trace)
		}
		equal(t, "afterwards", w.Call("fine", "").Text(), "1")
	})
}

// endless has functions that do not end by themselves.
const endless = `
import asyncio, time, os
seen = []
def stuck():
    while True: time.sleep(0.01)
async def waits():
    print("begun", flush=True)
    try: await asyncio.sleep(3600)
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
def saw(): return seen
def fine(x: int = 1): return x
async def afine(): return "async"
def dies(): os._exit(3)
`

func TestLF28ACallPastItsDeadlineTimesOutAndTheNextWorks(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, endless)
		for _, name := range []string{"stuck", "waits", "stuck", "stuck", "stuck", "stuck"} {
			most := 900 * time.Millisecond
			if name == "waits" {
				most = 5 * time.Second // what did not begin is not cancelled
			}
			began := time.Now()
			got := w.Answered(w.Ask(name, "", due(most)))
			equal(t, "status of "+name, got.Meta.Status, "timeout")
			if prefix := "Error: " + name + " took longer than "; !strings.HasPrefix(got.Text(), prefix) ||
				!strings.HasSuffix(got.Text(), " and was stopped") {
				t.Errorf("text: %q", got.Text())
			}
			if took := time.Since(began); took < 850*time.Millisecond {
				t.Errorf("%s: answered after %v", name, took)
			}
			equal(t, "the next", w.Call("fine", `{"x":2}`).Text(), "2")
		}
		equal(t, "async sees its cancellation", w.Call("saw", "").Text(), `["cancelled"]`)
		equal(t, "async after a timeout", w.Call("afine", "").Text(), "async")
		id := w.Ask("dies", "", nil)
		deadline := time.After(patience)
		for open := true; open; {
			select {
			case _, open = <-w.Lines:
			case <-deadline:
				t.Fatalf("call %d: the worker outlived os._exit", id)
			}
		}
		if err := w.Cmd.Wait(); err == nil || err.Error() != "exit status 3" {
			t.Errorf("exit: got %v, want status 3", err)
		}
	})
}

func TestLF35ACancelledCallIsAnsweredAtOnce(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, endless)
		for _, name := range []string{"waits", "stuck"} {
			id := w.Ask(name, "", nil)
			w.Call("fine", "") // the call before it has been taken by now
			w.Cancel(id, "you stopped it")
			got := w.Answered(id)
			equal(t, "status of "+name, got.Meta.Status, "cancelled")
			equal(t, "text", got.Text(), "Cancelled: you stopped it")
			equal(t, "error", got.IsError, true)
		}
		w.Cancel(9999, "") // a call that is not there
		equal(t, "afterwards", w.Call("fine", "").Text(), "1")
	})
}

func TestCallsOfABatchRunTogether(t *testing.T) {
	w := serve(t, aPython(t), `
import threading, asyncio
gate = threading.Barrier(32, timeout=100)
lock = threading.Lock()
now = most = 0
def together():
    global now, most
    with lock:
        now += 1
        most = max(most, now)
    gate.wait()
    with lock: now -= 1
    return most
agate = None
arrived = 0
async def atogether():
    global agate, arrived
    if agate is None: agate = asyncio.Event()
    arrived += 1
    if arrived == 8: agate.set()
    await asyncio.wait_for(agate.wait(), 100)
    return "all"
`)
	var ids []int
	for range limit.PluginCalls {
		ids = append(ids, w.Ask("together", "", nil))
	}
	for _, id := range ids {
		equal(t, "most at once", w.Answered(id).Text(), "32")
	}
	ids = nil
	for range 8 {
		ids = append(ids, w.Ask("atogether", "", nil))
	}
	for _, id := range ids {
		equal(t, "async", w.Answered(id).Text(), "all")
	}
}

func TestASerialToolRunsOneCallAtATime(t *testing.T) {
	w := serve(t, aPython(t), `
import asyncio, conclave, time
running = 0
@conclave.tool(serial=True)
def alone():
    global running
    running += 1
    assert running == 1
    time.sleep(0.02)
    running -= 1
    return "ok"
@conclave.tool(serial=True)
async def async_alone():
    global running
    running += 1
    assert running == 1
    await asyncio.sleep(0.01)
    running -= 1
    return "ok"
@conclave.tool(serial=True)
async def blocks(): await asyncio.sleep(3600)
@conclave.tool(serial=True)
def raises(): raise ValueError("x")
`)
	for _, name := range []string{"alone", "async_alone"} {
		var ids []int
		for range 6 {
			ids = append(ids, w.Ask(name, "", nil))
		}
		for _, id := range ids {
			equal(t, name, w.Answered(id).Text(), "ok")
		}
	}
	first, second := w.Ask("blocks", "", nil), w.Ask("blocks", "", nil)
	third := w.Ask("blocks", "", due(100*time.Millisecond))
	w.Cancel(second, "")
	equal(t, "a waiting call is cancelled", w.Answered(second).Meta.Status, "cancelled")
	equal(t, "a waiting call times out", w.Answered(third).Meta.Status, "timeout")
	w.Cancel(first, "")
	equal(t, "the running one is cancelled", w.Answered(first).Meta.Status, "cancelled")
	equal(t, "the next has its turn", w.Answered(w.Ask("blocks", "", due(100*time.Millisecond))).Meta.Status, "timeout")
	for range 3 {
		equal(t, "after an exception", w.Call("raises", "").Meta.Status, "raised")
	}
	equal(t, "bad arguments free the tool", w.Call("alone", `{"x":1}`).Meta.Status, "bad_arguments")
	equal(t, "afterwards", w.Call("alone", "").Text(), "ok")
}

func TestLF34WhatIsPrintedNeverReachesTheWire(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
import asyncio, os, subprocess, sys, threading
print("while loading")
def prints():
    print("héllo")
    print("err", file=sys.stderr)
    sys.stdout.write("no newline")
    os.write(1, b"past python\n")
    sys.__stdout__.write(" dunder")
    return "ok"
def child():
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    return "ok"
def lots():
    for n in range(5000): print("line", n)
async def aprints():
    print("async")
    await asyncio.to_thread(print, "in a thread")
def asks(): return input("name? ")
def reads(): return [sys.stdin.read(), os.read(0, 10).decode()]
def quiet(): return 1
`)
		got := w.Call("prints", "")
		equal(t, "text", got.Text(), "ok")
		equal(t, "printed", got.Meta.Printed, "héllo\nerr\nno newline dunder")
		equal(t, "child", w.Call("child", "").Text(), "ok")
		got = w.Call("lots", "")
		if len(got.Meta.Printed) != 8<<10 || !strings.HasSuffix(got.Meta.Printed, "line 4999\n") {
			t.Errorf("printed %d bytes, ending in %q", len(got.Meta.Printed),
				got.Meta.Printed[max(0, len(got.Meta.Printed)-20):])
		}
		equal(t, "async", w.Call("aprints", "").Meta.Printed, "async\nin a thread\n")
		equal(t, "quiet", w.Call("quiet", "").Meta.Printed, "")
		asked := w.Call("asks", "")
		equal(t, "input", asked.Meta.Status, "raised")
		equal(t, "input type", asked.Meta.ErrorType, "EOFError")
		equal(t, "stdin", w.Call("reads", "").Text(), `["",""]`)
		if err := w.Ended(); err != nil {
			t.Errorf("end: %v", err)
		}
		log := w.Stderr.String()
		for _, line := range []string{
			"while loading\n", "héllo\n", "past python\n", "no newline dunder\n", "from a child\n", "line 0\n", "in a thread\n",
		} {
			if !strings.Contains(log, line) {
				t.Errorf("%q is not in the log", line)
			}
		}
	})
}

func TestLF36ResultsRowByRow(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
import collections, dataclasses, datetime, decimal, enum, math, pathlib, typing, uuid
from pydantic import BaseModel
class Size(enum.Enum): SMALL = "s"
class Mixed(str, enum.Enum): A = "a"
@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date
class Pair(typing.NamedTuple):
    a: int
    b: str
class Model(BaseModel):
    n: int = 1
    p: typing.Optional[str] = None
class Plain:
    def __repr__(self): return "<plain>" + "x" * 1000
class Hostile:
    def __repr__(self): raise ValueError
values = {
    "str": "te\"xt", "none": None, "bool": True, "int": 5, "big": 10**30, "float": 1.5, "list": [1, "é", None], "dict": {"a": {"b": 1}},
    "enum": Size.SMALL, "strenum": Mixed.A, "date": datetime.date(2024, 1, 2), "moment": datetime.datetime(2024, 1, 2, 3, tzinfo=datetime.timezone.utc),
    "span": datetime.timedelta(days=1, seconds=5), "path": pathlib.PurePosixPath("/a/b"), "uuid": uuid.UUID(int=1), "decimal": decimal.Decimal("1.50"),
    "set": {3, 1, 2}, "mixedset": {1, "a"}, "tuple": (1, 2), "point": Point(1, datetime.date(2024, 1, 2)), "pair": Pair(1, "x"), "model": Model(),
    "text bytes": "é".encode(), "inf": math.inf, "nested nan": [math.nan], "keys": {1: "a", (1, 2): "b", None: "c"},
    "plain": Plain(), "hostile": Hostile(), "deque": collections.deque([1]), "counter": collections.Counter("aa"), "huge int": 10**5000,
    "range": range(3), "keysview": {"a": 1}.keys(), "valuesview": {"a": 1}.values(),
}
loop = []; loop.append(loop); values["ring"] = loop
def value(name: str): return values[name]
def gen():
    yield 1
    yield {"a": 2}
async def agen():
    yield 1
    yield 2
def png(): return b"\x89PNG\r\n\x1a\n" + bytes(8)
def raw(): return bytes([0xff, 0xfe, 0, 1])
def large(): return "héad" + "x" * 200_000 + "tail"
def enormous(): return "a" + "\n" * 6_000_000 + "z"
def media(): return b"\x89PNG\r\n\x1a\n" + bytes(5_000_000)
def coroutine():
    async def inner(): return "inner"
    return inner()
`)
		const same = "\x00same"
		for name, want := range map[string][2]string{ // text, conclave/result; same: the result is not sent again
			"str":        {`te"xt`, same},
			"none":       {"null", "null"},
			"bool":       {"true", "true"},
			"int":        {"5", "5"},
			"big":        {"1000000000000000000000000000000", "1000000000000000000000000000000"},
			"float":      {"1.5", "1.5"},
			"list":       {`[1,"é",null]`, `[1,"é",null]`},
			"dict":       {`{"a":{"b":1}}`, `{"a":{"b":1}}`},
			"enum":       {`"s"`, `"s"`},
			"strenum":    {`"a"`, `"a"`},
			"date":       {`"2024-01-02"`, `"2024-01-02"`},
			"moment":     {`"2024-01-02T03:00:00+00:00"`, `"2024-01-02T03:00:00+00:00"`},
			"span":       {`"P1DT5S"`, `"P1DT5S"`},
			"path":       {`"/a/b"`, `"/a/b"`},
			"uuid":       {`"00000000-0000-0000-0000-000000000001"`, `"00000000-0000-0000-0000-000000000001"`},
			"decimal":    {`"1.50"`, `"1.50"`},
			"set":        {"[1,2,3]", "[1,2,3]"},
			"mixedset":   {`["a",1]`, `["a",1]`},
			"tuple":      {"[1,2]", "[1,2]"},
			"point":      {`{"x":1,"when":"2024-01-02"}`, `{"x":1,"when":"2024-01-02"}`},
			"pair":       {`{"a":1,"b":"x"}`, `{"a":1,"b":"x"}`},
			"model":      {`{"n":1,"p":null}`, `{"n":1,"p":null}`},
			"text bytes": {"é", same},
			"inf":        {"inf", same},
			"nested nan": {`["nan"]`, `["nan"]`},
			"keys":       {`{"1":"a","(1, 2)":"b","None":"c"}`, `{"1":"a","(1, 2)":"b","None":"c"}`},
			"plain":      {"<plain>" + strings.Repeat("x", 493), same},
			"hostile":    {"<Hostile object>", same},
			"deque":      {"[1]", "[1]"},
			"counter":    {`{"a":2}`, `{"a":2}`},
			"range":      {"[0,1,2]", "[0,1,2]"},
			"keysview":   {`["a"]`, `["a"]`},
			"valuesview": {"[1]", "[1]"},
			"ring":       {`["[[...]]"]`, `["[[...]]"]`},
		} {
			got := w.Call("value", `{"name":"`+name+`"}`)
			result := string(got.Meta.Result)
			if got.Meta.Result == nil {
				result = same
			}
			equal(t, name+" status", got.Meta.Status, "ok")
			equal(t, name+" text", got.Text(), want[0])
			equal(t, name+" result", result, want[1])
		}
		equal(t, "huge int", w.Call("value", `{"name":"huge int"}`).Meta.Status, "ok")
		equal(t, "generator", w.Call("gen", "").Text(), `[1,{"a":2}]`)
		equal(t, "async generator", w.Call("agen", "").Text(), "[1,2]")
		equal(t, "coroutine of a plain function", w.Call("coroutine", "").Text(), "inner")
		got := w.Call("png", "")
		if len(got.Content) != 2 || got.Content[1].Type != "image" || got.Content[1].MimeType != "image/png" ||
			len(got.Content[1].Data) != 16 {
			t.Errorf("png: %+v", got.Content)
		}
		equal(t, "png text", got.Text(), "<16 bytes>")
		equal(t, "raw", w.Call("raw", "").Content[1].Type, "resource")
		large := w.Call("large", "").Text()
		if len(large) != 200_009 {
			t.Errorf("a text of 200 kB arrived as %d bytes", len(large))
		}
		enormous := w.Call("enormous", "").Text()
		if !strings.HasPrefix(enormous, "a\n") || !strings.Contains(enormous, "\nz\n[The whole result had ") ||
			!strings.Contains(enormous, "bytes left out") {
			t.Errorf("a text past the wire's line arrived as %d bytes", len(enormous))
		}
		equal(t, "media too large", w.Call("media", "").Text(), "<5000008 bytes of image/png, too large to pass on>")
	})
}

func TestAPluginAsksConclave(t *testing.T) {
	w := serve(t, aPython(t), `
import conclave, asyncio
def read(): return conclave.host("storage.read", path="a.txt")["text"]
async def aread():
    return [ (await conclave.host_async("storage.read", path=p))["text"] for p in ("x", "y") ]
def denied():
    try: conclave.host("chats.active")
    except conclave.PermissionDenied as err: return "denied: %s (%s)" % (err, err.data["kind"])
def missing(): return conclave.host("storage.read", path="none")
def about(): return [str(conclave.storage_dir()), conclave.conversation(), conclave.user(), conclave.deadline() is not None, conclave.cancelled()]
def logs(): conclave.log("a line", "warning")
def steps():
    conclave.progress("half", 1, 2)
    return "done"
`)
	serveHost := func(id int, answers ...map[string]any) answer {
		t.Helper()
		for _, a := range answers {
			m := w.Until("conclave/host")
			if !strings.HasPrefix(string(m.ID), `"w`) {
				t.Errorf("id of a request to Conclave: %s", m.ID)
			}
			a["id"] = m.ID
			w.Send(a)
		}
		return w.Answered(id)
	}
	text := func(s string) map[string]any { return map[string]any{"result": map[string]any{"text": s}} }
	refuse := func(code int, kind string) map[string]any {
		return map[string]any{
			"error": map[string]any{"code": code, "message": "PERMISSION_DENIED: chats", "data": map[string]any{"kind": kind}},
		}
	}
	equal(t, "read", serveHost(w.Ask("read", "", map[string]any{"conclave/call-id": "c1"}), text("hello")).Text(), "hello")
	equal(t, "aread", serveHost(w.Ask("aread", "", nil), text("1"), text("2")).Text(), `["1","2"]`)
	equal(t, "denied", serveHost(w.Ask("denied", "", nil), refuse(-32010, "denied")).Text(),
		"denied: PERMISSION_DENIED: chats (denied)")
	equal(t, "missing", serveHost(w.Ask("missing", "", nil), refuse(-32013, "not_found")).Meta.ErrorType, "HostError")
	meta := due(time.Minute)
	meta["conclave/conversation"], meta["conclave/user"] = "conv", "u1"
	equal(t, "about", w.Answered(w.Ask("about", "", meta)).Text(), `["`+w.Storage+`","conv","u1",true,false]`)

	id := w.Ask("logs", "", nil)
	var note struct{ Level, Logger, Data string }
	must(t, json.Unmarshal(w.Until("notifications/message").Params, &note))
	equal(t, "log", note.Level+" "+note.Logger+" "+note.Data, "warning plug a line")
	w.Answered(id)

	id = w.Ask("steps", "", map[string]any{"progressToken": "p1"})
	var progress struct {
		Token    string `json:"progressToken"`
		Progress float64
		Total    float64
		Message  string
	}
	must(t, json.Unmarshal(w.Until("notifications/progress").Params, &progress))
	equal(t, "progress", fmt.Sprint(progress), "{p1 1 2 half}")
	equal(t, "steps", w.Answered(id).Text(), "done")
}

func TestARequestNamesTheCallItIsMadeFor(t *testing.T) {
	w := serve(t, aPython(t), "import conclave\ndef read(): return conclave.host('storage.exists', path='a')\n")
	id := w.Ask("read", "", map[string]any{"conclave/call-id": "c42"})
	m := w.Until("conclave/host")
	var params struct {
		Capability, Call string
		Args             map[string]string
	}
	must(t, json.Unmarshal(m.Params, &params))
	equal(t, "params", fmt.Sprint(params), "{storage.exists c42 map[path:a]}")
	w.Send(map[string]any{"id": m.ID, "result": map[string]any{"exists": true}})
	equal(t, "answer", w.Answered(id).Text(), `{"exists":true}`)
}

func TestEventsReachTheirListeners(t *testing.T) {
	w := serve(t, aPython(t), `
import conclave
heard = []
conclave.on_event("PERMISSION_CHANGED", heard.append)
def listening(): return heard
`)
	w.Send(map[string]any{
		"method": "conclave/event",
		"params": map[string]any{"name": "PERMISSION_CHANGED", "payload": map[string]any{"granted": true}},
	})
	w.Wait(w.Request("ping", map[string]any{})) // answered on the main thread too, after the event
	equal(t, "heard", w.Call("listening", "").Text(), `[{"granted":true}]`)
}

func TestAnUnknownToolNamesTheClosest(t *testing.T) {
	w := serve(t, aPython(t), "def word_count(): ...\ndef zebra(): ...\ndef count_words(): ...\n")
	got := w.Call("word_cuont", "")
	equal(t, "status", got.Meta.Status, "unknown")
	if !strings.HasPrefix(got.Text(), `Error: no tool named "word_cuont". Tools: word_count, `) {
		t.Errorf("text: %s", got.Text())
	}
}

func TestGarbageOnTheWireIsAnsweredAndSkipped(t *testing.T) {
	w := serve(t, aPython(t), "def f(): return 1\n")
	for _, line := range []string{"not json\n", "[1]\n", "\xff\xfe\n", "{\"id\":1}\n", "\n"} {
		if _, err := w.In.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "afterwards", w.Call("f", "").Text(), "1")
	m := w.Wait(w.Request("no/such", nil))
	if m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("an unknown method: %+v", m)
	}
	errors := 0
	for _, m := range w.Aside {
		if m.Error != nil {
			errors++
		}
	}
	if errors < 3 {
		t.Errorf("got %d errors, want one for each line that is no message", errors)
	}
}

func TestTheWorkerEndsWithItsInputAndRunsItsExitFunctions(t *testing.T) {
	for name, text := range map[string]string{
		"sync":  "import atexit\natexit.register(print, 'goodbye')\ndef f(): ...\n",
		"async": "import atexit, asyncio\natexit.register(print, 'goodbye')\nasync def f(): await asyncio.sleep(3600)\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, aPython(t), text)
			if name == "async" {
				w.Ask("f", "", nil)
			}
			if err := w.Ended(); err != nil {
				t.Errorf("exit: %v", err)
			}
			if !strings.Contains(w.Stderr.String(), "goodbye") {
				t.Error("the exit function did not run")
			}
		})
	}
}

func TestCallsFromManyThreadsAreAllAnswered(t *testing.T) {
	w := serve(t, aPython(t), "async def a(n: int): return n\ndef s(n: int): return n\n")
	want := map[int]string{}
	for n := range 400 {
		want[w.Ask([]string{"a", "s"}[n%2], fmt.Sprintf(`{"n":%d}`, n), due(time.Minute))] = fmt.Sprint(n)
	}
	var wrong []int
	for id, text := range want {
		if w.Answered(id).Text() != text {
			wrong = append(wrong, id)
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 {
		t.Errorf("wrong answers: %v", wrong)
	}
}
