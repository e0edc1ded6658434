package service

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"strings"

	"conclave/app/chat"
	"conclave/app/chat/document"
	"conclave/app/model"
	"conclave/app/plugin"
)

// message is one message as a plugin writes it. Content is a text or a list of
// parts.
type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	ToolCalls []toolCall      `json:"tool_calls"`
	CallID    string          `json:"tool_call_id"`
}

type toolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"args"`
}

type toolArg struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type generateArgs struct {
	Messages   []message                  `json:"messages"`
	Connection string                     `json:"connection"`
	Model      string                     `json:"model"`
	Parameters map[string]json.RawMessage `json:"parameters"`
	Tools      []toolArg                  `json:"tools"`
	Reasoning  string                     `json:"reasoning"`
	Request    string                     `json:"request"` // a name to stop it by
	Stream     string                     `json:"stream"`  // a name for its pieces; empty wants none
}

// request makes a request of what a plugin asked.
func (a generateArgs) request() (model.Request, error) {
	r := model.Request{}
	if len(a.Messages) == 0 {
		return r, invalid("A model needs at least one message.")
	}
	var system []string
	for _, m := range a.Messages {
		parts, err := m.parts()
		if err != nil {
			return r, err
		}
		switch m.Role {
		case "system", "developer":
			system = append(system, chat.TextOf(parts))
		case "user":
			r.Messages = model.Join(r.Messages, model.Message{Role: chat.RoleUser, Parts: parts})
		case "assistant":
			for _, c := range m.ToolCalls {
				parts = append(parts, chat.Part{
					Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: c.ID, Tool: c.Name, Arguments: c.Arguments},
				})
			}
			r.Messages = model.Join(r.Messages, model.Message{Role: chat.RoleAssistant, Parts: parts})
		case "tool":
			result := &chat.ToolResult{CallID: m.CallID, Tool: m.Name, Status: chat.CallOK, Content: parts}
			r.Messages = model.Join(r.Messages, model.Message{
				Role: chat.RoleTool, Parts: []chat.Part{{Kind: chat.PartToolResult, Result: result}},
			})
		default:
			return r, invalid("The role of a message is system, user, assistant or tool, not “" + m.Role + "”.")
		}
	}
	if len(r.Messages) == 0 { // some ask with a system text alone
		r.Messages = model.Join(nil, textMessage(chat.RoleUser, strings.Join(system, "\n\n")))
		system = nil
	}
	r.System = strings.Join(system, "\n\n")
	for _, t := range a.Tools {
		if t.Name == "" {
			return r, invalid("A tool for a model needs a name.")
		}
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		r.Tools = append(r.Tools, model.ToolDefinition{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	number := func(names ...string) (float64, bool) {
		for _, name := range names {
			var v float64
			if raw, ok := a.Parameters[name]; ok && json.Unmarshal(raw, &v) == nil {
				return v, true
			}
		}
		return 0, false
	}
	if t, ok := number("temperature"); ok {
		r.Temperature = &t
	}
	if n, ok := number("max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens"); ok && n >= 1 {
		r.MaxTokens = int64(min(n, math.MaxInt32)) // what no whole number holds may become a negative one
	}
	switch a.Reasoning {
	case "off", "low", "medium", "high":
		r.Reasoning = a.Reasoning
	}
	return r, nil
}

// textMessage is a message of one text.
func textMessage(role chat.Role, text string) model.Message {
	return model.Message{Role: role, Parts: []chat.Part{chat.TextPart(text)}}
}

// parts reads the content of a message: a text, or a list of texts and pictures.
func (m message) parts() ([]chat.Part, error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		if text == "" {
			return nil, nil
		}
		return []chat.Part{{Kind: chat.PartText, Text: strings.ToValidUTF8(text, "\uFFFD")}}, nil
	}
	var list []struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Data []byte `json:"data"` // base64 in JSON
		MIME string `json:"mime_type"`
		Kind string `json:"mimeType"`
	}
	if json.Unmarshal(m.Content, &list) != nil {
		return nil, invalid("The content of a message is a text, or a list of parts.")
	}
	var parts []chat.Part
	for _, p := range list {
		switch {
		case p.Text != "":
			parts = append(parts, chat.Part{Kind: chat.PartText, Text: strings.ToValidUTF8(p.Text, "\uFFFD")})
		case len(p.Data) > 0:
			mime := cmp.Or(p.MIME, p.Kind)
			if file := document.Look("", p.Data); file.Kind == document.Picture || mime == "" {
				mime = file.MIME
			}
			media := &chat.Media{MIME: mime, Size: int64(len(p.Data)), Data: p.Data}
			parts = append(parts, chat.Part{Kind: chat.PartMedia, Media: media})
		}
	}
	return parts, nil
}

type countArgs struct {
	Text     string    `json:"text"`
	Messages []message `json:"messages"`
}

// perMessage estimates what a message costs beyond its text.
const perMessage = 4

func count(_ context.Context, _ plugin.Caller, a countArgs) (any, error) {
	total := model.Tokens(a.Text)
	for _, m := range a.Messages {
		parts, err := m.parts()
		if err != nil {
			return nil, err
		}
		total += perMessage
		for _, p := range parts {
			total += model.Tokens(p.Text)
		}
	}
	return map[string]any{"total_tokens": total, "approximate": true}, nil
}

// inputOf estimates how many tokens a request is sent with.
func inputOf(r *model.Request) int64 {
	n := model.Tokens(r.System)
	for _, m := range r.Messages {
		n += perMessage
		for _, p := range m.Parts {
			n += model.Tokens(p.Text)
			if p.Call != nil {
				n += model.Tokens(string(p.Call.Arguments))
			}
			if p.Result != nil {
				n += model.Tokens(chat.TextOf(p.Result.Content))
			}
			if p.Media != nil {
				n += perPicture
			}
		}
	}
	for _, t := range r.Tools {
		n += model.Tokens(t.Description) + model.Tokens(string(t.Parameters))
	}
	return n
}

// perPicture is about what a picture costs, in tokens.
const perPicture = 1000
