package host

import (
	"sync"
	"time"

	"conclave/app/plugin"
)

// forgetRests is the time after which a plugin that rested counts as sound again.
const forgetRests = 2 * time.Hour

// restCount counts how often a plugin that keeps dying has rested. It is safe for concurrent use.
type restCount struct {
	mu    sync.Mutex
	times int       // in a row
	at    time.Time // when it began to, the last time
}

// next returns how long a plugin rests now, of the times that its dialect has; 0 is until a person starts it.
func (r *restCount) next(all []time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) > forgetRests {
		r.times = 0
	}
	r.at = time.Now()
	if r.times >= len(all) {
		return 0
	}
	r.times++
	return all[r.times-1]
}

// serveAfter has a plugin that rests serve again after a time.
func serveAfter(e *entry, rest time.Duration) {
	select {
	case <-time.After(rest):
	case <-e.h.ctx.Done():
		return
	}
	if e.now().status.State == plugin.Quarantined {
		e.requestLoad(request{decided: true})
	}
}

// patient reports whether loads of the plugin at src may take long, and hold up nothing.
func (all Dialects) patient(src plugin.Source) bool {
	_, ok := all.named(src.Dialect).(plugin.Patient)
	return ok
}
