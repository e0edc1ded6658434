// Package place is how the host reaches folders that a plugin can write to: its
// storage, its desk, the environment that an installer fills. Whatever lies there
// may be an attacker's, links above all, and may change between two looks. So no
// other code of the host opens such a place by its path: app/places_test.go
// forbids it.
//
// Read [Folder] first, then [LayDesk].
package place

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
)

// ErrLink ends a name that leads over a link. A plugin could have
// made it, so it is not followed, wherever it leads.
var ErrLink = errors.New("is a link, and Conclave follows no link that a plugin may have made")

// ErrNotFile ends the reading of something that is no regular file, such as
// a pipe that the plugin made, which would be waited for.
var ErrNotFile = errors.New("it is no file")

// Folder is a folder that a plugin can write to. It is held open, so that it stays
// the same whatever happens to its name. Names are relative to it, in the system's
// form; none leads out of it, and none over a link. Methods are safe for
// concurrent use. Whoever opened it closes it.
//
// A link that the plugin puts in the way between the look and the deed leads to
// nothing but the plugin's own: os.Root keeps every name below the folder.
type Folder struct{ root *os.Root }

// Open opens the folder at path. The folder that holds it must be one that no
// plugin writes to; the folder itself must not be a link. The error wraps
// fs.ErrNotExist or ErrLink.
func Open(path string) (*Folder, error) {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close() //nolint:errcheck // only looked at
	name := filepath.Base(path)
	if err := noLinks(parent, name); err != nil {
		return nil, err
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// Make is Open, and makes a folder that is not there, for its owner alone.
func Make(path string) (*Folder, error) {
	f, err := Open(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return Open(path)
}

// Close lets go of the folder.
func (f *Folder) Close() error { return f.root.Close() }

// noLinks reports a link among the parts of name. What is not there is no link.
func noLinks(root *os.Root, name string) error {
	if !filepath.IsLocal(name) {
		return &fs.PathError{Op: "open", Path: name, Err: errors.New("leads out of the folder")}
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != filepath.Separator {
			continue
		}
		info, err := root.Lstat(name[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return &fs.PathError{Op: "open", Path: name[:i], Err: ErrLink}
		}
	}
	return nil
}

// Lstat describes what lies at name, which may itself be a link.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return nil, err
	}
	return f.root.Lstat(name)
}

// Stat describes the file or folder at name.
func (f *Folder) Stat(name string) (fs.FileInfo, error) {
	if err := noLinks(f.root, name); err != nil {
		return nil, err
	}
	return f.root.Lstat(name)
}

// Read returns the file at name, at most limit bytes of it, and its whole size.
func (f *Folder) Read(name string, limit int64) (data []byte, size int64, err error) {
	if err := noLinks(f.root, name); err != nil {
		return nil, 0, err
	}
	return readFile(f.root, name, limit)
}

// partEnding ends the name of a file that is being written.
const partEnding = ".conclave-part"

// Part reports whether name is that of a file that is being written.
func Part(name string) bool { return strings.HasSuffix(name, partEnding) }

// parts numbers them: two writes of one file may overlap.
var parts atomic.Uint64

// Write puts data at name, in folders that are made for it, so that a reader never
// sees half of it. A link, or a second name of some other file, that lies at name
// is replaced and not written through.
func (f *Folder) Write(name string, data []byte) error {
	return f.WriteFrom(name, bytes.NewReader(data))
}

// WriteFrom is Write of all that from gives.
func (f *Folder) WriteFrom(name string, from io.Reader) (err error) {
	if err := f.MakeFolder(filepath.Dir(name)); err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.%d-%d%s", name, os.Getpid(), parts.Add(1), partEnding)
	file, err := f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.root.Remove(temp) // left behind at worst
		}
	}()
	_, err = io.Copy(file, from)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return f.root.Rename(temp, name)
}

// MakeFolder makes the folder at name, and those that hold it.
func (f *Folder) MakeFolder(name string) error {
	if err := noLinks(f.root, name); err != nil {
		return err
	}
	return f.root.MkdirAll(name, 0o700)
}

// Rename moves what lies at from to the name to, in folders that are made for it.
func (f *Folder) Rename(from, to string) error {
	if err := noLinks(f.root, filepath.Dir(from)); err != nil {
		return err
	}
	if err := f.MakeFolder(filepath.Dir(to)); err != nil {
		return err
	}
	return f.root.Rename(from, to)
}

// Remove deletes what lies at name, with all that is in it; a link is deleted and
// not followed. What is not there is no error.
func (f *Folder) Remove(name string) error {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return err
	}
	return f.root.RemoveAll(name)
}

// Walk calls visit with the name of everything below the folder at name, links
// included and not followed, in order. It returns visit's error, which may be
// fs.SkipDir and fs.SkipAll as with fs.WalkDir. A name that is no folder, or is
// not there, holds nothing.
func (f *Folder) Walk(name string, visit func(name string, entry fs.DirEntry) error) error {
	if err := noLinks(f.root, name); err != nil {
		return err
	}
	start := filepath.ToSlash(filepath.Clean(name))
	return fs.WalkDir(f.root.FS(), start, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it went away meanwhile
		case err != nil:
			return err
		case at == start:
			return nil
		}
		return visit(filepath.FromSlash(at), entry)
	})
}
