package engine

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of one plugin's loop.
const (
	maxTimers = 10_000 // timers of one plugin; a hundred times what anyone needs
	maxEvents = 256    // events that wait while the plugin computes
)

// loop owns an engine: one goroutine runs everything that touches it, one thing
// at a time, and runs the promise jobs left by each. Others hand it functions.
type loop struct {
	vm   vm
	wake chan struct{} // has room for one: somebody queued

	mu     sync.Mutex // guards queue and events
	queue  []func()
	events int // how many of queue are events

	timers []timer     // by when they are due; owned by the loop's goroutine, as is all down to limit
	watch  *time.Timer // of guard; nil until then
	limit  time.Duration

	started time.Time
	cpu     func() (time.Duration, bool) // cpuTime

	entered atomic.Int64          // when the engine was entered, in ns since started; 0 while it rests
	entry   atomic.Pointer[meter] // of the current or last entry, once there is a guard
	busy    atomic.Int64          // ns of computing before the current entry

	stop    chan struct{} // closed by end
	endOnce sync.Once
	why     error // set before stop is closed
}

// newLoop returns a loop for vm; Run starts it.
func newLoop(vm vm) *loop {
	return &loop{
		vm: vm, wake: make(chan struct{}, 1), started: time.Now(), cpu: cpuTime, stop: make(chan struct{}),
	}
}

// do queues f for the engine's goroutine and returns at once.
func (l *loop) do(f func()) {
	l.mu.Lock()
	l.queue = append(l.queue, f)
	l.mu.Unlock()
	l.poke()
}

// event queues f like do, unless too many events wait; then it reports false.
func (l *loop) event(f func()) bool {
	l.mu.Lock()
	if l.events >= maxEvents {
		l.mu.Unlock()
		return false
	}
	l.events++
	l.queue = append(l.queue, func() {
		l.mu.Lock()
		l.events--
		l.mu.Unlock()
		f()
	})
	l.mu.Unlock()
	l.poke()
	return true
}

func (l *loop) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run runs what is queued and the timers that are due until end is called or ctx
// ends. It returns why.
func (l *loop) run(ctx context.Context) error {
	clock := time.NewTimer(time.Hour)
	defer clock.Stop()
	for {
		if l.stopped() {
			return l.why
		}
		if f := l.next(); f != nil {
			l.enter(f)
			continue
		}
		wait := time.Hour
		if len(l.timers) > 0 {
			wait = time.Until(l.timers[0].due)
		}
		if wait <= 0 {
			l.fire()
			continue
		}
		clock.Reset(wait)
		select {
		case <-l.wake:
		case <-clock.C:
		case <-l.stop:
		case <-ctx.Done():
			l.end(context.Cause(ctx))
		}
	}
}

// next takes what is queued first, letting a due timer go before it every time
// something was taken, so that neither starves the other.
func (l *loop) next() func() {
	if len(l.timers) > 0 && time.Until(l.timers[0].due) <= 0 {
		l.fire()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil
	}
	f := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	return f
}

// enter runs one function that uses the engine, and the jobs it leaves behind.
func (l *loop) enter(f func()) {
	if l.stopped() {
		return
	}
	if l.watch != nil {
		entry := l.meter()
		l.entry.Store(&entry) // before the watch can see that the engine is entered
	}
	from := time.Since(l.started)
	l.entered.Store(max(int64(from), 1))
	if l.watch != nil {
		l.watch.Reset(l.limit)
		defer l.watch.Stop()
	}
	f()
	if more, _ := l.vm.Drain(); more {
		l.do(func() {}) // entering again drains the rest
	}
	took := time.Since(l.started) - from
	l.entered.Store(0)
	l.busy.Add(int64(took)) // after it, so that nothing counts twice
}

// guard calls onLong, on the goroutine of a timer, whenever one entry has computed
// for longer than limit (meter.left tells it), and again after every further limit
// while onLong says so. Only the engine's goroutine may call it, once.
func (l *loop) guard(limit time.Duration, onLong func() bool) {
	l.limit = limit
	l.watch = time.AfterFunc(limit, func() {
		if l.computing() == 0 {
			return // the next entry sets the watch again
		}
		if left := l.entry.Load().left(limit); left > 0 {
			l.watch.Reset(left)
		} else if onLong() {
			l.watch.Reset(limit)
		}
	})
	l.watch.Stop()
}

// computing returns how long the engine has been running its current entry.
func (l *loop) computing() time.Duration {
	from := l.entered.Load()
	if from == 0 {
		return 0
	}
	return time.Since(l.started) - time.Duration(from)
}

// computed returns how long the engine has computed in all.
func (l *loop) computed() time.Duration {
	return time.Duration(l.busy.Load()) + l.computing()
}

// meter counts what a script has computed since it was made.
type meter struct {
	loop     *loop
	computed time.Duration // by the loop, when it was made
	cpu      time.Duration // by the process, when it was made
}

// meter starts to count. Any goroutine may call it.
func (l *loop) meter() meter {
	cpu, _ := l.cpu()
	return meter{loop: l, computed: l.computed(), cpu: cpu}
}

// left returns how much of budget has not been computed yet; 0 or less means that
// all of it has. On a busy machine an entry goes on for long without having its turn,
// so the processor's time counts where it is known. Any goroutine may call it.
func (m meter) left(budget time.Duration) time.Duration {
	left := budget - (m.loop.computed() - m.computed)
	if cpu, counted := m.loop.cpu(); counted {
		left = max(left, budget-(cpu-m.cpu))
	}
	return left
}

// end stops the loop for good, interrupting what is running. The first cause
// counts. Any goroutine may call it.
func (l *loop) end(cause error) {
	l.endOnce.Do(func() {
		l.why = cause
		close(l.stop)
		l.vm.Interrupt()
	})
}

func (l *loop) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// timer is one setTimeout or setInterval.
type timer struct {
	id    int // of two that are due at once the smaller goes first
	due   time.Time
	every time.Duration // 0 for one that fires once
}

// setTimer starts a timer and reports whether there was room for it. Only the
// engine's goroutine may call it.
func (l *loop) setTimer(id int, after time.Duration, repeat bool) bool {
	if len(l.timers) >= maxTimers {
		return false
	}
	t := timer{id: id, due: time.Now().Add(after)}
	if repeat {
		t.every = max(after, time.Millisecond) // an interval of 0 would leave no time for calls
	}
	l.put(t)
	return true
}

// put puts a timer among the others by when it is due.
func (l *loop) put(t timer) {
	at, _ := slices.BinarySearchFunc(l.timers, t, func(a, b timer) int { return cmp.Or(a.due.Compare(b.due), a.id-b.id) })
	l.timers = slices.Insert(l.timers, at, t)
}

// clearTimer stops a timer; an unknown one is no error.
func (l *loop) clearTimer(id int) {
	l.timers = slices.DeleteFunc(l.timers, func(t timer) bool { return t.id == id })
}

// fire runs the timer that is due first.
func (l *loop) fire() {
	t := l.timers[0]
	l.timers = slices.Delete(l.timers, 0, 1)
	if t.every > 0 {
		t.due = time.Now().Add(t.every)
		l.put(t)
	}
	l.enter(func() { _, _ = l.vm.Call("timer", strconv.Itoa(t.id)) })
}
