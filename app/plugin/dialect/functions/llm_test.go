package functions_test

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/python/pythontest"
)

// registering is a single file with a hook: two functions, one renamed, a helper
// that is not registered, and a tool of its own making.
const registering = `"""Small things."""
import llm


def shout(text: str) -> str:
    """Say it loudly.

    Args:
        text: What to say.
    """
    return text.upper() + "!"


def helper(x):
    return x


@llm.hookimpl
def register_tools(register):
    register(shout)
    register(helper, name="given name")
    register(shout)
    register(llm.Tool(name="plain", description="Takes what it is given.", input_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, implementation=lambda n: n * 2))
    register(llm.Tool(name="bare", description="Takes nothing.", input_schema={}, implementation=lambda: "bare"))
    register(llm.Tool.function(helper, name="told", description="Words  kept\n  as they are."))


@llm.hookimpl
def register_models(register):
    raise RuntimeError("never called")


@llm.hookimpl(specname="register_commands")
def commands(cli):
    raise RuntimeError("never called")
`

func TestLF41PluginsOfLlmListExactlyWhatTheyRegister(t *testing.T) {
	project := "[project]\nname = 'llm-tools-small'\nversion = '0.2'\ndescription = 'Small " +
		"things.'\n[project.entry-points.llm]\nsmall = '%s'\n"
	want := []string{"shout", "given name", "shout_1", "plain", "bare", "told"}
	trees := map[string]struct {
		files map[string]string
		path  string
	}{
		"single file": {map[string]string{"small.py": registering}, "small.py"},
		"flat": {
			map[string]string{"p/pyproject.toml": strings.Replace(project, "%s", "llm_small", 1), "p/llm_small.py": registering},
			"p",
		},
		"src": {
			map[string]string{
				"p/pyproject.toml":            strings.Replace(project, "%s", "llm_small", 1),
				"p/src/llm_small/__init__.py": "from .hooks import register_tools\n", "p/src/llm_small/hooks.py": registering,
			},
			"p",
		},
		"package": {
			map[string]string{
				"p/pyproject.toml": strings.Replace(project, "%s", "llm_small.hooks", 1), "p/llm_small/__init__.py": "",
				"p/llm_small/hooks.py": registering,
			},
			"p",
		},
		"object": {
			map[string]string{
				"p/pyproject.toml": strings.Replace(project, "%s", "small:Hooks", 1),
				"p/small.py":       registering + "class Hooks:\n    register_tools = staticmethod(register_tools)\n",
			},
			"p",
		},
		"poetry": {
			map[string]string{
				"p/pyproject.toml": "[tool.poetry]\nname = 'llm-tools-small'\n[tool.poetry.plugins.llm]\nsmall = 'small'\n",
				"p/small.py":       registering,
			},
			"p",
		},
		"setup.cfg": {
			map[string]string{
				"p/setup.cfg": "[metadata]\nname = x\n[options.entry_points]\nllm =\n    small = small\n",
				"p/small.py":  registering,
			},
			"p",
		},
		"setup.py": {
			map[string]string{
				"p/setup.py": "from setuptools import setup\nsetup(name='x', entry_points={'llm': ['small = small']})\n",
				"p/small.py": registering,
			},
			"p",
		},
		"own folder": {map[string]string{"p/__init__.py": registering}, "p"},
	}
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := launch(t, aPython(t), source(t, filepath.Join(files(t, tree.files), tree.path)))
			tools := w.List()
			if got := names(tools); !slices.Equal(got, want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			equal(t, "description", tools[0].Description, "Say it loudly.")
			equal(t, "schema", compact(t, tools[0].Schema),
				`{"type":"object","properties":{"text":{"type":"string","description":"What to say."}},"required":["text"]}`)
			if tools[0].Meta.Line == 0 || !strings.HasSuffix(tools[0].Meta.File, ".py") {
				t.Errorf("it lies at %s:%d", tools[0].Meta.File, tools[0].Meta.Line)
			}
			equal(t, "answer", w.Call("shout", `{"text":"hi"}`).Text(), "HI!")
			equal(t, "clashing name", w.Call("shout_1", `{"text":"ho"}`).Text(), "HO!")
			equal(t, "helper", w.Call("helper", `{"x":1}`).Meta.Status, "unknown")
		})
	}
}

func TestLF45ASchemaThatThePluginGivesIsSentAsItIs(t *testing.T) {
	w := serve(t, aPython(t), registering)
	for _, tool := range w.Tools {
		switch tool.Name {
		case "plain":
			equal(t, "schema", compact(t, tool.Schema),
				`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
			equal(t, "checked by Conclave", tool.Meta.Strict, true)
		case "bare":
			equal(t, "schema", compact(t, tool.Schema), `{"type":"object","properties":{}}`)
		case "told":
			equal(t, "description", tool.Description, "Words  kept\n  as they are.")
		}
	}
	equal(t, "plain", w.Call("plain", `{"n":4}`).Text(), "8")
	equal(t, "bare", w.Call("bare", `{}`).Text(), "bare")
}

func TestLF46HooksThatAreNotUsedAreListedAndNotFatal(t *testing.T) {
	w := serve(t, aPython(t), registering)
	got := strings.Join(w.Notes, " ")
	if !strings.Contains(got, "register_models is not used by Conclave") ||
		!strings.Contains(got, "register_commands is not used by Conclave") {
		t.Errorf("got the notes %q", w.Notes)
	}
}

// A plugin that looks for loaders of fragments or templates while it registers its tools
// finds none, and goes on.
func TestLoadersOfFragmentsAndTemplatesAreNone(t *testing.T) {
	w := serve(t, aPython(t), `import llm


def loaders() -> str:
    """Says what there is."""
    return repr([llm.get_fragment_loaders(), llm.get_template_loaders()])


@llm.hookimpl
def register_tools(register):
    if "x" not in llm.get_fragment_loaders():
        register(loaders)
`)
	equal(t, "answer", w.Call("loaders", `{}`).Text(), "[{}, {}]")
}

func TestAPluginThatRegistersNothingSaysSo(t *testing.T) {
	w := serve(t, aPython(t), "import llm\n\n@llm.hookimpl\ndef register_tools(register):\n    pass\n")
	if len(w.Notes) != 1 || !strings.HasPrefix(w.Notes[0], "It registered no tools.") {
		t.Errorf("got the notes %q", w.Notes)
	}
}

// boxes is a file with toolboxes of every kind.
const boxes = `import asyncio, functools, threading
import llm

made = []


class Memory(llm.Toolbox):
    """Remembers for as long as a chat lasts."""

    def __init__(self, size: int = 3, api_key: str = ""):
        made.append(self)
        self.size, self.kept, self.callback = size, [], print
        self.thread = threading.get_ident()

    def remember(self, text: str) -> str:
        """Remember a text."""
        self.kept.append(text)
        return "%d of %d" % (len(self.kept), self.size)

    def recall(self) -> list:
        """Say what was remembered."""
        assert self.thread == threading.get_ident(), "another thread"
        return self.kept

    @staticmethod
    def double(n: int) -> int:
        """Twice a number."""
        return 2 * n

    @classmethod
    def kind(cls) -> str:
        """The name of the class."""
        return cls.__name__

    @property
    def dangerous(self):
        raise RuntimeError("a property was evaluated")

    @functools.cached_property
    def cached(self):
        raise RuntimeError("a cached property was evaluated")

    class Inner:
        pass

    def _private(self):
        pass


class Wide(Memory):
    def recall(self, last: int = 1) -> list:
        """Say what was remembered last."""
        return self.kept[-last:]

    def prepare(self):
        self.add_tool(self.extra)
        self.add_tool(counted, pass_self=True)
        self.add_tool(llm.Tool(name="fixed", description="Fixed.", input_schema={}, implementation=lambda: "fixed"))

    def extra(self) -> str:
        """One more."""
        return "extra"


def counted(box, more: int) -> int:
    """How many, and more."""
    return len(box.kept) + more


class Own(llm.Toolbox):
    def tools(self):
        yield llm.Tool.function(self.method, name="own_name")

    def method(self, x: int) -> int:
        """Plus one."""
        return x + 1


class Later(llm.Toolbox):
    ready = 0

    async def prepare_async(self):
        await asyncio.sleep(0)
        self.ready += 1
        self.loop = asyncio.get_running_loop()

    async def ask(self, q: str) -> str:
        """Ask."""
        assert self.loop is asyncio.get_running_loop()
        await asyncio.sleep(0)
        return "%s %d" % (q, self.ready)

    def plain(self) -> int:
        """Not async."""
        return self.ready


class Needy(llm.Toolbox):
    """Needs a path."""

    def __init__(self, path: str, *, token: str, depth: int = 2, **more):
        self.path, self.token, self.depth = path, token, depth

    def where(self) -> str:
        """Say where."""
        return "%s %s %d" % (self.path, self.token, self.depth)


class Broken(llm.Toolbox):
    def __init__(self, size: int = 0):
        1 / size

    def work(self) -> int:
        """Never works."""
        return 1


@llm.hookimpl
def register_tools(register):
    for box in (Memory, Wide, Own, Later, Needy, Broken):
        register(box, name="later" if box is Later else None)
`

func TestLF44ToolboxesOfferTheirMethodsAndWhatTheyAdd(t *testing.T) {
	w := serve(t, aPython(t), boxes)
	want := []string{
		"Memory_remember", "Memory_recall", "Memory_double", "Memory_kind",
		"Wide_remember", "Wide_recall", "Wide_double", "Wide_kind", "Wide_extra", "extra", "counted", "fixed",
		"own_name", "Later_ask", "Later_plain", "Needy_where", "Broken_work",
	}
	if got := names(w.Tools); !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	for _, tool := range w.Tools {
		hidden := tool.Name == "Needy_where" || tool.Name == "Broken_work"
		if got := tool.Meta.Visibility == "hidden"; got != hidden {
			t.Errorf("%s is hidden: %v", tool.Name, got)
		}
		if tool.Name == "counted" {
			equal(t, "schema of counted", compact(t, tool.Schema),
				`{"type":"object","properties":{"more":{"type":"integer"}},"required":["more"]}`)
		}
	}
	for call, answer := range map[[2]string]string{
		{"Memory_double", `{"n":"4"}`}:    "8",
		{"Memory_kind", `{}`}:             "Memory",
		{"Wide_kind", `{}`}:               "Wide",
		{"Wide_remember", `{"text":"a"}`}: "1 of 3",
		{"extra", `{}`}:                   "extra",
		{"fixed", `{}`}:                   "fixed",
		{"own_name", `{"x":1}`}:           "2",
		{"Later_ask", `{"q":"n"}`}:        "n 1",
		{"Later_plain", `{}`}:             "1",
	} {
		equal(t, call[0], w.Call(call[0], call[1]).Text(), answer)
	}
	equal(t, "pass_self", w.Call("counted", `{"more":5}`).Text(), "6")
	if got := w.Call("Needy_where", `{}`).Text(); !strings.HasPrefix(got, "Error: Needy needs settings: path, token") {
		t.Errorf("a toolbox without its settings says %q", got)
	}
	if got := w.Call("Broken_work", `{}`).Text(); !strings.Contains(got, "ZeroDivisionError") {
		t.Errorf("a toolbox that cannot be made says %q", got)
	}
	got := strings.Join(w.Notes, " ")
	if !strings.Contains(got, "Needy needs settings: path, token.") ||
		!strings.Contains(got, "Broken could not be made: ZeroDivisionError") {
		t.Errorf("got the notes %q", w.Notes)
	}
}

func TestLF43AToolboxKeepsItsStateForAChatAndSharesItWithNone(t *testing.T) {
	w := serve(t, aPython(t), boxes)
	in := func(chat, name, arguments string) string {
		t.Helper()
		return w.Answered(w.Ask(name, arguments, map[string]any{"conclave/conversation": chat})).Text()
	}
	for range 2 {
		in("one", "Memory_remember", `{"text":"a"}`)
	}
	equal(t, "the first chat", in("one", "Memory_remember", `{"text":"b"}`), "3 of 3")
	equal(t, "the second chat", in("two", "Memory_remember", `{"text":"c"}`), "1 of 3")
	equal(t, "the first chat again", in("one", "Memory_recall", `{}`), `["a","a","b"]`)
	equal(t, "an async one", in("two", "Later_ask", `{"q":"x"}`), "x 1")
	for n := range 40 { // far more chats than are kept
		in(string(rune('A'+n)), "Memory_remember", `{"text":"d"}`)
	}
	equal(t, "an old chat begins anew", in("one", "Memory_recall", `{}`), `[]`)
}

func TestLF42SettingsMakeTheToolboxAsTheyAreGiven(t *testing.T) {
	d := aPython(t)
	dir := files(t, map[string]string{"plug.py": boxes})
	for given, want := range map[string]string{
		`{"Needy":{"path":"x.db","token":"t"}}`:                   "x.db t 2",
		`{"Needy":{"path":"x.db","token":"t","depth":"7"}}`:       "x.db t 7",
		`{"Needy":["x.db","t",4]}`:                                "x.db t 4",
		`{"Needy":{"path":"x.db"}}`:                               "the settings do not fit Needy: token: is required",
		`{"Needy":{"path":"x.db","token":"t","depth":"deep"}}`:    "the settings do not fit Needy: depth",
		`{"Needy":["a","b",3,4]}`:                                 "Needy takes 3 settings, not 4",
		`{"Broken":{"size":2},"Needy":{"path":"y","token":"t"}}`:  "y t 2",
		`{"Needy":{"path":"x","token":"t","depth":1,"more":"m"}}`: "x t 1",
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			w := pythontest.LaunchWith(t, d, source(t, filepath.Join(dir, "plug.py")),
				plugin.StartOptions{Options: json.RawMessage(given)})
			w.List()
			if got := w.Call("Needy_where", `{}`).Text(); !strings.Contains(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestLF40SettingsOnRecordHideTheirSecrets(t *testing.T) {
	d := aPython(t)
	dir := files(t, map[string]string{"plug.py": boxes})
	w := pythontest.LaunchWith(t, d, source(t, filepath.Join(dir, "plug.py")), plugin.StartOptions{
		Options: json.RawMessage(`{"Needy":{"path":"x.db","token":"hush"},"Memory":{"api_key":"hush"}}`),
	})
	w.List()
	for _, tool := range w.Tools {
		if strings.Contains(tool.Meta.Instance, "hush") {
			t.Errorf("%s is on record with %s", tool.Name, tool.Meta.Instance)
		}
		if tool.Name == "Needy_where" {
			equal(t, "instance", tool.Meta.Instance, `Needy({"path":"x.db","token":"•••"})`)
		}
	}
	var schema struct {
		Properties map[string]struct {
			Title, Description string
			Required           []string
			Properties         map[string]struct{ Type, Format string }
		}
	}
	must(t, json.Unmarshal(w.Options, &schema))
	needy := schema.Properties["Needy"]
	equal(t, "title", needy.Title+": "+needy.Description, "Needy: Needs a path.")
	equal(t, "required", strings.Join(needy.Required, " "), "path token")
	equal(t, "path", needy.Properties["path"].Format, "path")
	equal(t, "token", needy.Properties["token"].Format, "password")
	equal(t, "api_key", schema.Properties["Memory"].Properties["api_key"].Format, "password")
}

const asking = `import os
import llm

REGION = os.environ.get("WEATHER_REGION", "nowhere")


def region() -> str:
    """The region."""
    return REGION + " " + (os.getenv("WEATHER_TOKEN") or "no token")


def key(given: str = None, alias: str = "weather") -> str:
    """The key."""
    return str(llm.get_key(given, alias=alias, env="OTHER_KEY"))


def folder() -> str:
    """The folder."""
    (llm.user_dir() / "x.txt").write_text("kept")
    return llm.user_dir().name


def fixed() -> str:
    """A key of a fixed name."""
    return str(llm.get_key(alias="weather"))


def called(llm_tool_call: llm.ToolCall, n: int = 1) -> dict:
    """Who called."""
    return {"name": llm_tool_call.name, "arguments": llm_tool_call.arguments, "id": llm_tool_call.tool_call_id, "same": isinstance(llm_tool_call, llm.ToolCall)}


def model() -> str:
    """No."""
    return llm.get_model("x")


@llm.hookimpl
def register_tools(register):
    for function in (region, key, folder, fixed, called, model):
        register(function)
`

func TestLF46KeysVariablesFoldersAndTheCallItself(t *testing.T) {
	d := aPython(t)
	path := filepath.Join(files(t, map[string]string{"plug.py": asking}), "plug.py")
	listing, err := d.Inspect(t.Context(), source(t, path), plugin.Manifest{Entry: "plug.py", Files: []string{"plug.py"}})
	must(t, err)
	for _, word := range []string{"WEATHER_REGION", "WEATHER_TOKEN", `"weather"`, "password"} {
		if !strings.Contains(string(listing.Options), word) {
			t.Errorf("before it ran, its settings %s do not name %s", listing.Options, word)
		}
	}
	w := pythontest.LaunchWith(t, d, source(t, path), plugin.StartOptions{
		Options: json.RawMessage(`{"environment":{"WEATHER_REGION":"north"}}`),
		Secrets: []string{"environment.WEATHER_TOKEN", "keys.weather"},
	})
	w.Secrets = map[string]string{"environment.WEATHER_TOKEN": "tok", "keys.weather": "wkey"}
	w.List()
	equal(t, "environment", w.Call("region", `{}`).Text(), "north tok")
	equal(t, "an alias", w.Call("fixed", `{}`).Text(), "wkey")
	equal(t, "given", w.Call("key", `{"given":"mine"}`).Text(), "mine")
	equal(t, "given an alias", w.Call("key", `{"given":"weather"}`).Text(), "wkey")
	equal(t, "none", w.Call("key", `{"alias":"other"}`).Text(), "None")
	w.Until("notifications/tools/list_changed")
	w.List()
	if !strings.Contains(string(w.Options), `"other"`) {
		t.Errorf("a key that was asked for is not among the settings: %s", w.Options)
	}
	equal(t, "user_dir", w.Call("folder", `{}`).Text(), "llm")
	a := w.Answered(w.Ask("called", `{"n":2}`, map[string]any{"conclave/call-id": "c7"}))
	equal(t, "llm_tool_call", a.Text(), `{"name":"called","arguments":{"n":2},"id":"c7","same":true}`)
	if got := w.Call("model", `{}`).Text(); !strings.Contains(got, "llm.get_model is not available in Conclave") {
		t.Errorf("a model: %q", got)
	}
}

const attaching = `import llm

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20


def picture() -> llm.ToolOutput:
    """A picture."""
    return llm.ToolOutput("one picture", attachments=[llm.Attachment(content=PNG)])


def several():
    """Several."""
    return llm.ToolOutput({"n": 2}, [llm.Attachment(type="audio/wav", content=b"RIFF0000WAVE"), llm.Attachment(type="text/csv", content=b"a,b")])


def alone():
    """A picture alone."""
    return llm.Attachment(content=PNG)


def away():
    """At an address."""
    return llm.ToolOutput("see", [llm.Attachment(url="https://example.org/a.png", type="image/png")])


def large():
    """Too large."""
    return llm.ToolOutput("big", [llm.Attachment(content=PNG + b"0" * 5000000), llm.Attachment(content=PNG)])


def many():
    """Too many."""
    return llm.ToolOutput("many", [llm.Attachment(content=PNG)] * 30)


def cancel():
    """Gives up."""
    raise llm.CancelToolCall("not today")


def pause():
    """Waits."""
    raise llm.PauseChain()
`

func TestLF37AttachmentsTravelWithTheOutput(t *testing.T) {
	w := serve(t, aPython(t), attaching)
	kinds := func(name string) string {
		t.Helper()
		var found []string
		a := w.Call(name, `{}`)
		equal(t, name, a.Meta.Status, "ok")
		for _, block := range a.Content {
			found = append(found, block.Type)
		}
		return strings.Join(found, " ")
	}
	equal(t, "picture", kinds("picture"), "text image")
	a := w.Call("picture", `{}`)
	if got := base64.StdEncoding.EncodeToString(a.Content[1].Data); a.Text() != "one picture" ||
		a.Content[1].MimeType != "image/png" || !strings.HasPrefix(got, "iVBORw0KGg") {
		t.Errorf("got %+v", a)
	}
	equal(t, "several", kinds("several"), "text audio resource")
	equal(t, "several's result", string(w.Call("several", `{}`).Meta.Result), `{"n":2}`)
	equal(t, "alone", kinds("alone"), "text image")
	equal(t, "away", kinds("away"), "text resource_link")
	equal(t, "large", kinds("large"), "text image")
	if got := w.Call("large", `{}`).Text(); !strings.Contains(got, "5000028 bytes") {
		t.Errorf("what is too large is told as %q", got)
	}
	if got := w.Call("many", `{}`); len(got.Content) != 21 ||
		!strings.Contains(got.Text(), "10 more attachments were left out") {
		t.Errorf("%d blocks and %q", len(got.Content), got.Text())
	}
	cancelled := w.Call("cancel", `{}`)
	equal(t, "cancelled", cancelled.Meta.Status+" "+cancelled.Text(), "cancelled Cancelled: not today")
	paused := w.Call("pause", `{}`)
	if paused.Meta.Status != "paused" || paused.IsError {
		t.Errorf("paused: %+v", paused)
	}
}

func TestLF09TheRealLlmIsNeverImported(t *testing.T) {
	dir := files(t, map[string]string{
		"site/llm/__init__.py": "raise RuntimeError('the real llm was imported')\n",
		"plug.py":              registering,
	})
	d := aPython(t)
	w := pythontest.LaunchWith(t, d, source(t, filepath.Join(dir, "plug.py")), plugin.StartOptions{
		Site: []string{filepath.Join(dir, "site")},
	})
	w.List()
	equal(t, "answer", w.Call("shout", `{"text":"hi"}`).Text(), "HI!")
}

func TestLF41PluginsOfLlmRunOnEveryPython(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, boxes)
		equal(t, "a method", w.Call("Memory_remember", `{"text":"a"}`).Text(), "1 of 3")
		equal(t, "an async one", w.Call("Later_ask", `{"q":"n"}`).Text(), "n 1")
		w = serve(t, d, attaching)
		equal(t, "attachments", len(w.Call("several", `{}`).Content), 3)
		w = serve(t, d,
			"import sqlite_utils, click, sqlite3, llm.models, llm.plugins, llm.tools\n@click.group()\n@click.option('--x', "+
				"type=click.Choice(['a']))\ndef cli(): pass\n@cli.command(name='y')\ndef y(): "+
				"pass\ndef rows() -> list:\n    db = sqlite_utils.Database(sqlite3.connect(':memory:'))\n    "+
				"db['t'].insert_all([{'a': 1, 'b': 'x'}], pk='a')\n    return [db.table_names(), list(db['t'].rows), "+
				"list(db.query('select b from t where a = ?', [1])), db['t'].count]\n")
		equal(t, "sqlite_utils", w.Call("rows", `{}`).Text(), `[["t"],[{"a":1,"b":"x"}],[{"b":"x"}],1]`)
	})
}
