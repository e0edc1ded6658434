package core

import (
	"slices"
	"testing"

	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
)

// F132: what the rest of Conclave acts on is what each dialect says of itself.
func TestF132EachDialectDeclaresItsFacts(t *testing.T) {
	facts := map[string]plugin.Facts{}
	for _, d := range dialects(python.New(python.Options{}), "", sandbox.Confinement{}) {
		f := d.Facts()
		if _, twice := facts[f.Contract]; twice || f.Contract == "" || len(f.Layouts) == 0 {
			t.Errorf("two dialects of one name, or one without a name or a layout: %+v", f)
		}
		facts[f.Contract] = f
	}
	for contract, want := range map[string]struct {
		loose, chat bool     // TestF88 and TestSP27 of the packages that act on it
		sealed      bool     // no permission opens its walls
		tools       string   // the permission to offer tools
		endings     []string // of files that are plugins
	}{
		"functions": {loose: true, endings: []string{".py"}},
		"neko":      {loose: true},
		"maibot":    {loose: true},
		"spindle":   {chat: true, sealed: true, tools: "tools", endings: []string{".js", ".mjs", ".ts"}},
	} {
		f := facts[contract]
		if f.Convention.Loose != want.loose || f.Convention.Chat != want.chat || (f.Sealed.Why != "") != want.sealed ||
			f.ToolsPermission != want.tools || !slices.Equal(f.Endings, want.endings) {
			t.Errorf("%s says of itself %+v", contract, f)
		}
		for permission := range f.Sealed.Instead {
			if !permit.IsWall(permission) {
				t.Errorf("%s: %s opens no walls", contract, permission)
			}
		}
	}
}
