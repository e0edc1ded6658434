//go:build unix

package python_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
)

func TestAPythonThatDoesNotAnswerIsSlowAndNotMissing(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("CONCLAVE_PYTHON", "")
	found := python.New(python.Options{Runtime: t.TempDir(), ProbeTime: 50 * time.Millisecond})
	_, err := found.Python(t.Context())
	p := plugin.ProblemOf(err)
	if err == nil || p.Kind != "busy" || !strings.HasPrefix(p.Message, "The Python python3 is slow: it did not answer") {
		t.Errorf("it says %+v", p)
	}
}
