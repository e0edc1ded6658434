package functions

import (
	"cmp"
	"context"
	"debug/elf"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"conclave/app/plugin"
)

// memory is RLIMIT_DATA of a worker: an interpreter with its threads' stacks
// takes 60 MiB of it, the rest is the plugin's, past which it sees MemoryError.
const memory = 256 << 20

// config is what the worker is told; shim/conclave_worker/main.py says what each
// key means.
type config struct {
	Entry    string   `json:"entry"`
	Display  string   `json:"display"`
	Root     string   `json:"root"`
	Home     string   `json:"home"`
	Package  bool     `json:"package,omitempty"`
	Folder   bool     `json:"folder,omitempty"`
	Siblings []string `json:"siblings,omitempty"`
	ID       string   `json:"id"`
	Storage  string   `json:"storage"`
	Site     []string `json:"site"`
	Python   string   `json:"python"`
}

// Spec describes the worker of a plugin: the interpreter, isolated from the
// person's environment, with what it needs to read and nothing to write but the
// plugin's storage. The error is a *plugin.Problem of kind unavailable when
// there is no Python.
func (d *Dialect) Spec(ctx context.Context, src plugin.Source, m plugin.Manifest, place plugin.Place) (plugin.Spec, error) {
	python, shimDir, err := d.resolve(ctx, cmp.Or(place.Runtime, d.options.Runtime))
	if err != nil {
		return plugin.Spec{}, err
	}
	c := config{
		ID:      src.ID,
		Folder:  src.Folder,
		Package: src.Folder && m.Entry == "__init__.py",
		Storage: place.Storage,
		Site:    python.Site,
		Python:  strings.Join(python.Command, " "),
	}
	display := cmp.Or(src.Display, src.Path)
	var own []string // what of the plugin may be read
	if src.Folder {
		c.Root, c.Home = src.Path, display
		c.Entry, c.Display = filepath.Join(src.Path, m.Entry), filepath.Join(display, m.Entry)
		own = []string{src.Path}
	} else {
		c.Root, c.Home = filepath.Dir(src.Path), filepath.Dir(display)
		c.Entry, c.Display = src.Path, display
		own = []string{src.Path}
		names, files := siblings(&c, m)
		c.Siblings = names
		own = append(own, files...)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return plugin.Spec{}, err
	}
	argv := append([]string{python.Executable}, flags()...)
	return plugin.Spec{
		Kind:    "command",
		Argv:    append(argv, "-c", boot, shimDir, "serve", string(text)),
		Env:     environment(place.Storage),
		Dir:     place.Work,
		Read:    readable(python, append(own, shimDir)),
		Execute: executable(python.Executable),
		Write:   slices.DeleteFunc([]string{place.Storage}, func(dir string) bool { return dir == "" }),
		Memory:  memory,
	}, nil
}

// siblings returns the modules beside a single file that it may import, and
// their files. A last good copy lies alone; its siblings are those of the
// original.
func siblings(c *config, m plugin.Manifest) (names, files []string) {
	for _, file := range m.Files {
		if file == m.Entry {
			continue
		}
		if _, err := os.Stat(filepath.Join(c.Root, filepath.FromSlash(file))); err != nil {
			c.Root = c.Home
		}
		name, _, _ := strings.Cut(file, "/")
		name = strings.TrimSuffix(name, ".py")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		path := filepath.Join(c.Root, name)
		if _, err := os.Stat(path + ".py"); err == nil && !slices.Contains(m.Files, name+"/__init__.py") {
			path += ".py"
		}
		files = append(files, path)
	}
	return names, files
}

// flags isolate the interpreter: no PYTHON* variables, no site packages but
// those the worker adds, no bytecode written, UTF-8 whatever the locale.
func flags() []string { return []string{"-I", "-S", "-B", "-X", "utf8"} }

// environment is the whole environment of a worker.
func environment(home string) []string {
	env := []string{"LANG=C.UTF-8"}
	if home != "" {
		env = append(env, "HOME="+home, "TMPDIR="+home)
	}
	if zone := zone(); zone != "" {
		env = append(env, "TZ="+zone)
	}
	if runtime.GOOS == "windows" {
		// Python does not start without it.
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	return env
}

// zone returns the name of the person's time zone, or "": /etc is not among what
// a worker may read.
func zone() string {
	if name := os.Getenv("TZ"); name != "" {
		return name
	}
	target, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(target, "zoneinfo/")
	return name
}

// readable returns what the interpreter needs to read, as far as it is there,
// and own.
func readable(python Python, own []string) []string {
	paths := slices.Concat(own, []string{filepath.Dir(python.Executable), python.Stdlib, python.Platstdlib}, python.Site, python.Libraries)
	if runtime.GOOS != "windows" {
		paths = append(paths,
			"/lib", "/lib64", "/usr/lib", "/usr/lib64", // shared libraries
			"/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")
	}
	var found []string
	for _, path := range paths {
		if _, err := os.Stat(path); path == "" || err != nil || slices.Contains(found, path) {
			continue
		}
		found = append(found, path)
	}
	return found
}

// executable returns the files that starting the interpreter executes: itself
// and the ELF loader it names.
func executable(path string) []string {
	files := []string{path}
	program, err := elf.Open(path)
	if err != nil {
		return files // not an ELF system
	}
	defer program.Close() //nolint:errcheck // read only
	for _, segment := range program.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(segment.Open())
		if err == nil {
			files = append(files, strings.TrimRight(string(name), "\x00"))
		}
	}
	return files
}
