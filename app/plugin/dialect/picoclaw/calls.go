package picoclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// turns holds the turns of calls that hooks are about to answer for their own tools: a
// call reaches the process of a tool without them. The zero value is ready. It is safe
// for concurrent use.
type turns struct {
	mu sync.Mutex
	of map[string]hook.TurnInfo // by call
}

// maxTurns bounds what is held of calls that never came.
const maxTurns = 1024

func (t *turns) keep(call string, info hook.TurnInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxTurns {
		t.of = map[string]hook.TurnInfo{}
	}
	t.of[call] = info
}

func (t *turns) take(call string) hook.TurnInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	info := t.of[call]
	delete(t.of, call)
	return info
}

// shortID is the id of a call as the model has it: hooks get that one.
func shortID(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// nameOf is the name of a tool as hooks know it.
func nameOf(t tool.Tool) string {
	if t.Dialect == Name {
		return t.Name
	}
	return t.WireName
}

// BeforeTool implements hook.Source. The tool that a hook injected is called last: what
// answers for it is its own process, once it may.
func (s *Source) BeforeTool(ctx context.Context, info hook.TurnInfo) []hook.Step[hook.Call] {
	s.lender.Ready(ctx, Name)
	hooks := s.hooks(gate.ToolCalls, true, func(p Process) bool { return p.Tools() || p.Guards() })
	return steps(hooks, "hook.before_tool", func(ctx context.Context, h hooked, c hook.Call) (callVerdict, error) {
		switch {
		case c.Tool.Plugin == h.ID:
			s.turns.keep(c.ID, info)
			return callVerdict{Action: hook.Own}, nil
		case h.Broken != nil:
			if !h.process.Guards() {
				return callVerdict{}, nil
			}
			return h.absent(c, "it is not running"), nil
		case !h.process.Tools():
			return callVerdict{}, nil
		}
		a, err := h.ask(ctx, "hook.before_tool", h.process.InterceptorTime(), toolRequest{
			about: of(info, "turn.tool.before").call(shortID(c.ID)), Tool: nameOf(c.Tool),
			Arguments: argumentsOf(c.Arguments),
		})
		if ctx.Err() != nil {
			return callVerdict{}, err
		}
		var v callVerdict
		if err == nil {
			v, err = h.before(c, a)
		}
		if err != nil {
			h.failed("hook.before_tool")(err)
			return h.absent(c, err.Error()), nil
		}
		return v, nil
	})
}

// absent is the verdict of a hook that guards calls and does not say anything about this
// one: a person has to, or, where it is to fail closed, nobody may.
func (h hooked) absent(c hook.Call, why string) callVerdict {
	said := fmt.Sprintf("the hook %s could not look at it: %s", h.process.Name, strings.TrimSuffix(why, "."))
	if h.process.Own.FailClosed {
		return callVerdict{Action: hook.Deny, Reason: said}
	}
	c.Ask = append(c.Ask[:len(c.Ask):len(c.Ask)], said)
	return callVerdict{Action: hook.Ask, Value: c, Reason: said}
}

// changedCall is the payload of before_tool.
type changedCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"hook_result"`
}

// before reads what a hook made of a call.
func (h hooked) before(c hook.Call, a answer) (callVerdict, error) {
	var change changedCall
	if a.Call != nil {
		if err := object(a.Call, &change); err != nil {
			return callVerdict{}, err
		}
	}
	switch a.Action {
	case actDeny:
		return callVerdict{Action: hook.Deny, Reason: a.Reason}, nil
	case actRespond:
		raw := a.Result
		if raw == nil && string(change.Result) != "null" {
			raw = change.Result
		}
		if raw == nil {
			h.s.lender.WriteLog(h.ID, "warn", "It answered respond without a result, so it was passed over.")
			return callVerdict{}, nil
		}
		return h.instead(c, raw)
	}
	v, applies := common[hook.Call](h, a, "before_tool")
	if !applies || a.Call == nil {
		return v, nil
	}
	return h.changed(c, change)
}

// instead is the verdict of a hook that answers for a tool that it does not own. An
// error is a denial: nothing ran, and nothing is pretended.
func (h hooked) instead(c hook.Call, raw json.RawMessage) (callVerdict, error) {
	var said toolResult
	if err := object(raw, &said); err != nil {
		return callVerdict{}, err
	}
	if said.IsError {
		return callVerdict{Action: hook.Deny, Reason: said.ForModel}, nil
	}
	result, notes := said.taken(nil)
	c.Result = &result
	return callVerdict{Action: hook.Instead, Value: c, Notes: append(notes, h.signed(said.note())...)}, nil
}

// changed is the verdict of a hook that changed a call.
func (h hooked) changed(c hook.Call, change changedCall) (callVerdict, error) {
	was := nameOf(c.Tool)
	if c.Renamed != "" {
		was = c.Renamed
	}
	arguments := c.Arguments
	if len(change.Arguments) > 0 && string(change.Arguments) != "null" {
		if !isObject(change.Arguments) {
			return callVerdict{}, errors.New("its arguments are no object")
		}
		if !tool.SameJSON(arguments, change.Arguments) {
			arguments = change.Arguments
		}
	}
	renamed := change.Tool != "" && change.Tool != was
	if !renamed && string(arguments) == string(c.Arguments) {
		return callVerdict{}, nil
	}
	why := "the hook " + h.process.Name + " changed it"
	if renamed {
		why += "; it was a call of " + was
	}
	c.Ask = append(c.Ask[:len(c.Ask):len(c.Ask)], why)
	c.Arguments = arguments
	if renamed {
		c.Renamed = change.Tool
	}
	note := fmt.Sprintf("The hook %s changed a call of %s.", h.process.Name, was)
	return callVerdict{Action: hook.Changed, Value: c, Notes: []string{note}}, nil
}

// note returns what a person is shown of a result besides what the model gets.
func (t toolResult) note() []string {
	text, _ := tool.Strip(strings.TrimSpace(t.ForUser))
	if text == "" || t.Silent {
		return nil
	}
	return []string{text}
}

// signed begins what a hook says to the person with its name.
func (h hooked) signed(notes []string) []string {
	for i, note := range notes {
		notes[i] = h.process.Name + ": " + note
	}
	return notes
}

// Approve implements hook.Source.
func (s *Source) Approve(_ context.Context, info hook.TurnInfo) []hook.Step[hook.Call] {
	hooks := s.hooks(gate.ToolCalls, false, Process.Approves)
	return steps(hooks, "hook.approve_tool", func(ctx context.Context, h hooked, c hook.Call) (v callVerdict, _ error) {
		a, err := h.ask(ctx, "hook.approve_tool", h.process.ApprovalTime(), toolRequest{
			about: of(info, "turn.tool.approve").call(shortID(c.ID)), Tool: nameOf(c.Tool),
			Arguments: argumentsOf(c.Arguments),
		})
		switch {
		case err != nil && ctx.Err() == nil:
			h.failed("hook.approve_tool")(err)
			return callVerdict{
				Action: hook.Deny, Reason: fmt.Sprintf("tool approval hook %q failed: %v", h.process.Name, err),
			}, nil
		case err != nil:
			return v, err
		case !a.Approved:
			return callVerdict{Action: hook.Deny, Reason: a.Reason}, nil
		}
		return v, nil
	})
}

// AfterTool implements hook.Source. What a hook answered for its own tool is nobody's to
// change.
func (s *Source) AfterTool(_ context.Context, info hook.TurnInfo) []hook.Step[hook.Call] {
	hooks := s.hooks(gate.ToolCalls, false, Process.Tools)
	return steps(hooks, "hook.after_tool", func(ctx context.Context, h hooked, c hook.Call) (callVerdict, error) {
		if c.Tool.Dialect == Name {
			return callVerdict{}, nil
		}
		shown, took := shownResult(*c.Result), c.Took.Nanoseconds()
		a, err := h.ask(ctx, "hook.after_tool", h.process.InterceptorTime(), toolRequest{
			about: of(info, "turn.tool.after").call(shortID(c.ID)), Tool: nameOf(c.Tool),
			Arguments: argumentsOf(c.Arguments), Result: &shown, Duration: &took,
		})
		if err != nil {
			return callVerdict{}, err
		}
		return h.after(c, a, shown)
	})
}

// after reads what a hook made of a result.
func (h hooked) after(c hook.Call, a answer, shown toolResult) (callVerdict, error) {
	v, applies := common[hook.Call](h, a, "after_tool")
	if !applies || a.Result == nil {
		return v, nil
	}
	var nested struct {
		Result json.RawMessage `json:"result"`
	}
	if err := object(a.Result, &nested); err != nil {
		return v, err
	}
	if nested.Result == nil || string(nested.Result) == "null" {
		return v, nil
	}
	next := toolResult{}
	if err := object(nested.Result, &next); err != nil {
		return v, err
	}
	if sameResult(next, shown) {
		return v, nil
	}
	result, notes := next.taken(c.Result.Content)
	result.Printed, result.Traceback = c.Result.Printed, c.Result.Traceback
	c.Result = &result
	notes = append(notes, fmt.Sprintf("The hook %s changed what %s answered.", h.process.Name, nameOf(c.Tool)))
	return callVerdict{Action: hook.Changed, Value: c, Notes: append(notes, h.signed(next.note())...)}, nil
}

func sameResult(a, b toolResult) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(one) == string(other)
}
