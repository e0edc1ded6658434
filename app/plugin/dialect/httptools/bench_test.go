package httptools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin/dialect/httptools"
	"conclave/app/test/testkit"
)

// BenchmarkCall measures a call of a registered tool above what its callback takes when it
// is asked without Conclave: the record, the gate, the wire, and the look at who answers.
func BenchmarkCall(b *testing.B) {
	c := newBench(b)
	s := saying(b, "ok")
	c.register("x", s.URL, its(nil))
	c.trust()
	_, err := c.gate.Rules.Add(b.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "p-" + s.port(), Tool: "*", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always,
	})
	must(b, err)
	body := []byte(`{"name":"x","arguments":{},"call_id":"1","raw_arguments":"{}"}`)
	alone := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var above []time.Duration
	for b.Loop() {
		began := time.Now()
		resp, err := alone.Post(s.URL, "application/json", bytes.NewReader(body))
		must(b, err)
		_, err = io.Copy(io.Discard, resp.Body)
		must(b, err, resp.Body.Close())
		callback := time.Since(began)
		began = time.Now()
		c.says(s.id("x"), "ok")
		above = append(above, time.Since(began)-callback)
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(above, 50)), "ms-above-p50")
}

// BenchmarkRestore measures 1,000 registrations from the store to what models are offered:
// read, their addresses looked at, and published.
func BenchmarkRestore(b *testing.B) {
	c := newBench(b)
	s := saying(b, "ok")
	records := map[string]json.RawMessage{}
	for i := range 1000 {
		id, raw := httptools.RecordOf(fmt.Sprintf("tool_%d", i), s.URL, fmt.Sprintf("plugin:p%d", i%8), uint64(i+1))
		records[id] = raw
	}
	must(b, c.store.Plugins.ChangeRegistrations(b.Context(), records))
	c.restart()
	c.trust()
	if n := len(c.offered()); n != 1000 {
		b.Fatalf("%d are offered", n)
	}
	var took []time.Duration
	for b.Loop() {
		c.restart()
		took = append(took, c.restored)
		if n := len(c.offered()); n != 1000 {
			b.Fatalf("%d are offered", n)
		}
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 50)), "ms-p50")
}
