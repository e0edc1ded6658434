package core

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

func TestEveryUserIdIsTheSame(t *testing.T) {
	w := extension(t, runs(`
const ids = {};
spindle.on("MESSAGE_SENT", (p, user) => { ids.event = user });
spindle.permissions.onChanged(() => {}); spindle.on("PERMISSION_CHANGED", (p, user) => { ids.permission = user });
spindle.registerContextHandler((c) => { ids.handler = c.userId; return c });
spindle.registerInterceptor((m, c) => { ids.interceptor = c.userId; return m });
spindle.registerMacro({ name: "who", description: "d", handler: (c) => { ids.macro = c.userId; return "me" } });`, `
if (args.do === "keep") { await spindle.userStorage.write("mine", "yes", user); return "kept" }
if (args.do === "read") return await spindle.userStorage.read("mine", ids.event);
return JSON.stringify({ ...ids, call: user }, Object.keys({ ...ids, call: user }).sort());`), "tools", "interceptor", "context_handler")
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "chats", gate.Allow))
	w.say(w.chat(), "{{who}}", modeltest.New([]modeltest.Step{modeltest.Say("hi")}))
	const id = "conclave-user"
	want, err := json.Marshal(map[string]string{
		"call": id, "event": id, "handler": id, "interceptor": id, "macro": id, "permission": id,
	})
	must(t, err)
	w.until(`{}`, string(want))
	w.wants("", `{"do":"keep"}`, "kept")
	w.wants("", `{"do":"read"}`, "yes")
}

func TestGenerationStartsBeforeAPromptIsLookedAt(t *testing.T) {
	w := extension(t, runs(`
let seen = [];
spindle.on("GENERATION_STARTED", (p) => seen.push("started " + p.generationType));
spindle.registerContextHandler((c) => { seen.push("handler " + c.generationType); return c });
spindle.registerInterceptor((m, c) => { seen.push("interceptor " + c.generationType); return m });`, `return seen.splice(0).join(", ");`), "tools", "generation", "interceptor", "context_handler")
	id := w.chat()
	for i := range 15 {
		if i%5 == 4 { // the process is started for the turn
			w.restart()
		}
		w.say(id, "hello", modeltest.New([]modeltest.Step{modeltest.Say("hi")}))
		w.wants("", `{}`, "started normal, handler normal, interceptor normal")
	}
	question := chat.MessageSeq(1)
	if _, err := w.Conversations.Run(t.Context(),
		turn.Request{Conversation: id, Parent: &question, Model: modeltest.New([]modeltest.Step{modeltest.Say("again")})},
		nil); err != nil {
		t.Fatal(err)
	}
	w.wants("", `{}`, "started regenerate, handler regenerate, interceptor regenerate")
}

// saver counts what it was told into its storage, as extensions that keep a sheet
// do; nothing waits for it but the end of the program.
const saver = `
const add = async (what) => { const all = await spindle.storage.getJson("all.json", { fallback: {} }); all[what] = (all[what] ?? 0) + 1; await spindle.storage.setJson("all.json", all); };
let last = Promise.resolve();
const next = (what) => { last = last.then(() => add(what)); };
spindle.on("MESSAGE_SENT", (p) => { next(p.message.role) });
spindle.on("GENERATION_ENDED", async () => { next("ended"); await last; });`

func TestWhatAPluginSavesAtTheEndOfAnAnswerIsSaved(t *testing.T) {
	was := flushTime
	flushTime = patience // a busy machine may need more than is waited for
	t.Cleanup(func() { flushTime = was })
	w := extension(t, runs(saver, `return JSON.stringify(await spindle.storage.getJson("all.json", { fallback: {} }));`),
		"tools", "generation", "chat_mutation")
	id := w.chat()
	const rounds = 6
	for range rounds {
		w.restart() // as a command does: open, answer, end
		w.say(id, "hello", modeltest.New([]modeltest.Step{modeltest.Say("hi")}))
	}
	w.restart()
	w.wants("", `{}`, fmt.Sprintf(`{"user":%d,"assistant":%d,"ended":%d}`, rounds, rounds, rounds))
}

func TestAPluginThatIsNeverDoneHoldsUpTheEndForABoundedTime(t *testing.T) {
	w := extension(t, runs(`spindle.on("MESSAGE_SENT", () => new Promise(() => {}));`, `return "";`), "tools")
	w.say(w.chat(), "hello", modeltest.New([]modeltest.Step{modeltest.Say("hi")}))
	must(t, w.Close()) // returns, although the plugin is never done
	var lines []string
	for _, line := range w.Host.Log("ext", 0) {
		lines = append(lines, line.Text)
	}
	if !slices.ContainsFunc(lines,
		func(line string) bool { return strings.Contains(line, "before the plugin was done") }) {
		t.Errorf("its log says %q", lines)
	}
}

func TestAMacroThatIsPushedAtStartHasItsValueInTheFirstTurn(t *testing.T) {
	w := extension(t, runs(`
spindle.registerMacro({ name: "sheet", description: "d" });
(async () => { const all = await spindle.storage.getJson("all.json", { fallback: {} }); await spindle.variables.global.get("x"); spindle.updateMacroValue("sheet", "hp " + (all.hp ?? 10)); })();`, `return "";`), "tools")
	id := w.chat()
	for range 3 {
		w.restart()
		sent, _, _ := w.say(id, "I have {{sheet}}", modeltest.New([]modeltest.Step{modeltest.Say("hi")}))
		if got := chat.TextOf(sent.Messages[len(sent.Messages)-1].Parts); got != "I have hp 10" {
			t.Errorf("the model was sent %q", got)
		}
	}
}

func TestMessageIdsAreTheSameInNoTwoChats(t *testing.T) {
	w := extension(t, runs("", `
const all = await spindle.chat.getMessages(args.chat);
if (args.edit) { try { return (await spindle.chat.updateMessage(args.chat, args.edit, { content: "new" })).content } catch (e) { return e.message } }
return all[0].id;`), "tools", "chat_mutation")
	one, two := w.chat("a"), w.chat("b")
	a, b := w.run("", fmt.Sprintf(`{"chat":%q}`, one)), w.run("", fmt.Sprintf(`{"chat":%q}`, two))
	if a == b || a == "" {
		t.Errorf("the ids are %q and %q", a, b)
	}
	w.wants("", fmt.Sprintf(`{"chat":%q,"edit":%q}`, one, a), "new")
	w.wants("", fmt.Sprintf(`{"chat":%q,"edit":%q}`, one, b), "There is no message "+b+" in that chat.")
}

// The process that lists an extension is not kept when what it lists waits for a
// second yes; what it registered is known all the same.
func TestWhatAnExtensionWithAWindowRegisteredIsOnItsCardAfterARestart(t *testing.T) {
	source := `spindle.registerTool({ name: "ex" + "tra", description: "d", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.onFrontendMessage(() => {});
spindle.on("MESSAGE_SENT", () => {});
spindle.registerMacro({ name: "mood", description: "d", handler: () => "calm" });` + runs("", `return "ran";`)
	w := extension(t, source, "tools", "app_manipulation")
	front := filepath.Join(w.data, "plugins", "ext", "dist", "frontend.js")
	must(t, os.WriteFile(front, []byte("never();"), 0o600))
	w.restart()
	must(t, plugintest.Approve(t.Context(), w.Host, "ext", false))
	w.restart()
	s, err := w.Host.Status("ext")
	if err != nil || s.State != plugin.Ready || s.Running {
		t.Fatalf("%s, running %v: %v %v", s.State, s.Running, s.Problem, err)
	}
	want := []string{
		"Its part for Lumiverse's window (dist/frontend.js) is not run.",
		"It asks for the permission app_manipulation, which is not supported here.",
		"It receives MESSAGE_SENT without the content, since it was not granted chat_mutation.",
		"What works of it here: it offers 2 tools, fills in {{…}} and follows what happens (MESSAGE_SENT). " +
			"What one would do in its own window (settings, buttons, connecting an account) does not reach it.",
	}
	if got := slices.Concat(s.Manifest.Notices, s.Notes); !slices.Equal(got, want) {
		t.Errorf("the card says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sent, _, _ := w.say(w.chat(), "{{mood}}", modeltest.New([]modeltest.Step{modeltest.Say("hi")}))
	if got := chat.TextOf(sent.Messages[len(sent.Messages)-1].Parts); got != "calm" {
		t.Errorf("the model was sent %q", got)
	}
}
