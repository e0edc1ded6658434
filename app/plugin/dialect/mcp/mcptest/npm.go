package mcptest

import (
	"os"
	"path/filepath"
	"testing"
)

// Script returns the path of a file in node_modules of this package's npm folder, which holds programs of
// others. It skips the test with -short, and fails it where make test has not installed them.
func Script(t testing.TB, path string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("programs from npm are not started with -short")
	}
	folder := npm(t)
	script := filepath.Join(folder, "node_modules", filepath.FromSlash(path))
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("%s is not installed. Run make test, or: npm ci --prefix %s", path, folder)
	}
	return script
}

// Node returns the path of the Node that the npm folder brings: the programs in it need 22, and many
// computers have an older one.
func Node(t testing.TB) string {
	t.Helper()
	return Script(t, "node/bin/node")
}

// npm finds the folder from that of the test, which is below the module's root.
func npm(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "app", "plugin", "dialect", "mcp", "mcptest", "npm")
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the test runs outside of the module")
		}
		dir = filepath.Dir(dir)
	}
}
