package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
	"conclave/app/tool"
)

// deferredBench has the direct tool "direct" and three that are deferred.
func deferredBench(t *testing.T, change ...func(*tool.Tool)) *bench {
	t.Helper()
	run := tools{
		"direct": answers("now"), "weather": answers("sun"), "weather_log": answers("log"),
		"zeta": func(context.Context, tool.Call) tool.Result {
			return tool.Result{Status: chat.CallRaised, Error: "it is broken"}
		},
	}
	return newBench(t, run, append(change, func(x *tool.Tool) {
		if x.Name != "direct" {
			x.Visibility = tool.Deferred
		}
		if x.Name == "weather" {
			x.Description = "看看天气  的工具"
		}
	})...)
}

// offered returns the names of the tools that request n defined.
func offered(m *scripted, n int) []string {
	var names []string
	for _, x := range m.requests[n].Tools {
		names = append(names, x.Name)
	}
	return names
}

// reminder returns the note of request n, or "".
func reminder(m *scripted, n int) string {
	for _, message := range m.requests[n].Messages {
		for _, p := range message.Parts {
			if strings.HasPrefix(p.Text, "<system-reminder>") {
				return p.Text
			}
		}
	}
	return ""
}

func TestMB34ADeferredToolIsNotSentButListedInTheReminder(t *testing.T) {
	b := deferredBench(t)
	m := scriptedModel(says("Hello."))
	b.say(m)
	equal(t, "tools", offered(m, 0), []string{"direct", "tool_search"})
	note := reminder(m, 0)
	for _, want := range []string{
		"1. weather: 看看天气 的工具\n", "2. weather_log: Does weather_log.", "3. zeta", "tool_search",
	} {
		if !strings.Contains(note, want) {
			t.Errorf("the reminder lacks %q:\n%s", want, note)
		}
	}
	last := m.requests[0].Messages[len(m.requests[0].Messages)-1]
	if last.Role != chat.RoleUser || last.Parts[len(last.Parts)-1].Text != "Hello." {
		t.Errorf("the question is not the end of its message: %+v", last)
	}
	for _, saved := range b.path() {
		if strings.Contains(chat.TextOf(saved.Parts), "system-reminder") {
			t.Error("the reminder was stored")
		}
	}
}

func TestMB36AHiddenToolIsInNeitherPlaceAndNotFound(t *testing.T) {
	b := deferredBench(t, func(x *tool.Tool) {})
	hidden := tool.NewRegistry()
	hidden.Publish("p", []tool.Tool{{Name: "direct"}, {Name: "secret", Description: "Hidden.", Visibility: tool.Hidden}},
		tools{})
	b.set = hidden.Set().ForModel()
	m := scriptedModel(calls(call("secret", `{}`)), says("No."))
	b.say(m)
	equal(t, "tools", offered(m, 0), []string{"direct"})
	if got := b.results(m, 1)[0]; !strings.Contains(got, `no tool named "secret"`) {
		t.Errorf("got %s", got)
	}
}

func TestMB38WhatASearchFoundIsInTheNextRequest(t *testing.T) {
	b := deferredBench(t)
	m := scriptedModel(calls(call("tool_search", `{"query":"weather"}`)), calls(call("weather", `{}`)), says("Sun."))
	b.say(m)
	equal(t, "first", offered(m, 0), []string{"direct", "tool_search"})
	equal(t, "second", offered(m, 1), []string{"direct", "tool_search", "weather", "weather_log"})
	if note := reminder(m, 1); strings.Contains(note, "weather") || !strings.Contains(note, "1. zeta") {
		t.Errorf("the reminder of the second request:\n%s", note)
	}
	if got := b.results(m, 2); len(got) == 0 || !strings.Contains(got[len(got)-1], "sun") {
		t.Errorf("results: %v", got)
	}
	// Another conversation, and another turn of this one.
	other := scriptedModel(says("Hi."))
	b.say(other)
	equal(t, "the next turn", offered(other, 0), []string{"direct", "tool_search", "weather", "weather_log"})
	fresh := deferredBench(t)
	blank := scriptedModel(says("Hi."))
	fresh.say(blank)
	equal(t, "another chat", offered(blank, 0), []string{"direct", "tool_search"})
}

func TestMB39WhatIsNoLongerSeenReturnsToTheReminder(t *testing.T) {
	b := deferredBench(t)
	b.say(scriptedModel(calls(call("tool_search", `{"query":"weather","limit":1}`)), says("Found.")))
	var answer []chat.MessageSeq
	for _, message := range b.path()[1:] {
		answer = append(answer, message.Seq)
	}
	err := b.log.UpdateMessages(t.Context(), talk, answer, func(messages []chat.Message) error {
		for i := range messages {
			messages[i].Hidden = true
		}
		return nil
	})
	must(t, err)
	m := scriptedModel(says("Again."))
	b.say(m)
	equal(t, "tools", offered(m, 0), []string{"direct", "tool_search"})
	if !strings.Contains(reminder(m, 0), "1. weather:") {
		t.Errorf("reminder:\n%s", reminder(m, 0))
	}
}

func TestMB40SearchesThatFindNothing(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		failed    bool
		said      string
		found     int
	}{
		"blank":          {`{"query":"   "}`, true, "the query is empty", 0},
		"no query":       {`{}`, true, "the query is empty", 0},
		"no hits":        {`{"query":"nothing like it"}`, false, "No tool was found", 0},
		"bad limit":      {`{"query":"e","limit":"many"}`, false, "3 found", 3},
		"negative limit": {`{"query":"e","limit":-1}`, false, "3 found", 3},
		"one":            {`{"query":"weather","limit":1}`, false, "- weather（new）", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := deferredBench(t)
			m := scriptedModel(calls(call("tool_search", c.arguments)), says("So."))
			b.say(m)
			results := b.heard(chat.EventAnswered)
			r := results[0].Result
			if r.IsError != c.failed || !strings.Contains(r.Text(), c.said) {
				t.Errorf("got %v %q", r.IsError, r.Text())
			}
			var value struct {
				Matched []string `json:"matched_tool_names"`
			}
			_ = json.Unmarshal(results[0].Call.Result, &value)
			if len(value.Matched) != c.found {
				t.Errorf("found %v", value.Matched)
			}
			if len(b.heard(chat.EventHeld)) > 0 {
				t.Error("a person was asked about a search")
			}
		})
	}
}

func TestMB41ADeferredToolThatWasNotFoundIsCalledAllTheSame(t *testing.T) {
	b := deferredBench(t)
	m := scriptedModel(calls(call("weather", `{}`), chat.ToolCall{ID: "two", Tool: "zeta", Arguments: json.RawMessage(`{}`)}),
		says("Well."))
	b.say(m)
	got := b.results(m, 1)
	if !strings.Contains(got[0], "sun") || strings.Contains(got[0], "tool_search") {
		t.Errorf("the good one: %s", got[0])
	}
	if !strings.Contains(got[1], "it is broken") || !strings.Contains(got[1], "find it with tool_search") {
		t.Errorf("the failed one: %s", got[1])
	}
}

func TestMB42WithoutDeferredToolsThereIsNoSearch(t *testing.T) {
	b := newBench(t, tools{"direct": answers("now")})
	m := scriptedModel(calls(call("tool_search", `{"query":"x"}`)), says("Hello."))
	b.say(m)
	equal(t, "tools", offered(m, 0), []string{"direct"})
	if reminder(m, 0) != "" {
		t.Error("there is a reminder")
	}
	if got := b.results(m, 1)[0]; !strings.Contains(got, `no tool named "tool_search"`) {
		t.Errorf("got %s", got)
	}
}

func TestMB51AToolMayEndTheTurn(t *testing.T) {
	b := newBench(t, tools{"last": func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{{Kind: chat.PartText, Text: "done"}}, EndTurn: true}
	}})
	m := scriptedModel(calls(call("last", `{}`)))
	if out := b.say(m); out.Reason != chat.EndDone || len(m.requests) != 1 {
		t.Errorf("reason %s after %d requests", out.Reason, len(m.requests))
	}
}

func TestAModelWithoutToolsIsNotReminded(t *testing.T) {
	b := deferredBench(t)
	refuses := func(context.Context, model.Request, func(model.Event) bool) error {
		return &model.Error{Kind: model.NoTools}
	}
	m := scriptedModel(refuses, says("Plain."))
	b.say(m)
	if len(m.requests[1].Tools) != 0 || reminder(m, 1) != "" {
		t.Errorf("tools %v, reminder %q", offered(m, 1), reminder(m, 1))
	}
}

func TestNamedToolsAreSentAtOnce(t *testing.T) {
	b := deferredBench(t)
	b.set = b.set.Promote(func(x tool.Tool) bool { return x.Name == "zeta" })
	m := scriptedModel(says("Hello."))
	b.say(m)
	if !slices.Contains(offered(m, 0), "zeta") {
		t.Errorf("tools: %v", offered(m, 0))
	}
}

// crowded has two plugins' worth of tools that do not fit.
func crowded(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, tools{"echo": answers("ok")})
	r := tool.NewRegistry()
	r.Publish("p", []tool.Tool{{Name: "echo", Description: "Echoes."}}, tools{"echo": answers("ok")})
	many, run := make([]tool.Tool, 200), tools{}
	for i := range many {
		name := "act" + strings.Repeat("x", i%20) + string(rune('a'+i/20))
		many[i] = tool.Tool{Name: name, Description: strings.Repeat("y", 800)}
		run[name] = answers("done")
	}
	r.Publish("big", many, run)
	b.set = r.Set().ForModel()
	return b
}

func TestMC45ToolsPastAShareOfTheContextAreNamedAndFound(t *testing.T) {
	b := crowded(t)
	m := scriptedModel(calls(call("tool_search", `{"query":"acta"}`)), says("Done."))
	b.say(m)
	equal(t, "first", offered(m, 0), []string{"echo", "tool_search"})
	if note := reminder(m, 0); !strings.Contains(note, "- big: acta, ") || len(note) > 6<<10 {
		t.Errorf("the reminder has %d bytes: %.300s", len(note), note)
	}
	if got := offered(m, 1); !slices.Contains(got, "acta") {
		t.Errorf("the second request offers %v", got)
	}
}

func TestMC45AServersLimitOfToolsIsMetByDeferringAndRemembered(t *testing.T) {
	b := newBench(t, tools{"echo": answers("ok")})
	r := tool.NewRegistry()
	r.Publish("p", []tool.Tool{{Name: "echo"}}, tools{"echo": answers("ok")})
	many := make([]tool.Tool, 140)
	for i := range many {
		many[i] = tool.Tool{Name: "a" + strings.Repeat("x", i)[:i%60] + string(rune('a'+i/60))}
	}
	r.Publish("many", many, tools{})
	b.set = r.Set().ForModel()
	refused := &model.Error{Kind: model.TooManyTools, Provider: "mine", Status: 400, Detail: "got 141 tools, at most 128"}
	m := scriptedModel(tells(refused), says("Hello."), says("Again."))
	b.say(m)
	b.say(m)
	if n := len(m.requests[0].Tools); n != 141 {
		t.Fatalf("the first request has %d tools", n)
	}
	for _, i := range []int{1, 2} {
		equal(t, "offered", offered(m, i), []string{"echo", "tool_search"})
	}
	if got := notes(b); !strings.Contains(got, "at most 128 tools in a request. It finds 140 others with tool_search") {
		t.Errorf("notes: %q", got)
	}
}

func TestMC27ToolsThatCameInACallAreOfferedInTheNextRound(t *testing.T) {
	registry := tool.NewRegistry()
	b := newBench(t, tools{"a": answers("A"), "b": answers("B")})
	first := tools{"a": func(ctx context.Context, c tool.Call) tool.Result {
		registry.Publish("p", []tool.Tool{{Name: "b", Description: "Does b."}}, tools{"b": answers("B")})
		return answers("A")(ctx, c)
	}}
	registry.Publish("p", []tool.Tool{{Name: "a", Description: "Does a."}}, first)
	m := scriptedModel(calls(call("a", `{}`)), calls(call("b", `{}`)), says("Done."))
	b.say(m, func(r *turn.Request) {
		r.Tools = registry.Set()
		r.Newest = func(generation uint64) *tool.Set {
			if set := registry.Set(); set.Generation() != generation {
				return set
			}
			return nil
		}
	})
	equal(t, "first", offered(m, 0), []string{"a"})
	equal(t, "second", offered(m, 1), []string{"b"})
	equal(t, "results", b.results(m, 2), []string{"ok: B"})
}
