package plugin_test

import (
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

func TestF76ToolsThatChangeAllTheTimeAreListedAtABoundedRate(t *testing.T) {
	bubble(t, "spindle", func(t *testing.T, f *fixture) {
		s := plugintest.SaysText("say", "hello")
		s.Permissions = []string{"tools"}
		s.Tools = append(s.Tools, plugintest.Tool{Name: "flip", Do: plugintest.Flips})
		f.serve("a.js", s)
		began := f.status("a").Generation
		flip := f.freeze("a:flip")
		const flips = 1001
		for range flips {
			flip.says("flipped")
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		most := limit.ToolListings.Value
		if got := int64(f.status("a").Generation - began); got != most {
			t.Errorf("%d flips in about a second were listed %d times, want %d", flips, got, most)
		}
		must(t, f.host.Settled(t.Context())) // what waits to be listed holds up nobody
		f.offers("a:say", "a:flip")          // as the tenth listing found them

		time.Sleep(10 * time.Second)
		f.settle()
		f.offers("a:flip") // the last of all changes is not lost
		if got := int64(f.status("a").Generation - began); got != most+1 {
			t.Errorf("then they were listed %d times, want %d", got, most+1)
		}
		found := 0
		for _, line := range f.host.Log("a", 0) {
			if line.Text == limit.ToolListings.Person {
				found++
			}
		}
		if found != 1 {
			t.Errorf("its log says %d times why, want once", found)
		}

		for range flips { // Close ends a wait
			flip.says("flipped")
			synctest.Wait()
		}
		f.state("a", plugin.Ready)
	})
}
