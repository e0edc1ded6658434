package mcp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
)

var _ plugin.TextImporter = (*Dialect)(nil)

// importable are the endings of the configurations of other programs.
var importable = []string{".json", ".jsonc", ".yaml", ".yml"}

// Import implements plugin.Importer: each server of a configuration becomes a folder with a mcp.json. The file is read,
// and never changed.
func (*Dialect) Import(ctx context.Context, path string) (*plugin.Import, error) {
	if !slices.Contains(importable, strings.ToLower(filepath.Ext(path))) {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > config.MaxBytes {
		return nil, nil //nolint:nilerr // whoever adds it says so
	}
	text, err := os.ReadFile(path) //nolint:gosec // the person named it
	if err != nil {
		return nil, plugin.Unreadable(filepath.Base(path), err)
	}
	servers, problems := config.Parse(text, path)
	if len(servers) == 0 && len(problems) == 1 && problems[0].Server == "" && problems[0].Line > 0 &&
		namesServers(string(text)) {
		p := problems[0]
		return nil, &plugin.Problem{
			Kind: "script", File: filepath.Base(path), Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint,
		}
	}
	if len(servers) == 0 && !slices.ContainsFunc(problems, func(p config.Problem) bool { return p.Server != "" }) {
		return nil, context.Cause(ctx) // of another kind
	}
	what := imported(servers, problems)
	for i, p := range what.Plugins {
		if len(p.Secrets) > 0 {
			what.Plugins[i].Kept = fmt.Sprintf(
				"Its %s is in the keychain now, and %s still holds it too.", secretNames(p.Secrets), path)
		}
	}
	return what, context.Cause(ctx)
}

// namesServers reports whether a text that cannot be read was to name servers.
func namesServers(text string) bool {
	return strings.Contains(text, "mcpServers") || strings.Contains(text, "context_servers")
}

// ImportText implements plugin.TextImporter.
func (*Dialect) ImportText(ctx context.Context, text, name string) (*plugin.Import, error) {
	servers, problems := config.Parse([]byte(text), "")
	if len(servers) == 0 && len(problems) > 0 && problems[0].Server == "" {
		p := problems[0]
		return nil, &plugin.Problem{Kind: "script", Line: p.Line, Column: p.Column, Message: p.Error(), Hint: p.Hint}
	}
	if name != "" && len(servers) > 1 {
		return nil, &plugin.Problem{
			Kind: "script", Hint: "Leave the name out: each has its own.",
			Message: fmt.Sprintf("The text has %d servers, so they cannot all be called %s.", len(servers), name),
		}
	}
	if name != "" && len(servers) == 1 {
		servers[0].Name = name
	}
	what := imported(servers, problems)
	for i, p := range what.Plugins {
		if len(p.Secrets) > 0 {
			what.Plugins[i].Kept = "Its " + secretNames(p.Secrets) + " is in the keychain, and in none of its files."
		}
	}
	return what, context.Cause(ctx)
}

func secretNames(secrets map[string]string) string {
	return "secret " + limit.Listed(slices.Sorted(maps.Keys(secrets)))
}

// imported makes a folder of each server, and a line of each problem.
func imported(servers []config.Server, problems []config.Problem) *plugin.Import {
	var what plugin.Import
	folders := config.Folders(servers)
	for i, s := range servers {
		name := s.Name
		kept, secrets := config.TakeSecrets(s)
		kept.Name = folders[i]
		text, err := config.Write(kept)
		if err != nil {
			what.Left = append(what.Left, plugin.LeftOut{Name: name, Why: capital(err.Error())})
			continue
		}
		if s.Scope != "" {
			name += " (" + s.Scope + ")"
		}
		what.Plugins = append(what.Plugins, plugin.ImportedPlugin{
			Name: name, Folder: folders[i], Texts: map[string][]byte{FileName: text}, Secrets: secrets,
			Notes: slices.Clone(s.Warnings), Same: config.Identity(kept),
		})
	}
	for _, p := range problems {
		name := p.Server
		if name == "" {
			name = "The rest"
		}
		p.Server = ""
		why := capital(strings.TrimSpace(p.Error() + " " + p.Hint))
		what.Left = append(what.Left, plugin.LeftOut{Name: name, Why: why})
	}
	return &what
}

// capital is a sentence that begins with a capital letter.
func capital(sentence string) string {
	for i, r := range sentence {
		return string(unicode.ToUpper(r)) + sentence[i+len(string(r)):]
	}
	return sentence
}

// Places implements plugin.TextImporter.
func (*Dialect) Places(env func(name string) string, dir string) []plugin.Place {
	var found []plugin.Place
	seen := map[string]bool{} // whose folder of the project is their home meets a file twice
	for _, p := range config.Places(runtime.GOOS, env, dir) {
		paths, err := filepath.Glob(filepath.FromSlash(p.Path))
		if err != nil {
			continue // brackets in the name of a home folder
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !seen[path] {
				seen[path] = true
				found = append(found, plugin.Place{Program: string(p.Program), Title: p.Program.Title(), Path: path})
			}
		}
	}
	return found
}

// Export implements plugin.TextImporter.
func (*Dialect) Export(m plugin.Manifest, form string) (string, error) {
	text, err := config.Export(serverOf(m), config.Program(form))
	if err != nil {
		return "", &plugin.Problem{
			Kind: "refused", Message: "There is no form “" + form + "”.",
			Hint: "There are: claude-desktop, claude-code, vscode, cursor.",
		}
	}
	return string(text), nil
}
