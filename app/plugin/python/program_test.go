package python

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The Python of a framework of macOS starts another program, which its walls must know.
func TestAFrameworksPythonMayBecomeItsProgram(t *testing.T) {
	t.Parallel()
	version := filepath.Join(t.TempDir(), "Python.framework", "Versions", "3.13")
	app := filepath.Join(version, "Resources", "Python.app", "Contents", "MacOS", "Python")
	files := []string{filepath.Join(version, "bin", "python3.13"), filepath.Join(version, "Python"), app}
	for _, file := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := Python{Executable: files[0], Stdlib: filepath.Join(version, "lib", "python3.13")}
	if got := p.Program([]string{files[0]}).Execute; !slices.Equal(got, files) {
		t.Errorf("may execute %q, want %q", got, files)
	}
	p.Stdlib = filepath.Join(t.TempDir(), "lib", "python3.13")
	if got := p.Program([]string{files[0]}).Execute; !slices.Equal(got, files[:1]) {
		t.Errorf("without a framework: may execute %q", got)
	}
}
