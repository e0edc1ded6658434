package neko_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin/python/pythontest"
)

// logged waits for a line of the plugin's log that holds all parts, and returns it.
func logged(t testing.TB, w *pythontest.Worker, parts ...string) string {
	t.Helper()
	for {
		m := w.Until("notifications/message")
		var p struct{ Level, Data string }
		must(t, json.Unmarshal(m.Params, &p))
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(p.Data, part) }) {
			return p.Level
		}
	}
}

// again lists the tools once more.
func again(t testing.TB, w *pythontest.Worker) []pythontest.Listed {
	t.Helper()
	var result struct{ Tools []pythontest.Listed }
	must(t, json.Unmarshal(w.Wait(w.Request("tools/list", map[string]any{})).Result, &result))
	return result.Tools
}

func TestNK07APluginWhoseStartFailsKeepsItsTools(t *testing.T) {
	w := serve(t, aPython(t), `
def __init__(self, ctx):
    super().__init__(ctx)
    self.seen = [row["name"] for row in self.list_llm_tools()]

@lifecycle(id="startup")
async def start(self, **_):
    self.seen.append("startup")
    sys.exit(4)

@llm_tool()
async def seen(self):
    return self.seen
`)
	w.List()
	logged(t, w, "Its start failed", "SystemExit: 4", "sys.exit(4)")
	says(t, w.Call("seen", ""), `["seen","startup"]`)
}

func TestNK08NK09NK10NK11StartShutdownAndTheirTasks(t *testing.T) {
	w := serve(t, aPython(t), `
started = 0

@lifecycle(id="startup")
def begin(self):
    self.started += 1
    return Err(SdkError("not configured"))

@lifecycle(id="startup")
async def work(self):
    self.beats = 0
    self.task = asyncio.create_task(self.beat())
    return Err("no")

async def beat(self):
    while True:
        self.beats += 1
        await asyncio.sleep(0.01)

async def _on_command_loop_start(self):
    self.loops = getattr(self, "loops", 0) + 1

@llm_tool()
async def state(self):
    before = self.beats
    while self.beats < before + 3:
        await asyncio.sleep(0.01)
    return [self.started, self.loops, not self.task.done()]

@lifecycle(id="shutdown")
def end(self):
    self.data_path("end").write_text(str(self.task.done()))

@lifecycle(id="shutdown")
async def end_slowly(self):
    await asyncio.sleep(0)
    self.data_path("slow").write_text("x")
    threading.Thread(target=time.sleep, args=(600,)).start()
`)
	w.List()
	for range 2 {
		says(t, w.Call("state", ""), "[1,1,true]")
	}
	if err := w.Ended(); err != nil {
		t.Errorf("it ended with %v\n%s", err, w.Stderr)
	}
	for name, want := range map[string]string{"end": "False", "slow": "x"} {
		if text, err := os.ReadFile(filepath.Join(w.Storage, "data", name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, m := range w.Aside {
		if strings.Contains(string(m.Params), "fail") {
			t.Errorf("a failure was told: %s", m.Params)
		}
	}
}

func TestNK12TimersTickFailAndBlockWithoutHarm(t *testing.T) {
	w := serve(t, aPython(t), `
ticks = 0
held = threading.Event()
release = threading.Event()

@timer_interval(id="fast", seconds=0.01)
async def tick(self):
    Probe.ticks += 1
    if Probe.ticks == 1:
        raise ValueError("first tick")

@timer_interval(id="long", seconds=1)
def block(self):
    Probe.held.set()
    Probe.release.wait(600)

@timer_interval(id="off", seconds=1, auto_start=False)
def never(self):
    raise SystemExit

@llm_tool()
async def ticked(self):
    while Probe.ticks < 3 or not Probe.held.is_set():
        await asyncio.sleep(0.01)
    return "ticked"
`)
	w.List()
	says(t, w.Call("ticked", ""), "ticked")
	logged(t, w, "The timer fast failed", "ValueError: first tick")
}

func TestNK13NK14WhatADecoratorRefuses(t *testing.T) {
	w := serve(t, aPython(t), `
@llm_tool(name="")
async def its_own_name(self): ...

@llm_tool(timeout=301)
async def long(self): ...

@llm_tool()
def plain(self): ...

@llm_tool(description="checks")
async def check(self):
    found = []
    for facts in ({"name": "x" * 65}, {"name": "a b"}, {"name": "ä"}, {"parameters": []}, {"timeout": 0}, {"surprise": 1}):
        try:
            llm_tool(**facts)(lambda self: None)
            found.append("fine")
        except Exception as err:
            found.append(type(err).__name__)
    for mark, what in ((llm_tool(), 3), (lambda f: plugin_entry(input_schema={}, params=int), 0), (lambda f: timer_interval(id="t", seconds=0), 0), (lambda f: tr(""), 0), (lambda f: hook(timing="during"), 0)):
        try:
            mark(what)
            found.append("fine")
        except Exception as err:
            found.append(type(err).__name__)
    return found
`)
	tools := w.List()
	tool(t, tools, "its_own_name")
	long := tool(t, tools, "long")
	pythontest.Equal(t, "async", long.Meta.Async, true)
	pythontest.Equal(t, "not async", tool(t, tools, "plain").Meta.Async, false)
	if long.Meta.TimeoutMS != 300_000 || len(long.Meta.Warnings) != 1 ||
		!strings.Contains(long.Meta.Warnings[0], "301 s") {
		t.Errorf("got %+v", long.Meta)
	}
	says(t, w.Call("check", ""),
		`["ValueError","ValueError","ValueError","TypeError","ValueError","TypeError","TypeError","ValueError","ValueError","ValueError","ValueError"]`)
}

func TestNK15NK18NK47WhatAModelGets(t *testing.T) {
	w := pythontest.Launch(t, aPython(t), folder(t, `
@llm_tool(name="same")
async def b(self):
    return "b"

@llm_tool(name="same")
async def a(self):
    return "a"

@ui.action(id="x")

@plugin_entry(id="other", name=tr("n"))
@llm_tool(description=tr("tool.about", who="me"), role="Mia", parameters={"properties": {"x": {"type": "string", "description": tr("no.such", default="Plain {{n}}", n=3)}}})
async def told(self, x=""):
    return self.i18n.t("tool.about", locale="zh", who="you") + self.i18n.t("only.en") + self.i18n.t("missing")
`, map[string]string{
		"plugin.toml":     manifestOf() + "[plugin.i18n]\ndefault_locale = \"zh-CN\"\n",
		"i18n/en.json":    `{"tool": {"about": "About {who}"}, "only.en": "!"}`,
		"i18n/zh-CN.json": `{"tool.about": "关于{{ who }}"}`,
		"i18n/fr.json":    strings.Repeat(" ", 513<<10),
	}))
	tools := w.List()
	if got := pythontest.Names(tools); !slices.Equal(got, []string{"same", "told"}) {
		t.Errorf("tools %v", got)
	}
	says(t, w.Call("same", ""), "a")
	pythontest.Equal(t, "schema", string(tool(t, tools, "same").Schema), `{"type":"object","properties":{}}`)
	told := tool(t, tools, "told")
	pythontest.Equal(t, "description", told.Description, "About me")
	pythontest.Equal(t, "schema", string(told.Schema),
		`{"properties":{"x":{"type":"string","description":"Plain 3"}},"type":"object"}`)
	says(t, w.Call("told", ""), "关于you!missing")
}

func TestNK16NK17NK27ToolsThatComeAndGo(t *testing.T) {
	w := serve(t, aPython(t), `
@lifecycle(id="startup")
async def start(self):
    self.add("early")

def add(self, name):
    async def handler(**arguments):
        return [name, arguments]
    return self.register_llm_tool(name=name, description="At run time", parameters=[], handler=handler, timeout=-1)

@llm_tool()
async def change(self):
    found = [self.add("late")]
    for wrong in (lambda: self.add("late"), lambda: self.add("a b"), lambda: self.register_llm_tool(name="x", handler=3)):
        try:
            wrong()
        except Exception as err:
            found.append(type(err).__name__)
    found += [self.unregister_llm_tool("early"), self.unregister_llm_tool("early"), self.add("early")]
    return found + [sorted(row["name"] for row in self.list_llm_tools()), [row["id"] for row in self.list_entries()][0]]

@llm_tool()
async def announce(self):
    for _ in range(100):
        for meta in self._llm_tools.values():
            self._notify_llm_tool_registered(meta)
        self._host_ctx.message_queue.put_nowait({"type": "LLM_TOOL_REGISTER", "plugin_id": "probe", "name": "late"})
        self._host_ctx.message_queue.put_nowait({"type": "LLM_TOOL_UNREGISTER", "plugin_id": "other", "name": "late"})
    return "announced"
`)
	if got := pythontest.Names(w.List()); !slices.Equal(got, []string{"announce", "change", "early"}) {
		t.Errorf("at first %v", got)
	}
	w.Until("notifications/tools/list_changed") // of the start
	says(t, w.Call("change", ""),
		`[true,"EntryConflictError","ValueError","TypeError",true,false,true,["announce","change","early","late"],"__llm_tool__announce"]`)
	w.Until("notifications/tools/list_changed")
	if got := pythontest.Names(again(t, w)); !slices.Equal(got, []string{"announce", "change", "late", "early"}) {
		t.Errorf("then %v", got)
	}
	says(t, w.Call("late", `{"a":1,"_ctx":{}}`), `["late",{"a":1}]`)
	says(t, w.Call("announce", ""), "announced")
	if got := len(again(t, w)); got != 4 {
		t.Errorf("%d tools after announcing", got)
	}
	for _, m := range w.Aside {
		if m.Method == "notifications/tools/list_changed" {
			t.Error("announcing again was told as a change")
		}
	}
}

func TestNK19NK44ArgumentsAndTheContext(t *testing.T) {
	w := serve(t, aPython(t), `
@llm_tool(parameters={"type": "object", "properties": {"n": {"type": "integer"}, "f": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"}}})
async def all(self, **arguments):
    return arguments

@llm_tool()
async def none(self):
    return "none"

@llm_tool(parameters={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
def strict(self, a, *, b=2):
    return [a, b]

@llm_tool()
async def whose(self, _ctx=None, x=0):
    return [_ctx, x]
`)
	w.List()
	says(t, w.Call("all", `{"n":"5","f":"1.5","b":"TRUE","s":"7","more":[1]}`),
		`{"n":5,"f":1.5,"b":true,"s":"7","more":[1]}`)
	says(t, w.Call("all", ""), `{}`)
	says(t, w.Call("none", `{"surprise":1}`), "none")
	says(t, w.Call("strict", `{"a":"x","c":1}`), `["x",2]`)
	fails(t, w.Call("strict", `{"b":1}`), "a: is required")
	says(t, w.Call("whose", `{"_ctx":{"lanlan_name":"forged"},"x":1}`), `[{"lanlan_name":"Conclave"},1]`)
	member := w.Answered(w.Ask("whose", "{}", map[string]any{"conclave/council-member": map[string]any{"name": "Mia"}}))
	says(t, member, `[{"lanlan_name":"Mia"},0]`)
}

func TestNK20NK24SyncHandlersDeadlinesAndConcurrency(t *testing.T) {
	w := serve(t, aPython(t), `
gate = threading.Event()

@llm_tool()
def blocked(self):
    self.gate.wait(600)
    return "released"

@llm_tool()
def release(self):
    self.gate.set()
    return "ok"

@llm_tool(timeout=1)
async def slow(self):
    await asyncio.sleep(600)

@llm_tool()
async def quick(self):
    return "quick"
`)
	slow := tool(t, w.List(), "slow")
	pythontest.Equal(t, "timeout", slow.Meta.TimeoutMS, 1000)
	first := w.Ask("blocked", "", nil)
	says(t, w.Call("quick", ""), "quick")
	says(t, w.Call("release", ""), "ok")
	says(t, w.Answered(first), "released")
	late := w.Answered(w.Ask("slow", "", map[string]any{"conclave/deadline-ms": time.Now().Add(time.Second).UnixMilli()}))
	fails(t, late, "slow took longer than")
	pythontest.Equal(t, "status", late.Meta.Status, "timeout")
	says(t, w.Call("quick", ""), "quick")
}

func TestNK21NK22NK23WhatHandlersReturn(t *testing.T) {
	w := serve(t, aPython(t), `
@llm_tool()
async def give(self, what, **_):
    if what == "raise":
        raise ValueError("boom")
    if what == "exit":
        sys.exit(3)
    return {
        "ok": Ok({"a": 1}), "err": Err(SdkError("x went wrong")), "text err": Err("plain words"), "str": "text", "int": 7, "list": [1, "ä"], "none": None,
        "ok none": Ok(None), "envelope": {"output": {"o": 1}, "is_error": True, "error": "E"}, "output": {"output": "o"},
        "fine": {"is_error": False, "a": 1}, "images": {"images": []}, "no text": {"is_error": True},
    }[what]

@llm_tool()
def give_sync(self):
    return Err(SdkError("sync"))
`)
	w.List()
	for what, want := range map[string]string{
		"ok": `{"a":1}`, "str": "text", "int": "7", "list": `[1,"ä"]`, "none": "null", "ok none": "null",
		"output": `{"output":"o"}`, "fine": `{"a":1}`, "images": `{"images":[]}`,
	} {
		says(t, w.Call("give", fmt.Sprintf(`{"what":%q}`, what)), want)
	}
	for what, want := range map[string][]string{
		"err": {"x went wrong"}, "text err": {"plain words"}, "envelope": {"E", `{"o":1}`}, "raise": {"ValueError", "boom"},
		"exit": {"SystemExit"}, "no text": {"the tool says that it failed"},
	} {
		a := w.Call("give", fmt.Sprintf(`{"what":%q}`, what))
		fails(t, a, want...)
		if what == "raise" && (a.Meta.ErrorType != "ValueError" ||
			!strings.Contains(a.Meta.Traceback, `raise ValueError("boom")`)) {
			t.Errorf("the record has %+v", a.Meta)
		}
	}
	fails(t, w.Call("give_sync", ""), "SdkError: sync")
}

func TestNK45PicturesOfAnEnvelope(t *testing.T) {
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	w := serve(t, aPython(t), `
@llm_tool()
async def look(self, images):
    return {"output": "seen", "images": images}
`)
	w.List()
	wide, _ := base64.StdEncoding.DecodeString(png)
	wide[18], wide[19] = 0x10, 0
	a := w.Call("look", fmt.Sprintf(`{"images":[{"data_b64":%q,"mime":"image/png"}]}`, png[:20]+"\n"+png[20:]))
	if len(a.Content) != 2 || a.Text() != "seen" || a.Content[1].MimeType != "image/png" || len(a.Content[1].Data) < 60 {
		t.Errorf("got %+v", a.Content)
	}
	bad := []map[string]any{
		{"data_b64": png, "mime": "image/jpeg"},
		{"data_b64": "data:" + png},
		{"data_b64": "R0lGODlh"},
		{},
		{"data_b64": base64.StdEncoding.EncodeToString(wide)},
	}
	raw, _ := json.Marshal(map[string]any{"images": bad})
	a = w.Call("look", string(raw))
	if len(a.Content) != 1 || strings.Count(a.Text(), "was left out") != len(bad) ||
		!strings.Contains(a.Text(), `"result":"seen"`) {
		t.Errorf("got %d blocks and %s", len(a.Content), a.Text())
	}
}

func TestNK48BothKindsOfPlaceholdersAreFilled(t *testing.T) {
	w := serve(t, aPython(t), `
@lifecycle(id="startup")
def start(self):
    self.logger.info("braces {} and {name}", 1, name="two")
    self.logger.warning("percent %s and %d%%", "three", 4)
    self.logger.debug("odd {} %", 5, 6)
    try:
        1 / 0
    except ZeroDivisionError as err:
        self.logger.exception("caught {}", err)
    try:
        self.enable_file_logging(log_level="NOISE")
    except ValueError:
        self.logger = self.enable_file_logging(log_level="WARNING")
    self.logger.error("to the file")
    self.logger.info("not to the file")
`)
	w.List()
	pythontest.Equal(t, "level", logged(t, w, "braces 1 and two"), "info")
	pythontest.Equal(t, "level", logged(t, w, "percent three and 4%"), "warning")
	pythontest.Equal(t, "level", logged(t, w, "odd 5 %"), "debug")
	logged(t, w, "caught division by zero", "ZeroDivisionError", "1 / 0")
	text, err := os.ReadFile(filepath.Join(w.Storage, "logs", "plugin.log"))
	if err != nil || !strings.Contains(string(text), "ERROR to the file") || strings.Contains(string(text), "not to") {
		t.Errorf("the file has %q, %v", text, err)
	}
}

func TestATranslationIsATextWhereverAHandlerSaysIt(t *testing.T) {
	w := pythontest.Launch(t, aPython(t), folder(t, `
@llm_tool()
async def plain(self):
    return tr("done", n=2)

@llm_tool()
def nested(self):
    return {"say": [tr("done", n=3), (1, tr("missing", default="Plain"))], "n": 1}

@llm_tool()
async def ok(self):
    return Ok({"message": tr("done", n=4)})

@llm_tool()
async def enveloped(self):
    return {"output": tr("done", n=5), "is_error": True, "error": tr("bad")}

@llm_tool()
async def err(self):
    return Err(tr("bad"))

@llm_tool()
async def raises(self):
    raise SdkError(tr("bad"))

@llm_tool()
def itself(self):
    value = {"a": tr("done", n=6)}
    value["b"] = value
    return value
`, map[string]string{"plugin.toml": manifestOf(), "i18n/en.json": `{"done": "Done {n}", "bad": "No luck"}`}))
	w.List()
	says(t, w.Call("plain", ""), "Done 2")
	says(t, w.Call("nested", ""), `{"say":["Done 3",[1,"Plain"]],"n":1}`)
	says(t, w.Call("ok", ""), `{"message":"Done 4"}`)
	for _, name := range []string{"enveloped", "err", "raises"} {
		if got := w.Call(name, ""); !strings.Contains(got.Text(), "No luck") || strings.Contains(got.Text(), "$i18n") {
			t.Errorf("%s: %s", name, got.Text())
		}
	}
	if got := w.Call("itself", ""); !got.IsError && strings.Contains(got.Text(), "Done 6") {
		t.Errorf("a value that holds itself: %s", got.Text())
	}
	says(t, w.Call("plain", ""), "Done 2")
}
