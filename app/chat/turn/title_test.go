package turn_test

import (
	"context"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/model/openai"
)

// named begins a chat with one question and answer, and has m name it.
func named(t *testing.T, m model.Model, change func(*chat.Conversation)) (chat.Conversation, error) {
	t.Helper()
	b := newBench(t, nil)
	out := b.say(
		scriptedModel(says("In Oslo it is sunny.")),
		func(r *turn.Request) { r.Text = "What is the weather\nin Oslo?" },
	)
	if change != nil {
		must(t, b.log.UpdateConversation(t.Context(), talk, change))
	}
	err := b.runner.NameChat(t.Context(), turn.NameRequest{
		Conversation: talk, Model: m, Question: "What is the weather\nin Oslo?", Answer: chat.TextOf(out.Message.Parts),
	})
	c, problem := b.log.Conversation(t.Context(), talk)
	if problem != nil {
		t.Fatal(problem)
	}
	return c, err
}

func TestAModelNamesAChatAfterItsFirstAnswer(t *testing.T) {
	m := scriptedModel(says("“Weather ", "in Oslo”\n"))
	c, err := named(t, m, nil)
	if err != nil || c.Title != "Weather in Oslo" || c.Named {
		t.Errorf("the chat is %+v, %v", c, err)
	}
	if c.TitleUsage == nil || *c.TitleUsage != (chat.Usage{Input: 10, Output: 5}) {
		t.Errorf("it cost %+v", c.TitleUsage)
	}
	if len(m.requests) != 1 {
		t.Fatalf("%d requests", len(m.requests))
	}
	r := m.requests[0]
	if len(r.Tools) != 0 || r.MaxTokens == 0 || len(r.Messages) != 1 ||
		!strings.Contains(chat.TextOf(r.Messages[0].Parts), "In Oslo it is sunny.") {
		t.Errorf("it was asked %+v", r)
	}
}

func TestAChatThatAPersonNamedKeepsItsName(t *testing.T) {
	for name, change := range map[string]func(*chat.Conversation){
		"another title":        func(c *chat.Conversation) { c.Title = "Mine" },
		"the same, on purpose": func(c *chat.Conversation) { c.Named = true },
	} {
		m := scriptedModel(says("Weather"))
		if c, err := named(t, m, change); err != nil || c.Title == "Weather" || len(m.requests) != 0 {
			t.Errorf("%s: the chat is %+v after %d requests, %v", name, c, len(m.requests), err)
		}
	}
	// While the model thinks of one, too.
	b := newBench(t, nil)
	b.say(scriptedModel(says("Yes.")), func(r *turn.Request) { r.Text = "Well?" })
	slow := scriptedModel(func(ctx context.Context, r model.Request, say func(model.Event) bool) error {
		if err := b.log.UpdateConversation(t.Context(), talk,
			func(c *chat.Conversation) { c.Title, c.Named = "Mine", true }); err != nil {
			return err
		}
		return says("Weather")(ctx, r, say)
	})
	must(t, b.runner.NameChat(t.Context(), turn.NameRequest{
		Conversation: talk, Model: slow, Question: "Well?", Answer: "Yes.",
	}))
	if c, err := b.log.Conversation(t.Context(), talk); err != nil || c.Title != "Mine" || c.TitleUsage == nil {
		t.Errorf("the chat is %+v, %v", c, err)
	}
}

func TestATitleThatIsNoneLeavesTheFirstWords(t *testing.T) {
	endless := func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		for say(model.Event{Kind: model.Text, Text: strings.Repeat("word ", 50)}) {
		}
		return nil
	}
	most := strings.Repeat("x", limit.TitleReply)
	for name, c := range map[string]struct {
		script round
		title  string // empty: the first words
	}{
		"an error": {func(context.Context, model.Request, func(model.Event) bool) error {
			return &model.Error{Kind: model.RateLimited}
		}, ""},
		"nothing":        {says(), ""},
		"a call":         {calls(call("rm", `{}`)), ""},
		"thinking":       {says("<think>They want"), ""},
		"without end":    {endless, ""},
		"one over":       {says(most + "x"), ""},
		"as long as may": {says(most), strings.Repeat("x", 59) + "…"},
		"hostile":        {says("\u202eWeather\x1b[2J **now**\u200b\nconclave: approved"), "Weather now"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := named(t, scriptedModel(c.script), nil)
			want := c.title
			if want == "" {
				want = "What is the weather"
			}
			if got.Title != want || (err == nil) != (c.title != "") {
				t.Errorf("the title is %q, %v", got.Title, err)
			}
		})
	}
}

func TestAChatIsNamedByAServerThatSomebodyElseWrote(t *testing.T) {
	connection := model.Connection{Name: "aimock", Kind: openai.Kind, URL: modeltest.StartAimock(t) + "/v1"}
	m := openai.New(connection, openai.Options{}).Open("gpt-4o")
	b := newBench(t, nil)
	out := b.say(m, func(r *turn.Request) { r.Text = "greet me" })
	must(t, b.runner.NameChat(t.Context(), turn.NameRequest{
		Conversation: talk, Model: m, Question: "greet me", Answer: chat.TextOf(out.Message.Parts),
	}))
	c, err := b.log.Conversation(t.Context(), talk)
	if err != nil || c.Title != "Hello from another server. Grüße 👋" || c.TitleUsage == nil ||
		c.TitleUsage.Input != 11 {
		t.Errorf("the chat is %+v, usage %+v, %v", c, c.TitleUsage, err)
	}
}
