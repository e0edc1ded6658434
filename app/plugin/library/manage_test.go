package library_test

import (
	"archive/zip"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/dialect/maibot"
	"conclave/app/plugin/dialect/mcp"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/dialect/picoclaw"
	"conclave/app/plugin/dialect/spindle"
	"conclave/app/plugin/library"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python"
)

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
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "one.py"), []byte(plugintest.SaysText("say", "one").JSON()), 0o600))
		must(t, os.Mkdir(filepath.Join(outside, "two"), 0o700))
		must(t, os.WriteFile(filepath.Join(outside, "two", "main.py"),
			[]byte(plugintest.SaysText("say", "two").JSON()), 0o600))
		text := plugintest.SaysText("say", "zip").JSON()
		for from, want := range map[string]string{
			filepath.Join(outside, "one.py"): "one",
			filepath.Join(outside, "two"):    "two",
			archive(t, "three.zip", map[string]string{"main.py": text, "lib/x.txt": "x"}):    "three",
			archive(t, "whatever.zip", map[string]string{"four/main.py": text, "four/": ""}): "four",
			archive(t, "five.zip", map[string]string{"five.py": text}):                       "five",
		} {
			id, err := f.Library.Add(t.Context(), from)
			if err != nil || id != want {
				t.Errorf("add %s: got %q, %v, want %s", from, id, err, want)
				continue
			}
			f.Settle()
			f.State(id, plugin.NeedsApproval)
			_, err = f.Library.Add(t.Context(), from)
			kind(t, err, fault.Conflict, want)
		}
		f.Started(map[string]int{})
		if left, _ := filepath.Glob(filepath.Join(f.Data, "adding-*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestMC90ServersOfAFileThatAlsoHasHooksAreImportedAlone(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Host.Dialects = append(f.Host.Dialects, &picoclaw.Dialect{}, mcp.New(mcp.Options{}))
		path := filepath.Join(t.TempDir(), "config.json")
		must(t, os.WriteFile(path, []byte(`{"mcpServers": {"mail": {"url": "https://mail.example.com/mcp"}},
			"hooks": {"processes": {"guard": {"command": ["/bin/true"]}}}}`), 0o600))
		made, found, err := f.Library.ImportServers(t.Context(), path)
		if err != nil || !found || len(made.Added) != 1 || made.Added[0].Name != "mail" || len(made.Left) != 0 {
			t.Fatalf("got %+v, %v, %v", made, found, err)
		}
		f.Settle()
		if s, err := f.Host.Status(made.Added[0].ID); err != nil || s.Manifest.Dialect != mcp.Name {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}

func TestAddRefusesWhatIsNoPlugin(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		text := plugintest.SaysText("say", "zip").JSON()
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "empty.zip"), nil, 0o600),
			os.Mkdir(filepath.Join(outside, "folder"), 0o700))
		_, err := f.Library.Add(t.Context(), archive(t, "evil.zip", map[string]string{"main.py": text, "../../out.py": text}))
		kind(t, err, fault.Invalid, "leads out of it", "../../out.py")
		_, err = f.Library.Add(t.Context(), archive(t, "absolute.zip",
			map[string]string{"main.py": text, "/tmp/out.py": text}))
		kind(t, err, fault.Invalid, "leads out of it")
		large := filepath.Join(outside, "large.py")
		must(t, os.WriteFile(large, nil, 0o600), os.Truncate(large, 256<<20+1))
		_, err = f.Library.Add(t.Context(), large)
		kind(t, err, fault.Invalid, "has more than 256 MiB")
		_, err = f.Library.Add(t.Context(), os.DevNull)
		kind(t, err, fault.Invalid, "is neither a file nor a folder")
		for _, name := range []string{"a\x1b[2J.py", "a\nstate ready.py", "a\u202eyp.py"} {
			_, err = f.Library.Add(t.Context(), archive(t, "named.zip", map[string]string{name: text}))
			kind(t, err, fault.Invalid, "hidden characters", strings.Trim(strconv.Quote(name), `"`))
		}
		_, err = f.Library.Add(t.Context(), filepath.Join(outside, "empty.zip"))
		kind(t, err, fault.Invalid, "empty.zip")
		_, err = f.Library.Add(t.Context(), filepath.Join(outside, "none.py"))
		kind(t, err, fault.NotFound, "none.py")
		_, err = f.Library.Add(t.Context(), filepath.Join(outside, "none.zip"))
		kind(t, err, fault.NotFound, "none.zip")
		_, err = f.Library.Add(t.Context(), filepath.Join(outside, "folder"))
		kind(t, err, fault.Invalid, "folder is no plugin")
		one := filepath.Join(outside, "one")
		must(t, os.Mkdir(one, 0o700), os.WriteFile(filepath.Join(one, "weather.py"), []byte(text), 0o600),
			os.WriteFile(filepath.Join(one, "README.md"), nil, 0o600))
		_, err = f.Library.Add(t.Context(), one)
		kind(t, err, fault.Invalid, "but the file weather.py in it is one", "conclave plugins add "+one+"/weather.py")
		must(t, os.WriteFile(filepath.Join(one, "other.py"), []byte(text), 0o600))
		_, err = f.Library.Add(t.Context(), one)
		kind(t, err, fault.Invalid, "one is no plugin that Conclave knows")
		for _, address := range []string{
			"http://example.org/x.git", "file:///etc", "https://user:pass@example.org/x",
			"ext::sh -c x://y", "https://",
		} {
			_, err = f.Library.Add(t.Context(), address)
			kind(t, err, fault.Invalid)
		}
		entries, err := os.ReadDir(f.Dir)
		must(t, err)
		if len(entries) != 0 {
			t.Errorf("the plugins folder holds %v", entries)
		}
	})
}

func TestRemoveKeepsTheFilesAndRestoreBringsThemBack(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		f.Raw("a.tests/one.json", "[]")
		kept, err := f.Library.Remove(t.Context(), "a")
		must(t, err)
		f.Settle()
		f.Offers()
		if entries, _ := os.ReadDir(f.Dir); len(entries) != 0 {
			t.Errorf("the plugins folder still holds %v", entries)
		}
		f.Write("a.py", plugintest.SaysText("say", "other"))
		kind(t, f.Library.Restore(t.Context(), kept), fault.Conflict, "a.py")
		must(t, os.Remove(f.Path("a.py")), f.Library.Restore(t.Context(), kept))
		f.Settle()
		f.Says("a:say", "one") // its approval came back with it
		if _, err := os.Stat(f.Path("a.tests/one.json")); err != nil {
			t.Error(err)
		}
		_, err = f.Library.Remove(t.Context(), "none")
		kind(t, err, fault.NotFound, "There is no plugin named none.", "a")
	})
}

func TestAnUpdateComesFromWhereThePluginCameAndIsTakenBack(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		from := filepath.Join(t.TempDir(), "one.py")
		write := func(text string) {
			must(t, os.WriteFile(from, []byte(plugintest.SaysText("say", text).JSON()), 0o600))
		}
		origin := func(id, want string) {
			t.Helper()
			if s, err := f.Host.Status(id); err != nil || s.Origin != want {
				t.Errorf("%s came from %q, %v, want %q", id, s.Origin, err, want)
			}
		}
		write("first")
		id, err := f.Library.Add(t.Context(), from)
		must(t, err)
		f.Settle()
		must(t, plugintest.Approve(t.Context(), f.Host, id, true))
		f.Settle()
		f.State(id, plugin.Ready)
		origin(id, from)

		write("second")
		updated, kept, err := f.Library.Update(t.Context(), id, "")
		must(t, err)
		f.Settle()
		f.State(updated, plugin.Quarantined)
		origin(updated, from)

		must(t, f.Library.Revert(t.Context(), updated, kept))
		f.Settle()
		f.State(id, plugin.Ready)
		origin(id, from)
		text, err := os.ReadFile(filepath.Join(f.Dir, "one.py"))
		if err != nil || !strings.Contains(string(text), "first") {
			t.Errorf("the folder has %s, %v", text, err)
		}
		// Whoever developed it develops it.
		f.Save("one.py",
			plugintest.Script{Tools: []plugintest.Tool{{Name: "say", Description: "Says first.", Text: "an edit"}}})
		f.Says(id+":say", "an edit")
		kind(t, f.Library.Revert(t.Context(), id, kept), fault.NotFound, "no longer kept")
		f.State(id, plugin.Ready)
		kind(t, f.Library.Revert(t.Context(), "none", kept), fault.NotFound)
	})
}

func TestNewMakesAPluginFromEachTemplate(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		py := python.New(python.Options{})
		f.Library = library.New(library.Options{
			Dir: f.Dir, Data: f.Data, Host: f.Host, Gate: f.Gate, Log: slog.New(slog.DiscardHandler),
			Templates: plugin.Templates([]plugin.Dialect{
				functions.New(py), spindle.New(spindle.Options{}), maibot.New(py),
				neko.New(py), picoclaw.New(py),
			}),
		})
		for i, template := range f.Library.Templates() {
			k, name := template.Kind, "made"+string(rune('a'+i))
			id, path, err := f.Library.New(t.Context(), k, name)
			// The window announces the file that is made.
			if got, want := filepath.Base(path), strings.TrimSuffix(strings.ReplaceAll(template.File, "NAME", name),
				"/"); got != want {
				t.Errorf("%s makes %s, and is said to make %s", k, got, want)
			}
			if err != nil || id != name {
				t.Errorf("%s: got %q, %q, %v", k, id, path, err)
				continue
			}
			err = filepath.WalkDir(f.Dir, func(path string, d fs.DirEntry, err error) error {
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
			_, _, err = f.Library.New(t.Context(), k, name)
			kind(t, err, fault.Conflict, name)
		}
		f.Settle()
		_, _, err := f.Library.New(t.Context(), "cobol", "x")
		kind(t, err, fault.Usage, "cobol", "python")
		for _, name := range []string{"", "../x", "A", "1a", "a b", strings.Repeat("a", 49)} {
			_, _, err := f.Library.New(t.Context(), "python", name)
			kind(t, err, fault.Usage)
		}
		f.Started(map[string]int{})
	})
}

func TestReplayRunsWhatWasRecorded(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Raw("a.tests/one.json", `[
			{"name":"right","tool":"say","arguments":{},"expect":"one"},
			{"name":"wrong","tool":"say","arguments":{},"expect":"two"},
			{"name":"pattern","tool":"say","arguments":{},"matches":"o.e"},
			{"name":"not all of it","tool":"say","arguments":{},"matches":"o"},
			{"name":"error","tool":"fail","arguments":{},"error":"such"},
			{"name":"no error","tool":"say","arguments":{},"error":"such"},
			{"name":"none","tool":"none","arguments":{}},
			{"name":"any","tool":"say","arguments":{}}]`)
		f.Serve("a.py",
			plugintest.Script{Tools: []plugintest.Tool{
				{Name: "say", Text: "one"},
				{Name: "fail", Do: plugintest.Raises, Text: "no such thing"},
			}})
		var ok []string
		out, err := f.Library.Replay(t.Context(), "a", f.Path("a.py"), false)
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
		_, err = f.Library.Replay(t.Context(), "a", f.Path("a.py"), true)
		must(t, err)
		out, err = f.Library.Replay(t.Context(), "a", f.Path("a.py"), false)
		must(t, err)
		for _, r := range out {
			if !r.OK && r.Name != "not all of it" && r.Name != "none" {
				t.Errorf("after the update: %+v", r)
			}
		}
		f.Raw("a.tests/one.json", "{}")
		_, err = f.Library.Replay(t.Context(), "a", f.Path("a.py"), false)
		kind(t, err, fault.Invalid, "one.json")
		_, err = f.Library.Replay(t.Context(), "a", f.Path("b.py"), false)
		kind(t, err, fault.NotFound, "b.py", "tests")
		_, err = f.Library.Replay(t.Context(), "none", f.Path("a.py"), false)
		kind(t, err, fault.NotFound)
	})
}

// What is put under the name of a removed plugin is a stranger: it has nothing of
// what the person allowed, its edits are not theirs, and it does not bring back what
// was removed.
func TestAPluginUnderARemovedOnesNameIsAStranger(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", answers("one"))
		must(t, f.Host.Approvals.SetDeveloping(t.Context(), "a", true),
			f.Gate.Reach.SetPermission(t.Context(), "a", gate.Network, gate.Allow),
			f.Gate.Reach.SetPermission(t.Context(), "a", gate.Programs, gate.Deny))
		_, err := f.Gate.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: "a", Tool: "*", Scope: gate.Always,
		})
		must(t, err)
		kept, err := f.Library.Remove(t.Context(), "a")
		must(t, err)
		f.Settle()

		f.Save("a.py", answers("a stranger"))
		s := f.State("a", plugin.Quarantined)
		if s.Serving || len(s.Granted) > 0 || !slices.Equal(s.Denied, []string{gate.Programs}) {
			t.Errorf("serving %v, granted %q, denied %q", s.Serving, s.Granted, s.Denied)
		}
		f.Offers()
		grants, err := f.Gate.Rules.List(t.Context())
		must(t, err)
		if len(grants) != 1 || grants[0].Effect != gate.Deny {
			t.Errorf("these rules are left: %+v", grants)
		}

		must(t, os.Remove(f.Path("a.py")), f.Library.Restore(t.Context(), kept))
		f.Settle()
		f.Says("a:say", "one")
		if s := f.Status("a"); !slices.Equal(s.Granted, []string{gate.Network}) {
			t.Errorf("what was brought back is granted %q", s.Granted)
		}
		f.Save("a.py", answers("an edit"))
		f.Says("a:say", "an edit")
	})
}

func TestAnUpdateIsNoEditOfWhoeverDevelopsThePlugin(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		from := filepath.Join(t.TempDir(), "one.py")
		must(t, os.WriteFile(from, []byte(answers("first").JSON()), 0o600))
		id, err := f.Library.Add(t.Context(), from)
		must(t, err)
		f.Settle()
		f.Trust(id, true)
		f.Says("one:say", "first")
		must(t, os.WriteFile(from, []byte(answers("from elsewhere").JSON()), 0o600))
		_, _, err = f.Library.Update(t.Context(), id, "")
		must(t, err)
		f.Settle()
		f.State(id, plugin.Quarantined)
		f.Says("one:say", "first")
	})
}

// A server whose secret nothing keeps is there all the same, and says what is missing.
func TestMC92AServerIsAddedThoughItsSecretsAreNotKept(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Host.Dialects = append(f.Host.Dialects, mcp.New(mcp.Options{}))
		f.Keys.Refuses = fault.New(fault.Unavailable, "keys.read", "No keychain answers here.", "Choose a passphrase.")
		path := filepath.Join(t.TempDir(), "mcp.json")
		must(t, os.WriteFile(path, []byte(
			`{"mcpServers": {"mail": {"command": "mail", "env": {"MAIL_TOKEN": "ab12cd34ef56"}}}}`), 0o600))
		made, _, err := f.Library.ImportServers(t.Context(), path)
		if err != nil || len(made.Added) != 1 || len(made.Left) != 0 {
			t.Fatalf("got %+v, %v", made, err)
		}
		want := []string{
			"Its secrets were not kept. Enter them on its card.", "No keychain answers here. Choose a passphrase.",
		}
		if got := made.Added[0].Notes; !slices.Equal(got, want) {
			t.Errorf("it says %q", got)
		}
	})
}
