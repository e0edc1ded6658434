package turn

import (
	"context"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
)

// request builds the request of a round from the part of the visible path that fits the model.
func (t *run) request(ctx context.Context) model.Request {
	extent{t}.place(ctx)
	request := model.Request{
		System: guided(t.system, t.req.Tools), Tools: t.toolSearch().definitions(),
		Messages:    withSummary(t.history.messages(ctx, t.turn, t.begins.of(t.path)), t.begins.summed),
		Temperature: t.asking.Temperature, MaxTokens: t.asking.MaxTokens,
	}
	if len(t.taken) > 0 && t.round == 1 {
		t.history.resume(ctx, t.turn, t.taken, &request)
	}
	return request
}

// history makes the messages of a request to a model from those of a chat.
type history struct {
	model string // "connection/model"
	files files
}

// messages returns what a model gets of a path in a turn, valid for every provider: what a person sees
// and has not hidden; each call that was made followed by exactly one result, made up where there
// never was one; neighbours of one role in one message.
func (h *history) messages(ctx context.Context, turn string, path []chat.Message) []model.Message {
	var out []model.Message
	add := func(role chat.Role, parts []chat.Part) {
		if len(parts) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			last := &out[n-1]
			last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], parts...)
			return
		}
		out = append(out, model.Message{Role: role, Parts: parts})
	}
	h.files.begin(ctx, turn, path)
	for i, m := range path {
		if m.Hidden {
			continue
		}
		switch m.Role {
		case chat.RoleUser:
			add(chat.RoleUser, h.content(ctx, m.Turn, m.Parts))
		case chat.RoleAssistant:
			add(chat.RoleAssistant, h.answer(ctx, m))
			add(chat.RoleTool, h.results(ctx, m, path[i+1:]))
		case chat.RoleTool, chat.RoleSystem:
			// Results go with their calls; the system text is the conversation's.
		}
	}
	return out
}

// madeCalls returns the calls of a message that were made: those of an answer that was stopped or
// failed while it was written never were.
func madeCalls(m *chat.Message) []*chat.ToolCall {
	if m.State != chat.Complete {
		return nil
	}
	return callsOf(m)
}

// answer returns what a model gets of an earlier answer. Thinking goes back only to the model that
// thought it, and only when that wants it back.
func (h *history) answer(ctx context.Context, m chat.Message) []chat.Part {
	var parts []chat.Part
	for _, p := range m.Parts {
		switch p.Kind {
		case chat.PartText:
			if strings.TrimSpace(p.Text) != "" {
				parts = append(parts, p)
			}
		case chat.PartReasoning:
			if m.State == chat.Complete && m.Model == h.model && p.Vendor != nil {
				parts = append(parts, p)
			}
		case chat.PartToolCall:
			if m.State == chat.Complete {
				parts = append(parts, p)
			}
		case chat.PartMedia:
			parts = append(parts, h.files.part(ctx, m.Turn, p))
		}
	}
	return parts
}

// results returns one result for each call of an answer, in the order of the
// calls, from the messages that follow it.
func (h *history) results(ctx context.Context, m chat.Message, rest []chat.Message) []chat.Part {
	calls := madeCalls(&m)
	if len(calls) == 0 {
		return nil
	}
	given := resultsIn(rest)
	parts := make([]chat.Part, 0, len(calls))
	for _, call := range calls {
		result := chat.ToolResult{
			CallID: call.ID, Tool: call.Tool, Status: chat.CallCancelled, IsError: true,
			Content: []chat.Part{chat.TextPart("Cancelled: the answer ended before this call did")},
		}
		if known, ok := given[call.ID]; ok {
			result = *known
			if result.Content = h.content(ctx, m.Turn, known.Content); len(result.Content) == 0 {
				result.Content = []chat.Part{chat.TextPart("(no output)")} // some providers refuse an empty result
			}
		}
		parts = append(parts, chat.Part{Kind: chat.PartToolResult, Result: &result})
	}
	return parts
}

// resultsIn returns the results in the tool messages that messages begin with,
// by call.
func resultsIn(messages []chat.Message) map[string]*chat.ToolResult {
	found := map[string]*chat.ToolResult{}
	for _, m := range messages {
		if m.Role != chat.RoleTool {
			break
		}
		if m.Hidden {
			continue
		}
		for _, p := range m.Parts {
			if p.Result != nil {
				found[p.Result.CallID] = p.Result
			}
		}
	}
	return found
}

// openCalls returns the last answer of a path and those of its calls that have no
// result, when nothing but results follows it.
func openCalls(path []chat.Message) (int, []*chat.ToolCall) {
	for i := len(path) - 1; i >= 0; i-- {
		m := &path[i]
		if m.Role == chat.RoleTool {
			continue
		}
		if m.Role != chat.RoleAssistant || m.Hidden {
			return 0, nil
		}
		given := resultsIn(path[i+1:])
		var open []*chat.ToolCall
		for _, call := range madeCalls(m) {
			if given[call.ID] == nil {
				open = append(open, call)
			}
		}
		return i, open
	}
	return 0, nil
}

// content returns text and media of a turn as they are sent.
func (h *history) content(ctx context.Context, turn string, parts []chat.Part) []chat.Part {
	var out []chat.Part
	for _, p := range parts {
		switch {
		case p.Kind == chat.PartText && p.Text != "":
			out = append(out, p)
		case p.Kind == chat.PartMedia && p.Media != nil:
			out = append(out, h.files.part(ctx, turn, p))
		}
	}
	return out
}
