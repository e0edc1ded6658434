package core

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/app/base/fault"
	"conclave/plugins"
)

// installShipped copies the plugins that come with Conclave into a plugins folder
// that does not exist yet, and reports whether it did. A folder that is there is
// the person's own and left as it is, even when it is empty.
func installShipped(dir string) (bool, error) {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return false, notInstalled(dir, err)
	}
	// Written beside it and renamed, so that a copy that was cut short is not
	// taken for the person's own folder.
	temp := dir + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return false, notInstalled(dir, err)
	}
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return false, notInstalled(dir, err)
	}
	err := fs.WalkDir(plugins.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		to := filepath.Join(temp, filepath.FromSlash(path))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		text, err := plugins.Files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err == nil {
		err = os.Rename(temp, dir)
	}
	return err == nil, notInstalled(dir, err)
}

func notInstalled(dir string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Unavailable, "core.plugins", "The plugins folder "+dir+" cannot be made.",
		"Check the space on its disk and the permissions of the folder above it, then start Conclave again.", err)
}
