package openai

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/chat"
	"conclave/app/model"
)

// optional are the parameters a model may do without.
var optional = []string{"stream_options", "reasoning_effort", "temperature", "top_p", "max_tokens", "tool_choice"}

// everywhere stands before the name of a member of thinking that a server wants with every message
// of the model.
const everywhere = "everywhere "

// shuns returns what the model refused before, by name, and what it asked for everywhere.
func (m *client) shuns() map[string]bool {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	return maps.Clone(m.p.shuns[m.id])
}

// concede remembers what a refusal names of the request, and reports whether that was
// new. Each thing is conceded once, so this ends.
func (m *client) concede(err error, r model.Request, already map[string]bool) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.BadRequest || e.Status < 400 {
		return false
	}
	name := m.concession(e.Detail, r, already)
	if name == "" {
		return false
	}
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	if m.p.shuns[m.id] == nil {
		m.p.shuns[m.id] = map[string]bool{}
	}
	m.p.shuns[m.id][name] = true
	return true
}

// concession returns what of a request is changed after a refusal with these words, or "".
func (m *client) concession(words string, r model.Request, already map[string]bool) string {
	for _, name := range optional {
		if !already[name] && strings.Contains(words, name) {
			return name
		}
	}
	answered := slices.ContainsFunc(r.Messages, func(m model.Message) bool { return m.Role == chat.RoleAssistant })
	for _, name := range thinkingNames {
		switch {
		case !answered || !named(words, name) || already[name]:
		case !already[everywhere+name]:
			return everywhere + name // it was left out where this server wants it
		default:
			return name
		}
	}
	for _, name := range m.returned(r) {
		if !already[name] && named(words, name) {
			return name
		}
	}
	if answered && !already["content"] && named(words, "content") && emptiness().MatchString(words) {
		return "content"
	}
	return ""
}

// emptiness matches what servers say of a text that is empty.
var emptiness = pattern.Lazy(`(?i)empty|blank|at least 1|too short|min_?length`)

// named reports whether words hold a name, and not only as a part of a longer one.
func named(words, name string) bool {
	found, err := regexp.MatchString(`\b`+regexp.QuoteMeta(name)+`\b`, words)
	return err == nil && found
}

// returned are the names of what goes back to the server that sent it.
func (m *client) returned(r model.Request) []string {
	names := map[string]bool{}
	for _, message := range r.Messages {
		for _, p := range message.Parts {
			var v vendor
			if json.Unmarshal(p.Vendor[Kind], &v) != nil || v.Host != m.p.link.Host() {
				continue
			}
			if v.Drawn {
				names["images"] = true
			}
			if len(v.Details) > 0 {
				names["reasoning_details"] = true
			}
			for _, members := range []map[string]json.RawMessage{v.Call, v.Message} {
				for name := range members {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
