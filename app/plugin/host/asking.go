package host

import (
	"sync/atomic"

	"conclave/app/gate"
	"conclave/app/plugin/wire"
)

// questions numbers what persons are asked while calls run.
var questions atomic.Int64

// asking is called when a person is asked about what a plugin does, and answered afterwards.
// Meanwhile the time of the plugin's open calls does not run.
func (h *Host) asking(id string) (answered func()) {
	question := questions.Add(1)
	h.tellAsking(id, wire.Asking{ID: question, MS: gate.AnswerTimeout.Milliseconds()})
	return func() { h.tellAsking(id, wire.Asking{ID: question, Over: true}) }
}

// tellAsking moves the deadlines of a plugin's open calls, here and in its processes.
func (h *Host) tellAsking(id string, a wire.Asking) {
	for _, s := range h.sessionsOf(id) {
		s.clocks.Move(a)
		if !s.speaks() {
			continue
		}
		if err := s.worker.transport.Notify(wire.AskingEvent, a); err != nil {
			h.o.Log.Warn("a plugin was not told that a person is asked", "plugin", id, "err", err)
		}
	}
}
