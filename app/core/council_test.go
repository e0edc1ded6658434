package core

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// helperServer is a model server by other rules than ours: it calls the first function it
// is offered with {"city":"Oslo"}, and else says a sentence. It keeps what it is sent.
type helperServer struct {
	mu   sync.Mutex
	sent []string
}

func (h *helperServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.sent = append(h.sent, string(body))
	h.mu.Unlock()
	var asked struct {
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	_ = json.Unmarshal(body, &asked)
	delta, finish := `{"role":"assistant","content":"The boat has no name."}`, "stop"
	if len(asked.Tools) > 0 {
		delta = fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function",`+
			`"function":{"name":%q,"arguments":"{\"city\":\"Oslo\"}"}}]}`, asked.Tools[0].Function.Name)
		finish = "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":"+
		"[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
	_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":"+
		"[{\"index\":0,\"delta\":{},\"finish_reason\":%q}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\n"+
		"data: [DONE]\n\n", finish)
}

// bodies returns what the server was sent.
func (h *helperServer) bodies() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sent)
}

// helper connects a helperServer as the connection "help".
func (w *whole) helper() *helperServer {
	w.t.Helper()
	h := &helperServer{}
	server := httptest.NewServer(h)
	w.t.Cleanup(server.Close)
	must(w.t, w.Models.Add(w.t.Context(), model.Connection{
		Name: "help", Kind: "openai", URL: server.URL + "/v1", Models: []string{"m"},
	}, ""))
	return h
}

// deliberate answers text in a chat with a council, and returns what the main model was
// sent and the run.
func (w *whole) deliberate(in chat.ConversationID, text string, c council.Council,
	change ...func(*turn.Request, *deliberation.How),
) (model.Request, council.Run) {
	w.t.Helper()
	w.letsMembers(c)
	return w.deliberateAsking(in, text, c, change...)
}

// deliberateAsking is deliberate with members who have no permission yet.
func (w *whole) deliberateAsking(in chat.ConversationID, text string, c council.Council,
	change ...func(*turn.Request, *deliberation.How),
) (model.Request, council.Run) {
	w.t.Helper()
	model := modeltest.New([]modeltest.Step{modeltest.Say("Done.")})
	req, how := turn.Request{Conversation: in, Text: text, Model: model}, deliberation.How{Council: &c}
	for _, do := range change {
		do(&req, &how)
	}
	out, err := w.Councils.Run(w.t.Context(), req, how, nil)
	must(w.t, err)
	if out.Reason != chat.EndDone {
		w.t.Fatalf("it ended %+v", out)
	}
	headers, err := w.Councils.Runs(w.t.Context(), in)
	must(w.t, err)
	if len(headers) == 0 {
		return model.Requests()[0], council.Run{}
	}
	steps, err := w.Store.Councils.Steps(w.t.Context(), headers[len(headers)-1].Run)
	must(w.t, err)
	run, err := council.Replay(steps)
	must(w.t, err)
	return model.Requests()[0], run
}

// letsMembers allows the members of a council the tools they have, as a person who said yes before.
func (w *whole) letsMembers(c council.Council) {
	w.t.Helper()
	for _, m := range c.Members {
		for _, t := range m.Tools {
			plugin, _, _ := strings.Cut(t, ":")
			_, err := w.Gate.Rules.Add(w.t.Context(), gate.Rule{
				Effect: gate.Allow, Plugin: plugin, Tool: "*", Scope: gate.Always, Callers: []gate.Caller{gate.AnyMember},
			})
			must(w.t, err)
		}
	}
}

// said is all that a request says.
func said(r model.Request) string {
	all := r.System
	for _, m := range r.Messages {
		all += "\n\n" + chat.TextOf(m.Parts)
	}
	return all
}

// toolsOf is a council of mode tools: members by name with their tools.
func toolsOf(members ...council.Member) council.Council {
	c := council.Default()
	c.Enabled, c.Mode, c.Helper.Model = true, council.Tools, "help/m"
	for _, m := range members {
		m.Chance = 100
		c.Members = append(c.Members, m)
	}
	return c
}

// listener tells what an extension is called with, and what it hears of councils.
const listener = `
const heard = [];
for (const name of ["CHAT_SWITCHED", "GENERATION_STARTED", "COUNCIL_STARTED", "COUNCIL_MEMBER_DONE", "COUNCIL_COMPLETED", "COUNCIL_TOOLS_FAILED"]) {
  spindle.on(name, (payload) => { heard.push([name, payload]) });
}
spindle.registerTool({ name: "run", description: "d", parameters: { type: "object", properties: { must: { type: "string" } }, required: ["must"] }, inline_available: true, council_eligible: true });
spindle.registerTool({ name: "fail", description: "d", council_eligible: true });
spindle.on("TOOL_INVOCATION", async (payload) => {
  if (payload.toolName === "fail") throw new Error("It broke.");
  if (payload.args.must === "heard") return heard;
  const active = await spindle.chats.getActive();
  const messages = await spindle.chat.getMessages(active.id);
  return { keys: Object.keys(payload.args), late: payload.args.__deadlineMs - Date.now(), context: payload.args.context, member: payload.councilMember,
    messages: payload.contextMessages, active: active.id, read: messages.map((m) => [m.role, m.index_in_chat, m.is_user, m.content]) };
});`

// echoed holds what listener answers.
type echoed struct {
	Keys     []string         `json:"keys"`
	Late     float64          `json:"late"`
	Context  string           `json:"context"`
	Member   map[string]any   `json:"member"`
	Messages []map[string]any `json:"messages"`
	Active   string           `json:"active"`
	Read     [][]any          `json:"read"`
}

// answerOf returns what a task came to.
func (w *whole) answerOf(r council.Run, task string) string {
	w.t.Helper()
	for _, t := range r.Tasks {
		if t.ID == task {
			if t.State != council.Done {
				w.t.Fatalf("%s is %s: %+v", task, t.State, t.End.Failure)
			}
			text, err := w.Councils.Texts(w.t.Context(), r.Begin.Run)(t.End.Text)
			must(w.t, err)
			return text
		}
	}
	w.t.Fatalf("there is no task %s in %+v", task, r.Tasks)
	return ""
}

func TestACouncilOfFourWithAToolOfEachEcosystem(t *testing.T) {
	w := extension(t, listener, "tools", "chats", "chat_mutation", "generation")
	plugins := filepath.Join(w.data, "plugins")
	testkit.Write(t, filepath.Join(plugins, "weather.py"),
		"def weather(city: str) -> str:\n    \"\"\"Say how warm it is.\"\"\"\n    return f\"{city}: 4 degrees\"\n")
	testkit.Write(t, filepath.Join(plugins, "oracle", "_manifest.json"), `{"manifest_version":2,"id":"test.oracle",
"version":"1.0.0","name":"Oracle","description":"d","license":"MIT","author":{"name":"A","url":"https://example.com"},
"urls":{"repository":"https://example.com"},"host_application":{"min_version":"1.0.0","max_version":"1.99.99"},
"sdk":{"min_version":"2.5.0","max_version":"2.99.99"},"capabilities":[],"i18n":{"default_locale":"zh-CN"}}`)
	testkit.Write(t, filepath.Join(plugins, "oracle", "plugin.py"), `
from maibot_sdk import MaiBotPlugin, Tool

class Plugin(MaiBotPlugin):
    @Tool("divine", description="Say what will be.", visibility="visible")
    async def divine(self, **kwargs):
        return "It will be fine."

def create_plugin():
    return Plugin()
`)
	testkit.Write(t, filepath.Join(plugins, "probe", "plugin.toml"),
		"[plugin]\nname = \"Probe\"\nid = \"probe\"\nentry = \"plugin.plugins.probe:Probe\"\n")
	testkit.Write(t, filepath.Join(plugins, "probe", "__init__.py"), `
from plugin.sdk.plugin import NekoPluginBase, llm_tool, neko_plugin

@neko_plugin
class Probe(NekoPluginBase):
    @llm_tool(name="depth")
    async def depth(self):
        """Say how deep it is."""
        return "12 fathoms"
`)
	if _, err := w.Python.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	for _, id := range []string{"weather", "oracle", "probe"} {
		_, err := w.Host.ThisRun.Preview(t.Context(), map[string]string{
			"weather": filepath.Join(plugins, "weather.py"), "oracle": filepath.Join(plugins, "oracle"),
			"probe": filepath.Join(plugins, "probe"),
		}[id])
		must(t, err)
		must(t, plugintest.Approve(t.Context(), w.Host, id, false))
	}
	w.settle()
	helper := w.helper()
	in := w.chat("Where does the boat lie?", "In Oslo.")
	sent, run := w.deliberate(in, "Is it warm there?", toolsOf(
		council.Member{ID: "ada", Name: "Ada", Role: "Weather", Tools: []string{"weather:weather"}},
		council.Member{ID: "bo", Name: "Bo", Role: "Keeper", Tools: []string{"ext:run"}},
		council.Member{ID: "cy", Name: "Cy", Tools: []string{"oracle:divine"}},
		council.Member{ID: "di", Name: "Di", Tools: []string{"probe:depth", "voice_concern"}},
	))
	notes := said(sent)
	at := 0
	for _, part := range []string{
		"## Ada, Weather", "Oslo: 4 degrees", "## Bo, Keeper", "## Cy", "It will be fine.", "## Di",
		"12 fathoms", "**Concerns:**", "The boat has no name.",
	} {
		found := strings.Index(notes[at:], part)
		if found < 0 {
			t.Fatalf("%q does not stand behind %.200q in what the main model was sent:\n%s", part, notes[:at], notes)
		}
		at += found
	}
	bodies := helper.bodies()
	if len(bodies) != 2 {
		t.Errorf("the helper was asked %d times: %s", len(bodies), bodies)
	}
	records, err := w.Store.Calls.Calls(t.Context(), chat.CallFilter{Conversation: in})
	must(t, err)
	callers := map[string]string{}
	for _, r := range records {
		callers[r.ToolID] = r.Caller
		if r.Status != chat.CallOK {
			t.Errorf("%s ended %s", r.ToolID, r.Status)
		}
	}
	want := map[string]string{
		"weather:weather": "member:ada", "ext:run": "member:bo", "oracle:divine": "member:cy", "probe:depth": "member:di",
	}
	for id, caller := range want {
		if callers[id] != caller || len(callers) != 4 {
			t.Errorf("the calls were made by %v", callers)
		}
	}
	for _, task := range run.Tasks {
		if task.State != council.Done || task.Tool != "voice_concern" && len(task.End.Calls) != 1 {
			t.Errorf("%s ended %s: %+v", task.ID, task.State, task.End)
		}
	}

	var got echoed
	must(t, json.Unmarshal([]byte(w.answerOf(run, "0/bo/ext:run")), &got))
	slices.Sort(got.Keys)
	if !slices.Equal(got.Keys, []string{"__deadlineMs", "context"}) || got.Late <= 0 || got.Late > 31_000 {
		t.Errorf("SP-25: the arguments are %v, with %g ms left", got.Keys, got.Late)
	}
	if got.Context != "user: Where does the boat lie?\n\nassistant: In Oslo.\n\nuser: Is it warm there?" {
		t.Errorf("SP-27: the context is %q", got.Context)
	}
	if len(got.Member) != 12 || got.Member["name"] != "Bo" || got.Member["role"] != "Keeper" ||
		got.Member["chance"] != 100.0 {
		t.Errorf("SP-29: the member is %v", got.Member)
	}
	if got.Active != string(in) || fmt.Sprint(got.Read) != "[[user 0 true Where does the boat lie?] "+
		"[assistant 1 false In Oslo.] [user 2 true Is it warm there?]]" {
		t.Errorf("SP-44: the active chat is %q, and reads %v", got.Active, got.Read)
	}
}

func TestSP58ExtensionsHearOfACouncil(t *testing.T) {
	w := extension(t, listener, "tools", "chats", "chat_mutation", "generation")
	in := w.chat()
	ada := council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:run", "ext:fail"}, ItemID: "i"}
	ada.Persona.Avatar = "a.png"
	_, run := w.deliberate(in, "Is it so?", toolsOf(ada, council.Member{ID: "bo", Name: "Bo", Tools: []string{"ext:run"}},
		council.Member{ID: "nil", Name: "Nil"}))
	ctx := t.Context()
	w.events.Flush(ctx)
	w.Host.Hooks.WaitDelivered(ctx)
	var heard [][]json.RawMessage
	must(t, json.Unmarshal([]byte(w.run("", `{"must":"heard"}`)), &heard))
	var names []string
	told := map[string]map[string]any{}
	for _, h := range heard {
		var name string
		var payload map[string]any
		must(t, json.Unmarshal(h[0], &name))
		must(t, json.Unmarshal(h[1], &payload))
		if name == "COUNCIL_MEMBER_DONE" {
			name += " " + payload["memberName"].(string)
		}
		names = append(names, name)
		told[name] = payload
	}
	slices.Sort(names[3:5]) // whoever is done first
	want := []string{
		"CHAT_SWITCHED", "GENERATION_STARTED", "COUNCIL_STARTED", "COUNCIL_MEMBER_DONE Ada", "COUNCIL_MEMBER_DONE Bo",
		"COUNCIL_TOOLS_FAILED", "COUNCIL_COMPLETED",
	}
	if !slices.Equal(names, want) {
		t.Fatalf("it heard %v", names)
	}
	started, done := told["COUNCIL_STARTED"], told["COUNCIL_MEMBER_DONE Ada"]
	if started["chatId"] != string(in) || started["memberCount"] != 2.0 || len(started) != 2 {
		t.Errorf("at its start: %v", started)
	}
	if done["chatId"] != string(in) || done["memberId"] != "ada" || done["memberItemId"] != "i" ||
		done["memberAvatarUrl"] != "media/a.png" || len(done) != 6 {
		t.Errorf("of Ada: %v", done)
	}
	results, _ := done["results"].([]any)
	if len(results) != 2 {
		t.Fatalf("the results are %v", results)
	}
	good, bad := results[0].(map[string]any), results[1].(map[string]any)
	if good["toolName"] != "ext:run" || good["toolDisplayName"] != "Run" || good["success"] != true ||
		good["content"] != w.answerOf(run, "0/ada/ext:run") || good["memberName"] != "Ada" || good["durationMs"] == nil {
		t.Errorf("what went well is told as %v", good)
	}
	if bad["success"] != false || bad["content"] != "" || !strings.Contains(bad["error"].(string), "It broke.") {
		t.Errorf("what did not is told as %v", bad)
	}
	failed := told["COUNCIL_TOOLS_FAILED"]
	tools, _ := failed["failedTools"].([]any)
	if failed["generationId"] != run.Turn || failed["successCount"] != 2.0 || failed["failedCount"] != 1.0 ||
		len(tools) != 1 {
		t.Fatalf("of what failed: %v", failed)
	}
	if one := tools[0].(map[string]any); one["memberId"] != "ada" || one["toolName"] != "ext:fail" ||
		one["toolDisplayName"] != "Fail" || !strings.Contains(one["error"].(string), "It broke.") ||
		one["memberName"] != "Ada" {
		t.Errorf("the tool that failed is %v", one)
	}
	ended := told["COUNCIL_COMPLETED"]
	if ended["resultCount"] != 3.0 || ended["totalDurationMs"] == nil || ended["chatId"] != string(in) {
		t.Errorf("at its end: %v", ended)
	}
}

func TestSP58WithoutThePermissionToReadItAnExtensionHearsNoResults(t *testing.T) {
	w := extension(t, listener, "tools", "chats", "chat_mutation")
	w.deliberate(w.chat(), "Is it so?", toolsOf(council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:run"}}))
	w.events.Flush(t.Context())
	w.Host.Hooks.WaitDelivered(t.Context())
	heard := w.run("", `{"must":"heard"}`)
	if !strings.Contains(heard, "COUNCIL_MEMBER_DONE") || strings.Contains(heard, "results") ||
		strings.Contains(heard, "GENERATION") {
		t.Errorf("it heard %s", heard)
	}
}

func TestSP28And44AnExtensionGetsTextAloneOnTheFirstTurnOfANewChat(t *testing.T) {
	w := extension(t, listener, "tools", "chats", "chat_mutation")
	in := w.chat()
	_, run := w.deliberate(in, "What is this?", toolsOf(council.Member{
		ID: "ada", Name: "Ada", Tools: []string{"ext:run"},
	}),
		func(r *turn.Request, _ *deliberation.How) {
			r.Attachments = []chat.Part{{Kind: chat.PartMedia, Media: &chat.Media{
				MIME: "image/png", Name: "a.png", Data: []byte("\x89PNG\r\n\x1a\n"),
			}}}
		})
	var got echoed
	must(t, json.Unmarshal([]byte(w.answerOf(run, "0/ada/ext:run")), &got))
	if got.Active != string(in) || len(got.Read) != 1 || got.Read[0][0] != "user" || got.Read[0][2] != true {
		t.Errorf("SP-44: in a new chat the active one is %q, and reads %v", got.Active, got.Read)
	}
	if fmt.Sprint(got.Messages) != "[map[content:What is this? role:user]]" || got.Context != "user: What is this?" {
		t.Errorf("SP-28: it was told %v", got.Messages)
	}
}

// counter has three tools for members: two that count how often they are called, and one
// that fails the first time.
const counter = `
let calls = 0, tries = 0;
for (const name of ["count", "other", "flaky"]) spindle.registerTool({ name, description: "d", council_eligible: true });
spindle.registerTool({ name: "run", description: "d", inline_available: true });
spindle.on("TOOL_INVOCATION", ({ toolName, contextMessages }) => {
  if (toolName === "run") return calls + " calls, " + tries + " tries";
  if (toolName === "flaky" && ++tries === 1) throw new Error("Not yet.");
  calls++;
  return toolName + " " + calls + " of " + contextMessages.map((m) => m.content).join("/");
});`

func TestSP53AFailedToolIsRetriedAloneOrLeft(t *testing.T) {
	w := extension(t, counter, "tools")
	c := toolsOf(council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:count", "ext:flaky"}},
		council.Member{ID: "bo", Name: "Bo", Tools: []string{"ext:other"}})
	c.Members[1].Chance = 99.999 // it throws, and only once
	asked := 0
	asks := func(what council.Act) func(*turn.Request, *deliberation.How) {
		return func(_ *turn.Request, how *deliberation.How) {
			how.Asks = true
			how.OnEvent = func(e deliberation.Event) {
				if e.Step != nil && e.Run.State == council.Asking {
					asked++
					go func() {
						if err := w.Councils.Act(t.Context(), e.Run.Begin.Run, what, "", []string{"0/ada/ext:flaky"}, ""); err != nil {
							t.Error(err)
						}
					}()
				}
			}
		}
	}
	sent, run := w.deliberate(w.chat(), "Is it so?", c, asks(council.Retry))
	attempts := map[string]int{}
	for _, task := range run.Tasks {
		attempts[task.ID] = task.Attempt
		if task.State != council.Done {
			t.Errorf("%s is %s", task.ID, task.State)
		}
	}
	if fmt.Sprint(attempts) != "map[0/ada/ext:count:1 0/ada/ext:flaky:2 0/bo/ext:other:1]" || asked != 1 {
		t.Errorf("asked %d times, the attempts were %v", asked, attempts)
	}
	notes := said(sent)
	for _, tool := range []string{"**Count:**", "**Flaky:**", "**Other:**", "## Ada", "## Bo"} {
		if strings.Count(notes, tool) != 1 {
			t.Errorf("%s stands %d times in %s", tool, strings.Count(notes, tool), notes)
		}
	}
	w.wants("", "{}", "3 calls, 2 tries")
	if len(run.Seats) != 2 || run.Seats[1].Roll == nil || *run.Seats[1].Roll != *council.Rolls(run.Seed, run.Council)[1] {
		t.Errorf("it threw %+v", run.Seats)
	}

	w = extension(t, counter, "tools")
	sent, run = w.deliberate(w.chat(), "Is it so?", c, asks(council.GoOn))
	if notes := said(sent); strings.Contains(notes, "Flaky") || !strings.Contains(notes, "**Count:**") ||
		run.Tasks[1].State != council.Failed || asked != 2 {
		t.Errorf("left, the notes are %s, and %s is %s", notes, run.Tasks[1].ID, run.Tasks[1].State)
	}
}

func TestSP54AnswerMadeAgainRunsOnlyWhatIsNew(t *testing.T) {
	w := extension(t, counter, "tools")
	in := w.chat("One.", "Two.")
	c := toolsOf(council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:count", "ext:flaky"}})
	c.Tool.Retain = true
	first, run := w.deliberate(in, "Three?", c)
	w.wants("", "{}", "1 calls, 1 tries")
	again := func(r *turn.Request, _ *deliberation.How) { r.Text, r.Parent = "", &run.Question }
	second, _ := w.deliberate(in, "", c, again)
	w.wants("", "{}", "2 calls, 2 tries") // what failed
	if !strings.Contains(said(first), "count 1 of") || !strings.Contains(said(second), "count 1 of") ||
		!strings.Contains(said(second), "flaky 2 of") {
		t.Errorf("it was told %s", said(second))
	}
	third, kept := w.deliberate(in, "", c, again)
	w.wants("", "{}", "2 calls, 2 tries")
	if said(third) != said(second) || len(kept.Kept) != 2 {
		t.Errorf("with nothing new it was told %s", said(third))
	}
	w.edit(in, 1) // to what it says already
	w.deliberate(in, "", c, again)
	w.wants("", "{}", "2 calls, 2 tries")
	changed := "One more."
	must(t, w.Conversations.Edit(t.Context(), in, []chat.MessageSeq{1}, conversation.Edit{Text: &changed}))
	edited, _ := w.deliberate(in, "", c, again)
	w.wants("", "{}", "4 calls, 3 tries")
	if !strings.Contains(said(edited), " of One more./Two./Three?") {
		t.Errorf("with another message in the window it was told %s", said(edited))
	}
	c.Members[0].Role = "Critic"
	w.deliberate(in, "", c, again)
	c.Tool.MaxWords = 10
	w.deliberate(in, "", c, again)
	w.wants("", "{}", "8 calls, 5 tries")
}

func TestSP55OlderResultsAreForTheMainModelAlone(t *testing.T) {
	w := extension(t, counter, "tools")
	in := w.chat()
	c := toolsOf(council.Member{
		ID: "ada", Name: "Ada", Tools: []string{"ext:count"}, Retention: map[string]int{"ext:count": 2},
	})
	for n := range 4 {
		sent, run := w.deliberate(in, fmt.Sprintf("Question %d?", n), c)
		notes := said(sent)
		_, notes, _ = strings.Cut(notes, "# Earlier results")
		older, _, _ := strings.Cut(notes, "# What your council found")
		for before := range 4 {
			there := strings.Contains(older, fmt.Sprintf("count %d of", before+1))
			if want := before < n && before >= n-2; there != want {
				t.Errorf("before answer %d the result of %d is there: %t, in %s", n, before, there, older)
			}
		}
		if got := w.answerOf(run, "0/ada/ext:count"); strings.Contains(got, "Earlier results") ||
			strings.Count(got, "count ") != 1 {
			t.Errorf("the member was told its own results: %s", got)
		}
	}
}

func TestSP59EachSettingChangesTheHelpersRequestInItsWay(t *testing.T) {
	w := extension(t, `
const seed = (async () => {
  const all = (await spindle.personas.list()).data;
  if (all.length > 0) return;
  await spindle.personas.create({ name: "Mia", description: "PERSONAWORD", is_default: true });
  const book = await spindle.world_books.create({ name: "Sea" });
  await spindle.world_books.entries.create(book.id, { key: ["boat"], comment: "The boat", content: "WORLDWORD" });
})();
spindle.registerTool({ name: "run", description: "d", inline_available: true });
spindle.on("TOOL_INVOCATION", async () => { await seed; return "ready"; });`, "tools", "personas", "world_books")
	w.wants("", "{}", "ready")
	helper := w.helper()
	in := w.chat("FIRSTWORD the boat?", "SECONDWORD.")
	must(t, w.Store.Chats.UpdateConversation(t.Context(), in, func(c *chat.Conversation) { c.System = "CHARACTERWORD" }))
	var question chat.MessageSeq
	asked := func(change func(*council.ToolSettings)) string {
		t.Helper()
		c := toolsOf(council.Member{ID: "ada", Name: "Ada", Tools: []string{"voice_concern"}})
		change(&c.Tool)
		before := len(helper.bodies())
		text, again := "LATESTWORD?", func(*turn.Request, *deliberation.How) {}
		if question != 0 {
			text, again = "", func(r *turn.Request, _ *deliberation.How) { r.Parent = &question }
		}
		_, run := w.deliberate(in, text, c, again)
		question = run.Question
		bodies := helper.bodies()
		if len(bodies) != before+1 {
			t.Fatalf("the helper was asked %d times", len(bodies)-before)
		}
		return bodies[before]
	}
	base := asked(func(*council.ToolSettings) {})
	words := []string{
		"PERSONAWORD", "WORLDWORD", "CHARACTERWORD", "FIRSTWORD", "SECONDWORD", "LATESTWORD", "at most 250 words",
		"Never plan what the person's own character",
	}
	for name, one := range map[string]struct {
		change func(*council.ToolSettings)
		gone   []string
	}{
		"as it is":       {func(*council.ToolSettings) {}, nil},
		"persona":        {func(s *council.ToolSettings) { s.UserPersona = false }, []string{"PERSONAWORD"}},
		"world":          {func(s *council.ToolSettings) { s.WorldInfo = false }, []string{"WORLDWORD"}},
		"character":      {func(s *council.ToolSettings) { s.Character = false }, []string{"CHARACTERWORD"}},
		"window":         {func(s *council.ToolSettings) { s.Window = 2 }, []string{"FIRSTWORD"}},
		"exclude latest": {func(s *council.ToolSettings) { s.ExcludeLatest = true }, []string{"LATESTWORD"}},
		"words":          {func(s *council.ToolSettings) { s.MaxWords = 0 }, []string{"at most 250 words"}},
		"user control": {
			func(s *council.ToolSettings) { s.UserControl = true }, []string{"Never plan what the person's own character"},
		},
	} {
		body := asked(one.change)
		for _, word := range words {
			if want := !slices.Contains(one.gone, word); strings.Contains(body, word) != want {
				t.Errorf("%s: %s is there: %t, in %s", name, word, !want, body)
			}
		}
		if len(one.gone) == 0 && body != base {
			t.Errorf("the same was asked in another way: %s and %s", base, body)
		}
	}
}

// agrees is a person who allows all that is asked, for as long as scope says.
type agrees struct{ scope gate.Scope }

// Ask implements gate.Asker.
func (a agrees) Ask(context.Context, gate.Request) (gate.Answer, error) {
	return gate.Answer{Effect: gate.Allow, Scope: a.scope}, nil
}

func TestSP26And36And38InlineTheMainModelCallsMembersToolsAndItsOwn(t *testing.T) {
	w := extension(t, `
for (const name of ["mine", "fail"]) spindle.registerTool({ name, description: "d", parameters: { type: "object", properties: { n: { type: "number" } } }, council_eligible: true });
spindle.registerTool({ name: "own", description: "d", inline_available: true });
spindle.on("TOOL_INVOCATION", ({ toolName, args, councilMember, contextMessages }) => {
  if (toolName === "fail") throw new Error("It broke.");
  return { toolName, keys: Object.keys(args).sort(), n: args.n, member: councilMember?.name, told: contextMessages?.length };
});`, "tools")
	c := toolsOf(council.Member{
		ID: "ada", Name: "Ada", Role: "Analyst", Tools: []string{"ext:mine", "ext:fail", "voice_concern"},
	})
	c.Tool.Mode = council.Inline
	in := w.chat()
	model := modeltest.New([]modeltest.Step{
		modeltest.Call("1", "Ada__mine", `{"n":3,"userId":"x","__userId":"y"}`), modeltest.Call("2", "ext__own", `{}`),
		modeltest.Call("3", "Ada__fail", `{}`),
	}, []modeltest.Step{modeltest.Say("Done.")})
	own := w.Tools.Set().Filter(func(t tool.Tool) bool { return t.Name == "own" })
	whose := map[string]string{} // by what is told of calls
	out, err := w.Councils.Run(t.Context(), turn.Request{
		Conversation: in, Text: "Is it so?", Model: model, Tools: own, ChainLimit: 4, Asker: agrees{gate.Once},
	}, deliberation.How{Council: &c}, func(e chat.Event) {
		var line struct{ Type, Tool, Member string }
		if raw, err := json.Marshal(turn.Line(e)); err == nil && json.Unmarshal(raw, &line) == nil && line.Tool != "" {
			whose[line.Type+" "+line.Tool] = line.Member
		}
	})
	must(t, err)
	for of, want := range map[string]string{"Ada__mine": "Ada", "Ada__fail": "Ada", "ext__own": ""} {
		for _, kind := range []string{"tool_call", "permission", "tool_result"} {
			if got, told := whose[kind+" "+of]; !told || got != want {
				t.Errorf("%s of %s is for %q, told %v", kind, of, got, told)
			}
		}
	}
	if out.Reason != chat.EndDone || chat.TextOf(out.Message.Parts) != "Done." {
		t.Fatalf("SP-36: it ended %+v", out)
	}
	results := model.Requests()[1].Messages[2].Parts
	for i, want := range []string{
		`{"toolName":"mine","keys":["__deadlineMs","context","n"],"n":3,"member":"Ada","told":1}`,
		`{"toolName":"own","keys":["__deadlineMs","context"],"told":1}`, "Error: Error: It broke.",
	} {
		if got := results[i].Result.Text(); !strings.HasPrefix(got, want) {
			t.Errorf("the result %d is %s", i, got)
		}
	}
	records, err := w.Store.Calls.Calls(t.Context(), chat.CallFilter{Conversation: in})
	must(t, err)
	callers := map[string]string{}
	for _, r := range records {
		callers[r.ToolID] = r.Caller
	}
	if callers["ext:mine"] != "member:ada" || callers["ext:own"] != "main" {
		t.Errorf("the callers are %v", callers)
	}
	if headers, err := w.Councils.Runs(t.Context(), in); err != nil || len(headers) != 0 {
		t.Errorf("there is a run: %+v, %v", headers, err)
	}
}

func TestAMembersToolReadsNothingOfTheChatThatTheMemberIsNotGiven(t *testing.T) {
	w := extension(t, listener, "tools", "chats", "chat_mutation")
	in := w.chat("SECRETWORD?", "Kept.")
	must(t, w.Store.Chats.UpdateConversation(t.Context(), in, func(c *chat.Conversation) { c.System = "SYSTEMWORD" }))
	ada := council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:run", "ext:reach"}}
	ada.Context = council.ContextPolicy{Span: council.Question}
	_, run := w.deliberate(in, "What now?", toolsOf(ada))
	answer := w.answerOf(run, "0/ada/ext:run")
	var got echoed
	must(t, json.Unmarshal([]byte(answer), &got))
	if strings.Contains(answer, "WORD") || got.Context != "user: What now?" ||
		fmt.Sprint(got.Read) != "[[user 0 true What now?]]" || got.Active != string(in) {
		t.Errorf("it was told %s", answer)
	}
	if why := run.Tasks[1].End.Failure; run.Tasks[1].State != council.Skipped ||
		why.Message != "The tool ext:reach is not available." {
		t.Errorf("a tool that is not there is %s: %+v", run.Tasks[1].State, why)
	}
}

func TestAMembersToolFindsNothingOutsideTheChatThatTheMemberIsNotGiven(t *testing.T) {
	w := extension(t, `
let chat;
const known = async () => {
  const books = (await spindle.world_books.list()).data, entries = [];
  for (const book of books) entries.push(...(await spindle.world_books.entries.list(book.id)).data);
  return { personas: (await spindle.personas.list()).data, active: await spindle.personas.getActive(), books, entries,
    characters: (await spindle.characters.list()).data, mood: await spindle.variables.chat.get(chat, "mood") };
};
spindle.registerTool({ name: "run", description: "d", parameters: { type: "object", properties: { chat: { type: "string" } } }, inline_available: true, council_eligible: true });
spindle.on("TOOL_INVOCATION", async ({ args }) => {
  if (args.chat) {
    chat = args.chat;
    await spindle.personas.create({ name: "Mia", description: "PERSONAWORD", is_default: true });
    await spindle.characters.create({ name: "Bea", description: "CHARACTERWORD" });
    const book = await spindle.world_books.create({ name: "BOOKWORD" });
    await spindle.world_books.entries.create(book.id, { key: ["boat"], content: "WORLDWORD" });
    await spindle.variables.chat.set(chat, "mood", "MOODWORD");
  }
  return known();
});`, "tools", "personas", "characters", "world_books")
	in := w.chat("Hello?", "Hello.")
	all := []string{"PERSONAWORD", "CHARACTERWORD", "BOOKWORD", "WORLDWORD", "MOODWORD"}
	told := func(text string) (words []string) {
		for _, word := range all {
			if strings.Contains(text, word) {
				words = append(words, word)
			}
		}
		return words
	}
	if got := told(w.run("", `{"chat":"`+string(in)+`"}`)); len(got) != len(all) {
		t.Fatalf("of what is kept the main model's tool finds %v", got)
	}
	ada := council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:run"}}
	for memory, want := range map[bool]int{false: 0, true: len(all)} {
		ada.Context = council.ContextPolicy{Span: council.Question, Memory: memory}
		sent, run := w.deliberate(in, "What now?", toolsOf(ada))
		if got := told(w.answerOf(run, "0/ada/ext:run")); len(got) != want {
			t.Errorf("with memory %t her tool finds %v", memory, got)
		}
		if got := told(said(sent)); len(got) != want {
			t.Errorf("with memory %t the main model is told %v", memory, got)
		}
	}
}

func TestPluginsGetAMembersWordsAsPeopleReadThem(t *testing.T) {
	w := extension(t, listener, "tools", "chats", "chat_mutation", "generation")
	set, question := council.Sample()
	set.Chair = "" // the model of this test answers
	_, run := w.deliberate(w.chat(), question, set)
	blocks := 0
	w.events.Flush(t.Context())
	w.Host.Hooks.WaitDelivered(t.Context())
	heard := w.run("", `{"must":"heard"}`)
	if !strings.Contains(heard, `"content":"`) || strings.Contains(heard, "```") {
		t.Errorf("it heard %s", heard)
	}
	for _, task := range run.Tasks {
		if task.Member == run.Tasks[0].Member && strings.Contains(w.answerOf(run, task.ID), "```council") {
			blocks++
		}
	}
	if blocks == 0 {
		t.Error("it said nothing with a block")
	}
}

// C14: two calls are open in one extension, so that its worker cannot tell which of them asks.
func TestMembersWhoseCallsAreOpenAtOnceReadWhatEachWasGiven(t *testing.T) {
	w := extension(t, `
for (const name of ["one", "two"]) spindle.registerTool({ name, description: "d", council_eligible: true });
let open = 0, both;
const bothOpen = new Promise((is) => { both = is });
spindle.on("TOOL_INVOCATION", async () => {
  if (++open === 2) both();
  await bothOpen;
  const { data } = await spindle.chats.list();
  const read = [];
  for (const chat of data) read.push(chat.name, ...(await spindle.chat.getMessages(chat.id)).map((m) => m.content));
  const wrote = await spindle.chat.appendMessage(data[0].id, { role: "user", content: "FORGED" }).catch((e) => e.message);
  return { chats: data.length, read, wrote };
});`, "tools", "chats", "chat_mutation")
	w.chat("SECRETWORD of another chat", "Kept.")
	in := w.chat("SECRETWORD?", "Kept.")
	question := council.ContextPolicy{Span: council.Question}
	_, run := w.deliberate(in, "What now?", toolsOf(
		council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:one"}, Context: question},
		council.Member{ID: "bo", Name: "Bo", Tools: []string{"ext:two"}, Context: question},
	))
	for _, task := range []string{"0/ada/ext:one", "0/bo/ext:two"} {
		want := `{"chats":1,"read":["","What now?"],"wrote":"A member of the council changes no chats."}`
		if got := w.answerOf(run, task); got != want {
			t.Errorf("%s came to %s, want %s", task, got, want)
		}
	}
	path, err := w.Store.Chats.Path(t.Context(), in)
	must(t, err)
	for _, m := range path {
		if strings.Contains(chat.TextOf(m.Parts), "FORGED") {
			t.Errorf("the chat holds %q", chat.TextOf(m.Parts))
		}
	}
}

func TestAMemberIsRefusedWhatReachesTheWeb(t *testing.T) {
	w := extension(t, listener, "tools", "cors_proxy")
	in := w.chat()
	ada := council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:run"}}
	sent, run := w.deliberateAsking(in, "Is it so?", toolsOf(ada),
		func(r *turn.Request, _ *deliberation.How) { r.Asker = agrees{gate.Once} })
	if why := run.Tasks[0].End.Failure; why == nil || why.Kind != string(chat.CallRefused) ||
		!strings.HasPrefix(why.Message, "council members may not send to the web") || why.Hint == "" {
		t.Errorf("it is %s: %+v", run.Tasks[0].State, why)
	}
	if notes := said(sent); notes != "\n\nIs it so?" {
		t.Errorf("the main model was told %q", notes)
	}
}

func TestAToolThatGoesInMidRunFailsWithASentence(t *testing.T) {
	w := extension(t, `
for (const name of ["hang", "other"]) spindle.registerTool({ name, description: "d", council_eligible: true });
spindle.on("TOOL_INVOCATION", ({ toolName }) => toolName === "hang" ? new Promise(() => {}) : "other");`, "tools")
	c := toolsOf(council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:hang"}},
		council.Member{ID: "bo", Name: "Bo", Tools: []string{"ext:other"}})
	c.Parallel = 1
	var once sync.Once
	sent, run := w.deliberate(w.chat(), "Is it so?", c, func(_ *turn.Request, how *deliberation.How) {
		how.OnEvent = func(e deliberation.Event) {
			if e.Live != nil && e.Live.Call != nil && e.Live.Call.Status == chat.CallRunning {
				once.Do(func() { must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "tools", gate.Deny)) })
			}
		}
	})
	for i, task := range run.Tasks {
		f := task.End.Failure
		if task.State != council.Failed || f == nil || !strings.Contains(f.Message,
			[]string{"you took that permission away", "other"}[i]) {
			t.Errorf("%s is %s: %+v", task.ID, task.State, f)
		}
	}
	if notes := said(sent); notes != "\n\nIs it so?" {
		t.Errorf("the main model was told %q", notes)
	}
}
