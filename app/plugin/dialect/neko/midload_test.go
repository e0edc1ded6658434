package neko_test

import (
	"testing"
)

func TestNK07NothingIsAnsweredWhileTheStartIsUnderWay(t *testing.T) {
	t.Parallel()
	w := serve(t, aPython(t), `
@lifecycle(id="startup")
async def begin(self):
    self.data_path("begun").write_text("")
    while not self.data_path("go").exists():
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    self.register_llm_tool(name="late", description="A late one.", handler=self.state)

@llm_tool()
async def state(self):
    return "ready"
`)
	tools := w.HeldUntil("data/begun", "data/go")
	tool(t, tools, "state")
	tool(t, tools, "late")
	says(t, w.Call("late", ""), "ready")
}
