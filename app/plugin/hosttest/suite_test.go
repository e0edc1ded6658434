package hosttest

import (
	"strings"
	"testing"

	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/plugintest"
)

const pythonSource = `import asyncio, pathlib, time
import conclave

def echo(text: str):
    "The tool echo."
    return text

def fail():
    "The tool fail."
    raise ValueError("no such thing")

def spin():
    "The tool spin."
    while True: pass

async def hold(ms: int):
    "The tool hold."
    await asyncio.sleep(ms / 1000)
    return "one"

def keep(text: str):
    "The tool keep."
    (conclave.storage_dir() / "note.txt").write_text(text)
    return "kept"

def noise():
    "The tool noise."
    print("Hello, I print things.")
    return "quiet"
`

func TestPythonFunctionsHoldToTheSuite(t *testing.T) {
	plugintest.Suite(t, plugintest.Subject{
		Dialect: functions.New(interpreters(t)), Launcher: launcher(t), Name: "subject.py", Foreign: "other.js",
		Source: pythonSource, Changed: strings.ReplaceAll(pythonSource, `"one"`, `"two"`),
		Broken: "def f():\n    return 1\n\ndef g(:\n    pass\n", BrokenLine: 4,
		Throws: "import math\n\ndef g():\n    raise ValueError('no such thing')\n\ng()\n", ThrowsLine: 4,
		Endless: "def f(): ...\nwhile True: pass\n",
	})
}

const scriptSource = `spindle.registerTool({ name: "echo", display_name: "echo", description: "The tool echo.", parameters: { type: "object", properties: { text: { type: "string" } } } });
spindle.registerTool({ name: "fail", display_name: "fail", description: "The tool fail.", parameters: { type: "object", properties: {} } });
spindle.registerTool({ name: "spin", display_name: "spin", description: "The tool spin.", parameters: { type: "object", properties: {} } });
spindle.registerTool({ name: "hold", display_name: "hold", description: "The tool hold.", parameters: { type: "object", properties: { ms: { type: "integer" } } } });
spindle.registerTool({ name: "keep", display_name: "keep", description: "The tool keep.", parameters: { type: "object", properties: { text: { type: "string" } } } });
spindle.registerTool({ name: "noise", display_name: "noise", description: "The tool noise.", parameters: { type: "object", properties: {} } });

spindle.on("TOOL_INVOCATION", async ({ toolName, args }) => {
  switch (toolName) {
    case "echo": return args.text;
    case "fail": throw new Error("no such thing");
    case "spin": for (;;) {}
    case "hold": await new Promise((done) => setTimeout(done, args.ms)); return "one";
    case "keep": await spindle.storage.write("note.txt", args.text); return "kept";
    case "noise": console.log("Hello, I print things."); return "quiet";
  }
});
`

func TestSpindleScriptsHoldToTheSuite(t *testing.T) {
	l := launcher(t)
	plugintest.Suite(t, plugintest.Subject{
		Dialect: script(t, l, t.TempDir()), Launcher: l, Name: "subject.js", Foreign: "other.py",
		Source: scriptSource, Changed: strings.ReplaceAll(scriptSource, `"one"`, `"two"`),
		Broken: "const a = 1;\n\nlet b = = 2;\n", BrokenLine: 3,
		Throws: "const a = 1;\nfunction f() {\n  throw new Error('no such thing');\n}\nf();\n", ThrowsLine: 3,
		Endless: "for (;;) {}\n",
	})
}

func TestTypeScriptHoldsToTheSuite(t *testing.T) {
	l := launcher(t)
	source := "type Any = any;\nconst typed: Any = 1;\n" + scriptSource
	plugintest.Suite(t, plugintest.Subject{
		Dialect: script(t, l, t.TempDir()), Launcher: l, Name: "subject.ts", Foreign: "other.py",
		Source: source, Changed: strings.ReplaceAll(source, `"one"`, `"two"`),
		Broken: "const a: number = 1;\n\nlet b: string = = 2;\n", BrokenLine: 3,
		Throws:     "interface A { b: number }\nfunction f(): never {\n  throw new Error('no such thing');\n}\nf();\n",
		ThrowsLine: 3,
		Endless:    "const a: number = 1;\nfor (;;) {}\n",
	})
}
