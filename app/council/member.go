package council

import (
	"encoding/json"
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
	case t.Role == tool.MainRole:
		return false, t.DisplayName() + " is kept from members of councils."
	case t.CouncilEligible:
		return true, ""
	case t.Convention.Council:
		return false, "Its plugin does not offer " + t.DisplayName() + " to members of a council."
	case t.Visibility == tool.Hidden:
		return false, t.DisplayName() + " is switched off."
	}
	return true, ""
}

// unknownGender is genderIdentity where a persona does not say (contracts/spindle, section 7).
const unknownGender = 3

// MemberContext encodes a member for plugins: the twelve fields of contracts/spindle, section 7.
// Fields of a deleted persona are empty.
func MemberContext(m Member) json.RawMessage {
	fields := struct {
		ID          string  `json:"memberId"`
		ItemID      string  `json:"itemId"`
		PackID      string  `json:"packId"`
		Pack        string  `json:"packName"`
		Name        string  `json:"name"`
		Role        string  `json:"role"`
		Chance      float64 `json:"chance"`
		Avatar      *string `json:"avatarUrl"`
		Definition  string  `json:"definition"`
		Personality string  `json:"personality"`
		Behavior    string  `json:"behavior"`
		Gender      int     `json:"genderIdentity"`
	}{
		ID: m.ID, ItemID: m.ItemID, PackID: m.PackID, Pack: m.Pack, Name: m.Name, Role: m.Role, Chance: m.Chance,
		Avatar: AvatarURL(m), Definition: m.Persona.Definition, Personality: m.Persona.Personality,
		Behavior: m.Persona.Behavior, Gender: unknownGender,
	}
	if m.Persona.Gender != nil {
		fields.Gender = *m.Persona.Gender
	}
	raw, _ := json.Marshal(fields) // texts and numbers can be encoded
	return raw
}

// AvatarURL returns the path of a member's picture for plugins, or nil.
func AvatarURL(m Member) *string {
	if m.Persona.Avatar == "" {
		return nil
	}
	return new("media/" + m.Persona.Avatar)
}
