package permit

import (
	"fmt"
	"slices"
	"time"

	"conclave/app/fault"
)

// Unattended is the mode in which the main model's tools run without asking a person, up
// to an end that it cannot pass. It takes the place of steps 8 and 9 of the order: what an
// earlier step refuses or asks about, it refuses or asks about as ever. It is kept in
// memory alone, so nothing runs unattended after a restart.
type Unattended struct {
	Until time.Time // by the clock on the wall
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

// StartUnattended lets the main model's tools run without asking: for one of
// UnattendedTimes, for so many calls, until models have cost so much. It takes the place of
// what held before, and resolves the requests that it decides. The kind is invalid for
// bounds that are none.
func (g *Gate) StartUnattended(length time.Duration, calls int, spend float64) error {
	refuse := func(message, hint string) error {
		return fault.New(fault.Invalid, "permit.unattended", message, hint)
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
	g.mu.Lock()
	if g.paused || g.closed {
		g.mu.Unlock()
		return refuse("All tools are paused.", "Resume them first.")
	}
	g.endUnattendedLocked()
	// Round takes the monotonic reading away: a computer that sleeps does not stop the clock
	// on the wall. One that is set back does not stop the timer.
	g.unattended = &Unattended{Until: g.o.Now().Round(0).Add(length), Calls: calls, Spend: spend}
	g.unattendedEnd = time.AfterFunc(length, g.EndUnattended)
	g.mu.Unlock()
	g.recheckWaiting()
	return nil
}

// EndUnattended has tools ask as before. It may be called at any time.
func (g *Gate) EndUnattended() {
	g.mu.Lock()
	was := g.unattended != nil
	g.endUnattendedLocked()
	g.mu.Unlock()
	if was {
		g.notify()
	}
}

func (g *Gate) endUnattendedLocked() {
	if g.unattendedEnd != nil {
		g.unattendedEnd.Stop()
	}
	g.unattended, g.unattendedEnd = nil, nil
}

// Unattended returns what is left of the unattended mode, and whether it is on.
func (g *Gate) Unattended() (Unattended, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.unattendedLocked(g.o.Now()) {
		return Unattended{}, false
	}
	return *g.unattended, true
}

// Spent counts what models cost, in US dollars, and ends the unattended mode once that is
// more than it was given.
func (g *Gate) Spent(cost float64) {
	g.mu.Lock()
	over := false
	if g.unattended != nil && cost > 0 { // a provider may say anything
		g.unattended.Spend -= cost
		over = g.unattended.Spend < 0
	}
	g.mu.Unlock()
	if over {
		g.EndUnattended()
	}
}

func (g *Gate) unattendedLocked(now time.Time) bool {
	return g.unattended != nil && now.Round(0).Before(g.unattended.Until) && g.unattended.Calls > 0
}

// byUnattended is the By of calls that ran because nobody needed to be asked.
const byUnattended = "unattended mode"

// unattended allows a call of the main model of which all is known and that uses no
// secret of the person's: any call of a plugin that was lent one may have it sent.
func unattended(c *check) ruling {
	if c.call.Caller != Main || c.call.Instead != "" || len(c.capabilities) == 0 || !c.g.unattendedLocked(c.now) ||
		c.g.lentLocked(c.call.Tool.Plugin) {
		return ruling{}
	}
	for _, capability := range c.capabilities {
		if _, known := table[capability]; !known || capability == UseSecret {
			return ruling{}
		}
	}
	return ruling{
		effect: Allow, why: "you let tools run unattended until " + c.g.unattended.Until.Local().Format("15:04"),
		by: byUnattended,
	}
}
