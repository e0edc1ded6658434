package plugin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

// hanging is a plugin that was approved and hung at its first load.
func (f *fixture) hanging(name string) {
	f.t.Helper()
	s := plugintest.SaysText("say", "never")
	s.Load = plugintest.LoadHangs
	f.save(name, s)
	f.trust(idOf(name), false)
	f.state(idOf(name), plugin.Failed)
}

func TestF64APluginThatHungIsNotStartedAgainUntilItChanges(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.hanging("slow.py")
		f.started(map[string]int{"slow": 1})
		if got := f.status("slow").Problem.Message; got != "It did not load within 10 s." {
			t.Errorf("first, it says %q", got)
		}

		f.restart() // the next command
		f.started(map[string]int{"slow": 1})
		p := f.state("slow", plugin.Failed).Problem
		if p.Kind != "deadline" || !strings.HasPrefix(p.Message, "It did not load within 10 s. It is not started again before ") || p.Hint == "" {
			t.Errorf("the problem is %+v", p)
		}

		must(t, f.host.Reload("slow")) // asked for: it is tried
		f.settle()
		f.started(map[string]int{"slow": 2})

		f.restart()
		f.started(map[string]int{"slow": 2})
		f.save("slow.py", plugintest.SaysText("say", "well again"))
		f.trust("slow", false)
		f.state("slow", plugin.Ready)
		f.says("slow:say", "well again")
	})
}

func TestF64WhatIsWaitedForIsOnlyThePluginThatIsNeeded(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("good.py", plugintest.SaysText("say", "hello"))
		s := plugintest.SaysText("say", "never")
		s.Load = plugintest.LoadHangs
		f.save("slow.py", s)
		go func() { _ = f.host.Trust(t.Context(), "slow", false) }() // ends when slow.py is given up
		synctest.Wait()
		began := time.Now()
		must(t, f.host.Reload("good"), f.host.Loaded(t.Context(), "good"))
		f.says("good:say", "hello")
		if took := time.Since(began); took != 0 {
			t.Errorf("a plugin was waited for that is not needed: %s", took)
		}
		for _, names := range [][]string{{"slow"}, {"good", "slow"}, {"nobody"}, nil} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := f.host.Loaded(ctx, names...); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("waiting for %q ended with %v while slow.py loads", names, err)
			}
			cancel()
		}
		must(t, f.host.Settled(t.Context()))
	})
}

func TestF64AHangIsForgottenAfterARestThatGrows(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.hanging("slow.py")
		for i, rest := range []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
			time.Sleep(rest - time.Minute)
			f.restart()
			f.started(map[string]int{"slow": i + 1})
			time.Sleep(time.Minute)
			f.restart()
			f.started(map[string]int{"slow": i + 2})
		}
	})
}

func TestF64APluginThatABusyMachineKeptFromLoadingComesBackByItself(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.world.Busy.Store(true)
		s := plugintest.SaysText("say", "well")
		s.Load = plugintest.LoadStarved
		f.save("slow.py", s)
		f.trust("slow", false)
		f.state("slow", plugin.Failed)
		f.world.Busy.Store(false)

		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { // ends with ctx, which is waited for
			defer close(over)
			f.host.RetryHung(ctx)
		}()
		time.Sleep(9 * time.Minute)
		f.state("slow", plugin.Failed)
		f.started(map[string]int{"slow": 1})
		time.Sleep(3 * time.Minute)
		f.settle()
		f.state("slow", plugin.Ready)
		f.says("slow:say", "well")
		stop()
		<-over

		// It is forgotten: another hang of the same counts as the first.
		f.world.Busy.Store(true)
		must(t, f.host.Reload("slow"))
		f.settle()
		f.state("slow", plugin.Failed)
		f.world.Busy.Store(false)
		time.Sleep(10 * time.Minute)
		f.restart()
		f.state("slow", plugin.Ready)
	})
}
