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

// Restore is WriteFrom of a file with the permissions, the time and the owner it had, on the disk
// when it has its name. The error wraps ErrInPlace where only the file that is there may change.
func (f *Folder) Restore(name string, from io.Reader, mode fs.FileMode, modified int64) error {
	was, err := f.Lstat(name)
	if err != nil {
		was = nil // there is none
	}
	err = f.write(name, from, func(file *os.File, part string) error {
		at := time.Unix(0, modified)
		return errors.Join(own(file, was), file.Chmod(mode.Perm()), f.root.Chtimes(part, at, at), file.Sync())
	})
	for _, only := range []error{fs.ErrPermission, syscall.EROFS, syscall.EBUSY, syscall.EXDEV} {
		if was != nil && was.Mode().IsRegular() && errors.Is(err, only) {
			return errors.Join(ErrInPlace, err)
		}
	}
	return err
}

// ErrInPlace is returned for a file that no other can take the place of: in a folder that this
// user may not write, of another owner, or if it is a mount point.
var ErrInPlace = errors.New("only the file itself may be written")

// Overwrite writes size bytes into the file at name, which stays the same file. It reserves the
// space first, so that a full disk changes nothing. Until it is done the file begins as from does
// and goes on as it was, and has the longer of both lengths; so it is left by a crash, and by an
// error that comes later than that of the space.
func (f *Folder) Overwrite(name string, from io.Reader, size int64, mode fs.FileMode) error {
	if err := noLinks(f.root, name); err != nil {
		return err
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err = reserve(file, size); err == nil {
		_, err = io.Copy(file, from)
	}
	if err == nil {
		err = file.Truncate(size)
	}
	if info, failed := file.Stat(); err == nil && failed == nil && info.Mode().Perm() != mode.Perm() {
		err = file.Chmod(mode.Perm())
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// Sync has what was renamed in a folder survive a power cut.
func (f *Folder) Sync(name string) error {
	dir, err := f.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Sweep removes the files in this folder, not in those below, that a program was writing when it
// was ended.
func (f *Folder) Sweep() {
	dir, err := f.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close() //nolint:errcheck // read only
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		f.IsPart(name)
	}
}

// Readlink returns where the link at name leads.
func (f *Folder) Readlink(name string) (string, error) {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return "", err
	}
	return f.root.Readlink(name)
}

// Link makes a link at name, in the place of the file or the link that is there.
func (f *Folder) Link(name, target string) error {
	return f.make(name, func(part string) error { return f.root.Symlink(target, part) })
}

// RemoveOne deletes the file, the link or the empty folder at name.
func (f *Folder) RemoveOne(name string) error {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return err
	}
	return f.root.Remove(name)
}

// MakeFolderAs makes the folder name with its permissions, or gives them to the one that is there.
func (f *Folder) MakeFolderAs(name string, mode fs.FileMode) error {
	if info, err := f.Stat(name); err == nil && info.IsDir() {
		return f.root.Chmod(name, mode.Perm())
	}
	return f.make(name, func(part string) error {
		return errors.Join(f.root.Mkdir(part, 0o700), f.root.Chmod(part, mode.Perm()))
	})
}
