package safefs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// OpenFile opens the file at name for reading. The error wraps ErrNotFile for what is none.
func (f *Folder) OpenFile(name string) (*os.File, error) {
	if err := noLinks(f.root, name); err != nil {
		return nil, err
	}
	return openFile(f.root, name)
}

// openFile opens a regular file, without waiting for a pipe.
func openFile(root *os.Root, name string) (*os.File, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: ErrNotFile}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Restore is WriteFrom of a file with the permissions and the time it had, on the disk when
// it has its name.
func (f *Folder) Restore(name string, from io.Reader, mode fs.FileMode, modified int64) error {
	if err := f.write(name, from, func(file *os.File) error {
		return errors.Join(file.Chmod(mode.Perm()), file.Sync())
	}); err != nil {
		return err
	}
	at := time.Unix(0, modified)
	return f.root.Chtimes(name, at, at)
}

// Overwrite writes into the file at name, which stays the same file: a process that may write
// this file and no other keeps it.
func (f *Folder) Overwrite(name string, from io.Reader) error {
	if err := noLinks(f.root, name); err != nil {
		return err
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Sync(), file.Close())
}

// Readlink returns where the link at name leads.
func (f *Folder) Readlink(name string) (string, error) {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return "", err
	}
	return f.root.Readlink(name)
}

// Link makes a link at name.
func (f *Folder) Link(name, target string) error {
	if err := f.MakeFolder(filepath.Dir(name)); err != nil {
		return err
	}
	return f.root.Symlink(target, name)
}

// RemoveOne deletes the file, the link or the empty folder at name.
func (f *Folder) RemoveOne(name string) error {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return err
	}
	return f.root.Remove(name)
}

// MakeFolderAs makes the folder name with its permissions.
func (f *Folder) MakeFolderAs(name string, mode fs.FileMode) error {
	if err := f.MakeFolder(name); err != nil {
		return err
	}
	return f.root.Chmod(name, mode.Perm())
}
