package authtest

import (
	"encoding/json"
	"net/http"
)

// Echo answers as an MCP server with two tools: echo returns hello, and leak the token that it was called with.
func Echo(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	switch m.Method {
	case "initialize":
		answer["result"] = map[string]any{
			"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "web", "version": "3"},
			"capabilities": map[string]any{"tools": map[string]any{}},
		}
	case "tools/list":
		var tools []any
		for _, name := range []string{"echo", "leak"} {
			tools = append(tools, map[string]any{
				"name": name, "description": "Does it.", "inputSchema": map[string]any{"type": "object"},
			})
		}
		answer["result"] = map[string]any{"tools": tools}
	case "tools/call":
		text := "hello"
		if m.Params.Name == "leak" {
			text = r.Header.Get("Authorization")
		}
		answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
