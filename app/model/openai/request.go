package openai

import (
	"bytes"
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
		if system, err = appendMessages(nil, []message{{Content: r.System, Role: chat.RoleSystem}}); err != nil {
			return nil, err
		}
	}
	rest, err := appendObject(nil, m.parameters(r, shuns), nil)
	if err != nil {
		return nil, err
	}
	under := strings.Join(slices.Sorted(maps.Keys(shuns)), " ")
	return m.encoded.Body(r.Messages, model.Envelope{Member: "messages", First: system, Rest: rest, Under: under}, encode)
}

// The shapes of a request, in the order of members that OpenAI's own library writes: servers that know the
// beginning of a request again compare bytes.
type (
	// message is one message. Content is a text or a list of contents; nil is left out.
	message struct {
		Content    any        `json:"content,omitempty"`
		ToolCalls  []toolCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
		Role       chat.Role  `json:"role"`

		extra map[string]any // further members
	}

	// content is a text or a picture.
	content struct {
		Text  *string   `json:"text,omitempty"`
		Image *imageURL `json:"image_url,omitempty"`
		Type  string    `json:"type"`
	}

	imageURL struct {
		URL string `json:"url"`
	}

	// toolCall is a call that the model made.
	toolCall struct {
		ID       string         `json:"id"`
		Function calledFunction `json:"function"`
		Type     string         `json:"type"`

		extra map[string]any // further members
	}

	calledFunction struct {
		Arguments string `json:"arguments"`
		Name      string `json:"name"`
	}

	// parameters are the members of a request but for its messages.
	parameters struct {
		Model               string         `json:"model"`
		MaxCompletionTokens int64          `json:"max_completion_tokens,omitempty"`
		MaxTokens           int64          `json:"max_tokens,omitempty"`
		Temperature         *float64       `json:"temperature,omitempty"`
		TopP                *float64       `json:"top_p,omitempty"`
		ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
		StreamOptions       *streamOptions `json:"stream_options,omitempty"`
		ToolChoice          string         `json:"tool_choice,omitempty"`
		Tools               []tool         `json:"tools,omitempty"`
		Stream              bool           `json:"stream"`
	}

	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}

	// tool is a function that the model may call.
	tool struct {
		Function function `json:"function"`
		Type     string   `json:"type"`
	}

	// function has its schema as it is: authors order the properties.
	function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// MarshalJSON writes the call with its further members.
func (c toolCall) MarshalJSON() ([]byte, error) {
	type plain toolCall
	return appendObject(nil, plain(c), c.extra)
}

// appendObject appends the JSON of value, which has members, and behind these the members of extra.
func appendObject(to []byte, value any, extra map[string]any) ([]byte, error) {
	out := bytes.NewBuffer(to)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	out.Truncate(out.Len() - 1) // the end of the line
	if len(extra) == 0 {
		return out.Bytes(), nil
	}
	last := out.Len() - 1 // the bracket
	out.WriteByte('\n')
	if err := e.Encode(extra); err != nil {
		return nil, err
	}
	all := out.Bytes()[:out.Len()-1]
	return append(append(all[:last], ','), all[last+len("}\n{"):]...), nil
}

// appendMessages appends messages as the elements of an array.
func appendMessages(to []byte, messages []message) ([]byte, error) {
	for i, one := range messages {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = appendObject(to, one, one.extra); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// appendPlain appends a message of nothing but text as appendMessages writes it, and returns nil for the
// others. A long chat consists of them, and reflection takes ten times as long.
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
func (m *client) parameters(r model.Request, shuns map[string]bool) parameters {
	body := parameters{Model: m.id, Stream: true}
	if !shuns["stream_options"] {
		body.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if r.MaxTokens > 0 {
		// OpenAI's newer models refuse max_tokens; look-alikes know nothing else.
		if m.p.own() != shuns["max_tokens"] {
			body.MaxCompletionTokens = r.MaxTokens
		} else {
			body.MaxTokens = r.MaxTokens
		}
	}
	if !shuns["temperature"] {
		body.Temperature = r.Temperature
	}
	if !shuns["top_p"] {
		body.TopP = r.TopP
	}
	if !shuns["reasoning_effort"] {
		body.ReasoningEffort = effort(r.Reasoning)
	}
	if r.NoCalls && (m.p.options.NoToolChoice || shuns["tool_choice"]) {
		return body
	}
	for _, t := range r.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, tool{function{t.Name, t.Description, schema}, "function"})
	}
	if len(r.Tools) > 0 && r.NoCalls {
		body.ToolChoice = "none"
	}
	if len(r.Tools) > 0 && r.MustCall && !m.p.options.NoToolChoice && !shuns["tool_choice"] {
		body.ToolChoice = "required"
	}
	return body
}

func effort(wish string) string {
	switch wish {
	case "off":
		return "none"
	case "low", "medium", "high":
		return wish
	}
	return ""
}

// messages returns what the wire has for one message.
func (m *client) messages(one model.Message, shuns map[string]bool) []message {
	switch one.Role {
	case chat.RoleUser:
		return []message{user(one.Parts)}
	case chat.RoleAssistant:
		if assistant, ok := m.assistant(one.Parts, shuns); ok {
			return []message{assistant}
		}
	case chat.RoleTool:
		return results(one.Parts)
	}
	return nil
}

func user(parts []chat.Part) message {
	media := false
	for _, p := range parts {
		media = media || p.Kind == chat.PartMedia
	}
	if !media { // many look-alikes read nothing but a string
		return message{Content: chat.TextOf(parts), Role: chat.RoleUser}
	}
	return message{Content: contents(parts), Role: chat.RoleUser}
}

// contents are text and pictures. A picture travels as a data URL; another file
// is named, since it cannot.
func contents(parts []chat.Part) []content {
	out := []content{}
	for _, p := range parts {
		switch {
		case p.Kind == chat.PartText:
			out = append(out, textContent(p.Text))
		case p.Kind == chat.PartMedia && isPicture(p.Media):
			data := "data:" + p.Media.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Media.Data)
			out = append(out, content{Image: &imageURL{data}, Type: "image_url"})
		case p.Kind == chat.PartMedia:
			out = append(out, textContent(model.Placeholder(p.Media)))
		}
	}
	return out
}

func textContent(text string) content { return content{Text: &text, Type: "text"} }

func isPicture(m *chat.Media) bool {
	return m != nil && strings.HasPrefix(m.MIME, "image/") && len(m.Data) > 0
}

// assistant returns what the model said, with what the same server sent with it, as it
// came. Thinking goes back with calls, where DeepSeek and others want it; where a
// refusal asked for it, with every message.
func (m *client) assistant(parts []chat.Part, shuns map[string]bool) (message, bool) {
	said := message{Role: chat.RoleAssistant}
	extra, thoughts := map[string]any{}, map[string]string{}
	var images []content
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
			said.ToolCalls = append(said.ToolCalls, calledBefore(p.Call, v, shuns))
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
		case shuns[everywhere+field], thought != "" && len(said.ToolCalls) > 0:
			extra[field] = thought
		}
	}
	// A message of calls alone has an empty text: some servers refuse null, and its absence.
	if len(images) > 0 {
		extra["images"] = images
	}
	if text != "" || len(images) > 0 || len(said.ToolCalls) > 0 && !shuns["content"] {
		said.Content = text
	} else if len(said.ToolCalls) == 0 {
		return message{}, false
	}
	said.extra = extra
	return said, true
}

func calledBefore(c *chat.ToolCall, v vendor, shuns map[string]bool) toolCall {
	extra := map[string]any{}
	for name, value := range v.Call {
		if !shuns[name] {
			extra[name] = value
		}
	}
	called := calledFunction{Arguments: model.ArgumentText(c), Name: c.Tool}
	return toolCall{ID: callID(c.ID), Function: called, Type: "function", extra: extra}
}

// results are one message per result, and the pictures of all of them in one
// message of the person after these: the wire has no pictures in results.
func results(parts []chat.Part) []message {
	var out []message
	var pictures []content
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
					textContent(fmt.Sprintf("Picture %d, %sfrom the tool %s:", n, index(c.Media), p.Result.Tool)))
				pictures = append(pictures, contents([]chat.Part{c})...)
			case c.Media != nil:
				text = append(text, model.Placeholder(c.Media))
			}
		}
		id := callID(p.Result.CallID)
		out = append(out, message{Content: strings.Join(text, "\n"), ToolCallID: id, Role: chat.RoleTool})
	}
	if len(pictures) > 0 {
		out = append(out, message{Content: pictures, Role: chat.RoleUser})
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
