package wire

import (
	"sync"
	"time"
)

// AskingEvent tells a worker that a person is asked for what its calls do, and that they
// answered; its payload is an Asking.
const AskingEvent = "conclave.asking"

// Asking is one question to a person. The time of the calls that are open when it begins
// stands still until it is over, or until MS milliseconds have passed.
type Asking struct {
	ID   int64 `json:"id"`
	Over bool  `json:"over"`
	MS   int64 `json:"ms"`
}

// MaxStill limits how long the time of one call stands still, however many questions it is: a
// plugin that asks again and again may not hold its place, and its memory, for good. Three
// questions that nobody answers take as long.
const MaxStill = 30 * time.Minute

// Clocks has the deadlines of the open calls of one process, so that a person who is asked
// takes no time of theirs. The zero value is ready. It is safe for concurrent use.
type Clocks struct {
	mu   sync.Mutex
	open map[*Clock]struct{}
}

// Clock is the deadline of one call. Stop it when the call is over.
type Clock struct {
	of    *Clocks
	timer *time.Timer
	moved func(time.Time)
	at    time.Time      // when it runs out, without the questions of asked
	asked map[int64]bool // the questions that it stands still for
	since time.Time      // when the first of them began
	spare time.Duration  // how long it may still stand still
}

// Start returns a clock that runs out at a time. moved, if it is not nil, gets each time that
// takes the place of that one, in order; it must neither wait nor call back.
func (k *Clocks) Start(at time.Time, moved func(time.Time)) *Clock {
	c := &Clock{
		of: k, timer: time.NewTimer(time.Until(at)), moved: moved, at: at, asked: map[int64]bool{}, spare: MaxStill,
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		k.open = map[*Clock]struct{}{}
	}
	k.open[c] = struct{}{}
	return c
}

// Over gets the time when the clock has run out.
func (c *Clock) Over() <-chan time.Time { return c.timer.C }

// Stop ends the clock.
func (c *Clock) Stop() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	delete(c.of.open, c)
	c.timer.Stop()
}

// Move stops the clocks that run when a question begins, and has them run again once all
// questions that they stand still for are over.
func (k *Clocks) Move(a Asking) {
	now := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.open {
		if c.asked[a.ID] == a.Over { // else it began later, or was moved already
			c.moveLocked(a, now)
		}
	}
}

func (c *Clock) moveLocked(a Asking, now time.Time) {
	if !a.Over {
		if len(c.asked) == 0 {
			c.since = now
		}
		c.asked[a.ID] = true
		still := now.Sub(c.since) + time.Duration(a.MS)*time.Millisecond // its end may never be heard of
		c.setLocked(c.at.Add(min(still, c.spare)))
		return
	}
	if delete(c.asked, a.ID); len(c.asked) > 0 {
		return
	}
	stood := min(now.Sub(c.since), c.spare)
	c.spare -= stood
	c.at = c.at.Add(stood)
	c.setLocked(c.at)
}

func (c *Clock) setLocked(at time.Time) {
	c.timer.Reset(time.Until(at))
	if c.moved != nil {
		c.moved(at)
	}
}
