package deliberation

import (
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/model"
)

// What a cap of money is reckoned with: a request has whatever is attached, and what tools answered.
func TestARequestIsReckonedWithItsFilesAndResults(t *testing.T) {
	picture := chat.Part{Kind: chat.PartMedia, Media: &chat.Media{MIME: "image/png", Size: 90_000}}
	file := chat.Part{Kind: chat.PartMedia, Media: &chat.Media{MIME: "application/pdf", Size: 40_000}}
	const text, arguments, found = "What is on it?", `{"name":"of the boat"}`, "A boat in the harbour of Oslo."
	path := []chat.Message{
		{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(text), picture, file}},
		{Role: chat.RoleAssistant, Parts: []chat.Part{
			{Kind: chat.PartReasoning, Text: "Let me see."},
			{Kind: chat.PartToolCall, Call: &chat.ToolCall{Tool: "look", Arguments: []byte(arguments)}},
		}},
		{Role: chat.RoleTool, Parts: []chat.Part{
			{Kind: chat.PartToolResult, Result: &chat.ToolResult{Content: []chat.Part{chat.TextPart(found), picture}}},
		}},
	}
	want := model.Tokens(text) + model.Tokens(arguments) + model.Tokens(found) + 2*1000 + 10_000
	s := &session{council: council.Default(), path: path}
	if got := s.maxAnswerUsage().Input; got != want {
		t.Errorf("of the answer it is reckoned with %d tokens, want %d", got, want)
	}
	request := model.Request{}
	for _, m := range path {
		request.Messages = append(request.Messages, model.Message{Role: m.Role, Parts: m.Parts})
	}
	if got := tokensOf(request); got != want+model.Tokens("Let me see.") {
		t.Errorf("of a member's request it is reckoned with %d tokens, want %d", got, want)
	}
}
