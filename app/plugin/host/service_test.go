package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
	"conclave/app/tool"
)

var asks = plugintest.Script{Tools: []plugintest.Tool{{Name: "ask", Do: plugintest.Asks}}}

// answer returns what Conclave answers a plugin's request, which its call hands on.
func answer(f *plugintest.Fixture, id, service, args string) string {
	f.T.Helper()
	r := f.Freeze(id+":ask").Call(f.T.Context(), `{"capability":"`+service+`","args":`+args+`}`)
	return chat.TextOf(r.Content) + r.Error
}

func TestAServiceActsForThePluginThatAsksAndMay(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Close()
		var by plugin.Caller
		var fails error
		f.Services = map[string]plugin.Service{
			"say.free": {Do: func(_ context.Context, caller plugin.Caller, args json.RawMessage) (any, error) {
				by = caller
				return map[string]json.RawMessage{"heard": args}, fails
			}},
			"say.bound": {Permission: "chats", Do: func(context.Context, plugin.Caller, json.RawMessage) (any, error) {
				return "yes", nil
			}},
		}
		f.Open()
		f.Serve("a.py", asks)
		if got := answer(f, "a", "say.free", `{"x":1}`); got != `{"heard":{"x":1}}` {
			t.Errorf("got %s", got)
		}
		if by.Plugin != "a" || by.Dialect != "functions" || by.Code == "" || by.Tell == nil || by.Granted("chats") {
			t.Errorf("it acts for %+v", by)
		}
		if got := answer(f, "a", "say.bound", `{}`); !strings.Contains(got, "PERMISSION_DENIED: chats") {
			t.Errorf("without the permission: %s", got)
		}
		if r := f.Status("a").Refused; len(r) != 1 || r[0].Permission != "chats" ||
			r[0].Command("a") != "conclave plugins grant a chats" {
			t.Errorf("its card says it was refused %+v", r)
		}
		must(t, f.Gate.Reach.SetPermission(t.Context(), "a", "chats", gate.Allow))
		synctest.Wait()
		if got := answer(f, "a", "say.bound", `{}`); got != `"yes"` {
			t.Errorf("with the permission: %s", got)
		}
		if r := f.Status("a").Refused; len(r) != 0 {
			t.Errorf("once it is granted its card says it was refused %+v", r)
		}
		for kind, err := range map[string]error{
			"not_found": fault.New(fault.NotFound, "x", "There is none.", ""),
			"denied":    fault.New(fault.NotAllowed, "x", "No.", ""),
			"invalid":   fault.New(fault.Invalid, "x", "What?", ""),
			"failed":    errors.New("a detail that is not the plugin's to know"),
		} {
			fails = err
			got := answer(f, "a", "say.free", `{}`)
			if !strings.Contains(got, kind) && kind != "failed" || strings.Contains(got, "a detail") {
				t.Errorf("%s: %s", kind, got)
			}
		}
		if got := answer(f, "a", "say.nothing", `{}`); !strings.Contains(got, "not available in Conclave") {
			t.Errorf("of what there is not: %s", got)
		}
	})
}

// What a plugin was given it may have kept, in its own folder too: neither a newer version nor another
// start of Conclave makes its words its own again.
func TestAttackAPluginTellsAfterARestartWhatItWasGiven(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Close()
		f.Services = map[string]plugin.Service{"say.shared": {Do: func(_ context.Context, by plugin.Caller,
			_ json.RawMessage,
		) (any, error) {
			by.Gave(chat.Author{Plugin: "b", Name: "B"})
			return "of B", nil
		}}}
		f.Open()
		f.Serve("a.py", asks)
		f.Serve("c.py", asks)
		tells := func(id string) string {
			t.Helper()
			r := f.Freeze(id+":ask").Call(t.Context(), `{"capability":"none","args":{}}`)
			return fmt.Sprint(r.Outside, r.Shared)
		}
		const nothing, all = "false []", "true [what the plugin B wrote]"
		if got := tells("a"); got != nothing {
			t.Errorf("before it is given anything: %s", got)
		}
		if got := answer(f, "a", "say.shared", "{}"); got != `"of B"` {
			t.Errorf("it was given %s", got)
		}
		host.Opened(f.Host, "a")
		if got := tells("a"); got != all {
			t.Errorf("once it was given both: %s", got)
		}
		newer := asks
		newer.Tools = append(slices.Clone(asks.Tools), plugintest.Tool{Name: "more"})
		f.Serve("a.py", newer)
		if got := tells("a"); got != all {
			t.Errorf("a newer version: %s", got)
		}
		must(t, f.Host.ToolChoices.SetEnabled(t.Context(), "a", "more", false)) // keeps it
		f.Restart()
		if got := tells("a"); got != all {
			t.Errorf("after a restart: %s", got)
		}
		if got := tells("c"); got != nothing {
			t.Errorf("another: %s", got)
		}
	})
}

func TestAPluginThatIsLookedAtMayDoNothing(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Close()
		f.Services = map[string]plugin.Service{"say.free": {Do: func(context.Context, plugin.Caller,
			json.RawMessage,
		) (any, error) {
			return "yes", nil
		}}}
		f.Open()
		path := filepath.Join(t.TempDir(), "a.py")
		must(t, os.WriteFile(path, []byte(asks.JSON()), 0o600))
		id, err := f.Host.ThisRun.Preview(t.Context(), path)
		must(t, err)
		if got := answer(f, id, "say.free", `{}`); !strings.Contains(got, "not available in Conclave") {
			t.Errorf("got %s", got)
		}
	})
}

func TestAPluginIsOfferedOnceMoreWithOtherSettings(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := plugintest.SaysText("say", "hello")
		s.Options = json.RawMessage(
			`{"type":"object","properties":{"depth":{"type":"integer"},"place":{"type":"string","format":"path"}}}`)
		f.Serve("a.py", s)
		must(t, f.Host.Settings.Set(t.Context(), "a", json.RawMessage(`{"depth":3}`)))
		f.Settle()
		folder := t.TempDir()
		id, err := f.Host.ThisRun.LoadWith(t.Context(), "a", json.RawMessage(`{"place":"`+folder+`"}`))
		must(t, err)
		f.Says(id+":say", "hello")
		placed := f.World.StartedWith(id)
		if got := string(placed.Options); got != `{"depth":3,"place":"`+folder+`"}` {
			t.Errorf("the second one is given %s", got)
		}
		if len(placed.Folders) != 1 || placed.Folders[0].Path != folder {
			t.Errorf("it may reach %+v", placed.Folders)
		}
		_, err = f.Host.ThisRun.LoadWith(t.Context(), "a", json.RawMessage(`{"place":"`+folder+`/none"}`))
		kind(t, err, fault.NotFound, "place")
		_, err = f.Host.ThisRun.LoadWith(t.Context(), "a", json.RawMessage(`3`))
		kind(t, err, fault.Invalid)
	})
}

// says answers every question of the gate.
type says struct{ answer gate.Answer }

func (s says) Ask(context.Context, gate.Request) (gate.Answer, error) { return s.answer, nil }

func TestAPersonIsAskedAboutAPluginWhereTheyAre(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Save("a.py", answers("one"))
		status, err := f.Host.Approvals.Ask(t.Context(), "a", says{gate.Answer{Effect: gate.Allow, Scope: gate.Always}})
		must(t, err)
		f.Settle()
		if status != gate.Approved {
			t.Errorf("the verdict is %v", status)
		}
		f.Says("a:say", "one")
		if _, err := f.Host.Approvals.Ask(t.Context(), "a",
			says{gate.Answer{Effect: gate.Allow, Scope: gate.Always}}); !errors.Is(err, host.ErrNotWaiting) {
			t.Errorf("of one that does not wait: %v", err)
		}

		// For one run.
		f.Save("b.py", answers("two"))
		end, err := f.Host.Approvals.ApproveForRun(t.Context(), "b", f.Status("b").Shown)
		must(t, err)
		f.Says("b:say", "two")
		end()
		f.Restart()
		f.State("b", plugin.NeedsApproval)
	})
}

func TestOfTwoOfOneIdentityTheOneThatServedHasIt(t *testing.T) {
	plugintest.Bubble(t, "spindle", func(t *testing.T, f *plugintest.Fixture) {
		named := func(text string) plugintest.Script {
			s := answers(text)
			s.Identity = "shared"
			return s
		}
		f.Serve("b.py", named("the first"))
		f.Save("a.py", named("a newcomer"))
		if s := f.State("a", plugin.Failed); s.Problem.Kind != "refused" ||
			!strings.Contains(s.Problem.Message, "shared already: b") {
			t.Errorf("got %+v", s.Problem)
		}
		f.Says("b:say", "the first")
		_, err := f.Library.Add(t.Context(), f.Path("a.py"))
		kind(t, err, fault.Conflict)
		f.Restart()
		f.State("a", plugin.Failed)
		f.Says("b:say", "the first")
		must(t, os.Remove(f.Path("b.py")))
		f.Scan()
		f.State("a", plugin.NeedsApproval)
	})
}

func TestAPluginIsStartedForWhatItListenedTo(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", asks)
		if f.Host.Hooks.HasSubscriber("CHAT_SWITCHED") {
			t.Error("an event is wanted that nobody listens to")
		}
		answer(f, "a", "events.subscribe", `{"name":"CHAT_SWITCHED"}`)
		f.Settle()
		f.Restart()
		if !f.Host.Hooks.HasSubscriber("CHAT_SWITCHED") || f.Host.Hooks.HasSubscriber("MESSAGE_SENT") {
			t.Error("what it listened to is not remembered")
		}
		started, told := len(f.World.Started()), len(f.World.Events())
		f.Host.Hooks.Publish("CHAT_SWITCHED", map[string]string{"chatId": "C1"})
		f.Host.Hooks.Publish("CHAT_SWITCHED", map[string]string{"chatId": "C2"})
		synctest.Wait()
		if n := len(f.World.Started()); n != started+1 {
			t.Errorf("%d processes were started", n-started)
		}
		// It listens again when it is loaded, which this one does not: it is told nothing.
		if n := len(f.World.Events()); n != told {
			t.Errorf("it was told %q", f.World.Events()[told:])
		}
		answer(f, "a", "events.subscribe", `{"name":"CHAT_SWITCHED"}`)
		f.Host.Hooks.Publish("CHAT_SWITCHED", map[string]string{"chatId": "C3"})
		synctest.Wait()
		if got := f.World.Events()[told:]; !slices.Equal(got, []string{`a CHAT_SWITCHED {"chatId":"C3"}`}) {
			t.Errorf("it was told %q", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), host.LoadTimeout)
		defer cancel()
		f.Host.Hooks.WaitDelivered(ctx) // it never says that it is done
		synctest.Wait()
		lines := f.Host.Log("a", 0)
		if len(lines) == 0 || !strings.Contains(lines[len(lines)-1].Text, "Conclave closed before the plugin was done") {
			t.Errorf("its log has %+v", lines)
		}
	})
}

func TestALogHasWhatIsNotedOutsideOfTheProcess(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.Script{Stderr: "printed", Tools: []plugintest.Tool{{Name: "say", Text: "x"}}})
		f.Host.WriteLog("a", "warn", "noted")
		f.Host.WriteLog("none", "warn", "noted")
		var got []string
		for _, line := range f.Host.Log("a", 0) {
			got = append(got, line.Level+" "+line.Text)
		}
		if !slices.Contains(got, "warn noted") {
			t.Errorf("got %q", got)
		}
		if lines := f.Host.Log("none", 0); len(lines) != 0 {
			t.Errorf("of a plugin that is not there: %v", lines)
		}
	})
}

func TestAStorageThatIsFullIsNotWritten(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", asks)
		big := filepath.Join(f.Data, "storage", "a", "big")
		must(t, os.WriteFile(big, nil, 0o600), os.Truncate(big, limit.StorageBytes+1))
		time.Sleep(2 * time.Second) // of the bubble: it is counted every second
		r := f.Freeze("a:ask").Call(t.Context(), `{}`)
		if r.Status != chat.CallDied || !strings.Contains(r.Error, "could not be started") {
			t.Errorf("got %s %q", r.Status, r.Error)
		}
		lines := f.Host.Log("a", 0)
		if len(lines) == 0 || lines[0].Text != "Its storage folder holds more than 512 MiB or 10,000 files, or "+
			"folders that are too deep or too locked to be counted, so it was stopped. Delete what it does not need, "+
			"then reload it." {
			t.Errorf("its log has %+v", lines)
		}
		must(t, os.Remove(big))
		time.Sleep(2 * time.Second) // of the bubble
		if got := answer(f, "a", "storage.exists", `{"path":"big"}`); got != `{"exists":false}` {
			t.Errorf("once there is room: %s", got)
		}
	})
}

func TestServingGivesToolsAndWhatRunsThem(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		if tools, invoker := f.Host.Serving("none"); tools != nil || invoker != nil {
			t.Errorf("of none: %v, %v", tools, invoker)
		}
		f.Save("a.py", answers("one"))
		if tools, invoker := f.Host.Serving("a"); tools != nil || invoker != nil {
			t.Errorf("of one that waits: %v, %v", tools, invoker)
		}
		f.Trust("a", false)
		tools, invoker := f.Host.Serving("a")
		if len(tools) != 1 || invoker == nil {
			t.Fatalf("got %v, %v", tools, invoker)
		}
		frozen := plugintest.Frozen{Tool: tools[0], Invoker: invoker}
		if frozen.Tool.Name != "say" || frozen.Tool.Visibility == tool.Hidden {
			t.Errorf("got %+v", frozen.Tool)
		}
	})
}

func TestASecretThatAPluginGotIsInNothingItSays(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Close()
		f.Services = map[string]plugin.Service{
			"secrets.get": {Do: func(context.Context, plugin.Caller, json.RawMessage) (any, error) {
				return map[string]any{"value": "marigold-1789"}, nil
			}},
			"secrets.put": {Do: func(context.Context, plugin.Caller, json.RawMessage) (any, error) {
				return "it is marigold-1790 now", nil
			}},
		}
		f.Open()
		f.Serve("a.py", asks)
		for service, args := range map[string]string{
			"secrets.get": `{}`, "secrets.put": `{"value":"marigold-1790"}`,
		} {
			if got := answer(f, "a", service, args); strings.Contains(got, "marigold") || !strings.Contains(got, "•••") {
				t.Errorf("%s: %s", service, got)
			}
		}
	})
}

func TestPathsAmongSettingsAreWhatTheCommandMeans(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"Box":{"type":"object","properties":{
		"folder":{"type":"string","format":"path"},"name":{"type":"string"},
		"more":{"type":"array","items":{"type":"string","format":"file-path"}}}}}}`)
	below := func(path string) string { return "/work/" + path }
	for given, want := range map[string]string{
		`{"Box":{"folder":"x","name":"x","more":["a","b"]}}`: `{"Box":{"folder":"/work/x","more":["/work/a","/work/b"],"name":"x"}}`,
		`{"Box":["x"]}`: `{"Box":{"folder":"/work/x"}}`,
		`{"Box":`:       `{"Box":`,
	} {
		if got := string(host.WithPaths(schema, json.RawMessage(given), below)); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

func TestWhatAPluginBeginsWithIsCopiedOnceForEachVersion(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		seeded := func(text string) plugintest.Script {
			s := answers(text)
			s.Seeds = []plugin.Seed{
				{From: "data", To: "."}, {From: "own.txt", To: "own.txt", Overwrite: true}, {From: "none", To: "none"},
			}
			return s
		}
		f.Raw("a/data/deep/kept.txt", "first")
		f.Raw("a/own.txt", "first")
		f.Serve("a/main.py", seeded("one"))
		stored := func(name string) string {
			text, err := os.ReadFile(filepath.Join(f.Data, "storage", "a", name))
			must(t, err)
			return string(text)
		}
		if stored("deep/kept.txt") != "first" || stored("own.txt") != "first" {
			t.Error("what it begins with was not copied")
		}
		f.Raw("a/data/deep/kept.txt", "second")
		f.Raw("a/own.txt", "second")
		f.Save("a/main.py", seeded("two"))
		f.Trust("a", false)
		if stored("deep/kept.txt") != "first" || stored("own.txt") != "second" {
			t.Errorf("after an update it has %q and %q", stored("deep/kept.txt"), stored("own.txt"))
		}
		must(t, os.WriteFile(filepath.Join(f.Data, "storage", "a", "own.txt"), []byte("the plugin's"), 0o600),
			f.Host.Reload("a"))
		f.Settle()
		if stored("own.txt") != "the plugin's" {
			t.Error("what is there was copied again without a new version")
		}

		s := answers("one")
		s.Seeds = []plugin.Seed{{From: "none", To: "none", Required: true}}
		f.Save("b/main.py", s)
		f.Trust("b", false)
		if s := f.State("b", plugin.Failed); s.Problem.File != "none" ||
			!strings.Contains(s.Problem.Message, "could not be copied") {
			t.Errorf("got %+v", s.Problem)
		}
	})
}
