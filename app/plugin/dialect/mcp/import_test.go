package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp"
)

func TestMC96ImportMakesOneFolderForEachServer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".mcp.json")
	const text = `{"mcpServers": {
		"my mail": {"command": "npx", "args": ["-y", "mail"], "env": {"MAIL_KEY": "k-123456"}},
		"my/mail": {"url": "https://mail.example.com/mcp"},
		"bad": 7
	}}`
	write(t, path, text)
	what, err := mcp.New(mcp.Options{}).Import(t.Context(), path)
	if err != nil || len(what.Plugins) != 2 || len(what.Left) != 1 {
		t.Fatalf("%+v %v", what, err)
	}
	mail, far := what.Plugins[0], what.Plugins[1]
	if mail.Folder != "my_mail" || far.Folder != "my_mail-2" || mail.Secrets["MAIL_KEY"] != "k-123456" {
		t.Errorf("%+v %+v", mail, far)
	}
	kept := string(mail.Texts[mcp.FileName])
	if strings.Contains(kept, "k-123456") || !strings.Contains(kept, `"cwd": "`+dir+`"`) {
		t.Error(kept)
	}
	if len(mail.Notes) != 0 || !strings.Contains(mail.Kept, path+" still holds it too") {
		t.Errorf("%q, %q", mail.Notes, mail.Kept)
	}
	if !strings.HasPrefix(what.Left[0].Why, "Line 4, column 10: Its entry is a number") {
		t.Errorf("%+v", what.Left)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != text {
		t.Errorf("the other program's file was changed: %s %v", after, err)
	}
}

func TestMC90FilesOfOtherKindsAreNoConfigurations(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json": `{"name": "x"}`, "b.json": `{"hooks": {"processes": {}}}`, "c.json": "[1, 2]",
		"openapi.json": `{"openapi": "3.1.0", "servers": [{"url": "https://api.example.com"}]}`, "d.yaml": "a: b\n",
		"e.py": `{"mcpServers": {"a": {"command": "x"}}}`, "f.json": "{",
	} {
		path := filepath.Join(dir, name)
		write(t, path, text)
		if what, err := mcp.New(mcp.Options{}).Import(t.Context(), path); what != nil || err != nil {
			t.Errorf("%s: %+v %v", name, what, err)
		}
	}
}

func TestMC90TheFilesOfOtherProgramsAreFound(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	for _, name := range []string{
		".claude.json", ".cursor/mcp.json", ".lmstudio/mcp.json", ".gemini/settings.json", ".config/zed/settings.json",
		".continue/config.yaml", ".continue/mcpServers/one.yaml", ".codeium/windsurf/mcp_config.json",
		".config/Claude/claude_desktop_config.json", ".config/Code/User/mcp.json",
	} {
		write(t, filepath.Join(home, name), "{}")
	}
	write(t, filepath.Join(project, ".mcp.json"), "{}")
	write(t, filepath.Join(project, ".vscode", "mcp.json"), "{}")
	env := func(name string) string { return map[string]string{"HOME": home}[name] }
	found := mcp.New(mcp.Options{}).Places(env, project)
	programs := map[string]int{}
	for _, p := range found {
		programs[p.Program]++
		if p.Title == "" {
			t.Errorf("%+v has no title", p)
		}
	}
	for program, want := range map[string]int{
		"claude-code": 2, "cursor": 1, "lm-studio": 1, "gemini-cli": 1, "zed": 1, "continue": 2, "windsurf": 1,
		"claude-desktop": 1, "vscode": 2,
	} {
		if programs[program] != want {
			t.Errorf("%s: %d, want %d", program, programs[program], want)
		}
	}
	if all := mcp.New(mcp.Options{}).Places(env, home); len(all) != 10 {
		t.Errorf("where the home is the project, a file stands twice: %+v", all)
	}
	if all := mcp.New(mcp.Options{}).Places(func(string) string { return "" }, ""); len(all) != 0 {
		t.Errorf("without a home: %+v", all)
	}
}

func TestMC97ACardsConfigurationIsCopiedInThreeForms(t *testing.T) {
	b := newBench(t)
	b.save("mail.mcp.json", map[string]any{"mail": map[string]any{
		"command": python, "args": []string{"x"}, "env": map[string]string{"MAIL_TOKEN": "t-123456"},
	}})
	m := b.status("mail").Manifest
	for form, want := range map[string]string{
		"claude-desktop": "${MAIL_TOKEN}", "vscode": "${input:MAIL_TOKEN}", "cursor": "${env:MAIL_TOKEN}",
	} {
		text, err := b.dialect.Export(m, form)
		if err != nil || !strings.Contains(text, want) || strings.Contains(text, "t-123456") {
			t.Errorf("%s: %s %v", form, text, err)
		}
	}
	if _, err := b.dialect.Export(m, "notepad"); plugin.ProblemOf(err).Hint == "" {
		t.Error(err)
	}
}

func TestATextIsImportedUnderTheNameThatWasGiven(t *testing.T) {
	d := mcp.New(mcp.Options{})
	what, err := d.ImportText(t.Context(), "https://mcp.example.com/mcp", "mine")
	if err != nil || len(what.Plugins) != 1 || what.Plugins[0].Folder != "mine" {
		t.Errorf("%+v %v", what, err)
	}
	two := `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`
	if _, err := d.ImportText(t.Context(), two, "mine"); err == nil {
		t.Error("two servers got one name")
	}
	if _, err := d.ImportText(t.Context(), "what is this", ""); err == nil {
		t.Error("a text without a server was taken")
	}
}
