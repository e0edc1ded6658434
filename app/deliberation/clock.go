package deliberation

import (
	"context"
	"sync"
	"time"
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
