package window

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// maxWatches bounds how many resources are kept fresh at once.
const maxWatches = 50

// WatchState describes what is known of a resource since it was last read.
type WatchState string

// The states of a watch.
const (
	WatchQuiet   WatchState = "quiet"   // its plugin reported no change
	WatchChanged WatchState = "changed" // it changed
	WatchEnded   WatchState = "ended"   // its plugin was stopped, and reports nothing any longer
)

// Watch is a resource that the person keeps fresh.
type Watch struct {
	ID    string     `json:"id"`
	State WatchState `json:"state"`
}

// watches are the resources that are kept fresh. The zero value has none.
type watches struct {
	mu   sync.Mutex // guards the fields below
	last int
	all  map[string]*watching
}

type watching struct {
	number int // counts up
	state  WatchState
	stop   func() // nil while it begins
}

// begin makes a watch, if there is room for one more.
func (w *watches) begin() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) >= maxWatches {
		return "", false
	}
	if w.all == nil {
		w.all = map[string]*watching{}
	}
	w.last++
	id := strconv.Itoa(w.last)
	w.all[id] = &watching{number: w.last, state: WatchQuiet}
	return id, true
}

// began keeps what ends the watch. It reports false where it was ended meanwhile.
func (w *watches) began(id string, stop func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.all[id]
	if one != nil {
		one.stop = stop
	}
	return one != nil
}

// end forgets a watch, and returns what ends it, if it has begun.
func (w *watches) end(id string) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.all[id]; one != nil {
		stop = one.stop
	}
	delete(w.all, id)
	return stop
}

// heard notes what became of a resource, and reports whether that is new.
func (w *watches) heard(id string, state WatchState) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.all[id]
	if one == nil || one.state != WatchQuiet {
		return false
	}
	one.state = state
	return true
}

// list returns all watches, the oldest first.
func (w *watches) list() []Watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []Watch{}
	older := func(a, b string) int { return w.all[a].number - w.all[b].number }
	for _, id := range slices.SortedFunc(maps.Keys(w.all), older) {
		out = append(out, Watch{id, w.all[id].state})
	}
	return out
}

// Watches returns the resources that are kept fresh.
func (s *Shared) Watches() ([]Watch, error) { return s.watches.list(), nil }

// Watchable reports whether a plugin tells when what it has to read changes.
func (s *Shared) Watchable(id string) (bool, error) {
	tells := false
	err := s.borrow(id, func(_ context.Context, from plugin.Sharer) error {
		tells = from.Watches()
		return nil
	})
	return tells, err
}

// Watch keeps a resource fresh: its plugin is asked to report when it changes, until Unwatch. It returns the id of
// the watch, which Watches has. The plugin runs no longer for that: once it is stopped, the watch has ended.
func (s *Shared) Watch(id, uri string) (string, error) {
	watch, ok := s.watches.begin()
	if !ok {
		return "", fault.New(fault.Invalid, "app.shared", "This is the most resources that can be kept fresh at once.",
			"Remove one from a message, or stop keeping it fresh.")
	}
	err := s.borrow(id, func(ctx context.Context, from plugin.Sharer) error {
		stop, err := from.Watch(ctx, uri, func(ended bool) {
			state := WatchChanged
			if ended {
				state = WatchEnded
			}
			if s.watches.heard(watch, state) {
				s.core.Bus.Changed(bus.Watches, "")
			}
		})
		if err == nil && !s.watches.began(watch, stop) {
			stop()
		}
		return err
	})
	if err != nil {
		s.watches.end(watch)
		return "", err
	}
	return watch, nil
}

// Unwatch ends a watch. One that there is not is ended already.
func (s *Shared) Unwatch(watch string) error {
	if stop := s.watches.end(watch); stop != nil {
		stop()
	}
	return nil
}
