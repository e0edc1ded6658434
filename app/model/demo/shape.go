package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/jsonobject"
	"conclave/app/model"
)

// toolShape is a tool as the guide reads it.
type toolShape struct {
	model.ToolDefinition
	params []param // in the schema's order
}

// param is one property of a tool's schema, as far as the guide understands it.
type param struct {
	name     string
	required bool

	Type        json.RawMessage   `json:"type"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Default     json.RawMessage   `json:"default"`
	Examples    []json.RawMessage `json:"examples"`
	Pattern     string            `json:"pattern"`
	Format      string            `json:"format"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
	Items       *param            `json:"items"`
	AnyOf       []param           `json:"anyOf"`
}

// kind is the first type that is not null.
func (p param) kind() string {
	var one string
	if json.Unmarshal(p.Type, &one) == nil && one != "" {
		return one
	}
	var list []string
	if json.Unmarshal(p.Type, &list) == nil {
		for _, t := range list {
			if t != "null" {
				return t
			}
		}
	}
	for _, option := range p.AnyOf {
		if k := option.kind(); k != "null" && k != "" {
			return k
		}
	}
	if len(p.Enum) > 0 {
		return "string"
	}
	return ""
}

func readTools(definitions []model.ToolDefinition) []toolShape {
	tools := make([]toolShape, len(definitions))
	for i, d := range definitions {
		tools[i] = toolShape{d, readParams(d.Parameters)}
	}
	return tools
}

// readParams reads the properties in their order, which is the author's.
func readParams(schema json.RawMessage) []param {
	var top struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &top) != nil {
		return nil
	}
	var params []param
	for name, raw := range jsonobject.Fields(top.Properties) {
		p := param{}
		_ = json.Unmarshal(raw, &p) // true and false are schemas too, and say nothing
		p.name, p.required = name, slices.Contains(top.Required, name)
		params = append(params, p)
	}
	return params
}

// needs names what is missing in words.
func (t toolShape) needs(missing []param) string {
	var parts []string
	for _, p := range missing {
		part := "`" + p.name + "`"
		if p.Description != "" {
			part += " (" + strings.TrimRight(firstLine(p.Description), ".") + ")"
		} else if k := p.kind(); k != "" {
			part += " (" + kindWords[k] + ")"
		}
		parts = append(parts, part)
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

var kindWords = map[string]string{
	"string": "text", "integer": "a whole number", "number": "a number", "boolean": "yes or no", "array": "a list",
	"object": "an object",
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// sample returns a value that the schema takes, and whether one could be made.
func (p param) sample() (json.RawMessage, bool) {
	switch {
	case len(p.Const) > 0:
		return p.Const, true
	case len(p.Examples) > 0:
		return p.Examples[0], true
	case len(p.Default) > 0 && string(p.Default) != "null":
		return p.Default, true
	case len(p.Enum) > 0:
		return p.Enum[0], true
	}
	if p.Pattern != "" {
		return quote("2d6"), strings.Contains(p.Pattern, "[dD]") // the one pattern of the shipped tools
	}
	switch p.kind() {
	case "string":
		switch p.Format {
		case "":
			return quote("Hello from Demo guide"), true
		case "date":
			return quote("2026-01-31"), true
		}
	case "integer", "number":
		n := 2.0
		if p.Minimum != nil {
			n = max(n, *p.Minimum)
		}
		if p.Maximum != nil {
			n = min(n, *p.Maximum)
		}
		if p.kind() == "number" || n == float64(int64(n)) {
			return json.RawMessage(fmt.Sprint(n)), true
		}
	case "boolean":
		return json.RawMessage("false"), true
	case "array":
		if p.Items != nil {
			if item, ok := p.Items.sample(); ok {
				return json.RawMessage("[" + string(item) + "]"), true
			}
		}
		return json.RawMessage("[]"), true
	}
	return nil, false
}

func quote(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil { // a string always can be
		panic(err)
	}
	return data
}

// Names that promise a tool that only looks or counts, and those that do not.
var (
	gentle = []string{
		"statistic", "count", "dice", "roll", "echo", "convert", "between", "date", "time", "list", "read", "get", "search",
	}
	rough = []string{
		"delete", "remove", "write", "save", "send", "run", "exec", "shell", "kill", "install", "move", "upload", "pay",
		"buy",
	}
)

// harmless picks a tool to show a permission request with, and its arguments: the
// gentlest name whose arguments can all be made up.
func harmless(tools []toolShape) (best toolShape, arguments json.RawMessage, ok bool) {
	bestScore := -1
	for _, t := range tools {
		name := strings.ToLower(t.Name)
		contains := func(word string) bool { return strings.Contains(name, word) }
		if slices.ContainsFunc(rough, contains) {
			continue
		}
		score := 0
		if i := slices.IndexFunc(gentle, contains); i >= 0 {
			score = 2*len(gentle) - i
		}
		object, made := t.samples()
		if made && score > bestScore {
			best, arguments, bestScore, ok = t, object, score, true
		}
	}
	return best, arguments, ok
}

func (t toolShape) samples() (json.RawMessage, bool) {
	var values []pair
	for _, p := range t.params {
		if !p.required {
			continue
		}
		value, ok := p.sample()
		if !ok {
			return nil, false
		}
		values = append(values, pair{p.name, value})
	}
	return object(values), true
}

// pair is a member of an object whose order is kept.
type pair struct {
	name  string
	value json.RawMessage
}

func object(pairs []pair) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range pairs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(quote(p.name))
		b.WriteString(": ")
		b.Write(p.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
