package model

import (
	"cmp"
	"fmt"
	"slices"

	"conclave/app/chat"
)

// Join adds a message to the end of all, which Join made. Neighbours of one role become one
// message, as every provider takes them; one without parts is left out. The parts of m stay as
// they are.
func Join(all []Message, m Message) []Message {
	n := len(all)
	switch {
	case len(m.Parts) == 0:
	case n > 0 && all[n-1].Role == m.Role:
		all[n-1].Parts = append(all[n-1].Parts, m.Parts...)
	default:
		all = append(all, Message{Role: m.Role, Parts: slices.Clip(m.Parts)}) // the room behind them is another's
	}
	return all
}

// Placeholder is the text for a model in place of a file that it cannot get.
func Placeholder(m *chat.Media) string {
	return fmt.Sprintf("[%s, %s, %d bytes, which this model cannot be shown]", cmp.Or(m.Name, "a file"), m.MIME,
		max(m.Size, int64(len(m.Data))))
}

// ArgumentText is the argument text of a call as the model wrote it.
func ArgumentText(c *chat.ToolCall) string {
	switch {
	case c.Raw != "":
		return c.Raw
	case len(c.Arguments) == 0:
		return "{}"
	}
	return string(c.Arguments)
}
