package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// busyFactor limits how many times its time a load may take in all, where the computer is too busy to
// run it: a minute instead of ten seconds, for which a person waits before they look.
const busyFactor = 6

// busyKind is the kind of the problem of a load that the computer had no time for. It says nothing
// of the plugin, so that it is not remembered, and is tried again.
const busyKind = "busy"

// loadClock measures what a load takes of its time: not that in which its process waited for a
// processor, which others had, nor that before there is a process.
type loadClock struct {
	limit time.Duration
	end   context.CancelCauseFunc
	timer *time.Timer
	begun time.Time // of all of it

	mu      sync.Mutex // guards the fields below
	process interface{ Usage() sandbox.Usage }
	from    time.Time     // since when the process is followed
	waited  time.Duration // for a processor, by then
}

type loadClockKey struct{}

func loadClockOf(ctx context.Context) *loadClock {
	clock, _ := ctx.Value(loadClockKey{}).(*loadClock)
	return clock
}

// boundLoad bounds what a plugin may take from its start to a listed tool set. Within a load it is
// the bound of that.
func boundLoad(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if loadClockOf(ctx) != nil {
		return ctx, func() {}
	}
	clock := &loadClock{limit: limit, begun: time.Now()}
	ctx, clock.end = context.WithCancelCause(context.WithValue(ctx, loadClockKey{}, clock))
	clock.mu.Lock()
	clock.timer = time.AfterFunc(busyFactor*clock.limit, clock.expire)
	clock.mu.Unlock()
	return ctx, func() {
		clock.timer.Stop()
		clock.end(nil)
	}
}

// follow begins to measure the time of a process, unless one is measured; nil is a plugin without one.
// c may be nil.
func (c *loadClock) follow(process interface{ Usage() sandbox.Usage }) {
	if c == nil {
		return
	}
	if process == nil {
		process = noProcess{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		c.process, c.from, c.waited = process, time.Now(), process.Usage().Waited
		c.timer.Reset(c.leftLocked())
	}
}

// noProcess uses nothing.
type noProcess struct{}

// Usage returns nothing.
func (noProcess) Usage() sandbox.Usage { return sandbox.Usage{} }

func (c *loadClock) leftLocked() time.Duration {
	all := busyFactor*c.limit - time.Since(c.begun)
	if c.process == nil {
		return all
	}
	return min(all, c.limit-c.ownLocked())
}

// ownLocked returns the time that the load itself took.
func (c *loadClock) ownLocked() time.Duration {
	return time.Since(c.from) - (c.process.Usage().Waited - c.waited)
}

// expire ends the load, unless it has time left.
func (c *loadClock) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.leftLocked(); left > 0 {
		c.timer.Reset(left)
		return
	}
	if c.process == nil || c.ownLocked() < c.limit {
		c.end(&plugin.Problem{
			Kind:    busyKind,
			Message: fmt.Sprintf("The computer was too busy to load it within %s.", fault.Seconds(busyFactor*c.limit)),
			Hint:    "It is tried again; close what keeps the computer busy, or reload the plugin later.",
		})
		return
	}
	p := &plugin.Problem{
		Kind:    "deadline",
		Message: fmt.Sprintf("It did not load within %s.", fault.Seconds(c.limit)),
		Hint:    "Look for a loop or a long wait where the file is loaded, outside its functions.",
	}
	if c.process == (noProcess{}) { // it has no file either
		p.Message = fmt.Sprintf("It did not answer within %s.", fault.Seconds(c.limit))
		p.Hint = "Check its address and the network, then reload it."
	}
	c.end(p)
}

// timeLeft is the answer to a process that asks how much of its time to load is left: it sees no
// other processes, and so not that it waits for them.
type timeLeft struct {
	MS int64 `json:"ms"`
}

// left returns what the process has left before it should say where it is stuck, a little before
// it is given up. One that is given up since the computer is too busy is stuck nowhere.
func (c *loadClock) left() timeLeft {
	if c == nil {
		return timeLeft{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.limit - c.limit/10
	if c.process != nil {
		left -= c.ownLocked()
	}
	return timeLeft{left.Milliseconds()}
}
