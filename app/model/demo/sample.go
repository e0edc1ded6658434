package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/jsonobject"
	"conclave/app/model"
)

// Parts of names: gentle ones of tools that only look or count, the best first, and rough
// ones of tools that change something.
var (
	gentle = []string{"statistic", "count", "dice", "roll", "echo", "between", "date", "time", "list", "read", "get"}
	rough  = []string{
		"delete", "remove", "write", "save", "send", "run", "exec", "shell", "kill", "install", "move", "upload", "pay",
		"buy",
	}
)

// harmless picks a tool to show a permission request with, and its arguments: the
// gentlest name whose arguments can all be made up.
func harmless(tools []model.ToolDefinition) (best model.ToolDefinition, arguments json.RawMessage, ok bool) {
	bestScore := -1
	for _, t := range tools {
		in := func(word string) bool { return strings.Contains(strings.ToLower(t.Name), word) }
		if t.Name == searchTool || slices.ContainsFunc(rough, in) {
			continue
		}
		score := 0
		if i := slices.IndexFunc(gentle, in); i >= 0 {
			score = len(gentle) - i
		}
		if object, made := sampleArguments(t.Parameters); made && score > bestScore {
			best, arguments, bestScore, ok = t, object, score, true
		}
	}
	return best, arguments, ok
}

// searchTool is Conclave's own, with which a model finds other tools: no example for a person.
const searchTool = "tool_search"

// sampleArguments returns values for the required parameters of a tool, in the order of its
// schema, and whether there is one for each.
func sampleArguments(schema json.RawMessage) (json.RawMessage, bool) {
	var top struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &top) != nil {
		return nil, false
	}
	var members []string
	for name, raw := range jsonobject.Fields(top.Properties) {
		if !slices.Contains(top.Required, name) {
			continue
		}
		value, ok := sample(raw)
		if !ok {
			return nil, false
		}
		members = append(members, fmt.Sprintf("%s: %s", quote(name), value))
	}
	return json.RawMessage("{" + strings.Join(members, ", ") + "}"), len(members) == len(top.Required)
}

// sample returns a value that a parameter's schema takes, and whether one could be made.
func sample(schema json.RawMessage) (json.RawMessage, bool) {
	var p struct {
		Type     string
		Enum     []json.RawMessage
		Default  json.RawMessage
		Examples []json.RawMessage
		Pattern  string
		Format   string
		Minimum  float64
	}
	if json.Unmarshal(schema, &p) != nil {
		return nil, false
	}
	switch {
	case len(p.Examples) > 0:
		return p.Examples[0], true
	case len(p.Default) > 0:
		return p.Default, true
	case len(p.Enum) > 0:
		return p.Enum[0], true
	}
	switch p.Type {
	case "string":
		return quote("Hello from Demo guide"), p.Pattern == "" && p.Format == ""
	case "integer":
		return json.RawMessage(itoa(max(2, int(p.Minimum)))), true
	case "boolean":
		return json.RawMessage("false"), true
	case "array":
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
