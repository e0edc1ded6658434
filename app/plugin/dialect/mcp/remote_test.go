package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/app/plugin"
)

// web is an MCP server over Streamable HTTP, of 2025-06-18, which wants a key if key is not empty.
func web(t testing.TB, key string, asked *atomic.Int32) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if r.Method != http.MethodPost {
			http.Error(w, "only POST", http.StatusMethodNotAllowed)
			return
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments struct{ Text string } `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(raw, &m) != nil || m.ID == nil {
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
			tools := []any{map[string]any{
				"name": "echo", "description": "Says it again.", "inputSchema": map[string]any{"type": "object"},
			}}
			for more, _ := strconv.Atoi(r.URL.Query().Get("tools")); len(tools) < more; {
				tools = append(tools, map[string]any{
					"name": fmt.Sprint("tool", len(tools)), "description": strings.Repeat("Does something. ", 40),
					"inputSchema": json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"A path."},` +
						`"depth":{"type":"integer","minimum":0}},"required":["path"]}`),
				})
			}
			answer["result"] = map[string]any{"tools": tools}
		case "tools/call":
			text := map[string]any{"type": "text", "text": m.Params.Arguments.Text}
			answer["result"] = map[string]any{"content": []any{text}}
		default:
			answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestMC02AServerAtAnAddressIsAPluginWithoutAProcess(t *testing.T) {
	b := newBench(t)
	var asked atomic.Int32
	b.save("web.mcp.json", map[string]any{"web": map[string]any{"url": web(t, "", &asked).URL + "/mcp"}})
	if asked.Load() != 0 {
		t.Error("it was asked before its approval")
	}
	b.approve("web")
	b.ready("web")
	b.says("web:echo", `{"text":"hi"}`, "hi")
	s := b.status("web")
	if b.started.Started() != 0 || s.Isolation.Level != "none" ||
		!strings.Contains(s.Isolation.Sentence, "another computer") {
		t.Errorf("%d processes; its sandbox is %+v", b.started.Started(), s.Isolation)
	}
}

func TestMC89AKeyOfTheEntryIsSentAndARefusedOneIsSaid(t *testing.T) {
	b := newBench(t)
	var asked atomic.Int32
	at := web(t, "right-right-right", &asked).URL
	entry := func(key string) map[string]any {
		return map[string]any{"url": at, "headers": map[string]string{"Authorization": "Bearer " + key}}
	}
	b.save("web.mcp.json", map[string]any{"good": entry("right-right-right"), "bad": entry("wrong-wrong-wrong")})
	b.approve("web-good", "web-bad")
	b.says("web-good:echo", `{"text":"hi"}`, "hi")
	if s := b.status("web-bad"); s.State != plugin.Failed || !strings.Contains(s.Problem.Message, "refused the key") {
		t.Errorf("with a wrong key it is %s: %+v", s.State, s.Problem)
	}
	texts := func(id string) (all string) {
		for _, line := range b.host.Traffic(id) {
			all += line.Text + "\n"
		}
		return all
	}
	if good := texts("web-good"); !strings.Contains(good, `"method":"tools/call"`) || !strings.Contains(good, `"text":"hi"`) {
		t.Errorf("its messages are\n%s", good)
	}
	if bad := texts("web-bad"); !strings.Contains(bad, "← HTTP 401") || strings.Contains(bad, "wrong-wrong") {
		t.Errorf("the messages of a refused one are\n%s", bad)
	}
}

func TestMC107AServerThatWantsASignInSaysSo(t *testing.T) {
	b := newBench(t)
	var asked atomic.Int32
	b.save("web.mcp.json", map[string]any{"web": map[string]any{"url": web(t, "right-right-right", &asked).URL}})
	must(t, approveOnce(b, "web"))
	if s := b.status("web"); s.State != plugin.NeedsSignIn || s.Problem.Hint == "" {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
}

func TestMC110AnAddressThatDoesNotAnswerSaysSo(t *testing.T) {
	b := newBench(t)
	b.save("web.mcp.json", map[string]any{"web": map[string]any{"url": "http://127.0.0.1:1/mcp"}})
	must(t, approveOnce(b, "web"))
	if s := b.status("web"); s.State != plugin.Failed || s.Problem.Message != "Nothing answers at 127.0.0.1:1." {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
}
