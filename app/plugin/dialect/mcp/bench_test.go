package mcp_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/test/testkit"
)

// BenchmarkFiveHundredTools measures 20 servers with 25 tools each: listed, checked and offered again, with all of
// their sessions begun again, and from the store, as a start of Conclave does it without starting one.
func BenchmarkFiveHundredTools(b *testing.B) {
	c := newBench(b)
	servers, ids := map[string]any{}, []string{}
	var asked atomic.Int32
	at := web(b, "", &asked).URL
	for i := range 20 {
		name := fmt.Sprint("server", i)
		servers[name] = map[string]any{"url": at + "/mcp?tools=25&server=" + name}
		ids = append(ids, "w-"+name)
	}
	c.save("w.mcp.json", servers)
	c.approve(ids...)
	offered := func() {
		b.Helper()
		if n := c.tools.Set().Len(); n != 500 {
			b.Fatalf("%d tools are offered", n)
		}
	}
	var cold, stored []time.Duration
	for range max(b.N, 5) {
		began := time.Now()
		for _, id := range ids {
			must(b, c.host.Reload(id))
		}
		must(b, c.host.WaitIdle(b.Context()))
		offered()
		cold = append(cold, time.Since(began))
		c.close()
		c.open()
		began = time.Now()
		c.scan()
		offered()
		stored = append(stored, time.Since(began))
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(cold, 50)), "cold-ms")
	b.ReportMetric(300, "cold-ms-budget")
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(stored, 50)), "stored-ms")
	b.ReportMetric(20, "stored-ms-budget")
	b.ReportMetric(0, "ns/op")
}
