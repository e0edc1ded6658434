package tool_test

import (
	"encoding/json"
	"fmt"

	"conclave/app/tool"
)

// The error names the argument, so that a model can correct its call.
func ExampleCheck() {
	schema := json.RawMessage(`{
		"type": "object",
		"properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
		"required": ["city"]
	}`)
	for _, arguments := range []string{`{"city": "Oslo", "days": 3}`, `{"days": 30}`} {
		_, err := tool.Check(schema, json.RawMessage(arguments))
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// city: is missing
	// days: expected at most 7, got 30
}
