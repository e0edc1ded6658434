package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

// A MaiBot plugin has its data files and the person's settings with it, and none of
// the names that are not counted; not even packages in a folder of its own.
func TestAMaiBotPluginSeesWhatWasApprovedAndItsSettings(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.write("small/data/words.json", `"data"`)
	c.write("small/config.toml", "[g]\ncount = 2\n")
	c.plant("small", ".py", "EVIL = 'ran'\n")
	c.write("small/.venv/lib/python3.99/site-packages/evil.py", "EVIL = 'ran'\n")
	c.maibotTree("small", `@Tool("say")
async def say(self, **kwargs):
    import json, os, sys
    here = os.path.dirname(__file__)
    try:
        import evil
        return evil.EVIL
    except ImportError:
        pass
    try:
        with open(os.path.join(`+fmt.Sprintf("%q", filepath.Join(c.dir, "small"))+`, ".h", "evil.py")) as file:
            return file.read()
    except OSError:
        pass
    with open(os.path.join(here, "data", "words.json")) as data, open(os.path.join(here, "config.toml")) as settings:
        return json.load(data) + " " + str("count = 2" in settings.read())`)
	c.until("small waiting", func(u plugin.Update) bool { return u.Plugin == "small" && u.State == plugin.NeedsApproval })
	must(t, plugintest.Approve(t.Context(), c.host, "small", false))
	c.answers("small:say", "{}", "data True")
	// Settings are the person's: an edit of them is no update.
	must(t, os.WriteFile(filepath.Join(c.dir, "small", "config.toml"), []byte("[g]\ncount = 22\n"), 0o600))
	must(t, c.host.Reload("small"), c.host.WaitIdle(t.Context()))
	c.answers("small:say", "{}", "data True")
	// Its data is not: what differs waits.
	c.write("small/data/words.json", `"a stranger's"`)
	c.becomes("small", plugin.Quarantined)
	c.answers("small:say", "{}", "data True")
}
