package mcp

import (
	"strings"

	"conclave/app/plugin"
	"conclave/app/tool"
)

// Describe implements plugin.Describer: what a server is started or reached with, and what it said of itself when it
// ran last.
func (d *Dialect) Describe(id string, m plugin.Manifest, tools []tool.Tool) []plugin.Fact {
	s := serverOf(m)
	facts := []plugin.Fact{{Name: "Command", Text: commandLine(s)}}
	if s.Remote() {
		facts = []plugin.Fact{{Name: "Address", Text: s.URL}}
	}
	d.mu.Lock()
	started := d.started[id]
	d.mu.Unlock()
	if started != "" {
		facts = append(facts, plugin.Fact{Name: "Program", Text: started})
	}
	if len(tools) > 0 {
		if said := strings.Split(tools[0].Instance, instanceBreak); len(said) > 1 {
			facts = append(facts, plugin.Fact{Name: "Server", Text: said[0]}, plugin.Fact{Name: "Protocol", Text: said[1]})
		}
	}
	if guide := tool.GuideIn(tools); guide != "" {
		facts = append(facts, plugin.Fact{Name: "For models", Text: guide})
	}
	return facts
}
