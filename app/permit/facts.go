package permit

import "time"

// CapabilitiesOf returns what the tools of a plugin can do, as the gate learnt it
// from its Candidate. None means that nobody knows.
func (g *Gate) CapabilitiesOf(plugin string) []Capability {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.known[plugin]
	if !ok {
		return nil
	}
	granted, _ := g.permissionsLocked(plugin)
	capabilities, _ := reach(c, granted)
	return capabilities
}

// Uses returns how often a tool was released and when last, as far as the gate
// remembers.
func (g *Gate) Uses(toolID string) (times int, last time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.uses[toolID]
	return u.Times, u.Last
}
