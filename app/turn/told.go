package turn

import (
	"slices"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/tool"
)

// maxTold bounds the text of a chat that goes with one call; the newest is what a
// tool needs.
const maxTold = 512 << 10

// told is the prompt of this round as text, for tools whose convention is to be
// given it with every call of the main model; nil for the others.
func (t *run) told(called tool.Tool) []tool.ContextMessage {
	if !called.Convention.Chat {
		return nil
	}
	path := t.path
	if n := len(path); n > 0 && path[n-1].Role == chat.RoleAssistant && len(callsOf(&path[n-1])) > 0 {
		path = path[:n-1] // it asks for this call
	}
	left := maxTold
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
		if len(system) > maxTold {
			cut := maxTold
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
