package picoclaw

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// parameters is the permission without which a hook's options do nothing.
const parameters = "generation_parameters"

// BeforeRound implements hook.Source. The turn of a council's member is made of what it
// was given, and of nothing else.
func (s *Source) BeforeRound(ctx context.Context, info hook.TurnInfo, offer hook.Offer) []hook.Step[model.Request] {
	s.lender.Ready(ctx, Name)
	if info.Caller.IsMember() {
		return nil
	}
	hooks := s.hooks(gate.Interceptor, false, Process.LLM)
	return steps(hooks, "hook.before_llm", func(ctx context.Context, h hooked, r model.Request) (requestVerdict, error) {
		shown := shownMessages(r)
		options := map[string]any{}
		if r.MaxTokens > 0 {
			options["max_tokens"] = r.MaxTokens
		}
		if r.Temperature != nil {
			options["temperature"] = *r.Temperature
		}
		a, err := h.ask(ctx, "hook.before_llm", h.process.InterceptorTime(), modelRequest{
			about: of(info, "turn.llm.request"), Model: info.Model, Messages: shown, Tools: shownTools(r.Tools),
			Options: options,
		})
		if err != nil {
			return requestVerdict{}, err
		}
		v, applies := common[model.Request](h, a, "before_llm")
		if !applies || a.Request == nil {
			return v, nil
		}
		return h.rewritten(ctx, r, shown, a.Request, offer)
	})
}

// rewritten reads what a hook made of a request.
func (h hooked) rewritten(ctx context.Context, r model.Request, shown []message, raw json.RawMessage,
	offer hook.Offer,
) (requestVerdict, error) {
	var said struct {
		Messages *[]message        `json:"messages"`
		Tools    *[]toolDefinition `json:"tools"`
		Options  map[string]any    `json:"options"`
	}
	v := requestVerdict{Value: r}
	if err := object(raw, &said); err != nil {
		return requestVerdict{}, err
	}
	changed := false
	if said.Messages != nil && len(*said.Messages) > 0 {
		next, differs, err := reread(r, shown, *said.Messages)
		if err != nil {
			return requestVerdict{}, err
		}
		v.Value.Messages, changed = next, differs
	}
	if said.Tools != nil {
		tools, notes, err := h.inject(ctx, r.Tools, *said.Tools, offer)
		if err != nil {
			return requestVerdict{}, err
		}
		v.Notes = append(v.Notes, notes...)
		same := func(a, b model.ToolDefinition) bool { return a.Name == b.Name }
		if !slices.EqualFunc(tools, r.Tools, same) {
			v.Action, v.Value.Tools = hook.Changed, tools
		}
	}
	if slices.Contains(h.Granted, parameters) {
		changed = tuned(&v.Value, said.Options) || changed
	}
	if changed {
		v.Action = hook.Changed
		v.Notes = append(v.Notes, "The hook "+h.process.Name+" changed what the model is sent.")
	}
	return v, nil
}

// tuned applies the options that Conclave knows, and reports whether one differs.
func tuned(r *model.Request, options map[string]any) bool {
	changed := false
	if t, ok := options["temperature"].(float64); ok && t >= 0 && t <= 2 && (r.Temperature == nil || *r.Temperature != t) {
		r.Temperature, changed = &t, true
	}
	if n, ok := options["max_tokens"].(float64); ok && n >= 1 && n <= math.MaxInt32 && int64(n) != r.MaxTokens {
		r.MaxTokens, changed = int64(n), true
	}
	return changed
}

// inject takes up the tools that a hook added to the list it was given. Definitions of
// others stay as they are; a name that another tool has is nobody else's.
func (h hooked) inject(ctx context.Context, given []model.ToolDefinition, said []toolDefinition, offer hook.Offer,
) (tools []model.ToolDefinition, notes []string, err error) {
	var added []tool.Tool
	seen := map[string]bool{}
	for _, d := range said {
		name := d.Function.Name
		i := slices.IndexFunc(given, func(g model.ToolDefinition) bool { return g.Name == name })
		switch {
		case seen[name]:
			continue
		case i >= 0:
			tools = append(tools, given[i])
			if !tool.SameJSON(encoded(shownTools(given[i : i+1])[0]), encoded(d)) {
				notes = append(notes, fmt.Sprintf("The hook %s describes the tool %s, which is not its own, differently; "+
					"the model gets its own description.", h.process.Name, name))
			}
		case legalName(name):
			added = append(added, tool.Tool{
				Name: name, Description: d.Function.Description, Parameters: d.Function.Parameters,
			})
		default:
			notes = append(notes, fmt.Sprintf("The hook %s adds a tool whose name no model takes: %s.", h.process.Name,
				excerpt(name)))
		}
		seen[name] = true
	}
	if len(added) == 0 {
		return tools, notes, nil
	}
	offered, by, err := h.s.lender.Inject(ctx, h.ID, added)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range added {
		shown, ok := offered[t.Name]
		if !ok {
			notes = append(notes, fmt.Sprintf("The tool %s of the hook %s is not offered: look at its card.", t.Name,
				h.process.Name))
			continue
		}
		shown.WireName, shown.Visibility = t.Name, tool.Direct
		if err := offer(shown, by); err != nil {
			notes = append(notes, fmt.Sprintf("The tool %s of the hook %s is not offered: %v.", t.Name, h.process.Name, err))
			continue
		}
		tools = append(tools, model.ToolDefinition{
			Name: shown.WireName, Description: shown.Description, Parameters: shown.Parameters,
		})
	}
	return tools, notes, nil
}

func encoded(d toolDefinition) json.RawMessage {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil // a definition that cannot be written is no other's
	}
	return raw
}

// legalName reports whether models take a function of that name.
func legalName(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return len(name) > 0 && len(name) <= 64 && name != tool.SearchName
}

// errEmptied is of a hook that leaves nothing to answer.
var errEmptied = errors.New("it left no message to answer")

// picked is a message that a hook returned: which of those shown it is, from 1, or 0
// for one that is new.
type picked struct {
	shown int
	said  message
}

// reread makes messages of what a hook returned, and reports whether they differ. System
// texts are as they were; an answer's calls keep their results.
func reread(r model.Request, shown, said []message) ([]model.Message, bool, error) {
	units := unitsOf(r, shown)
	texts := map[string]string{} // of results, by call
	var order []picked
	changed, had, last := false, 0, 0
	for _, p := range picks(shown, said) {
		m := p.said
		switch m.Role {
		case "system":
		case "tool":
			if p.shown > 0 && m.Content != shown[p.shown-1].Content {
				texts[m.CallID], changed = m.Content, true
			}
		default:
			order = append(order, p)
			if changed = changed || p.shown < last; p.shown > 0 {
				had, last = had+1, p.shown
			}
		}
	}
	var out []model.Message
	for _, p := range order {
		if p.shown == 0 {
			out = model.Join(out, newMessage(p.said))
			continue
		}
		for k, unit := range units[p.shown] {
			switch {
			case k > 0:
				unit.Parts = withResults(unit.Parts, texts)
			case p.said.Content != shown[p.shown-1].Content:
				unit.Parts, changed = chat.WithText(unit.Parts, p.said.Content), true
			}
			out = model.Join(out, unit)
		}
	}
	if len(out) == 0 {
		return nil, false, errEmptied
	}
	return out, changed || had != len(units) || len(order) != had, nil
}

// picks finds out which of the messages shown each one is that a hook returned: by its
// number, else by its words. Each is taken once.
func picks(shown, said []message) []picked {
	taken := make([]bool, len(shown))
	fits := func(i int, m message) bool {
		return i >= 0 && i < len(shown) && !taken[i] && shown[i].Role == m.Role && shown[i].CallID == m.CallID
	}
	byWords := map[[3]string][]int{}
	for i, m := range shown {
		key := [3]string{m.Role, m.CallID, m.Content}
		byWords[key] = append(byWords[key], i)
	}
	out := make([]picked, 0, len(said))
	for _, m := range said {
		found := m.Number - 1
		if !fits(found, m) {
			found = -1
			for _, i := range byWords[[3]string{m.Role, m.CallID, m.Content}] {
				if fits(i, m) {
					found = i
					break
				}
			}
		}
		if found >= 0 {
			taken[found] = true
		}
		out = append(out, picked{found + 1, m})
	}
	return out
}

// unitsOf are the messages of a request with the results that belong to them, by the
// number of the message as it is shown.
func unitsOf(r model.Request, shown []message) map[int][]model.Message {
	units := map[int][]model.Message{}
	n := 0
	if r.System != "" {
		n = 1
	}
	last := 0
	for _, m := range r.Messages {
		if m.Role == chat.RoleTool {
			units[last] = append(units[last], m)
			for _, p := range m.Parts {
				if p.Result != nil {
					n++
				}
			}
			continue
		}
		n++
		last = min(n, len(shown))
		units[last] = []model.Message{m}
	}
	return units
}

func newMessage(m message) model.Message {
	role := chat.RoleUser
	if m.Role == "assistant" {
		role = chat.RoleAssistant
	}
	parts := []chat.Part{}
	if m.Content != "" {
		parts = append(parts, chat.TextPart(m.Content))
	}
	media, _ := toolResult{Media: m.Media}.media(nil)
	return model.Message{Role: role, Parts: append(parts, media...)}
}

// withResults puts other texts into results, by call.
func withResults(parts []chat.Part, texts map[string]string) []chat.Part {
	out := slices.Clone(parts)
	for i, p := range out {
		if p.Result == nil {
			continue
		}
		if text, ok := texts[p.Result.CallID]; ok {
			result := *p.Result
			result.Content, _ = chat.ReplaceText(slices.Clone(result.Content), text)
			out[i].Result = &result
		}
	}
	return out
}

// AfterModel implements hook.Source.
func (s *Source) AfterModel(_ context.Context, info hook.TurnInfo) []hook.Step[chat.Message] {
	if info.Caller.IsMember() {
		return nil
	}
	hooks := s.hooks(gate.Interceptor, false, Process.LLM)
	return steps(hooks, "hook.after_llm", func(ctx context.Context, h hooked, m chat.Message) (answerVerdict, error) {
		a, err := h.ask(ctx, "hook.after_llm", h.process.InterceptorTime(), modelResponse{
			about: of(info, "turn.llm.response"), Model: info.Model, Response: shownResponse(m),
		})
		if err != nil {
			return answerVerdict{}, err
		}
		v, applies := common[chat.Message](h, a, "after_llm")
		if !applies || a.Response == nil {
			return v, nil
		}
		return h.reworded(m, a.Response)
	})
}

func shownResponse(m chat.Message) response {
	shown := response{Content: chat.TextOf(m.Parts), Calls: callsOf(m.Parts), FinishReason: "stop"}
	if len(shown.Calls) > 0 {
		shown.FinishReason = "tool_calls"
	}
	for _, p := range m.Parts {
		if p.Kind == chat.PartReasoning {
			shown.Reasoning += p.Text
		}
	}
	shown.ReasoningOld = shown.Reasoning
	if u := m.Usage; u != nil {
		shown.Usage = &usage{u.Input, u.Output, u.Input + u.Output}
	}
	return shown
}

// reworded reads what a hook made of an answer: the text at response.response, and the
// calls (contracts/picoclaw-hooks, section 6).
func (h hooked) reworded(m chat.Message, raw json.RawMessage) (answerVerdict, error) {
	var nested struct {
		Response json.RawMessage `json:"response"`
	}
	var v answerVerdict
	if err := object(raw, &nested); err != nil {
		return v, err
	}
	if nested.Response == nil || string(nested.Response) == "null" {
		return v, nil
	}
	var said struct {
		Content *string     `json:"content"`
		Calls   *[]toolCall `json:"tool_calls"`
	}
	if err := object(nested.Response, &said); err != nil {
		return v, err
	}
	parts := m.Parts
	if said.Content != nil && *said.Content != chat.TextOf(m.Parts) {
		v.Action = hook.Changed
		parts = chat.WithText(parts, *said.Content)
		v.Notes = append(v.Notes, "The hook "+h.process.Name+" changed the answer.")
	}
	if said.Calls != nil {
		calls, changed := h.recalled(m.Parts, *said.Calls)
		if changed {
			v.Action, v.Calls = hook.Changed, true
			v.Notes = append(v.Notes, "The hook "+h.process.Name+" changed which tools are called.")
			rest := slices.DeleteFunc(slices.Clone(parts), func(p chat.Part) bool { return p.Kind == chat.PartToolCall })
			parts = append(rest, calls...)
		}
	}
	m.Parts = parts
	v.Value = m
	return v, nil
}

// recalled makes calls of those that a hook returned: the model's by their ids, with
// what the hook changed of them, and those it added.
func (h hooked) recalled(parts []chat.Part, said []toolCall) (out []chat.Part, changed bool) {
	var had []*chat.ToolCall
	for _, p := range parts {
		if p.Kind == chat.PartToolCall {
			had = append(had, p.Call)
		}
	}
	taken := map[string]bool{}
	for _, one := range said {
		at := slices.IndexFunc(had, func(c *chat.ToolCall) bool { return c.ID == one.ID && !taken[c.ID] })
		taken[one.ID] = true // said again, it is a call that the hook adds
		switch {
		case at >= 0:
			call, differs := h.edited(*had[at], one.Function)
			out, changed = append(out, chat.Part{Kind: chat.PartToolCall, Call: &call}), changed || differs
		case one.Function == nil || one.Function.Name == "":
			changed = true // a call of nothing
		default:
			call := &chat.ToolCall{
				ID: "hook_" + rand.Text(), Tool: one.Function.Name, Hook: &chat.HookedCall{By: h.process.Name},
			}
			call.Arguments, call.Raw = model.Arguments(one.Function.Arguments)
			out, changed = append(out, chat.Part{Kind: chat.PartToolCall, Call: call}), true
		}
	}
	return out, changed || len(out) != len(had)
}

// edited returns a call of the model with what the hook changed of it.
func (h hooked) edited(call chat.ToolCall, f *function) (_ chat.ToolCall, changed bool) {
	if f == nil || (f.Name == "" || f.Name == call.Tool) &&
		(f.Arguments == "" || f.Arguments == call.Raw || tool.SameJSON(json.RawMessage(f.Arguments), call.Arguments)) {
		return call, false
	}
	if call.Hook == nil {
		call.Hook = &chat.HookedCall{By: h.process.Name, Tool: call.Tool, Arguments: call.Arguments}
	}
	call.Tool = cmp.Or(f.Name, call.Tool)
	if f.Arguments != "" {
		call.Arguments, call.Raw = model.Arguments(f.Arguments)
	}
	return call, true
}
