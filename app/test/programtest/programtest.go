// Package programtest builds Conclave's programs for tests, as they ship: without cgo
// and without the race detector, whose memory does not fit the sandbox of plugins.
//
// Only tests import it. A package's TestMain calls [Main] or [TerminalMain].
package programtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"conclave/app/base/version"
	"conclave/app/plugin/sandbox"
)

// Dir is a folder for the tests of one package; Main makes and removes it.
var Dir string

// Main runs a package's tests and ends the program.
func Main(m *testing.M) { os.Exit(run(m, func() error { return nil })) }

// TerminalMain is Main with conclave, and conclave-worker beside it, built before the
// tests. program gets the path of the first.
func TerminalMain(m *testing.M, program *string) {
	os.Exit(run(m, func() (err error) {
		*program, err = build(version.Terminal, version.Worker)
		return err
	}))
}

func run(m *testing.M, before func() error) int {
	var err error
	if Dir, err = os.MkdirTemp("", "conclave-test-"); err == nil {
		defer func() { _ = os.RemoveAll(Dir) }()
		err = before()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Walls skips a test that attacks the sandbox of plugins where this system does not have
// all of it.
func Walls(t testing.TB, has sandbox.Confinement) {
	t.Helper()
	if has.Level != "process+landlock" {
		t.Skip("this system does not have the whole sandbox: " + has.Note(true, true))
	}
}

// Held is Walls for a test that attacks what holds a process to its proxy, too.
func Held(t testing.TB, has sandbox.Confinement) {
	t.Helper()
	Walls(t, has)
	if has.Network != "" {
		t.Skip("this system holds no connections: " + has.Network)
	}
}

// Worker returns the path of conclave-worker, from which plugins' processes are
// started. It is built once for a package.
func Worker(t testing.TB) string {
	t.Helper()
	path, err := worker()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var worker = sync.OnceValues(func() (string, error) { return build(version.Worker) })

// builtIn names the variable of the environment with the folder of programs that were built
// already: a suite links them once, and not for each of its packages.
const builtIn = "CONCLAVE_TEST_BIN"

// build builds programs into a folder of their own and returns the path of the first.
func build(names ...string) (string, error) {
	dir, err := os.MkdirTemp(Dir, "programs-")
	if err != nil {
		return "", err
	}
	if from := os.Getenv(builtIn); from != "" {
		return filepath.Join(dir, names[0]), copied(from, dir, names)
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "conclave/app/cmd/"+name)
	}
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %v: %w: %s", names, err, out)
	}
	path := filepath.Join(dir, names[0])
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	return path, nil
}

// copied copies programs into a folder, so that a test may do with them what it likes.
func copied(from, to string, names []string) error {
	for _, name := range names {
		program, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return fmt.Errorf("%s: %w", builtIn, err)
		}
		if err := os.WriteFile(filepath.Join(to, name), program, 0o755); err != nil { //nolint:gosec // a program
			return err
		}
	}
	return nil
}
