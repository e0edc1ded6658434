package functions_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
)

func TestSourcesWrittenAgainstTheParserAreReadInASandbox(t *testing.T) {
	launcher := pythontest.Launcher(t)
	defer launcher.Close()
	// Time is not what ends them: that depends on what else this machine does.
	d := functions.New(python.New(python.Options{Runtime: programtest.Dir, Launcher: launcher, InspectTime: time.Minute}))
	inspect := func(text string) (plugin.Listing, error) {
		t.Helper()
		src := source(t, filepath.Join(files(t, map[string]string{"plug.py": text}), "plug.py"))
		m, err := d.Recognize(t.Context(), src)
		must(t, err)
		return d.Inspect(t.Context(), src, *m)
	}
	listing, err := inspect("def f(x: int) -> int:\n    'Says x.'\n    return x\n")
	if err != nil || len(listing.Tools) != 1 || listing.Tools[0].Description != "Says x." {
		t.Fatalf("an ordinary file: %+v, %v", listing, err)
	}
	// Each byte or two of it becomes an object of the tree.
	_, err = inspect("def f(): ...\nx = [" + strings.Repeat("0,", 1<<20) + "]\n")
	problem, ok := errors.AsType[*plugin.Problem](err)
	if !ok || problem.Kind != "memory" || !strings.HasPrefix(problem.Message, "Reading its sources takes more memory") ||
		problem.Hint == "" {
		t.Errorf("2 MiB of a list: got %#v", err)
	}
	if _, err = inspect("def f(): ...\n"); err != nil {
		t.Errorf("the next one: %v", err)
	}
	listing, err = inspect("def f():\n    '''Says x." + strings.Repeat("\n     x", 1<<16) + "'''\n")
	if err != nil || len(listing.Tools) != 1 || !strings.HasPrefix(listing.Tools[0].Description, "Says x.\nx\nx") {
		t.Errorf("a description of many lines: %v", err)
	}
}

func TestReadingSourcesEndsInTime(t *testing.T) {
	launcher := pythontest.Launcher(t)
	defer launcher.Close()
	d := functions.New(python.New(python.Options{
		Runtime: programtest.Dir, Launcher: launcher, InspectTime: time.Millisecond,
	}))
	src := source(t, filepath.Join(files(t, map[string]string{"plug.py": "def f(): ...\n"}), "plug.py"))
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	_, err = d.Inspect(t.Context(), src, *m)
	problem, ok := errors.AsType[*plugin.Problem](err)
	// On a busy machine its time may be over before it had any.
	late := map[string]string{
		"deadline": "Reading plug.py took longer than 0.001 s.",
		"busy":     "The computer was too busy to read plug.py within 0.006 s.",
	}
	if !ok || problem.Message != late[problem.Kind] {
		t.Errorf("got %#v", err)
	}
}

func TestOneProcessReadsTheSourcesOfManyPluginsAndOneThatFailsItSpoilsNoOther(t *testing.T) {
	launcher := pythontest.Launcher(t)
	defer launcher.Close()
	counted := &plugintest.Counted{Launcher: launcher}
	d := functions.New(python.New(python.Options{Runtime: programtest.Dir, Launcher: counted, InspectTime: time.Minute}))
	inspect := func(text string) error {
		src := source(t, filepath.Join(files(t, map[string]string{"plug.py": text}), "plug.py"))
		m, err := d.Recognize(t.Context(), src)
		must(t, err)
		listing, err := d.Inspect(t.Context(), src, *m)
		if err == nil && len(listing.Tools) != 1 {
			t.Errorf("%.20s offers %+v", text, listing.Tools)
		}
		return err
	}
	for i := range 30 {
		if err := inspect(fmt.Sprintf("def f%d(): ...\n", i)); err != nil {
			t.Fatal(err)
		}
		if err := inspect("def f(:\n"); err == nil {
			t.Fatal("a syntax error was not seen")
		}
	}
	if n := counted.Started(); n > 10 { // one, and one more whenever the machine pauses for seconds
		t.Errorf("60 plugins were read by %d processes", n)
	}
	// One that ended meanwhile is replaced, and the plugin that met it is read all the same.
	counted.Crash()
	if err := inspect("def f(): ...\n"); err != nil {
		t.Errorf("after the process was killed: %v", err)
	}
}
