package window

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/textdiff"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/terminal"
	"conclave/app/tool"
	"conclave/app/view"
)

// catches is an asker that keeps what it is asked and says no.
type catches struct{ got *gate.Request }

func (c catches) Ask(_ context.Context, p gate.Request) (gate.Answer, error) {
	*c.got = p
	return gate.Answer{Effect: gate.Deny}, nil
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
	g, err := gate.Open(t.Context(), gate.Options{})
	must(t, err)
	notes := gate.PluginVersion{
		Plugin: "notes", Name: "Notes", Dialect: "functions", Code: "c0de", Listed: true, Isolation: "process+landlock",
		Tools: []tool.Tool{
			tool.Normal(tool.Tool{Plugin: "notes", Name: "save_note", Description: "Saves."}),
			tool.Normal(tool.Tool{Plugin: "notes", Name: "mail_x", Title: "Send a mail\u202e", Description: "Sends."}),
		},
	}
	g.Approvals.Status(notes)
	must(t, g.Approvals.Approve(t.Context(), notes, gate.ApproveOptions{}))
	saves := gate.Call{
		ID: "1", Caller: gate.Main, Tool: notes.Tools[0], Conversation: "chat", Turn: "turn",
		Arguments: json.RawMessage(`{"path":"/tmp/notes/a.md","amount":20,"to":["ada","bo"]}`),
	}
	with := func(change func(*gate.Call)) gate.Call {
		call := saves
		change(&call)
		return call
	}
	for name, call := range map[string]gate.Call{
		"a first call":  saves,
		"one that can":  with(func(c *gate.Call) { c.Capabilities = []gate.Capability{gate.ReadFiles, gate.Fetch} }),
		"a program":     with(func(c *gate.Call) { c.Capabilities = []gate.Capability{gate.RunPrograms} }),
		"another title": with(func(c *gate.Call) { c.Tool = notes.Tools[1] }),
		"a member's": with(func(c *gate.Call) {
			c.Caller, c.CallerName, c.Capabilities = "member:ada", "Ada", []gate.Capability{gate.ReadFiles}
		}),
		"hidden characters": with(func(c *gate.Call) { c.Arguments = json.RawMessage(`{"to":"a\u200bda\u202e"}`) }),
		"letters that look like others": with(func(c *gate.Call) {
			c.Arguments = json.RawMessage(`{"to":["ada@p\u0430ypal.com"]}`)
		}),
		"a name that stands twice": with(func(c *gate.Call) {
			c.Arguments = json.RawMessage(`{"path":"/tmp/one.md","path":"/tmp/two.md"}`)
		}),
		"text of others": with(func(c *gate.Call) {
			c.Capabilities = []gate.Capability{gate.SendWeb}
			c.Taint = []chat.Origin{chat.NewOrigin(chat.FromWeb, "example.org")}
		}),
		"changed by hooks": with(func(c *gate.Call) {
			c.Because = []string{"hooks changed it"}
			c.Original = &gate.Original{Tool: "read_note", Arguments: json.RawMessage(`{"path":"/tmp/other"}`)}
		}),
		"what it would do": with(func(c *gate.Call) {
			c.Preview = func(context.Context) *gate.Preview {
				return gate.NewPreview("What would change in a.md:", append(textdiff.Lines("one\n", "two\u202e\n"),
					slices.Repeat([]textdiff.Line{{Kind: textdiff.Same, Text: "more"}}, 100)...))
			}
		}),
		"without arguments": with(func(c *gate.Call) { c.Arguments = nil }),
	} {
		var q gate.Request
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
	var q gate.Request
	g.Connect(t.Context(), gate.Connection{
		Plugin: "notes", URL: "https://api.example.org", Behalf: gate.Call{Asker: catches{&q}, Conversation: "chat"},
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
func same(t *testing.T, name string, q gate.Request) {
	t.Helper()
	v, text := view.NewPermissionRequest(q, ""), terminal.Question(q)
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
	if !v.Expires.IsZero() {
		facts = append(facts, "at "+v.Expires.Local().Format("15:04")+".")
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
	answers := strings.Join(terminal.Answers(q), "|")
	offers := append([]string{"not now", v.Here}, v.Only...)
	if v.Trust != "" {
		offers = append(offers, "trust "+v.Trust+" in this chat")
	}
	if v.Council != (name == "a member's") {
		t.Errorf("%s: offered to the whole council: %v", name, v.Council)
	}
	for _, scope := range v.Scopes {
		if v.Kind != gate.KindCall {
			continue
		}
		offers = append(offers, map[gate.Scope]string{
			gate.Once: "yes, once", gate.ThisAnswer: "for this answer", gate.ThisChat: "for this chat",
			gate.UntilQuit: "until Conclave quits", gate.Always: "always",
		}[scope])
	}
	for _, offer := range offers {
		if !strings.Contains(answers, offer) {
			t.Errorf("%s: the terminal does not offer %q but %s", name, offer, answers)
		}
	}
}
