package view

import (
	"encoding/json"

	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Tool is one tool, exactly as a model is given it, and its state.
type Tool struct {
	ID              string          `json:"id"`
	Plugin          string          `json:"plugin"`
	PluginName      string          `json:"plugin_name"`
	Name            string          `json:"name"`
	WireName        string          `json:"wire_name"`
	Title           string          `json:"title"`
	Description     string          `json:"description"`
	Parameters      json.RawMessage `json:"parameters"` // JSON Schema of an object
	Definition      string          `json:"definition"` // the parameters as indented text, every character of them
	CouncilEligible bool            `json:"council_eligible"`
	InlineAvailable bool            `json:"inline_available"`
	Visibility      tool.Visibility `json:"visibility"`
	Enabled         bool            `json:"enabled"`
	Members         bool            `json:"members"` // the person lets members of councils have it
	Offered         bool            `json:"offered"` // to the main model, not to members of a council alone
	Dialect         string          `json:"contract"`
	Digest          string          `json:"digest"`
	Status          string          `json:"status"` // ready, or the state of its plugin
	TimeoutMS       int64           `json:"timeout_ms"`
	Tokens          int             `json:"tokens"` // about how many its definition costs a request
	Capabilities    []string        `json:"capabilities" say:"true"`
	LastUsed        Time            `json:"last_used"`
	// What the gate would decide if the main model called it: “Asks first”, “Allowed by your rule”.
	Rule     string   `json:"rule" say:"true"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Warnings []string `json:"warnings" say:"true"`
}

// noParameters is the schema of a tool that has none.
var noParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// NewTools returns the tools of a plugin. set has those that serve, which alone have wire names.
// asListed returns each as the plugin lists it, which is what a person approves where a new version
// waits; else one that serves is as models are given it.
func NewTools(s plugin.Status, set *tool.Set, about func(tool.Tool) gate.AboutTool, asListed bool) []Tool {
	out := make([]Tool, len(s.Tools))
	for i, t := range s.Tools {
		if served, ok := set.ByID(t.ID()); ok && s.Serving {
			if t.WireName = served.WireName; !asListed {
				t = served
			}
		}
		out[i] = newTool(t, s, about(t))
	}
	return out
}

// NewToolList returns the tools of all plugins, as NewTools returns those of one that serves.
func NewToolList(plugins []plugin.Status, set *tool.Set, about func(tool.Tool) gate.AboutTool) []Tool {
	all := []Tool{}
	for _, s := range plugins {
		all = append(all, NewTools(s, set, about, false)...)
	}
	return all
}

func newTool(t tool.Tool, s plugin.Status, about gate.AboutTool) Tool {
	enabled, chosen := s.Enabled[t.Name]
	enabled = s.Serving && (enabled || !chosen)
	v := Tool{
		ID: t.ID(), Plugin: t.Plugin, PluginName: s.Manifest.Name, Name: t.Name, WireName: t.WireName,
		Title: t.DisplayName(), Description: t.Description, Parameters: t.Parameters,
		CouncilEligible: t.CouncilEligible, InlineAvailable: t.InlineAvailable, Visibility: t.Visibility,
		Enabled: enabled, Members: !s.MainOnly[t.Name],
		Offered: enabled && t.Visibility != tool.Hidden && t.For(tool.MainRole),
		Dialect: t.Dialect, Digest: t.Digest, Status: string(s.State), TimeoutMS: t.Timeout.Milliseconds(),
		Tokens:       t.Tokens(),
		Capabilities: List(about.Capabilities), LastUsed: Time{about.LastUsed}, Rule: ruleWords(about.Decided),
		File: t.File, Line: t.Line, Warnings: List(t.Warnings),
	}
	if s.Serving {
		v.Status = string(plugin.Ready)
	}
	if t.Timeout == 0 {
		v.TimeoutMS = tool.DefaultTimeout.Milliseconds()
	}
	if len(t.Parameters) == 0 {
		v.Parameters = noParameters
	}
	if t.Visibility == "" {
		v.Visibility = tool.Direct
	}
	v.Definition = tool.Indented(v.Parameters)
	return v
}

// ruleWords returns the outcome of a decision in a few words.
func ruleWords(decided gate.Step) string {
	byRule := decided.Rule != ""
	switch {
	case decided.Effect == gate.Allow && byRule:
		return "Allowed by your rule"
	case decided.Effect == gate.Allow:
		return "Allowed"
	case decided.Effect == gate.Deny && byRule:
		return "Never, by your rule"
	case decided.Effect == gate.Deny:
		return "Not allowed"
	}
	return "Asks first"
}

// Words returns what the tool and the plugin of a call are called. set has the tools that serve;
// pluginName returns the name of a plugin by its id.
func Words(r chat.CallRecord, set *tool.Set, pluginName func(id string) string) showing.Words {
	t, ok := set.ByID(r.ToolID)
	if !ok {
		t = tool.Tool{Name: r.ToolName}
	}
	return showing.Words{
		Title: t.DisplayName(), Doing: t.Doing(), Did: t.Did(), Plugin: pluginName(r.Plugin),
	}
}
