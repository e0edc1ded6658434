package window

import (
	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/view"
)

// HookedThing holds what hooks did to one request to a model and its answer, or to one
// call.
type HookedThing struct {
	Request int             `json:"request"` // which request of the answer it is, or that of the call, from 1
	Call    string          `json:"call"`    // name of the called tool as a person reads it; "" for the request
	Steps   []view.HookStep `json:"steps"`
}

// Hooks returns what hooks did to an answer and its calls, oldest first: only what a hook
// looked at.
func (c *Chats) Hooks(conversation string, seq uint64) ([]HookedThing, error) {
	ctx := c.call()
	messages, err := c.entryMessages(ctx, conversation, seq)
	if err != nil {
		return nil, err
	}
	out := []HookedThing{}
	request := 0
	add := func(call string, steps []chat.HookStep) {
		if len(steps) > 0 {
			out = append(out, HookedThing{request, call, language.Shown(view.NewHookSteps(steps))})
		}
	}
	for _, m := range messages {
		if m.Role != chat.RoleAssistant {
			continue
		}
		request++
		add("", m.Hooks)
		for _, p := range m.Parts {
			if p.Call == nil || p.Call.Sequence == 0 {
				continue
			}
			record, err := c.core.Store.Call(ctx, p.Call.Sequence)
			if err != nil {
				continue // its card says that it is not on record
			}
			add(c.open.callWords(record).Title, record.Hooks)
		}
	}
	return out, nil
}
