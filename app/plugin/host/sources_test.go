package host_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

// registering runs test with a host that knows plugins without files, and what
// registers them: each call says which there are now.
func registering(t *testing.T, test func(t *testing.T, f *plugintest.Fixture, offer func(all ...plugin.Source))) {
	t.Helper()
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Close()
		f.Dialects = []plugin.Dialect{plugintest.Registered{World: f.World}}
		f.Open()
		test(t, f, func(all ...plugin.Source) {
			t.Helper()
			must(t, f.Host.SetRegistered("a test's registrations", all))
			f.Settle()
		})
	})
}

func registered(id, text string) plugin.Source {
	return plugintest.RegisteredSource(id, answers(text))
}

func TestAPluginNeedBeNeitherFileNorProcess(t *testing.T) {
	registering(t, func(t *testing.T, f *plugintest.Fixture, offer func(...plugin.Source)) {
		f.Serve("file.py", answers("a file"))
		offer(registered("far", "one"))
		card := f.State("far", plugin.NeedsApproval)
		if card.Serving || card.Path != "memory:far" || card.Isolation.Level != "none" ||
			!strings.Contains(card.Isolation.Sentence, "outside of Conclave") {
			t.Errorf("the card says %+v", card)
		}
		f.Started(map[string]int{"file": 1})
		f.Trust("far", false)
		f.Says("far:say", "one")
		f.Scan() // of the folder, which knows nothing of it
		f.Offers("far:say", "file:say")

		// What changed is looked at; meanwhile the last good one serves.
		offer(registered("far", "two"))
		card = f.State("far", plugin.Quarantined)
		if i := slices.IndexFunc(card.Changes, func(c gate.Change) bool {
			return c.Field == "code"
		}); i < 0 || !strings.Contains(card.Changes[i].Diff, `+      "text": "two"`) {
			t.Errorf("what changed is shown as %+v", card.Changes)
		}
		f.Says("far:say", "one")
		turn := f.Freeze("far:say")
		f.Trust("far", false)
		f.Says("far:say", "two")
		turn.Says("one") // a turn goes on with what it froze

		// Switches.
		must(t, f.Host.ToolChoices.SetEnabled(t.Context(), "far", "say", false))
		if s := f.Status("far"); s.Enabled["say"] {
			t.Error("the tool is still offered")
		}
		must(t, f.Host.SetEnabled(t.Context(), "far", false))
		f.Settle()
		f.State("far", plugin.Disabled)
		f.Offers("file:say")
		must(t, f.Host.SetEnabled(t.Context(), "far", true), f.Host.ToolChoices.SetEnabled(t.Context(), "far", "say", true))
		f.Settle()
		f.Says("far:say", "two")
		if files := f.Host.Files("far"); len(files) != 0 {
			t.Errorf("its files are %q", files)
		}
		_, err := f.Library.Remove(t.Context(), "far")
		kind(t, err, fault.Conflict, "comes from a test's registrations")

		// After a restart it is listed once it registers, and reached when it is called.
		started := len(f.World.Started())
		f.Restart()
		if _, err := f.Host.Status("far"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("before it registered: %v", err)
		}
		offer(registered("far", "two"))
		f.State("far", plugin.Ready)
		if n := len(f.World.Started()); n != started {
			t.Errorf("%d connections were made to list it", n-started)
		}
		f.Says("far:say", "two")

		// A row that cannot be read leaves the last good one in service, after a restart too.
		broken := plugin.Source{ID: "far", Display: "memory:far", Dialect: plugintest.RegisteredDialect, Row: "{"}
		for range 2 {
			offer(broken)
			if s := f.State("far", plugin.Failed); !s.Serving || !s.LastGood {
				t.Errorf("serving %v, last good %v", s.Serving, s.LastGood)
			}
			f.Says("far:say", "two")
			f.Restart()
		}

		offer(registered("far", "two"))
		f.Says("far:say", "two")
		offer()
		if _, err := f.Host.Status("far"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("once it is gone: %v", err)
		}
		f.Offers("file:say")
	})
}

func TestAConnectionThatEndsIsMadeAgain(t *testing.T) {
	registering(t, func(t *testing.T, f *plugintest.Fixture, offer func(...plugin.Source)) {
		offer(plugintest.RegisteredSource("far",
			plugintest.Script{Tools: []plugintest.Tool{{Name: "die", Do: plugintest.Dies}, {Name: "say", Text: "one"}}}))
		f.Trust("far", false)
		if r := f.Freeze("far:die").Call(t.Context(), "{}"); r.Status != chat.CallDied {
			t.Errorf("got %s %q", r.Status, r.Error)
		}
		f.Says("far:say", "one")
		if lines := f.Host.Log("far", 0); len(lines) == 0 || !strings.Contains(lines[0].Text, "its connection closed") {
			t.Errorf("its log has %+v", lines)
		}
		for range 2 {
			f.Freeze("far:die").Call(t.Context(), "{}")
			f.Settle()
		}
		f.State("far", plugin.Quarantined) // three deaths in a minute
		must(t, f.Host.Reload("far"))
		f.Settle()
		f.Says("far:say", "one")
	})
}

func TestTwoSourcesDoNotTakeEachOthersPlugins(t *testing.T) {
	registering(t, func(t *testing.T, f *plugintest.Fixture, offer func(...plugin.Source)) {
		f.Serve("a.py", answers("a file"))
		offer(registered("a", "a stranger"), registered("b", "one"))
		f.Says("a:say", "a file")
		f.State("b", plugin.NeedsApproval)
		f.Trust("b", false)
		must(t, f.Host.SetRegistered("another source", []plugin.Source{registered("b", "a stranger")}),
			f.Host.SetRegistered("another source", nil))
		f.Settle()
		f.Says("b:say", "one")
		// A file under the name of what is registered is passed over as well.
		f.Save("b.py", answers("a stranger"))
		f.Says("b:say", "one")

		for name, wrong := range map[string][]plugin.Source{
			"no id":        {registered("", "x")},
			"no legal id":  {registered("../b", "x")},
			"twice":        {registered("c", "x"), registered("c", "y")},
			"unknown kind": {{ID: "c", Dialect: "tomorrow's"}},
			"a file":       {{ID: "c", Path: f.Path("a.py")}},
		} {
			if err := f.Host.SetRegistered("a test's registrations", wrong); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", name, err)
			}
		}
		f.Settle()
		f.Says("b:say", "one") // nothing of a wrong offer was taken
	})
}

func TestWhatRegistersIsOfABoundedSizeAndNumber(t *testing.T) {
	registering(t, func(t *testing.T, f *plugintest.Fixture, offer func(...plugin.Source)) {
		offer(registered("a", "one"))
		f.Trust("a", false)
		large := registered("b", "one")
		large.Tools = strings.Repeat("x", limit.RegisteredPlugin+1-len(large.Row))
		err := f.Host.SetRegistered("a test's registrations", []plugin.Source{large})
		kind(t, err, fault.Invalid, "The plugin b registers more than 4 MiB")
		var many []plugin.Source
		for i := range limit.RegisteredPlugins + 1 {
			many = append(many, registered("p"+strconv.Itoa(i), "x"))
		}
		err = f.Host.SetRegistered("a test's registrations", many)
		kind(t, err, fault.Invalid, "More than 100 plugins are registered, the most that are kept.")
		f.Settle()
		f.Says("a:say", "one") // nothing of it was taken
	})
}

func TestARegisteredPluginThatNobodyApprovedLeavesNothing(t *testing.T) {
	registering(t, func(t *testing.T, f *plugintest.Fixture, offer func(...plugin.Source)) {
		offer(registered("stranger", "x"), registered("friend", "x"))
		f.Trust("friend", false)
		offer()
		for id, want := range map[string]bool{"stranger": false, "friend": true} {
			raw, err := f.Store.PluginCache(t.Context(), id)
			must(t, err)
			if kept := len(raw) > 0; kept != want {
				t.Errorf("the record of %s is kept: %v", id, kept)
			}
		}
	})
}
