package turn

import (
	"strings"

	"conclave/app/tool"
)

// guided returns the system text of a request with what the plugins of its tools say about using them. A plugin whose
// tools are all found by searching says nothing until then.
func guided(system string, tools *tool.Set) string {
	if tools == nil {
		return system
	}
	var b strings.Builder
	b.WriteString(system)
	said := map[string]bool{}
	for _, t := range tools.Tools() {
		if t.Guide == "" || t.Visibility == tool.Deferred || said[t.Plugin] {
			continue
		}
		said[t.Plugin] = true
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("<tools-of name=\"" + t.Plugin + "\">\n")
		b.WriteString(strings.ReplaceAll(t.Guide, "</tools-of>", "") + "\n</tools-of>")
	}
	return b.String()
}
