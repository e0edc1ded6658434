package functions_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/python"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
)

func TestRecognizeReadsWhatAFileSaysOfItself(t *testing.T) {
	d := functions.New(python.New(python.Options{}))
	dir := files(t, map[string]string{
		"desk.py": "#!/usr/bin/env python3\n# a comment\nr'''\n  Desk: small things.\n\nMore.\n'''\n__version__ = " +
			"\"1.2\"\n__author__ = 'A. Person'\n__url__ = 'https://example.org'\nimport other\n",
		"other.py":  "",
		"plain.PY":  "x = 1\n",
		"notes.txt": "def f(): ...\n",
	})
	m, err := d.Recognize(t.Context(), source(t, filepath.Join(dir, "desk.py")))
	must(t, err)
	equal(t, "name", m.Name, "desk")
	equal(t, "entry", m.Entry, "desk.py")
	equal(t, "version", m.Version, "1.2")
	equal(t, "author", m.Author, "A. Person")
	equal(t, "homepage", m.Homepage, "https://example.org")
	equal(t, "description", m.Description, "Desk: small things.")
	equal(t, "files", strings.Join(m.Files, " "), "desk.py other.py")
	if m.Permissions == nil || len(m.Permissions) != 0 {
		t.Errorf("permissions: %v", m.Permissions)
	}
	if m, err = d.Recognize(t.Context(), source(t, filepath.Join(dir, "plain.PY"))); m == nil || err != nil {
		t.Errorf("plain.PY: %v, %v", m, err)
	}
	if m, err = d.Recognize(t.Context(), source(t, filepath.Join(dir, "notes.txt"))); m != nil || err != nil {
		t.Errorf("notes.txt: %v, %v", m, err)
	}
}

func TestRecognizeRefusesWhatCannotBeAFileOfFunctions(t *testing.T) {
	d := functions.New(python.New(python.Options{}))
	dir := files(t, map[string]string{"empty.py": "", "outside": "def f(): ...\n", "linked/x.txt": ""})
	big := filepath.Join(dir, "big.py")
	must(t, os.WriteFile(big, nil, 0o600))
	must(t, os.Truncate(big, 50<<20))
	want := map[string]string{"empty.py": "empty.py is empty.", "big.py": "big.py has 50.0 MB"}
	if runtime.GOOS != "windows" {
		must(t, os.Symlink("../outside", filepath.Join(dir, "linked", "linked.py")))
		want["linked"] = "linked.py cannot be read"
	}
	for name, message := range want {
		m, err := d.Recognize(t.Context(), source(t, filepath.Join(dir, name)))
		problem, ok := errors.AsType[*plugin.Problem](err)
		if m != nil || !ok || !strings.HasPrefix(problem.Message, message) || problem.Hint == "" {
			t.Errorf("%s: got %v, %v; want a problem %q", name, m, err, message)
		}
	}
}

// script writes a program that runs body.
func script(t *testing.T, name, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return path
}

// counting returns a python3 that counts how often it is run, and the count.
func counting(t *testing.T) (string, func() int) {
	t.Helper()
	found, err := pythontest.Any(t).Python(t.Context())
	must(t, err)
	log := filepath.Join(t.TempDir(), "runs")
	path := script(t, "python3", "echo run >> "+log+"\nexec "+found.Executable+` "$@"`)
	return path, func() int {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(text), "run")
	}
}

func TestAnInterpreterIsAskedOnceAndAgainWhenItChanges(t *testing.T) {
	path, runs := counting(t)
	dir := t.TempDir()
	for start := range 3 {
		d := python.New(python.Options{Python: path, Runtime: dir})
		for range 2 {
			found, err := d.Python(t.Context())
			must(t, err)
			equal(t, "command", found.Command[0], path)
			equal(t, "why", found.Why, "the setting")
			if found.Executable == path || found.Version == "" || found.Stdlib == "" {
				t.Errorf("start %d: %+v", start, found)
			}
		}
	}
	equal(t, "runs", runs(), 1)
	text, err := os.ReadFile(path)
	must(t, err)
	if err := os.WriteFile(path, append(text, "# changed\n"...), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if _, err := python.New(python.Options{Python: path, Runtime: dir}).Python(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "runs after a change", runs(), 2)
}

func TestTheChoiceOfPythonIsSettingThenVariableThenPath(t *testing.T) {
	good, _ := counting(t)
	old := script(t, "python3", `echo '{"version":"3.8.18","executable":"/x"}'`)
	broken := script(t, "python3", "echo it is broken >&2; exit 1")
	odd := script(t, "python3", "echo hello")
	dir := t.TempDir()
	choose := func(setting string) (python.Python, error) {
		return python.New(python.Options{Python: setting, Runtime: dir}).Python(t.Context())
	}
	t.Setenv("CONCLAVE_PYTHON", broken)
	if found, err := choose(good); err != nil || found.Why != "the setting" {
		t.Errorf("the setting: %+v, %v", found, err)
	}
	for name, one := range map[string]struct{ setting, message string }{
		"broken variable": {"", "CONCLAVE_PYTHON names cannot be used: it is broken"},
		"old setting":     {old, "the setting names cannot be used: it is Python 3.8.18"},
		"odd setting":     {odd, "does not answer like a Python"},
		"no such program": {filepath.Join(dir, "none"), "the setting names cannot be used"},
	} {
		_, err := choose(one.setting)
		problem, ok := errors.AsType[*plugin.Problem](err)
		if !ok || problem.Kind != "unavailable" || !strings.Contains(problem.Message, one.message) || problem.Hint == "" {
			t.Errorf("%s: got %v, want %q", name, err, one.message)
		}
	}
	t.Setenv("CONCLAVE_PYTHON", "")
	t.Setenv("PATH", filepath.Dir(old)+string(os.PathListSeparator)+filepath.Dir(good))
	if _, err := choose(""); err == nil || !strings.Contains(err.Error(), "There is no Python of 3.9 or newer") {
		t.Errorf("an old python3 alone: %v", err)
	}
	second := filepath.Join(filepath.Dir(good), "python")
	must(t, os.Symlink(good, second))
	if found, err := choose(""); err != nil || found.Command[0] != second ||
		!strings.Contains(found.Why, "no usable python3") {
		t.Errorf("python after an old python3: %+v, %v", found, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := choose(""); err == nil || err.Error() != "There is no Python on this machine." {
		t.Errorf("no Python: %v", err)
	}
}

func TestUnpackingIsSafeBetweenManyAtOnce(t *testing.T) {
	path, _ := counting(t)
	dir := t.TempDir()
	var all sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = python.New(python.Options{Python: path, Runtime: dir}).Python(context.Background())
		})
	}
	all.Wait()
	must(t, errors.Join(errs...))
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	equal(t, "folders", len(found), 1)
	var sources, compiled int
	err = filepath.WalkDir(found[0], func(path string, entry fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".py":
			sources++
		case ".pyc":
			compiled++
		}
		return err
	})
	must(t, err)
	if sources < 20 || compiled != sources {
		t.Errorf("got %d sources and %d compiled", sources, compiled)
	}
}

func TestARuntimeFolderThatCannotBeWrittenIsSaid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	_, err := python.New(python.Options{Runtime: filepath.Join(file, "runtime")}).Python(t.Context())
	if err == nil || !strings.Contains(err.Error(), "cannot be unpacked") {
		t.Errorf("got %v", err)
	}
}

func TestSpecGivesTheWorkerWhatItNeedsAndNothingElse(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "hunter2")
	t.Setenv("TZ", "Europe/Berlin")
	d := aPython(t)
	dir := files(t, map[string]string{"plug.py": "def f(): ...\n", "kit/kit.py": "def f(): ...\n"})
	storage := t.TempDir()
	for _, name := range []string{"plug.py", "kit"} {
		src := source(t, filepath.Join(dir, name))
		m, err := d.Recognize(t.Context(), src)
		must(t, err)
		spec, err := d.Spec(t.Context(), src, *m, plugin.StartOptions{Storage: storage, Runtime: programtest.Dir, Work: dir})
		must(t, err)
		equal(t, "kind", spec.Kind, "command")
		equal(t, "dir", spec.Dir, dir)
		equal(t, "write", strings.Join(spec.Write, " "), storage)
		equal(t, "memory", spec.Memory, int64(256<<20))
		equal(t, "walls", spec.Sockets || spec.Spawn, false)
		if !slices.Contains(spec.Read, src.Path) || slices.Contains(spec.Read, dir) {
			t.Errorf("%s may read %v", name, spec.Read)
		}
		for _, path := range slices.Concat(spec.Read, spec.Execute) {
			if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
				t.Errorf("%s: %v", path, err)
			}
		}
		equal(t, "executes itself", spec.Execute[0], spec.Argv[0])
		env := strings.Join(spec.Env, "\n")
		if strings.Contains(env, "hunter2") || !strings.Contains(env, "HOME="+storage) ||
			!strings.Contains(env, "TZ=Europe/Berlin") {
			t.Errorf("environment: %s", env)
		}
	}
}

func TestAVirtualEnvironmentBringsItsPackages(t *testing.T) {
	found, err := pythontest.Any(t).Python(t.Context())
	must(t, err)
	if runtime.GOOS == "windows" {
		t.Skip("laid out differently")
	}
	// What python3 -m venv makes, without pip.
	env := files(t, map[string]string{
		"pyvenv.cfg": "home = " + filepath.Dir(found.Executable) + "\nversion = " + found.Version + "\n",
		"lib/python" + short(found.Version) + "/site-packages/only_here.py": "N = 42\n",
	})
	must(t, os.Mkdir(filepath.Join(env, "bin"), 0o700))
	must(t, os.Symlink(found.Executable, filepath.Join(env, "bin", "python3")))
	d := python.New(python.Options{Python: filepath.Join(env, "bin", "python3"), Runtime: programtest.Dir})
	w := serve(t, functions.New(d), "import only_here\ndef f(): return only_here.N\n")
	equal(t, "package", w.Call("f", "").Text(), "42")
}

func short(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if _, err := strconv.Atoi(parts[1]); err != nil {
		return version
	}
	return parts[0] + "." + parts[1]
}
