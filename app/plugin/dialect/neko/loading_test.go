package neko_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/python"
	"conclave/app/plugin/python/pythontest"
)

// everyName is each T1, T2 and T3 name of contracts/neko, section 5, with the
// other paths that plugins import from.
const everyName = `
from plugin.sdk.plugin import (
    NekoPluginBase, neko_plugin, lifecycle, Ok, Err, plugin_entry, llm_tool, SdkError, TransportError, ui, tr,
    timer_interval, message, unwrap, unwrap_or, Result, quick_action, on_event, custom_event, hook, before_entry,
    after_entry, around_entry, replace_entry, EntryKind, plugin, LlmToolMeta, PluginConfig, Plugins, PluginRouter,
    SystemInfo, MemoryClient, PluginStore, PluginI18n, PluginMeta, SettingsField, get_plugin_logger,
    NEKO_PLUGIN_META_ATTR, NEKO_PLUGIN_TAG, OsActivitySnapshot, get_os_activity_snapshot, EntryConflictError,
)
from plugin.sdk.shared.i18n import tr as same_tr
from plugin.sdk.shared.models.exceptions import EntryConflictError as same_conflict
from plugin.sdk.shared.core.router import PluginRouter as same_router
from plugin.sdk.plugin.llm_tool import collect_llm_tool_methods
from plugin.sdk.base import NekoPluginBase as old_base
from plugin.sdk.decorators import plugin_entry as old_entry
from main_logic import omni_offline_client
from config import MAIN_SERVER_PORT, USER_PLUGIN_SERVER_PORT
from utils.config_manager import get_config_manager
from utils.llm_client import create_chat_llm_async
import sys
foreign = sorted(name for name, module in sys.modules.items() if "site-packages" in str(getattr(module, "__file__", "")))
assert not foreign, foreign
`

func TestNK01NK06AFolderWithManifestAndPackageLoadsOnEveryPythonWithEveryName(t *testing.T) {
	everyPython(t, func(t *testing.T, d *neko.Dialect) {
		w := pythontest.Launch(t, d, folder(t, "", map[string]string{"__init__.py": everyName + `
@neko_plugin
class Probe(NekoPluginBase):
    @llm_tool(name="hello", description="Greets.", parameters={"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]})
    async def hello(self, who, **_):
        return "hello " + who

    @llm_tool(description="Asks for what is not here.")
    async def refused(self):
        found = []
        for use in (get_config_manager().get_core_config, create_chat_llm_async, get_os_activity_snapshot, MemoryClient):
            try:
                use()
            except SdkError as err:
                found.append(str(err))
        found += [str((await self.plugins.call_entry("other:entry", {})).error), str(self.bus.messages.get().error)]
        try:
            await self.ctx.query_memory("x")
        except RuntimeError as err:
            found.append(str(err))
        return found
`}))
		hello := tool(t, w.List(), "hello")
		pythontest.Equal(t, "description", hello.Description, "Greets.")
		pythontest.Equal(t, "file", hello.Meta.File, "__init__.py")
		says(t, w.Call("hello", `{"who":"you"}`), "hello you")
		if text := w.Call("refused", "").Text(); strings.Count(text,
			"not available in Conclave")+strings.Count(text, "does not have") != 7 {
			t.Errorf("what is not here says %s", text)
		}
	})
}

func TestNK02EntriesInModulesAndBothNamesOfAPackageAreTheSameModules(t *testing.T) {
	d := aPython(t)
	more := map[string]string{
		"plugin.toml": strings.ReplaceAll(manifestOf(), "plugin.plugins.probe:Probe", "plugin.plugins.probe.core.main:Probe"),
		"__init__.py": gone,
		"core/main.py": head +
			"from . import parts\nfrom ..shared import COUNT\nimport plugin.plugins.probe.shared as long\nimport " +
			"plugins.probe.shared as short\nfrom plugin.plugins.probe.core.parts import Mixin\n\n@neko_plugin\nclass " +
			"Probe(Mixin, NekoPluginBase):\n    pass\n",
		"core/parts.py": "from plugin.sdk.plugin import llm_tool\nimport plugins.probe.core.main as main\n\nclass Mixin:\n " +
			"   @llm_tool()\n    async def same(self):\n        import plugin.plugins.probe.core.parts, " +
			"sys\n        return [main.long is main.short, sys.modules['plugin.plugins.probe.core.parts'] is main.parts, " +
			"main.long.COUNT, main.parts.__file__.endswith('probe/core/parts.py')]\n",
		"core/__init__.py": "",
		"shared.py":        "COUNT = []\nCOUNT.append(1)\n",
	}
	w := pythontest.Launch(t, d, folder(t, "", more))
	same := tool(t, w.List(), "same")
	pythontest.Equal(t, "file", same.Meta.File, "core/parts.py")
	says(t, w.Call("same", ""), `[true,true,[1],true]`)

	w = pythontest.Launch(t, d, folder(t, "@llm_tool()\nasync def at_home(self):\n    return __name__", map[string]string{
		"plugin.toml": strings.ReplaceAll(manifestOf(), "plugin.plugins.probe:Probe", "plugins.probe:Probe"),
	}))
	w.List()
	says(t, w.Call("at_home", ""), "plugins.probe")
}

func TestNK03VendorComesFirstAndOtherPluginsAreOutOfReach(t *testing.T) {
	src := folder(t, `
@llm_tool()
async def paths(self):
    import json
    import bundled
    found = [json.__name__, bundled.WHO, os.path.basename(sys.path[0])]
    for name in ("plugins.other", "other", "probe", "plugin.plugins.other"):
        try:
            __import__(name)
            found.append(name)
        except ImportError as err:
            pass
    return found
`, map[string]string{"vendor/bundled.py": "WHO = 'bundled'\n", "../other/__init__.py": "X = 1\n", "../other/plugin.toml": "[plugin]\n"})
	w := pythontest.Launch(t, aPython(t), src)
	w.List()
	says(t, w.Call("paths", ""), `["json","bundled","vendor"]`)
}

func TestNK04UnknownTablesAreReadableAndMissingOnesNoFailure(t *testing.T) {
	w := pythontest.Launch(t, aPython(t), folder(t, `
@llm_tool()
async def settings(self):
    found = await self.config.dump(timeout=5)
    return [found["mine"], await self.config.get("mine.deep.on"), await self.config.get("no.such", "other"), await self.config.get_int("mine.count"), found["plugin"]["version"]]
`, map[string]string{"plugin.toml": "[mine]\ncount = 3\nwhen = 2024-05-01\n[mine.deep]\non = true\n" + strings.Replace(manifestOf(`version = "1.0.7_1"`, "surprise = [1]"), "name", "title", 1)}))
	w.List()
	says(t, w.Call("settings", ""), `[{"count":3,"deep":{"on":true},"when":"2024-05-01"},true,"other",3,"1.0.7_1"]`)
}

func TestNK05APluginThatIsDeclaredAndMissingIsNamed(t *testing.T) {
	d := aPython(t)
	tools := "@llm_tool()\nasync def hello(self):\n    return 'hello'\n"
	src := folder(t, tools, map[string]string{
		"plugin.toml": manifestOf() + "[[plugin.dependency]]\nid = \"neighbour\"\nsupported = \">=1\"\n",
	})
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	if _, err = d.Spec(t.Context(), src, *m, startOptions(t)); err == nil ||
		err.Error() != "plugin.toml: It needs the plugin neighbour, which is not here." {
		t.Errorf("without its neighbour: %v", err)
	}
	write(t, src.Path+"/../anywhere/plugin.toml", "[plugin]\nid = \"neighbour\"\n")
	if _, err = d.Spec(t.Context(), src, *m, startOptions(t)); err != nil {
		t.Errorf("with its neighbour: %v", err)
	}
}

func TestBadInputEndsInSentences(t *testing.T) {
	d := aPython(t)
	manifest := manifestOf()
	tests := map[string]struct {
		files   map[string]string
		kind    string
		message string // how it begins
		file    string
		line    int
	}{
		"syntax": {map[string]string{"__init__.py": "import os\nretrun 1\n"}, "script", "SyntaxError: ", "__init__.py", 2},
		"below": {
			map[string]string{"__init__.py": "from . import broken\n", "broken.py": "\n\n1 +\n"},
			"script", "SyntaxError: ",
			"broken.py", 3,
		},
		"package": {
			map[string]string{"__init__.py": "import os\nimport no_such_package\n"},
			"unavailable",
			"It needs the package no_such_package; it is not installed.", "__init__.py", 2,
		},
		"host module": {
			map[string]string{"__init__.py": "from plugin.sdk.adapter import X\n"},
			"script",
			"ModuleNotFoundError: plugin.sdk.adapter is a part of N.E.K.O that Conclave does not have", "__init__.py", 1,
		},
		"a name of ours": {
			map[string]string{"__init__.py": "import os\nfrom config import UNKNOWN\n"},
			"unavailable",
			"It imports UNKNOWN, which Conclave's stand-in of the module config does not have.", "__init__.py", 2,
		},
		"exit": {
			map[string]string{"__init__.py": "import sys\nsys.exit(3)\n"},
			"script", "It ended itself while it was loading",
			"__init__.py", 2,
		},
		"no class": {
			map[string]string{"__init__.py": head + "class Prob(NekoPluginBase): pass\n"},
			"script",
			"Its entry names the class Probe, which __init__.py does not have.", "__init__.py", 1,
		},
		"no plugin": {
			map[string]string{"__init__.py": "class Probe: pass\n"}, "script", "Its entry Probe is no plugin", "__init__.py", 1,
		},
		"router": {
			map[string]string{"__init__.py": head + "class Probe(PluginRouter): pass\n"},
			"script",
			"Its entry Probe is a router", "__init__.py", 1,
		},
		"its __init__": {
			map[string]string{
				"__init__.py": head +
					"class Probe(NekoPluginBase):\n    def __init__(self, ctx):\n        super().__init__(ctx)\n        1 / 0\n",
			},
			"script", "ZeroDivisionError", "__init__.py", 8,
		},
		"failing start": {
			map[string]string{
				"plugin.toml": manifest + "[plugin_runtime]\nstartup_failure = \"fail\"\n",
				"__init__.py": head +
					"class Probe(NekoPluginBase):\n    @lifecycle(id='startup')\n    def go(self):\n        raise ValueError('not " +
					"today')\n",
			},
			"script", "ValueError: not today", "__init__.py", 8,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := refused(t, d, folder(t, "", test.files))
			if p.Kind != test.kind || !strings.HasPrefix(p.Message, test.message) || p.File != test.file ||
				p.Line != test.line || (p.Line > 1 && !strings.Contains(p.Frame, "> ")) {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestAHangingImportAndAnEndedProcessAreReported(t *testing.T) {
	t.Parallel()
	d := aPython(t)
	p, _ := pythontest.GivesUp(t, d, folder(t, "", map[string]string{
		"__init__.py": "import os, time\nopen(os.environ['HOME'] + '/begun', 'w').close()\ntime.sleep(600)\n",
	}))
	if p.Kind != "deadline" || p.File != "__init__.py" || p.Line != 3 {
		t.Errorf("hanging: %+v", p)
	}
	w := pythontest.Launch(t, d, folder(t, "", map[string]string{"__init__.py": "import os\nos._exit(7)\n"}))
	for range w.Lines {
	}
	if err := w.Ended(); err == nil || err.Error() != "exit status 7" {
		t.Errorf("ended with %v", err)
	}
}

func TestAManifestThatIsWrongSaysWhere(t *testing.T) {
	tests := map[string]struct {
		manifest, message string
		line              int
	}{
		"not TOML": {"[plugin]\nid = \n", "The file is not TOML", 2},
		"no table": {"id = \"probe\"\n", "plugin.toml has no [plugin] table.", 1},
		"no entry": {"[plugin]\nid = \"probe\"\n", "plugin.toml names no entry.", 1},
		"odd entry": {
			"[plugin]\nid = \"probe\"\nentry = \"probe.main\"\n", "The entry \"probe.main\" names no class of the plugin.", 3,
		},
		"other package": {
			"[plugin]\nid = \"probe\"\nentry = \"plugins.other:Probe\"\n",
			"The entry is in the package other, but the plugin's id is probe.", 3,
		},
		"odd id": {"[plugin]\nid = \"a/b\"\nentry = \"plugins.a:Probe\"\n", "The id \"a/b\" is no name of a plugin.", 2},
		"missing module": {
			"[plugin]\nid = \"probe\"\nentry = \"plugins.probe.inside.deep:Probe\"\n",
			"The entry's file inside/deep.py does not exist.", 3,
		},
		"way out": {
			"[plugin]\nid = \"probe\"\nentry = \"plugins.probe.../x:Probe\"\n",
			"The entry \"plugins.probe.../x:Probe\" names no class of the plugin.", 3,
		},
		"type": {
			"[plugin]\nid = \"probe\"\nentry = \"plugins.probe:Probe\"\ntype = \"extension\"\n",
			"It is of the type extension, which Conclave does not run.", 4,
		},
		"sdk": {
			"[plugin]\nid = \"probe\"\nentry = \"plugins.probe:Probe\"\n[plugin.sdk]\nsupported = \">=0.2.0\"\n",
			"It supports the SDK >=0.2.0; Conclave's is 0.1.0.", 5,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := neko.New(python.New(python.Options{})).Recognize(t.Context(),
				folder(t, "", map[string]string{"plugin.toml": test.manifest}))
			p := problemOf(t, err)
			if !strings.HasPrefix(p.Message, test.message) || p.Line != test.line || p.File != "plugin.toml" || p.Frame == "" {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestAManifestIsReadAsItIsWritten(t *testing.T) {
	src := folder(t, "async def x(self):\n    self.push_message(parts=[])\n    import httpx\n", map[string]string{
		"plugin.toml": "# odd, and right\n[plugin]\nversion = '1.0.7_1'\nentry = \"plugins.probe:Probe\"\nid = " +
			"'probe'\nname = {\"$i18n\" = \"n\", default = \"Probe\"}\ndescription = '''\nLong.\n'''\nshort_description = " +
			"'Short.'\nauthor = {name = 'Somebody'}\nodd = 1\n[plugin.sdk]\nsupported = '>=0.1.0,<0.3.0'\nrecommended = " +
			"'~=0.2'\nconflicts = ['==0.1.*']\n[[plugin.ui.panel]]\nid = 'main'\n",
		"run.py": "import subprocess\n", "tests/test_it.py": "import socket\n", "vendor/x.py": "import socket\n",
	})
	m, err := neko.New(python.New(python.Options{})).Recognize(t.Context(), src)
	must(t, err)
	got, _ := json.Marshal(m)
	want := `{"contract":"neko","name":"Probe","version":"1.0.7_1","description":"Short.","author":"Somebody","entry":"__init__.py",` +
		`"permissions":["chat_mutation","network","programs"],"identity":"probe",` +
		`"notices":["It recommends the SDK ~=0.2; Conclave's is 0.1.0.","It lists the SDK ==0.1.* as conflicts; Conclave's is 0.1.0."]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatIsDeclaredIsListedWithoutRunningIt(t *testing.T) {
	d := aPython(t)
	src := folder(t, `
@llm_tool(name="first", description="The first"
    " of two.")
async def a(self): ...

@plugin_entry(id="panel")
@llm_tool(description=tr("x"))
def second(self): ...
`, map[string]string{"more.py": "import httpx, config\nfrom plugin.sdk.plugin import llm_tool\nclass M:\n    @llm_tool()\n    def third(self): ...\n", "test_more.py": "import pytest\n"})
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	l, err := d.Inspect(t.Context(), src, *m)
	must(t, err)
	var got []string
	for _, one := range l.Tools {
		got = append(got, one.Name+" "+one.File+" "+one.Description)
	}
	if want := []string{
		"first __init__.py The first of two.", "second __init__.py ", "third more.py ",
	}; !slices.Equal(got, want) || l.Known || !slices.Contains(l.Imports, "httpx") || slices.Contains(l.Imports,
		"config") {
		t.Errorf("got %q, imports %q, known %v", got, l.Imports, l.Known)
	}
}

// A plugin that comes with N.E.K.O has the id bilibili-danmaku and lies in the
// folder bilibili_danmaku: Python cannot import a dash.
func TestNK02AnIDWithADashIsAPackageWithAnUnderscore(t *testing.T) {
	src := folder(t, "", map[string]string{
		"plugin.toml": "[plugin]\nid = \"pro-be.x\"\nentry = \"plugin.plugins.pro_be_x:Probe\"\n",
		"beside.py":   "WORD = 'beside'\n",
		"__init__.py": head + `
from plugin.plugins.pro_be_x.beside import WORD
from .beside import WORD as again

@neko_plugin
class Probe(NekoPluginBase):
    @llm_tool()
    async def who(self):
        return [self.plugin_id, WORD, again, __name__]
`,
	})
	m, err := neko.New(python.New(python.Options{})).Recognize(t.Context(), src)
	if err != nil || m.Identity != "pro-be.x" {
		t.Fatalf("it is %q, %v", m.Identity, err)
	}
	w := pythontest.Launch(t, aPython(t), src)
	w.List()
	says(t, w.Call("who", ""), `["pro-be.x","beside","beside","plugins.pro_be_x"]`)
	must(t, w.Ended())
}
