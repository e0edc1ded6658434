package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

func TestASavedPluginIsServedAtOnce(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		f.says("a:say", "one")
		first := f.tools.Set().Generation()
		if err := f.host.SetDeveloping(t.Context(), "a", true); err != nil {
			t.Fatal(err)
		}
		f.settle()
		f.started(map[string]int{"a": 1}) // a decision about it does not end its process
		s := plugintest.SaysText("say", "one")
		s.Tools[0].Text = "two"
		f.save("a.py", s)
		f.says("a:say", "two")
		if now := f.tools.Set().Generation(); now <= first {
			t.Errorf("the generation went from %d to %d", first, now)
		}
		if s := f.state("a", plugin.Ready); s.LastGood || !s.Serving || s.Generation != 2 || !s.Running {
			t.Errorf("the card says %+v", s)
		}
	})
}

func TestASaveThatChangesNothingDoesNothing(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		updates, stop := f.host.Updates()
		defer stop()
		set := f.tools.Set()
		f.save("a.py", plugintest.SaysText("say", "one"))
		f.scan()
		f.started(map[string]int{"a": 1})
		if f.tools.Set() != set || len(updates) != 0 {
			t.Errorf("generation %d became %d, with %d updates", set.Generation(), f.tools.Set().Generation(), len(updates))
		}
	})
}

func TestTheLastEditWinsWhileAnEarlierOneLoads(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		must(t, f.host.SetDeveloping(t.Context(), "a", true))
		f.settle()
		// The second version never gets ready; the third is saved while it loads.
		hangs := plugintest.SaysText("say", "one")
		hangs.Load = plugintest.LoadHangs
		f.write("a.py", hangs)
		must(t, f.host.Scan())
		synctest.Wait()
		began := time.Now()
		third := plugintest.SaysText("say", "one")
		third.Tools[0].Text = "three"
		f.save("a.py", third)
		f.says("a:say", "three")
		f.state("a", plugin.Ready)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the newest save waited %s for an older one", took)
		}
	})
}

func TestTheLastEditWinsInEveryState(t *testing.T) {
	good := func(text string) plugintest.Script {
		s := plugintest.SaysText("say", "something")
		s.Tools[0].Text = text
		return s
	}
	states := map[string]func(f *fixture){
		"waiting for approval": func(f *fixture) {
			f.save("a.py", good("other"))
			f.state("a", plugin.NeedsApproval)
		},
		"failed": func(f *fixture) {
			f.raw("a.py", "{ broken")
			f.scan()
			f.state("a", plugin.Failed)
		},
		"disabled": func(f *fixture) {
			f.serve("a.py", good("other"))
			must(f.t, f.host.SetEnabled(f.t.Context(), "a", false))
			f.settle()
			f.save("a.py", good("unseen"))
			f.state("a", plugin.Disabled)
			must(f.t, f.host.SetEnabled(f.t.Context(), "a", true))
		},
		"quarantined": func(f *fixture) {
			f.serve("a.py", good("other"))
			f.save("a.py", good("another"))
			f.state("a", plugin.Quarantined)
		},
		"removed": func(f *fixture) {
			f.serve("a.py", good("other"))
			must(f.t, os.Remove(f.path("a.py")))
			f.scan()
			f.offers()
		},
		"loading": func(f *fixture) {
			s := good("other")
			s.Load = plugintest.LoadHangs
			f.save("a.py", s)
			go func() { _ = f.host.Trust(f.t.Context(), "a", false) }() // ends when the save below has loaded
			synctest.Wait()
			f.state("a", plugin.Loading)
		},
	}
	for name, reach := range states {
		t.Run(name, func(t *testing.T) {
			bubble(t, "functions", func(t *testing.T, f *fixture) {
				reach(f)
				f.write("a.py", good("newest"))
				f.scan()
				f.trust("a", false)
				f.state("a", plugin.Ready)
				f.says("a:say", "newest")
			})
		})
	}
}

func TestABrokenSaveKeepsTheLastGoodVersion(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		f.serve("b.py", plugintest.SaysText("say", "other"))
		f.raw("a.py", "{\n  \"tools\": [\n    oops\n")
		f.scan()
		s := f.state("a", plugin.Failed)
		p := s.Problem
		if p == nil || p.File != "a.py" || p.Line != 3 || p.Frame != "> 3 |     oops" || p.Type != "SyntaxError" || p.Error() == "" {
			t.Errorf("LF-06: the problem is %+v", p)
		}
		if !s.Serving || !s.LastGood || len(s.Tools) != 1 {
			t.Errorf("the card says %+v", s)
		}
		f.says("a:say", "one")
		f.says("b:say", "other")

		f.save("a.py", plugintest.SaysText("say", "one"))
		if s := f.state("a", plugin.Ready); s.LastGood || s.Problem != nil {
			t.Errorf("after mending it the card says %+v", s)
		}
		f.started(map[string]int{"a": 1, "b": 1}) // the same code had never stopped
	})
}

func TestABrokenFirstSaveOffersNothing(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.raw("a.py", "{")
		f.raw("empty.py", "")
		f.scan()
		if s := f.state("a", plugin.Failed); s.Serving || s.LastGood || len(s.Tools) != 0 {
			t.Errorf("the card says %+v", s)
		}
		if s := f.state("empty", plugin.Failed); s.Problem.Message != "empty.py is empty." {
			t.Errorf("the card says %+v", s.Problem)
		}
		f.offers()
		f.started(map[string]int{})
	})
}

func TestAfterARestartTheLastGoodCopyServes(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		f.serve("b/main.py", plugintest.SaysText("say", "two"))
		f.raw("a.py", "{")
		f.raw("b/main.py", "{")
		f.restart()
		f.started(map[string]int{"a": 1, "b": 1})
		for id, want := range map[string]string{"a": "one", "b": "two"} {
			s := f.state(id, plugin.Failed)
			if !s.Serving || !s.LastGood || s.Problem.Line != 1 || s.Path != f.path(map[string]string{"a": "a.py", "b": "b"}[id]) {
				t.Errorf("the card of %s says %+v", id, s)
			}
			f.says(id+":say", want)
		}
	})
}

func TestAnUnchangedPluginIsListedWithoutBeingStarted(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		before := f.status("a")
		f.restart()
		f.started(map[string]int{"a": 1})
		f.offers("a:say")
		s := f.state("a", plugin.Ready)
		if s.Running || !s.Serving || !s.Listed || s.Generation != before.Generation || s.Tools[0].Line != 1 {
			t.Errorf("the card says %+v", s)
		}
		f.says("a:say", "one")
		f.started(map[string]int{"a": 2})
		if !f.status("a").Running {
			t.Error("its process does not run after a call")
		}
	})
}

func TestLF10ACallEndsOnTheOldCodeWhileTheNextUsesTheNew(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		s := plugintest.Script{Tools: []plugintest.Tool{{Name: "say", Do: plugintest.Waits, Text: "old"}, {Name: "quick", Text: "old"}}}
		f.serve("a.py", s)
		must(t, f.host.SetDeveloping(t.Context(), "a", true))
		f.settle()
		turn, quick := f.freeze("a:say"), f.freeze("a:quick")
		result := turn.begin(t.Context())
		<-f.world.Calls()
		s.Tools[0] = plugintest.Tool{Name: "say", Text: "new"}
		s.Tools[1].Text = "new"
		f.save("a.py", s)
		f.says("a:say", "new")
		quick.says("old") // the set that a turn froze stays the old code
		if n := f.world.Running(); n != 2 {
			t.Errorf("%d processes run while the old one has a call, want 2", n)
		}
		f.world.Release()
		if r := <-result; chat.TextOf(r.Content) != "old" {
			t.Errorf("the call that was under way answered %+v", r)
		}
		synctest.Wait()
		time.Sleep(time.Second) // in the bubble, free
		if n := f.world.Running(); n != 1 {
			t.Errorf("%d processes run after the old call, want 1", n)
		}
		quick.says("old") // even now, started once more from the copy
		f.says("a:quick", "new")
	})
}

func TestAVersionWhoseFilesAreGoneIsNotReplacedByAnother(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		s := plugintest.SaysText("say", "one")
		f.serve("a.py", s)
		turn := f.freeze("a:say")
		for _, text := range []string{"two", "three", "four"} { // two copies are kept
			s.Tools[0].Text = text
			f.save("a.py", s)
			f.trust("a", false)
		}
		time.Sleep(time.Second) // in the bubble: the old processes end
		r := turn.call(t.Context(), "{}")
		if r.Status != chat.CallDied || !strings.Contains(r.Error, "changed since") {
			t.Errorf("a call of a version that is no more got %+v", r)
		}
	})
}

func TestAProcessThatStartsLateRunsWhatWasApproved(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		s := plugintest.SaysText("say", "one")
		f.serve("a.py", s)
		f.restart()
		// Saved, and not noticed yet.
		s.Tools[0].Text = "evil"
		f.write("a.py", s)
		f.says("a:say", "one")
		f.scan()
		f.state("a", plugin.Quarantined)
		f.says("a:say", "one")
	})
}

func TestASaveWhileTheProcessStartsIsNotTakenForWhatWasRead(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		s := plugintest.SaysText("say", "one")
		f.serve("a.py", s)
		f.restart()
		evil := plugintest.SaysText("say", "one")
		evil.Tools[0].Text = "evil"
		once := true
		f.world.BeforeStart(func(string) {
			if once {
				once = false
				f.write("a.py", evil)
			}
		})
		f.says("a:say", "one")
	})
}

func TestRemovedAndRenamedPlugins(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		updates, stop := f.host.Updates()
		defer stop()
		must(t, os.Rename(f.path("a.py"), f.path("b.py")))
		f.scan()
		f.offers()
		// Under another name it is another plugin, and starts at zero.
		f.state("b", plugin.NeedsApproval)
		if _, err := f.host.Status("a"); err == nil {
			t.Error("the old name is still there")
		}
		removed := false
		for len(updates) > 0 {
			u := <-updates
			removed = removed || u.Removed && u.Plugin == "a"
		}
		if !removed {
			t.Error("nobody was told that it is gone")
		}
		synctest.Wait()
		time.Sleep(time.Second) // in the bubble
		if n := f.world.Running(); n != 0 {
			t.Errorf("%d processes of removed plugins run", n)
		}
		// Back under its name it is what was approved.
		must(t, os.Rename(f.path("b.py"), f.path("a.py")))
		f.scan()
		f.says("a:say", "one")
	})
}

func TestAnAtomicSaveIsASave(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		s := plugintest.SaysText("say", "one")
		f.serve("a.py", s)
		must(t, f.host.SetDeveloping(t.Context(), "a", true))
		s.Tools[0].Text = "two"
		f.write("a.py.tmp4711", s)
		must(t, os.Rename(f.path("a.py.tmp4711"), f.path("a.py")))
		f.scan()
		f.says("a:say", "two")
		if len(f.host.List()) != 1 {
			t.Errorf("the plugins are %+v", f.host.List())
		}
	})
}

func TestTheFolderMayAppearLaterAndBeUnreadable(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		root := f.dir
		f.close()
		f.dir = filepath.Join(root, "later")
		f.open()
		f.scan() // not there: no plugins, and no error
		f.offers()
		f.serve("a.py", plugintest.SaysText("say", "one"))
		f.says("a:say", "one")

		// A file in place of the folder: what serves goes on, and the reason is shown.
		must(t, os.Rename(f.dir, f.dir+"-moved"), os.WriteFile(f.dir, nil, 0o600))
		err := f.host.Scan()
		if err == nil || !strings.Contains(err.Error(), f.dir) {
			t.Errorf("the error is %v", err)
		}
		if dir, why := f.host.Folder(); dir != f.dir || why == nil || why.Hint == "" {
			t.Errorf("the folder's problem is %v", why)
		}
		f.says("a:say", "one")
		must(t, os.Remove(f.dir), os.Rename(f.dir+"-moved", f.dir))
		f.scan()
		if _, why := f.host.Folder(); why != nil {
			t.Errorf("the folder's problem is %v after it was repaired", why)
		}
		f.started(map[string]int{"a": 1})
	})
}

func TestF67TooManyEntriesAreSaidAndOthersDoNotCount(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		for i := range limit.PluginEntries.Int() + 5 {
			must(t, os.WriteFile(filepath.Join(f.dir, fmt.Sprintf("picture-%d.png", i)), nil, 0o600))
		}
		must(t, os.Mkdir(filepath.Join(f.dir, ".git"), 0o700))
		must(t, f.host.Scan()) // none of these can be a plugin
		f.settle()
		updates, stop := f.host.Updates()
		defer stop()
		for i := range limit.PluginEntries.Int() {
			must(t, os.Mkdir(filepath.Join(f.dir, fmt.Sprintf("folder-%d", i)), 0o700))
		}
		want := strings.ReplaceAll(limit.PluginEntries.Person, "FOLDER", f.dir)
		for range 3 { // it is said once
			if err := f.host.Scan(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %q", err, want)
			}
		}
		if u := <-updates; u.Plugin != "" || u.Problem == nil || u.Problem.Message != want || u.Problem.Hint == "" {
			t.Errorf("those who watch are told %+v", u)
		}
		select {
		case u := <-updates:
			t.Errorf("and %+v", u)
		default:
		}
		if _, why := f.host.Folder(); why == nil || why.Message != want {
			t.Errorf("the folder's problem is %v", why)
		}
		f.says("a:say", "one")
		must(t, os.Remove(filepath.Join(f.dir, "folder-0")))
		must(t, f.host.Scan())
	})
}

func TestALinkThatLeadsOutIsNoPlugin(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "x.py"), []byte(plugintest.SaysText("say", "out").JSON()), 0o600))
		must(t, os.Symlink(filepath.Join(outside, "x.py"), f.path("x.py")), os.Symlink(outside, f.path("y")))
		f.write("_real.py", plugintest.SaysText("say", "in"))
		must(t, os.Symlink("_real.py", f.path("z.py"))) // stays inside
		f.scan()
		list := f.host.List()
		if len(list) != 1 || list[0].ID != "z" {
			t.Errorf("the plugins are %+v", list)
		}
		f.started(map[string]int{})
	})
}

func TestALinkInsideAPluginIsKeptAsALink(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.raw("a/data.txt", "x")
		must(t, os.Symlink("data.txt", f.path("a/link.txt")), os.Symlink("/etc/passwd", f.path("a/out.txt")))
		f.serve("a/main.py", plugintest.SaysText("say", "one"))
		f.raw("a/main.py", "{")
		f.restart()
		f.says("a:say", "one")
	})
}

func TestAFileThatIsTooLargeIsRefusedByName(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("b.py", plugintest.SaysText("say", "one"))
		big, err := os.Create(f.path("big.py"))
		must(t, err)
		must(t, big.Truncate(50<<20), big.Close())
		f.scan()
		s := f.state("big", plugin.Failed)
		if !strings.Contains(s.Problem.Message, "big.py") || s.Problem.Hint == "" {
			t.Errorf("the card says %+v", s.Problem)
		}
		f.says("b:say", "one")
	})
}

func TestAnEditOfASiblingReloadsThePluginThatImportsIt(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		main := plugintest.Script{Files: []string{"_beside.py", "_later.py"}, Tools: []plugintest.Tool{{Name: "own", Text: "own"}}}
		f.write("_beside.py", plugintest.SaysText("say", "one"))
		f.serve("a.py", main)
		f.offers("a:own", "a:say")
		beside := plugintest.SaysText("say", "one")
		beside.Tools[0].Text = "two"
		f.save("_beside.py", beside)
		f.state("a", plugin.Quarantined) // its code is not what was approved
		f.says("a:say", "one")           // from the copy, siblings included
		f.trust("a", true)
		f.says("a:say", "two")
		f.raw("_beside.py", "{")
		f.restart()
		f.state("a", plugin.Failed)
		f.says("a:say", "two")
		f.write("_beside.py", beside)
		f.scan()
		f.state("a", plugin.Ready)
		f.save("_later.py", plugintest.SaysText("more", "three"))
		f.trust("a", false)
		f.says("a:more", "three")
	})
}

func TestFourAtATimeDoNotWaitForOneThatLoadsForEver(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			f.save(name+".py", plugintest.SaysText("say", name))
		}
		hangs := plugintest.SaysText("say", "never")
		hangs.Load = plugintest.LoadHangs
		f.save("slow.py", hangs)
		approved := make(chan error, 1)
		go func() { approved <- f.host.Trust(t.Context(), "slow", false) }() // ends when slow.py is given up
		synctest.Wait()
		began := time.Now()
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			go func() { _ = f.host.Trust(t.Context(), id, false) }() // ends when everything is loaded or given up
		}
		synctest.Wait()
		f.offers("a:say", "b:say", "c:say", "d:say", "e:say", "f:say")
		must(t, <-approved)
		if took := time.Since(began); took != plugin.LoadTimeout {
			t.Errorf("it was given up after %s, want %s", took, plugin.LoadTimeout)
		}
		s := f.state("slow", plugin.Failed)
		if s.Problem.Kind != "deadline" || s.Problem.Message != "It did not load within 10 s." {
			t.Errorf("LF-06: the problem is %+v", s.Problem)
		}
	})
}

func TestWaitingForTheFolderHeedsItsContext(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		s := plugintest.SaysText("say", "never")
		s.Load = plugintest.LoadHangs
		f.save("slow.py", s)
		go func() { _ = f.host.Trust(t.Context(), "slow", false) }() // ends when slow.py is given up
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.host.Settled(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
