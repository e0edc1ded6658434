package plugintest

import (
	"context"
	"sync"

	"conclave/app/plugin/sandbox"
)

// Counted is a launcher that counts what it starts. Use it in front of a real
// one. It is safe for concurrent use.
type Counted struct {
	sandbox.Launcher

	mu        sync.Mutex // guards what follows
	processes []sandbox.Process
	meanwhile func()
}

// Meanwhile has do called at the next start: once the host has looked at what the process may
// use, and before its sandbox is put up.
func (c *Counted) Meanwhile(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meanwhile = do
}

// Start implements sandbox.Launcher.
func (c *Counted) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Process, error) {
	c.mu.Lock()
	meanwhile := c.meanwhile
	c.meanwhile = nil
	c.mu.Unlock()
	if meanwhile != nil {
		meanwhile()
	}
	p, err := c.Launcher.Start(ctx, spec)
	if err == nil {
		c.mu.Lock()
		c.processes = append(c.processes, p)
		c.mu.Unlock()
	}
	return p, err
}

// Started returns how many processes were started.
func (c *Counted) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.processes)
}

// Crash ends the process that was started last, as a crash would, and returns once
// it is gone.
func (c *Counted) Crash() {
	c.mu.Lock()
	last := c.processes[len(c.processes)-1]
	c.mu.Unlock()
	last.Kill()
	<-last.Done()
}

// Running returns how many of them have not been reaped.
func (c *Counted) Running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, p := range c.processes {
		select {
		case <-p.Done():
		default:
			n++
		}
	}
	return n
}
