package chat

import (
	"slices"
	"strings"
)

// CutAtLimit notes that an answer ended where the model's limit is.
const CutAtLimit = "The answer was cut at the model's length limit."

// CanGoOn reports whether the rest of an answer can be asked for: it has text, made no calls, and was stopped, cut off,
// or ended at the model's limit.
func (m Message) CanGoOn() bool {
	switch m.State {
	case Stopped, Interrupted, Failed: // its calls were never made
	default:
		calls := slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind == PartToolCall })
		if calls || !slices.ContainsFunc(m.Notes, func(n Note) bool { return n.Text == CutAtLimit && !n.Imported }) {
			return false
		}
	}
	return m.Role == RoleAssistant && strings.TrimSpace(TextOf(m.Parts)) != ""
}
