package turn

import (
	"context"
	"encoding/json"

	"conclave/app/chat"
	"conclave/app/model"
)

// SentRequest is a request to a model as it can be rebuilt from a chat: it has no key, media are
// described and not included, and tools are not known.
type SentRequest struct {
	Model    string        `json:"model"`
	System   string        `json:"system,omitempty"`
	Messages []SentMessage `json:"messages"`
}

// SentMessage is one message of a SentRequest.
type SentMessage struct {
	Role    chat.Role `json:"role"`
	Content []any     `json:"content"`
}

// RequestBefore rebuilds the request that the assistant message m answered from the visible path up to
// it. It is for messages whose request was not stored as it was sent: the tools and capabilities of the
// model are not known any more.
func (r *Runner) RequestBefore(ctx context.Context, m chat.Message) (SentRequest, error) {
	conversation, err := r.o.Log.Conversation(ctx, m.Conversation)
	if err != nil {
		return SentRequest{}, err
	}
	path, err := r.o.Log.Path(ctx, m.Conversation)
	if err != nil {
		return SentRequest{}, err
	}
	for i := range path {
		if path[i].Seq == m.Seq {
			path = path[:i]
			break
		}
	}
	h := history{m.Model, newFiles(r.o.Files, r.o.Log, m.Model, model.Features{}, func(string) {})}
	messages := h.messages(ctx, "", path)
	out := SentRequest{Model: m.Model, System: conversation.System, Messages: []SentMessage{}}
	for _, sent := range messages {
		shown := SentMessage{Role: sent.Role, Content: []any{}}
		for _, p := range sent.Parts {
			shown.Content = append(shown.Content, shownPart(p))
		}
		out.Messages = append(out.Messages, shown)
	}
	return out, nil
}

func shownPart(p chat.Part) any {
	switch p.Kind {
	case chat.PartToolCall:
		arguments := p.Call.Arguments
		if p.Call.Raw != "" {
			arguments, _ = json.Marshal(p.Call.Raw)
		}
		return map[string]any{"type": p.Kind, "id": p.Call.ID, "tool": p.Call.Tool, "arguments": arguments}
	case chat.PartToolResult:
		return map[string]any{
			"type": p.Kind, "id": p.Result.CallID, "tool": p.Result.Tool, "is_error": p.Result.IsError,
			"text": p.Result.Text(),
		}
	case chat.PartMedia:
		return map[string]any{"type": p.Kind, "mime_type": p.Media.MIME, "name": p.Media.Name, "size": p.Media.Size}
	}
	return map[string]any{"type": p.Kind, "text": p.Text}
}
