package window_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/model/modeltest"
	"conclave/app/test/programtest"
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

func TestTenChangesOfChatSendTheToolsThatTheCardShows(t *testing.T) {
	data := t.TempDir()
	script := filepath.Join(t.TempDir(), "lamps.py")
	write(t, script, twoTools)
	entry, err := json.Marshal(map[string]any{
		"mcpServers": map[string]any{"lamps": map[string]any{"command": "/usr/bin/python3", "args": []string{script}}},
	})
	must(t, err)
	write(t, filepath.Join(data, "plugins", "lamps.mcp.json"), string(entry))
	answers := make([][]modeltest.Step, 12)
	for i := range answers {
		answers[i] = say("Yes.")
	}
	w := openOn(t, data, programtest.Worker(t), answers...).quiet()
	chats := []string{w.ask("", "One?"), w.ask("", "Two?")}
	must(t, w.Plugins.Approve("lamps", w.card("lamps").Shown, false, true))
	w.state("lamps", "ready")
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
