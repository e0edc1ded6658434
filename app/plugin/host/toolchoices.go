package host

import (
	"context"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/tool"
)

// ToolChoices sets how single tools are offered. Its methods are safe for concurrent use.
type ToolChoices struct{ h *Host }

// SetEnabled sets whether a tool of the plugin is offered to models, durably.
// Kind not_found when the plugin has no such tool.
func (t *ToolChoices) SetEnabled(ctx context.Context, id, name string, on bool) error {
	return t.change(ctx, id, name, func(s *savedState) { put(&s.Tools, name, on) })
}

// SetVisibility sets how a tool of the plugin reaches the main model, durably: from the start, when it
// searches, or not at all. Kind not_found when the plugin has no such tool, invalid for another visibility.
func (t *ToolChoices) SetVisibility(ctx context.Context, id, name string, v tool.Visibility) error {
	if v != tool.Direct && v != tool.Deferred && v != tool.Hidden {
		return fault.New(fault.Invalid, "plugin.tool", "No tool is offered as “"+string(v)+"”.",
			"There are: direct, deferred, hidden.")
	}
	return t.change(ctx, id, name, func(s *savedState) {
		put(&s.Tools, name, v != tool.Hidden)
		if v != tool.Hidden {
			put(&s.Later, name, v == tool.Deferred)
		}
	})
}

// SetForMembers sets whether members of councils may have a tool of the plugin, durably. Kind not_found
// when the plugin has no such tool.
func (t *ToolChoices) SetForMembers(ctx context.Context, id, name string, may bool) error {
	return t.change(ctx, id, name, func(s *savedState) {
		if put(&s.MainOnly, name, true); may {
			delete(s.MainOnly, name)
		}
	})
}

func put(to *map[string]bool, name string, value bool) {
	if *to == nil {
		*to = map[string]bool{}
	}
	(*to)[name] = value
}

func (t *ToolChoices) change(ctx context.Context, id, name string, do func(*savedState)) error {
	s, err := t.h.Status(id)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(s.Tools, func(one tool.Tool) bool { return one.Name == name }) {
		return fault.New(fault.NotFound, "plugin.tool", "The plugin "+id+" has no tool named "+name+".", "")
	}
	return t.h.change(ctx, id, do)
}
