package deliberation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/council"
)

// clock tells for how long some work stood still since a person was asked about it: that is
// no time of its member's, nor of its run's. It is safe for concurrent use.
type clock struct {
	now   func() time.Time
	moved func() // is called when it stops, and when it goes on; must not block

	mu    sync.Mutex    // guards the fields below
	asked int           // how many questions wait for the person
	since time.Time     // when the first of them was asked
	stood time.Duration // before that
}

// asking stops the clock until the function returned is called.
func (c *clock) asking() (answered func()) {
	c.add(1)
	return sync.OnceFunc(func() { c.add(-1) })
}

func (c *clock) add(questions int) {
	defer c.moved()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == 0 {
		c.since = c.now()
	}
	if c.asked += questions; c.asked == 0 {
		c.stood += c.now().Sub(c.since)
	}
}

// still returns for how long it stood still, and whether it does now.
func (c *clock) still() (stood time.Duration, stands bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == 0 {
		return c.stood, false
	}
	return c.stood + c.now().Sub(c.since), true
}

// underWay is the work on an attempt.
type underWay struct {
	cancel context.CancelCauseFunc
	clock  *clock
	began  time.Time
	most   time.Duration // what is left of its member's time; negative is no bound
	late   bool          // its time was over, so it was cancelled; the loop's alone
	// reading is since when its model was asked and has said nothing, in nanoseconds since 1970;
	// 0 when it is not waited for.
	reading atomic.Int64
}

// silenceTime is how long a member's model may say nothing where the member has no time of its
// own: one server that hangs does not hold up all who wait for their place. It is what servers
// of the network have (app/llm), and enough to load a model.
const silenceTime = 2 * time.Minute

// hears takes note of what can be seen of the work.
func (w *underWay) hears(v council.Live, now time.Time) {
	switch v.Phase {
	case council.Reading:
		w.reading.Store(now.UnixNano())
	case "": // nothing new
	default:
		w.reading.Store(0)
	}
}

// silent returns when its model has said nothing for too long, if it is waited for.
func (w *underWay) silent() (time.Time, bool) {
	since := w.reading.Load()
	return time.Unix(0, since).Add(silenceTime), since != 0 && w.most < 0 && !w.late
}

// due returns when the loop is to cancel the work, if that is known now.
func (w *underWay) due() (time.Time, bool) {
	at, bounded := w.over()
	return at, bounded && !w.late
}

// over returns when the time of the work is over, if that is known now. It is safe for concurrent
// use, as the context is that asks for it.
func (w *underWay) over() (time.Time, bool) {
	stood, stands := w.clock.still()
	return w.began.Add(w.most + stood), w.most >= 0 && !stands
}

// timed is the context of an attempt. It says when its member's time is over, for whoever
// would wait for longer than that; the loop ends it then.
type timed struct {
	context.Context
	w *underWay
}

// Deadline implements context.Context.
func (t timed) Deadline() (time.Time, bool) {
	if at, bounded := t.w.over(); bounded {
		return at, true
	}
	return t.Context.Deadline()
}
