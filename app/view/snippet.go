package view

import (
	"encoding/json"
	"strings"
)

// Snippet holds the lines that a person adds to the configuration of another program, so that it uses Conclave's
// tools.
type Snippet struct {
	App  string `json:"app"`  // as its makers call it
	File string `json:"file"` // where the text belongs
	Text string `json:"text"` // starts conclave mcp serve
	HTTP string `json:"http"` // connects to an address, with TOKEN in place of the token; "" where the program cannot
}

// Token stands in a Snippet where the token belongs.
const Token = "TOKEN"

// serverName is the name of Conclave in the configuration of other programs.
const serverName = "conclave"

// entry is a server in a configuration. Members keep their order.
type entry struct {
	Source  string            `json:"source,omitempty"`
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	BaseURL string            `json:"baseUrl,omitempty"`
	HTTPURL string            `json:"httpUrl,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Active  bool              `json:"isActive,omitempty"`
}

// kind describes how one program writes servers down (contracts/mcp, section 13).
type kind struct {
	app, file, key string // key is the member with the servers
	streams, http  func(entry) entry
}

// kinds are the programs that there are snippets for.
func kinds() []kind {
	plain := func(e entry) entry { return e }
	typed := func(name string) func(entry) entry {
		return func(e entry) entry { e.Type = name; return e }
	}
	return []kind{
		{"Claude Desktop", "claude_desktop_config.json", "mcpServers", plain, nil},
		{"Claude Code", ".mcp.json", "mcpServers", typed("stdio"), typed("http")},
		{"VS Code", ".vscode/mcp.json", "servers", typed("stdio"), typed("http")},
		{"Cursor", "~/.cursor/mcp.json", "mcpServers", plain, plain},
		{"LM Studio", "~/.lmstudio/mcp.json", "mcpServers", plain, plain},
		{"Zed", "settings.json", "context_servers", func(e entry) entry { e.Source = "custom"; return e }, plain},
		{"Gemini CLI", "~/.gemini/settings.json", "mcpServers", plain, func(e entry) entry {
			e.HTTPURL, e.URL = e.URL, ""
			return e
		}},
		{"Cherry Studio", "Settings, MCP servers, Import from JSON", "mcpServers", func(e entry) entry {
			e.Type, e.Active = "stdio", true
			return e
		}, func(e entry) entry {
			e.Type, e.BaseURL, e.URL, e.Active = "streamableHttp", e.URL, "", true
			return e
		}},
	}
}

// NewSnippets returns what other programs need. command is the program file of conclave and the arguments of
// mcp serve but for --as, nil for no snippets; address is where Conclave serves HTTP, or would.
func NewSnippets(command []string, address string) []Snippet {
	if len(command) == 0 {
		return []Snippet{}
	}
	streams := func(app string) entry {
		return entry{Command: command[0], Args: append(append([]string{}, command[1:]...), "--as", app)}
	}
	http := entry{URL: address, Headers: map[string]string{"Authorization": "Bearer " + Token}}
	var all []Snippet
	for _, k := range kinds() {
		s := Snippet{App: k.app, File: k.file, Text: k.write(k.streams(streams(k.app)))}
		if k.http != nil {
			s.HTTP = k.write(k.http(http))
		}
		all = append(all, s)
	}
	own := streams("Continue")
	return append(all, Snippet{
		App: "Continue", File: "~/.continue/config.yaml",
		Text: yamlServer("stdio", "    command: "+inline(own.Command)+"\n    args: "+inline(own.Args)+"\n"),
		HTTP: yamlServer("streamable-http", "    url: "+inline(address)+
			"\n    requestOptions:\n      headers:\n        Authorization: "+inline("Bearer "+Token)+"\n"),
	})
}

func (k kind) write(e entry) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	_ = out.Encode(map[string]map[string]entry{k.key: {serverName: e}}) // all of it can be written
	return b.String()
}

func yamlServer(kind, rest string) string {
	return "mcpServers:\n  - name: " + serverName + "\n    type: " + kind + "\n" + rest
}

// inline returns a value as JSON, which YAML reads as well.
func inline(value any) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	_ = out.Encode(value) // texts and lists of texts can be written
	return strings.TrimSuffix(b.String(), "\n")
}
