package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/chat"
	"conclave/app/model"
)

// block is kept in chat.Part.Vendor under Kind: a list of the
// thinking blocks that belong to a part, as they came. The text is in it, since a
// signature covers the exact text.
type block struct {
	Type      string `json:"type"` // thinking or redacted_thinking
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// The shapes of a request, in the order of members that Anthropic's own library writes: the server's cache
// compares beginnings.
type (
	// parameters are the members of a request but for its messages.
	parameters struct {
		MaxTokens    int64         `json:"max_tokens"`
		Model        string        `json:"model"`
		Temperature  *float64      `json:"temperature,omitempty"`
		TopP         *float64      `json:"top_p,omitempty"`
		OutputConfig *outputConfig `json:"output_config,omitempty"`
		System       []content     `json:"system,omitempty"`
		Thinking     *thinking     `json:"thinking,omitempty"`
		ToolChoice   *choice       `json:"tool_choice,omitempty"`
		Tools        []tool        `json:"tools,omitempty"`
		Stream       bool          `json:"stream"`
	}

	outputConfig struct {
		Effort string `json:"effort"`
	}

	thinking struct {
		Budget  int64  `json:"budget_tokens,omitempty"`
		Type    string `json:"type"`
		Display string `json:"display,omitempty"`
	}

	choice struct {
		Type string `json:"type"`
	}

	tool struct {
		Schema      json.RawMessage `json:"input_schema"` // as its author ordered it
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Cache       *cacheMark      `json:"cache_control,omitempty"`
	}

	// cacheMark says that what stands before it is worth remembering.
	cacheMark struct {
		Type string `json:"type"`
	}

	message struct {
		Content []content `json:"content"`
		Role    string    `json:"role"`
	}

	// content is a block of any kind. Those of a kind that may be empty are pointers.
	content struct {
		ToolUseID string          `json:"tool_use_id,omitempty"`
		IsError   bool            `json:"is_error,omitempty"`
		ID        string          `json:"id,omitempty"`
		Input     json.RawMessage `json:"input,omitempty"`
		Name      string          `json:"name,omitempty"`
		Source    *source         `json:"source,omitempty"`
		Signature *string         `json:"signature,omitempty"`
		Thinking  *string         `json:"thinking,omitempty"`
		Data      *string         `json:"data,omitempty"`
		Text      string          `json:"text,omitempty"`
		Cache     *cacheMark      `json:"cache_control,omitempty"`
		Content   []content       `json:"content,omitempty"`
		Type      string          `json:"type"`
	}

	source struct {
		Data      string `json:"data"`
		MediaType string `json:"media_type"`
		Type      string `json:"type"`
	}
)

// ephemeral is the mark of the cache that lasts minutes.
var ephemeral = &cacheMark{"ephemeral"}

// body returns the JSON of a request. Messages that the last one held are not encoded again. Cache marks
// stand at the end of the tools, of the system text and of the history, which stay the same from one
// request of a chat to the next.
func (m *client) body(r model.Request) (model.Body, error) {
	rest, err := json.Marshal(m.parameters(r))
	if err != nil {
		return nil, err
	}
	history, last := turns(r.Messages), []byte(nil)
	if n := len(history); n > 0 {
		if last, err = appendMessage(nil, history[n-1], true); err != nil {
			return nil, err
		}
		history = history[:n-1]
	}
	return m.encoded.Body(history, model.Envelope{Member: "messages", Last: last, Rest: rest},
		func(to []byte, one model.Message) ([]byte, error) { return appendMessage(to, one, false) })
}

func (m *client) parameters(r model.Request) parameters {
	thinking, effort := m.thinking(r)
	body := parameters{Model: m.id, MaxTokens: r.MaxTokens, Thinking: thinking, Stream: true}
	if effort != "" {
		body.OutputConfig = &outputConfig{effort}
	}
	if body.MaxTokens <= 0 {
		body.MaxTokens = mostTokens(m.id)
	}
	thinks := thinking != nil && thinking.Type != "disabled"
	if thinks && thinking.Budget >= body.MaxTokens { // the budget is part of it, and some must be left to say
		body.MaxTokens = thinking.Budget + 4096
	}
	if !thinks { // refused together with thinking
		switch { // newer models take one of the two
		case r.Temperature != nil:
			body.Temperature = r.Temperature
		case r.TopP != nil:
			body.TopP = r.TopP
		}
	}
	if r.System != "" {
		body.System = []content{{Text: r.System, Cache: ephemeral, Type: "text"}}
	}
	for _, t := range r.Tools {
		definition := tool{Name: t.Name, Description: t.Description, Schema: t.Parameters}
		if len(t.Parameters) == 0 { // the wire wants an object at the top
			definition.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, definition)
	}
	if n := len(body.Tools); n > 0 {
		body.Tools[n-1].Cache = ephemeral
		if r.NoCalls {
			body.ToolChoice = &choice{"none"}
		}
		if r.MustCall && !thinks { // refused together with thinking
			body.ToolChoice = &choice{"any"}
		}
	}
	return body
}

// Budgets of thinking in tokens for models that take a number. 1024 is the least
// the wire allows.
var budgets = map[string]int64{"low": 4096, "medium": 12288, "high": 24576}

// Models before Claude 3.7 do not think; up to 4.5 they take a budget; later ones
// decide themselves and take an effort.
var (
	thoughtless = pattern.Lazy(`^claude-(2|instant|3-(opus|sonnet|haiku|5))`)
	budgeted    = pattern.Lazy(`^claude-(3-7|(opus|sonnet|haiku)-4($|-(0|1|5)($|-)|-20))`)
)

// thinking returns what a request says about thinking, or nil, and the effort that it asks for, or "".
func (m *client) thinking(r model.Request) (config *thinking, effort string) {
	switch {
	case r.Reasoning == "" || thoughtless().MatchString(m.id):
		return nil, ""
	case r.Reasoning == "off":
		return &thinking{Type: "disabled"}, ""
	case unthought(r.Messages):
		return nil, ""
	case budgeted().MatchString(m.id):
		return &thinking{Budget: budgets[r.Reasoning], Type: "enabled"}, ""
	}
	if budgets[r.Reasoning] > 0 { // low, medium or high
		effort = r.Reasoning
	}
	return &thinking{Type: "adaptive", Display: "summarized"}, effort
}

// unthought reports whether the calls being answered were made without thinking,
// by another vendor's model for instance. The wire refuses to begin thinking in
// the middle of them.
func unthought(messages []model.Message) bool {
	for i := len(messages) - 1; i >= 0 && messages[i].Role != chat.RoleUser; i-- {
		if messages[i].Role != chat.RoleAssistant {
			continue
		}
		called := slices.ContainsFunc(messages[i].Parts, func(p chat.Part) bool { return p.Call != nil })
		thought := slices.ContainsFunc(messages[i].Parts, func(p chat.Part) bool { return p.Vendor[Kind] != nil })
		if called && !thought {
			return true
		}
	}
	return false
}

// mostTokens is the limit of an answer if the person set none: the wire
// demands a number and refuses one beyond the model's own limit. The old limits
// are Anthropic's; 32,000 is below that of every model since Claude 4.
func mostTokens(id string) int64 {
	switch {
	case strings.HasPrefix(id, "claude-3-5"):
		return 8192
	case strings.HasPrefix(id, "claude-2"), strings.HasPrefix(id, "claude-instant"), strings.HasPrefix(id, "claude-3-") &&
		!strings.HasPrefix(id, "claude-3-7"):
		return 4096
	}
	return 32000
}

// turns returns the messages that have something to say, as the person's and the model's by turns: results
// and the next question are one here.
func turns(history []model.Message) []model.Message {
	out := make([]model.Message, 0, len(history))
	for _, one := range history {
		if one.Role != chat.RoleAssistant {
			one.Role = chat.RoleUser
		}
		if !slices.ContainsFunc(one.Parts, says) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == one.Role {
			out[n-1].Parts = slices.Concat(out[n-1].Parts, one.Parts)
			continue
		}
		out = append(out, one)
	}
	return out
}

// says reports whether a part has a block.
func says(p chat.Part) bool {
	return p.Kind == chat.PartText && strings.TrimSpace(p.Text) != "" || len(blocks(p)) > 0
}

// appendMessage appends the JSON of a message, with the cache mark on its last block if it is the last.
func appendMessage(to []byte, one model.Message, last bool) ([]byte, error) {
	out := message{Role: string(one.Role)}
	for _, p := range one.Parts {
		if one.Role == chat.RoleAssistant && p.Kind == chat.PartMedia { // the wire takes pictures of a person alone
			p = chat.TextPart(model.Placeholder(p.Media))
		}
		out.Content = append(out.Content, blocks(p)...)
	}
	if n := len(out.Content); last && n > 0 {
		if block := &out.Content[n-1]; block.Thinking == nil && block.Data == nil { // thinking carries no mark
			block.Cache = ephemeral
		}
	}
	raw, err := json.Marshal(out)
	return append(to, raw...), err
}

// blocks are the blocks of one part, with the thinking that belongs to it.
func blocks(p chat.Part) []content {
	var out []content
	switch p.Kind {
	case chat.PartText:
		if strings.TrimSpace(p.Text) != "" { // an empty text block is refused
			out = append(out, textBlock(p.Text))
		}
	case chat.PartMedia:
		out = append(out, media(p.Media))
	case chat.PartToolCall:
		arguments := p.Call.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		out = append(out, content{ID: callID(p.Call.ID), Input: arguments, Name: p.Call.Tool, Type: "tool_use"})
	case chat.PartToolResult:
		out = append(out, result(p.Result))
	}
	var kept []block
	if len(p.Vendor[Kind]) > 0 && json.Unmarshal(p.Vendor[Kind], &kept) == nil {
		for _, b := range kept {
			switch b.Type {
			case "thinking":
				out = append(out, content{Signature: &b.Signature, Thinking: &b.Thinking, Type: b.Type})
			case "redacted_thinking":
				out = append(out, content{Data: &b.Data, Type: b.Type})
			}
		}
	}
	return out
}

func textBlock(text string) content { return content{Text: text, Type: "text"} }

func media(m *chat.Media) content {
	if !isPicture(m) {
		return textBlock(model.Placeholder(m))
	}
	data := base64.StdEncoding.EncodeToString(m.Data)
	return content{Source: &source{Data: data, MediaType: m.MIME, Type: "base64"}, Type: "image"}
}

// isPicture reports whether m is of the four types the wire takes.
func isPicture(m *chat.Media) bool {
	return m != nil && len(m.Data) > 0 && slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"},
		m.MIME)
}

func result(r *chat.ToolResult) content {
	out := content{ToolUseID: callID(r.CallID), IsError: r.IsError, Type: "tool_result"}
	for _, c := range r.Content {
		switch {
		case c.Kind == chat.PartText && c.Text != "":
			out.Content = append(out.Content, textBlock(c.Text))
		case c.Kind == chat.PartMedia:
			out.Content = append(out.Content, media(c.Media))
		}
	}
	return out
}

var legalID = pattern.Lazy(`^[a-zA-Z0-9_-]{1,64}$`)

// callID returns an id that the wire takes; those of other vendors in the same
// chat may hold anything.
func callID(id string) string {
	if legalID().MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "tc_" + hex.EncodeToString(sum[:16])
}
