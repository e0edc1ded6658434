package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/cli"
	"conclave/app/permit"
	"conclave/app/textdiff"
	"conclave/app/tool"
)

// catches is an asker that keeps what it is asked and says no.
type catches struct{ got *permit.Request }

func (c catches) Ask(_ context.Context, p permit.Request) (permit.Answer, error) {
	*c.got = p
	return permit.Answer{Effect: permit.Deny}, nil
}

// texts returns all texts and numbers of a JSON value.
func texts(value any) []string {
	switch v := value.(type) {
	case map[string]any:
		var all []string
		for name, item := range v {
			all = append(append(all, name), texts(item)...)
		}
		return all
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	case nil:
		return nil
	}
	return []string{fmt.Sprint(value)}
}

// What the card in the window says of a request, the question in the terminal says too.
func TestTheTerminalAsksWithAllFactsOfTheWindow(t *testing.T) {
	g, err := permit.Open(t.Context(), permit.Options{})
	must(t, err)
	notes := permit.PluginVersion{
		Plugin: "notes", Name: "Notes", Dialect: "functions", Code: "c0de", Listed: true, Isolation: "process+landlock",
		Tools: []tool.Tool{
			tool.Normal(tool.Tool{Plugin: "notes", Name: "save_note", Description: "Saves."}),
			tool.Normal(tool.Tool{Plugin: "notes", Name: "mail_x", Title: "Send a mail\u202e", Description: "Sends."}),
		},
	}
	g.Approvals.Status(notes)
	must(t, g.Approvals.Approve(t.Context(), notes, permit.ApproveOptions{}))
	saves := permit.Call{
		ID: "1", Caller: permit.Main, Tool: notes.Tools[0], Conversation: "chat", Turn: "turn",
		Arguments: json.RawMessage(`{"path":"/tmp/notes/a.md","amount":20,"to":["ada","bo"]}`),
	}
	with := func(change func(*permit.Call)) permit.Call {
		call := saves
		change(&call)
		return call
	}
	for name, call := range map[string]permit.Call{
		"a first call":  saves,
		"one that can":  with(func(c *permit.Call) { c.Capabilities = []permit.Capability{permit.ReadFiles, permit.Fetch} }),
		"a program":     with(func(c *permit.Call) { c.Capabilities = []permit.Capability{permit.RunPrograms} }),
		"another title": with(func(c *permit.Call) { c.Tool = notes.Tools[1] }),
		"a member's": with(func(c *permit.Call) {
			c.Caller, c.CallerName, c.Capabilities = "member:ada", "Ada", []permit.Capability{permit.ReadFiles}
		}),
		"hidden characters": with(func(c *permit.Call) { c.Arguments = json.RawMessage(`{"to":"a\u200bda\u202e"}`) }),
		"letters that look like others": with(func(c *permit.Call) {
			c.Arguments = json.RawMessage(`{"to":["ada@p\u0430ypal.com"]}`)
		}),
		"a name that stands twice": with(func(c *permit.Call) {
			c.Arguments = json.RawMessage(`{"path":"/tmp/one.md","path":"/tmp/two.md"}`)
		}),
		"text of others": with(func(c *permit.Call) {
			c.Capabilities = []permit.Capability{permit.SendWeb}
			c.Taint = []chat.Origin{chat.NewOrigin(chat.FromWeb, "example.org")}
		}),
		"changed by hooks": with(func(c *permit.Call) {
			c.Because = []string{"hooks changed it"}
			c.Original = &permit.Original{Tool: "read_note", Arguments: json.RawMessage(`{"path":"/tmp/other"}`)}
		}),
		"what it would do": with(func(c *permit.Call) {
			c.Preview = func(context.Context) *permit.Preview {
				return permit.NewPreview("What would change in a.md:", append(textdiff.Lines("one\n", "two\u202e\n"),
					slices.Repeat([]textdiff.Line{{Kind: textdiff.Same, Text: "more"}}, 100)...))
			}
		}),
		"without arguments": with(func(c *permit.Call) { c.Arguments = nil }),
	} {
		var q permit.Request
		call.Asker = catches{&q}
		g.Decide(t.Context(), call)
		if q.ID == "" {
			t.Errorf("%s: nobody was asked", name)
			continue
		}
		if name == "a first call" {
			q.Count = 3 // as many wait for it
		}
		same(t, name, q)
	}
	var q permit.Request
	g.Connect(t.Context(), permit.Connection{
		Plugin: "notes", URL: "https://api.example.org", Behalf: permit.Call{Asker: catches{&q}, Conversation: "chat"},
	})
	if q.Title != "Notes wants to connect to api.example.org" {
		t.Errorf("of a connection nobody was asked: %+v", q)
	}
	same(t, "a connection", q)
	fresh := notes
	fresh.Plugin, fresh.Name, fresh.Folder, fresh.Permissions = "fresh", "Fresh", "/plugins/fresh", []string{"tools"}
	_, err = g.Questions.AskApproval(t.Context(), fresh, catches{&q})
	must(t, err)
	same(t, "a plugin", q)
}

// same compares what window and terminal say of one request.
func same(t *testing.T, name string, q permit.Request) {
	t.Helper()
	v, text := requestView(q, ""), cli.Question(q)
	facts := append([]string{v.Title, v.Reach, v.Care, v.Reason, v.History, v.Name, v.PluginName}, v.Capabilities...)
	var value any
	if v.Arguments != "" {
		must(t, json.Unmarshal([]byte(v.Arguments), &value))
	}
	facts = append(facts, texts(value)...)
	if v.Hidden > 0 {
		facts = append(facts, fmt.Sprintf("%d hidden character", v.Hidden))
	}
	for _, m := range v.Marks {
		facts = append(facts, m.Where, m.Text)
	}
	facts = append(facts, v.Warnings...)
	if name == "a name that stands twice" {
		facts = append(facts, "/tmp/one.md", "/tmp/two.md", "The name “path” stands more than once")
	}
	if slices.Contains(v.Capabilities, "run programs") {
		facts = append(facts, "Runs a program on your computer.")
	}
	if v.Count > 1 {
		facts = append(facts, fmt.Sprint(v.Count, " such requests will be answered together."))
	}
	if expires, err := time.Parse(time.RFC3339, v.Expires); err == nil {
		facts = append(facts, "by "+expires.Local().Format("15:04")+".")
	}
	if p := v.Preview; p != nil {
		facts = append(facts, p.Words, fmt.Sprintf("and %d lines more", p.Left), "- one", `+ two\u{202e}`)
		for _, l := range p.Lines {
			facts = append(facts, l.Text)
		}
	}
	if was := v.Original; was != nil {
		facts = append(facts, was.Tool, "- ", "+ ", "/tmp/other")
	}
	for _, fact := range facts {
		clean, _ := tool.Strip(fact)
		if !strings.Contains(text, clean) {
			t.Errorf("%s: the terminal does not say %q:\n%s", name, clean, text)
		}
	}
	if strings.ContainsAny(text, "\u202e\u200b\x1b") {
		t.Errorf("%s: the terminal is not clean: %q", name, text)
	}
	answers := strings.Join(cli.Answers(q), "|")
	offers := append([]string{"not now", v.Here}, v.Only...)
	if v.Trust != "" {
		offers = append(offers, "trust "+v.Trust+" in this chat")
	}
	if v.Council != (name == "a member's") {
		t.Errorf("%s: offered to the whole council: %v", name, v.Council)
	}
	for _, scope := range v.Scopes {
		if v.Kind != permit.KindCall {
			continue
		}
		offers = append(offers, map[permit.Scope]string{
			permit.Once: "yes, once", permit.ThisAnswer: "for this answer", permit.ThisChat: "for this chat",
			permit.UntilQuit: "until Conclave quits", permit.Always: "always",
		}[scope])
	}
	for _, offer := range offers {
		if !strings.Contains(answers, offer) {
			t.Errorf("%s: the terminal does not offer %q but %s", name, offer, answers)
		}
	}
}
