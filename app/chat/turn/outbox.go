package turn

import (
	"sync"
	"time"

	"conclave/app/chat"
)

// shownWithin bounds the wait of a result until it is shown. The next answer of a quick model comes
// sooner, so both are written in one step; a person sees no difference.
const shownWithin = 40 * time.Millisecond

// outbox passes a turn's events on, in order. Those that show a call or its result wait until these are
// on the disk, and the events after them wait too: what a person or a plugin has seen, no kill takes
// back. Streamed text does not wait, but for events before it; a kill may cost a quarter of a second of
// it.
type outbox struct {
	pass  func(chat.Event) // never called twice at once
	late  func()           // has everything written that waits; called shownWithin after the first
	loose bool             // nothing waits: the turn's log is not on a disk

	going sync.WaitGroup // of late

	mu      sync.Mutex // guards the fields below, and pass
	waiting []waiting  // the newest events
	given   int        // events so far
	safe    int        // the events before this one show only what is on the disk
	timer   *time.Timer
}

type waiting struct {
	event chat.Event
	since time.Time
}

// lasting reports whether an event shows something that must be on the disk first. It was given to the
// log before.
func lasting(e chat.Event) bool {
	return e.Kind == chat.EventAsked || e.Kind == chat.EventAnswered || e.Kind == noEvent
}

// noEvent is the kind of an event that is passed to nobody: something that must be on the disk soon.
const noEvent chat.EventKind = ""

// emit passes an event on, now or when those before it and what it shows are on the disk.
func (o *outbox) emit(e chat.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.given++
	if len(o.waiting) == 0 && (o.loose || !lasting(e)) {
		o.passOn(e)
		return
	}
	o.waiting = append(o.waiting, waiting{e, time.Now()})
	if o.timer == nil {
		o.going.Add(1)
		o.timer = time.AfterFunc(shownWithin, o.due)
	}
}

// due calls late for what has waited for long enough, in a goroutine that close waits for.
func (o *outbox) due() {
	o.mu.Lock()
	if len(o.waiting) > 0 {
		if left := time.Until(o.waiting[0].since.Add(shownWithin)); left > 0 {
			o.timer.Reset(left)
			o.mu.Unlock()
			return
		}
	}
	o.timer = nil
	idle := len(o.waiting) == 0
	o.mu.Unlock()
	defer o.going.Done()
	if !idle {
		o.late()
	}
}

// mark returns what release is given once everything that the log has now is on the disk.
func (o *outbox) mark() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.given
}

// release passes on the events before the mark, and those after it that need not wait.
func (o *outbox) release(mark int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.safe = max(o.safe, mark)
	first, n := o.given-len(o.waiting), 0
	for ; n < len(o.waiting) && (first+n < o.safe || !lasting(o.waiting[n].event)); n++ {
		o.passOn(o.waiting[n].event)
	}
	if o.waiting = o.waiting[n:]; len(o.waiting) == 0 {
		o.waiting = nil
	}
}

func (o *outbox) passOn(e chat.Event) {
	if e.Kind != noEvent {
		o.pass(e)
	}
}

// close passes on what still waits.
func (o *outbox) close() {
	o.mu.Lock()
	if o.timer != nil && o.timer.Stop() {
		o.timer = nil
		o.going.Done()
	}
	o.mu.Unlock()
	o.going.Wait()
	o.release(o.mark())
}
