package host

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"conclave/app/gate"
	"conclave/app/plugin/wire"
)

// processes are the runs of all plugins, of every version, serving or retired. It is safe for concurrent
// use.
type processes struct {
	log *slog.Logger

	mu     sync.Mutex // guards the fields below
	live   map[*session]struct{}
	closed bool
}

// adopt counts s among those that end ends. It reports false when that is over.
func (p *processes) adopt(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.live[s] = struct{}{}
	return true
}

func (p *processes) dismiss(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, s)
}

// all returns the processes that run, in no order.
func (p *processes) all() []*session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.live))
}

// end ends all of them and waits.
func (p *processes) end() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	var ending sync.WaitGroup
	for _, s := range p.all() {
		ending.Go(func() { s.end(closingReason) })
	}
	ending.Wait()
}

// questions numbers what persons are asked while calls run.
var questions atomic.Int64

// asking is called when a person is asked about what a plugin does, and answered afterwards.
// Meanwhile the time of the plugin's open calls does not run.
func (p *processes) asking(id string) (answered func()) {
	question := questions.Add(1)
	p.moveDeadlines(id, wire.Asking{ID: question, MS: gate.AnswerTimeout.Milliseconds()})
	return func() { p.moveDeadlines(id, wire.Asking{ID: question, Over: true}) }
}

// moveDeadlines moves the deadlines of a plugin's open calls, here and in its processes.
func (p *processes) moveDeadlines(id string, a wire.Asking) {
	for _, s := range p.of(id) {
		s.clocks.Move(a)
		if !s.speaks() {
			continue
		}
		if err := s.worker.transport.Notify(wire.AskingEvent, a); err != nil {
			p.log.Warn("a plugin did not receive that a person is asked", "plugin", id, "err", err)
		}
	}
}
