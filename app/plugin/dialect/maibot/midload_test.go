package maibot_test

import (
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/python/pythontest"
)

func TestMB01NothingIsAnsweredWhileOnLoadIsUnderWay(t *testing.T) {
	t.Parallel()
	w := begin(t, one(t), folder(t, class(`
async def on_load(self):
    import asyncio
    folder = self.ctx.paths.data_dir
    (folder / "begun").write_text("")
    while not (folder / "go").exists():
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    self.ready = "ready"

@Tool("state")
async def state(self, **kwargs):
    return self.ready
`), nil, nil), plugin.StartOptions{})
	tools := w.HeldUntil("data/begun", "data/go")
	is(t, "tools", pythontest.Names(tools), []string{"state"})
	is(t, "answer", inChat(w, "state", "{}").Text(), "ready")
}
