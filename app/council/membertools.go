package council

import (
	"slices"

	"conclave/app/tool"
)

// ToolsOf returns the ids of a member's tools: those assigned to it, without those for other roles,
// and those for it by name (tool.Tool.Role). The latter replace assigned ones of the same name and
// dialect.
func ToolsOf(m Member, all []tool.Tool) []string {
	ids := slices.Clone(m.Tools)
	for _, t := range all {
		switch {
		case !t.For(m.Name):
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == t.ID() })
		case t.Role == "" || slices.Contains(ids, t.ID()):
		default:
			ids = slices.DeleteFunc(ids, func(id string) bool {
				return slices.ContainsFunc(all, func(other tool.Tool) bool {
					return other.ID() == id && other.Name == t.Name && other.Dialect == t.Dialect && other.Role == ""
				})
			})
			ids = append(ids, t.ID())
		}
	}
	return ids
}

// WithTools returns the council with each member's tools from ToolsOf.
func (c Council) WithTools(all []tool.Tool) Council {
	c.Members = slices.Clone(c.Members)
	for i := range c.Members {
		c.Members[i].Tools = ToolsOf(c.Members[i], all)
	}
	return c
}

// Eligible reports whether a tool can be assigned to members, and if not, why. A plugin that decides
// itself (tool.Convention.Council) has the say; else tools that are switched off are not eligible.
func Eligible(t tool.Tool) (ok bool, why string) {
	switch {
	case t.CouncilEligible:
		return true, ""
	case t.Convention.Council:
		return false, "Its plugin does not offer " + t.DisplayName() + " to members of a council."
	case t.Visibility == tool.Hidden:
		return false, t.DisplayName() + " is switched off."
	}
	return true, ""
}
