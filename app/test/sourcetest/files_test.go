// Package sourcetest reads every file of the repository, and tests what holds for all of them.
// It is a package of its own since the race detector, which has nothing to find here, makes
// such reading twenty times as slow.
package sourcetest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/test/testkit"
)

var must = testkit.Must

const root = "../../.."

// made are folders whose files are other people's, or were written by a program.
var made = []string{
	".git", "node_modules", "__pycache__", "frontend/dist", "frontend/dist-fake", "frontend/wailsjs",
	"frontend/.svelte-kit", "coverage", "build/bin", "build/e2e",
}

// files returns the names, from the root and with slashes, of our files with one of the endings.
func files(t *testing.T, endings ...string) []string {
	t.Helper()
	var found []string
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(made, name) || slices.Contains(made, entry.Name())):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(endings, filepath.Ext(name)):
			found = append(found, name)
		}
		return nil
	}))
	return found
}

// Each package is in the table of folders: its name in code, which may leave out the folders above.
func TestEachPackageIsInTheArchitecture(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/ARCHITECTURE.md"))
	must(t, err)
	_, table, _ := strings.Cut(string(page), "\n## Folders\n")
	table, _, _ = strings.Cut(table, "\n## ")
	looked := map[string]bool{}
	for _, file := range files(t, ".go") {
		folder := path.Dir(file)
		if looked[folder] || folder == "." || strings.Contains(file, "/testdata/") {
			continue
		}
		looked[folder] = true
		if !regexp.MustCompile("`([a-z0-9/]+/)?" + path.Base(folder) + "/?`").MatchString(table) {
			t.Errorf("docs/ARCHITECTURE.md, “Folders”, lacks %s; add a line that says what it is for", folder)
		}
	}
	if len(looked) < 50 {
		t.Errorf("only %d packages were found; does the test still see them?", len(looked))
	}
}

// What everybody reads first stays short enough to be read.
func TestTheFirstPagesStayShort(t *testing.T) {
	for page, most := range map[string]int{"README.md": 900, "docs/ARCHITECTURE.md": 2000} {
		text, err := os.ReadFile(filepath.Join(root, page))
		must(t, err)
		if words := len(strings.Fields(string(text))); words >= most {
			t.Errorf("%s has %d words, want fewer than %d; say it once, where its reader looks", page, words, most)
		}
	}
}
