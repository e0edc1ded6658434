package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/watch"
)

// copiesDir is where the copies lie that the versions of a plugin run from. Those of a
// plugin that was named for one run go with it.
func (e *entry) copiesDir() string {
	if e.temporary {
		return filepath.Join(e.h.o.Data, "last-good", "@run", e.id)
	}
	return filepath.Join(e.h.o.Data, "last-good", e.id)
}

// inUse are the versions whose copies stay beside that of v.
func (e *entry) inUse(v version) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	used := []string{short(v.digest)}
	if e.record.Good != nil {
		used = append(used, short(e.record.Good.Digest))
	}
	if e.serving != nil {
		used = append(used, short(e.serving.version().digest))
	}
	return used
}

func (e *entry) copyVersion(v version) error {
	dir, base := e.copiesDir(), filepath.Base(v.src.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is gone after the rename
	if err := Copy(v.src, v.manifest.Files, filepath.Join(temp, base)); err != nil {
		return err
	}
	if err := copyBeside(v, temp); err != nil {
		return err
	}
	copied := v.src
	copied.Path = filepath.Join(temp, base)
	if !e.holds(copied, v) {
		return fmt.Errorf("the copy of %s differs from what was read", v.src.ID)
	}
	final := filepath.Join(dir, short(v.digest))
	if err := os.RemoveAll(final); err != nil { // damaged, or it would have been used
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		return err
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	used := e.inUse(v)
	for _, entry := range all {
		if !slices.Contains(used, entry.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeCopies removes the copies of a plugin that was named for one run.
func (e *entry) removeCopies() {
	if e.temporary {
		_ = os.RemoveAll(e.copiesDir()) // else with the next one of its name
	}
}

// copyBeside copies the files beside a single file that belong to it.
func copyBeside(v version, to string) error {
	if v.src.Folder {
		return nil
	}
	from, entry := filepath.Dir(v.src.Path), filepath.Base(v.src.Path)
	for _, name := range v.manifest.Files {
		if name == entry || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := safefs.CopyFile(filepath.Join(from, filepath.FromSlash(name)), path, plugin.MaxBytes); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyOf is the source of v as its processes see it: the copy that holds the files
// of its digest and nothing else.
func (e *entry) copyOf(v version) plugin.Source {
	src := v.src
	if !src.HasFiles() {
		return src
	}
	src.Path = filepath.Join(e.copiesDir(), short(v.digest), filepath.Base(v.src.Path))
	return src
}

// short names a version in a path.
func short(digest string) string { return digest[:min(16, len(digest))] }

// Copy copies the file at src, or of a folder the files that its digest counts,
// which files names unless it is nil: what their links inside the folder lead to,
// and none that lead out.
func Copy(src plugin.Source, files []string, to string) error {
	if !src.Folder {
		return safefs.CopyFile(src.Path, to, plugin.MaxBytes)
	}
	if files == nil {
		var err error
		if _, files, err = watch.Digest(src.Path); err != nil {
			return err
		}
	}
	return safefs.CopyFiles(src.Path, files, to, plugin.MaxBytes)
}
