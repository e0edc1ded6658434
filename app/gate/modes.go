package gate

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
)

// Unattended is the mode in which the main model's tools run without asking a person, up
// to an end that it cannot pass. It takes the place of steps 8 and 9 of the order: what an
// earlier step refuses or asks about, it refuses or asks about as ever. It is kept in
// memory alone, so nothing runs unattended after a restart.
type Unattended struct {
	Until time.Time // in wall-clock time
	Calls int       // how many more calls may run
	Spend float64   // how much more the models of Conclave may cost meanwhile, in US dollars
}

// UnattendedTimes are for how long it may be switched on.
var UnattendedTimes = []time.Duration{15 * time.Minute, time.Hour}

// The most that it may be switched on with.
const (
	MaxUnattendedCalls = 1000
	MaxUnattendedSpend = 100 // US dollars
)

// Modes holds the pause switch and the unattended mode. Its methods are safe for concurrent use.
type Modes struct {
	*shared
	// changed is called without the lock once calls are decided otherwise than before; paused reports
	// that the pause switch was set.
	changed func(paused bool)

	mu sync.Mutex // guards the fields below
	modeState
	end    *time.Timer // ends the unattended mode; nil while that is off
	closed bool
}

// modeState holds what decisions read of the modes.
type modeState struct {
	paused     bool
	unattended *Unattended // nil while it is off
}

func (m modeState) runsUnattended(now time.Time) bool {
	return m.unattended != nil && now.Round(0).Before(m.unattended.Until) && m.unattended.Calls > 0
}

// SetPaused pauses all tools or resumes them, until the program ends. Pausing ends the calls
// under way and the unattended mode.
func (m *Modes) SetPaused(on bool) {
	m.mu.Lock()
	if m.paused = on; on {
		m.endLocked()
	}
	m.mu.Unlock()
	m.changed(true)
}

// Paused reports whether all tools are paused.
func (m *Modes) Paused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paused
}

// StartUnattended lets the main model's tools run without asking: for one of
// UnattendedTimes, for so many calls, until models have cost so much. It takes the place of
// what held before, and resolves the requests that it decides. The kind is invalid for
// bounds that are none.
func (m *Modes) StartUnattended(length time.Duration, calls int, spend float64) error {
	refuse := func(message, hint string) error {
		return fault.New(fault.Invalid, "gate.unattended", message, hint)
	}
	switch {
	case !slices.Contains(UnattendedTimes, length):
		return refuse("Tools run unattended for 15 or for 60 minutes.", "Choose one of the two.")
	case calls < 1 || calls > MaxUnattendedCalls:
		return refuse(fmt.Sprintf("Tools run unattended for 1 to %d calls.", MaxUnattendedCalls),
			fmt.Sprintf("Write a number from 1 to %d.", MaxUnattendedCalls))
	case !(spend >= 0 && spend <= MaxUnattendedSpend):
		return refuse(fmt.Sprintf("Models may cost between $0 and $%d meanwhile.", MaxUnattendedSpend),
			fmt.Sprintf("Write an amount from 0 to %d.", MaxUnattendedSpend))
	}
	m.mu.Lock()
	if m.paused || m.closed {
		m.mu.Unlock()
		return refuse("All tools are paused.", "Resume them first.")
	}
	m.endLocked()
	// Round takes the monotonic reading away: a computer that sleeps does not stop the clock
	// on the wall. One that is set back does not stop the timer.
	m.unattended = &Unattended{Until: m.now().Round(0).Add(length), Calls: calls, Spend: spend}
	m.end = time.AfterFunc(length, m.EndUnattended)
	m.mu.Unlock()
	m.changed(false)
	return nil
}

// EndUnattended has tools ask as before. It may be called at any time.
func (m *Modes) EndUnattended() {
	m.mu.Lock()
	was := m.unattended != nil
	m.endLocked()
	m.mu.Unlock()
	if was {
		m.bus.Changed(bus.Permissions, "")
	}
}

func (m *Modes) endLocked() {
	if m.end != nil {
		m.end.Stop()
	}
	m.unattended, m.end = nil, nil
}

// Unattended returns what is left of the unattended mode, and whether it is on.
func (m *Modes) Unattended() (Unattended, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.runsUnattended(m.now()) {
		return Unattended{}, false
	}
	return *m.unattended, true
}

// Spent counts what models cost, in US dollars, and ends the unattended mode once that is
// more than it was given.
func (m *Modes) Spent(cost float64) {
	m.mu.Lock()
	over := false
	if m.unattended != nil && cost > 0 { // a provider may say anything
		m.unattended.Spend -= cost
		over = m.unattended.Spend < 0
	}
	m.mu.Unlock()
	if over {
		m.EndUnattended()
	}
}

// countLocked counts a call of the unattended mode, which ends with the last one.
func (m *Modes) countLocked() {
	if m.unattended.Calls--; m.unattended.Calls == 0 {
		m.endLocked()
	}
	m.bus.Changed(bus.Permissions, "")
}

// close ends the unattended mode for good.
func (m *Modes) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.endLocked()
}
