package maibot_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/testkit"
)

// options returns the schema of the settings as the worker gives it.
func options(t testing.TB, w *worker) map[string]any {
	t.Helper()
	var result struct {
		Meta struct {
			Options map[string]any `json:"conclave/options"`
		} `json:"_meta"`
	}
	must(t, json.Unmarshal(w.Wait(w.Request("tools/list", map[string]any{})).Result, &result))
	return result.Meta.Options
}

// notes returns the sentences for the plugin's card.
func notes(t testing.TB, w *worker) []string {
	t.Helper()
	var result struct {
		Meta struct {
			Notes []string `json:"conclave/notes"`
		} `json:"_meta"`
	}
	must(t, json.Unmarshal(w.Wait(w.Request("tools/list", map[string]any{})).Result, &result))
	return result.Meta.Notes
}

const defaults = `[plugin]
enabled = true
config_version = "1.0.0"

[g]
count = 3
mode = "a"
words = []
hidden = "x"
key = ""
`

func TestMB13TheFirstStartWritesTheDefaults(t *testing.T) {
	path := folder(t, withConfig(tells), nil, nil)
	w := begin(t, one(t), path, plugin.StartOptions{})
	w.List()
	is(t, "config.toml", read(t, desk(w, path, "config.toml")), defaults)
	is(t, "answer", inChat(w, "tell", "{}").Text(), "3 a -")
}

func TestMB14APluginThatIsOffOffersNothingUntilItIsOn(t *testing.T) {
	for _, off := range []string{"false", `"off"`, `"0"`} {
		t.Run(off, func(t *testing.T) {
			t.Parallel()
			path := folder(t, withConfig(tells), nil, map[string]string{
				"config.toml": "[plugin]\nenabled = " + off + "\nconfig_version = \"1.0.0\"\n",
			})
			w := begin(t, one(t), path, plugin.StartOptions{})
			if tools := w.List(); len(tools) != 0 {
				t.Fatalf("tools: %v", pythontest.Names(tools))
			}
			is(t, "why", notes(t, w), []string{
				"It is switched off in its settings ([plugin] enabled = false), so it offers no tools.",
			})
			testkit.Save(t, filepath.Join(path, "config.toml"), "[plugin]\nenabled = true\nconfig_version = \"1.0.0\"\n")
			w.Until("notifications/tools/list_changed")
			is(t, "answer", inChat(w, "tell", "{}").Text(), "3 a -")
			is(t, "why, once it has tools", notes(t, w), nil)
		})
	}
}

func TestAPluginOfHooksAloneSaysWhyItHasNoTools(t *testing.T) {
	w := begin(t, one(t), folder(t, class("pass"), nil, nil), plugin.StartOptions{})
	w.List()
	is(t, "why", notes(t, w), []string{"It has no tools: its commands, hooks and other parts are not used by Conclave."})
}

func TestMB15AnOlderVersionIsBroughtUpToDate(t *testing.T) {
	path := folder(t, withConfig(tells), nil, map[string]string{
		"config.toml": "[plugin]\nenabled = true\nconfig_version = \"0.9.0\"\n[g]\ncount = 5\nmode = 7\ngone = 1\n",
	})
	w := begin(t, one(t), path, plugin.StartOptions{})
	w.List()
	is(t, "answer", inChat(w, "tell", "{}").Text(), "5 a -")
	is(t, "config.toml", read(t, desk(w, path, "config.toml")), strings.Replace(defaults, "count = 3", "count = 5", 1))
}

func TestMB15ASameVersionKeepsItsFile(t *testing.T) {
	file := "# 我的\n[plugin]\nconfig_version = \"1.0.0\" # 版本\n[g]\ncount = 4\n"
	path := folder(t, withConfig(tells), nil, map[string]string{"config.toml": file})
	w := begin(t, one(t), path, plugin.StartOptions{})
	w.List()
	is(t, "answer", inChat(w, "tell", "{}").Text(), "4 a -")
	is(t, "config.toml", read(t, desk(w, path, "config.toml")), file)
}

func TestMB16SavedSettingsReachThePlugin(t *testing.T) {
	d := one(t)
	file := "# 我的\n[plugin]\nconfig_version = \"1.0.0\"\n\n[g]\ncount = 3 # 数\nmode = \"b\"\n"
	path := folder(t, withConfig(tells), nil, map[string]string{"config.toml": file})
	start := plugin.StartOptions{Storage: t.TempDir(), Options: json.RawMessage(`{"g":{"count":5}}`)}
	w := begin(t, d, path, start)
	w.List()
	is(t, "answer", inChat(w, "tell", "{}").Text(), "5 b self 5 5")
	text := read(t, desk(w, path, "config.toml"))
	if !strings.HasPrefix(text, "# 我的\n") || !strings.Contains(text, "count = 5\nmode = \"b\"") {
		t.Errorf("config.toml:\n%s", text)
	}
	is(t, "the person's own", read(t, filepath.Join(path, "config.toml")), file)
	// An edit by hand after that counts, now and at the next start.
	testkit.Save(t, filepath.Join(path, "config.toml"), strings.Replace(text, "count = 5", "count = 2", 1))
	w.Until("notifications/tools/list_changed")
	is(t, "after the edit", inChat(w, "tell", "{}").Text(), "2 b self 2 2")
	again := begin(t, d, path, start)
	again.List()
	is(t, "after a restart", inChat(again, "tell", "{}").Text(), "2 b -")
}

func TestOneSettingSavedLeavesEditsByHandOfTheOthersAlone(t *testing.T) {
	d := one(t)
	path := folder(t, withConfig(tells), nil, map[string]string{
		"config.toml": "[plugin]\nconfig_version = \"1.0.0\"\n\n[g]\ncount = 3\nmode = \"a\"\n",
	})
	start := plugin.StartOptions{Storage: t.TempDir(), Options: json.RawMessage(`{"g":{"count":5,"mode":"a"}}`)}
	w := begin(t, d, path, start)
	w.List()
	text := read(t, desk(w, path, "config.toml"))
	testkit.Save(t, filepath.Join(path, "config.toml"), strings.Replace(text, "count = 5", "count = 2", 1))
	w.Until("notifications/tools/list_changed")
	group := options(t, w)["properties"].(map[string]any)["g"].(map[string]any)
	shown := group["properties"].(map[string]any)["count"].(map[string]any)
	is(t, "what the form shows after the edit", shown["default"], 2.0)
	start.Options = json.RawMessage(`{"g":{"count":5,"mode":"b"}}`) // the mode alone was changed in the form
	again := begin(t, d, path, start)
	again.List()
	is(t, "after the form", inChat(again, "tell", "{}").Text(), "2 b self 2 2")
}

func TestMB17AFileThatDoesNotFitIsSaidWithItsField(t *testing.T) {
	d := one(t)
	for name, c := range map[string]struct{ file, says string }{
		"too large": {"[plugin]\nconfig_version = \"1.0.0\"\n[g]\ncount = 99\n", "g.count"},
		"literal":   {"[plugin]\nconfig_version = \"1.0.0\"\n[g]\nmode = \"z\"\n", "g.mode"},
		"no TOML":   {"[plugin\n", "config.toml is not TOML"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := folder(t, withConfig(tells), nil, map[string]string{"config.toml": c.file})
			p := begin(t, d, path, plugin.StartOptions{}).Initialize()
			if p == nil || !strings.Contains(p.Message, c.says) || p.File != "config.toml" {
				t.Errorf("got %+v", p)
			}
			is(t, "the file", read(t, filepath.Join(path, "config.toml")), c.file)
		})
	}
}

func TestMB18TheFormHasSectionsLabelsAndBounds(t *testing.T) {
	w := begin(t, one(t), folder(t, withConfig(tells), nil, nil), plugin.StartOptions{})
	w.List()
	is(t, "form", options(t, w), map[string]any{"type": "object", "x-conclave-current": true, "properties": map[string]any{
		"plugin": map[string]any{"type": "object", "title": "插件", "properties": map[string]any{
			"enabled":        map[string]any{"title": "enabled", "type": "boolean", "description": "启用", "default": true},
			"config_version": map[string]any{"title": "config_version", "type": "string", "default": "1.0.0"},
		}},
		"g": map[string]any{"type": "object", "title": "通用", "properties": map[string]any{
			"count": map[string]any{
				"title": "数量", "type": "integer", "description": "一到五", "minimum": 1, "maximum": 5, "default": 3,
			},
			"mode": map[string]any{"title": "mode", "enum": []any{"a", "b"}, "default": "a"},
			"words": map[string]any{
				"title": "words", "type": "array", "items": map[string]any{"type": "string"}, "default": []any{},
			},
			"key": map[string]any{"title": "key", "type": "string", "format": "password"},
		}},
	}})
}

func TestASecretSettingIsAskedForAndNotWritten(t *testing.T) {
	path := folder(t, withConfig(`
@Tool("secret")
async def secret(self, **kwargs): return self.config.g.key
`), nil, nil)
	w := begin(t, one(t), path, plugin.StartOptions{
		Options: json.RawMessage(`{"g":{"count":4}}`), Secrets: []string{"g.key"},
	})
	host(t, w, "options.secret", map[string]any{"value": "s3cret"})
	w.List()
	is(t, "answer", inChat(w, "secret", "{}").Text(), "s3cret")
	if text := read(t, desk(w, path, "config.toml")); strings.Contains(text, "s3cret") ||
		!strings.Contains(text, "count = 4") {
		t.Errorf("config.toml:\n%s", text)
	}
}

func TestMB70OnUnloadRunsWhenItsInputEnds(t *testing.T) {
	path := folder(t, class(`
async def on_load(self):
    import asyncio
    self.task = asyncio.get_running_loop().create_task(asyncio.sleep(3600))
async def on_unload(self):
    import asyncio
    await asyncio.sleep(0)
    self.task.cancel()
    (self.ctx.paths.data_dir / "left").write_text("再见", encoding="utf-8")
`+look), nil, nil)
	w := begin(t, one(t), path, plugin.StartOptions{})
	w.List()
	if err := w.Ended(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	is(t, "left", read(t, filepath.Join(w.Storage, "data", "left")), "再见")
}
