package worker

import (
	"bytes"
	"fmt"
	"time"
)

// rate bounds what a process may send in the long run, and at once.
type rate struct {
	bytes, burstBytes float64
	lines, burstLines float64
}

// String says the rate for a person.
func (r rate) String() string {
	return fmt.Sprintf("%.0f KiB or %.0f lines a second", r.bytes/1024, r.lines)
}

var (
	// logRate bounds standard error: no person reads this much, and a traceback
	// or a long listing fits the burst many times over.
	logRate = rate{bytes: 1 << 20, burstBytes: 8 << 20, lines: 5000, burstLines: 50000}
	// outputRate bounds standard output: more than a worker that answers small
	// calls as fast as it can, and than results of the largest size, four a
	// second.
	outputRate = rate{bytes: 16 << 20, burstBytes: 128 << 20, lines: 20000, burstLines: 200000}
)

// meter is a token bucket of bytes and one of lines. It belongs to one goroutine.
type meter struct {
	rate  rate
	now   func() time.Time
	last  time.Time
	bytes float64 // left
	lines float64
}

func newMeter(r rate, now func() time.Time) *meter {
	return &meter{rate: r, now: now, last: now(), bytes: r.burstBytes, lines: r.burstLines}
}

// over takes data in account and reports whether it was too much.
func (m *meter) over(data []byte) bool {
	now := m.now()
	passed := now.Sub(m.last).Seconds()
	m.last = now
	m.bytes = min(m.rate.burstBytes, m.bytes+passed*m.rate.bytes) - float64(len(data))
	m.lines = min(m.rate.burstLines, m.lines+passed*m.rate.lines) - float64(bytes.Count(data, []byte{'\n'}))
	return m.bytes < 0 || m.lines < 0
}
