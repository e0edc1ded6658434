package host

import (
	"cmp"
	"sync/atomic"
	"time"

	"conclave/app/permit"
	"conclave/app/plugin/wire"
)

// questions numbers what persons are asked while calls run.
var questions atomic.Int64

// Asking returns two functions for a question to a person about what a plugin does: waits is
// called if they have to be asked, and answered afterwards. Meanwhile the time of the plugin's
// open calls does not run.
func (h *Host) Asking(id string) (waits func(string), answered func()) {
	var began time.Time
	question := questions.Add(1)
	waits = func(string) {
		began = time.Now()
		h.tellAsking(id, wire.Asking{ID: question, MS: permit.AnswerTimeout.Milliseconds()})
	}
	return waits, func() {
		if !began.IsZero() {
			left := permit.AnswerTimeout - time.Since(began)
			h.tellAsking(id, wire.Asking{ID: question, Over: true, MS: left.Milliseconds()})
		}
	}
}

// tellAsking moves the deadlines of a plugin's open calls, here and in its processes: one that
// was replaced may have calls still.
func (h *Host) tellAsking(id string, a wire.Asking) {
	h.mu.Lock()
	var all []*session
	for s := range h.sessions {
		if cmp.Or(s.r.e.settingsOf, s.r.e.id) == id {
			all = append(all, s)
		}
	}
	h.mu.Unlock()
	for _, s := range all {
		s.clocks.Move(a)
		if !s.speaks {
			continue
		}
		if err := s.transport.Notify(wire.AskingEvent, a); err != nil {
			h.o.Log.Warn("a plugin was not told that a person is asked", "plugin", id, "err", err)
		}
	}
}
