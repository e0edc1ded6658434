package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/app/view"
)

func TestMC128ThereAreSnippetsForTheAppsOfSection13(t *testing.T) {
	command := []string{"/opt/conclave/conclave", "mcp", "serve"}
	const address = "http://127.0.0.1:48912/mcp"
	want := map[string]string{ // and the member with the servers
		"Claude Desktop": "mcpServers", "Claude Code": "mcpServers", "VS Code": "servers", "Cursor": "mcpServers",
		"LM Studio": "mcpServers", "Zed": "context_servers", "Gemini CLI": "mcpServers", "Cherry Studio": "mcpServers",
		"Continue": "",
	}
	for _, s := range view.NewSnippets(command, address) {
		key, known := want[s.App]
		if !known {
			t.Errorf("%q is not wanted", s.App)
		}
		delete(want, s.App)
		for _, text := range []string{s.Text, s.HTTP} {
			if text == "" && s.App == "Claude Desktop" {
				continue // it starts servers only
			}
			var all map[string]map[string]map[string]any
			if key == "" {
				if !strings.HasPrefix(text, "mcpServers:\n  - name: conclave\n") {
					t.Errorf("%s: got %s", s.App, text)
				}
				continue
			}
			if err := json.Unmarshal([]byte(text), &all); err != nil || all[key]["conclave"] == nil {
				t.Errorf("%s: %v\n%s", s.App, err, text)
			}
		}
		if !strings.Contains(s.Text, `"--as"`) || !strings.Contains(s.Text, `"`+s.App+`"`) ||
			!strings.Contains(s.Text, command[0]) || s.File == "" {
			t.Errorf("%s: got %s", s.App, s.Text)
		}
		if s.HTTP != "" && (!strings.Contains(s.HTTP, `"Bearer TOKEN"`) || !strings.Contains(s.HTTP, address)) {
			t.Errorf("%s: got %s", s.App, s.HTTP)
		}
	}
	for app := range want {
		t.Errorf("there is none for %s", app)
	}
}
