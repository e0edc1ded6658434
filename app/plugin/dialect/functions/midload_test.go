package functions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/testkit"
)

// slow awaits something while it loads.
const slow = `
import asyncio, llm, conclave

class Slow(llm.Toolbox):
    async def prepare_async(self):
        folder = conclave.storage_dir()
        (folder / "begun").write_text("")
        while not (folder / "go").exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        self.add_tool(late)

def late() -> str:
    """A late one."""
    return "late"

@llm.hookimpl
def register_tools(register):
    register(Slow)
`

func TestLF44NothingIsAnsweredWhileAToolboxIsBeingPrepared(t *testing.T) {
	t.Parallel()
	w := launch(t, aPython(t), source(t, filepath.Join(files(t, map[string]string{"plug.py": slow}), "plug.py")))
	tools := w.HeldUntil("begun", "go")
	equal(t, "tools", strings.Join(names(tools), " "), "late")
	equal(t, "answer", w.Call("late", "{}").Text(), "late")
}

func TestLF06ALoadThatAwaitsForEverIsGivenUp(t *testing.T) {
	t.Parallel()
	src := source(t, filepath.Join(files(t, map[string]string{"plug.py": slow}), "plug.py"))
	got, _ := pythontest.GivesUp(t, aPython(t), src)
	equal(t, "kind", got.Kind, "deadline")
}

func TestAnInputThatEndsWhileAToolboxIsBeingPreparedEndsTheWorkerAfterIt(t *testing.T) {
	t.Parallel()
	w := launch(t, aPython(t), source(t, filepath.Join(files(t, map[string]string{"plug.py": slow}), "plug.py")))
	testkit.Appears(t, filepath.Join(w.Storage, "begun"))
	_ = w.In.Close()
	must(t, os.WriteFile(filepath.Join(w.Storage, "go"), nil, 0o600))
	if err := w.Ended(); err != nil {
		t.Errorf("it ended with %v\n%s", err, w.Stderr)
	}
}
