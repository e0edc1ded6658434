package plugin_test

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/fault"
	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

// kind checks the kind and the words of an error.
func kind(t *testing.T, err error, want fault.Kind, words ...string) {
	t.Helper()
	if fault.KindOf(err) != want {
		t.Errorf("got %v, want a fault of kind %s", err, want)
		return
	}
	f := fault.Of(err)
	for _, word := range words {
		if !strings.Contains(f.Message+" "+f.Hint, word) {
			t.Errorf("%q, %q does not name %s", f.Message, f.Hint, word)
		}
	}
}

// archive writes a zip file.
func archive(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := os.Create(path)
	must(t, err)
	w := zip.NewWriter(out)
	for name, text := range files {
		f, err := w.Create(name)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close(), out.Close())
	return path
}

func TestAddCopiesAPluginAndRunsNothing(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "one.py"), []byte(plugintest.SaysText("say", "one").JSON()), 0o600))
		must(t, os.Mkdir(filepath.Join(outside, "two"), 0o700))
		must(t, os.WriteFile(filepath.Join(outside, "two", "main.py"), []byte(plugintest.SaysText("say", "two").JSON()), 0o600))
		text := plugintest.SaysText("say", "zip").JSON()
		for from, want := range map[string]string{
			filepath.Join(outside, "one.py"): "one",
			filepath.Join(outside, "two"):    "two",
			archive(t, "three.zip", map[string]string{"main.py": text, "lib/x.txt": "x"}):    "three",
			archive(t, "whatever.zip", map[string]string{"four/main.py": text, "four/": ""}): "four",
			archive(t, "five.zip", map[string]string{"five.py": text}):                       "five",
		} {
			id, err := f.host.Add(t.Context(), from)
			if err != nil || id != want {
				t.Errorf("add %s: got %q, %v, want %s", from, id, err, want)
				continue
			}
			f.settle()
			f.state(id, plugin.NeedsApproval)
			_, err = f.host.Add(t.Context(), from)
			kind(t, err, fault.Conflict, want)
		}
		f.started(map[string]int{})
		if left, _ := filepath.Glob(filepath.Join(f.data, "adding-*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestAddRefusesWhatIsNoPlugin(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		text := plugintest.SaysText("say", "zip").JSON()
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "empty.zip"), nil, 0o600), os.Mkdir(filepath.Join(outside, "folder"), 0o700))
		_, err := f.host.Add(t.Context(), archive(t, "evil.zip", map[string]string{"main.py": text, "../../out.py": text}))
		kind(t, err, fault.Invalid, "leads out of it", "../../out.py")
		_, err = f.host.Add(t.Context(), archive(t, "absolute.zip", map[string]string{"main.py": text, "/tmp/out.py": text}))
		kind(t, err, fault.Invalid, "leads out of it")
		large := filepath.Join(outside, "large.py")
		must(t, os.WriteFile(large, nil, 0o600), os.Truncate(large, 256<<20+1))
		_, err = f.host.Add(t.Context(), large)
		kind(t, err, fault.Invalid, "has more than 256 MiB")
		_, err = f.host.Add(t.Context(), os.DevNull)
		kind(t, err, fault.Invalid, "is neither a file nor a folder")
		for _, name := range []string{"a\x1b[2J.py", "a\nstate ready.py", "a\u202eyp.py"} {
			_, err = f.host.Add(t.Context(), archive(t, "named.zip", map[string]string{name: text}))
			kind(t, err, fault.Invalid, "hidden characters", strings.Trim(strconv.Quote(name), `"`))
		}
		_, err = f.host.Add(t.Context(), filepath.Join(outside, "empty.zip"))
		kind(t, err, fault.Invalid, "empty.zip")
		_, err = f.host.Add(t.Context(), filepath.Join(outside, "none.py"))
		kind(t, err, fault.NotFound, "none.py")
		_, err = f.host.Add(t.Context(), filepath.Join(outside, "none.zip"))
		kind(t, err, fault.NotFound, "none.zip")
		_, err = f.host.Add(t.Context(), filepath.Join(outside, "folder"))
		kind(t, err, fault.Invalid, "folder is no plugin")
		for _, address := range []string{"http://example.org/x.git", "file:///etc", "https://user:pass@example.org/x", "ext::sh -c x://y", "https://"} {
			_, err = f.host.Add(t.Context(), address)
			kind(t, err, fault.Invalid)
		}
		entries, err := os.ReadDir(f.dir)
		must(t, err)
		if len(entries) != 0 {
			t.Errorf("the plugins folder holds %v", entries)
		}
	})
}

func TestRemoveKeepsTheFilesAndRestoreBringsThemBack(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", plugintest.SaysText("say", "one"))
		f.raw("a.tests/one.json", "[]")
		kept, err := f.host.Remove(t.Context(), "a")
		must(t, err)
		f.settle()
		f.offers()
		if entries, _ := os.ReadDir(f.dir); len(entries) != 0 {
			t.Errorf("the plugins folder still holds %v", entries)
		}
		f.write("a.py", plugintest.SaysText("say", "other"))
		kind(t, f.host.Restore(t.Context(), kept), fault.Conflict, "a.py")
		must(t, os.Remove(f.path("a.py")), f.host.Restore(t.Context(), kept))
		f.settle()
		f.says("a:say", "one") // its approval came back with it
		if _, err := os.Stat(f.path("a.tests/one.json")); err != nil {
			t.Error(err)
		}
		_, err = f.host.Remove(t.Context(), "none")
		kind(t, err, fault.NotFound, "There is no plugin named none.", "a")
	})
}

func TestAnUpdateComesFromWhereThePluginCameAndIsTakenBack(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		from := filepath.Join(t.TempDir(), "one.py")
		write := func(text string) {
			must(t, os.WriteFile(from, []byte(plugintest.SaysText("say", text).JSON()), 0o600))
		}
		origin := func(id, want string) {
			t.Helper()
			if s, err := f.host.Status(id); err != nil || s.Origin != want {
				t.Errorf("%s came from %q, %v, want %q", id, s.Origin, err, want)
			}
		}
		write("first")
		id, err := f.host.Add(t.Context(), from)
		must(t, err)
		f.settle()
		must(t, f.host.Trust(t.Context(), id, true))
		f.settle()
		f.state(id, plugin.Ready)
		origin(id, from)

		write("second")
		updated, kept, err := f.host.Update(t.Context(), id, "")
		must(t, err)
		f.settle()
		f.state(updated, plugin.Quarantined)
		origin(updated, from)

		must(t, f.host.Revert(t.Context(), updated, kept))
		f.settle()
		f.state(id, plugin.Ready)
		origin(id, from)
		text, err := os.ReadFile(filepath.Join(f.dir, "one.py"))
		if err != nil || !strings.Contains(string(text), "first") {
			t.Errorf("the folder has %s, %v", text, err)
		}
		// Whoever developed it develops it.
		f.save("one.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "say", Description: "Says first.", Text: "an edit"}}})
		f.says(id+":say", "an edit")
		kind(t, f.host.Revert(t.Context(), id, kept), fault.NotFound, "no longer kept")
		f.state(id, plugin.Ready)
		kind(t, f.host.Revert(t.Context(), "none", kept), fault.NotFound)
	})
}

func TestNewMakesAPluginFromEachTemplate(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		for i, template := range plugin.Templates() {
			k, name := template.Kind, "made"+string(rune('a'+i))
			id, path, err := f.host.New(t.Context(), k, name)
			// F107: the file that the window announces is the one that is made.
			if got, want := filepath.Base(path), strings.TrimSuffix(strings.ReplaceAll(template.File, "NAME", name), "/"); got != want {
				t.Errorf("%s makes %s, and is said to make %s", k, got, want)
			}
			if err != nil || id != name {
				t.Errorf("%s: got %q, %q, %v", k, id, path, err)
				continue
			}
			err = filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				if strings.Contains(string(text), "NAME") || strings.Contains(path, "NAME") {
					t.Errorf("%s was not filled in", path)
				}
				return err
			})
			must(t, err)
			_, _, err = f.host.New(t.Context(), k, name)
			kind(t, err, fault.Conflict, name)
		}
		f.settle()
		_, _, err := f.host.New(t.Context(), "cobol", "x")
		kind(t, err, fault.Usage, "cobol", "python")
		for _, name := range []string{"", "../x", "A", "1a", "a b", strings.Repeat("a", 49)} {
			_, _, err := f.host.New(t.Context(), "python", name)
			kind(t, err, fault.Usage)
		}
		f.started(map[string]int{})
	})
}

func TestAFileNamedForOneRunIsTrustedForItAndLeavesNothing(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		path := filepath.Join(t.TempDir(), "a.py")
		must(t, os.WriteFile(path, []byte(plugintest.SaysText("say", "outside").JSON()), 0o600))
		f.serve("b.py", plugintest.SaysText("say", "one"))
		id, err := f.host.LoadFile(t.Context(), path)
		must(t, err)
		f.says(id+":say", "outside")
		f.started(map[string]int{"a": 1, "b": 1})
		// A plugin of its name that appears in the folder does not inherit its trust.
		f.save("a.py", plugintest.SaysText("say", "evil"))
		f.says("a:say", "outside")
		if s := f.status("a"); s.Path != path {
			t.Errorf("the card says %+v", s)
		}
		_, err = f.host.Remove(t.Context(), "a")
		kind(t, err, fault.Conflict, "a")
		again, err := f.host.LoadFile(t.Context(), path)
		must(t, err)
		if again != "a_2" {
			t.Errorf("the second is %s", again)
		}
		_, err = f.host.LoadFile(t.Context(), path+"x")
		kind(t, err, fault.NotFound, path+"x")
		f.restart()
		f.offers("b:say") // the folder's own a was approved by nobody
		if record, _ := f.cache.PluginCache(t.Context(), "a_2"); record != nil {
			t.Error("a file named for one run was remembered")
		}
	})
}

func TestReplayRunsWhatWasRecorded(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.raw("a.tests/one.json", `[
			{"name":"right","tool":"say","arguments":{},"expect":"one"},
			{"name":"wrong","tool":"say","arguments":{},"expect":"two"},
			{"name":"pattern","tool":"say","arguments":{},"matches":"o.e"},
			{"name":"not all of it","tool":"say","arguments":{},"matches":"o"},
			{"name":"error","tool":"fail","arguments":{},"error":"such"},
			{"name":"no error","tool":"say","arguments":{},"error":"such"},
			{"name":"none","tool":"none","arguments":{}},
			{"name":"any","tool":"say","arguments":{}}]`)
		f.serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "say", Text: "one"}, {Name: "fail", Do: plugintest.Raises, Text: "no such thing"}}})
		var ok []string
		out, err := f.host.Replay(t.Context(), "a", f.path("a.py"), false)
		must(t, err)
		for _, r := range out {
			if r.OK {
				ok = append(ok, r.Name)
			} else if r.Got == "" || r.Want == "" {
				t.Errorf("%s does not say what was wrong: %+v", r.Name, r)
			}
		}
		if want := []string{"right", "pattern", "error", "any"}; !slices.Equal(ok, want) {
			t.Errorf("right are %q, want %q", ok, want)
		}
		_, err = f.host.Replay(t.Context(), "a", f.path("a.py"), true)
		must(t, err)
		out, err = f.host.Replay(t.Context(), "a", f.path("a.py"), false)
		must(t, err)
		for _, r := range out {
			if !r.OK && r.Name != "not all of it" && r.Name != "none" {
				t.Errorf("after the update: %+v", r)
			}
		}
		f.raw("a.tests/one.json", "{}")
		_, err = f.host.Replay(t.Context(), "a", f.path("a.py"), false)
		kind(t, err, fault.Invalid, "one.json")
		_, err = f.host.Replay(t.Context(), "a", f.path("b.py"), false)
		kind(t, err, fault.NotFound, "b.py", "tests")
		_, err = f.host.Replay(t.Context(), "none", f.path("a.py"), false)
		kind(t, err, fault.NotFound)
	})
}

func TestFindKnowsIdsNamesAndPaths(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.write("we ird.py", plugintest.SaysText("say", "x"))
		f.save("we-ird.js", plugintest.SaysText("say", "x"))
		for name, want := range map[string]string{"we_ird": "we_ird", "we ird.py": "we_ird", f.path("we ird.py"): "we_ird", "we-ird.js": "we-ird"} {
			if id, err := f.host.Find(name); id != want || err != nil {
				t.Errorf("find %s: got %q, %v", name, id, err)
			}
		}
		_, err := f.host.Find("none")
		kind(t, err, fault.NotFound, "we-ird, we_ird")
		if files := f.host.Files("we_ird"); !slices.Equal(files, []string{"we ird.py"}) {
			t.Errorf("its files are %q", files)
		}
	})
}

func TestSourcesAreTheSameFromRunToRun(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.py", "a.js", "b.txt", ".hidden.py", "_help.py", "x.d.ts", "c.ts~", "a.tests/x.json", "tests/y.py", "d/x", "n.mjs"} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
	}
	sources, err := plugin.Sources(dir)
	must(t, err)
	var got []string
	for _, s := range sources {
		got = append(got, s.ID+"="+filepath.Base(s.Path))
	}
	if want := []string{"a=a.js", "a-py=a.py", "d=d", "n=n.mjs"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if sources, err := plugin.Sources(filepath.Join(dir, "none")); err != nil || sources != nil {
		t.Errorf("a missing folder: %v, %v", sources, err)
	}
	_, err = plugin.Sources(filepath.Join(dir, "a.py"))
	kind(t, err, fault.Unavailable, "a.py")
}

// answers is a plugin whose versions differ in what they answer alone.
func answers(text string) plugintest.Script {
	return plugintest.Script{Tools: []plugintest.Tool{{Name: "say", Description: "Says.", Text: text}}}
}

// What is put under the name of a removed plugin is a stranger: it has nothing of
// what the person allowed, its edits are not theirs, and it does not bring back what
// was removed.
func TestAPluginUnderARemovedOnesNameIsAStranger(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", answers("one"))
		must(t, f.host.SetDeveloping(t.Context(), "a", true), f.gate.SetPermission(t.Context(), "a", permit.Network, permit.Allow), f.gate.SetPermission(t.Context(), "a", permit.Programs, permit.Deny))
		_, err := f.gate.Add(t.Context(), permit.Grant{Effect: permit.Allow, Plugin: "a", Tool: "*", Scope: permit.Always})
		must(t, err)
		kept, err := f.host.Remove(t.Context(), "a")
		must(t, err)
		f.settle()

		f.save("a.py", answers("a stranger"))
		s := f.state("a", plugin.Quarantined)
		if s.Serving || len(s.Granted) > 0 || !slices.Equal(s.Denied, []string{permit.Programs}) {
			t.Errorf("serving %v, granted %q, denied %q", s.Serving, s.Granted, s.Denied)
		}
		f.offers()
		grants, err := f.gate.Grants(t.Context())
		must(t, err)
		if len(grants) != 1 || grants[0].Effect != permit.Deny {
			t.Errorf("these rules are left: %+v", grants)
		}

		must(t, os.Remove(f.path("a.py")), f.host.Restore(t.Context(), kept))
		f.settle()
		f.says("a:say", "one")
		if s := f.status("a"); !slices.Equal(s.Granted, []string{permit.Network}) {
			t.Errorf("what was brought back is granted %q", s.Granted)
		}
		f.save("a.py", answers("an edit"))
		f.says("a:say", "an edit")
	})
}

// The same, when the file was deleted by hand; a save that deletes and writes is none.
func TestAPluginUnderADeletedOnesNameIsAStranger(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", answers("one"))
		must(t, f.host.SetDeveloping(t.Context(), "a", true), f.gate.SetPermission(t.Context(), "a", permit.Network, permit.Allow))
		gone := func(d time.Duration) {
			t.Helper()
			must(t, os.Remove(f.path("a.py")), f.host.Scan())
			f.settle()
			time.Sleep(d) // of the bubble
		}
		gone(permit.SaveTime / 2)
		f.save("a.py", answers("an edit"))
		f.says("a:say", "an edit")
		gone(10 * permit.SaveTime)
		f.save("a.py", answers("an edit")) // a branch switched and back
		f.says("a:say", "an edit")
		if s := f.status("a"); !slices.Equal(s.Granted, []string{permit.Network}) {
			t.Errorf("what came back is granted %q", s.Granted)
		}

		gone(permit.SaveTime)
		f.restart() // as well over a restart
		f.save("a.py", answers("a stranger"))
		s := f.state("a", plugin.Quarantined)
		if s.Serving || len(s.Granted) > 0 || len(s.Changes) < 2 || s.Changes[0].Field != permit.LeftBehind || !strings.Contains(s.Changes[0].After, "its secrets") {
			t.Errorf("serving %v, granted %q, changes %+v", s.Serving, s.Granted, s.Changes)
		}
		cards := f.gate.Pending()
		if len(cards) != 1 || cards[0].Title != "a is not the plugin that was here" || !strings.Contains(cards[0].Reason, "A yes gives it what that one stored, its settings and its secrets.") {
			t.Errorf("the person is asked %+v", cards)
		}
		f.offers()
		must(t, f.host.Trust(t.Context(), "a", false))
		f.says("a:say", "a stranger")
		f.save("a.py", answers("the stranger's edit"))
		if s := f.state("a", plugin.Quarantined); s.Changes[0].Field == permit.LeftBehind {
			t.Errorf("an edit is said to be another plugin: %+v", s.Changes)
		}
	})
}

// A file that makes the id of a plugin in service gets another one, whatever their
// names' order.
func TestAnIdStaysWithThePluginThatServedUnderIt(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		f.serve("a.py", answers("one"))
		must(t, f.gate.SetPermission(t.Context(), "a", permit.Network, permit.Allow))
		f.save("a.js", answers("a script"))
		for range 2 {
			f.says("a:say", "one")
			if s := f.state("a-js", plugin.NeedsApproval); len(s.Granted) > 0 {
				t.Errorf("the script is granted %q", s.Granted)
			}
			f.restart()
		}
	})
}

func TestAnUpdateIsNoEditOfWhoeverDevelopsThePlugin(t *testing.T) {
	bubble(t, "functions", func(t *testing.T, f *fixture) {
		from := filepath.Join(t.TempDir(), "one.py")
		must(t, os.WriteFile(from, []byte(answers("first").JSON()), 0o600))
		id, err := f.host.Add(t.Context(), from)
		must(t, err)
		f.settle()
		f.trust(id, true)
		f.says("one:say", "first")
		must(t, os.WriteFile(from, []byte(answers("from elsewhere").JSON()), 0o600))
		_, _, err = f.host.Update(t.Context(), id, "")
		must(t, err)
		f.settle()
		f.state(id, plugin.Quarantined)
		f.says("one:say", "first")
	})
}
