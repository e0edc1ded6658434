package engine

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// fiveKB is a script of about five kilobytes with one tool.
func fiveKB() string {
	var b strings.Builder
	for i := 0; b.Len() < 4700; i++ {
		fmt.Fprintf(&b, "function sum%d(list) { return list.map((x) => x * %d).filter((x) => x %% 3 !== 0).reduce((a, b) => a + b, 0); }\n", i, i)
	}
	return b.String() + handler(`return sum1([1, 2, 3])`)
}

// BenchmarkStartToListed measures from the start of the process to its tools.
// The target is 40 ms at the median for a script of 5 KB.
func BenchmarkStartToListed(b *testing.B) {
	for name, entry := range map[string]string{"js": "plugin.js", "ts": "plugin.ts"} {
		b.Run(name, func(b *testing.B) {
			text := fiveKB()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				p := load(b, entry, map[string]string{entry: text})
				if len(p.tools()) != 1 {
					b.Fatal("no tool")
				}
				took = append(took, time.Since(start))
				_ = p.session.Close()
				<-p.exited
			}
			report(b, took)
		})
	}
}

// BenchmarkRoundTrip measures one call through the SDK's client, the wire and a
// real process. The target is 1 ms at the median.
func BenchmarkRoundTrip(b *testing.B) {
	p := script(b, fiveKB())
	p.call("t", meta{}, nil)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		p.call("t", meta{"a": 1}, nil)
		took = append(took, time.Since(start))
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(0, "ns/op")
}

// The window must hold neither the engine nor the bundler: what the host imports
// of a Spindle plugin does not lead here (style: rings of imports).
func TestTheHostDoesNotImportTheEngine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "list", "-deps", "conclave/app/plugin/spindle").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for _, banned := range []string{"spindle/engine", "modernc.org/quickjs", "evanw/esbuild"} {
		if strings.Contains(string(out), banned) {
			t.Errorf("it imports %s", banned)
		}
	}
}
