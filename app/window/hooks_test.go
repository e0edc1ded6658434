package window_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/textdiff"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/programtest"
	"conclave/app/window"
)

// hooking opens a window with two extensions: Second adds a line to each prompt, First
// does what the last message says.
func hooking(t *testing.T, answers ...[]modeltest.Step) *testWindow {
	t.Helper()
	data := t.TempDir()
	for id, source := range map[string]string{
		"first": `
spindle.registerContextHandler((c) => off ? { ...c, cancelGeneration: true } : c);
let off = false;
spindle.registerInterceptor((messages) => {
  const said = messages.at(-1).content;
  if (said.includes("break")) throw new Error("no page " + 7);
  if (said.includes("secret")) return [...messages, { role: "system", content: "use sk-ant-REDACTED" }];
  if (said.includes("off")) off = true;
  return messages;
}, 1);`,
		"second": `
spindle.registerInterceptor((messages) => [...messages, { role: "system", content: "It rains." }], 2);`,
	} {
		write(t, filepath.Join(data, "plugins", id, "spindle.json"), `{"version":"1","name":"`+strings.ToUpper(id[:1])+id[1:]+
			`","identifier":"`+id+`","author":"a","permissions":["interceptor","context_handler"]}`)
		write(t, filepath.Join(data, "plugins", id, "dist", "backend.js"), source)
	}
	w := openOn(t, data, programtest.Worker(t), answers...).quiet()
	for _, id := range []string{"first", "second"} {
		must(t, plugintest.Approve(t.Context(), w.core.Host, id, false))
		must(t, w.core.Gate.Reach.SetPermission(t.Context(), id, "interceptor", gate.Allow))
		must(t, w.core.Gate.Reach.SetPermission(t.Context(), id, "context_handler", gate.Allow))
		w.state(id, "ready")
	}
	return w
}

// hooked returns the last entry of a chat, and what hooks did to it, one line a step.
func (w *testWindow) hooked(id string) (entry transcript.Entry, steps []string, things []window.HookedThing) {
	w.t.Helper()
	entries := w.pull(id).Entries
	entry = entries[len(entries)-1]
	things, err := w.Chats.Hooks(id, entry.Seq)
	must(w.t, err)
	for _, thing := range things {
		for _, s := range thing.Steps {
			line := strings.TrimSpace(s.Title + ", " + string(s.Point) + ": " + string(s.Action) + " " + s.Reason)
			for _, l := range s.Lines {
				if l.Kind == textdiff.Added {
					line += " +" + l.Text
				}
			}
			steps = append(steps, line)
		}
	}
	return entry, steps, things
}

func TestWhatExtensionsDidToAnAnswerIsKeptAndShown(t *testing.T) {
	fine := []modeltest.Step{modeltest.Say("Fine.")}
	w := hooking(t, fine, fine, fine, fine)
	id := w.ask("", "hello")
	entry, steps, things := w.hooked(id)
	if !slices.Equal(steps, []string{
		"First, before model:", // its context handler
		"First, before model:",
		"Second, before model: changed +[System note] +It rains.",
	}) {
		t.Errorf("kept %q", steps)
	}
	mark := []transcript.HookMark{{Plugin: "second", Title: "Second", Did: chat.HookChanged}}
	if !slices.Equal(entry.Hooks, mark) || len(things) != 1 || things[0].Request != 1 || things[0].Call != "" {
		t.Errorf("marked %+v, of %+v", entry.Hooks, things)
	}

	w.ask(id, "now break")
	entry, steps, _ = w.hooked(id)
	if len(steps) != 3 || !strings.HasPrefix(steps[1], "First, before model: failed ") ||
		!strings.Contains(steps[1], "No page 7") || entry.Hooks[0].Did != chat.HookFailed {
		t.Errorf("of one that throws is kept %q, marked %+v", steps, entry.Hooks)
	}

	w.ask(id, "tell the secret")
	if _, steps, _ = w.hooked(id); len(steps) != 3 || strings.Contains(steps[1], "abcdefghij") ||
		!strings.Contains(steps[1], "changed") {
		t.Errorf("of one that tells a key is kept %q", steps)
	}

	w.ask(id, "off")
	w.ask(id, "and again")
	entry, steps, _ = w.hooked(id)
	if entry.State != chat.Failed || !strings.Contains(entry.Error.Message, "First called the answer off.") ||
		!slices.Equal(steps, []string{"First, before model: stopped"}) || entry.Hooks[0].Did != chat.HookStopped {
		t.Errorf("of one that calls it off is kept %q in %+v", steps, entry)
	}

	messages, err := w.core.Store.Chats.Path(t.Context(), chat.ConversationID(id))
	must(t, err)
	if got := messages[1].Hooks; len(got) != 3 || got[2].Change == "" || got[2].Plugin != "second" {
		t.Errorf("the store has %+v", got)
	}
}
