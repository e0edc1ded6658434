//go:build unix

package window_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"conclave/app/base/fault"
)

// ear is a program that tells the test what it was started with.
type ear struct {
	t    *testing.T
	pipe string
}

// newEar puts programs of these names, and no others, where programs are found.
func newEar(t *testing.T, names ...string) *ear {
	t.Helper()
	dir := t.TempDir()
	e := &ear{t, filepath.Join(dir, "pipe")}
	must(t, syscall.Mkfifo(e.pipe, 0o600))
	for _, name := range names {
		path := filepath.Join(dir, name)
		write(t, path, "#!/bin/sh\necho \"$0 $*\" > '"+e.pipe+"' &\n")
		if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return e
}

// heard returns the name and arguments of the program that was started.
func (e *ear) heard() string {
	e.t.Helper()
	text, err := os.ReadFile(e.pipe) // waits for the program
	must(e.t, err)
	program, arguments, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	return filepath.Base(program) + " " + arguments
}

func TestFilesOfAPluginOpenInThePersonsEditorAndFoldersInTheSystems(t *testing.T) {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	e := newEar(t, opener, "gedit", "mine")
	w := open(t)
	for _, c := range []struct {
		name string
		do   func() error
		want string
	}{
		{"the data", func() error { return w.Window.OpenFolder("data") }, opener + " " + w.data},
		{"the log", func() error { return w.Window.OpenFolder("log") }, opener + " " + filepath.Join(w.data, "logs")},
		{
			"the plugins folder", func() error { return w.Plugins.OpenFolder("") },
			opener + " " + filepath.Join(w.data, "plugins"),
		},
	} {
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := e.heard(); got != c.want {
			t.Errorf("%s: started %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAPluginsFileOpensAtItsLine(t *testing.T) {
	e := newEar(t, "gedit", "mine")
	data := t.TempDir()
	folder := filepath.Join(data, "plugins", "ext")
	write(t, filepath.Join(folder, "spindle.json"), `{"version":"1","name":"Ext","identifier":"ext","author":"a"}`)
	write(t, filepath.Join(folder, "dist", "backend.js"), "// nothing\n")
	w := openOn(t, data, "")
	backend := filepath.Join(folder, "dist", "backend.js")
	edit := func(command string) {
		t.Helper()
		raw, err := json.Marshal(command)
		must(t, err)
		if _, err := w.Settings.Set(map[string]json.RawMessage{"editor": raw}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		editor, file string
		line         int
		want         string
	}{
		{"", "", 0, "gedit +1 " + backend},
		{" ", "", 0, "gedit +1 " + backend},
		{"", "spindle.json", 3, "gedit +3 " + filepath.Join(folder, "spindle.json")},
		{"mine --at {line} {file}", "dist/backend.js", 7, "mine --at 7 " + backend},
		{"mine -x", "dist/backend.js", 7, "mine -x " + backend},
	} {
		edit(c.editor)
		program, err := w.Plugins.OpenInEditor("ext", c.file, c.line)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if !strings.HasPrefix(c.want, program+" ") {
			t.Errorf("with %q: it says that %q shows the file", c.editor, program)
		}
		if got := e.heard(); got != c.want {
			t.Errorf("with %q: started %q, want %q", c.editor, got, c.want)
		}
	}
	fails := func(name, file string, want fault.Kind, words string) {
		t.Helper()
		_, err := w.Plugins.OpenInEditor("ext", file, 1)
		kind(t, name, err, want, words)
	}
	fails("a file elsewhere", "../../secret", fault.Invalid, "does not belong to Ext")
	edit("not-there {file}")
	fails("an editor that is not there", "", fault.Unavailable, "could not be started")
	broken := filepath.Join(data, "broken")
	write(t, broken, "#!/bin/sh\nexit 3\n")
	must(t, os.Chmod(broken, 0o700)) //nolint:gosec // it is a program
	edit(broken + " {file}")
	fails("an editor that ends at once", "", fault.Unavailable, broken+" could not open "+backend)
	write(t, backend, "#!/bin/sh\nexit 3\n")
	must(t, os.Chmod(backend, 0o700)) //nolint:gosec // it is a program
	edit("{file}")
	fails("a file that is run itself", "", fault.Unavailable, backend+" could not open "+backend)
	if err := w.Plugins.OpenFolder("ext"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a folder without a program for it: %v", err)
	}
}
