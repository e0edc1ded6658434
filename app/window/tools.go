package window

import (
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Tools is bound: the tools of all plugins.
type Tools struct {
	*lifecycle
	core Core
}

// List returns every tool that can be called or waits to be.
func (t *Tools) List() (ToolList, error) {
	ctx := t.call()
	out := ToolList{Revision: t.core.Bus.Revision(bus.Tools, ""), Tools: []ToolView{}}
	for _, s := range t.core.Host.List() {
		for _, x := range s.Tools {
			v := toolView(t.core, x, s)
			if v.Enabled {
				out.Tokens += v.Tokens
			}
			out.Tools = append(out.Tools, v)
		}
	}
	if name, err := t.core.Models.Default(ctx); err == nil {
		out.ContextTokens = t.core.Models.Info(ctx, name).Context
	}
	return out, nil
}

// SetEnabled says whether models are offered the tool.
func (t *Tools) SetEnabled(id string, enabled bool) error {
	ctx := t.call()
	pluginID, name, ok := strings.Cut(id, ":")
	if !ok {
		return fault.New(fault.NotFound, "app.tools", "There is no tool "+id+".", "")
	}
	return t.core.Host.SetToolEnabled(ctx, pluginID, name, enabled)
}

// bytesPerToken is the usual estimate for English and JSON.
const bytesPerToken = 4

func toolView(core Core, x tool.Tool, s plugin.Status) ToolView {
	wire := x.WireName
	if served, ok := core.Tools.Set().ByID(x.ID()); ok && s.Serving {
		wire = served.WireName
	}
	timeout := x.Timeout
	if timeout == 0 {
		timeout = tool.DefaultTimeout
	}
	status := "ready"
	if !s.Serving {
		status = string(s.State)
	}
	enabled, set := s.Enabled[x.Name]
	times, last := core.Gate.Rules.Uses(x.ID())
	v := ToolView{
		ID: x.ID(), Plugin: x.Plugin, PluginName: s.Manifest.Name, Name: x.Name, WireName: wire, Title: x.DisplayName(),
		Description: x.Description,
		Parameters:  indented(x.Parameters), Visibility: x.Visibility, Enabled: s.Serving && (enabled || !set),
		Offered: s.Serving && (enabled || !set) && x.Visibility != tool.Hidden && x.For(tool.MainRole), Dialect: x.Dialect,
		Digest: x.Digest, Status: status, TimeoutMS: timeout.Milliseconds(),
		Tokens:       (len(wire) + len(x.Description) + len(x.Parameters) + bytesPerToken - 1) / bytesPerToken,
		Capabilities: list(core.Gate.Reach.Can(x)), Rule: rule(core, x), File: x.File, Line: x.Line,
		Warnings: list(x.Warnings),
	}
	if times > 0 {
		v.LastUsed = chat.Stamp(last)
	}
	return v
}

// rule says in a few words what would happen if the main model called the tool.
func rule(core Core, x tool.Tool) string {
	steps := core.Gate.Decisions.Explain(gate.Call{Caller: gate.Main, Tool: x})
	if len(steps) == 0 {
		return ""
	}
	last := steps[len(steps)-1]
	switch {
	case last.Effect == gate.Allow && last.Rule != "":
		return "Allowed by your rule"
	case last.Effect == gate.Allow:
		return "Allowed"
	case last.Effect == gate.Deny && last.Rule != "":
		return "Never, by your rule"
	case last.Effect == gate.Deny:
		return "Not allowed"
	}
	return "Asks first"
}
