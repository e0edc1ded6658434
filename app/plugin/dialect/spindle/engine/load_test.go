package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/wire"
)

func TestSP05EveryFormOfAPluginStarts(t *testing.T) {
	register := `spindle.registerTool({ name: "t", description: "d" }); spindle.on("TOOL_INVOCATION", () => answer());`
	tests := map[string]struct {
		entry string
		files map[string]string
	}{
		"plain script": {
			"dist/backend.js",
			map[string]string{
				"dist/backend.js": `(function () { function answer() { return "ok" } ` + register + ` })();`, "a": "",
			},
		},
		"ES module": {
			"dist/backend.js",
			map[string]string{
				"dist/backend.js": `function answer() { return "ok" } ` + register + `; export { answer };`, "a": "",
			},
		},
		"TypeScript": {"src/backend.ts", map[string]string{
			"src/backend.ts": "import type { Tool } from 'no-such-package';\nimport { Other } from 'types-only';\ndeclare " +
				"const spindle: any;\nenum E { A = 'ok' }\nfunction answer(x?: Other): string { return E.A }\n" +
				register, "tsconfig.json": "",
		}},
		"graph of modules": {"src/hosts/main.js", map[string]string{
			"src/hosts/main.js":   `import { answer } from "../../lib/answer.mjs"; ` + register,
			"lib/answer.mjs":      `import data from "./data.json"; import word from "../src/word"; export const answer = () => data.o + word();`,
			"lib/data.json":       `{"o":"o"}`,
			"src/word/index.ts":   `export { default } from "./inner.js";`,
			"src/word/inner.ts":   `export default (): string => "k";`,
			"package.json":        `{`,
			"lib/unused/other.js": `throw 1`,
		}},
		"dynamic import": {
			"a.js",
			map[string]string{
				"a.js": `let m; const answer = async () => (await import("./b.js")).x; ` + register,
				"b.js": `export const x = "ok"`,
			},
		},
		"one file":        {"a.mjs", map[string]string{"a.mjs": `const answer = () => "ok"; ` + register}},
		"byte order mark": {"a.js", map[string]string{"a.js": "\uFEFFconst answer = () => 'ok'; " + register}},
		"hashbang":        {"a.js", map[string]string{"a.js": "#!/usr/bin/env bun\nconst answer = () => 'ok'; " + register}},
		"newer than the engine": {"a.js", map[string]string{
			"a.js": `import { x } from "./b.js"; class Held { [Symbol.dispose ?? Symbol()]() {} } function answer() { return x } ` + register,
			"b.js": `export let x = "?"; function f() { return x } { using held = null; x = "ok" } f();`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := load(t, test.entry, test.files)
			if got := p.call("t", meta{}, nil); got.text != "ok" || got.isError {
				t.Errorf("answered %+v", got)
			}
		})
	}
}

func TestSP05SourcesMayComeWithTheConfiguration(t *testing.T) {
	p := load(t, "a.ts", map[string]string{"a.ts": "export {}", "b.ts": ""}, withConfig(func(c *Config) {
		c.Folder, c.Single = "/nowhere", false
		c.Sources = map[string]string{
			"a.ts": `import { x } from "./b"; ` + handler(`return x as string`), "b.ts": `export const x: string = "inside"`,
		}
	}))
	if got := p.call("t", meta{}, nil); got.text != "inside" {
		t.Errorf("answered %+v", got)
	}
}

func TestSP06OtherToolsFilesDoNotMatter(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "cut short": "{", "of another kind": "[7]"} {
		p := load(t, "src/backend.ts", map[string]string{
			"package.json": text, "tsconfig.json": text, "src/tsconfig.json": text,
			"src/backend.ts": "class Held { x: string = name; }\nconst name: string = 'ok';\n" + handler(`return new Held().x`),
		})
		if got := p.call("t", meta{}, nil); got.text != "ok" {
			t.Errorf("%s: answered %+v", name, got)
		}
	}
}

func TestSP07TopLevelAwaitIsAwaited(t *testing.T) {
	p := script(t, `for (let i = 0; i < 6; i++) await spindle.storage.mkdir("d" + i);
await new Promise((done) => setTimeout(done, 30));
`+handler(`return "late"`))
	if got := p.names(); !slices.Equal(got, []string{"t"}) {
		t.Errorf("tools = %v", got)
	}
}

func TestSP07APluginThatAwaitsTooLongCountsAsStarted(t *testing.T) {
	p := script(t, handler(`return "early"`)+` await new Promise(() => {});`,
		withConfig(func(c *Config) { c.LoadTotalMS = 1500 }))
	for !slices.Contains(p.names(), "t") { // on a busy machine it may not have come to its await
		p.waitChange()
	}
	if got := p.call("t", meta{}, nil); got.text != "early" {
		t.Errorf("answered %+v", got)
	}
}

func TestSP08AnExceptionWhileLoadingIsAProblemWithItsPlace(t *testing.T) {
	tests := map[string]struct {
		entry string
		files map[string]string
		want  Problem // Message and Hint are looked for inside
		frame string
	}{
		"throws": {
			"p.js",
			map[string]string{
				"p.js": "const a = 1;\nfunction f() {\n  throw new TypeError(\"boom\");\n}\nf();\n",
			},
			Problem{Kind: "script", Type: "TypeError", Message: "TypeError: boom", File: "p.js", Line: 3, Column: 22},
			">",
		},
		"stray identifier on line 1": {
			"p.js",
			map[string]string{"p.js": "strayed\nspindle.registerTool({name:'t'})"},
			Problem{
				Kind: "script", Type: "ReferenceError", Message: "'strayed' is not defined", File: "p.js", Line: 1, Column: 1,
			},
			"> 1 | strayed",
		},
		"syntax error": {
			"p.js",
			map[string]string{"p.js": "let ok = 1;\nlet a = ;\n"},
			Problem{
				Kind: "script", Type: "SyntaxError", Message: "SyntaxError: Unexpected \";\"", File: "p.js", Line: 2, Column: 9,
			},
			"> 2 | let a = ;\n    |         ^",
		},
		"TypeScript, thrown far below the types": {
			"p.ts",
			map[string]string{
				"p.ts": "interface A {\n  b: string;\n}\ntype C = A;\n\nconst x: C | null = null;\n  x!.b;\n",
			},
			Problem{Kind: "script", Type: "TypeError", Message: "cannot read", File: "p.ts", Line: 7},
			"> 7 |   x!.b;",
		},
		"TypeScript, syntax": {
			"p.ts",
			map[string]string{"p.ts": "const a: string = 'x';\n\tconst b: = 2;\n"},
			Problem{
				Kind: "script", Type: "SyntaxError", Message: "SyntaxError: Unexpected \"=\"", File: "p.ts", Line: 2, Column: 11,
			},
			"> 2 | \tconst b: = 2;",
		},
		"in an imported file": {
			"src/a.js",
			map[string]string{"src/a.js": "import './b.js'", "src/b.js": "\n\nnull.x"},
			Problem{Kind: "script", Type: "TypeError", Message: "cannot read", File: "src/b.js", Line: 3},
			"> 3 | null.x",
		},
		"an import that does not exist": {
			"a.js",
			map[string]string{"a.js": "// first\nimport './gone.js';\n", "c.js": ""},
			Problem{Kind: "script", Message: `imports "./gone.js", which does not exist`, File: "a.js", Line: 2, Column: 8},
			"> 2 | import './gone.js';",
		},
		"a package": {
			"a.js",
			map[string]string{"a.js": "import { z } from \"zod/v4\";\n", "c.js": ""},
			Problem{
				Kind: "unavailable", Message: `the package "zod"`, File: "a.js", Line: 1, Hint: "Bundle it",
				Missing: []string{"zod"},
			},
			"",
		},
		"a module of Node": {
			"a.js",
			map[string]string{"a.js": "import fs from 'node:fs';\n", "c.js": ""},
			Problem{Kind: "unavailable", Message: `"node:fs"`, File: "a.js", Line: 1, Missing: []string{"node:fs"}},
			"",
		},
		"out of the folder": {
			"a.js",
			map[string]string{"a.js": "import '../other/secret.js';\n", "c.js": ""},
			Problem{Kind: "refused", Message: "outside the plugin's folder", File: "a.js", Line: 1},
			"",
		},
		"an absolute path": {
			"a.js",
			map[string]string{"a.js": "import '/etc/passwd';\n", "c.js": ""},
			Problem{Kind: "refused", Message: "outside the plugin's folder", File: "a.js", Line: 1},
			"",
		},
		"the prelude": {
			"a.js",
			map[string]string{"a.js": "import 'conclave:bridge.js';\n", "c.js": ""},
			Problem{Kind: "script", Message: "is no file of the plugin", File: "a.js", Line: 1},
			"",
		},
		"a neighbour of a single file": {
			"a.js",
			map[string]string{"a.js": "import './b.js';\n"},
			Problem{Kind: "script", Message: "does not exist", Hint: "Make it a folder", File: "a.js", Line: 1},
			"",
		},
		"JSON": {
			"a.js",
			map[string]string{"a.js": "import './b.json';\n", "b.json": "{\n  \"a\": ,\n}"},
			Problem{Kind: "script", Type: "SyntaxError", Message: "not JSON", File: "b.json", Line: 2},
			"> 2 |   \"a\": ,",
		},
		"require": {
			"a.js",
			map[string]string{"a.js": "\nconst fs = require('fs');"},
			Problem{
				Kind: "script", Type: "ReferenceError", Message: "'require' is not defined", Hint: "use import", File: "a.js",
				Line: 2,
			},
			"",
		},
		"rejected await": {
			"a.js",
			map[string]string{"a.js": "await null;\nawait Promise.reject(new RangeError('later'));"},
			Problem{Kind: "script", Type: "RangeError", Message: "RangeError: later", File: "a.js", Line: 2},
			"",
		},
		"thrown text": {
			"a.js",
			map[string]string{"a.js": "throw 'just text'"},
			Problem{Kind: "script", Message: "just text", File: "a.js"},
			"",
		},
		"missing entry": {
			"gone.js",
			map[string]string{"a.js": "", "b.js": ""},
			Problem{Kind: "unavailable", Message: "gone.js does not exist.", File: "gone.js"},
			"",
		},
		"memory": {
			"a.js",
			map[string]string{"a.js": "const all = []; for (;;) all.push(new Array(10000).fill(all.length));"},
			Problem{Kind: "memory", Message: "ran out of its 64 MB"},
			"",
		},
		"endless loop": {
			"a.js",
			map[string]string{"a.js": "for (;;);"},
			Problem{Kind: "deadline", Message: "still computing after 500ms", File: "a.js"},
			"",
		},
		"endless microtasks": {
			"a.js",
			map[string]string{
				"a.js": "const f = () => { Promise.resolve().then(f) }; f(); await new Promise(() => {})",
			},
			Problem{Kind: "deadline", Message: "still computing after 500ms", File: "a.js"},
			"",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, test.entry, test.files, withConfig(func(c *Config) {
				c.LoadBusyMS = 20_000
				if test.want.Kind == "deadline" {
					c.LoadBusyMS = 500
				}
			}))
			got := problemOf(t, err)
			want := test.want
			if got.Kind != want.Kind || got.Type != want.Type || got.File != want.File ||
				!strings.Contains(got.Message, want.Message) ||
				!strings.Contains(got.Hint, want.Hint) || !slices.Equal(got.Missing, want.Missing) ||
				!strings.Contains(got.Frame, test.frame) {
				t.Errorf("problem = %+v\nwant      %+v, frame %q", got, want, test.frame)
			}
			if want.Line != 0 && got.Line != want.Line || want.Column != 0 && got.Column != want.Column {
				t.Errorf("place = %d:%d, want %d:%d", got.Line, got.Column, want.Line, want.Column)
			}
		})
	}
}

func TestAWorkerThatDidNotLoadSaysWhatWasLogged(t *testing.T) {
	p, err := open(t, "a.js", map[string]string{"a.js": `console.log("nearly there"); throw new Error("no")`})
	if e := (*wire.LoadError)(nil); !errors.As(err, &e) {
		t.Fatalf("err = %v", err)
	}
	p.waitExit() // then all it wrote was read
	if got := p.stderr.String(); !strings.Contains(got, "info: nearly there") {
		t.Errorf("stderr = %q", got)
	}
}

func TestAPluginWithoutABackendHasNoTools(t *testing.T) {
	p := load(t, "", map[string]string{"frontend.js": "x", "spindle.json": "{}"})
	if got := p.names(); len(got) != 0 {
		t.Errorf("tools = %v", got)
	}
}

func TestAnIdleLoopEndsTheWorker(t *testing.T) {
	p := script(t, handler(`setTimeout(() => { for (;;); }, 1); return "armed"`),
		withConfig(func(c *Config) { c.IdleBusyMS = 200 }))
	if got := p.call("t", meta{}, nil); got.text != "armed" {
		t.Fatalf("answered %+v", got)
	}
	if code := p.waitExit(); code != 3 {
		t.Errorf("exit = %d", code)
	}
	if got := p.stderr.String(); !strings.Contains(got, "although nobody had called it") {
		t.Errorf("stderr = %q", got)
	}
}

func TestFramesOfMinifiedLinesStayShort(t *testing.T) {
	line := strings.Repeat("a;", 5000) + "BAD" + strings.Repeat(";b", 5000)
	got := wire.Frame("x\n"+line+"\ny", 2, 10001)
	for l := range strings.Lines(got) {
		if len(l) > 200 {
			t.Errorf("a line of the frame has %d bytes", len(l))
		}
	}
	lines := strings.Split(got, "\n")
	if at := strings.Index(lines[1], "BAD"); at < 0 || strings.Index(lines[2], "^") != at {
		t.Errorf("frame = %s", got)
	}
}

func TestNestedSourceIsRefusedInsteadOfEndingTheWorker(t *testing.T) {
	n := 300_000
	for name, text := range map[string]string{
		"brackets": strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"braces":   strings.Repeat("{", n) + strings.Repeat("}", n),
		"not":      strings.Repeat("!", n) + "1",
		"arrows":   strings.Repeat("a=>", n) + "1",
		"ternary":  strings.Repeat("a?", n) + "1" + strings.Repeat(":1", n),
		"elements": strings.Repeat("<a>", n),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, "a.tsx", map[string]string{"a.tsx": text})
			if got := problemOf(t, err); got.Message != "This file nests too deeply to build." {
				t.Errorf("problem = %+v", got)
			}
		})
	}
}
