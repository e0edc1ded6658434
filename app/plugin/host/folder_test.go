package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
)

func TestAFileNamedForOneRunIsTrustedForItAndLeavesNothing(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		path := filepath.Join(t.TempDir(), "a.py")
		must(t, os.WriteFile(path, []byte(plugintest.SaysText("say", "outside").JSON()), 0o600))
		f.Serve("b.py", plugintest.SaysText("say", "one"))
		id, err := f.Host.ThisRun.Load(t.Context(), path)
		must(t, err)
		f.Says(id+":say", "outside")
		f.Started(map[string]int{"a": 1, "b": 1})
		// A plugin of its name that appears in the folder does not inherit its trust.
		f.Save("a.py", plugintest.SaysText("say", "evil"))
		f.Says("a:say", "outside")
		if s := f.Status("a"); s.Path != path {
			t.Errorf("the card says %+v", s)
		}
		_, err = f.Library.Remove(t.Context(), "a")
		kind(t, err, fault.Conflict, "a")
		again, err := f.Host.ThisRun.Load(t.Context(), path)
		must(t, err)
		if again != "a_2" {
			t.Errorf("the second is %s", again)
		}
		_, err = f.Host.ThisRun.Load(t.Context(), path+"x")
		kind(t, err, fault.NotFound, path+"x")
		f.Restart()
		f.Offers("b:say") // the folder's own a was approved by nobody
		if record, _ := f.Store.PluginCache(t.Context(), "a_2"); record != nil {
			t.Error("a file named for one run was remembered")
		}
	})
}

func TestFindKnowsIdsNamesAndPaths(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Write("we ird.py", plugintest.SaysText("say", "x"))
		f.Save("we-ird.js", plugintest.SaysText("say", "x"))
		for name, want := range map[string]string{
			"we_ird": "we_ird", "we ird.py": "we_ird", f.Path("we ird.py"): "we_ird",
			"we-ird.js": "we-ird",
		} {
			if id, err := f.Host.Find(name); id != want || err != nil {
				t.Errorf("find %s: got %q, %v", name, id, err)
			}
		}
		_, err := f.Host.Find("none")
		kind(t, err, fault.NotFound, "we-ird, we_ird")
		if files := f.Host.Files("we_ird"); !slices.Equal(files, []string{"we ird.py"}) {
			t.Errorf("its files are %q", files)
		}
	})
}

func TestSourcesAreTheSameFromRunToRun(t *testing.T) {
	dir, endings := t.TempDir(), []string{".py", ".js", ".mjs", ".ts"}
	for _, name := range []string{
		"a.py", "a.js", "b.txt", ".hidden.py", "_help.py", "x.d.ts", "c.ts~", "a.tests/x.json",
		"tests/y.py", "d/x", "n.mjs",
	} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
	}
	sources, err := host.Sources(dir, endings)
	must(t, err)
	var got []string
	for _, s := range sources {
		got = append(got, s.ID+"="+filepath.Base(s.Path))
	}
	if want := []string{"a=a.js", "a-py=a.py", "d=d", "n=n.mjs"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if sources, err := host.Sources(filepath.Join(dir, "none"), endings); err != nil || sources != nil {
		t.Errorf("a missing folder: %v, %v", sources, err)
	}
	_, err = host.Sources(filepath.Join(dir, "a.py"), endings)
	kind(t, err, fault.Unavailable, "a.py")
}

func TestALinkOutOfThePluginsFolderIsNamedAndNotFollowed(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", answers("one"))
		outside := t.TempDir()
		for name, to := range map[string]string{
			"outlink": outside, "gone.py": filepath.Join(outside, "none.py"), "inside.py": filepath.Join(f.Dir, "a.py"),
			"notes.txt": outside,
		} {
			if err := os.Symlink(to, filepath.Join(f.Dir, name)); err != nil {
				t.Skip("links cannot be made here:", err)
			}
		}
		var got []string
		for _, link := range f.Host.Folder.LinksOut() {
			got = append(got, link.Name)
		}
		if want := []string{"gone.py", "notes.txt", "outlink"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		_, err := f.Host.Find("outlink")
		kind(t, err, fault.NotFound, "outlink is a link that leads out of the plugins folder, to "+outside,
			"conclave plugins add "+outside)
	})
}

// The same, when the file was deleted by hand; a save that deletes and writes is none.
func TestAPluginUnderADeletedOnesNameIsAStranger(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", answers("one"))
		must(t, f.Host.Approvals.SetDeveloping(t.Context(), "a", true),
			f.Gate.Reach.SetPermission(t.Context(), "a", gate.Network, gate.Allow))
		gone := func(d time.Duration) {
			t.Helper()
			must(t, os.Remove(f.Path("a.py")), f.Host.Scan())
			f.Settle()
			time.Sleep(d) // of the bubble
		}
		gone(gate.SaveTime / 2)
		f.Save("a.py", answers("an edit"))
		f.Says("a:say", "an edit")
		gone(10 * gate.SaveTime)
		f.Save("a.py", answers("an edit")) // a branch switched and back
		f.Says("a:say", "an edit")
		if s := f.Status("a"); !slices.Equal(s.Granted, []string{gate.Network}) {
			t.Errorf("what came back is granted %q", s.Granted)
		}

		gone(gate.SaveTime)
		f.Restart() // as well over a restart
		f.Save("a.py", answers("a stranger"))
		s := f.State("a", plugin.Quarantined)
		if s.Serving || len(s.Granted) > 0 || len(s.Changes) < 2 || s.Changes[0].Field != gate.AfterRemoval ||
			!strings.Contains(s.Changes[0].After, "its secrets") {
			t.Errorf("serving %v, granted %q, changes %+v", s.Serving, s.Granted, s.Changes)
		}
		cards := f.Gate.Questions.List()
		if len(cards) != 1 || cards[0].Title != "a is not the plugin that was here" ||
			!strings.Contains(cards[0].Reason, "A yes gives it what that one stored, its settings and its secrets.") {
			t.Errorf("the person is asked %+v", cards)
		}
		f.Offers()
		must(t, plugintest.Approve(t.Context(), f.Host, "a", false))
		f.Says("a:say", "a stranger")
		f.Save("a.py", answers("the stranger's edit"))
		if s := f.State("a", plugin.Quarantined); s.Changes[0].Field == gate.AfterRemoval {
			t.Errorf("an edit is said to be another plugin: %+v", s.Changes)
		}
	})
}

// A file that makes the id of a plugin in service gets another one, whatever their
// names' order.
func TestAnIdStaysWithThePluginThatServedUnderIt(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", answers("one"))
		must(t, f.Gate.Reach.SetPermission(t.Context(), "a", gate.Network, gate.Allow))
		f.Save("a.js", answers("a script"))
		for range 2 {
			f.Says("a:say", "one")
			if s := f.State("a-js", plugin.NeedsApproval); len(s.Granted) > 0 {
				t.Errorf("the script is granted %q", s.Granted)
			}
			f.Restart()
		}
	})
}

// What one look at the folder found is not put over what a later one did.
func TestAPluginThatWasSeenIsThereWhoeverLooksAtTheFolderMeanwhile(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		over := make(chan struct{})
		var looking sync.WaitGroup
		for range 4 {
			looking.Go(func() { // ends with over
				for {
					select {
					case <-over:
						return
					default:
						_ = f.Host.Scan()
					}
				}
			})
		}
		for n := range 400 {
			name := fmt.Sprintf("p%d.py", n)
			f.Write(name, answers("one"))
			must(t, f.Host.Scan())
			if _, err := f.Host.Find(name); err != nil {
				t.Error(err)
				break
			}
			must(t, os.Remove(f.Path(name)))
		}
		close(over)
		looking.Wait()
	})
}
