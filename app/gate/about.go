package gate

import (
	"time"

	"conclave/app/tool"
)

// About holds the approval of a plugin, as a person is shown it.
type About struct {
	Developing   bool     // the person edits it: their edits keep its approval
	Shipped      bool     // it comes with Conclave
	Capabilities []string // what its tools can do, in words
	Shadowing    []string // see Approvals.Shadowing
}

// About returns the approval of a plugin, as a person is shown it.
func (g *Gate) About(plugin string) About {
	f := g.Decisions.lock()
	approved, can := f.approvals[plugin], []Capability(nil)
	if _, known := f.known[plugin]; known {
		can = f.able(plugin)
	}
	g.Decisions.unlock()
	return About{
		Developing: approved.Developing, Shipped: approved.Bundled, Capabilities: Inferred{}.Labels(can),
		Shadowing: g.Approvals.Shadowing(plugin),
	}
}

// AboutTool holds the state of a tool, as a person is shown it.
type AboutTool struct {
	Capabilities []string  // what it can do, in words
	Decided      Step      // that would decide about a call by the main model
	LastUsed     time.Time // zero if it was never allowed
}

// AboutTool returns the state of a tool, as a person is shown it.
func (g *Gate) AboutTool(t tool.Tool) AboutTool {
	_, last := g.Rules.Uses(t.ID())
	steps := g.Decisions.Explain(Call{Caller: Main, Tool: t})
	return AboutTool{g.Reach.Can(t), steps[len(steps)-1], last}
}
