package host_test

import (
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

func TestToolsThatChangeAllTheTimeAreListedAtABoundedRate(t *testing.T) {
	plugintest.Bubble(t, "spindle", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.SaysText("say", "hello")
		s.Permissions = []string{"tools"}
		s.Tools = append(s.Tools, plugintest.Tool{Name: "flip", Do: plugintest.Flips})
		f.Serve("a.js", s)
		began := f.Status("a").Generation
		flip := f.Freeze("a:flip")
		const flips = 1001
		for range flips {
			flip.Says("flipped")
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		most := int64(limit.ToolListings)
		if got := int64(f.Status("a").Generation - began); got != most {
			t.Errorf("%d flips in about a second were listed %d times, want %d", flips, got, most)
		}
		must(t, f.Host.WaitIdle(t.Context())) // what waits to be listed holds up nobody
		f.Offers("a:say", "a:flip")           // as the tenth listing found them

		time.Sleep(10 * time.Second)
		f.Settle()
		f.Offers("a:flip") // the last of all changes is not lost
		if got := int64(f.Status("a").Generation - began); got != most+1 {
			t.Errorf("then they were listed %d times, want %d", got, most+1)
		}
		found := 0
		for _, line := range f.Host.Log("a", 0) {
			if line.Text == "It says all the time that its tools changed. They are listed 10 times within 10 s, and "+
				"the newest ones a little later." {
				found++
			}
		}
		if found != 1 {
			t.Errorf("its log says %d times why, want once", found)
		}

		for range flips { // Close ends a wait
			flip.Says("flipped")
			synctest.Wait()
		}
		f.State("a", plugin.Ready)
	})
}
