package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
	"conclave/app/tool"
)

func TestTheErrorOfAProgramThatEndedIsFoundInWhatItWrote(t *testing.T) {
	node := "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module 'x'\n" +
		"    at Module.load (a.js:1:2) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v22.1.0\n"
	for text, want := range map[string]string{
		node: "Error: Cannot find module 'x'",
		"Traceback (most recent call last):\n  File \"a.py\"\nModuleNotFoundError: No module named 'mcp'\n": "" +
			"ModuleNotFoundError: No module named 'mcp'",
		"one\ntwo\n\nthree\nfour\n": "two\nthree\nfour",
		"An Error: of words\nbye\n": "An Error: of words\nbye",
		"":                          "",
	} {
		if got := host.LastError(text); got != want {
			t.Errorf("of %q: %q", text, got)
		}
	}
}

func TestAPluginThatDoesNotLoadSaysWhy(t *testing.T) {
	for load, want := range map[plugintest.Load]struct{ kind, message, hint string }{
		plugintest.LoadExits: {"crashed", "Its process ended before it was ready (exit 3).", "bye"},
		plugintest.LoadGarbage: {
			"crashed",
			`It wrote something other than a message to its standard output: "Hello, I print where messages belong.".`,
			"Output belongs on standard error; see its log.",
		},
		plugintest.LoadFloods: {
			"flooded", "It sent a message of more than 4194304 bytes.",
			"Output belongs on standard error; see its log.",
		},
		plugintest.LoadHangs: {
			"deadline", "It did not load within 10 s.",
			"Look for a loop or a long wait where the file is loaded, outside its functions.",
		},
		plugintest.LoadFails: {"script", "ValueError: no", ""},
	} {
		t.Run(string(load), func(t *testing.T) {
			plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
				f.Serve("b.py", plugintest.SaysText("say", "other"))
				s := plugintest.SaysText("say", "one")
				s.Load, s.Problem = load, plugin.Problem{Message: "ValueError: no", File: "a.py", Line: 3, Frame: "> 3 | no"}
				f.Save("a.py", s)
				f.Trust("a", false)
				p := f.State("a", plugin.Failed).Problem
				if p.Kind != want.kind || p.Message != want.message || p.Hint != want.hint {
					t.Errorf("LF-06: the problem is %+v, want %+v", p, want)
				}
				if load == plugintest.LoadFails && (p.File != "a.py" || p.Line != 3 || p.Frame == "") {
					t.Errorf("LF-06: the place is %+v", p)
				}
				f.Offers("b:say")
				f.Says("b:say", "other")
				if n := f.World.Running(); n != 1 {
					t.Errorf("%d processes run, want that of the other plugin", n)
				}
				// Mended, it is what it would have been.
				f.Save("a.py", plugintest.SaysText("say", "one"))
				f.Trust("a", false)
				f.Says("a:say", "one")
			})
		})
	}
}

func TestLF28ACallOverItsLimitEndsTheProcessAndTheNextCallWorks(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.Script{Tools: []plugintest.Tool{
			{Name: "stuck", Do: plugintest.Hangs, TimeoutMS: 2000},
			{Name: "long", Do: plugintest.Waits},
			{Name: "say", Text: "one"},
		}})
		began := time.Now()
		beside := f.Freeze("a:long").Begin(t.Context())
		r := f.Freeze("a:stuck").Call(t.Context(), "{}")
		if r.Status != chat.CallTimeout {
			t.Errorf("SP-33: got %+v", r)
		}
		if took := time.Since(began); took != 2500*time.Millisecond {
			t.Errorf("it took %s, want the limit and the 500 ms of grace", took)
		}
		if r := <-beside; r.Status != chat.CallDied ||
			!strings.Contains(r.Error, "another call ran over its time; call it again") {
			t.Errorf("the call beside it got %+v", r)
		}
		f.Says("a:say", "one")
		f.State("a", plugin.Ready)
		f.Started(map[string]int{"a": 2})
		if s := f.Status("a"); s.Calls != 3 || s.Errors != 2 || s.LastUsed.IsZero() {
			t.Errorf("the card counts %d calls and %d errors", s.Calls, s.Errors)
		}
	})
}

// crashedInDie begins as the contract has it (contracts/llm-functions, section 8.5).
const crashedInDie = "the tool process ended (exit 3) while die of the plugin a ran. " +
	"The next call starts it again; its log shows what it wrote last."

func TestAndLF28AProcessThatEndsInACallIsNamedAndStartedAgain(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py",
			plugintest.Script{Tools: []plugintest.Tool{
				{Name: "die", Do: plugintest.Dies},
				{Name: "blurt", Do: plugintest.Blurts},
				{Name: "say", Text: "one"},
				{Name: "wrong", Do: plugintest.Raises, Text: "Error: no such thing"},
			}})
		r := f.Freeze("a:die").Call(t.Context(), "{}")
		if r.Status != chat.CallDied || r.Error != crashedInDie || r.Printed != "dying\n" {
			t.Errorf("got %+v", r)
		}
		f.Says("a:say", "one")
		r = f.Freeze("a:blurt").Call(t.Context(), "{}")
		if r.Status != chat.CallDied || !strings.Contains(r.Error, "something other than a message") ||
			r.ErrorType != "crashed" {
			t.Errorf("garbage on the wire: got %+v", r)
		}
		f.Says("a:say", "one")
		if r := f.Freeze("a:wrong").Call(t.Context(), "{}"); r.Status != chat.CallRaised || r.Error != "no such thing" ||
			r.Content != nil {
			t.Errorf("an exception: got %+v", r)
		}
		f.Started(map[string]int{"a": 3})
		f.State("a", plugin.Ready)
		var texts []string
		for _, line := range f.Host.Log("a", 0) {
			texts = append(texts, line.Level+" "+line.Text)
		}
		if log := strings.Join(texts, "\n"); !strings.Contains(log, "error Its process ended (exit 3).") {
			t.Errorf("its log says %q", log)
		}
	})
}

func TestThreeDeathsInAMinuteRestAPlugin(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py",
			plugintest.Script{Tools: []plugintest.Tool{{Name: "die", Do: plugintest.Dies}, {Name: "say", Text: "one"}}})
		die, say := f.Freeze("a:die"), f.Freeze("a:say")
		die.Call(t.Context(), "{}")
		die.Call(t.Context(), "{}")
		time.Sleep(time.Minute) // in the bubble: those two are forgotten
		die.Call(t.Context(), "{}")
		die.Call(t.Context(), "{}")
		say.Says("one")
		f.State("a", plugin.Ready)
		die.Call(t.Context(), "{}")
		synctest.Wait()
		s := f.State("a", plugin.Quarantined)
		if s.Problem == nil || !strings.Contains(s.Problem.Message, "3 times within a minute") || s.Problem.Hint == "" ||
			s.Serving || s.Running {
			t.Errorf("the card says %+v, %+v", s, s.Problem)
		}
		f.Offers() // SP-22
		r := say.Call(t.Context(), "{}")
		if r.Status != chat.CallDied || !strings.Contains(r.Error, "rests now") {
			t.Errorf("SP-35: a call of a resting plugin got %+v", r)
		}
		f.Scan() // a look that finds nothing new does not wake it
		f.State("a", plugin.Quarantined)
		f.Started(map[string]int{"a": 5})
		f.Trust("a", false)
		f.Says("a:say", "one")
		f.State("a", plugin.Ready)
	})
}

func TestReloadWakesARestingPluginAndReplacesAProcess(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py",
			plugintest.Script{Tools: []plugintest.Tool{{Name: "die", Do: plugintest.Dies}, {Name: "say", Text: "one"}}})
		die := f.Freeze("a:die")
		for range 3 {
			die.Call(t.Context(), "{}")
		}
		synctest.Wait()
		f.State("a", plugin.Quarantined)
		must(t, f.Host.Reload("a"))
		f.Settle()
		f.Says("a:say", "one")
		must(t, f.Host.Reload("a"))
		f.Settle()
		f.Says("a:say", "one")
		f.Started(map[string]int{"a": 5})
		if err := f.Host.Reload("none"); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestACancelledCallEndsAtOnce(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py",
			plugintest.Script{Tools: []plugintest.Tool{
				{Name: "heeds", Do: plugintest.Heeds},
				{Name: "hangs", Do: plugintest.Hangs},
				{Name: "say", Text: "one"},
			}})
		why := errors.New("you stopped it")
		for _, name := range []string{"heeds", "hangs"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			call := f.Freeze("a:" + name).Begin(ctx)
			<-f.World.Calls()
			began := time.Now()
			cancel(why)
			r := <-call
			if r.Status != chat.CallCancelled || r.Error != "you stopped it" || time.Since(began) != 0 {
				t.Errorf("LF-35: %s got %+v after %s", name, r, time.Since(began))
			}
			time.Sleep(time.Second) // in the bubble
			f.Says("a:say", "one")
		}
		// The one that paid no heed cost the process, the other did not.
		f.Started(map[string]int{"a": 2})
		f.State("a", plugin.Ready)
	})
}

func TestACallThatWaitsForAProcessCanBeCancelledToo(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		f.Restart()
		f.World.BeforeStart(func(string) { f.Raw("a.py", f.Text("a.py")) })
		turn := f.Freeze("a:say")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r := turn.Call(ctx, "{}"); r.Status != chat.CallCancelled {
			t.Errorf("got %+v", r)
		}
		turn.Says("one")
	})
}

func TestCloseEndsCallsAndLeavesNothing(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py",
			plugintest.Script{Tools: []plugintest.Tool{{Name: "hangs", Do: plugintest.Hangs}, {Name: "say", Text: "one"}}})
		hangs := plugintest.SaysText("say", "never")
		hangs.Load = plugintest.LoadHangs
		old := f.Freeze("a:hangs")
		onOld := old.Begin(t.Context())
		<-f.World.Calls()
		must(t, f.Host.Reload("a")) // the process with the call is not the newest any more
		f.Settle()
		onNew := f.Freeze("a:hangs").Begin(t.Context())
		<-f.World.Calls()
		f.Save("b.py", hangs)
		go func() { _ = plugintest.Approve(t.Context(), f.Host, "b", false) }() // ends with Close
		synctest.Wait()
		if n := f.World.Running(); n != 3 {
			t.Errorf("%d processes run, want 3", n)
		}
		f.Close()
		for _, r := range []tool.Result{<-onOld, <-onNew, old.Call(t.Context(), "{}")} {
			if r.Status != chat.CallDied || !strings.Contains(r.Error, "Conclave is closing.") {
				t.Errorf("a call got %+v", r)
			}
		}
		f.Open() // for the end of the test
	})
}

func TestACallWhoseTimePassesWhileItsProcessStartsTimesOut(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.Script{Load: plugintest.LoadStarved, Tools: []plugintest.Tool{
			{Name: "say", Text: "hello", TimeoutMS: 2000}, {Name: "die", Do: plugintest.Dies},
		}})
		f.Freeze("a:die").Call(t.Context(), "{}")
		f.World.Busy.Store(true)
		if r := f.Freeze("a:say").Call(t.Context(), "{}"); r.Status != chat.CallTimeout {
			t.Errorf("got %s %q", r.Status, r.Error)
		}
		f.World.Busy.Store(false)
		f.Says("a:say", "hello")
	})
}
