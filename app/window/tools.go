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
	Revision      uint64      `json:"revision"`
	Tools         []view.Tool `json:"tools"`          // sorted by plugin, then name
	Tokens        int         `json:"tokens"`         // sum of the enabled ones
	ContextTokens int64       `json:"context_tokens"` // the default model's window in tokens; 0 = not known
}

// List returns every tool that can be called or waits to be.
func (t *Tools) List() (ToolList, error) {
	ctx := t.call()
	out := ToolList{Revision: t.core.Bus.Revision(bus.Tools, "")}
	out.Tools = view.NewToolList(t.core.Host.List(), t.core.Tools.Set(), t.core.Gate.AboutTool)
	for _, v := range out.Tools {
		if v.Enabled {
			out.Tokens += v.Tokens
		}
	}
	if name, err := t.core.Models.Default(ctx); err == nil {
		out.ContextTokens = t.core.Models.Info(ctx, name).Context
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
