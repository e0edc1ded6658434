package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/plugin"
	"conclave/app/test/testkit"
	"conclave/app/tool/hook"
)

// scripted are hooks whose answers are written in the test.
type scripted struct {
	hooks []plugin.Hook
	run   func(hook plugin.Hook, payload string) (string, error)
	notes []string
	given map[string][]chat.Author // who wrote what a plugin was given, by its id
}

func (s *scripted) Kind(_ context.Context, kind, _ string) []plugin.Hook {
	return slices.DeleteFunc(slices.Clone(s.hooks), func(h plugin.Hook) bool { return h.Kind != kind })
}

func (s *scripted) Run(_ context.Context, hook plugin.Hook, _ chat.ConversationID,
	payload any,
) (json.RawMessage, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	answer, err := s.run(hook, string(raw))
	return json.RawMessage(answer), err
}

func (s *scripted) Authors(h plugin.Hook) []chat.Author { return s.given[h.Plugin] }

func (s *scripted) WriteLog(id, level, text string) { s.notes = append(s.notes, id+" "+level+" "+text) }

// apply sends a request past the hooks of p, and returns the notes for the person.
func apply(t *testing.T, p *Prompt, r model.Request, in chat.ConversationID) (model.Request, []string, error) {
	t.Helper()
	points := hook.Points{Sources: []hook.Source{p}}
	out, trace, err := points.BeforeModel(t.Context(), r, hook.TurnInfo{Conversation: in})
	var notes []string
	for _, one := range trace {
		notes = append(notes, one.Notes...)
	}
	return out, notes, err
}

func says(role chat.Role, texts ...string) model.Message {
	m := model.Message{Role: role}
	for _, t := range texts {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.PartText, Text: t})
	}
	return m
}

// sample is a prompt with a call and its result in it.
func sample() model.Request {
	call := says(chat.RoleAssistant, "calling")
	call.Parts = append(call.Parts, chat.Part{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "c", Tool: "t"}})
	result := model.Message{
		Role: chat.RoleTool, Parts: []chat.Part{{Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: "c"}}},
	}
	return model.Request{
		System: "rules {{weather}}",
		Messages: []model.Message{
			says(chat.RoleUser, "one {{user}} {{Weather::Oslo}}"), call, result, says(chat.RoleUser, "two"),
		},
	}
}

func shape(r model.Request) string {
	out := []string{"system:" + r.System}
	for _, m := range r.Messages {
		line := string(m.Role) + ":" + strings.ReplaceAll(chat.TextOf(m.Parts), "\n", "/")
		for _, p := range m.Parts {
			if p.Call != nil {
				line += "+call"
			}
			if p.Result != nil {
				line += "+result"
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}

func TestInterceptorsChangeThePromptAndKeepCallsWithTheirResults(t *testing.T) {
	const untouched = "system:rules {{weather}} | user:one {{user}} {{Weather::Oslo}} | assistant:calling+call | " +
		"tool:+result | user:two"
	for name, c := range map[string]struct{ answer, want, note string }{
		"the same": {`keep`, untouched, ""},
		"rewritten": {
			`{"messages":[{"role":"system","content":"new"},{"role":"user","content":"one!","__conclaveMessage":2},{"role":"assistant","content":"calling","__conclaveMessage":3},{"role":"user","content":"two","__conclaveMessage":4}]}`,
			"system:new | user:one! | assistant:calling+call | tool:+result | user:two", "Ext changed",
		},
		"without the numbers": {
			`[{"role":"assistant","content":"calling"},{"role":"user","content":"two"}]`,
			"system: | assistant:calling+call | tool:+result | user:two", "Ext changed",
		},
		"a note within": {
			`[{"role":"user","content":"two","__conclaveMessage":4},{"role":"system","content":"psst"}]`,
			"system: | user:two/[System note]/psst", "Ext changed",
		},
		"one twice": {
			`[{"role":"assistant","content":"calling","__conclaveMessage":3},{"role":"assistant","content":"calling","__conclaveMessage":3},{"role":"user","content":"x"}]`,
			"system: | assistant:calling+call | tool:+result | assistant:calling | user:x", "Ext changed",
		},
		"nothing":     {`null`, untouched, ""},
		"no messages": {`{"breakdown":[]}`, untouched, ""},
		"all gone":    {`[]`, untouched, ""},
		"it threw":    {``, untouched, ""},
	} {
		t.Run(name, func(t *testing.T) {
			hooks := &scripted{hooks: []plugin.Hook{{Plugin: "ext", Title: "Ext", Kind: "interceptor"}}}
			hooks.run = func(_ plugin.Hook, payload string) (string, error) {
				switch c.answer {
				case "":
					return "", errors.New("boom")
				case "keep":
					var p struct{ Messages json.RawMessage }
					err := json.Unmarshal([]byte(payload), &p)
					return string(p.Messages), err
				}
				return c.answer, nil
			}
			p := &Prompt{Hooks: hooks, Granted: func(string, string) bool { return false }}
			got, notes, err := apply(t, p, sample(), "c")
			if err != nil || shape(got) != c.want {
				t.Errorf("%v\n got %s\nwant %s", err, shape(got), c.want)
			}
			if said := strings.Join(notes, " "); (c.note == "") != (said == "") || !strings.Contains(said, c.note) {
				t.Errorf("notes = %q", notes)
			}
			failed := name == "nothing" || name == "no messages" || name == "all gone" || name == "it threw"
			if failed != (len(hooks.notes) == 1) {
				t.Errorf("its log = %q", hooks.notes)
			}
		})
	}
}

func TestContextHandlersRunFirstAndMayCallTheAnswerOff(t *testing.T) {
	var order []string
	answer := `{"chatId":"c","extra":1}`
	hooks := &scripted{
		hooks: []plugin.Hook{
			{Title: "I", Kind: "interceptor"}, {Title: "A", Kind: "context_handler"}, {Title: "B", Kind: "context_handler"},
		},
	}
	hooks.run = func(h plugin.Hook, payload string) (string, error) {
		order = append(order, h.Title)
		if h.Title == "B" && !strings.Contains(payload, `"extra":1`) {
			t.Errorf("B was not given what A returned: %s", payload)
		}
		if h.Kind == "interceptor" {
			return "null", nil
		}
		return answer, nil
	}
	p := &Prompt{Hooks: hooks, Granted: func(string, string) bool { return false }}
	if _, _, err := apply(t, p, sample(), ""); err != nil || strings.Join(order, "") != "ABI" {
		t.Errorf("order = %v, %v", order, err)
	}
	answer = `{"cancelGeneration":true}`
	if _, _, err := apply(t, p, sample(), ""); fault.KindOf(err) != fault.Canceled ||
		!strings.Contains(err.Error(), "A called the answer off") {
		t.Errorf("called off: %v", err)
	}
}

func TestMacrosAreFilledInWhatThePersonWroteOnly(t *testing.T) {
	asked := 0
	hooks := &scripted{hooks: []plugin.Hook{
		{Plugin: "w", Title: "W", Kind: "macro", Name: "weather"},
		{Kind: "macro", Name: "fixed", Data: json.RawMessage(`{"value":"{{weather}}"}`)},
		{Kind: "macro", Name: "broken", Title: "B"},
	}}
	hooks.run = func(h plugin.Hook, payload string) (string, error) {
		if h.Name == "broken" {
			return "", errors.New("it took too long")
		}
		asked++
		var p struct{ Args []string }
		err := json.Unmarshal([]byte(payload), &p)
		return fmt.Sprintf("%q", "rain"+strings.Join(p.Args, "")), err
	}
	p := &Prompt{Hooks: hooks, Granted: func(string, string) bool { return false }}
	r := sample()
	r.Messages[1].Parts[0].Text = "{{weather}}" // an answer
	got, notes, err := apply(t, p, r, "")
	if len(notes) != 1 || notes[0] != "W changed what the model is sent: {{weather}}." {
		t.Errorf("the chat notes %q", notes)
	}
	want := "system:rules rain | user:one {{user}} rainOslo | assistant:{{weather}}+call | tool:+result | user:two"
	if err != nil || shape(got) != want {
		t.Errorf("got %s, %v", shape(got), err)
	}
	m := p.Macros(t.Context(), "", "", true)
	for text, want := range map[string]string{
		"{{fixed}}": "{{weather}}", "{{ weather }}{{weather}}": "rainrain", "{{": "{{",
		"a {{x {{weather}} b}}": "a {{x rain b}}", "{{broken}}!": "!", "{{}}": "{{}}", "}}{{weather": "}}{{weather",
	} {
		if got := m.Text(t.Context(), text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if len(m.Failed) != 1 || !strings.Contains(m.Failed[0], "{{broken}} of B has no value: it took too long") {
		t.Errorf("failed = %q", m.Failed)
	}
}

// The attack: a plugin's value of 4 MiB, two hundred times in one text of its own,
// or in each message of a chat.
func TestMacrosPutABoundedTextIntoAPrompt(t *testing.T) {
	hooks := &scripted{hooks: []plugin.Hook{{Plugin: "w", Title: "W", Kind: "macro", Name: "big"}}}
	value := strings.Repeat("x", 1<<20)
	hooks.run = func(plugin.Hook, string) (string, error) { return `"` + value + `"`, nil }
	p := &Prompt{Hooks: hooks, Granted: func(string, string) bool { return false }}
	f := newFixture(t)
	f.all["macros.resolve"] = f.s.Resolve(p)
	args, err := json.Marshal(map[string]string{"text": strings.Repeat("{{big}}", maxMacros) + "end"})
	must(t, err)
	answer := f.ask(f.caller("a"), "macros.resolve", string(args))
	if n := strings.Count(answer, value); n != int(limit.MacroValues>>20) || !strings.Contains(answer, "end") ||
		strings.Count(answer, "The values of macros are more than 3 MiB together, so the last of them were left "+
			"out.") != 1 {
		t.Errorf("the value is there %d times, in %d bytes", n, len(answer))
	}
	var r model.Request
	for range 100 {
		r.Messages = append(r.Messages, says(chat.RoleUser, "{{big}} {{big}} end"))
	}
	got, notes, err := apply(t, p, r, "")
	if err != nil || strings.Count(shape(got), value) != int(limit.MacroValues>>20) ||
		strings.Count(shape(got), "end") != 100 || !slices.Contains(notes,
		"The values of macros are more than 3 MiB together, so the last of them were left out.") {
		t.Errorf("a prompt of %d bytes, notes %q, %v", len(shape(got)), notes, err)
	}
}

// The attack: an interceptor returns as many messages as fit, to be looked for
// among the thousands of a long chat, and the next one sees what it made.
func TestAnInterceptorsManyMessagesAreReadAtOnce(t *testing.T) {
	hooks := &scripted{
		hooks: []plugin.Hook{
			{Plugin: "a", Title: "A", Kind: "interceptor"}, {Plugin: "b", Title: "B", Kind: "interceptor", Priority: 1},
		},
	}
	many := "[" + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"x"},`, 100_000), ",") + "]"
	seen := 0
	hooks.run = func(h plugin.Hook, payload string) (string, error) {
		if h.Plugin == "b" {
			seen = len(payload)
			return "null", nil
		}
		return many, nil
	}
	var r model.Request
	for i := range 5000 {
		r.Messages = append(r.Messages, says(chat.RoleUser, strings.Repeat("y", 400)+fmt.Sprint(i)),
			says(chat.RoleAssistant, "z"))
	}
	began := testkit.ProcessorTime()
	got, _, err := apply(t, &Prompt{Hooks: hooks, Granted: func(string, string) bool { return false }}, r, "")
	if err != nil || len(got.Messages) != 1 || len(got.Messages[0].Parts) != 100_000 || seen < 200_000 {
		t.Errorf("%d messages, the next one saw %d bytes, %v", len(got.Messages), seen, err)
	}
	// A search among the messages for each of the list takes minutes.
	if took := testkit.ProcessorTime() - began; took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestMacrosResolveKnowsConclavesOwn(t *testing.T) {
	f := newFixture(t)
	p := &Prompt{Hooks: &scripted{}, Granted: func(string, string) bool { return false }}
	f.all["macros.resolve"] = f.s.Resolve(p)
	by := f.caller("a")
	f.wants(by, "macros.resolve", `{"text":"{{setvar::k::v}}[{{getvar::k}}] {{user}} {{unknown}}","commit":false}`,
		`{"diagnostics":[],"text":"[] User {{unknown}}"}`)
	f.wants(by, "macros.resolve", `{"text":"{{setvar::k::v}}[{{getvar::k}}]","commit":true}`, `[v]`)
	f.wants(by, "variables.get", `{"scope":"local","key":"k"}`, `"v"`)
}

func TestARequestThatNamesNoModelIsForTheChatsOwnUnlessADefaultWasChosen(t *testing.T) {
	f := newFixture(t)
	by := f.caller("a")
	ask := func() string { return f.ask(by, "models.generate", `{"messages":[{"role":"user","content":"x"}]}`) }
	f.model.Add([]modeltest.Step{modeltest.Say("one")})
	if got := ask(); !strings.Contains(got, `"model":"one/default"`) {
		t.Errorf("with a default chosen: %s", got)
	}
	f.chosen = ""
	if got := ask(); !strings.Contains(got, "not_found: No model was chosen") {
		t.Errorf("with none chosen and a chat without a model: %s", got)
	}
	must(t, f.store.Chats.UpdateConversation(t.Context(), f.open.ID, func(c *chat.Conversation) { c.Model = "two/small" }))
	f.open.Model = "two/small"
	f.model.Add([]modeltest.Step{modeltest.Say("two")})
	if got := ask(); !strings.Contains(got, `"model":"two/small"`) {
		t.Errorf("in a chat with a model: %s", got)
	}
}
