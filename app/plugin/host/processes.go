package host

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
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
	if p.live == nil {
		p.live = map[*session]struct{}{}
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
