package deliberation

import (
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/tool"
)

// contextMessages encodes what a member sees of the chat as text, for tools that read it
// (contracts/spindle, sections 7.6 and SP-28), without pictures and calls.
func contextMessages(g council.Given) []tool.ContextMessage {
	out := []tool.ContextMessage{}
	if g.System != "" {
		out = append(out, tool.ContextMessage{Role: "system", Content: g.System})
	}
	for _, m := range g.Path {
		if m.Role == chat.RoleTool {
			continue
		}
		if text := chat.TextOf(m.Parts); text != "" {
			out = append(out, tool.ContextMessage{Role: string(m.Role), Content: text})
		}
	}
	return out
}
