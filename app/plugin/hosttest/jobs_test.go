package hosttest

import (
	"strings"
	"testing"

	"conclave/app/test/testkit"
)

// background are plugins whose job tick fails until their tool repair is called.
var background = map[string]struct {
	write func(c *core)
	job   string // as the card names it
}{
	"neko": {func(c *core) {
		c.nekoTree("neko", `
from plugin.sdk.plugin import timer_interval
ok = False

@timer_interval(id="tick", seconds=0.02)
def tick(self):
    if not self.ok:
        raise RuntimeError("no answer\nfrom there")

@llm_tool()
async def look(self):
    return "there"

@llm_tool()
async def repair(self):
    self.ok = True
    return "repaired"`)
	}, "timer tick"},
	"maibot": {func(c *core) {
		c.maibotTree("maibot", `
async def on_load(self):
    self.ok = False
    import asyncio
    self.task = asyncio.create_task(self.tick())

async def tick(self):
    if not self.ok:
        raise RuntimeError("no answer\nfrom there")

@Tool("look")
async def look(self, **kwargs):
    return "there"

@Tool("repair")
async def repair(self, **kwargs):
    import asyncio
    self.ok = True
    self.task = asyncio.create_task(self.tick())
    await asyncio.wait({self.task})
    return "repaired"`)
	}, "task Plugin.tick"},
	"spindle": {func(c *core) {
		c.write("spindle.js", `
let ok = false;
setInterval(async function tick() { if (!ok) throw new Error("no answer\nfrom there"); }, 20);
for (const name of ["look", "repair"]) {
  spindle.registerTool({ name, description: "Do it.", parameters: { type: "object", properties: {} } });
}
spindle.on("TOOL_INVOCATION", async ({ toolName }) => {
  if (toolName === "look") return "there";
  ok = true;
  return "repaired";
});
`)
	}, "timer tick"},
	"functions": {func(c *core) {
		c.write("functions.py", `
import threading

def tick():
    raise RuntimeError("no answer\nfrom there")

def look() -> str:
    "Look."
    threading.Thread(target=tick, name="tick").start()
    return "there"
`)
	}, "thread tick"},
}

func TestAJobOfTheBackgroundThatFailsIsOnTheCardUntilItWorksAgain(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	for id, b := range background {
		b.write(c)
		c.approved(id)
	}
	for id, b := range background {
		t.Run(id, func(t *testing.T) {
			card := func() string {
				s, err := c.host.Status(id)
				must(t, err)
				return strings.Join(s.Notes, "\n")
			}
			c.answers(id+":look", "{}", "there") // it runs from now on
			testkit.Until(t, "the failure on the card", func() bool { return strings.Contains(card(), "failed") })
			said := card()
			for _, want := range []string{"Its " + b.job + " failed", " at ", "Error: no answer from there. Its log has more."} {
				if !strings.Contains(said, want) {
					t.Errorf("the card has no %q: %s", want, said)
				}
			}
			if id != "functions" {
				if id != "maibot" { // its task runs once
					testkit.Until(t, "the number of failures", func() bool {
						return strings.Contains(card(), "times since it was started, last at ")
					})
				}
				c.answers(id+":repair", "{}", "repaired")
				testkit.Until(t, "a card without it", func() bool { return !strings.Contains(card(), "failed") })
			}
		})
	}
}
