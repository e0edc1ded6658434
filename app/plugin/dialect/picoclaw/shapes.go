package picoclaw

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// meta begins every request of a stage. The names are those of upstream's Go, which has
// no tags (contracts/picoclaw-hooks, section 6).
type meta struct {
	AgentID      string
	TurnID       string
	ParentTurnID string
	SessionKey   string
	Iteration    int
	TracePath    string
	Source       string
}

// about begins every request of a stage, with the union of what the releases send
// (section 1).
type about struct {
	Meta    meta    `json:"meta"`
	Context where   `json:"context"`
	Channel string  `json:"channel"`
	ChatID  string  `json:"chat_id"`
	CallID  *string `json:"tool_call_id,omitempty"`
}

type where struct {
	Inbound inbound `json:"inbound"`
	Scope   scope   `json:"scope"`
}

type inbound struct {
	Channel  string `json:"channel"`
	ChatID   string `json:"chat_id"`
	ChatType string `json:"chat_type"`
	SenderID string `json:"sender_id"`
}

type scope struct {
	Version    int            `json:"version"`
	AgentID    string         `json:"agent_id"`
	Channel    string         `json:"channel"`
	Account    string         `json:"account"`
	Dimensions []string       `json:"dimensions"`
	Values     map[string]any `json:"values"`
}

// channel names Conclave among the channels that hooks know chats by.
const channel = "conclave"

// of describes a turn to hooks, at a stage.
func of(info hook.TurnInfo, path string) about {
	agent := "main"
	if info.Caller.IsMember() {
		agent = strings.TrimPrefix(string(info.Caller), "member:")
	}
	chatID := string(info.Conversation)
	return about{
		Meta: meta{
			AgentID: agent, TurnID: info.Turn, SessionKey: chatID, Iteration: max(1, info.Round), TracePath: path,
			Source: "runTurn",
		},
		Context: where{
			Inbound: inbound{Channel: channel, ChatID: chatID, ChatType: "direct", SenderID: "user"},
			Scope: scope{
				Version: 1, AgentID: agent, Channel: channel, Dimensions: []string{}, Values: map[string]any{},
			},
		},
		Channel: channel, ChatID: chatID,
	}
}

func (a about) call(id string) about {
	a.CallID = &id
	return a
}

// message is one message of a request, as hooks see it. Number says which one it is, to
// those that hand it back as it came.
type message struct {
	Role        string       `json:"role"`
	Content     string       `json:"content"`
	Media       []string     `json:"media,omitempty"`
	Attachments []attachment `json:"attachments,omitempty"`
	Reasoning   string       `json:"reasoning_content,omitempty"`
	Calls       []toolCall   `json:"tool_calls,omitempty"`
	CallID      string       `json:"tool_call_id,omitempty"`
	Number      int          `json:"x_conclave,omitempty"`
}

type attachment struct {
	Type        string `json:"type,omitempty"`
	Ref         string `json:"ref,omitempty"`
	Filename    string `json:"filename,omitempty"`
	ContentType string `json:"content_type,omitempty"`
}

type toolCall struct {
	ID       string    `json:"id"`
	Type     string    `json:"type,omitempty"`
	Function *function `json:"function,omitempty"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON in a text
}

type toolDefinition struct {
	Type     string           `json:"type"`
	Function definitionObject `json:"function"`
}

type definitionObject struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type modelRequest struct {
	about
	Model    string           `json:"model"`
	Messages []message        `json:"messages,omitempty"`
	Tools    []toolDefinition `json:"tools,omitempty"`
	Options  map[string]any   `json:"options,omitempty"`
}

type modelResponse struct {
	about
	Model    string   `json:"model"`
	Response response `json:"response"`
}

type response struct {
	Content      string     `json:"content"`
	ReasoningOld string     `json:"reasoning_content,omitempty"`
	Calls        []toolCall `json:"tool_calls,omitempty"`
	FinishReason string     `json:"finish_reason"`
	Usage        *usage     `json:"usage,omitempty"`
	Reasoning    string     `json:"reasoning"`
	Details      []any      `json:"reasoning_details"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

type toolRequest struct {
	about
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    *toolResult     `json:"result,omitempty"`
	Duration  *int64          `json:"duration,omitempty"` // nanoseconds
}

// toolResult is a result in the words of hooks (section 9).
type toolResult struct {
	ForModel string   `json:"for_llm"`
	ForUser  string   `json:"for_user,omitempty"`
	Silent   bool     `json:"silent"`
	IsError  bool     `json:"is_error"`
	Async    bool     `json:"async"`
	Media    []string `json:"media,omitempty"`
	Tags     []string `json:"artifact_tags,omitempty"`
	Handled  bool     `json:"response_handled,omitempty"`
}

// answer holds what a hook says at any stage. A missing payload is nil, as is null.
type answer struct {
	Action   string          `json:"action"`
	Reason   string          `json:"reason"`
	Message  string          `json:"message"` // what some scripts write for a reason
	Approved bool            `json:"approved"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
	Call     json.RawMessage `json:"call"`
	Result   json.RawMessage `json:"result"`

	// of the dialect that the documentation site teaches (section 10.6)
	Decision   json.RawMessage `json:"decision"`
	HookResult json.RawMessage `json:"hook_result"`
	Args       json.RawMessage `json:"args"`
	Allow      json.RawMessage `json:"allow"`
}

// readAnswer reads what a hook answered. No result is no change.
func readAnswer(raw json.RawMessage) (answer, error) {
	var a answer
	if raw == nil {
		return a, nil
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("its answer cannot be read: %w", err)
	}
	for _, payload := range []*json.RawMessage{&a.Request, &a.Response, &a.Call, &a.Result} {
		if string(*payload) == "null" {
			*payload = nil
		}
	}
	if a.Reason == "" {
		a.Reason = a.Message
	}
	a.Reason, _ = tool.Strip(strings.TrimSpace(a.Reason))
	a.Reason = shorten.After(a.Reason, maxReason)
	return a, nil
}

// maxReason bounds a reason, in characters.
const maxReason = 2000

// fromSite reports whether the answer is written as the documentation site has it.
func (a answer) fromSite() bool {
	return a.Decision != nil || a.HookResult != nil || a.Args != nil || a.Allow != nil
}

// shownResult puts what a tool answered into the words of hooks.
func shownResult(r tool.Result) toolResult {
	shown := toolResult{ForModel: chat.TextOf(r.Content), IsError: r.Status != chat.CallOK, Handled: r.Handled}
	if shown.IsError {
		shown.ForModel = r.Error
	}
	for _, p := range r.Content {
		if p.Kind == chat.PartMedia && p.Media != nil {
			shown.Media = append(shown.Media, refOf(p.Media))
		}
	}
	return shown
}

// refScheme begins a reference to a picture or file of a chat, which hooks may pass on
// and cannot make (section 9.1).
const refScheme = "media://"

func refOf(m *chat.Media) string {
	if m.ID != "" {
		return refScheme + m.ID
	}
	return refScheme + m.Name
}

// taken makes a result of one that a hook wrote, and sentences for the person about it.
func (t toolResult) taken(known []chat.Part) (tool.Result, []string) {
	r := tool.Result{Status: chat.CallOK, Handled: t.Handled}
	if t.IsError {
		r.Status, r.Error = chat.CallRaised, t.ForModel
		if r.Error == "" {
			r.Error = "the hook gave no reason"
		}
		return r, nil
	}
	text := t.ForModel
	media, notes := t.media(known)
	if data, mime, ok := dataURL(text); ok && strings.HasPrefix(mime, "image/") {
		media, text = append(media, mediaPart(data, mime)), ""
	}
	if text == "" && len(media) == 0 {
		text = "(no output)"
	}
	if text != "" {
		r.Content = append(r.Content, chat.TextPart(text))
	}
	r.Content = append(r.Content, media...)
	return r, notes
}

// media returns the pictures and files that a result names, those it may.
func (t toolResult) media(known []chat.Part) (parts []chat.Part, notes []string) {
	total := 0
	for _, ref := range t.Media {
		data, mime, isData := dataURL(ref)
		total += len(data)
		switch found := byRef(known, ref); {
		case isData && total <= limit.HookMedia:
			parts = append(parts, mediaPart(data, mime))
		case isData:
			notes = append(notes, "A hook answered with more than 20 MiB of pictures and files; those above that "+
				"were left out.")
		case found != nil:
			parts = append(parts, *found)
		default:
			notes = append(notes, "A hook named a file that is not of this chat, which was left out: "+excerpt(ref)+".")
		}
	}
	return parts, notes
}

func byRef(known []chat.Part, ref string) *chat.Part {
	for i, p := range known {
		if p.Kind == chat.PartMedia && p.Media != nil && refOf(p.Media) == ref {
			return &known[i]
		}
	}
	return nil
}

func mediaPart(data []byte, mime string) chat.Part {
	return chat.Part{Kind: chat.PartMedia, Media: &chat.Media{MIME: mime, Size: int64(len(data)), Data: data}}
}

// dataURL reads data:<type>;base64,<bytes>.
func dataURL(text string) (data []byte, mime string, ok bool) {
	rest, found := strings.CutPrefix(text, "data:")
	head, encoded, comma := strings.Cut(rest, ",")
	mime, base64ed := strings.CutSuffix(head, ";base64")
	if !found || !comma || !base64ed || len(head) > 200 || strings.ContainsAny(head, " \n") {
		return nil, "", false
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	mime, _, _ = strings.Cut(mime, ";")
	return data, strings.ToLower(mime), err == nil && len(data) > 0
}

// callsOf are the calls of an answer, in the words of hooks.
func callsOf(parts []chat.Part) []toolCall {
	var calls []toolCall
	for _, p := range parts {
		if p.Kind == chat.PartToolCall && p.Call != nil {
			arguments := string(p.Call.Arguments)
			if p.Call.Raw != "" {
				arguments = p.Call.Raw
			}
			calls = append(calls, toolCall{p.Call.ID, "function", &function{p.Call.Tool, arguments}})
		}
	}
	return calls
}

// shownMessages is a request as hooks see it: the system text, then the messages, each
// result its own message.
func shownMessages(r model.Request) []message {
	var out []message
	add := func(m message) {
		m.Number = len(out) + 1
		out = append(out, m)
	}
	if r.System != "" {
		add(message{Role: "system", Content: r.System})
	}
	for _, m := range r.Messages {
		if m.Role == chat.RoleTool {
			for _, p := range m.Parts {
				if p.Result != nil {
					shown := message{Role: "tool", Content: p.Result.Text(), CallID: p.Result.CallID}
					shown.attach(p.Result.Content)
					add(shown)
				}
			}
			continue
		}
		shown := message{Role: string(m.Role), Content: chat.TextOf(m.Parts), Calls: callsOf(m.Parts)}
		shown.attach(m.Parts)
		add(shown)
	}
	return out
}

func (m *message) attach(parts []chat.Part) {
	for _, p := range parts {
		switch {
		case p.Kind == chat.PartReasoning:
			m.Reasoning += p.Text
		case p.Kind == chat.PartMedia && p.Media != nil:
			kind, _, _ := strings.Cut(p.Media.MIME, "/")
			m.Media = append(m.Media, refOf(p.Media))
			m.Attachments = append(m.Attachments, attachment{kind, refOf(p.Media), p.Media.Name, p.Media.MIME})
		}
	}
}

func shownTools(tools []model.ToolDefinition) []toolDefinition {
	var out []toolDefinition
	for _, t := range tools {
		out = append(out, toolDefinition{"function", definitionObject{t.Name, t.Description, t.Parameters}})
	}
	return out
}

// isObject reports whether raw is a JSON object.
func isObject(raw json.RawMessage) bool {
	trimmed := bytes.TrimSpace(raw)
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed)
}

// argumentsOf leaves out arguments that are none, as upstream does.
func argumentsOf(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil && len(fields) == 0 {
		return nil
	}
	return raw
}
