package council

import (
	"slices"

	"conclave/app/tool"
)

// ToolsOf returns the ids of the tools that a member has: those assigned to it, without
// what is for somebody else, and those that are for it by name (tool.Tool.Role). One of
// these takes the place of an assigned one of its name and dialect.
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

// WithTools returns the council with the tools that its members have (ToolsOf).
func (c Council) WithTools(all []tool.Tool) Council {
	c.Members = slices.Clone(c.Members)
	for i := range c.Members {
		c.Members[i].Tools = ToolsOf(c.Members[i], all)
	}
	return c
}

// Eligible reports whether a tool can be assigned to members, and if not why, in a
// sentence. Where tools say so themselves (tool.Convention.Council) that counts, and else
// whether models are offered it.
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
