package maibot_test

import (
	"testing"

	"conclave/app/plugin/python/pythontest"
)

// BenchmarkMaiBotStartToListed is a cold process of a small MaiBot plugin, with
// the packages of this machine's Python: the real pydantic, where it is installed,
// takes most of it.
func BenchmarkMaiBotStartToListed(b *testing.B) {
	pythontest.StartToListed(b, one(b), folder(b, class(look), nil, nil))
	b.ReportMetric(300, "budget")
}

// BenchmarkMaiBotIdleMemory measures such a process at rest, without the
// packages of this machine; it has an event loop from the start.
func BenchmarkMaiBotIdleMemory(b *testing.B) {
	d := one(b)
	pythontest.IdleMemory(b, func() *pythontest.Worker {
		w := serve(b, d, look)
		inChat(w, "look", `{"city":"x"}`)
		return w
	})
	b.ReportMetric(10, "MB-pss-budget")
}
