package hosttest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// offHold writes a plugin of a dialect, with a tool that never answers and goes on
// beside, and one that answers "fine".
func (c *core) offHold(dialect string) {
	c.t.Helper()
	switch dialect {
	case "Python":
		c.write("on.py", `import os, threading, time

def beside():
    n = 0
    while True:
        n += 1
        with open(os.path.join(os.environ["HOME"], "ticks"), "w") as f:
            f.write(str(n))
        time.sleep(0.01)

def hold() -> str:
    """Never answer."""
    threading.Thread(target=beside).start()
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass

def fine() -> str:
    """Answer."""
    return "fine"
`)
	case "an extension":
		c.write("on.js", `const tool = (name) => spindle.registerTool({ name, description: name, inline_available: true,
  parameters: { type: "object", properties: {} } });
tool("hold");
tool("fine");
let n = 0;
const settles = [];
spindle.on("TOOL_INVOCATION", (call) => {
  if (call.toolName === "fine") return "fine";
  const tick = async () => { for (;;) await spindle.storage.write("ticks", String(++n)); };
  void tick();
  let turns = 0;
  setInterval(() => { turns++; }, 1);
  const again = () => setTimeout(again, 0);
  again();
  for (let i = 0; i < 100; i++) settles.push(new Promise(() => {}).finally(() => spindle.storage.write("after", "x")));
  return new Promise(() => {});
});
`)
	case "MaiBot":
		c.maibotTree("on", `
@Tool("fine", description="Answer.")
async def fine(self, **kwargs):
    return "fine"

@Tool("hold", description="Never answer.")
async def hold(self, **kwargs):
    import asyncio, os, threading, time
    def beside():
        n = 0
        while True:
            n += 1
            with open(os.path.join(os.environ["HOME"], "ticks"), "w") as f:
                f.write(str(n))
            time.sleep(0.01)
    threading.Thread(target=beside).start()
    while True:
        try:
            await asyncio.sleep(60)
        except BaseException:
            pass`)
	case "N.E.K.O":
		c.nekoTree("on", `
@llm_tool(description="Answer.")
async def fine(self):
    return "fine"

@llm_tool(description="Never answer.")
async def hold(self):
    import asyncio, threading, time
    def beside():
        n = 0
        while True:
            n += 1
            with open(os.path.join(os.environ["HOME"], "ticks"), "w") as f:
                f.write(str(n))
            time.sleep(0.01)
    threading.Thread(target=beside).start()
    while True:
        try:
            await asyncio.sleep(60)
        except BaseException:
            pass`)
	}
}

// ticks returns what the plugin wrote while it went on beside.
func (c *core) ticks() (text string) {
	_ = filepath.WalkDir(filepath.Join(c.data, "storage", "on"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "ticks" {
			written, _ := os.ReadFile(path)
			text += string(written)
		}
		return nil // files come and go beside
	})
	return text
}

// Whatever a plugin holds, waits for or has planned ends when it is switched off: calls under
// way, promises that never settle, timers and threads; and a set of tools that was made before
// leads to none of it.
func TestAttackAPluginThatIsSwitchedOffGoesOn(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"Python", "an extension", "MaiBot", "N.E.K.O"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			c := open(t, t.TempDir(), t.TempDir())
			c.offHold(dialect)
			c.approved("on")
			c.answers("on:fine", "{}", "fine")
			set := c.tools.Set() // of a turn that goes on
			fine, _ := set.ByID("on:fine")
			ended := make(chan tool.Result, 1)
			go func() { ended <- c.call("on:hold", "{}") }() // ends with the plugin
			testkit.Until(t, "it goes on beside its call", func() bool { return c.ticks() != "" })

			must(t, c.host.SetEnabled(t.Context(), "on", false))
			held := <-ended
			if held.Status == chat.CallOK || !strings.Contains(held.Error, "switched the plugin off") {
				t.Errorf("the call that never answers ended %s: %q", held.Status, held.Error)
			}
			testkit.Until(t, "its process to be gone", func() bool { return c.launcher.Running() == 0 })
			at, started := c.ticks(), c.launcher.Started()
			invoker, _ := set.Invoker("on:fine")
			later, err := invoker.Call(t.Context(), tool.Call{
				ID: "later", Tool: fine, Arguments: json.RawMessage("{}"), Deadline: time.Now().Add(patience),
			})
			must(t, err)
			if later.Status == chat.CallOK || !strings.Contains(later.Error, "switched off") {
				t.Errorf("a call of a set that was made before came to %s: %q", later.Status, later.Error)
			}
			if n := c.tools.Set().Len(); n != 0 {
				t.Errorf("%d tools are offered", n)
			}
			t.Logf("stopped by: %s / %s", held.Error, later.Error)

			c.end()
			now, _ := strconv.Atoi(c.ticks())
			if n, _ := strconv.Atoi(at); now > n+1 { // one was on its way
				t.Errorf("it went on: %d, then %d", n, now)
			}
			before := c
			c = open(t, before.dir, before.data) // a restart starts nothing of it
			c.becomes("on", plugin.Disabled)
			must(t, c.host.WaitIdle(t.Context()))
			if n := c.launcher.Started(); n != 0 || before.launcher.Started() != started {
				t.Errorf("%d processes were started after a restart, %d before it", n, before.launcher.Started()-started)
			}
			must(t, c.host.SetEnabled(t.Context(), "on", true), c.host.WaitIdle(t.Context()))
			c.answers("on:fine", "{}", "fine")
			c.end()
		})
	}
}
