package core

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model/modeltest"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// sender is a MaiBot plugin that sends what it is told into the chat it is called
// from.
const sender = `
from maibot_sdk import MaiBotPlugin, Tool

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

class Plugin(MaiBotPlugin):
    @Tool("run", visibility="visible", parameters={"what": {"type": "string"}})
    async def run(self, what, stream_id="", **kwargs):
        if what == "image":
            return repr(await self.ctx.send.image(PICTURE, stream_id))
        return repr(await self.ctx.send.text("sent", stream_id))

def create_plugin():
    return Plugin()
`

// maibot writes the plugin "ext" into a plugins folder.
func (w *whole) maibot(files map[string]string) {
	w.t.Helper()
	files["_manifest.json"] = `{"manifest_version":2,"id":"test.sender","version":"1.0.0","name":"Sender","description":"d","license":"MIT",
"author":{"name":"A","url":"https://example.com"},"urls":{"repository":"https://example.com"},"host_application":{"min_version":"1.0.0","max_version":"1.99.99"},
"sdk":{"min_version":"2.5.0","max_version":"2.99.99"},"capabilities":["send.text","send.image"],"i18n":{"default_locale":"zh-CN"}}`
	for name, text := range files {
		testkit.Write(w.t, filepath.Join(w.data, "plugins", "ext", name), text)
	}
}

// old is a MaiBot plugin on a Python that reads no TOML.
const old = `
import sys
sys.modules["tomllib"] = None
from maibot_sdk import MaiBotPlugin, Tool

class Plugin(MaiBotPlugin):
    @Tool("run", visibility="visible")
    async def run(self, **kwargs):
        return repr(self.get_plugin_config_data())

def create_plugin():
    return Plugin()
`

func TestSettingsAreReadWhereThePythonHasNoReaderOfTOML(t *testing.T) {
	w := &whole{t: t, data: t.TempDir()}
	w.maibot(map[string]string{"plugin.py": old, "config.toml": "[plugin]\nconfig_version = \"1.0.0\"\n" +
		"[g]\nwhole = 3\nfloat = 2.0\nwhen = 2026-05-06\nlist = [1, [\"二\"]]\n[[g.rows]]\nn = 1\n"})
	w.open()
	if _, err := w.Python.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	must(t, plugintest.Approve(t.Context(), w.Host, "ext", false))
	w.settle()
	w.wants(w.chat("hello"), "{}", "{'g': {'float': 2.0, 'list': [1, ['二']], 'rows': [{'n': 1}], "+
		"'when': '2026-05-06', 'whole': 3}, 'plugin': {'config_version': '1.0.0'}}")
	config := filepath.Join(w.data, "plugins", "ext", "config.toml")
	for text, want := range map[string]string{
		"[plugin\n":                        "config.toml is not TOML: ",
		"# " + strings.Repeat("x", 64<<10): "config.toml is not TOML: the file has more than 64 KiB.",
	} {
		testkit.Write(t, config, text)
		id, err := w.Host.ThisRun.Preview(t.Context(), filepath.Dir(config))
		must(t, err)
		if s, err := w.Host.Status(id); err != nil || s.Problem == nil || !strings.HasPrefix(s.Problem.Message, want) {
			t.Errorf("%.20q: %+v, %v", text, s.Problem, err)
		}
	}
}

// shown is a MaiBot plugin of three tools that say when a model is told of them.
const shown = `
from maibot_sdk import MaiBotPlugin, Tool

class Plugin(MaiBotPlugin):
    @Tool("core", core_tool=True)
    async def core(self, **kwargs):
        return "core"
    @Tool("seen", visibility="visible")
    async def seen(self, **kwargs):
        return "seen"
    @Tool("late", visibility="deferred", core_tool=True)
    async def late(self, **kwargs):
        return "late"

def create_plugin():
    return Plugin()
`

func TestMB35WhatIsVisibleIsInTheFirstRequest(t *testing.T) {
	w := &whole{t: t, data: t.TempDir()}
	w.maibot(map[string]string{"plugin.py": shown})
	w.open()
	if _, err := w.Python.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	must(t, plugintest.Approve(t.Context(), w.Host, "ext", false))
	w.settle()
	model := modeltest.New([]modeltest.Step{modeltest.Say("Well.")})
	_, err := w.Conversations.Run(t.Context(), turn.Request{
		Conversation: w.chat("hello"), Text: "And?", Model: model, Tools: w.Tools.Set().ForModel(),
	}, nil)
	must(t, err)
	var offered []string
	for _, one := range model.Requests()[0].Tools {
		offered = append(offered, one.Name)
	}
	if want := []string{"core", "seen", tool.SearchName}; !slices.Equal(offered, want) {
		t.Errorf("the model is told of %q, want %q", offered, want)
	}
}

func TestMB60WhatAToolSendsIsInItsChatMarkedAsThePlugins(t *testing.T) {
	w := &whole{t: t, data: t.TempDir()}
	w.maibot(map[string]string{"plugin.py": sender})
	w.open()
	if _, err := w.Python.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	must(t, plugintest.Approve(t.Context(), w.Host, "ext", false))
	w.settle()
	here, other := w.chat("hello", "hi there"), w.chat("elsewhere")
	w.wants(here, `{"what":"text"}`, "True")
	w.wants(here, `{"what":"image"}`, "True")
	path, err := w.Store.Chats.Path(t.Context(), here)
	must(t, err)
	if len(path) != 4 {
		t.Fatalf("%d messages: %+v", len(path), path)
	}
	text, picture := path[2], path[3]
	if text.Role != chat.RoleAssistant || chat.TextOf(text.Parts) != "sent" || text.Model != "plugin/ext" {
		t.Errorf("the text is %+v", text)
	}
	media := picture.Parts[len(picture.Parts)-1].Media
	if picture.Role != chat.RoleAssistant || media == nil || media.MIME != "image/png" || picture.Model != "plugin/ext" {
		t.Errorf("the picture is %+v", picture)
	}
	if path, err := w.Store.Chats.Path(t.Context(), other); err != nil || len(path) != 1 {
		t.Errorf("the other chat has %d messages, %v", len(path), err)
	}
}
