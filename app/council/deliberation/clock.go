package deliberation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/council"
)

// clock measures how long some work waited for a person's answers. That time counts neither for the
// member nor for the run. It is safe for concurrent use.
type clock struct {
	now   func() time.Time
	moved func() // called when the clock stops and when it goes on; must not block

	mu    sync.Mutex    // guards the fields below
	asked int           // number of open questions
	since time.Time     // when the first of them was asked
	stood time.Duration // total of earlier waits
}

// asking stops the clock until the returned function is called.
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

// still returns how long the clock stood in total, and whether it stands now.
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
	most   time.Duration // the rest of its member's time; negative is unlimited
	late   bool          // it was cancelled because its time was over; used by the loop only
	// reading is the time at which its model was asked, in nanoseconds since 1970, while it has not answered; else 0.
	reading atomic.Int64
}

// silenceTime bounds the silence of a member's model where the member has no limit of time, so that
// one hanging server does not hold up all others. app/model uses the same time for servers of the
// network; it is enough to load a model.
const silenceTime = 2 * time.Minute

// observe records the progress of the work.
func (w *underWay) observe(v council.Live, now time.Time) {
	switch v.Phase {
	case council.Reading:
		w.reading.Store(now.UnixNano())
	case "": // nothing new
	default:
		w.reading.Store(0)
	}
}

// due returns when the loop must cancel the work, and why; why is nil where that is not known now.
func (w *underWay) due() (at time.Time, why error) {
	at, bounded := w.over()
	since := w.reading.Load()
	switch {
	case w.late:
		return at, nil
	case bounded:
		return at, errMemberTime
	case w.most < 0 && since != 0: // its model is awaited
		return time.Unix(0, since).Add(silenceTime), errSilent
	}
	return at, nil
}

// over returns the deadline of the work, if that is known now. It is safe for concurrent use, because
// contexts are.
func (w *underWay) over() (time.Time, bool) {
	stood, stands := w.clock.still()
	return w.began.Add(w.most + stood), w.most >= 0 && !stands
}

// timed is the context of an attempt. Its deadline is that of the member, for callers that would wait
// longer; the loop enforces it.
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
