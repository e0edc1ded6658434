package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/plugin/plugintest"
)

func TestStorageStaysInThePluginsOwnFolder(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		asks := plugintest.Script{Tools: []plugintest.Tool{{Name: "ask", Do: plugintest.Asks}}}
		f.Serve("a.py", asks)
		f.Serve("b.py", asks)
		own := filepath.Join(f.Data, "storage", "a")
		must(t, os.WriteFile(filepath.Join(f.Data, "secret"), []byte("s"), 0o600))
		must(t, os.MkdirAll(filepath.Join(own, "deep"), 0o700),
			os.Symlink(filepath.Join(f.Data, "secret"), filepath.Join(own, "link")))
		for _, one := range []struct{ plugin, capability, args, want string }{
			{"a", "storage.write", `{"path":"deep/n.txt","text":"hello"}`, `{"bytes":5}`},
			{"a", "storage.read", `{"path":"deep/n.txt"}`, `{"text":"hello"}`},
			{"a", "storage.read", `{"path":"/deep//n.txt"}`, `{"text":"hello"}`},
			{"a", "storage.read", `{"path":"deep/n.txt","binary":true}`, `{"base64":"aGVsbG8="}`},
			{"a", "storage.write", `{"path":"raw","base64":"//4="}`, `{"bytes":2}`},
			{"a", "storage.read", `{"path":"raw"}`, `{"base64":"//4="}`},
			{"a", "storage.exists", `{"path":"deep"}`, `{"exists":true}`},
			{"a", "storage.exists", `{"path":"nope"}`, `{"exists":false}`},
			{"a", "storage.mkdir", `{"path":"deep/er"}`, `{}`},
			// SP-42: relative to the prefix, recursive, files only.
			{"a", "storage.write", `{"path":"deep/er/m.txt","text":"x"}`, `{"bytes":1}`},
			{"a", "storage.list", `{"prefix":"deep"}`, `{"files":["er/m.txt","n.txt"]}`},
			{"a", "storage.list", `{"prefix":"deep/"}`, `{"files":["er/m.txt","n.txt"]}`},
			{"a", "storage.list", `{"prefix":"dee"}`, `{"files":[]}`},
			{"a", "storage.list", `{"prefix":"deep/n.txt"}`, `{"files":[]}`},
			{"a", "storage.list", `{}`, `{"files":["deep/er/m.txt","deep/n.txt","raw"]}`},
			{"a", "storage.move", `{"from":"raw","to":"new/place"}`, `{}`},
			{"a", "storage.delete", `{"path":"deep"}`, `{"deleted":true}`},
			{"a", "storage.delete", `{"path":"deep"}`, `{"deleted":true}`},
			{"a", "storage.list", `{}`, `{"files":["new/place"]}`},
			{"b", "storage.list", `{}`, `{"files":[]}`},
			{"a", "permissions.granted", `{}`, `{"granted":[]}`},
			{"a", "storage.read", `{"path":"nope"}`, "-32013 File not found"},
			{"a", "storage.read", `{"path":"../b/x"}`, "-32012 Path traversal is not allowed: ../b/x"},
			{"a", "storage.read", `{"path":"x/../../../secret"}`, "-32012 Path traversal"},
			{"a", "storage.read", `{"path":"..\\secret"}`, "-32012 Path traversal"},
			{"a", "storage.list", `{"prefix":".."}`, "-32012 Path traversal"},
			{"a", "storage.move", `{"from":"new/place","to":"../../x"}`, "-32012 Path traversal"},
			{"a", "storage.read", `{"path":"link"}`, "-32012 Path traversal"},
			{"a", "storage.read", `{"path":"new"}`, "-32012 new is not a file"},
			{"a", "storage.read", `{"path":""}`, "-32012 storage.read needs a path"},
			{"a", "storage.write", `{"path":".","text":"x"}`, "-32012 storage.write needs a path"},
			{"a", "storage.delete", `{"path":"/"}`, "-32012 storage.delete needs a path"},
			{"a", "storage.write", `{"path":"x"}`, "-32012 Nothing to write"},
			{"a", "storage.write", `{"path":"x","base64":"?"}`, "-32012 The bytes to write are not base64"},
			{
				"a", "storage.write", `{"path":"x","text":"` + strings.Repeat("x", 3<<20+1) + `"}`,
				"-32012 A stored file may hold",
			},
			{"a", "storage.format", `{}`, "-32011 storage.format is not available"},
			{"a", "weather.make", `{}`, "-32011 weather.make is not available"},
		} {
			arguments, err := json.Marshal(map[string]any{"capability": one.capability, "args": json.RawMessage(one.args)})
			must(t, err)
			r := f.Freeze(one.plugin+":ask").Call(t.Context(), string(arguments))
			got := chat.TextOf(r.Content)
			if r.Status != chat.CallOK {
				var e struct {
					Code    int
					Message string
				}
				must(t, json.Unmarshal([]byte(r.Error), &e))
				got = strings.TrimSpace(string(mustJSON(t, e.Code)) + " " + e.Message)
			}
			if got != one.want && !(strings.HasPrefix(one.want, "-") && strings.HasPrefix(got, one.want)) {
				t.Errorf("%s %.60s: got %.200s, want %s", one.capability, one.args, got, one.want)
			}
		}
		entries, err := os.ReadDir(own)
		must(t, err)
		for _, e := range entries {
			if strings.Contains(e.Name(), "conclave-part") {
				t.Errorf("half a file was left: %s", e.Name())
			}
		}
		if got := f.Offered(); len(got) != 2 {
			t.Errorf("the tools are %q", got)
		}
	})
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	must(t, err)
	return raw
}
