package safefs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"conclave/app/base/place"
)

// CopyFile copies a regular file of at most limit bytes; to must not exist.
func CopyFile(from, to string, limit int64) error {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	return writeFile(to, in, limit)
}

// CopyFiles copies the files of the folder from that have these names, with
// slashes, into the new folder to: what their links inside the folder lead to, and
// none that lead out. Each may have limit bytes.
func CopyFiles(from string, files []string, to string, limit int64) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	root, err := OpenSource(from)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // read only
	for _, name := range files {
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		in, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		err = writeFile(path, in, limit)
		_ = in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// writeFile copies a file that was looked at before, and may be another by now: a
// pipe, which is opened without waiting for it and is not copied, or one without end.
func writeFile(path string, in *os.File, limit int64) error {
	info, err := in.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "copy", Path: in.Name(), Err: ErrNotFile}
	case info.Size() > limit:
		return fmt.Errorf("copy %s: it has more than %d MiB", in.Name(), limit>>20)
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(0o600))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, io.LimitReader(in, limit)); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// LeadsOut reports whether path, after following links, lies outside root.
func LeadsOut(root, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err != nil || !place.Inside(root, real)
}
