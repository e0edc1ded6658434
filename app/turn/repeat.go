package turn

import (
	"fmt"

	"conclave/app/chat"
)

// tellAt and stopAt are how often one call may fail the same way running before
// the model is told to try something else, and before the turn stops
// (contracts/llm-functions, section 8.8).
const (
	tellAt = 3
	stopAt = 5
)

// failing is a call that failed, and how often running it did so the same way.
type failing struct {
	text  string
	times int
}

// callKey is equal for the same tool with the same arguments.
func callKey(p *pendingCall) string {
	return p.call.Tool + "\x00" + string(p.call.Arguments) + "\x00" + p.call.Raw
}

// repeated counts a failure and, when it is not the first of its kind running,
// says so in the result.
func (t *run) repeated(p *pendingCall) {
	switch p.result.Status {
	case chat.CallPaused, chat.CallCancelled, chat.CallLimit:
		return // not the call's doing
	}
	t.mu.Lock()
	f := t.failing[callKey(p)]
	if said := p.result.Text(); f.text != said {
		f = failing{text: said}
	}
	f.times++
	t.failing[callKey(p)] = f
	t.mu.Unlock()
	if f.times >= tellAt {
		p.result.Content = append(p.result.Content, text(fmt.Sprintf(
			"This call failed the same way %d times running. Do not repeat it: try another approach, or answer without it.", f.times)))
	}
}

// forget ends the row of failures of a call that went well.
func (t *run) forget(p *pendingCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.failing, callKey(p))
}

// stuck reports whether a call failed the same way too often.
func (t *run) stuck() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.failing {
		if f.times >= stopAt {
			return true
		}
	}
	return false
}
