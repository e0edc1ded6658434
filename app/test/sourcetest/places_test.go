package sourcetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// placed are the packages of the host; those of the dialects follow. What a plugin can write
// to, and the folders that came with it, they reach through app/plugin/safefs.
var placed = []string{
	"app/plugin",
	"app/plugin/host",
	"app/plugin/library",
	"app/plugin/packages",
	"app/plugin/python",
	"app/service",
}

// opening are the functions that open, make, move or delete by a path.
var opening = map[string][]string{
	"os": {
		"Open",
		"OpenFile",
		"OpenInRoot",
		"OpenRoot",
		"Create",
		"CreateTemp",
		"ReadFile",
		"WriteFile",
		"ReadDir",
		"DirFS",
		"CopyFS",
		"Mkdir",
		"MkdirAll",
		"MkdirTemp",
		"Remove",
		"RemoveAll",
		"Rename",
		"Link",
		"Symlink",
		"Chmod",
		"Chown",
		"Lchown",
		"Chtimes",
		"Truncate",
	},
	"path/filepath": {"Walk", "WalkDir", "Glob"},
	"io/ioutil":     {"ReadFile", "WriteFile", "ReadDir", "TempDir", "TempFile"},
	"syscall":       {"Open", "Openat", "Mkdir", "Rename", "Unlink", "Link", "Symlink"},
}

// places are the files that open something by its path all the same, and why no
// plugin can have put a link there. One that no longer does fails the test.
var places = map[string]string{
	"app/plugin/library/clone.go": "has git fetch into a folder of the host's own, in which nothing of it has run",
	"app/plugin/library/install.go": "brings what a person named into a folder of the host's own, " +
		"and checks it for links",
	"app/plugin/library/import.go": "writes what an import adds into a folder of the host's own, in which nothing of it " +
		"has run",
	"app/plugin/host/pluginlog.go":   "writes logs in a folder of the host's own",
	"app/plugin/host/files.go":       "writes copies into a folder of the host's own",
	"app/plugin/library/replay.go":   "looks for recorded calls by their names; safefs reads and writes them",
	"app/plugin/host/folder.go":      "lists the person's plugins folder",
	"app/plugin/library/template.go": "makes a new plugin in the person's plugins folder",
	"app/plugin/library/unfinished.go": "moves folders of plugins between the person's plugins folder and folders of " +
		"the host's own",
	"app/plugin/program.go": "reads the first bytes of programs that a person has or granted, and names only what " +
		"may be executed",
	"app/plugin/packages/environments.go": "Conclave's own record of environments, beside what an installer writes",
	"app/plugin/packages/install.go": "makes the folders of an environment before an installer runs, " +
		"and writes its record beside them",
	"app/plugin/packages/installed.go": "lists names of packages, of which nothing is opened",
	"app/plugin/packages/installer.go": "looks for the wheels of the machine's Python",
	"app/plugin/dialect/maibot/dialect.go": "looks for a folder of packages by its name; what is granted of it is " +
		"resolved in " +
		"app/plugin/host/paths.go",
	"app/plugin/dialect/maibot/manifest.go": "lists the person's plugins folder",
	"app/plugin/dialect/neko/absent.go":     "lists the person's plugins folder",
	"app/plugin/dialect/mcp/eras.go":        "which protocol each server speaks, in Conclave's runtime folder",
	"app/plugin/dialect/mcp/file.go": "lists the names in a folder of the person's plugins folder; " +
		"safefs reads the files",
	"app/plugin/dialect/mcp/launch.go": "reads the first line of the program of an approved server, and the file of " +
		"variables that its entry names",
	"app/plugin/dialect/mcp/bundle.go": "looks for the folder of a bundle, and makes it, in Conclave's runtime folder",
	"app/plugin/dialect/mcp/import.go": "reads a configuration that a person named, and looks for those of other " +
		"programs",
	"app/plugin/dialect/picoclaw/importfiles.go": "lists a folder that a person imports, which does not lead out of " +
		"what they named",
	"app/plugin/dialect/picoclaw/launch.go": "reads the first line of the program of an approved hook",
	"app/plugin/python/interpreter.go":      "what is known of the machine's Python, in Conclave's runtime folder",
	"app/plugin/python/shim.go":             "unpacks the worker into Conclave's runtime folder",
	"app/plugin/python/source.go": "lists the names in a plugin's folder, following no link; " +
		"safefs reads the files",
	"app/plugin/dialect/spindle/kept.go": "what was built, in Conclave's runtime folder, which plugins read only",
}

func TestNoHostCodeOpensAPluginsPlacesByPath(t *testing.T) {
	found := map[string]bool{}
	dialects, err := filepath.Glob(filepath.Join(root, "app/plugin/dialect/*"))
	must(t, err)
	dirs := slices.Clone(placed)
	for _, dir := range dialects {
		dirs = append(dirs, "app/plugin/dialect/"+filepath.Base(dir))
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no sources: %v", dir, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			name := dir + "/" + filepath.Base(path)
			for _, call := range opens(t, path) {
				found[name] = true
				if places[name] == "" {
					t.Errorf("%s calls %s: reach a plugin's places through app/plugin/safefs", name, call)
				}
			}
		}
	}
	for name := range places {
		if !found[name] {
			t.Errorf("%s opens nothing by its path any more: take it off the list", name)
		}
	}
}

// opens returns the uses of functions that open something by its path.
func opens(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, 0)
	must(t, err)
	names := map[string]string{} // of the imports, as the file calls them
	for _, imported := range file.Imports {
		from := strings.Trim(imported.Path.Value, `"`)
		name := from[strings.LastIndexByte(from, '/')+1:]
		if imported.Name != nil {
			name = imported.Name.Name
		}
		names[name] = from
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		use, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := use.X.(*ast.Ident); ok && of.Obj == nil && slices.Contains(opening[names[of.Name]], use.Sel.Name) {
			found = append(found, files.Position(use.Pos()).String()+" "+of.Name+"."+use.Sel.Name)
		}
		return true
	})
	return found
}
