package maibot_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/maibot"
	"conclave/app/plugin/python"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// The kit's words, short.
type (
	worker = pythontest.Worker
	answer = pythontest.Answer
)

func TestMain(m *testing.M) { programtest.Main(m) }

// one returns the dialect on the Python that a person would get.
func one(t testing.TB) *maibot.Dialect {
	t.Helper()
	return maibot.New(pythontest.Any(t))
}

// withoutPython are interpreters on a machine that has none.
func withoutPython() *python.Interpreters {
	return python.New(python.Options{Runtime: programtest.Dir})
}

// withoutSite takes the packages that are installed on this machine out of a
// worker's configuration, and leaves those in the plugin's folder.
func withoutSite(t testing.TB, text, path string) string {
	t.Helper()
	var c map[string]any
	must(t, json.Unmarshal([]byte(text), &c))
	site, _ := c["site"].([]any)
	c["site"] = slices.DeleteFunc(site, func(one any) bool { return !strings.HasPrefix(one.(string), path) })
	out, err := json.Marshal(c)
	must(t, err)
	return string(out)
}

// manifest is a good one, with changes: a nil value takes a key away.
func manifest(changes map[string]any) string {
	m := map[string]any{
		"manifest_version": 2, "id": "test.weather", "version": "1.2.3", "name": "天气", "description": "看天气", "license": "MIT",
		"author":           map[string]any{"name": "某人", "url": "https://example.com"},
		"urls":             map[string]any{"repository": "https://example.com/r"},
		"host_application": map[string]any{"min_version": "1.0.0", "max_version": "1.99.99"},
		"sdk":              map[string]any{"min_version": "2.5.0", "max_version": "2.99.99"},
		"capabilities":     []string{}, "i18n": map[string]any{"default_locale": "zh-CN"},
	}
	maps.Copy(m, changes)
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// folder writes a plugin and returns its path.
func folder(t testing.TB, source string, capabilities []string, more map[string]string) string {
	t.Helper()
	tree := map[string]string{
		"weather/_manifest.json": manifest(map[string]any{"capabilities": capabilities}), "weather/plugin.py": source,
	}
	for name, text := range more {
		tree["weather/"+name] = text
	}
	return filepath.Join(pythontest.Files(t, tree), "weather")
}

// head begins most plugins of these tests.
const head = `
from maibot_sdk import *
from maibot_sdk.types import *
def create_plugin():
    return Weather()
`

// class is a plugin with this body.
func class(body string) string {
	indented := strings.ReplaceAll(strings.Trim(body, "\n\t "), "\n", "\n    ")
	return head + "class Weather(MaiBotPlugin):\n    " + indented + "\n"
}

// begin starts a plugin as the host would, without the machine's packages: a
// worker that imports the real pydantic takes three times as long to load.
func begin(t testing.TB, d *maibot.Dialect, path string, start plugin.StartOptions) *worker {
	t.Helper()
	src := pythontest.Source(t, path)
	m, err := d.Recognize(t.Context(), src)
	if err != nil || m == nil {
		t.Fatalf("Recognize: %v, %v", m, err)
	}
	if start.Storage == "" {
		start.Storage = t.TempDir()
	}
	start.Runtime, start.Work = programtest.Dir, start.Storage
	spec, err := d.Spec(t.Context(), src, *m, start)
	must(t, err)
	spec.Input = []byte(withoutSite(t, string(spec.Input), path))
	return pythontest.Begin(t, spec, start.Storage)
}

// desk is where a file lies that the plugin at path writes next to its code.
func desk(w *worker, path, name string) string {
	return filepath.Join(w.Storage, "plugin", filepath.Base(path), name)
}

// serve starts a plugin of one class body and lists its tools.
func serve(t testing.TB, d *maibot.Dialect, body string, capabilities ...string) *worker {
	t.Helper()
	w := begin(t, d, folder(t, class(body), capabilities, nil), plugin.StartOptions{})
	w.List()
	return w
}

// inChat calls a tool from a conversation, as a turn does.
func inChat(w *worker, name, arguments string) answer {
	return w.Answered(w.Ask(name, arguments,
		map[string]any{"conclave/conversation": "chat-1", "conclave/call-id": "chat-1/call_9"}))
}

// host answers the next request to Conclave and returns what was asked.
func host(t testing.TB, w *worker, capability string, result any) map[string]any {
	t.Helper()
	id, args := asked(t, w, capability)
	w.Send(map[string]any{"id": id, "result": result})
	return args
}

// refuse answers the next request to Conclave with an error.
func refuse(t testing.TB, w *worker, capability string, code int, message string) {
	t.Helper()
	id, _ := asked(t, w, capability)
	w.Send(map[string]any{"id": id, "error": map[string]any{"code": code, "message": message}})
}

func asked(t testing.TB, w *worker, capability string) (json.RawMessage, map[string]any) {
	t.Helper()
	m := w.Until("conclave/host")
	var p struct {
		Capability string         `json:"capability"`
		Args       map[string]any `json:"args"`
	}
	must(t, json.Unmarshal(m.Params, &p))
	if p.Capability != capability {
		t.Fatalf("it asked for %s, want %s", p.Capability, capability)
	}
	return m.ID, p.Args
}

func is(t testing.TB, what string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("%s:\n  got  %s\n  want %s", what, g, w)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}
