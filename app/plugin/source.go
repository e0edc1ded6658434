package plugin

import (
	"os"
	"path/filepath"
	"strings"

	"conclave/app/plugin/watch"
)

// Source describes where a plugin comes from, before it is read: a file or a folder of the
// plugins folder; an entry of a configuration file there, with or without files besides; or a
// registration at run time.
type Source struct {
	ID      string // the plugin's id: of one in the folder its name without its ending, made [a-zA-Z0-9_-]
	Path    string // absolute path of the file or folder to read; empty for a plugin without files
	Folder  bool
	Display string // the path a person knows it by; differs from Path for the copy that its processes run from
	Alone   bool   // it is loaded by itself: other plugins next to it do not matter

	// Dialect and Row are set for an entry of a file and for a plugin without files: its dialect, and what
	// makes it the plugin that it is, as its dialect reads it. What a person approves is the row, with the
	// files where there are some.
	Dialect string
	Row     string
	// Values names what the row refers to and does not hold, such as secrets, without telling it. When it changes,
	// the plugin starts again; nobody is asked.
	Values string
	// Same is equal for two plugins that are the same thing under two names, such as one server in two
	// configurations; empty where nobody can tell.
	Same string
	// Tools says, for a plugin without files that defines its tools where it registers, what
	// they are, as its dialect reads them (Inspect). Nothing is run to list them, and each is
	// approved by its own digest, as Row is in place of code. Empty where only running it
	// tells.
	Tools string
}

// HasFiles reports whether the plugin consists of files.
func (s Source) HasFiles() bool { return s.Path != "" }

// Holds reports whether the plugin is a folder with something of this name right in it,
// whatever that is.
func (s Source) Holds(name string) bool {
	if !s.Folder {
		return false
	}
	_, err := os.Lstat(filepath.Join(s.Path, name))
	return err == nil
}

// Ignored reports whether an entry of the plugins folder is never a plugin: one that
// NotSource names, or one that other plugins share (_name).
func Ignored(name string) bool { return NotSource(name) || name[0] == '_' }

// NotSource reports whether an entry of the plugins folder is no part of a
// plugin: what watch.Ignored names, type declarations and recorded calls.
func NotSource(name string) bool {
	return watch.Ignored(name) || name == "tests" || strings.HasSuffix(name, TestsEnding) ||
		strings.HasSuffix(name, ".d.ts")
}

// SourceFiles returns the files below the folder dir that are a plugin's source and
// that its digest counts, relative and sorted; none for a folder that cannot be read.
func SourceFiles(dir string) []string {
	_, files, err := watch.Digest(dir)
	if err != nil {
		return nil
	}
	return files
}

// IDOf returns the id of the plugin in a file or folder of this name.
func IDOf(name string, folder bool) string {
	if !folder {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return LegalID(name)
}

// LegalID makes a folder or file name into a plugin id: [a-zA-Z0-9_-]{1,64}.
func LegalID(name string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	return id[:min(len(id), 64)]
}

// TestsEnding ends the name of the folder of recorded calls of a single-file plugin.
const TestsEnding = ".tests"

// What one plugin may hold, so that a small archive or a hostile repository cannot
// fill a disk.
const (
	MaxBytes = 256 << 20
	MaxFiles = 5000
)
