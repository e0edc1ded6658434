package hosttest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/plugin"
)

// maibotTree is a MaiBot plugin of that folder whose class has this body.
func (c *core) maibotTree(folder, body string) {
	c.t.Helper()
	c.write(folder+"/plugin.py", "from maibot_sdk import MaiBotPlugin, Tool\n\nclass Plugin(MaiBotPlugin):\n"+
		"    "+strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n    ")+"\n\ndef create_plugin():\n    return Plugin()\n")
	// The manifest comes last: it makes a plugin of the folder.
	c.write(folder+"/_manifest.json", maibotManifest(folder))
}

// approved lets a new plugin run and waits until it does.
func (c *core) approved(id string) {
	c.t.Helper()
	c.until(id+" waiting", func(u plugin.Update) bool { return u.Plugin == id && u.State == plugin.NeedsApproval })
	must(c.t, c.host.Scan(), c.host.WaitIdle(c.t.Context())) // all of it was read
	c.trust(id)
	must(c.t, c.host.WaitIdle(c.t.Context()))
	if s, err := c.host.Status(id); err != nil || s.State != plugin.Ready {
		c.t.Fatalf("%s is %s: %+v, %v", id, s.State, s.Problem, err)
	}
}

func TestLF17MB32MB33NK42NamesThatNoProviderTakesAndTwoOfOneNameLeadBack(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	for _, folder := range []string{"north", "south"} {
		c.maibotTree(folder, `
@Tool("look")
async def look(self, **kwargs):
    return "`+folder+`"

@Tool("查 天气")
async def weather(self, **kwargs):
    return "晴 `+folder+`"
`)
	}
	c.nekoTree("dotted", "@llm_tool(name=\"a.b\")\nasync def one(self):\n    return \"dotted\"")
	c.write("given.py",
		"import llm\n\ndef f():\n    \"Given.\"\n    return \"given\"\n\n@llm.hookimpl\ndef register_tools(register):\n"+
			"    register(f, name=\"given name\")\n    register(f, name=\""+strings.Repeat("long", 30)+"\")\n")
	for _, id := range []string{"north", "south", "dotted", "given"} {
		c.approved(id)
	}
	set := c.tools.Set()
	legal := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	seen := map[string]string{}
	for id, want := range map[string]string{
		"north:look": "north", "south:look": "south", "north:查 天气": "晴 north", "south:查 天气": "晴 south",
		"dotted:a.b": "dotted", "given:given name": "given", "given:" + strings.Repeat("long", 30): "given",
	} {
		t.Run(id, func(t *testing.T) {
			found, ok := set.ByID(id)
			if !ok || !legal.MatchString(found.WireName) || seen[found.WireName] != "" {
				t.Fatalf("it is offered as %q, which is that of %q", found.WireName, seen[found.WireName])
			}
			seen[found.WireName] = id
			if back, _ := set.ByWire(found.WireName); back.ID() != id {
				t.Errorf("%q leads to %q", found.WireName, back.ID())
			}
			c.answers(id, "{}", want)
		})
	}
}

func TestMB50AProcessThatIsKilledInACallIsStartedAgain(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.maibotTree("frail", `
@Tool("die")
async def die(self, **kwargs):
    import asyncio, os, signal
    await asyncio.sleep(0)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", 9))

@Tool("live")
async def live(self, **kwargs):
    return "alive"
`)
	c.approved("frail")
	c.answers("frail:live", "{}", "alive")
	before := c.launcher.Started()
	if r := c.call("frail:die", "{}"); r.Status != chat.CallDied || !strings.Contains(r.Error, "ended") {
		t.Errorf("got %s %q", r.Status, r.Error)
	}
	c.answers("frail:live", "{}", "alive")
	if n := c.launcher.Started() - before; n != 1 {
		t.Errorf("%d processes were started for it, want 1", n)
	}
}

func TestMB69AnEditReloadsThatPluginAndABrokenOneKeepsTheOldAnswering(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	body := func(answer string) string {
		return "@Tool(\"say\")\nasync def say(self, **kwargs):\n    return \"" + answer + "\""
	}
	c.maibotTree("edited", body("one"))
	c.maibotTree("other", body("other"))
	c.approved("edited")
	c.approved("other")
	c.answers("edited:say", "{}", "one")
	c.answers("other:say", "{}", "other")
	other, err := c.host.Status("other")
	must(t, err)

	c.maibotTree("edited", body("two"))
	c.until("the edit being served", func(u plugin.Update) bool {
		return u.Plugin == "edited" && u.State == plugin.Ready && u.Generation == 2
	})
	c.answers("edited:say", "{}", "two")

	c.write("edited/plugin.py", "def create_plugin(:\n    pass\n")
	u := c.becomes("edited", plugin.Failed)
	if u.Problem == nil || u.Problem.File != "plugin.py" || u.Problem.Line != 1 {
		t.Errorf("the problem is %+v", u.Problem)
	}
	c.answers("edited:say", "{}", "two")
	c.answers("other:say", "{}", "other")
	if now, err := c.host.Status("other"); err != nil || now.Generation != other.Generation {
		t.Errorf("the other one was reloaded: %d, then %d; %v", other.Generation, now.Generation, err)
	}
	// What the plugin's Python left beside its code is no edit of it.
	entries, err := os.ReadDir(c.dir + "/edited")
	must(t, err)
	for _, e := range entries {
		if e.Name() == "__pycache__" {
			t.Error("bytecode was written beside the plugin")
		}
	}
}
