package functions_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

const wordCount = `"""Count."""


def word_count(text: str) -> int:
    """Count the words of a text.

    Args:
        text: What to count.
    """
    return len(text.split())
`

// withAsync has an async function too, so that its worker imports asyncio.
const withAsync = wordCount + `

async def later(text: str) -> int:
    """Count them on the event loop."""
    return len(text.split())
`

// percentiles reports the median and the 95th percentile in milliseconds.
func percentiles(b *testing.B, took []time.Duration) {
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 50)), "p50-ms")
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 95)), "p95-ms")
}

// BenchmarkStartToListed is a cold worker from fork to a listed tool set. The
// aim is a median under 45 ms (issue budget: a whole prompt in 120 ms).
func BenchmarkStartToListed(b *testing.B) {
	d := aPython(b)
	src := source(b, filepath.Join(files(b, map[string]string{"word_count.py": wordCount}), "word_count.py"))
	m, err := d.Recognize(b.Context(), src)
	must(b, err)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		spec, err := d.Spec(b.Context(), src, *m, plugin.StartOptions{
			Storage: b.TempDir(), Runtime: programtest.Dir, Work: programtest.Dir,
		})
		must(b, err)
		w := pythontest.Begin(b, spec, programtest.Dir)
		w.List()
		took = append(took, time.Since(began))
		must(b, w.Ended())
	}
	percentiles(b, took)
}

// BenchmarkCall is one call of a running worker over its pipe, from a raw
// client. The aim is a median under 0.5 ms.
func BenchmarkCall(b *testing.B) {
	for _, name := range []string{"word_count", "later"} {
		b.Run(name, func(b *testing.B) {
			w := serve(b, aPython(b), withAsync)
			w.Call(name, `{"text":"a b c"}`)
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				began := time.Now()
				w.Answered(w.Ask(name, fmt.Sprintf(`{"text":"a b c %d"}`, n), due(time.Minute)))
				took = append(took, time.Since(began))
			}
			percentiles(b, took)
		})
	}
}

// BenchmarkInspect reads a file without running it.
func BenchmarkInspect(b *testing.B) {
	d := aPython(b)
	src := source(b, filepath.Join(files(b, map[string]string{"word_count.py": wordCount}), "word_count.py"))
	m, err := d.Recognize(b.Context(), src)
	must(b, err)
	for b.Loop() {
		if _, err := d.Inspect(b.Context(), src, *m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdleMemory measures a worker of one function at rest.
func BenchmarkIdleMemory(b *testing.B) {
	d := aPython(b)
	pythontest.IdleMemory(b, func() *pythontest.Worker {
		w := serve(b, d, wordCount)
		w.Call("word_count", `{"text":"a b c"}`)
		return w
	})
	b.ReportMetric(10, "MB-pss-budget")
}
