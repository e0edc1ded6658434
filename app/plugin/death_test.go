package plugin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
	"conclave/app/tool"
)

func TestAPluginThatDoesNotLoadSaysWhy(t *testing.T) {
	for load, want := range map[plugintest.Load]struct{ kind, message, hint string }{
		plugintest.LoadExits:   {"crashed", "Its process ended before it was ready (exit 3).", "bye"},
		plugintest.LoadGarbage: {"crashed", `It wrote something other than a message to its standard output: "Hello, I print where messages belong.".`, "Output belongs on standard error; see its log."},
		plugintest.LoadFloods:  {"flooded", "It sent a message of more than 4194304 bytes.", "Output belongs on standard error; see its log."},
		plugintest.LoadHangs:   {"deadline", "It did not load within 10 s.", "Look for a loop or a long wait where the file is loaded, outside its functions."},
		plugintest.LoadFails:   {"script", "ValueError: no", ""},
	} {
		t.Run(string(load), func(t *testing.T) {
			bubble(t, "functions", func(t *testing.T, f *fixture) {
				f.serve("b.py", plugintest.SaysText("say", "other"))
				s := plugintest.SaysText("say", "one")
				s.Load, s.Problem = load, plugin.Problem{Message: "ValueError: no", File: "a.py", Line: 3, Frame: "> 3 | no"}
				f.save("a.py", s)
				f.trust("a", false)
				p := f.state("a", plugin.Failed).Problem
				if p.Kind != want.kind || p.Message != want.message || p.Hint != want.hint {
					t.Errorf("LF-06: the problem is %+v, want %+v", p, want)
				}
				if load == plugintest.LoadFails && (p.File != "a.py" || p.Line != 3 || p.Frame == "") {
					t.Errorf("LF-06: the place is %+v", p)
				}
				f.offers("b:say")
				f.says("b:say", "other")
				if n := f.world.Running(); n != 1 {
					t.Errorf("%d processes run, want that of the other plugin", n)
				}
				// Mended, it is what it would have been.
				f.save("a.py", plugintest.SaysText("say", "one"))
				f.trust("a", false)
				f.says("a:say", "one")
			})
		})
	}
}

func TestLF28ACallOverItsLimitEndsTheProcessAndTheNextCallWorks(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.Script{Tools: []plugintest.Tool{
			{Name: "stuck", Do: plugintest.Hangs, TimeoutMS: 2000}, {Name: "long", Do: plugintest.Waits}, {Name: "say", Text: "one"},
		}})
		began := time.Now()
		beside := f.freeze("a:long").begin(t.Context())
		r := f.freeze("a:stuck").call(t.Context(), "{}")
		if r.Status != chat.CallTimeout {
			t.Errorf("SP-33: got %+v", r)
		}
		if took := time.Since(began); took != 2500*time.Millisecond {
			t.Errorf("it took %s, want the limit and the 500 ms of grace", took)
		}
		if r := <-beside; r.Status != chat.CallDied || !strings.Contains(r.Error, "another call ran over its time; call it again") {
			t.Errorf("the call beside it got %+v", r)
		}
		f.says("a:say", "one")
		f.state("a", plugin.Ready)
		f.started(map[string]int{"a": 2})
		if s := f.status("a"); s.Calls != 3 || s.Errors != 2 || s.LastUsed.IsZero() {
			t.Errorf("the card counts %d calls and %d errors", s.Calls, s.Errors)
		}
	})
}

// crashedInDie begins as the contract has it (contracts/llm-functions, section 8.5).
const crashedInDie = "the tool process ended (exit 3) while die of the plugin a ran. " +
	"The next call starts it again; its log shows what it wrote last."

func TestF73AndLF28AProcessThatEndsInACallIsNamedAndStartedAgain(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "die", Do: plugintest.Dies}, {Name: "blurt", Do: plugintest.Blurts}, {Name: "say", Text: "one"}, {Name: "wrong", Do: plugintest.Raises, Text: "Error: no such thing"}}})
		r := f.freeze("a:die").call(t.Context(), "{}")
		if r.Status != chat.CallDied || r.Error != crashedInDie || r.Printed != "dying\n" {
			t.Errorf("got %+v", r)
		}
		f.says("a:say", "one")
		r = f.freeze("a:blurt").call(t.Context(), "{}")
		if r.Status != chat.CallDied || !strings.Contains(r.Error, "something other than a message") || r.ErrorType != "crashed" {
			t.Errorf("garbage on the wire: got %+v", r)
		}
		f.says("a:say", "one")
		if r := f.freeze("a:wrong").call(t.Context(), "{}"); r.Status != chat.CallRaised || r.Error != "no such thing" || r.Content != nil {
			t.Errorf("an exception: got %+v", r)
		}
		f.started(map[string]int{"a": 3})
		f.state("a", plugin.Ready)
		var texts []string
		for _, line := range f.host.Log("a", 0) {
			texts = append(texts, line.Level+" "+line.Text)
		}
		if log := strings.Join(texts, "\n"); !strings.Contains(log, "error Its process ended (exit 3).") {
			t.Errorf("its log says %q", log)
		}
	})
}

func TestThreeDeathsInAMinuteRestAPlugin(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "die", Do: plugintest.Dies}, {Name: "say", Text: "one"}}})
		die, say := f.freeze("a:die"), f.freeze("a:say")
		die.call(t.Context(), "{}")
		die.call(t.Context(), "{}")
		time.Sleep(time.Minute) // in the bubble: those two are forgotten
		die.call(t.Context(), "{}")
		die.call(t.Context(), "{}")
		say.says("one")
		f.state("a", plugin.Ready)
		die.call(t.Context(), "{}")
		synctest.Wait()
		s := f.state("a", plugin.Quarantined)
		if s.Problem == nil || !strings.Contains(s.Problem.Message, "3 times within a minute") || s.Problem.Hint == "" || s.Serving || s.Running {
			t.Errorf("the card says %+v, %+v", s, s.Problem)
		}
		f.offers() // SP-22
		r := say.call(t.Context(), "{}")
		if r.Status != chat.CallDied || !strings.Contains(r.Error, "rests now") {
			t.Errorf("SP-35: a call of a resting plugin got %+v", r)
		}
		f.scan() // a look that finds nothing new does not wake it
		f.state("a", plugin.Quarantined)
		f.started(map[string]int{"a": 5})
		f.trust("a", false)
		f.says("a:say", "one")
		f.state("a", plugin.Ready)
	})
}

func TestReloadWakesARestingPluginAndReplacesAProcess(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "die", Do: plugintest.Dies}, {Name: "say", Text: "one"}}})
		die := f.freeze("a:die")
		for range 3 {
			die.call(t.Context(), "{}")
		}
		synctest.Wait()
		f.state("a", plugin.Quarantined)
		must(t, f.host.Reload("a"))
		f.settle()
		f.says("a:say", "one")
		must(t, f.host.Reload("a"))
		f.settle()
		f.says("a:say", "one")
		f.started(map[string]int{"a": 5})
		if err := f.host.Reload("none"); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestACancelledCallEndsAtOnce(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "heeds", Do: plugintest.Heeds}, {Name: "hangs", Do: plugintest.Hangs}, {Name: "say", Text: "one"}}})
		why := errors.New("you stopped it")
		for _, name := range []string{"heeds", "hangs"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			call := f.freeze("a:" + name).begin(ctx)
			<-f.world.Calls()
			began := time.Now()
			cancel(why)
			r := <-call
			if r.Status != chat.CallCancelled || r.Error != "you stopped it" || time.Since(began) != 0 {
				t.Errorf("LF-35: %s got %+v after %s", name, r, time.Since(began))
			}
			time.Sleep(time.Second) // in the bubble
			f.says("a:say", "one")
		}
		// The one that paid no heed cost the process, the other did not.
		f.started(map[string]int{"a": 2})
		f.state("a", plugin.Ready)
	})
}

func TestACallThatWaitsForAProcessCanBeCancelledToo(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		f.restart()
		f.world.BeforeStart(func(string) { f.raw("a.py", f.text("a.py")) })
		turn := f.freeze("a:say")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r := turn.call(ctx, "{}"); r.Status != chat.CallCancelled {
			t.Errorf("got %+v", r)
		}
		turn.says("one")
	})
}

func TestCloseEndsCallsAndLeavesNothing(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "hangs", Do: plugintest.Hangs}, {Name: "say", Text: "one"}}})
		hangs := plugintest.SaysText("say", "never")
		hangs.Load = plugintest.LoadHangs
		old := f.freeze("a:hangs")
		onOld := old.begin(t.Context())
		<-f.world.Calls()
		must(t, f.host.Reload("a")) // the process with the call is not the newest any more
		f.settle()
		onNew := f.freeze("a:hangs").begin(t.Context())
		<-f.world.Calls()
		f.save("b.py", hangs)
		go func() { _ = f.host.Trust(t.Context(), "b", false) }() // ends with Close
		synctest.Wait()
		if n := f.world.Running(); n != 3 {
			t.Errorf("%d processes run, want 3", n)
		}
		f.close()
		for _, r := range []tool.Result{<-onOld, <-onNew, old.call(t.Context(), "{}")} {
			if r.Status != chat.CallDied || !strings.Contains(r.Error, "Conclave is closing.") {
				t.Errorf("a call got %+v", r)
			}
		}
		f.open() // for the end of the test
	})
}
