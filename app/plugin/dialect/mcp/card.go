package mcp

import (
	"strings"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/tool"
)

// Describe implements plugin.Describer: which program runs, where that is not what the command names, and what a server
// said of itself when it ran last. Its command or address is in its description.
func (d *Dialect) Describe(id string, m plugin.Manifest, tools []tool.Tool) (facts []plugin.Fact) {
	d.mu.Lock()
	started, also := d.started[id], d.also[id]
	d.mu.Unlock()
	if started != "" && started != serverOf(m).Command {
		facts = append(facts, plugin.Fact{Name: "Program", Text: started})
	}
	if len(tools) > 0 {
		if said := strings.Split(tools[0].Instance, instanceBreak); len(said) > 1 {
			facts = append(facts, plugin.Fact{Name: "Server", Text: said[0]},
				plugin.Fact{Name: "Protocol", Text: spoken(said[1])})
		}
	}
	if guide := tool.GuideIn(tools); guide != "" {
		facts = append(facts, plugin.Fact{Name: "For models", Text: guide})
	}
	if also != "" {
		facts = append(facts, plugin.Fact{Name: "Also offers", Text: also})
	}
	return facts
}

// spoken returns the version of the protocol as a person reads it: the era, which the record of a call names too, is
// for those who look into a failure.
func spoken(version string) string {
	version, _, _ = strings.Cut(version, " (")
	return version
}

// besidesTools names what a server offers besides tools; "" for nothing.
func besidesTools(c client.Capabilities) string {
	var all []string
	for _, one := range []struct {
		is   bool
		name string
	}{{c.Resources, "resources"}, {c.Prompts, "prompts"}, {c.Completions, "completions"}, {c.Tasks, "tasks"}} {
		if one.is {
			all = append(all, one.name)
		}
	}
	return listed(all)
}
