package host

import (
	"context"
	"slices"
	"sync"
	"time"
)

// wakeAgain is how long after a start that failed a plugin is not started again
// for an event or a hook.
const wakeAgain = 30 * time.Second

// maxLate bounds the events that wait for one plugin's process to start.
const maxLate = 256

// eventQueue are events that wait for a plugin's process to start.
type eventQueue struct {
	e        *entry
	mu       sync.Mutex // guards the fields below, and orders what the process is sent
	events   []outgoing
	starting bool      // somebody starts the process for them
	failed   time.Time // when starting it for an event or a hook failed
}

// current is the session of the serving runner, or nil.
func (r *runner) current() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live
}

// servingEntries returns the entries in service.
func (k *Hooks) servingEntries() []*entry {
	return slices.DeleteFunc(k.h.all(), func(e *entry) bool { return e.runner() == nil })
}

// startsFor reports whether the plugin had registered something for reason when it
// last ran, and may be started for it. The caller holds mu.
func (l *eventQueue) startsFor(reason string) bool {
	return slices.Contains(l.e.now().record.Wakes, reason) && time.Since(l.failed) >= wakeAgain
}

// pass sends an event to the running process, after those that waited for its
// start, or queues it for the one that is being started.
func (l *eventQueue) pass(o outgoing) {
	r := l.e.runner()
	if r == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := r.current(); s != nil {
		l.flush(s)
		s.deliver(o)
		return
	}
	if !l.startsFor("event "+o.name) || o.rule.hear != "" && !l.e.h.Hooks.granted(l.e.id, o.rule.hear) ||
		len(l.events) >= maxLate {
		return
	}
	l.events = append(l.events, o)
	if !l.starting {
		l.starting = true
		l.e.h.tasks.spawn(func() { // ends with the start, which LoadTimeout bounds
			if s, err := l.start(r); err == nil {
				r.release(s)
			}
		})
	}
}

// flush sends a process what waited for it. The caller holds mu.
func (l *eventQueue) flush(s *session) {
	for _, o := range l.events {
		s.deliver(o)
	}
	l.events = nil
}

// start returns the running process, started if none runs, after it received
// the events that waited for it; release gives it back.
func (l *eventQueue) start(r *runner) (*session, error) {
	s, err := r.use(l.e.h.ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starting = false
	if err != nil {
		l.events, l.failed = nil, time.Now()
		return nil, err
	}
	l.flush(s)
	return s, nil
}

// empty reports whether no event waits.
func (l *eventQueue) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events) == 0
}

// mayStart reports whether the process may be started for reason.
func (l *eventQueue) mayStart(reason string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.startsFor(reason)
}

// beginTime is the time that a process that was started for a prompt has to finish
// what it began while it loaded, such as reading the value of a macro: a second, where it has
// ten to load.
func (k *Hooks) beginTime() time.Duration { return k.h.o.LoadTimeout / 10 }

// sessionsFor returns the sessions of the serving plugins that may have registered
// something for reason. It starts first those that had when they last ran and do not
// run now; ctx bounds the wait for them.
func (k *Hooks) sessionsFor(ctx context.Context, reason string) []*session {
	var running []*session
	var mu sync.Mutex // guards running
	add := func(s *session) {
		mu.Lock()
		defer mu.Unlock()
		running = append(running, s)
	}
	var starts []func()
	for _, e := range k.servingEntries() {
		r := e.runner()
		if r == nil {
			continue
		}
		if s := r.current(); s != nil {
			e.queued.mu.Lock()
			e.queued.flush(s)
			e.queued.mu.Unlock()
			add(s)
		} else if e.queued.mayStart(reason) {
			starts = append(starts, func() {
				s, err := e.queued.start(r)
				if err != nil {
					return
				}
				defer r.release(s)
				begun, cancel := context.WithTimeout(k.h.ctx, k.beginTime())
				defer cancel()
				s.done(begun)
				add(s)
			})
		}
	}
	k.allAtOnce(ctx, starts)
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(running)
}

// allAtOnce runs functions in the background, which LoadTimeout and Close bound, and waits for them, or for the
// end of ctx or of the host.
func (k *Hooks) allAtOnce(ctx context.Context, work []func()) {
	var all sync.WaitGroup
	for _, do := range work {
		all.Add(1)
		k.h.tasks.spawn(func() {
			defer all.Done()
			do()
		})
	}
	over := make(chan struct{})
	k.h.tasks.spawn(func() { // ends with these
		all.Wait()
		close(over)
	})
	select {
	case <-over:
	case <-ctx.Done():
	case <-k.h.ctx.Done():
	}
}

// doneEvent asks a process to answer once it is done with what it was sent and
// asked so far. It is Conclave's own and cannot be subscribed to:
//
//	{"id":"4","deadline_ms":1700000000000}
const doneEvent = "conclave.done"

// done waits until the process has handled the events it received, or for ctx's end,
// and reports whether it has.
func (s *session) done(ctx context.Context) bool {
	if len(s.surface.reasons()) == 0 {
		return true // it listens to nothing
	}
	_, err := s.request(ctx, doneEvent, "", map[string]any{})
	if err == nil {
		s.surface.touched.Store(false)
	}
	return err == nil
}

// WaitDelivered waits until the plugins have received and handled every published
// event, or for ctx's end. A plugin that is not done by then gets a line about it in
// its log.
func (k *Hooks) WaitDelivered(ctx context.Context) {
	var work []func()
	for _, e := range k.servingEntries() {
		r := e.runner()
		if r == nil {
			continue
		}
		if s := r.current(); e.queued.empty() && (s == nil || !s.surface.touched.Load()) {
			continue
		}
		work = append(work, func() {
			s, err := e.queued.start(r)
			if err != nil {
				return
			}
			defer r.release(s)
			if !s.done(ctx) {
				e.logs("warn", "Conclave closed before the plugin was done with the events that it got last.")
			}
		})
	}
	k.allAtOnce(ctx, work)
}
