package hosttest

import (
	"context"
	"embed"
	"io/fs"
	"path/filepath"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// notes is a dialect as CONTRIBUTING.md says to add one: a NAME.note is a
// plugin with one tool, which returns a line of it. All of it is this file and
// testdata/notes.
type notes struct{ python *python.Interpreters }

//go:embed all:testdata/notes
var notesFolder embed.FS

func newNotes(t testing.TB, py *python.Interpreters) notes {
	t.Helper()
	folder, err := fs.Sub(notesFolder, "testdata/notes")
	must(t, err)
	py.Add(python.Ecosystem{Name: "notes", Shim: folder})
	return notes{py}
}

// Facts implements plugin.Dialect.
func (notes) Facts() plugin.Facts {
	return plugin.Facts{
		Name:       "notes",
		Layouts:    []plugin.Layout{{Entry: "NAME.note", What: "a note", Page: "NOTES.md"}},
		Endings:    []string{".note"},
		Convention: tool.Convention{Loose: true}, // the worker converts arguments
	}
}

// Recognize implements plugin.Dialect.
func (notes) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	entry := filepath.Base(src.Path)
	if src.Folder || filepath.Ext(entry) != ".note" {
		return nil, nil
	}
	return &plugin.Manifest{Name: src.ID, Entry: entry, Permissions: []string{}}, nil
}

// Inspect implements plugin.Dialect.
func (notes) Inspect(context.Context, plugin.Source, plugin.Manifest) (plugin.Listing, error) {
	return plugin.Listing{
		Known: true,
		Tools: []tool.Tool{{Name: "line", Description: "Returns one line of the note, counted from 1."}},
	}, nil
}

// Spec implements plugin.Dialect.
func (d notes) Spec(ctx context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	folder := filepath.Dir(src.Path)
	c := python.Config{
		ID: src.ID, Loader: "conclave_notes", Modules: []string{"notes"},
		Root: folder, Home: folder, Entry: src.Path, Display: src.Path,
	}
	return d.python.Spec(ctx, start, c, []string{src.Path})
}

func TestADialectIsOneFolderAndItsPlaceInTheList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := open(t, dir, t.TempDir(), newNotes(t, interpreters(t)))
	c.write("shopping.note", "bread\nmilk\n")
	must(t, c.host.Scan())
	c.becomes("shopping", plugin.NeedsApproval)
	c.trust("shopping")
	s, err := c.host.Status("shopping")
	must(t, err)
	if s.State != plugin.Ready || s.Manifest.Dialect != "notes" {
		t.Fatalf("it is %s, %+v", s.State, s.Problem)
	}
	c.answers("shopping:line", `{"number":"2"}`, "milk")
}
