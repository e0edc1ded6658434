package client

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// clock ends a call that gives no sign of life, or that takes too long in all.
type clock struct {
	silence time.Duration
	end     context.CancelCauseFunc
	longest *time.Timer

	mu    sync.Mutex // guards all below
	timer *time.Timer
	holds int // questions that the person has not answered
	over  bool
}

// newClock returns a clock that is running, and the context that it ends. Stop it.
func newClock(ctx context.Context, silence, longest time.Duration) (context.Context, *clock) {
	ctx, end := context.WithCancelCause(ctx)
	c := &clock{silence: silence, end: end}
	c.timer = time.AfterFunc(silence, func() {
		end(fmt.Errorf("%w: no sign of life for %s", ErrTimeout, silence))
	})
	c.longest = time.AfterFunc(longest, func() {
		end(fmt.Errorf("%w: the call was not over after %s", ErrTimeout, longest))
	})
	return ctx, c
}

// alive notes a sign of life.
func (c *clock) alive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over && c.holds == 0 {
		c.timer.Reset(c.silence)
	}
}

// hold stops the clock until release: the person is asked.
func (c *clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds++
	c.timer.Stop()
}

func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds--
	if !c.over && c.holds == 0 {
		c.timer.Reset(c.silence)
	}
}

// unlimited lifts the bound on the whole call: it runs as a task.
func (c *clock) unlimited() { c.longest.Stop() }

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
	c.longest.Stop()
	c.end(nil)
}
