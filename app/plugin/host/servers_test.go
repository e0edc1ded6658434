package host_test

import (
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

func TestMC111APluginThatNobodyUsesEndsAndTheNextCallStartsIt(t *testing.T) {
	plugintest.Bubble(t, "servers", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		for range 3 {
			f.Says("a:say", "one")
			time.Sleep(10 * time.Minute)
		}
		if n := f.World.Running(); n != 1 {
			t.Fatalf("%d processes run of one that is used every ten minutes", n)
		}
		time.Sleep(6 * time.Minute)
		if n := f.World.Running(); n != 0 {
			t.Errorf("%d processes run after 16 minutes without a call", n)
		}
		f.State("a", plugin.Ready)
		f.Says("a:say", "one")
		if err := f.Host.Settings.SetKeepRunning(t.Context(), "a", true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if n := f.World.Running(); n != 1 {
			t.Errorf("%d processes run of one that is kept running", n)
		}
	})
}

func TestMC108RestsBecomeLongerAndThenOnlyAPersonEndsOne(t *testing.T) {
	plugintest.Bubble(t, "servers", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "die", Do: plugintest.Dies}}})
		die := func() {
			for range 3 {
				f.Freeze("a:die").Call(t.Context(), "{}")
			}
			f.State("a", plugin.Quarantined)
		}
		for _, rest := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute} {
			die()
			time.Sleep(rest - time.Second)
			f.State("a", plugin.Quarantined)
			time.Sleep(2 * time.Second)
			f.State("a", plugin.Ready)
		}
		die()
		time.Sleep(24 * time.Hour)
		f.State("a", plugin.Quarantined)
		if err := f.Host.Reload("a"); err != nil {
			t.Fatal(err)
		}
		f.Settle()
		f.State("a", plugin.Ready)
	})
}
