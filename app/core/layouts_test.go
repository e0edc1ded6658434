package core

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/base/fault"
)

// The page's table and the sentence for what is no plugin are made from what
// the dialects take, so that none is missing.
func TestEveryDialectIsNamedWhereAPluginIsUnknown(t *testing.T) {
	data := t.TempDir()
	plugins := filepath.Join(data, "plugins")
	unknown := filepath.Join(data, "unknown")
	for _, dir := range []string{plugins, unknown} {
		must(t, os.Mkdir(dir, 0o700))
	}
	must(t, os.WriteFile(filepath.Join(unknown, "notes.txt"), []byte("x"), 0o600))
	c, err := Open(t.Context(), Options{Data: data, Plugins: plugins, Worker: os.Args[0], Name: "a test"})
	must(t, err)
	defer c.Close()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "PLUGINS.md"))
	must(t, err)
	_, err = c.Library.Add(t.Context(), unknown)
	hint := fault.Of(err).Hint
	seen := 0
	for _, d := range c.dialects {
		for _, l := range d.Facts().Layouts {
			seen++
			row := fmt.Sprintf("| `%s` | %s ([%s](%s)) | `%s` |", l.Entry, l.What, l.Page, l.Page, d.Facts().Name)
			if !strings.Contains(string(page), row) {
				t.Errorf("docs/PLUGINS.md lacks the row\n%s", row)
			}
			if !strings.Contains(hint, l.What+" ("+l.Entry+")") {
				t.Errorf("the hint for an unknown folder does not name %s: %q", l.What, hint)
			}
		}
	}
	if seen < 7 {
		t.Errorf("only %d layouts", seen)
	}
}
