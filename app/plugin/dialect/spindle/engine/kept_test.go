package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/spindle/job"
)

// keeping lets a worker find what was built in dir, and writes what it has kept
// there, telling kept.
func keeping(tb testing.TB, dir string, kept chan<- string) option {
	return func(c *Config, p *plug) {
		c.Built = dir
		p.answer = func(service string, args map[string]any) (any, error) {
			if service != "build.keep" {
				return nil, nil
			}
			name, _ := args["name"].(string)
			text, _ := args["text"].(string)
			back, _ := args["map"].(string)
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), (job.Built{Text: text, Map: back}).Seal(),
				0o600); err != nil {
				tb.Error(err)
			}
			kept <- name
			return map[string]any{}, nil
		}
	}
}

func TestALargeTypeScriptFileIsBuiltOnce(t *testing.T) {
	dir, kept := t.TempDir(), make(chan string, 10)
	source := "interface A {\n  b: string;\n}\nconst padding: string = `" + strings.Repeat("padding\n", 5_000) + "`;\n" +
		handler("\n  const x: A | null = null;\n  if (args.fail) x!.b;\n  return 'as it was built'")
	files := map[string]string{"a.ts": source, "small.ts": "export const y: number = 1", "spindle.json": "{}"}
	calls := func(p *plug, want string) {
		t.Helper()
		if got := p.call("t", meta{}, nil); got.text != want {
			t.Errorf("answered %q, want %q", got.text, want)
		}
		line := "a.ts:" + strconv.Itoa(strings.Count(source[:strings.Index(source, "x!.b")], "\n")+1)
		if got := p.call("t", meta{"fail": true}, nil); !strings.Contains(toJSON(got.meta), line) {
			t.Errorf("it failed without %s: %v", line, got.meta)
		}
	}
	calls(load(t, "a.ts", files, keeping(t, dir, kept)), "as it was built")
	name := <-kept
	if name != job.BuiltName(builtBy, "a.ts", source) || len(kept) > 0 {
		t.Fatalf("kept %s, and %d more", name, len(kept))
	}

	path := filepath.Join(dir, name)
	sealed, err := os.ReadFile(path)
	must(t, err)
	built, whole := job.Unseal(sealed)
	if !whole {
		t.Fatal("what was kept is not whole")
	}
	write := func(sealed []byte) {
		t.Helper()
		must(t, os.WriteFile(path, sealed, 0o600))
	}
	changed := job.Built{Text: strings.Replace(built.Text, "as it was built", "as it was kept ", 1), Map: built.Map}
	write(changed.Seal())
	calls(load(t, "a.ts", files, keeping(t, dir, kept)), "as it was kept ")

	write(sealed[:len(sealed)/2])
	calls(load(t, "a.ts", files, keeping(t, dir, kept)), "as it was built")

	files["a.ts"] = source + "// changed"
	calls(load(t, "a.ts", files, keeping(t, dir, kept)), "as it was built")
}

// What is kept must not outlive the bundler that built it.
func TestWhatBuiltItIsInTheNameOfAKeptText(t *testing.T) {
	mod, err := os.ReadFile("../../../../../go.mod")
	must(t, err)
	for line := range strings.Lines(string(mod)) {
		if fields := strings.Fields(strings.TrimPrefix(line, "require ")); len(fields) > 1 &&
			fields[0] == "github.com/evanw/esbuild" {
			if want := "esbuild " + fields[1] + ","; !strings.HasPrefix(builtBy, want) {
				t.Errorf("builtBy is %q, but go.mod has %q", builtBy, want)
			}
			return
		}
	}
	t.Error("go.mod has no esbuild")
}

// BenchmarkStartOfKeptTypeScript measures the second start of a bundle of 540 KB
// in TypeScript. The target is 220 ms at the median.
func BenchmarkStartOfKeptTypeScript(b *testing.B) {
	dir, kept := b.TempDir(), make(chan string, 1)
	files := map[string]string{"plugin.ts": bundleOf540KB(true)}
	p := load(b, "plugin.ts", files, keeping(b, dir, kept))
	<-kept
	_ = p.session.Close()
	<-p.exited
	startBenchmark(b, "plugin.ts", files["plugin.ts"], keeping(b, dir, kept))
}
