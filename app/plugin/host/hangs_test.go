package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
)

// hanging is a plugin that was approved and hung at its first load.
func hanging(f *plugintest.Fixture, name string) {
	f.T.Helper()
	s := plugintest.SaysText("say", "never")
	s.Load = plugintest.LoadHangs
	f.Save(name, s)
	f.Trust(plugin.IDOf(name, false), false)
	f.State(plugin.IDOf(name, false), plugin.Failed)
}

func TestAPluginThatHungIsNotStartedAgainUntilItChanges(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		hanging(f, "slow.py")
		f.Started(map[string]int{"slow": 1})
		if got := f.Status("slow").Problem.Message; got != "It did not load within 10 s." {
			t.Errorf("first, it says %q", got)
		}

		f.Restart() // the next command
		f.Started(map[string]int{"slow": 1})
		p := f.State("slow", plugin.Failed).Problem
		if p.Kind != "deadline" ||
			!strings.HasPrefix(p.Message, "It did not load within 10 s. It is not started again before ") || p.Hint == "" {
			t.Errorf("the problem is %+v", p)
		}

		must(t, f.Host.Reload("slow")) // asked for: it is tried
		f.Settle()
		f.Started(map[string]int{"slow": 2})

		f.Restart()
		f.Started(map[string]int{"slow": 2})
		f.Save("slow.py", plugintest.SaysText("say", "well again"))
		f.Trust("slow", false)
		f.State("slow", plugin.Ready)
		f.Says("slow:say", "well again")
	})
}

func TestWhatIsWaitedForIsOnlyThePluginThatIsNeeded(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("good.py", plugintest.SaysText("say", "hello"))
		s := plugintest.SaysText("say", "never")
		s.Load = plugintest.LoadHangs
		f.Save("slow.py", s)
		go func() { _ = plugintest.Approve(t.Context(), f.Host, "slow", false) }() // ends when slow.py is given up
		synctest.Wait()
		began := time.Now()
		must(t, f.Host.Reload("good"), f.Host.WaitLoaded(t.Context(), "good"))
		f.Says("good:say", "hello")
		if took := time.Since(began); took != 0 {
			t.Errorf("a plugin was waited for that is not needed: %s", took)
		}
		for _, names := range [][]string{{"slow"}, {"good", "slow"}, {"nobody"}, nil} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := f.Host.WaitLoaded(ctx, names...); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("waiting for %q ended with %v while slow.py loads", names, err)
			}
			cancel()
		}
		must(t, f.Host.WaitIdle(t.Context()))
	})
}

func TestAHangIsForgottenAfterARestThatGrows(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		hanging(f, "slow.py")
		for i, rest := range []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
			time.Sleep(rest - time.Minute)
			f.Restart()
			f.Started(map[string]int{"slow": i + 1})
			time.Sleep(time.Minute)
			f.Restart()
			f.Started(map[string]int{"slow": i + 2})
		}
	})
}

func TestAPluginThatABusyMachineKeptFromLoadingComesBackByItself(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.World.Busy.Store(true)
		s := plugintest.SaysText("say", "well")
		s.Load = plugintest.LoadStarved
		f.Save("slow.py", s)
		began := time.Now()
		f.Trust("slow", false)
		if p := f.State("slow", plugin.Failed).Problem; p.Kind != "busy" ||
			p.Message != "The computer was too busy to load it within 60 s." {
			t.Errorf("the problem is %+v", p)
		}
		if took := time.Since(began); took < time.Minute {
			t.Errorf("it was given up after %s", took)
		}
		f.World.Busy.Store(false)

		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { // ends with ctx, which is waited for
			defer close(over)
			host.RetryHung(ctx, f.Host)
		}()
		time.Sleep(2 * time.Minute)
		f.Settle()
		f.State("slow", plugin.Ready)
		f.Started(map[string]int{"slow": 2})
		f.Says("slow:say", "well")
		stop()
		<-over

		// It does not rest: the next command tries it.
		f.World.Busy.Store(true)
		must(t, f.Host.Reload("slow"))
		time.Sleep(90 * time.Second)
		f.Settle()
		f.State("slow", plugin.Failed)
		f.World.Busy.Store(false)
		f.Restart()
		f.State("slow", plugin.Ready)
	})
}

func TestTheTimeOfALoadIsThePluginsAndNotTheComputers(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.World.Busy.Store(true)
		s := plugintest.SaysText("say", "well")
		s.Load = plugintest.LoadStarved
		f.Save("slow.py", s)
		time.AfterFunc(45*time.Second, func() { f.World.Busy.Store(false) })
		f.Trust("slow", false)
		f.State("slow", plugin.Ready)
		f.Started(map[string]int{"slow": 1})
	})
}
