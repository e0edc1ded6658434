package host_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
)

// secret is in whatever an event or a hook says besides ids.
const secret = "marigold"

// everything is a payload that says the secret in every place but ids.
func everything() map[string]any {
	said := func(more map[string]any) map[string]any {
		maps.Copy(more, map[string]any{
			"title": secret, "system": secret, "content": secret, "name": secret,
			"extra": map[string]any{"deep": []string{secret}},
		})
		return more
	}
	return said(map[string]any{
		"chatId": "C1", "generationId": "G1", "messageId": "M1", "changedFields": []string{"name"}, "token": secret,
		"model": secret, "error": secret, "text": secret,
		"chat": said(map[string]any{"id": "C1"}), "message": said(map[string]any{"id": "M1", "chat": "C1"}),
		"messages": []string{secret},
	})
}

// asking serves a plugin with a tool that passes on what it is given to Conclave.
func asking(f *plugintest.Fixture) (ask func(service string, args any)) {
	f.Serve("ext.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "ask", Do: plugintest.Asks}}})
	z := f.Freeze("ext:ask")
	return func(service string, args any) {
		f.T.Helper()
		raw, err := json.Marshal(map[string]any{"capability": service, "args": args})
		must(f.T, err)
		if r := z.Call(f.T.Context(), string(raw)); r.Error != "" {
			f.T.Fatalf("%s: %s", service, r.Error)
		}
	}
}

// toldOf returns what the process was told under a name since the last look.
func toldOf(f *plugintest.Fixture, seen *int, name string) []string {
	synctest.Wait()
	all := f.World.Events()
	fresh := all[*seen:]
	*seen = len(all)
	var out []string
	for _, line := range fresh {
		if strings.HasPrefix(line, "ext "+name+" ") {
			out = append(out, line)
		}
	}
	return out
}

func TestNoEventSaysAnythingWithoutThePermissionToReadIt(t *testing.T) {
	plugintest.Bubble(t, "spindle", func(t *testing.T, f *plugintest.Fixture) {
		ask := asking(f)
		seen := 0
		grant := func(permission string, effect gate.Effect) {
			if permission != "" {
				must(t, f.Gate.Reach.SetPermission(t.Context(), "ext", permission, effect))
			}
		}
		for name, needs := range host.EventRules {
			hear, content := needs[0], needs[1]
			ask("events.subscribe", map[string]any{"name": name})
			f.Host.Hooks.Publish(name, everything())
			got := toldOf(f, &seen, name)
			if strings.Contains(strings.Join(got, ""), secret) {
				t.Errorf("%s without a permission says %q", name, got)
			}
			if want := map[bool]int{true: 1, false: 0}[hear == ""]; len(got) != want {
				t.Errorf("%s without a permission came %d times, want %d", name, len(got), want)
			}
			grant(hear, gate.Allow)
			grant(content, gate.Allow)
			f.Host.Hooks.Publish(name, everything())
			got = toldOf(f, &seen, name)
			if says := strings.Contains(strings.Join(got, ""), secret); len(got) != 1 || says != (content != "") {
				t.Errorf("%s with %q and %q came as %q", name, hear, content, got)
			}
			grant(hear, gate.Deny)
			grant(content, gate.Deny)
			f.Host.Hooks.Publish(name, everything())
			if got := toldOf(f, &seen, name); strings.Contains(strings.Join(got, ""), secret) {
				t.Errorf("%s after the permission was taken back says %q", name, got)
			}
			grant(hear, gate.Ask)
			grant(content, gate.Ask)
		}
		ask("events.subscribe", map[string]any{"name": "SOMETHING_NEW"})
		f.Host.Hooks.Publish("SOMETHING_NEW", everything())
		if got := toldOf(f, &seen, "SOMETHING_NEW"); len(got) != 0 {
			t.Errorf("an event without a rule came: %q", got)
		}
	})
}

func TestAndF20NoHookIsAskedWithoutItsPermission(t *testing.T) {
	plugintest.Bubble(t, "spindle", func(t *testing.T, f *plugintest.Fixture) {
		ask := asking(f)
		seen := 0
		run := func(hook plugin.Hook) error {
			_, err := f.Host.Hooks.Run(t.Context(), hook, "", everything()) // nobody answers: it times out
			return err
		}
		for kind, permissions := range host.HookPermissions {
			if len(permissions) == 0 {
				t.Errorf("the hook %s needs no permission", kind)
			}
			ask("hooks.register", map[string]any{"kind": kind, "name": "n"})
			if hooks := f.Host.Hooks.Kind(t.Context(), kind, ""); len(hooks) != 0 {
				t.Errorf("without a permission there are %d hooks %s", len(hooks), kind)
			}
			if hooks := f.Host.Hooks.Kind(t.Context(), kind, "another"); len(hooks) != 0 {
				t.Errorf("another plugin gets %d hooks %s", len(hooks), kind)
			}
			for _, permission := range permissions {
				must(t, f.Gate.Reach.SetPermission(t.Context(), "ext", permission, gate.Allow))
				hooks := f.Host.Hooks.Kind(t.Context(), kind, "")
				if len(hooks) != 1 {
					t.Fatalf("with %s there are %d hooks %s", permission, len(hooks), kind)
				}
				if err := run(hooks[0]); err == nil || !strings.Contains(err.Error(), "too long") {
					t.Errorf("%s with %s: %v", kind, permission, err)
				}
				if got := toldOf(f, &seen, "conclave.hook"); len(got) != 1 || !strings.Contains(got[0], secret) {
					t.Errorf("%s with %s was asked %q", kind, permission, got)
				}
				must(t, f.Gate.Reach.SetPermission(t.Context(), "ext", permission, gate.Deny))
				if err := run(hooks[0]); err == nil || !strings.Contains(err.Error(), "no permission") {
					t.Errorf("%s once %s was taken back: %v", kind, permission, err)
				}
				if got := toldOf(f, &seen, "conclave.hook"); len(got) != 0 {
					t.Errorf("%s once %s was taken back was asked %q", kind, permission, got)
				}
				must(t, f.Gate.Reach.SetPermission(t.Context(), "ext", permission, gate.Ask))
			}
			own := f.Host.Hooks.Kind(t.Context(), kind, "ext")
			if len(own) != 1 {
				t.Errorf("for its own text it has %d hooks %s", len(own), kind)
			}
			ask("hooks.unregister", map[string]any{"kind": kind, "name": "n"})
		}
	})
}

func TestTheCardSaysWhichEventsAPluginGets(t *testing.T) {
	plugintest.Bubble(t, "spindle", func(t *testing.T, f *plugintest.Fixture) {
		ask := asking(f)
		for _, name := range []string{
			"MESSAGE_SENT", "MESSAGE_EDITED", "CHAT_CHANGED", "GENERATION_ENDED",
			"CHARACTER_EDITED\n\u202efake", "PERSONA_CHANGED",
		} {
			ask("events.subscribe", map[string]any{"name": name})
		}
		ask("hooks.register", map[string]any{"kind": "macro", "name": "mood"})
		says := func(sentences ...string) {
			t.Helper()
			synctest.Wait()
			if got := f.Status("ext").Notes; !slices.Equal(got, sentences) {
				t.Errorf("the card says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(sentences, "\n"))
			}
		}
		says("It waits for CHARACTER_EDITED fake and PERSONA_CHANGED, which Conclave never sends.",
			"It receives CHAT_CHANGED without the content, since it was not granted chats.",
			"It listens to GENERATION_ENDED and receives nothing, since it was not granted generation.",
			"It receives MESSAGE_EDITED and MESSAGE_SENT without the content, since it was not granted chat_mutation.",
			"It fills in {{…}} only once you grant it macros.")
		for _, permission := range []string{"chats", "chat_mutation", "generation", "macros"} {
			must(t, f.Gate.Reach.SetPermission(t.Context(), "ext", permission, gate.Allow))
		}
		says("It waits for CHARACTER_EDITED fake and PERSONA_CHANGED, which Conclave never sends.",
			"It receives CHAT_CHANGED with the content, which chats allows.",
			"It receives GENERATION_ENDED with the content, which generation allows.",
			"It receives MESSAGE_EDITED and MESSAGE_SENT with the content, which chat_mutation allows.")
	})
}

// The table in docs/WIRE.md is the rules.
func TestTheWirePageNamesThePermissionOfEachEvent(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "WIRE.md"))
	must(t, err)
	for name, needs := range host.EventRules {
		cell := func(permission string) string {
			if permission == "" {
				return "–"
			}
			return "`" + permission + "`"
		}
		if row := fmt.Sprintf("| `%s` | %s | %s |", name, cell(needs[0]),
			cell(needs[1])); !strings.Contains(string(page), row) {
			t.Errorf("docs/WIRE.md lacks the row %s", row)
		}
	}
}
