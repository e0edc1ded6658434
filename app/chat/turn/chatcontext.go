package turn

import (
	"slices"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/tool"
)

// maxChatContext bounds the text of a chat that goes with one call; a tool needs the
// newest.
const maxChatContext = 512 << 10

// chatContext returns the prompt of this round as text, for tools whose convention is
// to get it with every call of the main model; nil for the others.
func (t *run) chatContext(called tool.Tool) []tool.ContextMessage {
	if !called.Convention.Chat {
		return nil
	}
	path := t.path
	if n := len(path); n > 0 && path[n-1].Role == chat.RoleAssistant && len(callsOf(&path[n-1])) > 0 {
		path = path[:n-1] // it asks for this call
	}
	left := maxChatContext
	out := []tool.ContextMessage{}
	for _, m := range slices.Backward(path) {
		if m.Hidden || m.Role != chat.RoleUser && m.Role != chat.RoleAssistant {
			continue
		}
		text := chat.TextOf(m.Parts)
		if text == "" {
			continue
		}
		if left -= len(text); left < 0 {
			break
		}
		out = append(out, tool.ContextMessage{Role: string(m.Role), Content: text})
	}
	if t.system != "" {
		system := t.system
		if len(system) > maxChatContext {
			cut := maxChatContext
			for !utf8.RuneStart(system[cut]) {
				cut--
			}
			system = system[:cut]
		}
		out = append(out, tool.ContextMessage{Role: "system", Content: system})
	}
	slices.Reverse(out)
	return out
}
