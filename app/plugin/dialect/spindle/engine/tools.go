package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/limit"
)

// Bounds of contracts/spindle, section 6.
const (
	maxDescriptor = 64 << 10 // bytes of one descriptor as JSON
	maxToolName   = 128      // characters
)

// tool is one tool as the plugin registered it.
type tool struct {
	name, title, description string
	schema                   json.RawMessage // a JSON Schema of an object
	council, inline          bool
	file                     string
	line                     int
	warnings                 []string
}

// tools are the registered ones, in the order they came. It is safe for
// concurrent use.
type tools struct {
	mu   sync.Mutex // guards the fields below
	all  []tool
	left int // how many were refused because there were too many
}

// put adds t, or replaces the one of the same name in its place. It returns why
// it did not, as a sentence for the plugin's log, or nothing.
func (ts *tools) put(t tool) (refused string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if i := ts.index(t.name); i >= 0 {
		ts.all[i] = t
		return ""
	}
	if len(ts.all) >= limit.PluginTools {
		ts.left++
		return fmt.Sprintf("The tool %q was not registered: a plugin may have %s tools.", t.name,
			limit.Number(limit.PluginTools))
	}
	ts.all = append(ts.all, t)
	return ""
}

// leftOut counts the tools that were refused because there were too many.
func (ts *tools) leftOut() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.left
}

// remove takes the tool away and reports whether it was there.
func (ts *tools) remove(name string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	i := ts.index(name)
	if i < 0 {
		return false
	}
	ts.all = slices.Delete(ts.all, i, i+1)
	return true
}

// has reports whether name is registered.
func (ts *tools) has(name string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.index(name) >= 0
}

// list returns the tools as they are now.
func (ts *tools) list() []tool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.Clone(ts.all)
}

// index is -1 for an unknown name. The caller holds mu.
func (ts *tools) index(name string) int {
	return slices.IndexFunc(ts.all, func(t tool) bool { return t.name == name })
}

// readTool reads a descriptor (contracts/spindle, section 6.1) and checks it as section
// 6.3 says. refused is why it cannot be registered, as a sentence for the
// plugin's log, or empty.
func readTool(descriptor string, at place) (t tool, refused string) {
	var d struct {
		Name        any             `json:"name"`
		DisplayName any             `json:"display_name"`
		Description any             `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Council     any             `json:"council_eligible"`
		Inline      any             `json:"inline_available"`
	}
	if err := json.Unmarshal([]byte(descriptor), &d); err != nil {
		return tool{}, fmt.Sprintf("A tool was not registered: its description cannot be read (%v).", err)
	}
	name, ok := d.Name.(string)
	if !ok || name == "" {
		return tool{}, "A tool was not registered: it has no name."
	}
	shown := excerpt(name, 60)
	switch {
	case utf8.RuneCountInString(name) > maxToolName:
		return tool{}, fmt.Sprintf("The tool %q was not registered: its name has more than %d characters.", shown,
			maxToolName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return tool{}, fmt.Sprintf("The tool %q was not registered: its name holds control characters.", shown)
	case len(descriptor) > maxDescriptor:
		return tool{}, fmt.Sprintf("The tool %q was not registered: its description has %d KB; %d KB are allowed.",
			shown, len(descriptor)>>10, maxDescriptor>>10)
	}
	t = tool{name: name, title: name, council: d.Council == true, inline: d.Inline == true, file: at.file, line: at.line}
	if s, ok := d.DisplayName.(string); ok && strings.TrimSpace(s) != "" {
		t.title = s
	}
	t.description, _ = d.Description.(string)
	if t.description == "" {
		t.warn("The tool %q has no description; a model will hardly know when to use it.", name)
	}
	if strings.Contains(name, ":") {
		t.warn("The name %q holds a colon, which separates a plugin from its tool elsewhere.", name)
	}
	t.schema = objectSchema(d.Parameters, &t)
	return t, ""
}

func (t *tool) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, args...))
}

var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

// objectSchema returns parameters as a JSON Schema of an object: untouched where
// it is one, with "type" added where that is all it lacks, empty otherwise.
func objectSchema(parameters json.RawMessage, t *tool) json.RawMessage {
	trimmed := bytes.TrimSpace(parameters)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return emptySchema
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(trimmed, &fields) != nil {
		t.warn("The parameters of %q are no JSON Schema of an object; it is offered without parameters.", t.name)
		return emptySchema
	}
	var properties map[string]json.RawMessage
	if raw, ok := fields["properties"]; ok && json.Unmarshal(raw, &properties) != nil {
		t.warn("The parameters of %q hold properties that are no object; it is offered without parameters.", t.name)
		return emptySchema
	}
	kind, ok := fields["type"]
	if !ok {
		if len(trimmed) == 2 {
			return emptySchema
		}
		return append(json.RawMessage(`{"type":"object",`), trimmed[1:]...)
	}
	if string(bytes.TrimSpace(kind)) != `"object"` {
		t.warn("The parameters of %q have the type %s instead of \"object\"; it is offered without parameters.", t.name,
			excerpt(string(kind), 40))
		return emptySchema
	}
	return trimmed
}

// excerpt cuts text to at most n characters.
func excerpt(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}
