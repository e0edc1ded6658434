package host_test

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

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
)

func TestASavedPluginIsServedAtOnce(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		f.Says("a:say", "one")
		first := f.Tools.Set().Generation()
		must(t, f.Host.Approvals.SetDeveloping(t.Context(), "a", true))
		f.Settle()
		f.Started(map[string]int{"a": 1}) // a decision about it does not end its process
		s := plugintest.SaysText("say", "one")
		s.Tools[0].Text = "two"
		f.Save("a.py", s)
		f.Says("a:say", "two")
		if now := f.Tools.Set().Generation(); now <= first {
			t.Errorf("the generation went from %d to %d", first, now)
		}
		if s := f.State("a", plugin.Ready); s.LastGood || !s.Serving || s.Generation != 2 || !s.Running {
			t.Errorf("the card says %+v", s)
		}
	})
}

func TestASaveThatChangesNothingDoesNothing(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		updates, stop := f.Host.Updates()
		defer stop()
		set := f.Tools.Set()
		f.Save("a.py", plugintest.SaysText("say", "one"))
		f.Scan()
		f.Started(map[string]int{"a": 1})
		if f.Tools.Set() != set || len(updates) != 0 {
			t.Errorf("generation %d became %d, with %d updates", set.Generation(), f.Tools.Set().Generation(), len(updates))
		}
	})
}

func TestTheLastEditWinsWhileAnEarlierOneLoads(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		must(t, f.Host.Approvals.SetDeveloping(t.Context(), "a", true))
		f.Settle()
		// The second version never gets ready; the third is saved while it loads.
		hangs := plugintest.SaysText("say", "one")
		hangs.Load = plugintest.LoadHangs
		f.Write("a.py", hangs)
		must(t, f.Host.Scan())
		synctest.Wait()
		began := time.Now()
		third := plugintest.SaysText("say", "one")
		third.Tools[0].Text = "three"
		f.Save("a.py", third)
		f.Says("a:say", "three")
		f.State("a", plugin.Ready)
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
	states := map[string]func(f *plugintest.Fixture){
		"waiting for approval": func(f *plugintest.Fixture) {
			f.Save("a.py", good("other"))
			f.State("a", plugin.NeedsApproval)
		},
		"failed": func(f *plugintest.Fixture) {
			f.Raw("a.py", "{ broken")
			f.Scan()
			f.State("a", plugin.Failed)
		},
		"disabled": func(f *plugintest.Fixture) {
			f.Serve("a.py", good("other"))
			must(f.T, f.Host.SetEnabled(f.T.Context(), "a", false))
			f.Settle()
			f.Save("a.py", good("unseen"))
			f.State("a", plugin.Disabled)
			must(f.T, f.Host.SetEnabled(f.T.Context(), "a", true))
		},
		"quarantined": func(f *plugintest.Fixture) {
			f.Serve("a.py", good("other"))
			f.Save("a.py", good("another"))
			f.State("a", plugin.Quarantined)
		},
		"removed": func(f *plugintest.Fixture) {
			f.Serve("a.py", good("other"))
			must(f.T, os.Remove(f.Path("a.py")))
			f.Scan()
			f.Offers()
		},
		"loading": func(f *plugintest.Fixture) {
			s := good("other")
			s.Load = plugintest.LoadHangs
			f.Save("a.py", s)
			go func() { _ = plugintest.Approve(f.T.Context(), f.Host, "a", false) }() // ends when the save below has loaded
			synctest.Wait()
			f.State("a", plugin.Loading)
		},
	}
	for name, reach := range states {
		t.Run(name, func(t *testing.T) {
			plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
				reach(f)
				f.Write("a.py", good("newest"))
				f.Scan()
				f.Trust("a", false)
				f.State("a", plugin.Ready)
				f.Says("a:say", "newest")
			})
		})
	}
}

func TestABrokenSaveKeepsTheLastGoodVersion(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		f.Serve("b.py", plugintest.SaysText("say", "other"))
		f.Raw("a.py", "{\n  \"tools\": [\n    oops\n")
		f.Scan()
		s := f.State("a", plugin.Failed)
		p := s.Problem
		if p == nil || p.File != "a.py" || p.Line != 3 || p.Frame != "> 3 |     oops" || p.Type != "SyntaxError" ||
			p.Error() == "" {
			t.Errorf("LF-06: the problem is %+v", p)
		}
		if !s.Serving || !s.LastGood || len(s.Tools) != 1 {
			t.Errorf("the card says %+v", s)
		}
		f.Says("a:say", "one")
		f.Says("b:say", "other")

		f.Save("a.py", plugintest.SaysText("say", "one"))
		if s := f.State("a", plugin.Ready); s.LastGood || s.Problem != nil {
			t.Errorf("after mending it the card says %+v", s)
		}
		f.Started(map[string]int{"a": 1, "b": 1}) // the same code had never stopped
	})
}

func TestABrokenFirstSaveOffersNothing(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Raw("a.py", "{")
		f.Raw("empty.py", "")
		f.Scan()
		if s := f.State("a", plugin.Failed); s.Serving || s.LastGood || len(s.Tools) != 0 {
			t.Errorf("the card says %+v", s)
		}
		if s := f.State("empty", plugin.Failed); s.Problem.Message != "empty.py is empty." {
			t.Errorf("the card says %+v", s.Problem)
		}
		f.Offers()
		f.Started(map[string]int{})
	})
}

func TestAfterARestartTheLastGoodCopyServes(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		f.Serve("b/main.py", plugintest.SaysText("say", "two"))
		f.Raw("a.py", "{")
		f.Raw("b/main.py", "{")
		f.Restart()
		f.Started(map[string]int{"a": 1, "b": 1})
		for id, want := range map[string]string{"a": "one", "b": "two"} {
			s := f.State(id, plugin.Failed)
			if !s.Serving || !s.LastGood || s.Problem.Line != 1 ||
				s.Path != f.Path(map[string]string{"a": "a.py", "b": "b"}[id]) {
				t.Errorf("the card of %s says %+v", id, s)
			}
			f.Says(id+":say", want)
		}
	})
}

func TestAnUnchangedPluginIsListedWithoutBeingStarted(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		before := f.Status("a")
		f.Restart()
		f.Started(map[string]int{"a": 1})
		f.Offers("a:say")
		s := f.State("a", plugin.Ready)
		if s.Running || !s.Serving || !s.Listed || s.Generation != before.Generation || s.Tools[0].Line != 1 {
			t.Errorf("the card says %+v", s)
		}
		f.Says("a:say", "one")
		f.Started(map[string]int{"a": 2})
		if !f.Status("a").Running {
			t.Error("its process does not run after a call")
		}
	})
}

func TestLF10ACallEndsOnTheOldCodeWhileTheNextUsesTheNew(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.Script{Tools: []plugintest.Tool{
			{Name: "say", Do: plugintest.Waits, Text: "old"},
			{Name: "quick", Text: "old"},
		}}
		f.Serve("a.py", s)
		must(t, f.Host.Approvals.SetDeveloping(t.Context(), "a", true))
		f.Settle()
		turn, quick := f.Freeze("a:say"), f.Freeze("a:quick")
		result := turn.Begin(t.Context())
		<-f.World.Calls()
		s.Tools[0] = plugintest.Tool{Name: "say", Text: "new"}
		s.Tools[1].Text = "new"
		f.Save("a.py", s)
		f.Says("a:say", "new")
		quick.Says("old") // the set that a turn froze stays the old code
		if n := f.World.Running(); n != 2 {
			t.Errorf("%d processes run while the old one has a call, want 2", n)
		}
		f.World.Release()
		if r := <-result; chat.TextOf(r.Content) != "old" {
			t.Errorf("the call that was under way answered %+v", r)
		}
		synctest.Wait()
		time.Sleep(time.Second) // in the bubble, free
		if n := f.World.Running(); n != 1 {
			t.Errorf("%d processes run after the old call, want 1", n)
		}
		quick.Says("old") // even now, started once more from the copy
		f.Says("a:quick", "new")
	})
}

func TestAVersionWhoseFilesAreGoneIsNotReplacedByAnother(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.SaysText("say", "one")
		f.Serve("a.py", s)
		turn := f.Freeze("a:say")
		for _, text := range []string{"two", "three", "four"} { // two copies are kept
			s.Tools[0].Text = text
			f.Save("a.py", s)
			f.Trust("a", false)
		}
		time.Sleep(time.Second) // in the bubble: the old processes end
		r := turn.Call(t.Context(), "{}")
		if r.Status != chat.CallDied || !strings.Contains(r.Error, "changed since") {
			t.Errorf("a call of a version that is no more got %+v", r)
		}
	})
}

func TestAProcessThatStartsLateRunsWhatWasApproved(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.SaysText("say", "one")
		f.Serve("a.py", s)
		f.Restart()
		// Saved, and not noticed yet.
		s.Tools[0].Text = "evil"
		f.Write("a.py", s)
		f.Says("a:say", "one")
		f.Scan()
		f.State("a", plugin.Quarantined)
		f.Says("a:say", "one")
	})
}

func TestASaveWhileTheProcessStartsIsNotTakenForWhatWasRead(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.SaysText("say", "one")
		f.Serve("a.py", s)
		f.Restart()
		evil := plugintest.SaysText("say", "one")
		evil.Tools[0].Text = "evil"
		once := true
		f.World.BeforeStart(func(string) {
			if once {
				once = false
				f.Write("a.py", evil)
			}
		})
		f.Says("a:say", "one")
	})
}

func TestRemovedAndRenamedPlugins(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		updates, stop := f.Host.Updates()
		defer stop()
		must(t, os.Rename(f.Path("a.py"), f.Path("b.py")))
		f.Scan()
		f.Offers()
		// Under another name it is another plugin, and starts at zero.
		f.State("b", plugin.NeedsApproval)
		if _, err := f.Host.Status("a"); err == nil {
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
		if n := f.World.Running(); n != 0 {
			t.Errorf("%d processes of removed plugins run", n)
		}
		// Back under its name it is what was approved.
		must(t, os.Rename(f.Path("b.py"), f.Path("a.py")))
		f.Scan()
		f.Says("a:say", "one")
	})
}

func TestAnAtomicSaveIsASave(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.SaysText("say", "one")
		f.Serve("a.py", s)
		must(t, f.Host.Approvals.SetDeveloping(t.Context(), "a", true))
		s.Tools[0].Text = "two"
		f.Write("a.py.tmp4711", s)
		must(t, os.Rename(f.Path("a.py.tmp4711"), f.Path("a.py")))
		f.Scan()
		f.Says("a:say", "two")
		if len(f.Host.List()) != 1 {
			t.Errorf("the plugins are %+v", f.Host.List())
		}
	})
}

func TestTheFolderMayAppearLaterAndBeUnreadable(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		root := f.Dir
		f.Close()
		f.Dir = filepath.Join(root, "later")
		f.Open()
		f.Scan() // not there: no plugins, and no error
		f.Offers()
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		f.Says("a:say", "one")

		// A file in place of the folder: what serves goes on, and the reason is shown.
		must(t, os.Rename(f.Dir, f.Dir+"-moved"), os.WriteFile(f.Dir, nil, 0o600))
		err := f.Host.Scan()
		if err == nil || !strings.Contains(err.Error(), f.Dir) {
			t.Errorf("the error is %v", err)
		}
		if dir, why := f.Host.Folder.Dir, f.Host.Folder.Problem(); dir != f.Dir || why == nil || why.Hint == "" {
			t.Errorf("the folder's problem is %v", why)
		}
		f.Says("a:say", "one")
		must(t, os.Remove(f.Dir), os.Rename(f.Dir+"-moved", f.Dir))
		f.Scan()
		if why := f.Host.Folder.Problem(); why != nil {
			t.Errorf("the folder's problem is %v after it was repaired", why)
		}
		f.Started(map[string]int{"a": 1})
	})
}

func TestTooManyEntriesAreSaidAndOthersDoNotCount(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		for i := range limit.PluginEntries + 5 {
			must(t, os.WriteFile(filepath.Join(f.Dir, fmt.Sprintf("picture-%d.png", i)), nil, 0o600))
		}
		must(t, os.Mkdir(filepath.Join(f.Dir, ".git"), 0o700))
		must(t, f.Host.Scan()) // none of these can be a plugin
		f.Settle()
		updates, stop := f.Host.Updates()
		defer stop()
		for i := range limit.PluginEntries {
			must(t, os.Mkdir(filepath.Join(f.Dir, fmt.Sprintf("folder-%d", i)), 0o700))
		}
		want := strings.ReplaceAll("The plugins folder FOLDER holds more than 1,000 files and folders that could be "+
			"plugins.", "FOLDER", f.Dir)
		for range 3 { // it is said once
			if err := f.Host.Scan(); err == nil || !strings.Contains(err.Error(), want) {
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
		if why := f.Host.Folder.Problem(); why == nil || why.Message != want {
			t.Errorf("the folder's problem is %v", why)
		}
		f.Says("a:say", "one")
		must(t, os.Remove(filepath.Join(f.Dir, "folder-0")))
		must(t, f.Host.Scan())
	})
}

func TestALinkThatLeadsOutIsNoPlugin(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "x.py"), []byte(plugintest.SaysText("say", "out").JSON()), 0o600))
		must(t, os.Symlink(filepath.Join(outside, "x.py"), f.Path("x.py")), os.Symlink(outside, f.Path("y")))
		f.Write("_real.py", plugintest.SaysText("say", "in"))
		must(t, os.Symlink("_real.py", f.Path("z.py"))) // stays inside
		f.Scan()
		list := f.Host.List()
		if len(list) != 1 || list[0].ID != "z" {
			t.Errorf("the plugins are %+v", list)
		}
		f.Started(map[string]int{})
	})
}

func TestALinkInsideAPluginIsKeptAsALink(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Raw("a/data.txt", "x")
		must(t, os.Symlink("data.txt", f.Path("a/link.txt")), os.Symlink("/etc/passwd", f.Path("a/out.txt")))
		f.Serve("a/main.py", plugintest.SaysText("say", "one"))
		f.Raw("a/main.py", "{")
		f.Restart()
		f.Says("a:say", "one")
	})
}

func TestAFileThatIsTooLargeIsRefusedByName(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("b.py", plugintest.SaysText("say", "one"))
		big, err := os.Create(f.Path("big.py"))
		must(t, err)
		must(t, big.Truncate(50<<20), big.Close())
		f.Scan()
		s := f.State("big", plugin.Failed)
		if !strings.Contains(s.Problem.Message, "big.py") || s.Problem.Hint == "" {
			t.Errorf("the card says %+v", s.Problem)
		}
		f.Says("b:say", "one")
	})
}

func TestAnEditOfASiblingReloadsThePluginThatImportsIt(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		main := plugintest.Script{
			Files: []string{"_beside.py", "_later.py"},
			Tools: []plugintest.Tool{{Name: "own", Text: "own"}},
		}
		f.Write("_beside.py", plugintest.SaysText("say", "one"))
		f.Serve("a.py", main)
		f.Offers("a:own", "a:say")
		beside := plugintest.SaysText("say", "one")
		beside.Tools[0].Text = "two"
		f.Save("_beside.py", beside)
		f.State("a", plugin.Quarantined) // its code is not what was approved
		f.Says("a:say", "one")           // from the copy, siblings included
		f.Trust("a", true)
		f.Says("a:say", "two")
		f.Raw("_beside.py", "{")
		f.Restart()
		f.State("a", plugin.Failed)
		f.Says("a:say", "two")
		f.Write("_beside.py", beside)
		f.Scan()
		f.State("a", plugin.Ready)
		f.Save("_later.py", plugintest.SaysText("more", "three"))
		f.Trust("a", false)
		f.Says("a:more", "three")
	})
}

func TestFourAtATimeDoNotWaitForOneThatLoadsForEver(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			f.Save(name+".py", plugintest.SaysText("say", name))
		}
		hangs := plugintest.SaysText("say", "never")
		hangs.Load = plugintest.LoadHangs
		f.Save("slow.py", hangs)
		approved := make(chan error, 1)
		go func() { approved <- plugintest.Approve(t.Context(), f.Host, "slow", false) }() // ends when slow.py is given up
		synctest.Wait()
		began := time.Now()
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			go func() { _ = plugintest.Approve(t.Context(), f.Host, id, false) }() // ends when everything is loaded or given up
		}
		synctest.Wait()
		f.Offers("a:say", "b:say", "c:say", "d:say", "e:say", "f:say")
		must(t, <-approved)
		if took := time.Since(began); took != host.LoadTimeout {
			t.Errorf("it was given up after %s, want %s", took, host.LoadTimeout)
		}
		s := f.State("slow", plugin.Failed)
		if s.Problem.Kind != "deadline" || s.Problem.Message != "It did not load within 10 s." {
			t.Errorf("LF-06: the problem is %+v", s.Problem)
		}
	})
}

func TestWaitingForTheFolderHeedsItsContext(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.SaysText("say", "never")
		s.Load = plugintest.LoadHangs
		f.Save("slow.py", s)
		go func() { _ = plugintest.Approve(t.Context(), f.Host, "slow", false) }() // ends when slow.py is given up
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.Host.WaitIdle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
