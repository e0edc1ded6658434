package maibot_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/maibot"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
)

const look = `
@Tool("look", "看看天气", parameters=[ToolParameterInfo(name="city", description="城市")])
async def look(self, city, **kwargs):
    return {"success": True, "content": "晴天 " + city}
`

func TestMB01APluginIsRecognisedListedAndAnswers(t *testing.T) {
	d := one(t)
	path := folder(t, class(look), []string{"send.text", "llm.generate", "config.get"}, nil)
	src := pythontest.Source(t, path)
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	is(t, "manifest", []string{m.Name, m.Version, m.Description, m.Author, m.Identity, m.Homepage}, []string{
		"天气", "1.2.3", "看天气", "某人", "test.weather", "https://example.com/r",
	})
	is(t, "permissions", m.Permissions, []string{"chat_mutation", "generation"})
	is(t, "files", m.Files, []string{"_manifest.json", "plugin.py"})
	is(t, "notices", m.Notices, nil)
	l, err := d.Inspect(t.Context(), src, *m)
	// described before it runs
	if err != nil || len(l.Tools) != 1 || l.Tools[0].Name != "look" || l.Tools[0].Description != "看看天气" ||
		l.Tools[0].Line != 8 {
		t.Errorf("Inspect: %+v, %v", l, err)
	}
	w := begin(t, d, path, plugin.StartOptions{})
	tools := w.List()
	if len(tools) != 1 || tools[0].Name != "look" || tools[0].Description != "看看天气" || tools[0].Meta.Line != 7 ||
		tools[0].Meta.File != "plugin.py" {
		t.Errorf("tools: %+v", tools)
	}
	is(t, "answer", inChat(w, "look", `{"city":"北京"}`).Text(), "晴天 北京")
}

func TestItRunsInTheSandboxAndWritesNextToItsCode(t *testing.T) {
	path := folder(t, class(`
@Tool("note", parameters={"text": {"type": "string"}})
async def note(self, text, **kwargs):
    import pathlib
    pathlib.Path(__file__).with_name("笔记.md").write_text(text, encoding="utf-8")
    (self.ctx.paths.data_dir / "x").write_text("1")
    return "写好了"
`), nil, nil)
	w := pythontest.BehindWalls(t, one(t), path)
	w.List()
	is(t, "answer", w.Call("note", `{"text":"茶"}`).Text(), "写好了")
	is(t, "note", read(t, desk(w, path, "笔记.md")), "茶")
	if _, err := os.Stat(filepath.Join(path, "笔记.md")); err == nil {
		t.Error("it was written into the person's folder")
	}
}

// Only the plugin's own code shows what it will want: not its tests, its notes, or the
// packages it brings.
func TestItsTestsAskForNothing(t *testing.T) {
	beside := map[string]string{
		"tests/smoke_test.py": "import subprocess\n", "test_it.py": "import socket\n", "conftest.py": "import socket\n",
		"README.md": "import subprocess\n", "vendor/wire.py": "import socket\n",
	}
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"beside its code": {"README.txt", []string{"generation"}},
		"in its code":     {"core/run.py", []string{"generation", "programs"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(beside)
			files[c.file] = "import multiprocessing\n"
			path := folder(t, class(look), []string{"llm.generate"}, files)
			m, err := one(t).Recognize(t.Context(), pythontest.Source(t, path))
			must(t, err)
			is(t, "permissions", m.Permissions, c.want)
			if !slices.Contains(m.Files, "tests/smoke_test.py") {
				t.Errorf("its tests are not of what is approved: %v", m.Files)
			}
		})
	}
}

func TestMB02To04WhatAManifestMayBe(t *testing.T) {
	d := one(t)
	for name, c := range map[string]struct {
		changes map[string]any
		problem string // "" loads
		notice  string
	}{
		"MB02 no name":              {map[string]any{"name": " "}, "name: it is missing or empty", ""},
		"MB02 no version of itself": {map[string]any{"manifest_version": nil}, "manifest_version: it is missing", ""},
		"MB03 id without a dot":     {map[string]any{"id": "weather"}, "id: “weather” is not of the form", ""},
		"MB03 odd version":          {map[string]any{"version": "1.2"}, "version: “1.2” is not of the form", ""},
		"MB03 manifest 1": {
			map[string]any{"manifest_version": 1}, "manifest_version: 1 is that of plugins for MaiBot before 1.0", "",
		},
		"MB03 manifest 3": {
			map[string]any{"manifest_version": 3}, "manifest_version: Conclave knows version 2, not 3", "",
		},
		"MB03 manifest two":     {map[string]any{"manifest_version": "two"}, "Conclave knows version 2, not two", ""},
		"MB03 id with a hyphen": {map[string]any{"id": "a-b"}, "", ""},
		"MB04 unknown keys": {
			map[string]any{"newer": 1, "webui": map[string]any{}}, "", "keys that Conclave does not know: newer.",
		},
		"MB04 newer host": {
			map[string]any{"host_application": map[string]any{"min_version": "2.0.0", "max_version": "2.9.9"}},
			"",
			"written for MaiBot 2.0.0 to 2.9.9",
		},
		"MB04 newer sdk": {
			map[string]any{"sdk": map[string]any{"min_version": "3.0.0", "max_version": "3.9.9"}}, "", "its SDK 3.0.0 to 3.9.9",
		},
		"MB04 junk capability": {
			map[string]any{"capabilities": []string{"tool", "platform:wechat", "send.text"}},
			"",
			"MaiBot does not have: tool, platform:wechat.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := pythontest.Files(t, map[string]string{"w/_manifest.json": manifest(c.changes), "w/plugin.py": "x = 1\n"})
			m, err := d.Recognize(t.Context(), pythontest.Source(t, filepath.Join(dir, "w")))
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) || !strings.HasPrefix(err.Error(), "_manifest.json") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || !strings.Contains(strings.Join(m.Notices, "\n"), c.notice) || c.notice == "" && len(m.Notices) > 0 {
				t.Errorf("got %v, %v", m, err)
			}
		})
	}
}

func TestMB02AFolderThatLacksAFileOrHasABrokenManifest(t *testing.T) {
	d := one(t)
	for name, c := range map[string]struct {
		tree    map[string]string
		problem string
	}{
		"no plugin.py": {map[string]string{"w/_manifest.json": manifest(nil)}, "no plugin.py"},
		"no manifest":  {map[string]string{"w/plugin.py": "x = 1\n"}, "-"},
		"no JSON": {
			map[string]string{"w/_manifest.json": "{\n \"id\": 1,,\n}", "w/plugin.py": ""},
			"_manifest.json:2: _manifest.json is no JSON object",
		},
		"no object": {map[string]string{"w/_manifest.json": "[]", "w/plugin.py": ""}, "is no JSON object"},
		"null":      {map[string]string{"w/_manifest.json": "null", "w/plugin.py": ""}, "it is empty"},
		"a large one": {
			map[string]string{"w/_manifest.json": strings.Repeat(" ", 1<<17), "w/plugin.py": ""}, "more than 64 KiB",
		},
		"with a BOM":    {map[string]string{"w/_manifest.json": "\ufeff" + manifest(nil), "w/plugin.py": "x = 1\n"}, ""},
		"an empty file": {map[string]string{"w/_manifest.json": manifest(nil), "w/plugin.py": ""}, "plugin.py is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := d.Recognize(t.Context(), pythontest.Source(t, filepath.Join(pythontest.Files(t, c.tree), "w")))
			switch c.problem {
			case "":
				if err != nil || m == nil {
					t.Errorf("got %v, %v", m, err)
				}
			case "-":
				if m != nil || err != nil {
					t.Errorf("got %v, %v", m, err)
				}
			default:
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

func TestMB05TwoFoldersWithOneIDAreBothRefused(t *testing.T) {
	d := one(t)
	dir := pythontest.Files(t, map[string]string{
		"a/_manifest.json": manifest(nil), "a/plugin.py": "x = 1\n", "b/_manifest.json": manifest(nil),
		"b/plugin.py":      "x = 1\n",
		"c/_manifest.json": manifest(map[string]any{"id": "test.other"}), "c/plugin.py": "x = 1\n",
	})
	for _, name := range []string{"a", "b"} {
		_, err := d.Recognize(t.Context(), pythontest.Source(t, filepath.Join(dir, name)))
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "a")) ||
			!strings.Contains(err.Error(), filepath.Join(dir, "b")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Recognize(t.Context(), pythontest.Source(t, filepath.Join(dir, "c"))); err != nil {
		t.Errorf("c: %v", err)
	}
}

func TestOneThatIsLookedAtByItselfHasNoSiblings(t *testing.T) {
	d := one(t)
	path := folder(t, class(look), nil, nil)
	twin := filepath.Join(filepath.Dir(path), "twin")
	must(t, os.CopyFS(twin, os.DirFS(path)))
	src := pythontest.Source(t, path)
	if _, err := d.Recognize(t.Context(), src); err == nil {
		t.Error("two of one id in a plugins folder were both taken")
	}
	src.Alone = true
	if _, err := d.Recognize(t.Context(), src); err != nil {
		t.Errorf("one of them by itself: %v", err)
	}
}

func TestAMissingPluginIsNamed(t *testing.T) {
	d := one(t)
	dir := pythontest.Files(t, map[string]string{
		"a/_manifest.json": manifest(map[string]any{
			"dependencies": []any{map[string]any{"type": "plugin", "id": "other.one", "version_spec": ">=1"}},
		}),
		"a/plugin.py": class(look),
	})
	src := pythontest.Source(t, filepath.Join(dir, "a"))
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	if _, err := d.Spec(t.Context(), src, *m,
		plugin.StartOptions{Storage: t.TempDir(), Runtime: programtest.Dir}); err == nil || !strings.Contains(err.Error(),
		"other.one") {
		t.Errorf("got %v", err)
	}
}

func TestMB06ImportsOfEveryKindWork(t *testing.T) {
	source := `
import sys, os
sys.path.insert(0, os.path.dirname(__file__))
from .core.things import one
from plugins.weather.core.things import one as two
from weather.core import things
import helper
` + class(`
@Tool("all")
async def all(self, **kwargs):
    return "%s %s %s %s %s" % (one(), two(), things.one(), helper.three(), os.path.isfile(__file__))
`)
	w := begin(t, one(t),
		folder(t, source, nil, map[string]string{
			"core/__init__.py": "\n", "core/things.py": "def one(): return '一'\n", "helper.py": "def three(): return '三'\n",
		}),
		plugin.StartOptions{})
	w.List()
	is(t, "answer", inChat(w, "all", "{}").Text(), "一 一 一 三 True")
}

func TestAnInnerPackageOfTheFoldersNameIsFound(t *testing.T) {
	source := `
import sys, os
sys.path.insert(0, os.path.dirname(__file__))
from weather.inner import one
` + class(`
@Tool("inner")
async def inner(self, **kwargs):
    return one()
`)
	w := begin(t, one(t),
		folder(t, source, nil, map[string]string{"weather/__init__.py": "\n", "weather/inner.py": "def one(): return '一'\n"}),
		plugin.StartOptions{})
	w.List()
	is(t, "answer", inChat(w, "inner", "{}").Text(), "一")
}

func TestSettingsAreUnderTheNamesThatRealPluginsReach(t *testing.T) {
	w := begin(t, one(t), folder(t, withConfig(`
@Tool("reach")
async def reach(self, **kwargs):
    return "%s %s" % (self._plugin_config_instance.g.count, self._plugin_config_data["g"]["count"])
`), nil, nil), plugin.StartOptions{})
	w.List()
	is(t, "answer", inChat(w, "reach", "{}").Text(), "3 3")
}

func TestMB07EveryNameOfTheSDKIsThere(t *testing.T) {
	w := begin(t, one(t), folder(t, `
from maibot_sdk import (API, Action, Command, CONFIG_RELOAD_SCOPE_SELF, EventHandler, Field, HomeCard, HookHandler, LLMProvider, LLMProviderBase,
    MaiBotPlugin, MessageGateway, ON_BOT_CONFIG_RELOAD, ON_MODEL_CONFIG_RELOAD, PluginConfigBase, PluginContext, PluginPaths, ReplyExtension, SendResult,
    Tool, WorkflowStep, __version__)
from maibot_sdk.types import (ToolParameterInfo, ToolParamType, ErrorPolicy, HookMode, HookOrder, ActivationType, EventType, ComponentType, ChatMode,
    MessageGatewayRouteType, ModifyFlag, ToolComponentInfo, ActionComponentInfo, CommandComponentInfo, EventHandlerComponentInfo, HookHandlerComponentInfo,
    APIComponentInfo, MessageGatewayComponentInfo, ComponentInfo, LLMProviderInfo, CapabilityResult, build_tool_detailed_description,
    normalize_component_type_name, normalize_config_reload_subscription)
from maibot_sdk.config import (validate_plugin_config, extract_plugin_config_version, merge_plugin_config_data, rebuild_plugin_config_data,
    PluginConfigVersionError, build_plugin_default_config, generate_plugin_config_schema, is_plugin_config_class)
from maibot_sdk.context import PluginContext, PluginPaths
from maibot_sdk.components import collect_components, collect_llm_providers
from maibot_sdk.messages import MaiMessages, MessageSegment
import maibot_sdk.plugin, maibot_sdk.llm_provider
class P(MaiBotPlugin):
    @Tool("steps")
    async def steps(self, **kwargs):
        try:
            WorkflowStep("x")
        except RuntimeError as error:
            return __version__ + " " + type(error).__name__
def create_plugin(): return P()
`, nil, nil), plugin.StartOptions{})
	w.List()
	is(t, "answer", inChat(w, "steps", "{}").Text(), "2.10.0 RuntimeError")
}

// What the SDK ignores, and what older plugins import, keeps no plugin from loading.
func TestMB07WhatTheSDKIsLooseAboutLoads(t *testing.T) {
	w := begin(t, one(t), folder(t, `
from maibot_sdk import Field, MaiBotPlugin, PluginConfigBase, Tool
from maibot_sdk.compat.base.config_types import ConfigField, ConfigLayout, ConfigTab, section_meta
from maibot_sdk.types import ToolParameterInfo, ToolParamType
class Bare(MaiBotPlugin):
    pass
class Settings(PluginConfigBase):
    city: str = Field(default="Wien")
class P(MaiBotPlugin):
    config_model = Settings
    @Tool("tell", parameters=[ToolParameterInfo(name="q", param_type=ToolParamType.STRING, example="e")])
    async def tell(self, **kwargs):
        try:
            from maibot_sdk.compat.base import BasePlugin
        except ImportError as error:
            said = str(error).split(":")[0]
        field = ConfigField(int, 3, "how many", min=1, max=9).to_dict()
        return repr([field["type"], field["ui_type"], field["label"], section_meta("S").to_dict()["title"],
            ConfigLayout(tabs=[ConfigTab("a", "A")]).to_dict()["tabs"][0]["id"], Bare.has_config_model(),
            Bare.build_default_config(), P.get_config_model() is Settings, P.build_default_config()["city"], said])
def create_plugin(): return P()
`, nil, nil), plugin.StartOptions{})
	w.List()
	is(t, "answer", inChat(w, "tell", "{}").Text(), "['int', 'slider', 'how many', 'S', 'a', False, {}, True, 'Wien', "+
		"'maibot_sdk.compat.base.BasePlugin is not available in Conclave']")
}

func TestMB08PrintingAndLoggingDisturbNothing(t *testing.T) {
	w := serve(t, one(t), `
@Tool("loud")
async def loud(self, **kwargs):
    import os
    for n in range(2000):
        print("输出", n)
    os.write(1, b"{not json}\n")
    self.ctx.logger.warning("记录 %d", 7)
    return "好"
`)
	is(t, "answer", inChat(w, "loud", "{}").Text(), "好")
	if logged := string(w.Until("notifications/message").Params); !strings.Contains(logged, "记录 7") ||
		!strings.Contains(logged, "warning") {
		t.Errorf("log: %s", logged)
	}
	w.Logged("输出 1999")
}

func TestMB09WhatDoesNotLoadSaysWhy(t *testing.T) {
	d := one(t)
	for name, c := range map[string]struct{ source, kind, says string }{
		"missing package": {"import no_such_thing\n" + class(look), "unavailable", "It needs the package no_such_thing"},
		"a name of ours": {
			"from maibot_sdk import Nothing\n", "unavailable",
			"It imports Nothing, which Conclave's stand-in of the module maibot_sdk does not have.",
		},
		"a module of ours": {
			"import maibot_sdk.nothing\n", "unavailable",
			"It imports maibot_sdk.nothing, which Conclave's stand-in of the module maibot_sdk does not have.",
		},
		"syntax":          {"def create_plugin(:\n    pass\n", "script", "SyntaxError"},
		"no factory":      {"x = 1\n", "script", "no function create_plugin()"},
		"factory raises":  {"def create_plugin():\n    raise ValueError('坏了')\n", "script", "ValueError: 坏了"},
		"factory of None": {"def create_plugin():\n    return None\n", "script", "is no MaiBotPlugin"},
		"async factory":   {"async def create_plugin():\n    return 1\n", "script", "create_plugin() is async"},
		"on_load raises": {
			class("async def on_load(self):\n    raise RuntimeError('加载失败')"), "script", "on_load failed: RuntimeError: 加载失败",
		},
		"old plugin": {"from src.plugin_system import BasePlugin\n", "unavailable", "before 1.0"},
		"exits":      {"import sys\nsys.exit(3)\n", "script", "ended itself"},
		"a wrong parameter": {
			class("@Tool(\"x\", parameters=[ToolParameterInfo(name=\"a\", param_type=\"nope\")])\nasync def x(self, " +
				"**kwargs): pass"),
			"script", "nope",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, d, folder(t, c.source, nil, nil), plugin.StartOptions{}).Initialize()
			if p == nil || p.Kind != c.kind || !strings.Contains(p.Message, c.says) {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestMB10WithoutAPythonThatIsSaid(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CONCLAVE_PYTHON", "")
	d := maibot.New(withoutPython())
	src := pythontest.Source(t, folder(t, class(look), nil, nil))
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	if _, err := d.Spec(t.Context(), src, *m, plugin.StartOptions{Runtime: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "no Python") {
		t.Errorf("got %v", err)
	}
}

const configured = `
class S(PluginConfigBase):
    __ui_label__ = "插件"
    enabled: bool = Field(default=True, description="启用")
    config_version: str = Field(default="1.0.0")
class G(PluginConfigBase):
    __ui_label__ = "通用"
    __ui_order__ = 1
    count: int = Field(default=3, ge=1, le=5, json_schema_extra={"label": "数量", "hint": "一到五"})
    mode: Literal["a", "b"] = "a"
    words: list[str] = Field(default_factory=list)
    hidden: str = Field(default="x", json_schema_extra={"hidden": True})
    key: str = Field(default="", json_schema_extra={"input_type": "password"})
class C(PluginConfigBase):
    plugin: S = Field(default_factory=S)
    g: G = Field(default_factory=G)
`

// withConfig is a plugin with settings.
func withConfig(body string) string {
	return "from typing import Literal\nfrom maibot_sdk import PluginConfigBase, Field\n" + configured +
		class("config_model = C\n"+strings.Trim(body, "\n"))
}

const tells = `
seen = "-"
async def on_config_update(self, scope, config_data, version):
    self.seen = "%s %d %d" % (scope, config_data["g"]["count"], self.config.g.count)
@Tool("tell")
async def tell(self, **kwargs):
    return "%d %s %s" % (self.config.g.count, self.config.g.mode, self.seen)
`

func TestMB11ItRunsAlikeWithAndWithoutPydantic(t *testing.T) {
	d := one(t)
	for name, start := range map[string]func(path string) *worker{
		"without": func(path string) *worker { return begin(t, d, path, plugin.StartOptions{}) },
		"with the machine's, if any": func(path string) *worker {
			return pythontest.Launch(t, d, pythontest.Source(t, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := folder(t, withConfig(tells), nil, nil)
			w := start(path)
			w.List()
			is(t, "answer", inChat(w, "tell", "{}").Text(), "3 a -")
			is(t, "config.toml", read(t, desk(w, path, "config.toml")), defaults)
		})
	}
}

func TestMB12TheInstalledSDKIsPreferredWhenItFits(t *testing.T) {
	d := one(t)
	// A copy of ours stands for the installed one, under another version.
	copyOf := func(t *testing.T, version string, without string) (path, site string) {
		path = folder(t, class(`
@Tool("which")
async def which(self, **kwargs):
    import maibot_sdk
    return maibot_sdk.__version__
`), nil, nil)
		site = filepath.Join(path, ".site-packages") // as Conclave installs them for it
		must(t, os.MkdirAll(site, 0o700))
		must(t, os.CopyFS(filepath.Join(site, "maibot_sdk"), os.DirFS(filepath.Join("shim", "sdk", "maibot_sdk"))))
		init := filepath.Join(site, "maibot_sdk", "__init__.py")
		text := strings.Replace(read(t, init), `"2.10.0"`, `"`+version+`"`, 1)
		if without != "" {
			text += "\ndel " + without + "\n__all__.remove('" + without + "')\n"
		}
		must(t, os.WriteFile(init, []byte(text), 0o600))
		return path, site
	}
	for name, c := range map[string]struct{ version, without, want string }{
		"fit":       {"2.8.0", "", "2.8.0"},
		"too old":   {"2.6.0", "", "2.10.0"},
		"too new":   {"3.1.0", "", "2.10.0"},
		"lacks one": {"2.8.1", "Tool", "2.10.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, site := copyOf(t, c.version, c.without)
			if c.without != "" {
				source := strings.Replace(read(t, filepath.Join(path, "plugin.py")), "from maibot_sdk import *",
					"from maibot_sdk import *\nfrom maibot_sdk import "+c.without, 1)
				must(t, os.WriteFile(filepath.Join(path, "plugin.py"), []byte(source), 0o600))
			}
			w := begin(t, d, path, plugin.StartOptions{Site: []string{site}})
			w.List()
			is(t, "version", inChat(w, "which", "{}").Text(), c.want)
			if c.without != "" && !slices.ContainsFunc(w.Aside,
				func(m pythontest.Message) bool { return strings.Contains(string(m.Params), "lacks what it imports") }) {
				t.Error("nothing was said about it")
			}
		})
	}
}
