package llm

import (
	"cmp"
	"fmt"

	"conclave/app/chat"
)

// Placeholder tells a model of a file that it cannot be shown.
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
