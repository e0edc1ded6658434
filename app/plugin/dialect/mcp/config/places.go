package config

import (
	"path"
	"slices"
)

// Place is where a program keeps its configuration. A path may end with a pattern of path.Match.
type Place struct {
	Program Program
	Path    string
}

// Places returns where the programs keep their configurations on a system of Go (runtime.GOOS), with slashes. env reads
// the person's environment; dir is the folder of a project, "" without one. Nothing is looked at.
func Places(system string, env func(name string) string, dir string) []Place {
	home := env("HOME")
	settings := path.Join(home, ".config")
	switch system {
	case "darwin":
		settings = path.Join(home, "Library", "Application Support")
	case "windows":
		home, settings = env("USERPROFILE"), env("APPDATA")
	default:
		if given := env("XDG_CONFIG_HOME"); given != "" {
			settings = given
		}
	}
	zed := path.Join(settings, "Zed", "settings.json")
	if system != "windows" {
		zed = path.Join(home, ".config", "zed", "settings.json")
	}
	all := []Place{
		{ClaudeDesktop, path.Join(settings, "Claude", "claude_desktop_config.json")},
		{ClaudeCode, path.Join(home, ".claude.json")},
		{VSCode, path.Join(settings, "Code", "User", "mcp.json")},
		{VSCode, path.Join(settings, "Code - Insiders", "User", "mcp.json")},
		{VSCode, path.Join(home, ".copilot", "mcp-config.json")},
		{Cursor, path.Join(home, ".cursor", "mcp.json")},
		{LMStudio, path.Join(home, ".lmstudio", "mcp.json")},
		{Gemini, path.Join(home, ".gemini", "settings.json")},
		{Zed, zed},
		{Continue, path.Join(home, ".continue", "config.yaml")},
		{Continue, path.Join(home, ".continue", "mcpServers", "*")},
		{Windsurf, path.Join(home, ".codeium", "windsurf", "mcp_config.json")},
	}
	for _, extension := range []Place{
		{Cline, "saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
		{Roo, "rooveterinaryinc.roo-cline/settings/mcp_settings.json"},
	} {
		all = append(all, Place{
			extension.Program, path.Join(settings, "Code", "User", "globalStorage", extension.Path),
		})
	}
	if dir != "" {
		for _, p := range []Place{
			{ClaudeCode, ".mcp.json"},
			{VSCode, ".vscode/mcp.json"},
			{Cursor, ".cursor/mcp.json"},
			{Gemini, ".gemini/settings.json"},
			{Zed, ".zed/settings.json"},
		} {
			all = append(all, Place{p.Program, path.Join(dir, p.Path)})
		}
	}
	// without a home, a path would be relative
	return slices.DeleteFunc(all, func(p Place) bool { return !isAbs(p.Path) })
}
