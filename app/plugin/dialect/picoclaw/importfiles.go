package picoclaw

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/watch"
)

// taking finds what of a configuration's folder one process needs: its “dir”, and what
// the words of its command name. Of a file in a folder below, its whole folder is taken,
// for what the program may load beside it; of one next to the configuration that file
// alone, since other programs keep their secrets there too.
type taking struct {
	*importing
	files map[string]bool // relative, with slashes
	bytes int64
	notes []string
}

func (t *taking) sorted() []string { return slices.Sorted(maps.Keys(t.files)) }

// process takes what p names, and returns its entry with paths that are right in a
// folder of its own.
func (t *taking) process(p Process, entry members) (members, error) {
	dir := "."
	if p.Dir != "" {
		var err error
		if dir, err = t.inside(p.Dir, "."); err != nil {
			return nil, err
		}
		if info, err := os.Stat(t.at(dir)); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("its folder %s does not exist next to %s", excerpt(p.Dir), filepath.Base(t.path))
		}
		if filepath.IsAbs(p.Dir) {
			entry = entry.with("dir", dir)
		}
		if dir != "." {
			if err := t.folderOf(dir); err != nil {
				return nil, err
			}
		}
	}
	command := slices.Clone(p.Command)
	for n, word := range command {
		name, err := t.word(word, dir, n == 0)
		switch {
		case err != nil:
			return nil, err
		case name == "":
			continue
		case filepath.IsAbs(word):
			if command[n], err = filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(name)); err != nil {
				return nil, err
			}
			if n == 0 { // not a program to look for in PATH
				command[n] = "." + string(filepath.Separator) + command[n]
			}
			command[n] = filepath.ToSlash(command[n])
		}
		if err := t.take(name); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(command, p.Command) {
		entry = entry.with("command", command)
	}
	t.note(p)
	t.importing.files += len(t.files)
	t.left -= t.bytes
	return entry, nil
}

// word returns what a word of the command names below the configuration's folder, with
// slashes; empty when it names nothing there.
func (t *taking) word(word, dir string, program bool) (string, error) {
	if word == "" || program && !strings.ContainsRune(word, '/') && !strings.ContainsRune(word, filepath.Separator) {
		return "", nil // found in PATH
	}
	name, err := t.inside(word, dir)
	if err != nil {
		_, missing := os.Lstat(word)
		if filepath.IsAbs(word) && (program || missing != nil) {
			return "", nil // a program of this computer, or no path at all
		}
		return "", err
	}
	if _, err := os.Lstat(t.at(name)); err != nil {
		if program {
			return "", fmt.Errorf("its program %s does not exist next to %s", excerpt(word), filepath.Base(t.path))
		}
		return "", nil // an argument that is no path
	}
	return name, nil
}

// inside returns a path as one below the configuration's folder, with slashes. dir is
// where it is relative to.
func (t *taking) inside(name, dir string) (string, error) {
	rel := filepath.Join(filepath.FromSlash(dir), filepath.FromSlash(name))
	if filepath.IsAbs(name) {
		real := name
		if found, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
			real = filepath.Join(found, filepath.Base(name))
		}
		var err error
		if rel, err = filepath.Rel(t.folder, real); err != nil {
			rel = ".."
		}
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("it names %s, which lies outside of the folder of %s, and only from there can be copied: "+
			"put it there", excerpt(name), filepath.Base(t.path))
	}
	return filepath.ToSlash(filepath.Clean(rel)), nil
}

func (t *taking) at(name string) string { return filepath.Join(t.folder, filepath.FromSlash(name)) }

// take takes a file or folder, and what lies next to a file that is not next to the
// configuration.
func (t *taking) take(name string) error {
	for _, part := range strings.Split(name, "/") {
		if part != "." && watch.Ignored(part) {
			return fmt.Errorf("it names %s, and what is called %s is no part of a plugin: "+
				"give it another name", excerpt(name), excerpt(part))
		}
	}
	info, err := os.Stat(t.at(name))
	switch {
	case name == "." || err != nil && errors.Is(err, fs.ErrNotExist):
		return nil // an argument such as “.”
	case err != nil:
		return err
	case info.IsDir():
		return t.folderOf(name)
	case path.Dir(name) != ".":
		return t.folderOf(path.Dir(name))
	}
	return t.file(name, info)
}

func (t *taking) file(name string, info fs.FileInfo) error {
	switch {
	case t.files[name]:
		return nil
	case safefs.LeadsOut(t.folder, t.at(name)):
		return fmt.Errorf("its file %s is a link that leads out of the folder of %s: put the file itself there", name,
			filepath.Base(t.path))
	case !info.Mode().IsRegular():
		return fmt.Errorf("it names %s, which is no file", name)
	case name == FileName:
		return fmt.Errorf("its %s lies there already: add its folder instead", FileName)
	}
	t.files[name] = true
	t.bytes += info.Size()
	if t.importing.files+len(t.files) > plugin.MaxFiles || t.bytes > t.left {
		return fmt.Errorf("with it, what is copied would have more than %d files or %d MiB", plugin.MaxFiles,
			plugin.MaxBytes>>20)
	}
	return nil
}

// folderOf takes a folder with all that is in it.
func (t *taking) folderOf(name string) error {
	if safefs.LeadsOut(t.folder, t.at(name)) {
		return fmt.Errorf("its folder %s leads out of the folder of %s: put the folder itself there", name,
			filepath.Base(t.path))
	}
	return filepath.WalkDir(t.at(name), func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(t.folder, at)
		if err != nil {
			return err
		}
		switch {
		case at != t.at(name) && watch.Ignored(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		info, err := os.Stat(at)
		if err != nil || info.IsDir() { // a link to nothing, or to a folder, is no part of a plugin
			return nil //nolint:nilerr // as it says
		}
		return t.file(filepath.ToSlash(rel), info)
	})
}

// note returns what of the entry still names where it came from.
func (t *taking) note(p Process) {
	if len(t.files) == 0 {
		t.notes = append(t.notes, "Its command names no file next to "+filepath.Base(t.path)+
			", so nothing but its "+FileName+" was made.")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		if strings.Contains(p.Env[name], t.folder) {
			t.notes = append(t.notes, "Its variable "+excerpt(name)+" names "+t.folder+
				", which its sandbox keeps it from reading.")
		}
	}
	for _, word := range p.Command {
		if !filepath.IsAbs(word) && strings.Contains(word, t.folder) {
			t.notes = append(t.notes, "Its argument "+excerpt(word)+" names "+t.folder+
				", which its sandbox keeps it from reading.")
		}
	}
}
