package render

import (
	"testing"
	"time"
)

// stream renders text in n deltas, asking for patches after each, and returns
// the time and the bytes of HTML that the window would get.
func stream(text string, n int) (time.Duration, int) {
	pieces := deltas(text, n)
	sent := 0
	start := time.Now()
	var s Stream
	for _, piece := range pieces {
		s.Append(piece)
		for _, p := range s.Patches() {
			sent += len(p.HTML)
		}
	}
	s.Finish()
	for _, p := range s.Patches() {
		sent += len(p.HTML)
	}
	return time.Since(start), sent
}

// BenchmarkStream renders a reply of 20,000 characters in 834 deltas, and
// reports what that costs compared with rendering the whole again at each of them
// (the budget is 10 %), per delta, and in bytes for the window per delta.
func BenchmarkStream(b *testing.B) {
	const size, n = 20_000, 834
	text := reply(size)
	Render(text) // what is made once
	var streamed, whole time.Duration
	sent := 0
	for b.Loop() {
		took, bytes := stream(text, n)
		streamed += took
		sent = bytes
		start := time.Now()
		var prefix int
		for _, piece := range deltas(text, n) {
			prefix += len(piece)
			Render(text[:prefix])
		}
		whole += time.Since(start)
	}
	b.ReportMetric(100*float64(streamed)/float64(whole), "%-of-whole")
	b.ReportMetric(float64(streamed.Microseconds())/float64(b.N*n), "µs/delta")
	b.ReportMetric(float64(sent)/n, "HTML-bytes/delta")
}

// BenchmarkDeltaCost reports how much more a delta costs in a reply of 20,000
// characters than in one of 2,000 (the budget is 1.5), and in longer ones.
func BenchmarkDeltaCost(b *testing.B) {
	perDelta := func(size int) float64 {
		text := reply(size)
		n := size / 24
		took, _ := stream(text, n)
		return float64(took) / float64(n)
	}
	perDelta(20_000)
	var short, long, longer float64
	for b.Loop() {
		for range 10 { // as many deltas as the long one has
			short += perDelta(2_000) / 10
		}
		long += perDelta(20_000)
		longer += perDelta(200_000)
	}
	b.ReportMetric(long/short, "20k/2k")
	b.ReportMetric(longer/short, "200k/2k")
	b.ReportMetric(long/float64(b.N)/1000, "µs/delta")
}

// BenchmarkOneBlock is BenchmarkStream for replies that are a single block. What
// rendering the whole at every delta would cost is told from one delta in 40.
func BenchmarkOneBlock(b *testing.B) {
	const size, n, sample = 20_000, 834, 40
	for name, text := range longTexts(size) {
		b.Run(name, func(b *testing.B) {
			var streamed, whole time.Duration
			for b.Loop() {
				took, _ := stream(text, n)
				streamed += took
				start := time.Now()
				for i := sample; i <= n; i += sample {
					Render(text[:len(text)*i/n])
				}
				whole += sample * time.Since(start)
			}
			b.ReportMetric(100*float64(streamed)/float64(whole), "%-of-whole")
			b.ReportMetric(float64(streamed.Microseconds())/float64(b.N*n), "µs/delta")
		})
	}
}

// BenchmarkRender renders a whole reply, as opening a chat does.
func BenchmarkRender(b *testing.B) {
	text := reply(20_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Render(text)
	}
}
