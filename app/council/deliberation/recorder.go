package deliberation

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
)

// textCache holds the texts of a run under way. It is safe for concurrent use.
type textCache struct {
	mu  sync.Mutex
	all map[council.Hash][]byte
}

func (t *textCache) put(more map[council.Hash][]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[council.Hash][]byte{}
	}
	maps.Copy(t.all, more)
}

func (t *textCache) copied() map[council.Hash][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[council.Hash][]byte{}
	maps.Copy(all, t.all)
	return all
}

func (t *textCache) get(h council.Hash) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok := t.all[h]
	return text, ok
}

// record is an event for the recorder: a step with the texts that it names, or progress of a task.
type record struct {
	Event
	texts map[council.Hash][]byte
	done  chan struct{} // closed once it was published; may be nil
}

// recorder stores the steps of a run and then publishes them, in order. Callers do not wait for it.
// Steps that arrive while it writes are written together.
type recorder struct {
	log     council.Log
	publish func(Event)
	trouble func(council.Run, error) // called when saving fails, and with nil when it works again
	result  *atomic.Pointer[council.Result]

	mu     sync.Mutex // guards the fields below
	queue  []record
	closed bool
	wake   chan struct{}
	over   chan struct{} // closed when all is written and published

	unsaved []council.Step // could not be written yet
	texts   map[council.Hash][]byte
	full    bool
}

func newRecorder(log council.Log, publish func(Event), trouble func(council.Run, error),
	result *atomic.Pointer[council.Result],
) *recorder {
	r := &recorder{
		log: log, publish: publish, trouble: trouble, result: result, wake: make(chan struct{}, 1),
		over:  make(chan struct{}),
		texts: map[council.Hash][]byte{},
	}
	go r.work() // ends with close
	return r
}

func (r *recorder) add(one record) {
	r.mu.Lock()
	r.queue = append(r.queue, one)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close writes the rest and ends the recorder.
func (r *recorder) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
	<-r.over
}

func (r *recorder) work() {
	defer close(r.over)
	for range r.wake {
		for {
			r.mu.Lock()
			batch, closed := r.queue, r.closed
			r.queue = nil
			r.mu.Unlock()
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
			report := r.write(batch)
			for _, one := range batch {
				r.show(one)
			}
			report()
		}
	}
}

// write stores the steps of a batch, with those that could not be stored before. report reports a
// change of whether saving works, after the batch was published.
func (r *recorder) write(batch []record) (report func()) {
	report = func() {}
	var last *council.Run
	for i := range batch {
		if one := &batch[i]; one.Step != nil {
			r.unsaved, last = append(r.unsaved, *one.Step), &one.Run
			maps.Copy(r.texts, one.texts)
		}
	}
	if last == nil {
		return report
	}
	if err := r.save(*last); (err != nil) != r.full {
		r.full = err != nil
		return func() { r.trouble(*last, err) }
	}
	return report
}

// save stores what is not stored yet.
func (r *recorder) save(run council.Run) error {
	// Steps are stored even after the turn has ended. The store bounds its time.
	err := r.log.AppendSteps(context.Background(), council.HeaderOf(run, r.result.Load()), r.unsaved, r.texts)
	if err == nil {
		r.unsaved, r.texts = nil, map[council.Hash][]byte{}
	}
	return err
}

func (r *recorder) show(one record) {
	r.publish(one.Event)
	if one.done != nil {
		close(one.done)
	}
}

// header returns the header of the run as it is watched, the zero one before its first step.
func (l *loop) header() council.Header { return council.HeaderOf(l.watch.run(), l.result.Load()) }

// published passes an event of the run to all listeners.
func (l *loop) published(e Event) {
	l.watch.take(e)
	if l.s.how.OnEvent != nil {
		l.s.how.OnEvent(e)
	}
	if l.r.o.OnEvent != nil && l.s.req.Log == nil {
		l.r.o.OnEvent(e)
	}
	l.r.o.Bus.Changed(bus.Council, string(e.Run.Begin.Run))
	if s := e.Step; s != nil && (s.Kind == council.Begins || s.Kind == council.Resumes || e.Run.State == council.Over) {
		l.r.o.Bus.Changed(bus.Councils, string(e.Run.Conversation))
	}
}

// failureOf encodes an error for a record.
func failureOf(err error) *chat.Failure {
	f := fault.Of(err)
	return &chat.Failure{Kind: string(f.Kind), Message: f.Message, Hint: f.Hint, Detail: f.Detail}
}
