package spindle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/spindle/job"
)

// digest is a name as digests are, of one repeated sign.
func digest(sign string) string { return strings.Repeat(sign, 64) }

func TestWhatWasBuiltIsKeptForTheSameFilesOfTheSamePluginAlone(t *testing.T) {
	runtime := t.TempDir()
	keep := keep(runtime)
	by := plugin.Caller{Plugin: "sample", Dialect: "spindle", Code: digest("a")}
	text := func(name, text string) json.RawMessage {
		raw, err := json.Marshal(map[string]string{"name": name, "text": text})
		must(t, err)
		return raw
	}
	if _, err := keep.Do(t.Context(), by, text(digest("1"), "built")); err != nil {
		t.Fatal(err)
	}
	sealed, err := os.ReadFile(filepath.Join(runtime, "built", "sample", digest("a"), digest("1")))
	if got, whole := job.Unseal(sealed); err != nil || !whole || got.Text != "built" {
		t.Errorf("kept %q, whole: %v, %v", got, whole, err)
	}
	if _, whole := job.Unseal(sealed[:len(sealed)-1]); whole {
		t.Error("a text that was cut short counts as whole")
	}

	src := unpack(t,
		"-- spindle.json --\n{\"version\":\"1\",\"name\":\"N\",\"identifier\":\"sample\",\"author\":\"A\"}\n-- "+
			"src/backend.ts --\n\n")
	for name, test := range map[string]struct {
		id, code string
		inside   bool
		shown    bool
	}{
		"the same files": {"sample", digest("a"), false, true}, "an update": {"sample", digest("b"), false, false},
		"another plugin": {"other", digest("a"), false, false}, "a throw-away look": {"sample", "", false, false},
		"no files may be opened": {"sample", digest("a"), true, false},
	} {
		spec, err := New(Options{SourceInside: test.inside}).Spec(t.Context(),
			plugin.Source{ID: test.id, Path: src, Folder: true},
			plugin.Manifest{Entry: "src/backend.ts"}, plugin.StartOptions{Runtime: runtime, Code: test.code})
		must(t, err)
		if shown := slices.Contains(spec.Read,
			filepath.Join(runtime, "built", "sample", digest("a"))); shown != test.shown || len(spec.Read) > 2 {
			t.Errorf("%s: shown is %v of %v", name, shown, spec.Read)
		}
	}

	for name, test := range map[string]struct {
		by   func(*plugin.Caller)
		raw  json.RawMessage
		kind fault.Kind
	}{
		"its files were not compared": {func(c *plugin.Caller) { c.Code = "" }, text(digest("1"), ""), fault.Unavailable},
		"of another ecosystem": {
			func(c *plugin.Caller) { c.Dialect = "functions" }, text(digest("1"), ""), fault.Unavailable,
		},
		"a name that leads out": {func(*plugin.Caller) {}, text("../"+digest("1")[3:], ""), fault.Invalid},
		"too long": {
			func(*plugin.Caller) {}, text(digest("1"), strings.Repeat("x", job.MaxKept+1)), fault.Invalid,
		},
		"no object": {func(*plugin.Caller) {}, json.RawMessage(`7`), fault.Invalid},
	} {
		caller := by
		test.by(&caller)
		if _, err := keep.Do(t.Context(), caller, test.raw); fault.KindOf(err) != test.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	runtime := t.TempDir()
	k := &buildCache{root: filepath.Join(runtime, "built")}
	put := func(id, code, name string, size int) error {
		return k.put(keptFolder(runtime, id, code), name, make([]byte, size))
	}
	folder := func(id, code string) string { return keptFolder(runtime, id, code) }
	there := func(dir string) bool { _, err := os.Stat(dir); return err == nil }
	for i, sign := range []string{"a", "b", "c"} {
		must(t, put("sample", digest(sign), digest("1"), 1))
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		must(t, os.Chtimes(folder("sample", digest(sign)), at, at))
	}
	if there(folder("sample", digest("a"))) || !there(folder("sample", digest("b"))) ||
		!there(folder("sample", digest("c"))) {
		t.Error("not the two newest versions are kept")
	}
	var refused error
	for i := 0; i < 8 && refused == nil; i++ {
		refused = put("large", digest("a"), digest(string("0123456789abcdef"[i])), job.MaxKept)
	}
	if _, size := weigh(folder("large", digest("a"))); fault.KindOf(refused) != fault.Unavailable || size > maxKeptBytes {
		t.Errorf("%d bytes of one version are kept; %v", size, refused)
	}
	for _, id := range []string{"l1", "l2", "l3", "l4"} {
		for i := range 5 {
			must(t, put(id, digest("a"), digest(string("0123456789abcdef"[i])), job.MaxKept))
		}
	}
	if !there(folder("l4", digest("a"))) || !there(folder("l1", digest("a"))) || there(folder("large", digest("a"))) {
		t.Error("not what was kept longest ago went first")
	}
}
