package hosttest

import (
	"testing"

	"conclave/app/test/testkit"
)

// kinds are the tools of everyKind, one of each kind of plugin.
var kinds = []string{"words:count", "hello:greet", "small:say", "little:say"}

// everyKind opens a host over a folder of one approved plugin of each kind.
func everyKind(t testing.TB) *core {
	t.Helper()
	c := open(t, t.TempDir(), t.TempDir())
	c.write("words.py", words)
	c.write("hello.js", greet("hello"))
	c.maibotTree("small", "@Tool(\"say\")\nasync def say(self, **kwargs):\n    return \"small\"")
	c.nekoTree("little", "@llm_tool()\nasync def say(self):\n    return \"little\"")
	for _, id := range []string{"words", "hello", "small", "little"} {
		c.approved(id)
	}
	c.offers(kinds...)
	return c
}

// offers waits until the set holds these tools.
func (c *core) offers(ids ...string) {
	c.t.Helper()
	for _, id := range ids {
		testkit.Until(c.t, id+" being offered", func() bool {
			_, ok := c.tools.Set().ByID(id)
			return ok
		})
	}
}

func TestAStartWithUnchangedPluginsStartsNoProcess(t *testing.T) {
	t.Parallel()
	c := everyKind(t)
	c.end()
	c = open(t, c.dir, c.data)
	c.offers(kinds...)
	must(t, c.host.WaitIdle(t.Context()))
	if n := c.launcher.Started(); n != 0 {
		t.Errorf("%d processes were started", n)
	}
	c.answers("small:say", "{}", "small")
	c.answers("little:say", "{}", "little")
	if n := c.launcher.Started(); n != 2 {
		t.Errorf("two calls started %d processes", n)
	}
}
