package terminal

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// desk lets one question at a time onto the screen. Lines that are printed meanwhile appear after
// the answer. The zero value is ready. It is safe for concurrent use.
type desk struct {
	mu   sync.Mutex
	free chan struct{} // closed when the open question is answered; nil: no question is open
	held []string
}

// take waits until no question is open, and opens the caller's until give. The error is ctx's
// cause.
func (d *desk) take(ctx context.Context) error {
	for {
		d.mu.Lock()
		free := d.free
		if free == nil {
			d.free = make(chan struct{})
			d.mu.Unlock()
			return nil
		}
		d.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// give closes the open question and prints the lines that waited.
func (d *desk) give(w io.Writer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range d.held {
		fmt.Fprintln(w, line)
	}
	close(d.free)
	d.free, d.held = nil, nil
}

// say prints a line when no question is open.
func (d *desk) say(w io.Writer, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.free != nil {
		d.held = append(d.held, line)
		return
	}
	fmt.Fprintln(w, line)
}
