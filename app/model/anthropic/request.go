package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"conclave/app/chat"
	"conclave/app/model"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
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

// parameters builds the body. Cache marks stand at the end of the tools, of the
// system text and of the history, which stay the same from one request
// of a chat to the next.
func (m *client) parameters(r model.Request) sdk.MessageNewParams {
	thinking, effort, budget := m.thinking(r)
	body := sdk.MessageNewParams{Model: m.id, Messages: messages(r.Messages), MaxTokens: r.MaxTokens, Thinking: thinking}
	if effort != "" {
		body.OutputConfig.Effort = effort
	}
	if body.MaxTokens <= 0 {
		body.MaxTokens = mostTokens(m.id)
	}
	if budget >= body.MaxTokens { // the budget is part of it, and some must be left to say
		body.MaxTokens = budget + 4096
	}
	if thinking.OfEnabled == nil && thinking.OfAdaptive == nil { // refused together with thinking
		switch { // newer models take one of the two
		case r.Temperature != nil:
			body.Temperature = param.NewOpt(*r.Temperature)
		case r.TopP != nil:
			body.TopP = param.NewOpt(*r.TopP)
		}
	}
	if r.System != "" {
		body.System = []sdk.TextBlockParam{{Text: r.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, t := range r.Tools {
		definition := sdk.ToolParam{Name: t.Name, InputSchema: schema(t.Parameters)}
		if t.Description != "" {
			definition.Description = param.NewOpt(t.Description)
		}
		body.Tools = append(body.Tools, sdk.ToolUnionParam{OfTool: &definition})
	}
	if n := len(body.Tools); n > 0 {
		body.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
		if r.NoCalls {
			body.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{}
		}
		if r.MustCall && thinking.OfEnabled == nil && thinking.OfAdaptive == nil { // refused together with thinking
			body.ToolChoice.OfAny = &sdk.ToolChoiceAnyParam{}
		}
	}
	markLast(body.Messages)
	return body
}

// schema passes a JSON Schema on as it is, in the order its author wrote. The wire
// wants an object at the top.
func schema(raw json.RawMessage) sdk.ToolInputSchemaParam {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return param.Override[sdk.ToolInputSchemaParam](raw)
}

// Budgets of thinking in tokens for models that take a number. 1024 is the least
// the wire allows.
var budgets = map[string]int64{"low": 4096, "medium": 12288, "high": 24576}

var efforts = map[string]sdk.OutputConfigEffort{
	"low": sdk.OutputConfigEffortLow, "medium": sdk.OutputConfigEffortMedium, "high": sdk.OutputConfigEffortHigh,
}

// Models before Claude 3.7 do not think; up to 4.5 they take a budget; later ones
// decide themselves and take an effort.
var (
	thoughtless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^claude-(2|instant|3-(opus|sonnet|haiku|5))`)
	})
	budgeted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^claude-(3-7|(opus|sonnet|haiku)-4($|-(0|1|5)($|-)|-20))`)
	})
)

func (m *client) thinking(r model.Request) (config sdk.ThinkingConfigParamUnion, effort sdk.OutputConfigEffort,
	budget int64,
) {
	if r.Reasoning == "" || thoughtless().MatchString(m.id) {
		return config, "", 0
	}
	if r.Reasoning == "off" {
		config.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
		return config, "", 0
	}
	if unthought(r.Messages) {
		return config, "", 0
	}
	if budgeted().MatchString(m.id) {
		budget = budgets[r.Reasoning]
		return sdk.ThinkingConfigParamOfEnabled(budget), "", budget
	}
	config.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	return config, efforts[r.Reasoning], 0
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

func messages(history []model.Message) []sdk.MessageParam {
	var out []sdk.MessageParam
	for _, message := range history {
		var content []sdk.ContentBlockParamUnion
		for _, p := range message.Parts {
			if message.Role == chat.RoleAssistant && p.Kind == chat.PartMedia { // the wire takes pictures of a person alone
				p = chat.TextPart(model.Placeholder(p.Media))
			}
			content = append(content, blocks(p)...)
		}
		if len(content) == 0 {
			continue
		}
		role := sdk.MessageParamRoleUser
		if message.Role == chat.RoleAssistant {
			role = sdk.MessageParamRoleAssistant
		}
		if n := len(out); n > 0 && out[n-1].Role == role { // results and the next question are one turn here
			out[n-1].Content = append(out[n-1].Content, content...)
			continue
		}
		out = append(out, sdk.MessageParam{Role: role, Content: content})
	}
	return out
}

// blocks are the blocks of one part, with the thinking that belongs to it.
func blocks(p chat.Part) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	switch p.Kind {
	case chat.PartText:
		if strings.TrimSpace(p.Text) != "" { // an empty text block is refused
			out = append(out, sdk.NewTextBlock(p.Text))
		}
	case chat.PartMedia:
		out = append(out, media(p.Media))
	case chat.PartToolCall:
		arguments := p.Call.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		out = append(out, sdk.NewToolUseBlock(callID(p.Call.ID), arguments, p.Call.Tool))
	case chat.PartToolResult:
		out = append(out, result(p.Result))
	}
	var kept []block
	if json.Unmarshal(p.Vendor[Kind], &kept) == nil {
		for _, b := range kept {
			switch b.Type {
			case "thinking":
				out = append(out, sdk.NewThinkingBlock(b.Signature, b.Thinking))
			case "redacted_thinking":
				out = append(out, sdk.NewRedactedThinkingBlock(b.Data))
			}
		}
	}
	return out
}

func media(m *chat.Media) sdk.ContentBlockParamUnion {
	if isPicture(m) {
		return sdk.NewImageBlockBase64(m.MIME, base64.StdEncoding.EncodeToString(m.Data))
	}
	return sdk.NewTextBlock(model.Placeholder(m))
}

// isPicture reports whether m is of the four types the wire takes.
func isPicture(m *chat.Media) bool {
	return m != nil && len(m.Data) > 0 && slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"},
		m.MIME)
}

func result(r *chat.ToolResult) sdk.ContentBlockParamUnion {
	out := sdk.ToolResultBlockParam{ToolUseID: callID(r.CallID)}
	if r.IsError {
		out.IsError = param.NewOpt(true)
	}
	for _, c := range r.Content {
		switch {
		case c.Kind == chat.PartText && c.Text != "":
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: c.Text}})
		case c.Kind == chat.PartMedia:
			b := media(c.Media)
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfText: b.OfText, OfImage: b.OfImage})
		}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &out}
}

// markLast puts the cache mark on the last block that can carry one.
func markLast(messages []sdk.MessageParam) {
	if len(messages) == 0 {
		return
	}
	content := messages[len(messages)-1].Content
	if mark := content[len(content)-1].GetCacheControl(); mark != nil {
		*mark = sdk.NewCacheControlEphemeralParam()
	}
}

var legalID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`) })

// callID returns an id that the wire takes; those of other vendors in the same
// chat may hold anything.
func callID(id string) string {
	if legalID().MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "tc_" + hex.EncodeToString(sum[:16])
}
