package wire

import (
	"sync"
	"time"
)

// AskingEvent tells a worker that a person is asked for what its calls do, and that they
// answered; its payload is an Asking.
const AskingEvent = "conclave.asking"

// Asking is one question to a person. A call that is open when it begins has MS more
// milliseconds to answer, and MS fewer once it is over.
type Asking struct {
	ID   int64 `json:"id"`
	Over bool  `json:"over"`
	MS   int64 `json:"ms"`
}

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
	at    time.Time
	asked map[int64]bool // the questions that it stands still for
}

// Start returns a clock that runs out at a time.
func (k *Clocks) Start(at time.Time) *Clock {
	c := &Clock{of: k, timer: time.NewTimer(time.Until(at)), at: at, asked: map[int64]bool{}}
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

// Move moves the clocks that run for one question.
func (k *Clocks) Move(a Asking) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.open {
		if c.asked[a.ID] != a.Over { // it began later, or was moved already
			continue
		}
		by := time.Duration(a.MS) * time.Millisecond
		if c.asked[a.ID] = !a.Over; a.Over {
			by = -by
			delete(c.asked, a.ID)
		}
		c.at = c.at.Add(by)
		c.timer.Reset(time.Until(c.at))
	}
}
