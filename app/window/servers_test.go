package window_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/model/modeltest"
	"conclave/app/test/programtest"
	"conclave/app/tool"
)

// twoTools is an MCP server with two tools.
const twoTools = `
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "lamps", "version": "1"}}
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": n, "description": "Does " + n + ".", "inputSchema": {"type": "object"}}
            for n in ("dim", "light")]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
`

// withLamps opens a window with an approved server of two tools, and a model that answers so many messages.
func withLamps(t *testing.T, messages int) *testWindow {
	t.Helper()
	data := t.TempDir()
	script := filepath.Join(t.TempDir(), "lamps.py")
	write(t, script, twoTools)
	entry, err := json.Marshal(map[string]any{
		"mcpServers": map[string]any{"lamps": map[string]any{"command": "/usr/bin/python3", "args": []string{script}}},
	})
	must(t, err)
	write(t, filepath.Join(data, "plugins", "lamps.mcp.json"), string(entry))
	answers := make([][]modeltest.Step, messages)
	for i := range answers {
		answers[i] = say("Yes.")
	}
	w := openOn(t, data, programtest.Worker(t), answers...).quiet()
	must(t, w.Plugins.Approve("lamps", w.card("lamps").Shown, false, true))
	w.state("lamps", "ready")
	return w
}

func TestTenChangesOfChatSendTheToolsThatTheCardShows(t *testing.T) {
	w := withLamps(t, 12)
	chats := []string{w.ask("", "One?"), w.ask("", "Two?")}
	for i := range 10 {
		switch i {
		case 3:
			must(t, w.Tools.SetEnabled("lamps:dim", false))
		case 6:
			must(t, w.Plugins.Reload("lamps"))
			must(t, w.core.Host.WaitIdle(t.Context()))
		case 8:
			must(t, w.Tools.SetEnabled("lamps:dim", true))
		}
		list, err := w.Tools.List("")
		must(t, err)
		var shown, sent []string
		for _, one := range list.Tools {
			if one.Offered {
				shown = append(shown, one.WireName)
			}
		}
		w.ask(chats[i%2], "And now?")
		requests := w.model.Requests()
		for _, one := range requests[len(requests)-1].Tools {
			sent = append(sent, one.Name)
		}
		slices.Sort(sent)
		want := "dim light"
		if i >= 3 && i < 8 {
			want = "light"
		}
		if strings.Join(shown, " ") != want || strings.Join(sent, " ") != want {
			t.Errorf("message %d: the card shows %q, and %q is sent, want %q", i, shown, sent, want)
		}
	}
}

func TestMC43TheCostOfAServerIsThatOfItsToolsInTheNextMessage(t *testing.T) {
	w := withLamps(t, 2)
	cost := func() (tokens map[string]int, sum int) {
		t.Helper()
		list, err := w.Tools.List("")
		must(t, err)
		tokens = map[string]int{}
		for _, one := range list.Tools {
			if one.Plugin == "lamps" && one.Offered {
				tokens[one.Name] = one.Tokens
			}
		}
		return tokens, list.Tokens
	}
	sent := func() (sum int) {
		t.Helper()
		w.ask("", "And now?")
		requests := w.model.Requests()
		for _, d := range requests[len(requests)-1].Tools {
			sum += tool.Tool{WireName: d.Name, Description: d.Description, Parameters: d.Parameters}.Tokens()
		}
		return sum
	}
	both, sum := cost()
	if both["dim"] <= 0 || both["light"] <= 0 || sum != both["dim"]+both["light"] || sum != sent() {
		t.Errorf("its tools take %v tokens, all %d", both, sum)
	}
	must(t, w.Tools.SetEnabled("lamps:dim", false))
	if one, sum := cost(); len(one) != 1 || sum != both["light"] || sum != sent() {
		t.Errorf("without one: %v, all %d", one, sum)
	}
}
