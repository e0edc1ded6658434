package core

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/service"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

var must = testkit.Must

// patience bounds every wait: far above what anything takes.
var patience = testkit.Patience

func TestMain(m *testing.M) { programtest.Main(m) }

// whole is a core with one extension, ext, in a real process.
type whole struct {
	t    *testing.T
	data string
	now  func() time.Time // its clock; nil is time.Now
	*Core
}

// extension opens a core with an extension of the given source and permissions,
// approved.
func extension(t *testing.T, source string, permissions ...string) *whole {
	t.Helper()
	w := &whole{t: t, data: t.TempDir()}
	manifest, err := json.Marshal(map[string]any{
		"version": "1", "name": "Ext", "identifier": "ext", "author": "a", "permissions": permissions,
	})
	must(t, err)
	for name, text := range map[string]string{"spindle.json": string(manifest), "dist/backend.js": source} {
		path := filepath.Join(w.data, "plugins", "ext", name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	w.open()
	must(t, plugintest.Approve(t.Context(), w.Host, "ext", false))
	w.settle()
	return w
}

// walled opens a core with a plugin of one Python file, approved, whose process has walls. It
// skips the test where there is no Python, or no such walls.
func walled(t *testing.T, id, source string) *whole {
	t.Helper()
	pythontest.Any(t)
	w := &whole{t: t, data: t.TempDir()}
	testkit.Write(t, filepath.Join(w.data, "plugins", id+".py"), source)
	w.open()
	programtest.Held(t, w.launcher.Confinement())
	must(t, plugintest.Approve(t.Context(), w.Host, id, false))
	w.settle()
	return w
}

func (w *whole) open() {
	w.t.Helper()
	c, err := Open(w.t.Context(), Options{
		Data: w.data, Plugins: filepath.Join(w.data, "plugins"), Worker: programtest.Worker(w.t),
		Now: w.now, LoadTimeout: patience,
	})
	must(w.t, err)
	w.Core = c
	w.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			w.t.Error(err)
		}
	})
	must(w.t, w.Scan(w.t.Context()))
}

func (w *whole) restart() {
	w.t.Helper()
	must(w.t, w.Close())
	w.open()
	w.settle()
}

func (w *whole) settle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	must(w.t, w.Host.WaitIdle(ctx))
}

// runs is a source with one tool, run, whose handler has the given body; args
// holds its arguments, in which may asks for a permission instead.
func runs(before, body string) string {
	return before + `
spindle.registerTool({ name: "run", description: "d", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.on("TOOL_INVOCATION", async ({ args }, user) => { if (args.may) return String(spindle.permissions.has(args.may)); ` + body + ` });`
}

// allow grants the extension a permission, and waits until its process was told.
func (w *whole) allow(permission string) {
	w.t.Helper()
	must(w.t, w.Gate.Reach.SetPermission(w.t.Context(), "ext", permission, gate.Allow))
	w.until(fmt.Sprintf(`{"may":%q}`, permission), "true")
}

// run calls the tool, in a conversation when one is named.
func (w *whole) run(in chat.ConversationID, arguments string) string {
	w.t.Helper()
	set := w.Tools.Set()
	found, ok := set.ByID("ext:run")
	if !ok {
		s, err := w.Host.Status("ext")
		w.t.Fatalf("it offers no tool: %+v %v", s.Problem, err)
	}
	invoker, _ := set.Invoker("ext:run")
	id := fmt.Sprint(time.Now().UnixNano())
	ctx := gate.WithBehalf(w.t.Context(), gate.Call{ID: id, Tool: found, Conversation: in})
	r, err := invoker.Call(ctx, tool.Call{
		ID: id, Tool: found, Arguments: json.RawMessage(arguments), Conversation: in,
		Deadline: time.Now().Add(patience),
	})
	must(w.t, err)
	if r.Status != chat.CallOK {
		return string(r.Status) + ": " + r.Error
	}
	return chat.TextOf(r.Content)
}

func (w *whole) wants(in chat.ConversationID, arguments, want string) {
	w.t.Helper()
	if got := w.run(in, arguments); got != want {
		w.t.Errorf("%s\n got %s\nwant %s", arguments, got, want)
	}
}

// until calls the tool until it answers what is wanted.
func (w *whole) until(arguments, want string) {
	w.t.Helper()
	got := ""
	defer func() {
		if got != want {
			w.t.Logf("it answered %q to the last", got)
		}
	}()
	testkit.Until(w.t, arguments+" → "+want, func() bool {
		got = w.run("", arguments)
		return got == want
	})
}

func (w *whole) chat(texts ...string) chat.ConversationID {
	w.t.Helper()
	c := chat.Conversation{Title: "A chat"}
	must(w.t, w.Store.Chats.CreateConversation(w.t.Context(), &c))
	for i, text := range texts {
		role := []chat.Role{chat.RoleUser, chat.RoleAssistant}[i%2]
		m := chat.Message{
			Conversation: c.ID, Parent: chat.MessageSeq(i), Turn: fmt.Sprint("t", i), Role: role, State: chat.Complete,
			Parts: []chat.Part{{Kind: chat.PartText, Text: text}},
		}
		must(w.t, w.Store.Chats.Append(w.t.Context(), &m))
	}
	return c.ID
}

// say runs a turn with a scripted model, and returns what the model was sent.
func (w *whole) say(in chat.ConversationID, text string, m *modeltest.Model) (model.Request, turn.Outcome, []string) {
	w.t.Helper()
	var notes []string
	outcome, err := w.Conversations.Run(w.t.Context(), turn.Request{Conversation: in, Text: text, Model: m},
		func(e chat.Event) {
			if e.Kind == chat.EventNoted {
				notes = append(notes, e.Note)
			}
		})
	must(w.t, err)
	requests := m.Requests()
	if len(requests) == 0 {
		return model.Request{}, outcome, notes
	}
	return requests[len(requests)-1], outcome, notes
}

// called has the main model call a tool once in a chat of its own, in which nobody's text is yet,
// and returns the chat.
func (w *whole) called(id, arguments string, asker gate.Asker) chat.ConversationID {
	w.t.Helper()
	found, ok := w.Tools.Set().ByID(id)
	if !ok {
		w.t.Fatal("there is no tool " + id)
	}
	in := w.chat()
	_, err := w.Conversations.Run(w.t.Context(), turn.Request{
		Conversation: in, Text: "Go.", Tools: w.Tools.Set().ForModel(), Asker: asker,
		Model: modeltest.New([]modeltest.Step{modeltest.Call("c", found.WireName, arguments)},
			[]modeltest.Step{modeltest.Say("Done.")}),
	}, nil)
	must(w.t, err)
	return in
}

// edit has the person change a message to what it says already.
func (w *whole) edit(id chat.ConversationID, seq chat.MessageSeq) {
	w.t.Helper()
	m, err := w.Store.Chats.Message(w.t.Context(), id, seq)
	must(w.t, err)
	text := chat.TextOf(m.Parts)
	must(w.t, w.Conversations.Edit(w.t.Context(), id, []chat.MessageSeq{seq}, conversation.Edit{Text: &text}))
}

func TestSP40To44ChatsPermissionsAndTheChatBeingAnswered(t *testing.T) {
	w := extension(t, runs(`const denied = []; spindle.permissions.onDenied((d) => denied.push(d.permission + " " + d.operation));`, `
const said = [];
const attempt = async (f) => { try { said.push(JSON.stringify(await f())) } catch (e) { said.push(e.message) } };
if (args.do === "active") await attempt(async () => (await spindle.chats.getActive())?.name);
if (args.do === "id") await attempt(async () => (await spindle.chats.getActive())?.id);
if (args.do === "read") await attempt(async () => (await spindle.chat.getMessages(args.chat)).map((m) => [m.role, m.index_in_chat, m.is_user, m.content]));
if (args.do === "write") await attempt(async () => { const m = await spindle.chat.appendMessage(args.chat, { role: "assistant", content: "mine" }); await spindle.chat.updateMessage(args.chat, m.id, { content: "changed" }); await spindle.chat.setMessageHidden(args.chat, m.id, true); return [await spindle.chat.isMessageHidden(args.chat, m.id), m.index_in_chat] });
if (args.do === "delete") await attempt(async () => { const all = await spindle.chat.getMessages(args.chat); await spindle.chat.deleteMessage(args.chat, all.at(-1).id); return (await spindle.chat.getMessages(args.chat)).length });
if (args.do === "list") await attempt(async () => { const l = await spindle.chats.list({ limit: 1 }); return [l.data.length, l.total, Object.keys(l.data[0]).sort().join()] });
if (args.do === "meta") await attempt(async () => { await spindle.chats.update(args.chat, { name: "Renamed", metadata: { mood: "calm" } }); const c = await spindle.chats.get(args.chat); return [c.name, c.metadata.mood, await spindle.chats.get("nowhere")] });
if (args.do === "denied") said.push(denied.join(";"));
return said.join("|");`), "tools", "chat_mutation")
	id := w.chat("hello", "hi there")
	w.wants("", `{"do":"active"}`, "PERMISSION_DENIED: chats")
	w.wants("", `{"do":"denied"}`, "chats chats.active")
	w.allow("chats")
	w.wants("", `{"do":"active"}`, "") // no chat is open: undefined is written as nothing
	w.wants(id, `{"do":"active"}`, `"A chat"`)
	w.wants(id, `{"do":"id"}`, `"`+string(id)+`"`)
	chatArg := func(do string) string { return fmt.Sprintf(`{"do":%q,"chat":%q}`, do, id) }
	w.wants("", chatArg("read"), `[["user",0,true,"hello"],["assistant",1,false,"hi there"]]`)
	w.wants("", chatArg("write"), `[true,2]`)
	w.wants("", chatArg("read"),
		`[["user",0,true,"hello"],["assistant",1,false,"hi there"],["assistant",2,false,"changed"]]`)
	w.wants("", chatArg("delete"), `2`)
	w.wants("", `{"do":"list"}`, `[1,1,"character_id,created_at,id,metadata,name,updated_at"]`)
	w.wants("", chatArg("meta"), `["Renamed","calm",null]`)
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "chat_mutation", gate.Deny))
	w.wants("", chatArg("read"), "PERMISSION_DENIED: chat_mutation")
}

func TestSP45And46ModelsListsVariablesAndSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/big" {
			_, _ = rw.Write(make([]byte, 5<<20))
			return
		}
		_, _ = fmt.Fprintf(rw, `{"method":%q}`, r.Method)
	}))
	defer server.Close()
	w := extension(t, runs("", `
const said = [];
const attempt = async (f) => { try { said.push(JSON.stringify(await f()) ?? "undefined") } catch (e) { said.push(e.name + ": " + e.message) } };
if (args.do === "models") {
  await attempt(async () => (await spindle.connections.list()).map((c) => [c.id, c.provider, c.has_api_key, Object.keys(c).some((k) => /^(api_)?key$|secret|headers/i.test(k))]));
  await attempt(async () => (await spindle.connections.get("none")));
  await attempt(async () => { const r = await spindle.generate.quiet({ messages: [{ role: "user", content: "Hello" }] }); return [typeof r.content, r.content.length > 0, r.finish_reason] });
  await attempt(async () => { let text = "", done; for await (const c of spindle.generate.rawStream({ messages: [{ role: "user", content: "Hello" }] })) { if (c.type === "token") text += c.token; else if (c.type === "done") done = c } return [text.length > 0, text === done.content] });
  await attempt(async () => { const c = new AbortController(); c.abort(); return spindle.generate.quiet({ messages: [{ role: "user", content: "Hello" }], signal: c.signal }) });
  await attempt(async () => (await spindle.generate.batch({ requests: [{ messages: [] }] }))[0].success);
}
if (args.do === "lists") {
  await attempt(() => spindle.characters.list({ limit: 500 }));
  await attempt(() => spindle.personas.getActive());
  await attempt(() => spindle.world_books.entries.list("b"));
  await attempt(() => spindle.characters.setAvatar("a"));
  await attempt(async () => Object.keys((await spindle.council.getSettings()).toolsSettings).length);
  await attempt(() => spindle.council.getMembers());
}
if (args.do === "set") { await spindle.variables.chat.set(args.chat, "k", 5); await spindle.variables.global.set("g", "v"); await spindle.enclave.put("token", "s3cret"); }
if (args.do === "get") await attempt(async () => [await spindle.variables.chat.get(args.chat, "k"), await spindle.variables.chat.has(args.chat, "x"), await spindle.variables.global.list(), await spindle.variables.local.get(args.chat, "k"), await spindle.enclave.get("token"), await spindle.enclave.list()]);
if (args.do === "web") await attempt(async () => { const r = await spindle.cors(args.url, { method: "POST", body: { a: 1 } }); return [r.status, r.statusText, r.body] });
if (args.do === "big") await attempt(async () => [(await (await fetch(args.url)).arrayBuffer()).byteLength, atob((await spindle.cors(args.url, { responseType: "base64" })).body).length]);
if (args.do === "toast") spindle.toast.warning("look", { title: "T" });
if (args.do === "tokens") await attempt(() => spindle.tokens.countText("four letters"));
return said.join("|");`), "tools", "generation", "chats", "characters", "world_books", "cors_proxy")
	t.Setenv("CONCLAVE_PASSPHRASE", "correct horse")
	id := w.chat("hello")
	must(t, w.Models.SetDefault(t.Context(), "demo/guide"))
	w.wants("", `{"do":"models"}`,
		`[["demo","demo",false,false]]|null|["string",true,"stop"]|[true,true]|AbortError: The operation was aborted.|false`)
	w.wants("", `{"do":"lists"}`,
		`{"data":[],"total":0}|Error: PERMISSION_DENIED: personas|{"data":[],"total":0}|Error: spindle.characters.setAvatar is not available in Conclave.|10|[]`)
	w.wants("", `{"do":"web","url":"`+server.URL+`"}`,
		"Error: PERMISSION_DENIED: local_network – "+strings.TrimPrefix(server.URL,
			"http://")+" is this computer or in its own network, which a plugin reaches only where you allow it that address: "+
			"in its menu, “What it may reach…”, or with conclave plugins grant.")
	w.allow(service.LocalNetwork)
	w.wants("", `{"do":"web","url":"`+server.URL+`"}`, `[200,"OK","{\"method\":\"POST\"}"]`)
	w.wants("", `{"do":"big","url":"`+server.URL+`/big"}`, `[5242880,5242880]`)
	w.wants("", `{"do":"tokens"}`,
		`{"total_tokens":3,"model":"","modelSource":"main","tokenizer_id":null,"tokenizer_name":"estimate","approximate":true}`)
	news := w.Bus.Subscribe(bus.Toasts)
	defer news.Close()
	w.wants("", `{"do":"toast"}`, "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := news.Next(ctx); err != nil {
		t.Fatal(err)
	}
	got := w.Services.Toasts.After(0)
	if len(got) != 1 || got[0].Sentence() != "Ext: T: look" || got[0].Kind != "warning" {
		t.Errorf("toasts = %+v", got)
	}
	arguments := fmt.Sprintf(`{"do":"set","chat":%q}`, id)
	if strings.Contains(w.Keys.Sentence(), "system keychain") {
		t.Skip("this system has a keychain, which is not a test's to write into")
	}
	w.wants("", arguments, "")
	w.restart()
	w.wants("", strings.Replace(arguments, "set", "get", 1), `["5",false,{"g":"v"},"","s3cret",["token"]]`)
}

// asks is an extension whose tool asks a model without naming one.
func asks(t *testing.T) *whole {
	t.Helper()
	return extension(t, runs("", `try {
  return (await spindle.generate.quiet({ messages: [{ role: "user", content: "Hello" }] })).content;
} catch (e) { return e.message }`), "tools", "generation")
}

func TestAnExtensionAsksTheModelOfItsChatWhereTheNewChatsHaveNoChosenOne(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(rw, `data: {"choices":[{"index":0,"delta":{"content":"from the server"}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	w := asks(t)
	must(t, w.Models.Add(t.Context(), model.Connection{Name: "real", Kind: "openai", URL: server.URL + "/v1"}, ""))
	in := w.chat("hello")
	must(t, w.Store.Chats.UpdateConversation(t.Context(), in, func(c *chat.Conversation) { c.Model = "real/m" }))
	w.wants(in, `{}`, "from the server")
	if got := w.run("", `{}`); !strings.HasPrefix(got, "No model was chosen that plugins could ask.") {
		t.Errorf("outside of a chat: %s", got)
	}
	// What earlier versions stored for everybody who had chosen none.
	must(t, w.Models.SetDefault(t.Context(), "demo/guide"))
	w.wants(in, `{}`, "from the server")
	must(t, w.Models.SetDefault(t.Context(), "real/other"))
	w.wants("", `{}`, "from the server")
	undo, err := w.Models.Remove(t.Context(), "real")
	must(t, err)
	if got := w.run("", `{}`); !strings.HasPrefix(got, "No model was chosen that plugins could ask.") {
		t.Errorf("once the connection of the default is removed: %s", got)
	}
	must(t, undo(t.Context()))
}

func TestSP46MacrosInterceptorsAndContextHandlersReachThePrompt(t *testing.T) {
	w := extension(t, runs(`
let handled = "";
spindle.registerMacro({ name: "mood", description: "d", handler: (c) => "calm" + c.args.join("") });
spindle.registerMacro({ name: "pushed", description: "d", handler: "" });
spindle.updateMacroValue("pushed", "now");
spindle.registerMacro({ name: "never", description: "d", handler: () => new Promise(() => {}) });
spindle.registerMacro({ name: "dry", description: "d", handler: () => spindle.variables.global.set("x", "y") });
spindle.registerMacro({ name: "text", description: "d", handler: "return 1" });
spindle.registerMacro({ name: "user", description: "d", handler: () => "me" });
spindle.registerContextHandler((c) => { handled = c.chatId + " " + c.userId; return c.stop ? { ...c, cancelGeneration: true } : c }, 5);
spindle.registerInterceptor(() => { throw new Error("replaced") }, 1);
spindle.registerInterceptor((messages, context) => [...messages, { role: "system", content: "note for " + context.generationType }], 50);`, `
if (args.do === "handled") return handled;
return JSON.stringify(await spindle.macros.resolve(args.text, { commit: false }));`), "tools", "interceptor", "context_handler")
	id := w.chat()
	model := modeltest.New([]modeltest.Step{modeltest.Say("fine")})
	sent, outcome, notes := w.say(id, "I am {{mood::!}} {{pushed}} {{unknown}} {{user}}", model)
	if outcome.Reason != chat.EndDone {
		t.Fatalf("it ended with %s: %v", outcome.Reason, outcome.Err)
	}
	var texts []string
	for _, m := range sent.Messages {
		texts = append(texts, string(m.Role)+":"+chat.TextOf(m.Parts))
	}
	if want := []string{
		"user:I am calm! now {{unknown}} {{user}}\n[System note]\nnote for normal",
	}; !slices.Equal(texts, want) {
		t.Errorf("the model was sent %q", texts)
	}
	if !slices.Contains(notes, "Ext changed what the model is sent.") {
		t.Errorf("notes = %q", notes)
	}
	w.wants("", `{"do":"handled"}`, string(id)+" conclave-user")
	w.wants("", `{"text":"{{mood}} {{user}} {{dry}}"}`,
		`{"text":"calm User ","diagnostics":[{"level":"error","message":"The macro {{dry}} of Ext has no value: spindle.variables.global.set cannot be used while macros are only looked at.."}]}`)
	w.wants("", `{"text":"[{{never}}]"}`,
		`{"text":"[]","diagnostics":[{"level":"error","message":"The macro {{never}} of Ext has no value: it took too long."}]}`)

	// After a restart the process is started for the prompt it looks at.
	w.restart()
	sent, _, _ = w.say(id, "{{mood}}", modeltest.New([]modeltest.Step{modeltest.Say("fine")}))
	if got := chat.TextOf(sent.Messages[len(sent.Messages)-1].Parts); !strings.HasPrefix(got, "calm") {
		t.Errorf("after a restart the model was sent %q", got)
	}
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "interceptor", gate.Deny))
	sent, _, notes = w.say(id, "again", modeltest.New([]modeltest.Step{modeltest.Say("fine")}))
	if got := chat.TextOf(sent.Messages[len(sent.Messages)-1].Parts); got != "again" || len(notes) != 0 {
		t.Errorf("without the permission the model was sent %q, %q", got, notes)
	}

	// A macro alone needs a permission too, and is noted in the chat.
	sent, _, notes = w.say(id, "I am {{pushed}}", modeltest.New([]modeltest.Step{modeltest.Say("fine")}))
	if got := chat.TextOf(sent.Messages[len(sent.Messages)-1].Parts); got != "I am {{pushed}}" || len(notes) != 0 {
		t.Errorf("without a permission its macro made %q of it, %q", got, notes)
	}
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "macros", gate.Allow))
	sent, _, notes = w.say(id, "I am {{pushed}}", modeltest.New([]modeltest.Step{modeltest.Say("fine")}))
	if got := chat.TextOf(sent.Messages[len(sent.Messages)-1].Parts); got != "I am now" ||
		!slices.Equal(notes, []string{"Ext changed what the model is sent: {{mood}}, {{pushed}}."}) {
		t.Errorf("with the permission its macro made %q of it, %q", got, notes)
	}
}

// A whole chat happens before an extension that listens to all there is, first
// with no permission and then with those that reading needs.
func TestAnExtensionWithoutPermissionsHearsNothingOfAChat(t *testing.T) {
	names := `["CHAT_SWITCHED","CHAT_CHANGED","MESSAGE_SENT","MESSAGE_EDITED","MESSAGE_DELETED","GENERATION_STARTED","GENERATION_ENDED","GENERATION_STOPPED","STREAM_TOKEN_RECEIVED"]`
	w := extension(t, runs(`const seen = []; for (const name of `+names+`) spindle.on(name, (p) => seen.push(name + " " + JSON.stringify(p)));
spindle.registerInterceptor((m) => { seen.push("INTERCEPTED " + JSON.stringify(m)); return m });
spindle.registerContextHandler((c) => { seen.push("HANDLED " + JSON.stringify(c)); return c });
spindle.registerMacro({ name: "spy", description: "d", handler: (c) => { seen.push("MACRO " + JSON.stringify(c)); return "seen" } });`, `return seen.splice(0).join("\n");`), "tools")
	if granted, _ := w.Gate.Reach.Permissions("ext"); !slices.Equal(granted, []string{"macros", "tools"}) {
		t.Fatalf("approving it granted %q", granted)
	}
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "macros", gate.Deny))
	const word = "marigold"
	live := func() string {
		t.Helper()
		c := chat.Conversation{Title: word, System: word}
		must(t, w.Store.Chats.CreateConversation(t.Context(), &c))
		w.say(c.ID, word+" {{spy::"+word+"}}", modeltest.New([]modeltest.Step{modeltest.Say(word)}))
		w.edit(c.ID, 1)
		w.ChatChanged(c.ID)
		all := ""
		testkit.Until(t, "CHAT_CHANGED", func() bool {
			all += w.run("", `{}`) + "\n"
			return strings.Contains(all, "CHAT_CHANGED")
		})
		return all
	}
	without := live()
	if strings.Contains(without, word) {
		t.Errorf("without a permission it heard:\n%s", without)
	}
	for _, name := range []string{
		`CHAT_SWITCHED {"chatId"`, `MESSAGE_SENT {"chatId"`, `MESSAGE_EDITED {"chatId"`,
		`CHAT_CHANGED {"changedFields":[],"chat":{"id"`,
	} {
		if !strings.Contains(without, name) {
			t.Errorf("the ids of %s did not come:\n%s", name, without)
		}
	}
	for _, permission := range []string{"chats", "chat_mutation", "generation", "interceptor", "context_handler"} {
		w.allow(permission) // until its process knows
	}
	with := live()
	for _, name := range []string{
		"CHAT_CHANGED", "MESSAGE_SENT", "MESSAGE_EDITED", "GENERATION_ENDED", "STREAM_TOKEN_RECEIVED", "INTERCEPTED", "MACRO",
	} {
		if !slices.ContainsFunc(strings.Split(with, "\n"),
			func(line string) bool { return strings.HasPrefix(line, name) && strings.Contains(line, word) }) {
			t.Errorf("with the permissions %s says nothing:\n%s", name, with)
		}
	}
}

func TestSP41EventsOfConclavesLifeReachWhoListens(t *testing.T) {
	w := extension(t, runs(`
const seen = [], denied = [];
spindle.permissions.onDenied((d) => denied.push(d.permission + " " + d.operation));
for (const name of ["CHAT_SWITCHED", "MESSAGE_SENT", "MESSAGE_EDITED", "CHAT_CHANGED", "GENERATION_STARTED", "GENERATION_ENDED"])
  spindle.on(name, (p) => seen.push(name + " " + (p.message ? p.message.role + ":" + p.message.content : p.chat ? p.chat.name : p.content ?? typeof p.chatId)));`,
		`return args.do === "denied" ? denied.join("|") : seen.join("|");`), "tools", "chats", "chat_mutation")
	w.wants("", `{"do":"denied"}`,
		"generation subscribe_event:GENERATION_STARTED|generation subscribe_event:GENERATION_ENDED")
	id := w.chat()
	w.say(id, "hello", modeltest.New([]modeltest.Step{modeltest.Say("hi")}))
	want := "CHAT_SWITCHED string|MESSAGE_SENT user:hello|MESSAGE_SENT assistant:hi"
	w.until(`{}`, want)
	w.allow("generation")
	w.say(id, "more", modeltest.New([]modeltest.Step{modeltest.Say("yes")}))
	want += "|GENERATION_STARTED string|MESSAGE_SENT user:more|MESSAGE_SENT assistant:yes|GENERATION_ENDED yes"
	w.until(`{}`, want)
	unheard := chat.Conversation{Title: "unheard", Temporary: true}
	must(t, w.Store.Chats.CreateConversation(t.Context(), &unheard))
	w.say(unheard.ID, "unheard", modeltest.New([]modeltest.Step{modeltest.Say("unheard")}))
	w.edit(unheard.ID, 1)
	w.ChatChanged(unheard.ID)
	w.edit(id, 1)
	w.ChatChanged(id)
	w.until(`{}`, want+"|MESSAGE_EDITED user:hello|CHAT_CHANGED A chat")
}

func TestSP21ARevokedPermissionStaysRevokedAfterARestart(t *testing.T) {
	w := extension(t,
		runs("", `return String(spindle.permissions.has("tools")) + await spindle.permissions.getGranted();`), "tools",
		"chats")
	w.wants("", `{}`, "truechats,tools") // SP-39: right after loading
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "tools", gate.Deny))
	gone := func() bool { _, ok := w.Tools.Set().ByID("ext:run"); return !ok }
	testkit.Until(t, "the tool's end", gone)
	w.restart()
	if !gone() {
		t.Error("its tool came back")
	}
	if granted, denied := w.Gate.Reach.Permissions("ext"); slices.Contains(granted, "tools") ||
		!slices.Contains(denied, "tools") {
		t.Errorf("granted %v, denied %v", granted, denied)
	}
}

func TestSP45WorldBooksAreKeptAndSharedAndOutliveARestart(t *testing.T) {
	w := extension(t, runs("", `
const said = [];
const attempt = async (f) => { try { said.push(JSON.stringify(await f()) ?? "undefined") } catch (e) { said.push(e.name + ": " + e.message) } };
const { world_books: books, characters, personas } = spindle;
if (args.do === "save") {
  const book = await books.create({ name: "Saves", metadata: { by: "ext" }, id: "mine" }, "user");
  for (const point of ["one", "two", "three"]) await books.entries.create(book.id, { key: [point], content: "at " + point, comment: point, disabled: true, custom: 7 }, "user");
  await attempt(async () => { const { data, total } = await books.entries.list(book.id, { limit: 2, offset: 1 }); return [total, data.map((e) => [e.comment, e.world_book_id === book.id, e.order_value, e.custom])] });
  await attempt(async () => { const { data: [first] } = await books.entries.list(book.id); const e = await books.entries.update(first.id, { content: "moved on", world_book_id: "other" }); return [e.content, e.key, e.disabled, e.world_book_id === book.id, e.created_at > 1e9, e.updated_at >= e.created_at] });
  await attempt(async () => Object.keys(await books.get(book.id)).sort().join());
  await attempt(() => books.entries.create("none", {}));
  await attempt(() => books.entries.update("none", {}));
  await attempt(() => books.update(book.id, 7));
  await attempt(() => books.create({ description: "x".repeat(300_000) }));
}
if (args.do === "read") {
  const { data: [book] } = await books.list();
  await attempt(async () => [book.name, book.metadata.by, (await books.entries.list(book.id)).data.map((e) => e.content)]);
  await attempt(async () => { const { data } = await books.entries.list(book.id); return [await books.entries.delete(data[1].id), await books.entries.get(data[1].id), await books.entries.delete(data[1].id)] });
  await attempt(async () => [(await books.entries.list(book.id)).total, await books.delete(book.id), (await books.list()).total, (await books.entries.list(book.id)).total, await books.get(book.id)]);
}
if (args.do === "many") {
  const book = await books.create({ name: "Full" });
  await Promise.all(Array.from({ length: 201 }, (_, i) => books.entries.create(book.id, { comment: String(i) })));
  await attempt(async () => { const { data, total } = await books.entries.list(book.id, { limit: 500 }); return [data.length, total] });
}
if (args.do === "people") {
  await attempt(async () => { const c = await characters.create({ name: "Ada", tags: ["x"] }); return [c.name, c.tags, c.first_mes, (await characters.update(c.id, { name: "Bob" })).name, (await characters.list()).total, await characters.delete(c.id)] });
  await attempt(async () => { const p = await personas.create({ name: "P" }), q = await personas.create({ name: "Q" }); const before = await personas.getActive(); await personas.switchActive(p.id); await personas.switchActive(q.id); return [before, (await personas.getActive()).name, (await personas.getDefault()).name, await personas.getWorldBook(q.id)] });
}
return said.join("|");`), "tools", "world_books", "characters")
	w.wants("", `{"do":"save"}`, strings.Join([]string{
		`[3,[["two",true,100,7],["three",true,100,7]]]`, `["moved on",["one"],true,true,true,true]`,
		`"created_at,description,id,metadata,name,updated_at"`,
		"Error: There is nothing of that id to add to.", "Error: There is no entry of that id.",
		"Error: spindle.world_books.update needs an object.",
		"Error: A world book may have at most 256 KB.",
	}, "|"))
	w.restart()
	w.wants("", `{"do":"read"}`, `["Saves","ext",["moved on","at two","at three"]]|[true,null,false]|[2,true,0,0,null]`)
	w.wants("", `{"do":"many"}`, `[200,201]`)
	w.wants("", `{"do":"people"}`, `["Ada",["x"],"","Bob",1,true]|Error: PERMISSION_DENIED: personas`)
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "personas", gate.Allow))
	w.wants("", `{"do":"people"}`, `["Ada",["x"],"","Bob",1,true]|[null,"Q","Q",null]`)
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "world_books", gate.Deny))
	got := w.run("", `{"do":"save"}`)
	if !strings.Contains(got, "PERMISSION_DENIED: world_books") {
		t.Errorf("without the permission: %s", got)
	}
}
