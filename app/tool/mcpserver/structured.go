package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"

	"conclave/app/chat"
	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// requestIsModern reports whether a request carries a version that has lists and single values as structured results,
// and output schemas for them. Older ones have objects alone.
func requestIsModern(req mcp.Request) bool {
	version, _ := req.GetParams().GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	return version >= modernVersion
}

// listForEra takes output schemas that are not those of an object from what programs of the first era list: many read
// no tool of a list that has one.
func listForEra(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		r, err := next(ctx, method, req)
		list, ok := r.(*mcp.ListToolsResult)
		if err != nil || !ok || requestIsModern(req) {
			return r, err
		}
		fitting := *list
		fitting.Tools = make([]*mcp.Tool, len(list.Tools))
		for i, t := range list.Tools {
			if shape, ok := t.OutputSchema.(json.RawMessage); ok && !ofObject(shape) {
				other := *t
				other.OutputSchema = nil
				t = &other
			}
			fitting.Tools[i] = t
		}
		return &fitting, nil
	}
}

// ofObject reports whether a schema is that of an object.
func ofObject(schema json.RawMessage) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// unlikeSchema is said of a result that is not what its tool's output schema promises. Programs throw such a result
// away, with an error of their own that does not say that the call happened.
const unlikeSchema = "The tool was called and answered, but its structured result is not what its output schema " +
	"promises. Its answer:"

// structured adds the value of a call's result to what a program gets. shape is the output schema that the program
// lists; where the value does not fit it, the result is an error that holds the rest.
func structured(out *mcp.CallToolResult, r tool.Result, shape json.RawMessage, modern bool) *mcp.CallToolResult {
	value := bytes.TrimSpace(r.Value)
	object := len(value) > 0 && value[0] == '{'
	switch {
	case r.Status != chat.CallOK:
		return out
	case len(shape) > 0 && (modern || ofObject(shape)) && !fits(shape, value):
		out.IsError = true
		out.Content = append([]mcp.Content{&mcp.TextContent{Text: unlikeSchema}}, out.Content...)
		return out
	case object || modern && len(value) > 0:
		out.StructuredContent = json.RawMessage(value)
	}
	return out
}

func fits(shape, value json.RawMessage) bool {
	if len(value) == 0 {
		return false
	}
	_, err := tool.CheckResult(shape, value)
	return err == nil
}
