package google

import (
	"encoding/json"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
)

// parameters are the members of a request of streamGenerateContent that we use, but for its contents.
type parameters struct {
	System     *content         `json:"systemInstruction,omitempty"`
	Tools      []tools          `json:"tools,omitempty"`
	ToolConfig *toolConfig      `json:"toolConfig,omitempty"`
	Config     generationConfig `json:"generationConfig,omitzero"`
}

type content struct {
	Role  string `json:"role,omitempty"` // user or model
	Parts []part `json:"parts"`
}

// part is one of its fields; Thought and Signature go with any.
type part struct {
	Text      *string   `json:"text,omitempty"`
	Inline    *inline   `json:"inlineData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
	Code      *code     `json:"executableCode,omitempty"`      // only in answers
	Ran       *ran      `json:"codeExecutionResult,omitempty"` // only in answers
}

type code struct {
	Language string `json:"language"`
	Code     string `json:"code"`
}

type ran struct {
	Output string `json:"output"`
}

type inline struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"` // base64
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// response is a tool's result: {"output": text} or {"error": text}.
type response struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	Calling struct {
		Mode string `json:"mode"` // NONE
	} `json:"functionCallingConfig"`
}

type generationConfig struct {
	MaxTokens   int64           `json:"maxOutputTokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"topP,omitempty"`
	Thinking    *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int64 `json:"thinkingBudget,omitempty"` // Gemini 2.5
	Level   string `json:"thinkingLevel,omitempty"`  // Gemini 3 and later
}

// vendor is kept in chat.Part.Vendor under Kind.
type vendor struct {
	Signature string `json:"signature"`
}

// body returns the JSON of a request. Messages that the last one held are not encoded again.
func (m *client) body(r model.Request) (model.Body, error) {
	rest, err := json.Marshal(m.parameters(r))
	if err != nil {
		return nil, err
	}
	return m.encoded.Body(r.Messages, model.Envelope{Member: "contents", Rest: rest}, m.appendContent)
}

func (m *client) parameters(r model.Request) parameters {
	var out parameters
	if r.System != "" {
		out.System = &content{Parts: []part{{Text: &r.System}}}
	}
	out.Config = generationConfig{
		MaxTokens: r.MaxTokens, Temperature: r.Temperature, TopP: r.TopP, Thinking: m.thinking(r.Reasoning),
	}
	if len(r.Tools) == 0 {
		return out
	}
	declared := make([]function, len(r.Tools))
	for i, t := range r.Tools {
		declared[i] = function{t.Name, t.Description, t.Parameters}
	}
	out.Tools = []tools{{declared}}
	if r.NoCalls {
		out.ToolConfig = &toolConfig{}
		out.ToolConfig.Calling.Mode = "NONE"
	}
	if r.MustCall {
		out.ToolConfig = &toolConfig{}
		out.ToolConfig.Calling.Mode = "ANY"
	}
	return out
}

// Budgets of thinking in tokens for Gemini 2.5; 128 is the least that its Pro
// model accepts, whose thinking cannot be turned off.
var budgets = map[string]int64{"off": 0, "low": 2048, "medium": 8192, "high": 24576}

func (m *client) thinking(wish string) *thinkingConfig {
	if !m.Info().Can.Reasoning {
		return nil
	}
	config := &thinkingConfig{Include: wish != "off"}
	switch {
	case wish == "":
	case strings.Contains(m.id, "gemini-2.5"):
		budget := budgets[wish]
		if wish == "off" && strings.Contains(m.id, "pro") {
			budget = 128
		}
		config.Budget = &budget
	case wish == "off":
		config.Level = "low" // the least there is
	default:
		config.Level = wish
		if wish == "medium" && strings.Contains(m.id, "gemini-3-pro") {
			config.Level = "high" // it has no middle
		}
	}
	return config
}

// unsigned stands for the signature of a call that another vendor's model made:
// Gemini 3 refuses an open call without one, and documents this word for histories
// from elsewhere (https://ai.google.dev/gemini-api/docs/thought-signatures).
const unsigned = "skip_thought_signature_validator"

// appendContent appends the JSON of a message, or nothing.
func (m *client) appendContent(to []byte, message model.Message) ([]byte, error) {
	c := content{Role: "user"}
	if message.Role == chat.RoleAssistant {
		c.Role = "model"
	}
	signed := false
	for _, p := range message.Parts {
		made := parts(p)
		for i := range made {
			if made[i].Call == nil || signed { // only the first of parallel calls is signed
				continue
			}
			signed = true
			if made[i].Signature == "" && strings.Contains(m.id, "gemini-3") {
				made[i].Signature = unsigned
			}
		}
		c.Parts = append(c.Parts, made...)
	}
	if len(c.Parts) == 0 {
		return to, nil
	}
	// The answers to parallel calls stand together, their pictures after them.
	slices.SortStableFunc(c.Parts, func(a, b part) int { return rank(a, message.Role) - rank(b, message.Role) })
	raw, err := json.Marshal(c)
	return append(to, raw...), err
}

func rank(p part, role chat.Role) int {
	if role == chat.RoleTool && p.Response == nil {
		return 1
	}
	return 0
}

func parts(p chat.Part) []part {
	var v vendor
	if raw := p.Vendor[Kind]; len(raw) > 0 { // absent for other vendors' parts
		_ = json.Unmarshal(raw, &v) // written here
	}
	switch p.Kind {
	case chat.PartText:
		if p.Text != "" || v.Signature != "" {
			return []part{{Text: &p.Text, Signature: v.Signature}}
		}
	case chat.PartReasoning: // not wanted back; a signature that came with it alone is
		if v.Signature != "" {
			return []part{{Text: &p.Text, Thought: true, Signature: v.Signature}}
		}
	case chat.PartMedia:
		return []part{media(p.Media)}
	case chat.PartToolCall:
		arguments := p.Call.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		return []part{{Call: &call{ID: wireID(p.Call.ID), Name: p.Call.Tool, Args: arguments}, Signature: v.Signature}}
	case chat.PartToolResult:
		return result(p.Result)
	}
	return nil
}

// wireID returns an id as the wire gave it, and none for ids made here.
func wireID(id string) string {
	if strings.HasPrefix(id, "tc_") {
		return ""
	}
	return id
}

func media(m *chat.Media) part {
	readable := []string{
		"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "image/gif", "application/pdf", "audio/wav",
		"audio/mpeg", "audio/mp3", "audio/ogg", "audio/flac", "audio/aac",
	}
	if m != nil && len(m.Data) > 0 && slices.Contains(readable, m.MIME) {
		return part{Inline: &inline{m.MIME, m.Data}}
	}
	text := model.Placeholder(m)
	return part{Text: &text}
}

// result is the answer to a call, followed by its pictures.
func result(r *chat.ToolResult) []part {
	key := "output"
	if r.IsError {
		key = "error"
	}
	out := []part{{Response: &response{ID: wireID(r.CallID), Name: r.Tool, Response: map[string]string{key: r.Text()}}}}
	for _, c := range r.Content {
		if c.Kind == chat.PartMedia {
			out = append(out, media(c.Media))
		}
	}
	return out
}
