package openai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// vendor is kept in chat.Part.Vendor under Kind: what a server sent with an answer, and gets
// back as it came.
type vendor struct {
	Host string `json:"host"` // whose it is; others never get it
	// the name under which the part's text goes back: reasoning_content, reasoning
	Field   string                     `json:"field,omitempty"`
	Details []json.RawMessage          `json:"details,omitempty"` // OpenRouter's reasoning_details
	Call    map[string]json.RawMessage `json:"call,omitempty"`    // members of the call, as Gemini's extra_content
	Message map[string]json.RawMessage `json:"message,omitempty"` // members of the message
	Drawn   bool                       `json:"drawn,omitempty"`   // the part is a picture among the message's images
}

// body returns the JSON of a request. Messages that the last one held are not encoded again.
func (m *client) body(r model.Request, shuns map[string]bool) (model.Body, error) {
	encode := func(to []byte, one model.Message) ([]byte, error) {
		if len(shuns) == 0 {
			if out := appendPlain(to, one); out != nil {
				return out, nil
			}
		}
		return appendMessages(to, m.messages(one, shuns))
	}
	var system []byte
	if r.System != "" {
		var err error
		if system, err = sdk.SystemMessage(r.System).MarshalJSON(); err != nil {
			return nil, err
		}
	}
	rest := m.parameters(r, shuns)
	rest.SetExtraFields(map[string]any{"stream": true})
	data, err := rest.MarshalJSON()
	if err != nil {
		return nil, err
	}
	under := strings.Join(slices.Sorted(maps.Keys(shuns)), " ")
	return m.encoded.Body(r.Messages, system, data, under, encode)
}

// appendMessages appends messages as the elements of an array.
func appendMessages(to []byte, messages []sdk.ChatCompletionMessageParamUnion) ([]byte, error) {
	for i, one := range messages {
		raw, err := one.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, raw...)
	}
	return to, nil
}

// appendPlain appends a message of nothing but text as the SDK writes it, and returns nil for the others. A
// long chat consists of them, and the SDK's way is ten times as long.
func appendPlain(to []byte, m model.Message) []byte {
	if m.Role != chat.RoleUser && m.Role != chat.RoleAssistant || len(m.Parts) == 0 {
		return nil
	}
	for _, p := range m.Parts {
		if p.Kind != chat.PartText || p.Vendor != nil || m.Role == chat.RoleAssistant && p.Text == "" {
			return nil
		}
	}
	to = model.AppendText(append(to, `{"content":`...), chat.TextOf(m.Parts))
	return append(append(append(to, `,"role":"`...), m.Role...), `"}`...)
}

// parameters builds the body but for its messages. Parameters in shuns were refused by this model
// before and are left out.
func (m *client) parameters(r model.Request, shuns map[string]bool) sdk.ChatCompletionNewParams {
	body := sdk.ChatCompletionNewParams{Model: m.id}
	if !shuns["stream_options"] {
		body.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if r.MaxTokens > 0 {
		// OpenAI's newer models refuse max_tokens; look-alikes know nothing else.
		if m.p.own() != shuns["max_tokens"] {
			body.MaxCompletionTokens = param.NewOpt(r.MaxTokens)
		} else {
			body.MaxTokens = param.NewOpt(r.MaxTokens)
		}
	}
	if r.Temperature != nil && !shuns["temperature"] {
		body.Temperature = param.NewOpt(*r.Temperature)
	}
	if r.TopP != nil && !shuns["top_p"] {
		body.TopP = param.NewOpt(*r.TopP)
	}
	if effort := effort(r.Reasoning); effort != "" && !shuns["reasoning_effort"] {
		body.ReasoningEffort = effort
	}
	if r.NoCalls && (m.p.options.NoToolChoice || shuns["tool_choice"]) {
		return body
	}
	for _, t := range r.Tools {
		function := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			function.Description = param.NewOpt(t.Description)
		}
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		// As it is: the SDK's map would sort the properties, and authors order them.
		function.SetExtraFields(map[string]any{"parameters": schema})
		body.Tools = append(body.Tools, sdk.ChatCompletionFunctionTool(function))
	}
	if len(r.Tools) > 0 && r.NoCalls {
		body.ToolChoice.OfAuto = param.NewOpt("none")
	}
	if len(r.Tools) > 0 && r.MustCall && !m.p.options.NoToolChoice && !shuns["tool_choice"] {
		body.ToolChoice.OfAuto = param.NewOpt("required")
	}
	return body
}

func effort(wish string) shared.ReasoningEffort {
	switch wish {
	case "off":
		return shared.ReasoningEffortNone
	case "low", "medium", "high":
		return shared.ReasoningEffort(wish)
	}
	return ""
}

// messages returns what the wire has for one message.
func (m *client) messages(message model.Message, shuns map[string]bool) []sdk.ChatCompletionMessageParamUnion {
	switch message.Role {
	case chat.RoleUser:
		return []sdk.ChatCompletionMessageParamUnion{user(message.Parts)}
	case chat.RoleAssistant:
		if assistant, ok := m.assistant(message.Parts, shuns); ok {
			return []sdk.ChatCompletionMessageParamUnion{assistant}
		}
	case chat.RoleTool:
		return results(message.Parts)
	}
	return nil
}

func user(parts []chat.Part) sdk.ChatCompletionMessageParamUnion {
	media := false
	for _, p := range parts {
		media = media || p.Kind == chat.PartMedia
	}
	if !media { // many look-alikes read nothing but a string
		return sdk.UserMessage(chat.TextOf(parts))
	}
	return sdk.UserMessage(contents(parts))
}

// contents are text and pictures. A picture travels as a data URL; another file
// is named, since it cannot.
func contents(parts []chat.Part) []sdk.ChatCompletionContentPartUnionParam {
	var out []sdk.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		switch {
		case p.Kind == chat.PartText:
			out = append(out, sdk.TextContentPart(p.Text))
		case p.Kind == chat.PartMedia && isPicture(p.Media):
			out = append(out, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
				URL: "data:" + p.Media.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Media.Data),
			}))
		case p.Kind == chat.PartMedia:
			out = append(out, sdk.TextContentPart(model.Placeholder(p.Media)))
		}
	}
	return out
}

func isPicture(m *chat.Media) bool {
	return m != nil && strings.HasPrefix(m.MIME, "image/") && len(m.Data) > 0
}

// assistant returns what the model said, with what the same server sent with it, as it
// came. Thinking goes back with calls, where DeepSeek and others want it; where a
// refusal asked for it, with every message.
func (m *client) assistant(parts []chat.Part, shuns map[string]bool) (sdk.ChatCompletionMessageParamUnion, bool) {
	var message sdk.ChatCompletionAssistantMessageParam
	extra, thoughts := map[string]any{}, map[string]string{}
	var images []sdk.ChatCompletionContentPartUnionParam
	text := chat.TextOf(parts)
	for _, p := range parts {
		var v vendor
		if json.Unmarshal(p.Vendor[Kind], &v) != nil || v.Host != m.p.link.Host() {
			v = vendor{}
		}
		for name, value := range v.Message {
			if !shuns[name] {
				extra[name] = value
			}
		}
		switch p.Kind {
		case chat.PartMedia: // the wire has no pictures here, unless the server began with it
			if v.Drawn && isPicture(p.Media) && !shuns["images"] {
				images = append(images, contents([]chat.Part{p})...)
			} else {
				text = strings.TrimPrefix(text+"\n\n"+model.Placeholder(p.Media), "\n\n")
			}
		case chat.PartToolCall:
			message.ToolCalls = append(message.ToolCalls, toolCall(p.Call, v, shuns))
		case chat.PartReasoning:
			if len(v.Details) > 0 && !shuns["reasoning_details"] {
				extra["reasoning_details"] = v.Details
			} else if v.Field != "" {
				thoughts[v.Field] += p.Text
			}
		}
	}
	for _, field := range thinkingNames {
		thought := thoughts[field]
		switch {
		case shuns[field]:
		case shuns[everywhere+field], thought != "" && len(message.ToolCalls) > 0:
			extra[field] = thought
		}
	}
	// A message of calls alone has an empty text: some servers refuse null, and its absence.
	if len(images) > 0 {
		extra["images"] = images
	}
	if text != "" || len(images) > 0 || len(message.ToolCalls) > 0 && !shuns["content"] {
		message.Content.OfString = param.NewOpt(text)
	} else if len(message.ToolCalls) == 0 {
		return sdk.ChatCompletionMessageParamUnion{}, false
	}
	if len(extra) > 0 {
		message.SetExtraFields(extra)
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &message}, true
}

func toolCall(c *chat.ToolCall, v vendor, shuns map[string]bool) sdk.ChatCompletionMessageToolCallUnionParam {
	call := sdk.ChatCompletionMessageFunctionToolCallParam{
		ID: callID(c.ID),
		Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
			Name: c.Tool, Arguments: model.ArgumentText(c),
		},
	}
	extra := map[string]any{}
	for name, value := range v.Call {
		if !shuns[name] {
			extra[name] = value
		}
	}
	if len(extra) > 0 {
		call.SetExtraFields(extra)
	}
	return sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &call}
}

// results are one message per result, and the pictures of all of them in one
// message of the person after these: the wire has no pictures in results.
func results(parts []chat.Part) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	var pictures []sdk.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		if p.Result == nil {
			continue
		}
		var text []string
		for _, c := range p.Result.Content {
			switch {
			case c.Kind == chat.PartText:
				text = append(text, c.Text)
			case isPicture(c.Media):
				n := len(pictures)/2 + 1
				text = append(text, fmt.Sprintf("[picture %d, in the next message]", n))
				pictures = append(pictures,
					sdk.TextContentPart(fmt.Sprintf("Picture %d, %sfrom the tool %s:", n, index(c.Media), p.Result.Tool)))
				pictures = append(pictures, contents([]chat.Part{c})...)
			case c.Media != nil:
				text = append(text, model.Placeholder(c.Media))
			}
		}
		out = append(out, sdk.ToolMessage(strings.Join(text, "\n"), callID(p.Result.CallID)))
	}
	if len(pictures) > 0 {
		out = append(out, sdk.UserMessage(pictures))
	}
	return out
}

// index is the name under which a result's text speaks of a picture, with a
// comma, or "" (contracts/maibot, section 7.4).
func index(m *chat.Media) string {
	if !strings.HasPrefix(m.Name, "tool_result:") {
		return ""
	}
	return m.Name + ", "
}

// callID returns an id of at most 40 characters, which is all that OpenAI takes;
// ids of other vendors in the same chat may be longer.
func callID(id string) string {
	if len(id) <= 40 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "tc_" + hex.EncodeToString(sum[:16])
}
