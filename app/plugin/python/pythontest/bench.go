package pythontest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

// StartToListed measures a cold worker of the plugin at path, from the spec to a
// listed tool set, in milliseconds: ms-p50 and ms-p95.
func StartToListed(b *testing.B, d plugin.Dialect, path string) {
	b.Helper()
	src := Source(b, path)
	m, err := d.Recognize(b.Context(), src)
	if err != nil || m == nil {
		b.Fatalf("Recognize: %v, %v", m, err)
	}
	var took []time.Duration
	for n := range max(b.N, 20) {
		start := plugin.StartOptions{Storage: b.TempDir(), Runtime: programtest.Dir, Work: programtest.Dir}
		began := time.Now()
		spec, err := d.Spec(b.Context(), src, *m, start)
		testkit.Must(b, err)
		w := Begin(b, spec, start.Storage)
		w.List()
		if n > 0 { // the first one unpacks the modules
			took = append(took, time.Since(began))
		}
		testkit.Must(b, w.Ended())
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms-p95")
	b.ReportMetric(0, "ns/op")
}

// IdleMemory measures what each of ten workers that rest takes, its share of what
// they share counted, in megabytes: MB-pss. serve starts one, which has answered a
// call.
func IdleMemory(b *testing.B, serve func() *Worker) {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("only Linux reports the memory of a process without what it shares")
	}
	const many = 10
	var all []*Worker
	for range many {
		all = append(all, serve())
	}
	total := 0
	for _, w := range all {
		total += pss(b, w.Cmd.Process.Pid)
	}
	b.ReportMetric(float64(total)/many/1024, "MB-pss")
	b.ReportMetric(0, "ns/op")
}

// pss is the proportional set size of a process in KiB.
func pss(b *testing.B, pid int) int {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	testkit.Must(b, err)
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			testkit.Must(b, err)
			return n
		}
	}
	b.Fatalf("the memory of process %d is not reported", pid)
	return 0
}
