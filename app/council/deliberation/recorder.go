package deliberation

import (
	"context"
	"maps"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
)

// textCache holds the texts of a run under way. It is safe for concurrent use.
type textCache struct {
	mu  sync.Mutex
	all council.Texts
}

func (t *textCache) put(more council.Texts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all.Copy(more)
}

func (t *textCache) copied() council.Texts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.all)
}

func (t *textCache) get(h council.Hash) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok := t.all[h]
	return text, ok
}

// record is an event for the recorder: a step with the header of the run after it and the texts that it
// names, or progress of a task.
type record struct {
	Event
	header council.Header
	texts  council.Texts
	done   chan struct{} // closed once it was published; may be nil
}

// recorder stores the steps of a run and then publishes them, in order. Callers do not wait for it.
// Steps that arrive while it writes are written together.
type recorder struct {
	log     council.Log
	publish func(record)
	trouble func(council.Run, error) // called when saving fails, and with nil when it works again

	mu     sync.Mutex // guards the fields below
	queue  []record
	closed bool
	wake   chan struct{}
	over   chan struct{} // closed when all is written and published

	unsaved []council.Step // could not be written yet
	texts   council.Texts  // that those name
	full    bool
}

func newRecorder(log council.Log, publish func(record), trouble func(council.Run, error)) *recorder {
	r := &recorder{
		log: log, publish: publish, trouble: trouble, wake: make(chan struct{}, 1), over: make(chan struct{}),
	}
	go r.work() // ends with close
	return r
}

func (r *recorder) add(one record) {
	r.change(func() { r.queue = append(r.queue, one) })
}

// close writes the rest and ends the recorder.
func (r *recorder) close() {
	r.change(func() { r.closed = true })
	<-r.over
}

func (r *recorder) change(do func()) {
	r.mu.Lock()
	do()
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
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
				if r.publish(one); one.done != nil {
					close(one.done)
				}
			}
			report()
		}
	}
}

// write stores the steps of a batch, with those that could not be stored before. report reports a
// change of whether saving works, after the batch was published.
func (r *recorder) write(batch []record) (report func()) {
	var last *record
	for i := range batch {
		if one := &batch[i]; one.Step != nil {
			r.unsaved, last = append(r.unsaved, *one.Step), one
			r.texts.Copy(one.texts)
		}
	}
	if last != nil {
		if err := r.save(last.header); (err != nil) != r.full {
			r.full = err != nil
			return func() { r.trouble(last.Run, err) }
		}
	}
	return func() {}
}

// save stores what is not stored yet.
func (r *recorder) save(h council.Header) error {
	// Steps are stored even after the turn has ended. The store bounds its time.
	err := r.log.AppendSteps(context.Background(), h, r.unsaved, r.texts)
	if err == nil {
		r.unsaved, r.texts = nil, nil
	}
	return err
}

// published passes an event of the run to all listeners.
func (l *loop) published(one record) {
	e := one.Event
	l.watch.take(one)
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
