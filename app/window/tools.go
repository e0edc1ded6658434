package window

import (
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/tool"
	"conclave/app/view"
)

// Tools is bound: the tools of all plugins.
type Tools struct {
	*lifecycle
	core Core
}

// ToolList is all tools.
type ToolList struct {
	Revision uint64      `json:"revision"`
	Tools    []view.Tool `json:"tools"`  // sorted by plugin, then name
	Tokens   int         `json:"tokens"` // sum of the enabled ones that each request defines
	// ForRoom holds the ids of those that the model gets only the names of, and searches for.
	ForRoom       []string `json:"for_room"`
	ContextTokens int64    `json:"context_tokens"` // the model's window in tokens; 0 = not known
}

// List returns every tool that can be called or waits to be, and what of them the next message to a model
// has; "" is the default model.
func (t *Tools) List(model string) (ToolList, error) {
	ctx := t.call()
	out := ToolList{Revision: t.core.Bus.Revision(bus.Tools, "")}
	set := t.core.Tools.Set()
	out.Tools = language.Shown(view.NewToolList(t.core.Host.List(), set, t.core.Gate.AboutTool))
	fit := set.ForModel()
	if model == "" {
		model, _ = t.core.Models.Default(ctx) // without one, nothing is left out for room
	}
	if model != "" {
		info := t.core.Models.Info(ctx, model)
		out.ContextTokens = info.Context
		fit = t.core.Turns.Fit(ctx, fit, info)
	}
	out.ForRoom = []string{}
	for _, v := range out.Tools {
		switch one, ok := fit.ByID(v.ID); {
		case ok && one.Visibility == tool.Deferred:
			out.ForRoom = append(out.ForRoom, v.ID)
		case ok && v.Offered:
			out.Tokens += v.Tokens
		}
	}
	return out, nil
}

// SetEnabled sets whether models are offered the tool. Switched on, it is offered as before.
func (t *Tools) SetEnabled(id string, enabled bool) error {
	return t.of(id, func(plugin, name string) error {
		return t.core.Host.ToolChoices.SetEnabled(t.call(), plugin, name, enabled)
	})
}

// SetOffer sets how the tool reaches the main model: from the start (direct), when it searches (deferred),
// or not at all (hidden).
func (t *Tools) SetOffer(id string, offer tool.Visibility) error {
	return t.of(id, func(plugin, name string) error {
		return t.core.Host.ToolChoices.SetVisibility(t.call(), plugin, name, offer)
	})
}

// SetMembers sets whether members of councils may have the tool.
func (t *Tools) SetMembers(id string, may bool) error {
	return t.of(id, func(plugin, name string) error {
		return t.core.Host.ToolChoices.SetForMembers(t.call(), plugin, name, may)
	})
}

// of does something with the tool of an id.
func (t *Tools) of(id string, do func(plugin, name string) error) error {
	plugin, name, ok := strings.Cut(id, ":")
	if !ok {
		return fault.New(fault.NotFound, "app.tools", "There is no tool "+id+".", "")
	}
	return do(plugin, name)
}
