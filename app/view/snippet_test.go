package view_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/mcp/config"
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

func TestMC128EachSnippetIsReadAsTheServerThatItMeans(t *testing.T) {
	command := []string{"/opt/my tools/conclave", "mcp", "serve", "--data", `C:\Users\"Ä" & B`}
	const address = "http://127.0.0.1:48912/mcp"
	read := func(s view.Snippet, text string) config.Server {
		servers, problems := config.Parse([]byte(text), s.File)
		if len(servers) != 1 || len(problems) != 0 || servers[0].Name != "conclave" || servers[0].Off ||
			len(servers[0].Inputs)+len(servers[0].Warnings) != 0 {
			t.Fatalf("%s: got %+v, %+v of\n%s", s.App, servers, problems, text)
		}
		return servers[0]
	}
	for _, s := range view.NewSnippets(command, address) {
		started := read(s, s.Text)
		args := append(slices.Clone(command[1:]), "--as", s.App)
		if started.Command != command[0] || !slices.Equal(started.Args, args) || started.Remote() {
			t.Errorf("%s: got %+v", s.App, started)
		}
		if s.HTTP == "" {
			continue
		}
		reached := read(s, s.HTTP)
		if !reached.Remote() || reached.URL != address || reached.Headers["Authorization"] != "Bearer "+view.Token ||
			reached.Transport != config.Unsaid && reached.Transport != config.HTTP {
			t.Errorf("%s: got %+v", s.App, reached)
		}
	}
}
