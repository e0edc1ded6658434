package permit

import "time"

// CapabilitiesOf returns what the tools of a plugin can do, none when that is not
// known.
func (g *Gate) CapabilitiesOf(plugin string) []Capability {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.known[plugin]
	if !ok {
		return nil
	}
	granted, _ := g.permissionsLocked(plugin)
	return capabilitiesOf(c, granted, g.foldersLocked(plugin))
}

// Uses returns how often the gate allowed calls of a tool, and when last.
func (g *Gate) Uses(toolID string) (times int, last time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.uses[toolID]
	return u.Times, u.Last
}
