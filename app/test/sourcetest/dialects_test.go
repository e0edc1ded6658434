package sourcetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// dialectList is the one file that knows which dialects there are.
const dialectList = "app/core/dialects.go"

// namesDialects are the files outside of the dialects' folders that may name one
// nevertheless, with the reason. One that no longer does fails the test.
var namesDialects = map[string]string{
	dialectList:                        "the one list",
	"app/terminal/mcp.go":              "its commands are named after the protocol",
	"app/core/conformance.go":          "the conformance suite of the protocol starts it",
	"app/terminal/prompt.go":           "--functions is a flag, named for what a person gives it",
	"app/plugin/plugintest/fixture.go": "tests of the host choose a kind of plugins by its name",
	"app/cmd/conclave-worker/run.go":   "becomes the engine of scripts: its code runs in no other program",
}

// TestNothingOutsideADialectsFolderKnowsIt reads every file of ours: what is
// special about a dialect is declared by it (plugin.Facts), and whoever acts on that
// asks the facts.
func TestNothingOutsideADialectsFolderKnowsIt(t *testing.T) {
	var folders, contracts []string
	for _, imported := range importsOf(t, parse(t, filepath.Join(root, dialectList))) {
		name := below(imported)
		if _, err := os.Stat(filepath.Join(root, name, "facts.go")); err == nil && path.Dir(name) == "app/plugin/dialect" {
			folders, contracts = append(folders, name), append(contracts, path.Base(name))
		}
	}
	if len(folders) < 4 {
		t.Fatalf("the list has only %q", folders)
	}
	named := map[string]bool{}
	for _, top := range []string{"app", "store", "plugins", "build"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, entry fs.DirEntry, err error) error {
			name := strings.TrimPrefix(filepath.ToSlash(file), root+"/")
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
				slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(name, f+"/") }) {
				if err == nil && entry.IsDir() && entry.Name() == "node_modules" {
					return fs.SkipDir
				}
				return err
			}
			for _, said := range knows(t, parse(t, file), folders, contracts) {
				named[name] = true
				if namesDialects[name] == "" {
					t.Errorf("%s: %s", name, said)
				}
			}
			return nil
		})
		must(t, err)
	}
	for name := range namesDialects {
		if !named[name] {
			t.Errorf("%s names no dialect any more: take it out of the exceptions", name)
		}
	}
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	must(t, err)
	return parsed
}

func importsOf(t *testing.T, file *ast.File) []string {
	t.Helper()
	var all []string
	for _, i := range file.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		must(t, err)
		all = append(all, imported)
	}
	return all
}

// knows returns what a file says of dialects: the packages it imports of theirs, and
// the texts that are the name of one.
func knows(t *testing.T, file *ast.File, folders, contracts []string) []string {
	t.Helper()
	var found []string
	for _, imported := range importsOf(t, file) {
		name := below(imported)
		if slices.ContainsFunc(folders, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") }) {
			found = append(found, "it imports "+name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && slices.Contains(contracts, text) {
				found = append(found, "it names the dialect "+text)
			}
		}
		return true
	})
	return found
}

// below returns the folder of an imported package of ours, and of another's its path.
func below(imported string) string { return strings.TrimPrefix(imported, "conclave/") }
