package anthropic

import (
	"encoding/json"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
)

func TestALaterRoundHasTheBodyOfAFreshClient(t *testing.T) {
	p := New(model.Connection{Name: "a"}, Options{})
	text := func(role chat.Role, text string) model.Message {
		return model.Message{Role: role, Parts: []chat.Part{chat.TextPart(text)}}
	}
	called := model.Message{Role: chat.RoleAssistant, Parts: []chat.Part{{
		Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "c", Tool: "t", Arguments: json.RawMessage(`{"a":1}`)},
	}}}
	result := model.Message{Role: chat.RoleTool, Parts: []chat.Part{{
		Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: "c", Content: []chat.Part{chat.TextPart("one")}},
	}}}
	all := []model.Message{
		text(chat.RoleUser, "Hi."), text(chat.RoleAssistant, " "), text(chat.RoleUser, "Are you there?"), called, result,
		text(chat.RoleUser, "And?"), text(chat.RoleAssistant, "Yes."), text(chat.RoleUser, "Good."),
	}
	kept := p.Open("claude-sonnet-4-5").(*client)
	for n := range len(all) + 1 {
		r := model.Request{System: "Be brief.", Messages: all[:n]}
		got, err := kept.body(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Open("claude-sonnet-4-5").(*client).body(r)
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Bytes()) != string(want.Bytes()) || !json.Valid(got.Bytes()) {
			t.Errorf("%d messages: got %s, want %s", n, got.Bytes(), want.Bytes())
		}
	}
}
