package terminal

import (
	"slices"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// errNotAvailable is the error about a plugin that was named and offers a model no tools: it does
// not serve, has no tools, or none that its name alone offers.
func errNotAvailable(p plugin.Status) error {
	if p.State != plugin.Ready || slices.Contains(p.Denied, "tools") {
		return notServing(p)
	}
	if len(p.Tools) == 0 {
		return fault.New(fault.Unavailable, "cli.tool", "The plugin "+p.ID+" offers no tools.",
			"Look at it with conclave plugins show "+p.ID+".")
	}
	why := "all of its tools are switched off"
	if !slices.ContainsFunc(p.Tools, func(t tool.Tool) bool { return !t.CouncilEligible }) {
		why = "its tools are for council members"
	}
	first := p.Tools[0]
	return fault.New(fault.NotAllowed, "cli.tool", "The plugin "+p.ID+" is ready, but "+why+".",
		"Name a tool to use it this once, as in -T "+first.ID()+", or have it offered with conclave tools enable "+
			first.ID()+". conclave tools list --all shows them.")
}

// notServing is the error about a plugin whose tools cannot be called.
func notServing(p plugin.Status) error {
	show, trust := "conclave plugins show "+p.ID, "conclave plugins trust "+p.ID
	look := "Look at it with " + show + ", then " + trust + "."
	broken := func(what string) error {
		return fault.New(fault.Unavailable, "cli.tool", "The plugin "+p.ID+" "+what+": "+sentence(p.Problem.Error()),
			p.Problem.Hint)
	}
	refused := func(message, hint string) error { return fault.New(fault.NotAllowed, "cli.tool", message, hint) }
	switch {
	case p.Problem != nil && p.State == plugin.Quarantined: // it rests
		return broken("is paused")
	case p.State == plugin.NeedsApproval && p.Listed:
		return refused("The plugin "+p.ID+" runs, but its tools have not been approved.", look)
	case p.State == plugin.NeedsApproval:
		return refused("The plugin "+p.ID+" is new and has not been approved.",
			"Approve it with "+trust+", or for one run with --approve always and its name.")
	case p.State == plugin.Quarantined && p.Serving:
		return refused("A new version of the plugin "+p.ID+" waits for your approval; "+versionUsed(p)+".", look)
	case p.State == plugin.Quarantined && !codeChanged(p):
		return refused("The plugin "+p.ID+" lists other tools than you approved, and waits.", look)
	case p.State == plugin.Quarantined:
		return refused("The plugin "+p.ID+" changed since it was approved and is paused.", look)
	case p.State == plugin.Disabled:
		return refused("The plugin "+p.ID+" is switched off.", "Switch it on with conclave plugins enable "+p.ID+".")
	case p.Problem != nil:
		return broken("did not load")
	case p.ToolsDenied || slices.Contains(p.Denied, "tools"):
		return refused("The plugin "+p.ID+" may not offer tools: you revoked that permission.",
			"Grant it again with conclave plugins grant "+p.ID+" tools.")
	}
	return fault.New(fault.Unavailable, "cli.tool", "The plugin "+p.ID+" is not ready.", "Look at it with "+show+".")
}

// codeChanged reports whether the files of the version that waits differ from the approved one.
func codeChanged(p plugin.Status) bool {
	return slices.ContainsFunc(p.Changes, func(c gate.Change) bool { return c.Field == "code" })
}
