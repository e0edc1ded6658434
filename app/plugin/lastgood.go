package plugin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/app/plugin/place"
	"conclave/app/plugin/watch"
)

// goodPath is where the kept copy of a version lies.
func (h *Host) goodPath(id, digest, base string) string {
	return filepath.Join(h.goodDir(id), short(digest), base)
}

// short names a version in a path.
func short(digest string) string { return digest[:min(16, len(digest))] }

// keepGood copies the files of a version that loaded into the plugin's last-good
// folder, under the version's digest; of older copies, it leaves the one before,
// whose calls may not be over. The copy is what serves after a restart while the
// newest save does not load, and what a process that starts late runs.
//
// A copy that cannot be made is logged and lived without. The error is errNewer:
// the files are not those of v any more.
func (e *entry) keepGood(v version) error {
	if e.temporary {
		return nil
	}
	err := e.h.copyGood(v, e.oldGood())
	if err == nil {
		return nil
	}
	if !v.same(v.src) {
		return errNewer
	}
	e.h.o.Log.Warn("the last good copy could not be kept", "plugin", e.id, "err", err)
	return nil
}

func (e *entry) oldGood() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.record.Good == nil {
		return ""
	}
	return e.record.Good.Digest
}

func (h *Host) copyGood(v version, old string) error {
	dir, base := h.goodDir(v.src.ID), filepath.Base(v.src.Path)
	final := filepath.Join(dir, short(v.digest))
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is gone after the rename
	if err := copyTree(v.src, filepath.Join(temp, base)); err != nil {
		return err
	}
	if err := copyBeside(v, temp); err != nil {
		return err
	}
	copied := v.src
	copied.Path = filepath.Join(temp, base)
	if !v.same(copied) {
		return fmt.Errorf("the copy of %s differs from what was loaded", v.src.ID)
	}
	if err := os.Rename(temp, final); err != nil {
		return err
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range all {
		if entry.Name() != short(v.digest) && (old == "" || entry.Name() != short(old)) {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
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
		if err := copyFile(filepath.Join(from, filepath.FromSlash(name)), path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyTree copies a file, or the files of a folder without what is ignored.
// Links stay links.
func copyTree(src Source, to string) error {
	if !src.Folder {
		return copyFile(src.Path, to)
	}
	_, files, err := watch.Digest(src.Path)
	if err != nil {
		return err
	}
	root, err := place.Source(src.Path)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // read only
	for _, name := range files {
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if link, err := root.Readlink(filepath.FromSlash(name)); err == nil {
			if err := os.Symlink(link, path); err != nil {
				return err
			}
			continue
		}
		in, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		err = writeFile(path, in)
		_ = in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	return writeFile(to, in)
}

func writeFile(path string, in io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(0o600))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
