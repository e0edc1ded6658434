package service

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/plugin"
	"conclave/app/tool/hook"
)

// Hooks lists and runs the hooks of plugins for a prompt; the plugin host does it.
type Hooks interface {
	// Kind returns the hooks of a kind that may run now; asker is the plugin whose own text they
	// are for, or empty.
	Kind(ctx context.Context, kind, asker string) []plugin.Hook
	Run(ctx context.Context, h plugin.Hook, in chat.ConversationID, payload any) (json.RawMessage, error)
	// Authors returns who wrote what a hook's process was given of what plugins share.
	Authors(h plugin.Hook) []chat.Author
	WriteLog(id, level, text string)
}

// Prompt runs the hooks of plugins on requests to models: macros get their values,
// then context handlers run, then interceptors, each in the order of their priorities
// (contracts/spindle, sections 5.4.8 to 5.4.10). It is a hook.Source and safe for
// concurrent use.
type Prompt struct {
	hook.None
	Hooks Hooks
	// Granted reports whether a plugin has a permission.
	Granted func(plugin, permission string) bool
}

// item is one message as an interceptor gets it. Number says which message of the
// prompt it is; an item that an interceptor adds has none.
type item struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Name    string          `json:"name,omitempty"`
	History bool            `json:"__isChatHistory,omitempty"`
	Number  int             `json:"__conclaveMessage,omitempty"`
}

// BeforeModel implements hook.Source. A plugin that fails or takes too long changes
// nothing, and its log says why.
func (p *Prompt) BeforeModel(ctx context.Context, info hook.TurnInfo) []hook.Step[model.Request] {
	if info.Caller.IsMember() {
		return nil // a member's request is made only of what it was given
	}
	steps := []hook.Step[model.Request]{
		{Owner: hook.Conclave, Phase: hook.Fill, Do: p.filling(info)},
	}
	handled := map[string]any{ // what context handlers hand on, one to the next
		"chatId": info.Conversation, "generationId": info.Turn, "generationType": info.Kind,
		"connectionId": connectionOf(info.Model), "model": info.Model,
		"personaId": nil, "characterId": nil, "dryRun": false,
	}
	for _, h := range p.Hooks.Kind(ctx, "context_handler", "") {
		steps = append(steps, p.step(h, hook.Context, p.handling(h, info, &handled)))
	}
	for _, h := range p.Hooks.Kind(ctx, "interceptor", "") {
		steps = append(steps, p.step(h, hook.Change, p.intercepting(h, info)))
	}
	return steps
}

// stepFunc is the work of one step on a request.
type stepFunc = func(context.Context, model.Request) (hook.Verdict[model.Request], error)

func (p *Prompt) step(h plugin.Hook, phase hook.Phase, do stepFunc) hook.Step[model.Request] {
	return hook.Step[model.Request]{
		Owner: hook.Owner{ID: h.Plugin, Title: h.Title}, Phase: phase, Priority: h.Priority, Order: h.Order, Do: do,
		Failed: func(err error) {
			p.Hooks.WriteLog(h.Plugin, "error",
				fmt.Sprintf("Its %s failed, so nothing was changed: %v.", strings.ReplaceAll(h.Kind, "_", " "), err))
		},
	}
}

// filling gives macros their values.
func (p *Prompt) filling(info hook.TurnInfo) stepFunc {
	return func(ctx context.Context, r model.Request) (hook.Verdict[model.Request], error) {
		macros := p.Macros(ctx, info.Conversation, "", true)
		macros.fill(ctx, &r)
		notes := append(macros.notes(), macros.beyond()...)
		if len(notes) == 0 {
			return hook.Verdict[model.Request]{}, nil
		}
		return hook.Verdict[model.Request]{
			Action: hook.Changed, Value: r, Notes: notes, Origins: chat.OriginsBy(macros.authors),
		}, nil
	}
}

// handling asks a context handler, which may call the answer off.
func (p *Prompt) handling(h plugin.Hook, info hook.TurnInfo, handled *map[string]any) stepFunc {
	return func(ctx context.Context, _ model.Request) (out hook.Verdict[model.Request], _ error) {
		raw, err := p.Hooks.Run(ctx, h, info.Conversation, map[string]any{"context": *handled})
		if err != nil {
			return out, err
		}
		var next map[string]any
		switch {
		case json.Unmarshal(raw, &next) != nil || next == nil: // nothing means unchanged
		case next["cancelGeneration"] == true:
			out.Action = hook.Stop
		default:
			*handled = next
		}
		return out, nil
	}
}

// intercepting has an interceptor look at the request and change it.
func (p *Prompt) intercepting(h plugin.Hook, info hook.TurnInfo) stepFunc {
	return func(ctx context.Context, r model.Request) (out hook.Verdict[model.Request], _ error) {
		units := unitsOf(r)
		items := itemsOf(r, units)
		raw, err := p.Hooks.Run(ctx, h, info.Conversation, map[string]any{"messages": items, "context": map[string]any{
			"chatId": info.Conversation, "connectionId": connectionOf(info.Model), "personaId": nil,
			"generationType": info.Kind, "dryRun": false, "model": info.Model,
		}})
		if err != nil {
			return out, err
		}
		next, changed, err := p.read(h, r, units, items, raw)
		if err == nil && changed {
			out = hook.Verdict[model.Request]{
				Action: hook.Changed, Value: next, Notes: []string{h.Title + " changed what the model is sent."},
				Origins: chat.OriginsBy(p.Hooks.Authors(h)),
			}
		}
		return out, err
	}
}

func connectionOf(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return name
}

// unitsOf takes a request's messages apart into what can be moved or left out by
// itself: a message, or an answer's calls together with their results.
func unitsOf(r model.Request) [][]model.Message {
	var units [][]model.Message
	for _, m := range r.Messages {
		if m.Role == chat.RoleTool && len(units) > 0 {
			last := len(units) - 1
			units[last] = append(units[last], m)
			continue
		}
		units = append(units, []model.Message{m})
	}
	return units
}

// itemsOf is a request as interceptors see it: the system text first, then the
// messages, as text.
func itemsOf(r model.Request, units [][]model.Message) []item {
	items := []item{}
	if r.System != "" {
		items = append(items, item{Role: "system", Content: textJSON(r.System), Number: systemNumber})
	}
	for i, unit := range units {
		items = append(items, item{
			Role: string(unit[0].Role), Content: textJSON(chat.TextOf(unit[0].Parts)), History: true, Number: i + firstNumber,
		})
	}
	return items
}

// The numbers of items: that of the system text, and of the first message.
const (
	systemNumber = 1
	firstNumber  = 2
)

func textJSON(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil { // a text can always be written
		return json.RawMessage(`""`)
	}
	return raw
}

// maxPrompt bounds what an interceptor may make of a prompt.
const maxPrompt = 3 << 20

// read makes a request of what an interceptor returned: a list of messages, or
// an object with one and parameters.
func (p *Prompt) read(by plugin.Hook, r model.Request, units [][]model.Message, given []item,
	raw json.RawMessage,
) (model.Request, bool, error) {
	var items []item
	tuned := false
	if json.Unmarshal(raw, &items) != nil {
		var object struct {
			Messages   *[]item `json:"messages"`
			Parameters struct {
				Temperature *float64 `json:"temperature"`
				MaxTokens   *int64   `json:"max_tokens"`
			} `json:"parameters"`
		}
		if json.Unmarshal(raw, &object) != nil || object.Messages == nil {
			return r, false, fmt.Errorf("it returned neither messages nor an object with messages")
		}
		items = *object.Messages
		if p.Granted(by.Plugin, "generation_parameters") {
			if t := object.Parameters.Temperature; t != nil {
				r.Temperature, tuned = t, true
			}
			if n := object.Parameters.MaxTokens; n != nil && *n > 0 {
				r.MaxTokens, tuned = *n, true
			}
		}
	}
	if items == nil || len(raw) > maxPrompt {
		return r, false, fmt.Errorf("it returned nothing that can be sent")
	}
	next := r
	next.Messages = nil
	var system []string
	lookup := newUnitLookup(units)
	for _, it := range items {
		parts, err := message{Content: it.Content}.parts()
		if err != nil {
			return r, false, err
		}
		text := chat.TextOf(parts)
		if n := lookup.take(it, text); n >= 0 {
			for i, m := range units[n] {
				if i == 0 && text != chat.TextOf(m.Parts) {
					m.Parts = chat.WithText(m.Parts, text)
				}
				next.Messages = model.Join(next.Messages, m)
			}
			continue
		}
		switch {
		case text == "":
		case it.Role == "system" && len(next.Messages) == 0:
			system = append(system, text)
		case it.Role == "assistant":
			next.Messages = model.Join(next.Messages, textMessage(chat.RoleAssistant, text))
		case it.Role == "system":
			// Models take one system text, at the start; a note further down says that it is
			// one.
			next.Messages = note(next.Messages, "[System note]\n"+text)
		default:
			next.Messages = note(next.Messages, text)
		}
	}
	if len(next.Messages) == 0 {
		return r, false, fmt.Errorf("it left no message to answer")
	}
	next.System = strings.Join(system, "\n\n")
	changed := len(items) != len(given) || tuned
	for i := 0; i < len(items) && !changed; i++ {
		changed = items[i].Role != given[i].Role || items[i].Number != given[i].Number ||
			string(items[i].Content) != string(given[i].Content)
	}
	return next, changed, nil
}

// unitLookup finds the units that items stand for. An interceptor may return as many
// items as fit into maxPrompt, so each is found without a search.
type unitLookup struct {
	units  [][]model.Message
	used   []bool
	byText map[[2]string][]int // role and text → units, in their order
}

func newUnitLookup(units [][]model.Message) *unitLookup {
	l := &unitLookup{units, make([]bool, len(units)), map[[2]string][]int{}}
	for n, unit := range units {
		key := [2]string{string(unit[0].Role), chat.TextOf(unit[0].Parts)}
		l.byText[key] = append(l.byText[key], n)
	}
	return l
}

// take returns the unit that an item stands for, or -1: the one it is numbered by,
// else, when the interceptor rewrote the list, the first of its words. Each is
// taken once, since a call has one result.
func (l *unitLookup) take(it item, text string) int {
	if n := it.Number - firstNumber; it.Number != 0 {
		if n < 0 || n >= len(l.units) || l.used[n] || string(l.units[n][0].Role) != it.Role {
			return -1
		}
		l.used[n] = true
		return n
	}
	key := [2]string{it.Role, text}
	for same := l.byText[key]; len(same) > 0; same = l.byText[key] {
		l.byText[key] = same[1:]
		if n := same[0]; !l.used[n] {
			l.used[n] = true
			return n
		}
	}
	return -1
}

// note adds a text of the person's side.
func note(all []model.Message, text string) []model.Message {
	return model.Join(all, textMessage(chat.RoleUser, text))
}
