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
		open := all.Start(time.Now().Add(30*time.Second), nil)
		defer open.Stop()
		time.Sleep(10 * time.Second)
		all.Move(wire.Asking{ID: 7, MS: 600_000})
		all.Move(wire.Asking{ID: 7, MS: 600_000}) // said twice, it counts once
		later := all.Start(time.Now().Add(30*time.Second), nil)
		defer later.Stop()
		time.Sleep(29 * time.Second)
		if out(open) || out(later) {
			t.Error("it ran out while the person was asked")
		}
		time.Sleep(2 * time.Second)
		if !out(later) {
			t.Error("a call that began meanwhile has more time")
		}
		all.Move(wire.Asking{ID: 7, Over: true}) // they took 31 seconds
		all.Move(wire.Asking{ID: 7, Over: true})
		all.Move(wire.Asking{ID: 8, Over: true}) // of a question it never heard of
		time.Sleep(19 * time.Second)
		if out(open) {
			t.Error("the person's time was counted")
		}
		time.Sleep(2 * time.Second)
		if !out(open) {
			t.Error("it has no end")
		}
		stopped := all.Start(time.Now(), nil)
		stopped.Stop()
		all.Move(wire.Asking{ID: 9, MS: 1})
	})
}

// A plugin that asks for many things at once, or for one after the other, gets no more time
// than passed while somebody was asked, and that has a bound.
func TestAttackQuestionsOfACallGiveItNoTimeToHold(t *testing.T) {
	for name, c := range map[string]struct {
		ask  func(all *wire.Clocks)
		left time.Duration // until it runs out, once all was asked
	}{
		"a hundred at once": {func(all *wire.Clocks) {
			for id := range int64(100) {
				all.Move(wire.Asking{ID: id, MS: 600_000})
			}
			time.Sleep(10 * time.Minute)
			for id := range int64(100) {
				all.Move(wire.Asking{ID: id, Over: true})
			}
		}, 30 * time.Second},
		"one begins before the other is over": {func(all *wire.Clocks) {
			all.Move(wire.Asking{ID: 1, MS: 600_000})
			time.Sleep(5 * time.Minute)
			all.Move(wire.Asking{ID: 2, MS: 600_000})
			time.Sleep(5 * time.Minute)
			all.Move(wire.Asking{ID: 1, Over: true})
			time.Sleep(4 * time.Minute)
			all.Move(wire.Asking{ID: 2, Over: true})
		}, 30 * time.Second},
		"one whose end is never heard of": {func(all *wire.Clocks) {
			all.Move(wire.Asking{ID: 1, MS: 600_000})
			time.Sleep(10 * time.Minute)
		}, 30 * time.Second},
		"one after the other, without an end": {func(all *wire.Clocks) {
			for id := range int64(3) {
				all.Move(wire.Asking{ID: id, MS: 600_000})
				time.Sleep(10 * time.Minute)
				all.Move(wire.Asking{ID: id, Over: true})
			}
			all.Move(wire.Asking{ID: 3, MS: 600_000})
		}, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all wire.Clocks
				var until time.Time
				clock := all.Start(time.Now().Add(30*time.Second), func(at time.Time) { until = at })
				defer clock.Stop()
				c.ask(&all)
				asked := time.Now()
				<-clock.Over()
				if left := time.Since(asked); left != c.left || !until.Equal(time.Now()) {
					t.Errorf("it runs out %s after that, and at %s by what it says; want %s", left, until, c.left)
				}
			})
		})
	}
}
