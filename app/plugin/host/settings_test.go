package host_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
)

const optionsSchema = `{"type":"object","properties":{
	"path":{"type":"string","minLength":1},
	"depth":{"type":"integer","maximum":9,"default":3},
	"server":{"type":"object","properties":{"token":{"type":"string","format":"password","minLength":20},"port":{"type":"integer"}},"required":["token"]}
},"required":["path"]}`

func withOptions() plugintest.Script {
	s := plugintest.SaysText("say", "hello")
	s.Options = json.RawMessage(optionsSchema)
	s.Tools = append(s.Tools, plugintest.Tool{Name: "ask", Do: plugintest.Asks})
	return s
}

func form(f *plugintest.Fixture, id string) host.SettingsForm {
	f.T.Helper()
	form, err := f.Host.Settings.Form(f.T.Context(), id)
	if err != nil {
		f.T.Fatal(err)
	}
	return form
}

func TestSettingsReachTheProcessThatIsRestartedWithThem(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", withOptions())
		f.Says("a:say", "hello")
		if got := form(f, "a"); len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "path") ||
			string(got.Values) != "{}" || len(got.Schema) == 0 {
			t.Errorf("an empty form is %+v", got)
		}
		must(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(`{"path":"/tmp/x","depth":4}`)))
		f.Settle()
		f.Says("a:say", "hello")
		f.Started(map[string]int{"a": 2})
		if got := f.World.StartedWith("a"); string(got.Options) != `{"depth":4,"path":"/tmp/x"}` || got.Secrets != nil {
			t.Errorf("the process was placed with %s, %v", got.Options, got.Secrets)
		}
		f.Restart()
		if got := f.Status("a").Notes; !slices.Equal(got, []string{"Says what it needs."}) {
			t.Errorf("after a restart its notes are %q", got)
		}
		if got := form(f, "a"); string(got.Values) != `{"depth":4,"path":"/tmp/x"}` || len(got.Problems) != 0 {
			t.Errorf("after a restart the form is %s, %v", got.Values, got.Problems)
		}
		must(t, f.Host.ToolChoices.SetEnabled(t.Context(), "a", "say", false)) // keeps the settings
		if got := form(f, "a"); string(got.Values) != `{"depth":4,"path":"/tmp/x"}` {
			t.Errorf("switching a tool off left the settings %s", got.Values)
		}
	})
}

func TestSettingsThatDoNotFitAreRefusedAndNothingChanges(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", withOptions())
		f.Serve("plain.py", plugintest.SaysText("say", "plain"))
		for values, word := range map[string]string{
			`{"depth":4}`:                            "path",
			`{"path":"x","depth":10}`:                "depth",
			`{"path":"x","depth":"deep"}`:            "depth",
			`{"path":"x","server":{"port":1}}`:       "token",
			`[1]`:                                    "object",
			`{`:                                      "object",
			`null`:                                   "object",
			`"` + strings.Repeat("x", 300<<10) + `"`: "256 KiB",
			`{"path":"x","server":{"token":["no"]}}`: "token",
			`{"path":"x","server":{"port":"eighty"}}`: "port",
		} {
			kind(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(values)), fault.Invalid, word)
		}
		kind(t, f.Host.Settings.Set(t.Context(), "plain", json.RawMessage(`{}`)), fault.NotFound, "plain")
		kind(t, f.Host.Settings.Set(t.Context(), "gone", json.RawMessage(`{}`)), fault.NotFound, "gone")
		if got := form(f, "a"); string(got.Values) != "{}" || len(f.Keys.Kept) != 0 {
			t.Errorf("something was kept: %s %v", got.Values, f.Keys.Kept)
		}
		f.Started(map[string]int{"a": 1, "plain": 1})
	})
}

func TestLF40ASecretSettingIsKeptElsewhereAndGivenToItsPluginAlone(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", withOptions())
		f.Serve("b.py", withOptions())
		must(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(`{"path":"x","server":{"token":"hush","port":80}}`)))
		f.Settle()
		if got := form(f, "a"); string(got.Values) != `{"path":"x","server":{"port":80}}` ||
			!slices.Equal(got.Secrets, []string{"server.token"}) || len(got.Problems) != 0 {
			t.Errorf("the form is %s, %v, %v", got.Values, got.Secrets, got.Problems)
		}
		start := f.World.StartedWith("a")
		if strings.Contains(string(start.Options), "hush") || !slices.Equal(start.Secrets, []string{"server.token"}) {
			t.Errorf("the process was placed with %s, %v", start.Options, start.Secrets)
		}
		state, _ := f.Store.PluginState(t.Context(), "a")
		record, _ := f.Store.PluginCache(t.Context(), "a")
		if strings.Contains(string(state)+string(record), "hush") {
			t.Errorf("the secret lies in the store: %s", state)
		}
		ask := json.RawMessage(`{"capability":"options.secret","args":{"name":"server.token"}}`)
		if r := f.Freeze("a:ask").Call(t.Context(), string(ask)); len(r.Content) != 1 ||
			r.Content[0].Text != `{"value":"•••"}` {
			t.Errorf("LF-40: what the plugin was told is passed on as %+v", r)
		}
		if r := f.Freeze("b:ask").Call(t.Context(), string(ask)); !strings.Contains(r.Error, "not set") {
			t.Errorf("another plugin was told %+v", r)
		}

		// Leaving it out keeps it; another one replaces it; null forgets it.
		must(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(`{"path":"y","server":{"port":81}}`)))
		must(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(`{"path":"y","server":{"port":81,"token":"psst"}}`)))
		f.Settle()
		if got := f.Keys.Kept; len(got) != 1 || got["plugin/a/option/server.token"] != "psst" {
			t.Errorf("kept %v", got)
		}
		must(t, f.Host.Settings.Set(t.Context(), "b", json.RawMessage(`{"path":"y"}`)))
		kind(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(`{"path":"y","server":{"port":81,"token":null}}`)),
			fault.Invalid, "token")
		if got := form(f, "a"); !slices.Equal(got.Secrets, []string{"server.token"}) {
			t.Errorf("a refused change forgot the secret: %v", got.Secrets)
		}
	})
}

// A folder is read because a person named it. What a plugin says is set, and what it
// makes a path of later, nobody named.
func TestAPluginDoesNotFillInTheFolderThatItMayRead(t *testing.T) {
	own, theirs := t.TempDir(), t.TempDir()
	schema := func(current bool, notes, format string) plugintest.Script {
		s := plugintest.SaysText("say", "hello")
		s.Options = json.RawMessage(
			fmt.Sprintf(`{"type":"object","x-conclave-current":%v,"properties":{"color":{"type":"string"},"notes":{"type":"string"%s%s}}}`, current, notes, format))
		return s
	}
	const path = `,"format":"path"`
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		reads := func(want ...string) {
			t.Helper()
			f.Settle()
			var got []string
			for _, folder := range f.Gate.Reach.Folders("a") {
				got = append(got, folder.Path)
			}
			if !slices.Equal(got, want) {
				t.Errorf("it may read %q, want %q", got, want)
			}
		}
		set := func(values map[string]string) {
			t.Helper()
			form, err := f.Host.Settings.Form(t.Context(), "a")
			must(t, err)
			all := map[string]any{}
			must(t, json.Unmarshal(form.Values, &all))
			for name, value := range values {
				all[name] = value
			}
			raw, err := json.Marshal(all)
			must(t, err)
			must(t, f.Host.Settings.Set(t.Context(), "a", raw))
		}
		// What it says is set now goes along when the person sets something else.
		f.Serve("a.py", schema(true, fmt.Sprintf(`,"default":%q`, own), path))
		set(map[string]string{"color": "red"})
		reads()
		// A text of the person's becomes a path.
		f.Save("a.py", schema(false, "", ""))
		f.Trust("a", false)
		set(map[string]string{"notes": own})
		f.Save("a.py", schema(false, "", path))
		f.Trust("a", false)
		set(map[string]string{"color": "blue"})
		reads()
		// What the person fills in is read, and stays so when they set something else.
		set(map[string]string{"notes": theirs})
		reads(theirs)
		set(map[string]string{"color": "green"})
		reads(theirs)
		// So it does while a rule refuses some of it, so that Conclave opens the rest of it.
		no, err := f.Gate.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Deny, Plugin: "a", Permission: gate.Filesystem, Scope: gate.Always, MadeFrom: "ask_x",
			Match: []gate.Match{{Field: "path", Op: gate.PathUnder, Value: filepath.Join(theirs, "Letters")}},
		})
		must(t, err)
		set(map[string]string{"color": "black"})
		reads()
		_, err = f.Gate.Rules.Revoke(t.Context(), no.ID)
		must(t, err)
		reads(theirs)
		// Taken back, it is not given again by setting something else.
		must(t, f.Gate.Reach.RevokeFolder(t.Context(), "a", theirs))
		set(map[string]string{"color": "white"})
		reads()
	})
}

func TestWhatANewerConclaveKeepsOfAPluginSurvivesASetting(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		must(t, f.Store.PutPluginState(t.Context(), "a", json.RawMessage(`{"tools":{"ask":true},"only_at_night":true}`)))
		f.Serve("a.py", withOptions())
		must(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(`{"path":"x"}`)))
		state, err := f.Store.PluginState(t.Context(), "a")
		if err != nil || !strings.Contains(string(state), `"path":"x"`) ||
			!strings.Contains(string(state), `"only_at_night":true`) {
			t.Errorf("its state is %s, %v", state, err)
		}
	})
}

func TestHowManyCallsRunAtOnceIsSetForEachPlugin(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		shares, computes := plugintest.SaysText("say", "one"), plugintest.SaysText("say", "two")
		shares.Tools[0].Async = true
		f.Serve("a.py", shares)
		f.Serve("b.py", computes)
		computes.Tools = append(computes.Tools, shares.Tools[0])
		computes.Tools[1].Name = "share"
		f.Serve("c.py", computes)
		is := func(id string, want int, set bool) {
			t.Helper()
			s := f.Status(id)
			if got := f.Host.Settings.AtOnce(id); got != want || s.AtOnce != want || s.AtOnceSet != set {
				t.Errorf("%s runs %d calls at once, and its card says %d, set: %v; want %d, %v", id, got, s.AtOnce,
					s.AtOnceSet, want, set)
			}
		}
		is("a", 12, false)
		is("b", 4, false)
		is("c", 4, false) // not all of its tools say so
		must(t, f.Host.Settings.SetAtOnce(t.Context(), "a", 4))
		must(t, f.Host.Settings.SetAtOnce(t.Context(), "b", 32))
		for _, n := range []int{-1, 33, 1 << 30} {
			kind(t, f.Host.Settings.SetAtOnce(t.Context(), "a", n), fault.Invalid, fmt.Sprintf("a cannot run %d calls", n))
		}
		kind(t, f.Host.Settings.SetAtOnce(t.Context(), "gone", 4), fault.NotFound, "gone")
		is("a", 4, true)
		is("b", 32, true)
		f.Settle()
		f.Started(map[string]int{"a": 1, "b": 1, "c": 1}) // none is restarted for it
		f.Restart()
		is("a", 4, true)
		is("b", 32, true)
		must(t, f.Host.Settings.SetAtOnce(t.Context(), "a", 0))
		must(t, f.Host.ToolChoices.SetEnabled(t.Context(), "b", "say", false))
		is("a", 12, false) // as it was listed before the restart
		is("b", 32, true)
		if got := f.Host.Settings.AtOnce("nobody"); got != 4 {
			t.Errorf("an unknown plugin runs %d", got)
		}
	})
}
