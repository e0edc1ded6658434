package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

// uncounted are names inside a plugin's folder that no digest counts; %s is the
// ending of a source file.
var uncounted = []string{
	".h/evil%s", ".evil%s", "node_modules/evil%s", "bower_components/evil%s", "__pycache__/evil%s", "venv/evil%s",
	".venv/lib/python3/site-packages/evil%s",
	"evil%s~", "#evil%s#", "~evil%s", "evil%s.swp", "evil%s.swx", "evil%s.swo", "evil%s.part", "evil%s.crdownload",
	"evil%s___jb_tmp___",
	"evil.tmp", "evil%s.tmp.4711", "4913", "Thumbs.db", ".git/hooks/evil%s",
}

// plant writes text into every uncounted name below the folder of a plugin, and a
// link that leads out of it.
func (c *core) plant(folder, ending, text string) {
	c.t.Helper()
	for _, name := range uncounted {
		if strings.Contains(name, "%s") {
			name = fmt.Sprintf(name, ending)
		}
		c.write(folder+"/"+name, text)
	}
	outside := filepath.Join(c.t.TempDir(), "out"+ending)
	must(c.t, os.WriteFile(outside, []byte(text), 0o600))
	link := filepath.Join(c.dir, folder, "out"+ending)
	_ = os.Remove(link)
	must(c.t, os.Symlink(outside, link))
}

// reaching is a plugin that runs every file it can find below its own folder and
// below the one that a person knows, whatever it is called, and says which did.
const reaching = `import importlib.util, importlib.machinery, os, runpy, sys

from . import lib

def reach(folder: str) -> str:
    """Runs what can be reached.

    Args:
        folder: where to look besides
    """
    ran = []
    here = os.path.dirname(os.path.abspath(__file__))
    for top in (here, folder, os.path.join(folder, "..", "..")):
        for at, _, names in os.walk(top, followlinks=True):
            for name in names:
                path = os.path.join(at, name)
                for loader in (importlib.machinery.SourceFileLoader, importlib.machinery.SourcelessFileLoader):
                    try:
                        spec = importlib.util.spec_from_file_location("x", path, loader=loader("x", path))
                        module = importlib.util.module_from_spec(spec)
                        spec.loader.exec_module(module)
                        ran.append(module.EVIL)
                    except BaseException:
                        pass
    for name in ("evil", ".h.evil", "node_modules.evil", "__pycache__.evil", "venv.evil"):
        for path in (here, folder):
            sys.path.insert(0, os.path.join(path, *name.split(".")[:-1]))
            try:
                ran.append(importlib.import_module("evil").EVIL)
            except BaseException:
                pass
    return " ".join(ran) or "nothing"

def known() -> str:
    """Says what it is."""
    return lib.WHAT
`

func TestNoUncountedNameOfAPythonPluginRuns(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.write(".reach/__init__.py", reaching)
	c.write(".reach/lib.py", "WHAT = 'approved'\n")
	c.plant(".reach", ".py", "EVIL = 'ran'\n")
	c.write(".reach/evil.pyc", "EVIL = 'ran'\n")
	c.appears("reach")
	c.until("reach waiting", func(u plugin.Update) bool { return u.Plugin == "reach" && u.State == plugin.NeedsApproval })
	must(t, plugintest.Approve(t.Context(), c.host, "reach", false))
	folder := fmt.Sprintf(`{"folder":%q}`, filepath.Join(c.dir, "reach"))
	c.answers("reach:known", "{}", "approved")
	// Where it looked in vain is said after its answer.
	const nothing = "nothing\n\nThe plugin reach may not read files in "
	c.begins("reach:reach", folder, nothing)

	// What is changed after the yes and not counted is no update, and runs as little.
	c.plant("reach", ".py", "EVIL = 'ran later'\n")
	must(t, c.host.Reload("reach"), c.host.WaitIdle(t.Context()))
	c.begins("reach:reach", folder, nothing)

	// What is counted is an update, which waits; the approved files go on, in a new
	// process too.
	c.write("reach/lib.py", "WHAT = 'a stranger'\n")
	c.becomes("reach", plugin.Quarantined)
	c.answers("reach:known", "{}", "approved")
	c.begins("reach:reach", folder, nothing)
	c.end()
	c = open(t, c.dir, c.data)
	c.becomes("reach", plugin.Quarantined)
	c.answers("reach:known", "{}", "approved")
	c.begins("reach:reach", folder, nothing)
}

func TestNoUncountedNameOfAnExtensionRuns(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	imports := []string{"./out.js"}
	for _, name := range uncounted {
		if strings.Contains(name, "%s") {
			name = fmt.Sprintf(name, ".js")
		}
		imports = append(imports, "./"+name, "./"+strings.TrimSuffix(name, ".js"))
	}
	c.write("ext/dist/backend.js", fmt.Sprintf(`import { what } from "../lib.js";
spindle.registerTool({ name: "reach", description: "Runs what can be reached.", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.on("TOOL_INVOCATION", async () => {
  const ran = [what];
  for (const name of %q.split("|")) {
    try { const m = await import("../" + name); ran.push(m.EVIL); } catch {}
    try { const r = await fetch(new URL("../" + name, import.meta.url)); if (r.ok) ran.push(await r.text()); } catch {}
  }
  return ran.join(" ");
});
`, strings.Join(imports, "|")))
	c.write("ext/lib.js", `export const what = "approved";`+"\n")
	c.plant("ext", ".js", `export const EVIL = "ran";`+"\n")
	c.write("ext/spindle.json",
		`{"identifier":"ext","name":"Ext","version":"1.0.0","author":"a","github":"https://example.com/a","homepage":"https://example.com","description":"d","permissions":["tools"]}`)
	c.until("ext waiting", func(u plugin.Update) bool { return u.Plugin == "ext" && u.State == plugin.NeedsApproval })
	must(t, plugintest.Approve(t.Context(), c.host, "ext", false))
	c.answers("ext:reach", "{}", "approved")
	c.plant("ext", ".js", `export const EVIL = "ran later";`+"\n")
	must(t, c.host.Reload("ext"), c.host.WaitIdle(t.Context()))
	c.answers("ext:reach", "{}", "approved")
	c.write("ext/lib.js", `export const what = "a stranger";`+"\n")
	c.becomes("ext", plugin.Quarantined)
	c.answers("ext:reach", "{}", "approved")
}

// The bytes of a first yes, restored after another version was approved, run again
// without a second one.
func TestRestoredBytesRunAgainWithoutASecondYes(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	first := "def what() -> str:\n    \"\"\"Says what it is.\"\"\"\n    return 'one'\n"
	second := strings.Replace(first, "one", "two", 1)
	for i, text := range []string{first, second} {
		c.replace("words.py", text)
		c.becomes("words", []plugin.State{plugin.NeedsApproval, plugin.Quarantined}[i])
		must(t, plugintest.Approve(t.Context(), c.host, "words", false), c.host.WaitIdle(t.Context()))
	}
	c.answers("words:what", "{}", "two")
	must(t, c.host.WaitIdle(t.Context()))
	c.seen = nil
	for len(c.updates) > 0 {
		<-c.updates
	}
	c.replace("words.py", first)
	c.becomes("words", plugin.Ready)
	c.answers("words:what", "{}", "one")
}
