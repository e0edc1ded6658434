package engine

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"conclave/app/plugin/wire"
)

// bundled builds the author's two files as a bundler of theirs would, and
// returns the bundle with its map as told.
func bundled(t *testing.T, inline bool) (bundle, sourceMap string) {
	t.Helper()
	sources := map[string]string{
		"src/backend.ts": "import { roll } from \"./dice\";\n\ndeclare const spindle: any;\ninterface Args { sides: " +
			"number }\n" +
			handler("\n  const a: Args = { sides: 0 };\n  return roll(a.sides);\n"),
		"src/dice.ts": "type Sides = number;\n\nexport function roll(sides: Sides): " +
			"number {\n  if (sides < 1) throw new RangeError(\"no sides\");\n  return sides;\n}\n",
	}
	dir := t.TempDir()
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, Outfile: dir + "/dist/backend.js", Bundle: true, MinifyWhitespace: true, MinifySyntax: true,
		Format:    api.FormatESModule,
		Sourcemap: api.SourceMapLinked, Target: api.ES2022,
		Stdin: &api.StdinOptions{Contents: `import "./src/backend.ts"`, ResolveDir: dir, Sourcefile: "entry.js"},
		Plugins: []api.Plugin{{Name: "memory", Setup: func(b api.PluginBuild) {
			b.OnResolve(api.OnResolveOptions{Filter: `^\.`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				name := "src/" + strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(a.Path, "./"), "src/"), ".ts") + ".ts"
				return api.OnResolveResult{Path: dir + "/" + name}, nil
			})
			b.OnLoad(api.OnLoadOptions{Filter: `\.ts$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				text := sources[strings.TrimPrefix(a.Path, dir+"/")]
				return api.OnLoadResult{Contents: &text, Loader: api.LoaderTS}, nil
			})
		}}},
	})
	if len(result.Errors) > 0 {
		t.Fatalf("%+v", result.Errors)
	}
	for _, f := range result.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			sourceMap = string(f.Contents)
		} else {
			bundle = string(f.Contents)
		}
	}
	if inline {
		bundle = bundle[:strings.LastIndex(bundle, mapComment)] + mapComment + "data:application/json;base64," +
			base64.StdEncoding.EncodeToString([]byte(sourceMap)) + "\n"
	}
	return bundle, sourceMap
}

func TestAToolsErrorLeadsThroughTheBundlesOwnSourceMap(t *testing.T) {
	for _, inline := range []bool{false, true} {
		bundle, sourceMap := bundled(t, inline)
		p := load(t, "dist/backend.js", map[string]string{"dist/backend.js": bundle, "dist/backend.js.map": sourceMap})
		trace, _ := p.call("t", meta{}, nil).meta[wire.MetaTraceback].(string)
		for _, want := range []string{
			"RangeError: no sides\n", "at roll (src/dice.ts:4:", "at src/backend.ts:8:",
			"> 4 |   if (sides < 1) throw new RangeError(\"no sides\");",
		} {
			if !strings.Contains(trace, want) {
				t.Errorf("inline %v: the traceback lacks %q:\n%s", inline, want, trace)
			}
		}
	}
}

func TestALoadErrorLeadsThroughTheBundlesOwnSourceMap(t *testing.T) {
	text := "var a=1;var b=null.x;\n//# sourceMappingURL=b.js.map\n"
	// Column 8 of line 1 is line 3, column 7 of src/real.ts.
	_, err := open(t, "dist/b.js", map[string]string{
		"dist/b.js": text, "dist/b.js.map": `{"version":3,"sources":["../src/real.ts"],"mappings":"AAAA,QAEM"}`,
		"src/real.ts": "let a = 1;\n\nconst b = null.x;\n",
	})
	got := problemOf(t, err)
	if got.File != "src/real.ts" || got.Line != 3 || !strings.Contains(got.Frame, "> 3 | const b = null.x;") {
		t.Errorf("problem = %+v", got)
	}
}

func TestDamagedSourceMapsAreNoHarm(t *testing.T) {
	for name, sourceMap := range map[string]string{
		"not JSON": "{", "no base64": `{"mappings":"!!!!"}`,
		"endless number": `{"sources":["a"],"mappings":"gggggggggggggggggggggg"}`,
		"no sources":     `{"mappings":"AAAA"}`, "below zero": `{"sources":["a"],"mappings":"ADDD"}`,
	} {
		_, err := open(t, "b.js", map[string]string{"b.js": "null.x\n//# sourceMappingURL=m.map", "m.map": sourceMap})
		if got := problemOf(t, err); got.Type != "TypeError" || got.Line > 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWhatFailsByItselfIsLoggedWithItsPlace(t *testing.T) {
	p := load(t, "a.ts", map[string]string{
		"a.ts": "interface X { y: number }\n\n" + handler("\n  setTimeout(() => {\n    throw new Error(\"late\");\n  });\n "+
			" const t = new EventTarget();\n  t.addEventListener(\"x\", () => { throw new TypeError(\"heard\") });\n  "+
			"t.dispatchEvent(new Event(\"x\"));\n  console.error(new RangeError(\"shown\"));\n"),
		"b": "",
	})
	p.call("t", meta{}, nil)
	p.waitLog("late")
	got := p.logged()
	for _, want := range []string{
		"A timer failed: Error: late\n    at a.ts:6:", `A listener for "x" failed: TypeError: heard` + "\n    at a.ts:9:",
		"RangeError: shown\n    at a.ts:11:",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "conclave:") || strings.Contains(got, "<eval") {
		t.Errorf("the log shows the prelude:\n%s", got)
	}
}

func TestAPromiseThatIsRejectedAndLeftAloneIsLoggedWithItsPlace(t *testing.T) {
	p := load(t, "a.ts", map[string]string{
		"a.ts": "interface X { y: number }\n\nspindle.on(\"CHAT_SWITCHED\", async () => {\n  await null;\n  throw new " +
			"Error(\"switched\");\n});\n" + handler("\n  setTimeout(async () => {\n    await null;\n    throw new "+
			"Error(\"late\");\n  });\n  queueMicrotask(async () => {\n    throw new TypeError(\"soon\");\n  });\n  const t = "+
			"new EventTarget();\n  t.addEventListener(\"x\", async () => { throw new RangeError(\"heard\") });\n  "+
			"t.dispatchEvent(new Event(\"x\"));\n  queueMicrotask(() => Promise.reject(7));\n  queueMicrotask(() => ({ get "+
			"then() { throw new Error(\"no promise\") } }));\n"),
		"b": "",
	})
	p.call("t", meta{}, nil)
	must(t, p.wire.Notify("CHAT_SWITCHED", meta{"chatId": "c"}))
	for _, want := range []string{
		"A timer failed: Error: late\n    at a.ts:11:", "A microtask failed: TypeError: soon\n    at a.ts:14:",
		`A listener for "x" failed: RangeError: heard` + "\n    at a.ts:17:",
		"A listener for CHAT_SWITCHED failed: Error: switched\n    at a.ts:5:", "A microtask failed: 7",
		"A microtask failed: Error: no promise",
	} {
		p.waitLog(want)
	}
	if got := p.call("t", meta{}, nil); got.isError {
		t.Errorf("afterwards it answered %+v", got)
	}
}

// A graph of many small files, as one real extension ships (contracts/spindle, section 3).
func TestSP05AGraphOfManyModulesLoads(t *testing.T) {
	files := map[string]string{}
	const n = 150
	for i := range n {
		next := "export const sum = 1;\n"
		if i < n-1 {
			next = fmt.Sprintf("import { sum as more } from %q;\nexport const sum = more + 1;\n",
				fmt.Sprintf("../d%d/m%d.%s", (i+1)%7, i+1, []string{"js", "mjs"}[(i+1)%2]))
		}
		files[fmt.Sprintf("src/d%d/m%d.%s", i%7, i, []string{"js", "mjs"}[i%2])] = next +
			"export const where = import.meta.url;\n"
	}
	files["src/hosts/main.js"] = `import { sum, where } from "../d0/m0.js"; const data = await (await fetch(new URL("../data.json", import.meta.url))).json(); const late = await Promise.all([1, 2, 3].map((i) => import("../d" + i + "/m" + i + (i % 2 ? ".mjs" : ".js"))));
` + handler(`return [sum, where, data.x, late.map((m) => m.sum).join("+")].join()`)
	files["src/data.json"] = `{"x":"y"}`
	p := load(t, "src/hosts/main.js", files, walled())
	if got, want := p.call("t", meta{}, nil).text, "150,file:///plugin/src/d0/m0.js,y,149+148+147"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
