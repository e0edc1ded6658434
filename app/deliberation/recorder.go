package deliberation

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"conclave/app/bus"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/fault"
)

// textCache holds the texts of a run under way, by hash. It is safe for concurrent use.
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

// record is one thing for the recorder: a step, with the texts that it names and the run
// after it, or what can be seen of a task meanwhile.
type record struct {
	Event
	texts map[council.Hash][]byte
	done  chan struct{} // closed once it was published; nil for nobody
}

// recorder writes the steps of a run and then shows them, in their order. Whoever has
// something happen does not wait for it. What comes while it writes is written together.
type recorder struct {
	log     council.Log
	publish func(Event)
	trouble func(council.Run, error)        // is told once that nothing can be written, and with nil that it can again
	came    *atomic.Pointer[council.Result] // what came of the run

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
	came *atomic.Pointer[council.Result],
) *recorder {
	r := &recorder{
		log: log, publish: publish, trouble: trouble, came: came, wake: make(chan struct{}, 1),
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

// close writes what is left and ends the recorder.
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
			tell := r.write(batch)
			for _, one := range batch {
				r.show(one)
			}
			tell()
		}
	}
}

// write stores the steps of a batch, with those that could not be written before. tell
// tells what is new about that.
func (r *recorder) write(batch []record) (tell func()) {
	tell = func() {}
	var last *council.Run
	for i := range batch {
		if one := &batch[i]; one.Step != nil {
			r.unsaved, last = append(r.unsaved, *one.Step), &one.Run
			maps.Copy(r.texts, one.texts)
		}
	}
	if last == nil {
		return tell
	}
	if err := r.save(*last); (err != nil) != r.full {
		r.full = err != nil
		return func() { r.trouble(*last, err) }
	}
	return tell
}

// save stores what is not stored yet.
func (r *recorder) save(run council.Run) error {
	// What happened counts although the turn has ended. The store bounds its own time.
	err := r.log.AppendSteps(context.Background(), headerOf(run, r.came.Load()), r.unsaved, r.texts)
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

// header is that of the run as it is watched, the zero one before its first step.
func (l *loop) header() council.Header { return headerOf(l.watch.run(), l.came.Load()) }

// headerOf makes what a list shows of a run, of which nothing has come yet where came is nil.
func headerOf(r council.Run, came *council.Result) council.Header {
	if came == nil {
		came = &council.Result{}
	}
	h := council.Header{
		Run: r.Begin.Run, Conversation: r.Conversation, Turn: r.Turn, Question: r.Question, Mode: r.Council.Mode,
		State: r.State, Disagree: len(came.Disagreement), Usage: r.Spent(""), Began: r.Began, Ended: r.Ended,
		MS: r.After(r.Ended).Milliseconds(), Seats: r.SeatLines(came.Agreed, came.Same),
	}
	h.Members, h.Silent = len(h.Seats), r.Silent()
	if r.Answer != nil {
		h.Answer = r.Answer.Usage
	}
	return h
}

// published shows a run's events to whoever wants them.
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

// failureOf is an error as a record keeps it.
func failureOf(err error) *chat.Failure {
	f := fault.Of(err)
	return &chat.Failure{Kind: string(f.Kind), Message: f.Message, Hint: f.Hint, Detail: f.Detail}
}
