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
			p.log.Warn("a plugin was not told that a person is asked", "plugin", id, "err", err)
		}
	}
}
