package neko_test

import (
	"testing"

	"conclave/app/plugin/python/pythontest"
)

const greeter = `
@llm_tool()
async def greet(self, name: str = "you"):
    return "Hello, " + name
`

// BenchmarkNekoStartToListed is a cold process of a small N.E.K.O plugin.
func BenchmarkNekoStartToListed(b *testing.B) {
	pythontest.StartToListed(b, aPython(b), folder(b, greeter, nil).Path)
	b.ReportMetric(200, "budget")
}

// BenchmarkNekoIdleMemory measures such a process at rest; it has an event
// loop from the start.
func BenchmarkNekoIdleMemory(b *testing.B) {
	pythontest.IdleMemory(b, func() *pythontest.Worker {
		w := serve(b, aPython(b), greeter)
		w.List()
		w.Call("greet", "{}")
		return w
	})
	b.ReportMetric(10, "MB-pss-budget")
}
