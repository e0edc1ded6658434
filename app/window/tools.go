package window

import (
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
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
	// ForRoom holds the ids of those that the default model gets only the names of, and searches for.
	ForRoom       []string `json:"for_room"`
	ContextTokens int64    `json:"context_tokens"` // the default model's window in tokens; 0 = not known
}

// List returns every tool that can be called or waits to be.
func (t *Tools) List() (ToolList, error) {
	ctx := t.call()
	out := ToolList{Revision: t.core.Bus.Revision(bus.Tools, "")}
	set := t.core.Tools.Set()
	out.Tools = view.NewToolList(t.core.Host.List(), set, t.core.Gate.AboutTool)
	fit := set
	if name, err := t.core.Models.Default(ctx); err == nil {
		info := t.core.Models.Info(ctx, name)
		out.ContextTokens = info.Context
		fit = t.core.Turns.Fit(ctx, set.ForModel(), info)
	}
	out.ForRoom = []string{}
	for _, v := range out.Tools {
		switch one, ok := fit.ByID(v.ID); {
		case ok && one.ForRoom:
			out.ForRoom = append(out.ForRoom, v.ID)
		case v.Enabled:
			out.Tokens += v.Tokens
		}
	}
	return out, nil
}

// SetEnabled sets whether models are offered the tool.
func (t *Tools) SetEnabled(id string, enabled bool) error {
	pluginID, name, ok := strings.Cut(id, ":")
	if !ok {
		return fault.New(fault.NotFound, "app.tools", "There is no tool "+id+".", "")
	}
	return t.core.Host.SetToolEnabled(t.call(), pluginID, name, enabled)
}
