package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/gate"
	"conclave/app/test/testkit"
	"conclave/store"
)

// first is the plugin of which the others are copies. Its source does not name it, so that they have its digest.
const first = "words0000"

// openMany is a program whose plugins folder holds n approved Python plugins. One was approved by its person;
// the others have copies of its file, its record and its approval.
func openMany(b *testing.B, n int) *program {
	b.Helper()
	p := emptyProgram(b, "../../../build/bin/conclave")
	p.writePlugins(1)
	p.run("plugins", "trust", first)
	if n == 1 {
		return p
	}
	st, err := store.Open(b.Context(), store.Options{Dir: p.data})
	must(b, err)
	defer func() { must(b, st.Close()) }()
	record, err := st.Plugins.PluginCache(b.Context(), first)
	must(b, err)
	approvals, err := st.Permissions.Approvals(b.Context())
	must(b, err)
	approval, err := json.Marshal(approvals[0])
	must(b, err)
	copies, err := filepath.Glob(filepath.Join(p.data, "last-good", first, "*"))
	must(b, err)
	p.writePlugins(n)
	for i := 1; i < n; i++ {
		id := pluginID(i)
		named := func(raw []byte) []byte { return []byte(strings.ReplaceAll(string(raw), first, id)) }
		must(b, st.Plugins.PutPluginCache(b.Context(), id, named(record)))
		var a gate.Approval
		must(b, json.Unmarshal(named(approval), &a))
		must(b, st.Permissions.PutApproval(b.Context(), a))
		folder := filepath.Join(p.data, "last-good", id, filepath.Base(copies[0]))
		must(b, os.MkdirAll(folder, 0o700))
		must(b, os.WriteFile(filepath.Join(folder, id+".py"), []byte(wordCount), 0o600))
	}
	return p
}

func pluginID(i int) string { return fmt.Sprintf("words%04d", i) }

// writePlugins puts n plugins into the plugins folder.
func (p *program) writePlugins(n int) {
	for i := range n {
		must(p.tb, os.WriteFile(filepath.Join(p.data, "plugins", pluginID(i)+".py"), []byte(wordCount), 0o600))
	}
}

// BenchmarkAThousandApprovedPlugins measures the processor time of commands with 1,000 approved plugins, which are
// as they were, next to the same with one. Where that takes 12 ms, the budget is 0.48 s, for which a machine of two
// cores that does nothing else needs 0.3 s.
func BenchmarkAThousandApprovedPlugins(b *testing.B) {
	many, one := openMany(b, 1000), openMany(b, 1)
	if out, _ := many.run("tools", "list"); strings.Count(out, "ready") != 1000 {
		b.Fatalf("%d tools are ready", strings.Count(out, "ready"))
	}
	for name, args := range map[string][]string{
		"tools_list": {"tools", "list"}, "prompt": {"prompt", "-m", "demo/guide", "--no-save", "Hi."},
	} {
		b.Run(name, func(b *testing.B) {
			var spent [2][]time.Duration
			for range max(b.N, 7) {
				for i, p := range []*program{many, one} {
					spent[i] = append(spent[i], p.processorTime(args...))
				}
			}
			besideOne(b, spent, 40)
		})
	}
}

// BenchmarkFiveHundredNewPlugins measures the processor time of the first list of 500 new Python plugins, which
// are read for it, next to that of one.
func BenchmarkFiveHundredNewPlugins(b *testing.B) {
	var spent [2][]time.Duration
	for range max(b.N, 3) {
		for i, n := range []int{500, 1} {
			p := emptyProgram(b, "../../../build/bin/conclave")
			p.writePlugins(n)
			spent[i] = append(spent[i], p.processorTime("plugins", "list"))
		}
	}
	besideOne(b, spent, 20)
}

// processorTime runs a command to its end, which must be a good one, and returns its processor time.
func (p *program) processorTime(args ...string) time.Duration {
	c := p.command(args...)
	if out, err := c.CombinedOutput(); err != nil {
		p.tb.Fatalf("conclave %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// besideOne reports the middle of many plugins as a multiple of that of one.
func besideOne(b *testing.B, spent [2][]time.Duration, budget float64) {
	b.Helper()
	many, one := testkit.Percentile(spent[0], 50), testkit.Percentile(spent[1], 50)
	b.ReportMetric(float64(many)/float64(one), "times-of-one")
	b.ReportMetric(budget, "times-of-one-budget")
	b.ReportMetric(0, "ns/op")
	b.Logf("many: %.0f ms of processor, one: %.0f ms", testkit.Milliseconds(many), testkit.Milliseconds(one))
}
