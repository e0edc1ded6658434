package authtest

import (
	"encoding/json"
	"net/http"
)

// Echo answers as an MCP server with one tool, echo, which returns hello.
func Echo(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
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
		answer["result"] = map[string]any{"tools": []any{map[string]any{
			"name": "echo", "description": "Says it again.", "inputSchema": map[string]any{"type": "object"},
		}}}
	case "tools/call":
		answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": "hello"}}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
