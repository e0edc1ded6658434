package neko_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/python/pythontest"
)

// begin starts a plugin again in a place where it was before.
func begin(t testing.TB, d *neko.Dialect, src plugin.Source, start plugin.StartOptions) *pythontest.Worker {
	t.Helper()
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	spec, err := d.Spec(t.Context(), src, *m, start)
	must(t, err)
	w := pythontest.Begin(t, spec, start.Storage)
	w.List()
	return w
}

func TestNK49WhatAPluginKeepsSurvivesARestart(t *testing.T) {
	d, start := aPython(t), startOptions(t)
	manifest := manifestOf() + "[plugin.store]\nenabled = true\n[mine]\na = 1\n[mine.deep]\nb = 2\n"
	src := folder(t, `
@llm_tool()
async def keep(self):
    await self.config.set("mine.a", 5)
    await self.config.update({"mine": {"deep": {"text": "line\n\"quoted\" ä", "list": [1, {"x": True}], "gone": None}}, "new key": {"f": 1.5}})
    self.data_path("sub").mkdir()
    self.data_path("sub", "x.txt").write_text("kept")
    (self.plugin_dir / "providers.json").write_text("beside the code")
    with open(os.path.join(os.path.dirname(__file__), "shipped.txt"), "a") as file:
        file.write(" and changed")
    return [str(await self.store.set("k", {"v": [1]})), str(await self.store.set("", 1)), str(await self.store.set("bad", {1, 2}))]

@llm_tool()
async def kept(self):
    found = await self.config.dump()
    return [
        found["mine"], found["new key"], (await self.store.get("k")).value, unwrap_or(await self.store.get("no", 3), 0),
        (await self.store.keys()).value, self.data_path("sub", "x.txt").read_text(), (self.plugin_dir / "providers.json").read_text(),
        (self.ctx.config_path.parent / "shipped.txt").read_text(), (await self.config.base_dump())["mine"],
    ]
`, map[string]string{"plugin.toml": manifest, "shipped.txt": "shipped", "config.example.toml": "[mine]\na = 3 # to begin with\n"})
	w := begin(t, d, src, start)
	a := w.Call("keep", "")
	if a.IsError || !strings.HasPrefix(a.Text(), `["Ok(None)","Err(SdkError('the store needs a key`) ||
		!strings.Contains(a.Text(), "bad has no JSON form") {
		t.Fatalf("got %s\n%s", a.Text(), a.Meta.Traceback)
	}
	must(t, w.Ended())
	w = begin(t, d, src, start)
	says(t, w.Call("kept", ""),
		`[{"a":5,"deep":{"b":2,"list":[1,{"x":true}],"text":"line\n\"quoted\" ä"}},{"f":1.5},{"v":[1]},3,["k"],"kept","beside the code","shipped and changed",{"a":1,"deep":{"b":2}}]`)
	must(t, w.Ended())
	for name, want := range map[string]string{"plugin.toml": manifest, "shipped.txt": "shipped"} {
		if text, err := os.ReadFile(filepath.Join(src.Path, name)); err != nil || string(text) != want {
			t.Errorf("the person's %s was changed to %q, %v", name, text, err)
		}
	}
	// A newer file of the person's takes the place of what the plugin made of it.
	write(t, filepath.Join(src.Path, "shipped.txt"), "newer than that")
	w = begin(t, d, src, start)
	if text := w.Call("kept", "").Text(); !strings.Contains(text, `"newer than that"`) ||
		!strings.Contains(text, "beside the code") {
		t.Errorf("after an upgrade: %s", text)
	}
}

func TestAStoreThatIsOffKeepsNothing(t *testing.T) {
	w := serve(t, aPython(t), `
@llm_tool()
async def off(self):
    first = [str(await self.store.set("k", 1)), (await self.store.get("k", "default")).value]
    self.store.enabled = True
    await self.store.set("k", 1)
    return first + [(await self.store.get("k")).value]
`)
	w.List()
	says(t, w.Call("off", ""), `["Ok(None)","default",1]`)
}

func TestADeskStaysInsideItsFolder(t *testing.T) {
	d, start := aPython(t), startOptions(t)
	src := folder(t, "@llm_tool()\nasync def x(self):\n    return 'x'\n", map[string]string{
		"data.txt": "one", "deep/data.txt": "one",
	})
	must(t, begin(t, d, src, start).Ended())
	outside := t.TempDir()
	write(t, filepath.Join(outside, "data.txt"), "precious")
	desk := filepath.Join(start.Storage, "plugin", "probe")
	for _, name := range []string{"data.txt", "deep"} { // links that the plugin left
		must(t, os.RemoveAll(filepath.Join(desk, name)))
	}
	must(t, os.Symlink(filepath.Join(outside, "data.txt"), filepath.Join(desk, "data.txt")))
	must(t, os.Symlink(outside, filepath.Join(desk, "deep")))
	write(t, filepath.Join(src.Path, "data.txt"), "two, longer")
	write(t, filepath.Join(src.Path, "deep", "data.txt"), "two, longer")
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	_, err = d.Spec(t.Context(), src, *m, start)
	if p := problemOf(t, err); p.Kind != "refused" || !strings.Contains(p.Message, "because a link lies there") {
		t.Errorf("got %+v", p)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "data.txt")); err != nil || string(text) != "precious" {
		t.Errorf("outside the desk: %q, %v", text, err)
	}
}

func TestWithoutAGrantTheNetworkAndProgramsAreRefusedInWords(t *testing.T) {
	body := `
@llm_tool()
async def reach(self):
    import socket, subprocess
    found = []
    for attempt in (lambda: socket.create_connection(("127.0.0.1", 9), 1), lambda: socket.socket(), lambda: subprocess.run(["true"]), lambda: os.system("true")):
        try:
            attempt()
            found.append("done")
        except Exception as err:
            found.append(type(err).__name__ + ": " + str(err))
    first, second = socket.socketpair()
    first.sendall(b"x")
    return found + [second.recv(1).decode()]
`
	d := aPython(t)
	w := pythontest.BehindWalls(t, d, folder(t, body, nil).Path)
	w.List()
	text := w.Call("reach", "").Text()
	if strings.Count(text, "PermissionError") != 4 || strings.Count(text, "conclave plugins grant probe network") != 2 ||
		strings.Count(text, "it was not started") != 2 || !strings.HasSuffix(text, `"x"]`) {
		t.Errorf("got %s", text)
	}
	start := startOptions(t)
	start.Granted, start.Proxy = []string{"network", "programs"}, plugin.Proxy{Address: "127.0.0.1:4711"}
	src := folder(t, body, nil)
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	spec, err := d.Spec(t.Context(), src, *m, start)
	if start.ApplyPermissions(&spec); err != nil || !spec.Sockets || !spec.Spawn {
		t.Errorf("granted: sockets %v, programs %v, %v", spec.Sockets, spec.Spawn, err)
	}
	w = begin(t, d, src, start)
	if text := w.Call("reach", "").Text(); !strings.HasPrefix(text, `["ConnectionRefusedError`) ||
		strings.Contains(text, "PermissionError") {
		t.Errorf("granted: %s", text)
	}
}

func TestMessagesBecomeNotesThroughConclave(t *testing.T) {
	w := serve(t, aPython(t), `
@llm_tool()
async def push(self, **facts):
    try:
        return self.push_message(**facts)
    except Exception as err:
        return type(err).__name__

@llm_tool()
async def both(self):
    return [self.push_message(source="x", visibility=["chat"], ai_behavior="blind", parts=[{"type": "text", "text": "Hello {MASTER_NAME}"}, {"type": "image", "data": b"x"}])]

@llm_tool()
async def later(self):
    sent = asyncio.ensure_future(self.ctx.push_message_async(visibility=["chat"], parts=[{"type": "text", "text": "New mail"}]))
    await asyncio.sleep(0)
    return [sent.done(), await sent]
`)
	w.List()
	says(t, w.Call("push", `{"visibility":["tv"],"parts":[]}`), "ValueError")
	says(t, w.Call("push", `{"ai_behavior":"shout","parts":[]}`), "ValueError")
	says(t, w.Call("push", `{"parts":[{"type":"image","data":3}]}`), "TypeError")
	call := w.Ask("both", "", nil)
	ask := w.Until("conclave/host")
	if !strings.Contains(string(ask.Params), `"capability":"chats.append"`) ||
		!strings.Contains(string(ask.Params), `"[Probe] Hello you"`) ||
		!strings.Contains(string(ask.Params), `"hidden":true`) {
		t.Errorf("asked %s", ask.Params)
	}
	w.Send(map[string]any{
		"id": ask.ID, "error": map[string]any{"code": -32010, "message": "PERMISSION_DENIED: chat_mutation"},
	})
	says(t, w.Answered(call), `[{"ok":false,"submitted":false,"reason":"transport_error"}]`)
	logged(t, w, "A message was not passed on: PERMISSION_DENIED: chat_mutation")

	// The loop goes on while Conclave is asked.
	call = w.Ask("later", "", nil)
	ask = w.Until("conclave/host")
	if !strings.Contains(string(ask.Params), `"[Probe] New mail"`) {
		t.Errorf("asked %s", ask.Params)
	}
	w.Send(map[string]any{"id": ask.ID, "result": map[string]any{"value": nil}})
	says(t, w.Answered(call), `[false,{"ok":true,"submitted":true}]`)
}

func TestAPluginOfEntriesAloneOffersThemHidden(t *testing.T) {
	w := serve(t, aPython(t), `
def __init__(self, ctx):
    super().__init__(ctx)
    class More(PluginRouter):
        @plugin_entry(id="inner")
        async def inner(self, **_):
            return Ok([self.plugin_id, self.main_plugin.plugin_id])
    self.include_router(More(name="more"), prefix="more_")
    self.register_dynamic_entry("made", lambda **_: "made", description="Made.")

@plugin_entry(id="greet", name="Greet", description="Greets.", input_schema={"type": "object", "properties": {"who": {"type": "string"}}})
def greet(self, who="you", **_):
    return "hello " + who
`)
	tools := w.List()
	if got := pythontest.Names(tools); strings.Join(got, " ") != "greet more_inner made" ||
		tools[0].Meta.Visibility != "hidden" || tools[0].Title != "Greet" {
		t.Errorf("got %+v", tools)
	}
	says(t, w.Call("greet", `{"who":"me"}`), "hello me")
	says(t, w.Call("more_inner", ""), `["probe","probe"]`)
	says(t, w.Call("made", ""), "made")
}

// N.E.K.O reads the arguments of an entry from its function where nothing else says them.
func TestEntriesWithoutASchemaAreOfferedAsTheyAreWritten(t *testing.T) {
	w := serve(t, aPython(t), `
class Wanted:
    @classmethod
    def model_json_schema(cls):
        return {"type": "object", "properties": {"depth": {"type": "integer"}}}
    @classmethod
    def model_validate(cls, given):
        made = cls()
        made.depth = given["depth"]
        return made

@plugin_entry(id="hello")
async def hello(self, name: str = "World", *, times: int, _ctx=None, **_):
    return Ok((name + " ") * times)

@plugin_entry(id="dig")
def dig(self, wanted: Wanted):
    return wanted.depth

@plugin_entry(id="bare")
def bare(self, **_):
    return "bare"
`)
	tools := w.List()
	pythontest.Equal(t, "hello", string(tool(t, tools, "hello").Schema),
		`{"type":"object","properties":{"name":{"type":"string","default":"World"},"times":{"type":"integer"}},"required":["times"]}`)
	pythontest.Equal(t, "dig", string(tool(t, tools, "dig").Schema),
		`{"type":"object","properties":{"depth":{"type":"integer"}}}`)
	pythontest.Equal(t, "bare", string(tool(t, tools, "bare").Schema), `{"type":"object","properties":{}}`)
	says(t, w.Call("hello", `{"name":"you","times":2}`), "you you ")
	says(t, w.Call("dig", `{"depth":3}`), "3")
	says(t, w.Call("bare", ""), "bare")
}

// What plugins for N.E.K.O were seen to import and call.
func TestPartsOfNEKOThatPluginsReachForAreThere(t *testing.T) {
	w := serve(t, aPython(t), `
from plugin.sdk.shared.core.base_runtime import resolve_runtime_data_root
from plugin.logging_config import get_logger
from utils.logger_config import get_module_logger
from utils.language_utils import get_global_language
input_schema = {"type": "object"}
get_module_logger("a.b", "Card").info("of a module")
get_logger("other").info("of another")

class Part(PluginRouter):
    pass

@llm_tool()
async def tried(self):
    self.include_router(self.Part(name="part"))
    part = self.get_router("part")
    self._notify_static_ui_registered({"enabled": True})
    self.get_logger("named").info("said")
    told = [self.list_routers(), part.name(), part.name == "part", self.exclude_router("part"), self.exclude_router("part")]
    told += [str(self.resolve_runtime_data_root()) == str(self.storage_dir), self.get_global_language(), self.get_input_schema()]
    return told + [self.sdk_logger is self.logger, self.is_entry_enabled("none"), self.register_list_action(id="x")]

resolve_runtime_data_root, get_global_language = staticmethod(resolve_runtime_data_root), staticmethod(get_global_language)
`)
	w.List()
	logged(t, w, "Card: of a module")
	logged(t, w, "other: of another")
	says(t, w.Call("tried", ""),
		`[["part"],"part",true,true,false,true,"en",{"type":"object"},true,null,false]`)
}

func TestNK50OnePluginsBlockedLoopIsNotAnothers(t *testing.T) {
	d := aPython(t)
	first := serve(t, d, "@llm_tool()\nasync def block(self):\n    time.sleep(600)\n")
	first.List()
	first.Ask("block", "", nil)
	second := serve(t, d, "@llm_tool()\nasync def quick(self):\n    return 'quick'\n")
	second.List()
	says(t, second.Call("quick", ""), "quick")
}

// Plugins that come with N.E.K.O keep their state in functions that cannot await.
func TestNK49WhatGetAndSetAreMadeOfWorksWithoutAwaiting(t *testing.T) {
	d, start := aPython(t), startOptions(t)
	src := folder(t, `
@llm_tool()
def keep(self):
    found = [self.store._read_value("k", "none"), self.store._write_value("k", {"v": [1]}), self.store._read_value("k")]
    try:
        self.store._write_value("bad", {1, 2})
    except SdkError as err:
        found.append("bad has no JSON form" in str(err))
    return found + [self.store._delete_value("k"), self.store._delete_value("k")]
`, map[string]string{"plugin.toml": manifestOf() + "[plugin.store]\nenabled = true\n"})
	w := begin(t, d, src, start)
	says(t, w.Call("keep", ""), `["none",null,{"v":[1]},true,true,false]`)
	must(t, w.Ended())
}
