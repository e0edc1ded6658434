package council

import "encoding/json"

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
