package host

import (
	"sync"

	"conclave/app/plugin"
)

// updates passes reloads on to whoever listens. It is safe for concurrent use.
type updates struct {
	mu        sync.Mutex
	listeners map[chan plugin.Update]struct{}
}

// maxBehind limits how many updates a listener may be behind before it loses the oldest.
const maxBehind = 256

// listen returns a channel of updates from now on, and a function that stops it.
func (l *updates) listen() (<-chan plugin.Update, func()) {
	c := make(chan plugin.Update, maxBehind)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listeners == nil {
		l.listeners = map[chan plugin.Update]struct{}{}
	}
	l.listeners[c] = struct{}{}
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.listeners, c)
	}
}

// send passes an update on without waiting.
func (l *updates) send(u plugin.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.listeners {
		for len(c) == cap(c) { // only send adds to it
			select {
			case <-c:
			default:
			}
		}
		c <- u
	}
}
