package config

import (
	"path"
	"strings"
)

// Program is a program, or a form, whose configuration a server came from.
type Program string

// The programs. Mcp is the form that most of them share: an object mcpServers, or an entry alone.
const (
	Mcp           Program = "mcp"
	ClaudeDesktop Program = "claude-desktop"
	ClaudeCode    Program = "claude-code"
	VSCode        Program = "vscode"
	Cursor        Program = "cursor"
	LMStudio      Program = "lm-studio"
	CherryStudio  Program = "cherry-studio"
	Gemini        Program = "gemini-cli"
	Zed           Program = "zed"
	Continue      Program = "continue"
	Windsurf      Program = "windsurf"
	Cline         Program = "cline"
	Roo           Program = "roo"
	LibreChat     Program = "librechat"
	Registry      Program = "server.json" // an entry of the registry
	Bundle        Program = "bundle"      // a .mcpb
	Link          Program = "link"
	Pasted        Program = "pasted" // a command or an address
)

// Title returns the program's name for a person.
func (p Program) Title() string {
	switch p {
	case ClaudeDesktop:
		return "Claude Desktop"
	case ClaudeCode:
		return "Claude Code"
	case VSCode:
		return "VS Code"
	case LMStudio:
		return "LM Studio"
	case CherryStudio:
		return "Cherry Studio"
	case Gemini:
		return "Gemini CLI"
	case LibreChat:
		return "LibreChat"
	case Cursor, Zed, Continue, Windsurf, Cline, Roo:
		return strings.ToUpper(string(p[:1])) + string(p[1:])
	}
	return ""
}

// places lists what a path has within it, in small letters and with slashes, that is a program's. The first that fits
// counts.
var places = []struct {
	part    string
	program Program
}{
	{"claude_desktop_config.json", ClaudeDesktop},
	{"/.claude.json", ClaudeCode},
	{"/.mcp.json", ClaudeCode},
	{"cline_mcp_settings.json", Cline},
	{"saoudrizwan.claude-dev", Cline},
	{"rooveterinaryinc", Roo},
	{"/.roo/", Roo},
	{"/.vscode/", VSCode},
	{"/code/user/", VSCode},
	{"/.copilot/", VSCode},
	{"/.cursor/", Cursor},
	{"/.lmstudio/", LMStudio},
	{"/cherrystudio/", CherryStudio},
	{"/.gemini/", Gemini},
	{"/zed/settings.json", Zed},
	{"/.zed/", Zed},
	{"/.continue/", Continue},
	{"/windsurf/", Windsurf},
	{"/.codeium/", Windsurf},
	{"/librechat.y", LibreChat},
}

// hinted returns the program that a hint names: itself, or the path of its configuration.
func hinted(hint string) Program {
	if Program(hint).Title() != "" {
		return Program(hint)
	}
	slashed := "/" + strings.ToLower(strings.ReplaceAll(hint, `\`, "/"))
	for _, p := range places {
		if strings.Contains(slashed, p.part) {
			return p.program
		}
	}
	return ""
}

// projectOf returns the folder of the project that a path of a configuration belongs to; "" for one of the person.
func projectOf(hint string) string {
	slashed := strings.ReplaceAll(hint, `\`, "/")
	dir, file := path.Split(slashed)
	if !path.IsAbs(slashed) && !(len(slashed) > 2 && slashed[1] == ':') {
		return ""
	}
	dir = strings.TrimSuffix(dir, "/")
	switch {
	case file == ".mcp.json":
		return hint[:len(dir)]
	case file == "mcp.json" && (path.Base(dir) == ".vscode" || path.Base(dir) == ".cursor" || path.Base(dir) == ".roo"):
		return hint[:len(path.Dir(dir))]
	}
	return ""
}
