package turn

import (
	"encoding/json"
	"strings"

	"conclave/app/chat"
	"conclave/app/gate"
)

// MemberOf returns the name of the council member for whom the main model makes the event's call,
// or "".
func MemberOf(e chat.Event) string {
	if e.Call == nil || !gate.Caller(e.Call.Caller).IsMember() {
		return ""
	}
	return e.Call.CallerName
}

// object is a line of `prompt --json`.
type object map[string]any

// withMember adds the council member for whom a call is made to its line.
func withMember(e chat.Event, line object) object {
	if name := MemberOf(e); name != "" {
		line["member"] = name
	}
	return line
}

// Line returns the event as a line of `prompt --json`, or nil for the kinds that it does not print.
func Line(e chat.Event) any {
	switch e.Kind {
	case chat.EventStarted:
		return object{"type": e.Kind, "turn": e.Turn, "conversation": e.Conversation, "model": e.Model}
	case chat.EventText, chat.EventReasoning:
		return object{"type": e.Kind, "text": e.Text}
	case chat.EventAsked:
		return withMember(e, object{
			"type": e.Kind, "id": e.Call.RequestID, "tool": e.Call.ToolName, "arguments": arguments(e.Call),
		})
	case chat.EventDecided:
		return withMember(e, object{
			"type": e.Kind, "id": e.Call.RequestID, "tool": e.Call.ToolName, "decision": e.Call.Decision,
			"why": e.Call.DecidedBy,
		})
	case chat.EventAnswered:
		return withMember(e, object{
			"type": e.Kind, "id": e.Result.CallID, "tool": e.Result.Tool, "status": e.Result.Status,
			"is_error": e.Result.IsError, "content": contentLine(e.Result.Content), "ms": e.Call.MS,
		})
	case chat.EventUsed:
		line := object{"type": e.Kind, "input_tokens": e.Usage.Input, "output_tokens": e.Usage.Output}
		if e.Usage.Cost > 0 || e.Usage.Priced != "" {
			line["cost"] = e.Usage.Cost
		}
		if e.Usage.Priced != "" {
			line["priced"] = e.Usage.Priced
		}
		return line
	case chat.EventNoted:
		return object{"type": e.Kind, "text": e.Note}
	case chat.EventEnded:
		line := object{"type": e.Kind, "reason": e.Reason, "message": ""}
		if e.Message != nil {
			line["message"] = chat.TextOf(e.Message.Parts)
		}
		if e.Failure != nil {
			line["error"] = e.Failure
		}
		return line
	}
	return nil
}

// contentLine returns the content of a tool's result as `prompt --json` has it.
func contentLine(parts []chat.Part) []object {
	content := []object{}
	for _, p := range parts {
		if p.Kind == chat.PartMedia {
			content = append(content, object{"type": mediaType(p.Media.MIME), "mime_type": p.Media.MIME, "media": p.Media.ID})
			continue
		}
		content = append(content, object{"type": "text", "text": p.Text})
	}
	return content
}

// mediaType returns the type of a content block, as in `tools call --json`.
func mediaType(mime string) string {
	kind, _, _ := strings.Cut(mime, "/")
	if kind == "image" || kind == "audio" {
		return kind
	}
	return "file"
}

func arguments(r *chat.CallRecord) json.RawMessage {
	if len(r.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return r.Arguments
}
