//go:build linux

package hosttest

import (
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/test/programtest"
)

func TestHundredsOfThreadsFitAndTheLimitIsNamedWhenItIsMet(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", `
import json, threading
from concurrent.futures import ThreadPoolExecutor

def pool(size: int) -> int:
    "Run as many at once."
    barrier = threading.Barrier(size)
    with ThreadPoolExecutor(size) as pool:
        try:
            return len(list(pool.map(lambda _: barrier.wait(), range(size))))
        except RuntimeError:
            barrier.abort()
            raise

def deep() -> str:
    "Go as deep as Python allows, in a thread of its own."
    said = []
    def down(n):
        return down(n + 1)
    def go():
        try:
            down(0)
        except RecursionError:
            said.append("recursion")
        value = []
        for _ in range(900):
            value = [value]
        said.append(str(len(json.dumps(value))))
    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    return " ".join(said)
`)
	c.approved("notes")
	c.answers("notes:pool", `{"size":250}`, "250")
	c.answers("notes:deep", `{}`, "recursion 1802")
	r := c.call("notes:pool", `{"size":900}`)
	const want = "the stacks of the threads that it has fill the 256 MiB of memory of its process"
	if r.Status != chat.CallRaised || !strings.Contains(r.Error, want) {
		t.Errorf("900 threads: %s %q, want %q", r.Status, r.Error, want)
	}
}
