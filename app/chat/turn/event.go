package turn

import (
	"encoding/json"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
)

// EventKind says what an Event is.
type EventKind string

// The kinds of events. Those of the command line's JSON lines keep their names
// there, and are public; the others are for a window that shows what is going on.
const (
	Started          EventKind = "turn_started"  // Turn, Conversation, Model, Answers
	Questioned       EventKind = "question"      // Seq: the person's message was saved
	Waiting          EventKind = "waiting"       // a request went to the model; Round
	Retrying         EventKind = "retrying"      // Note: why, and for how long
	Begun            EventKind = "message_begun" // Seq, Parent: an assistant message exists
	Text             EventKind = "text"          // Seq, Text
	Reasoning        EventKind = "reasoning"     // Seq, Text
	Proposed         EventKind = "call_proposed" // Seq, Call.RequestID, Call.ToolName: arguments still come
	Asked            EventKind = "tool_call"     // Seq, Call: on record; not decided
	AwaitingApproval EventKind = "call_held"     // Call, Request: a person is asked
	Decided          EventKind = "permission"    // Call, Decision
	Running          EventKind = "call_running"  // Call
	Progress         EventKind = "call_progress" // Call, Note
	Answered         EventKind = "tool_result"   // Call, Result
	Saved            EventKind = "message_saved" // Seq: an assistant or tool message is whole
	Used             EventKind = "usage"         // Usage of one request
	Replied          EventKind = "replied"       // Calls: the model has answered one request
	Noted            EventKind = "note"          // Note: a sentence for the person; Kept, Seq: the question's that has it
	Ended            EventKind = "turn_ended"    // Reason, Seq of the last message, Message

	// Those of package conversation, which knows what goes on around a turn.
	Stopping EventKind = "stopping" // it was told to stop
	Over     EventKind = "over"     // the chat is free for the next turn
)

// Event reports one thing that happened in a turn. Kind says which fields count. It
// does not change after it was sent.
type Event struct {
	Kind         EventKind
	Turn         string
	Conversation chat.ConversationID
	Model        string // "connection/model"
	Answers      string // what is answered, as in hook.TurnInfo.Kind
	Seq          chat.MessageSeq
	Parent       chat.MessageSeq // Begun: the message that it follows
	Round        int
	Text         string // Started: what the person says
	Note         string
	Kept         bool   // Noted: it is kept with the message of the answer that is written next
	Attachments  int    // Started: with how many
	Asks         *Asks  // Waiting: what the model is asked
	Retry        *Retry // Retrying
	Calls        int    // Replied: how many it asks for
	Call         *chat.CallRecord
	Result       *chat.ToolResult
	Request      string // Held: the gate's
	Decision     *gate.Decision
	Usage        chat.Usage
	Reason       chat.EndReason
	Message      *chat.Message // Ended: the last message of the turn, or nil
	Failure      *chat.Failure // Ended with reason error
}

// Asks holds what one request asks a model, as far as it can be counted.
type Asks struct {
	Messages, Tools int
	MaxTokens       int64
	Temperature     *float64 // nil is the vendor's
}

// Retry is a request that failed and is made again.
type Retry struct {
	Attempt int           // that failed, from 1
	Most    int           // requests in all
	Wait    time.Duration // until the next
	Error   string        // why it failed, as a sentence
}

// Member returns the name of the council member for whom the main model makes the event's call, or "".
func (e Event) Member() string {
	if e.Call == nil || !gate.Caller(e.Call.Caller).IsMember() {
		return ""
	}
	return e.Call.CallerName
}

// object is a line of `prompt --json`.
type object map[string]any

// forMember adds for which member of the council a call is made, where it is for one.
func (e Event) forMember(line object) object {
	if name := e.Member(); name != "" {
		line["member"] = name
	}
	return line
}

// Line returns the event as a line of `prompt --json`, or nil for the kinds that
// are the window's only.
func (e Event) Line() any {
	switch e.Kind {
	case Started:
		return object{"type": e.Kind, "turn": e.Turn, "conversation": e.Conversation, "model": e.Model}
	case Text, Reasoning:
		return object{"type": e.Kind, "text": e.Text}
	case Asked:
		return e.forMember(object{
			"type": e.Kind, "id": e.Call.RequestID, "tool": e.Call.ToolName, "arguments": arguments(e.Call),
		})
	case Decided:
		return e.forMember(object{
			"type": e.Kind, "id": e.Call.RequestID, "tool": e.Call.ToolName, "decision": e.Call.Decision,
			"why": e.Call.DecidedBy,
		})
	case Answered:
		content := []object{}
		for _, p := range e.Result.Content {
			if p.Kind == chat.PartMedia {
				content = append(content, object{"type": mediaType(p.Media.MIME), "mime_type": p.Media.MIME, "media": p.Media.ID})
				continue
			}
			content = append(content, object{"type": "text", "text": p.Text})
		}
		return e.forMember(object{
			"type": e.Kind, "id": e.Result.CallID, "tool": e.Result.Tool, "status": e.Result.Status,
			"is_error": e.Result.IsError, "content": content, "ms": e.Call.MS,
		})
	case Used:
		line := object{"type": e.Kind, "input_tokens": e.Usage.Input, "output_tokens": e.Usage.Output}
		if e.Usage.Cost > 0 || e.Usage.Priced != "" {
			line["cost"] = e.Usage.Cost
		}
		if e.Usage.Priced != "" {
			line["priced"] = e.Usage.Priced
		}
		return line
	case Noted:
		return object{"type": e.Kind, "text": e.Note}
	case Ended:
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

// mediaType is the type of a content block, as `tools call --json` has it.
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
