package functions_test

import (
	"path/filepath"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/python"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// The kit's words, short.
type (
	worker = pythontest.Worker
	listed = pythontest.Listed
	answer = pythontest.Answer
)

var patience = pythontest.Patience

var (
	files  = pythontest.Files
	source = pythontest.Source
	names  = pythontest.Names
)

func TestMain(m *testing.M) { programtest.Main(m) }

// everyPython runs a test on each Python of this machine.
func everyPython(t *testing.T, test func(t *testing.T, d *functions.Dialect)) {
	t.Helper()
	pythontest.Every(t, func(t *testing.T, i *python.Interpreters) { test(t, functions.New(i)) })
}

// endPythons runs a test on the oldest and the newest Python of this machine.
func endPythons(t *testing.T, test func(t *testing.T, d *functions.Dialect)) {
	t.Helper()
	pythontest.Ends(t, func(t *testing.T, i *python.Interpreters) { test(t, functions.New(i)) })
}

// aPython returns the dialect with the Python that a person would get.
func aPython(t testing.TB) *functions.Dialect {
	t.Helper()
	return functions.New(pythontest.Any(t))
}

// launch starts a plugin as the host would, without the walls.
func launch(t testing.TB, d plugin.Dialect, src plugin.Source) *worker {
	t.Helper()
	// There is no sandbox here, and what some of these functions start is outside of the
	// point.
	return pythontest.LaunchWith(t, d, src, plugin.StartOptions{Granted: []string{"programs"}})
}

// serve writes one file of functions, starts it and lists its tools.
func serve(t testing.TB, d *functions.Dialect, text string) *worker {
	t.Helper()
	w := launch(t, d, source(t, filepath.Join(files(t, map[string]string{"plug.py": text}), "plug.py")))
	w.List()
	return w
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	pythontest.Equal(t, what, got, want)
}
