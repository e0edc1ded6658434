package engine

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/plugin/dialect/spindle/job"
)

// still is an engine that leaves no jobs behind and remembers whether it was
// interrupted.
type still struct {
	vm
	interrupted bool
}

func (s *still) Interrupt() { s.interrupted = true }

func (*still) Drain() (bool, error) { return false, nil }

// A cancelled call is ended for what it computes. On a busy machine its entry may
// last for seconds without having had its turn. The clock is the bubble's: no test
// here waits.
func TestACancelledCallIsEndedForWhatItComputes(t *testing.T) {
	tests := map[string]struct {
		counted bool          // whether the processor's time is known
		used    time.Duration // of it, for a second of the clock
		left    bool          // the entry ends after a second
		ended   bool
	}{
		"an entry without its turn":             {counted: true},
		"one that had a little of it":           {counted: true, used: cancelGrace / 10},
		"one that computes":                     {counted: true, used: time.Second, ended: true},
		"one that computes for half the time":   {counted: true, used: time.Second / 2, ended: true},
		"one that ended meanwhile":              {counted: true, used: cancelGrace / 2, left: true},
		"the processor's time is not known":     {ended: true},
		"it is not known, and it ends too late": {left: true, ended: true},
		"an entry without its turn, that ended": {counted: true, left: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := &still{}
				w := newWorker(context.Background(), job.Config{}, engine, io.Discard)
				begin := time.Now()
				w.loop.cpu = func() (time.Duration, bool) {
					return time.Duration(time.Since(begin).Seconds() * float64(test.used)), test.counted
				}
				w.loop.entered.Store(1)
				w.stopComputing("t")
				time.Sleep(time.Second)
				if test.left {
					w.loop.entered.Store(0)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if ended := w.loop.stopped(); ended != test.ended || engine.interrupted != test.ended {
					t.Errorf("ended = %v, interrupted = %v, want %v", ended, engine.interrupted, test.ended)
				}
				if test.ended && !strings.Contains(w.loop.why.Error(), `"t" was cancelled and went on computing`) {
					t.Errorf("why = %v", w.loop.why)
				}
				w.loop.end(context.Canceled)
				w.wg.Wait()
			})
		})
	}
}

// An entry that nobody called for is watched the same way, and a second one
// is not charged with the first.
func TestTheGuardCountsWhatAnEntryComputes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(&still{})
		var used, long atomic.Int64
		l.cpu = func() (time.Duration, bool) { return time.Duration(used.Load()), true }
		l.guard(time.Second, func() bool { long.Add(1); return false })
		for range 3 { // without its turn: a minute of the clock, half a second of the processor's
			l.enter(func() { time.Sleep(time.Minute); used.Add(int64(time.Second / 2)) })
		}
		if n := long.Load(); n != 0 {
			t.Errorf("called %d times for entries without their turn", n)
		}
		l.enter(func() { used.Add(int64(time.Second)); time.Sleep(2 * time.Second) })
		if n := long.Load(); n != 1 {
			t.Errorf("called %d times for an entry that computed", n)
		}
	})
}
