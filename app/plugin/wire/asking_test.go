package wire_test

import (
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/plugin/wire"
)

// A call's time does not run while a person is asked; that of one that begins meanwhile does.
func TestACallHasTheTimeThatAPersonTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all wire.Clocks
		out := func(c *wire.Clock) bool {
			synctest.Wait()
			select {
			case <-c.Over():
				return true
			default:
				return false
			}
		}
		open := all.Start(time.Now().Add(30 * time.Second))
		defer open.Stop()
		time.Sleep(10 * time.Second)
		all.Move(wire.Asking{ID: 7, MS: 600_000})
		all.Move(wire.Asking{ID: 7, MS: 600_000}) // said twice, it counts once
		later := all.Start(time.Now().Add(30 * time.Second))
		defer later.Stop()
		time.Sleep(29 * time.Second)
		if out(open) || out(later) {
			t.Error("it ran out while the person was asked")
		}
		time.Sleep(2 * time.Second)
		if !out(later) {
			t.Error("a call that began meanwhile has more time")
		}
		// They took 31 seconds of ten minutes, so 569 are given back.
		all.Move(wire.Asking{ID: 7, Over: true, MS: 569_000})
		all.Move(wire.Asking{ID: 7, Over: true, MS: 569_000})
		all.Move(wire.Asking{ID: 8, Over: true, MS: 600_000}) // of a question it never heard of
		time.Sleep(19 * time.Second)
		if out(open) {
			t.Error("the person's time was counted")
		}
		time.Sleep(2 * time.Second)
		if !out(open) {
			t.Error("it has no end")
		}
		stopped := all.Start(time.Now())
		stopped.Stop()
		all.Move(wire.Asking{ID: 9, MS: 1})
	})
}
