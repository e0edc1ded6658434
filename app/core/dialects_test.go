package core

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
)

// What the rest of Conclave acts on is what each dialect says of itself.
func TestEachDialectDeclaresItsFacts(t *testing.T) {
	facts := map[string]plugin.Facts{}
	for _, d := range dialects(python.New(python.Options{}), "", sandbox.Confinement{}, mcp.Options{}) {
		f := d.Facts()
		files := f.Name != "http" // its plugins register themselves
		if _, twice := facts[f.Name]; twice || f.Name == "" || files != (len(f.Layouts) > 0) {
			t.Errorf("two dialects of one name, or one without a name or a layout: %+v", f)
		}
		facts[f.Name] = f
	}
	for dialect, want := range map[string]struct {
		loose, chat bool     // see TestSP27… of the package that acts on it
		sealed      bool     // no permission opens its sandbox
		tools       string   // the permission to offer tools
		endings     []string // of files that are plugins
	}{
		"functions": {loose: true, endings: []string{".py"}},
		"neko":      {loose: true},
		"maibot":    {loose: true},
		"spindle":   {loose: true, chat: true, sealed: true, tools: "tools", endings: []string{".js", ".mjs", ".ts"}},
	} {
		f := facts[dialect]
		if f.Convention.Loose != want.loose || f.Convention.Chat != want.chat || (f.Sealed.Why != "") != want.sealed ||
			f.ToolsPermission != want.tools || f.Packages == want.sealed || !slices.Equal(f.Endings, want.endings) {
			t.Errorf("%s says of itself %+v", dialect, f)
		}
		for permission := range f.Sealed.Instead {
			if !gate.IsWall(permission) {
				t.Errorf("%s: %s opens no walls", dialect, permission)
			}
		}
	}
}

func TestLF05AFolderWithAManifestIsNoFolderOfFunctions(t *testing.T) {
	all := dialects(python.New(python.Options{}), "", sandbox.Confinement{}, mcp.Options{})
	for manifest, text := range map[string]string{
		"": "", "spindle.json": "{}", "plugin.toml": "[plugin]\n", "_manifest.json": "{}",
	} {
		dir := filepath.Join(t.TempDir(), "claimed")
		files := map[string]string{"claimed.py": "def f(): ...\n"}
		if manifest != "" {
			files[manifest] = text
		}
		must(t, os.Mkdir(dir, 0o700))
		for name, text := range files {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		last := ""
		for _, d := range all { // as the host asks: until one takes it, or says what is wrong with it
			m, err := d.Recognize(t.Context(), plugin.Source{ID: "claimed", Path: dir, Display: dir, Folder: true, Alone: true})
			if last = d.Facts().Name; m != nil || err != nil {
				break
			}
		}
		if (last == "functions") != (manifest == "") {
			t.Errorf("with %q it is taken by %s", manifest, last)
		}
	}
}
