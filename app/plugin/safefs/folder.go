// Package safefs opens folders that a plugin can write to: its storage, the copy of
// its files there, the environment that an installer fills. Their content may be an
// attacker's, links above all, and may change at any time. So no other code of the
// host opens such a folder by its path: app/window/places_test.go forbids it.
//
// Read [Folder] first, then [SyncCopy].
package safefs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"conclave/app/base/limit"
	"conclave/app/base/place"
)

// ErrLink is returned for a name that leads over a link. A plugin could have made it,
// so it is not followed, wherever it leads.
var ErrLink = errors.New("is a link, and Conclave follows no link that a plugin may have made")

// ErrDeep is returned for a name in more folders than are opened: what opening it costs
// grows with the square of them.
var ErrDeep = errors.New("it lies in more than 100 folders, more than are opened")

// ErrNotFile is returned for reading something that is no regular file, such as a
// pipe, which would block.
var ErrNotFile = errors.New("it is no file")

// Folder is an open folder that a plugin can write to. It stays the same folder
// whatever happens to its name. Names are relative to it, in the system's form; none
// leads out of it, and none over a link. Methods are safe for concurrent use. Whoever
// opens it closes it.
//
// A link that the plugin makes between a check and an operation leads to nothing but
// the plugin's own files: os.Root keeps every name below the folder.
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

// OpenExact opens the folder at path, an absolute one without links, where that still leads over
// none: plugins may write the folders above it too. The error wraps fs.ErrNotExist or ErrLink.
func OpenExact(path string) (*Folder, error) {
	root, err := openExact(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// OpenOrMake is Open, and makes a folder that does not exist, for its owner alone.
func OpenOrMake(path string) (*Folder, error) {
	f, err := Open(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return Open(path)
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// noLinks reports a link among the parts of name. What is not there is no link.
func noLinks(root *os.Root, name string) error {
	if !filepath.IsLocal(name) {
		return &fs.PathError{Op: "open", Path: name, Err: errors.New("leads out of the folder")}
	}
	if isDeep(name) {
		return tooDeep(name)
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

// Lstat describes name, which may itself be a link.
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

// Read returns at most limit bytes of the file at name, and its whole size.
func (f *Folder) Read(name string, limit int64) (data []byte, size int64, err error) {
	if err := noLinks(f.root, name); err != nil {
		return nil, 0, err
	}
	return readFile(f.root, name, limit)
}

// IsPart reports whether name is that of a file which is still being written, or was when its
// program was ended; then it is removed.
func (f *Folder) IsPart(name string) bool {
	if place.IsLeft(name) {
		_ = f.RemoveOne(name) // tried again whenever it is seen
	}
	return place.IsPart(name)
}

// Write writes data to name and makes the folders that hold it. A reader never sees
// half of it. A link at name, or a second name of some other file, is replaced and not
// written through.
func (f *Folder) Write(name string, data []byte) error {
	return f.WriteFrom(name, bytes.NewReader(data))
}

// WriteFrom is Write of everything that it reads from from.
func (f *Folder) WriteFrom(name string, from io.Reader) error { return f.write(name, from, nil) }

// write is WriteFrom; finish gets the file, and the name it has until then, before it has its own.
func (f *Folder) write(name string, from io.Reader, finish func(file *os.File, part string) error) error {
	return f.make(name, func(part string) error {
		file, err := f.root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, from)
		if err == nil && finish != nil {
			err = finish(file, part)
		}
		return errors.Join(err, file.Close())
	})
}

// make has something made whole under another name, and then gives it its own, in one step. What
// lies at name is replaced; of folders only an empty one.
func (f *Folder) make(name string, do func(part string) error) error {
	if err := f.makeFor(name); err != nil {
		return err
	}
	part := place.Part(name)
	err := do(part)
	if err == nil {
		err = f.root.Rename(part, name)
	}
	if err != nil {
		_ = f.root.Remove(part) // left behind at worst, until place.IsLeft
	}
	return err
}

// MakeFolder makes the folder name, and those that hold it.
func (f *Folder) MakeFolder(name string) error {
	if err := noLinks(f.root, name); err != nil {
		return err
	}
	return f.root.MkdirAll(name, 0o700)
}

// MakeOne makes the folder name in one that is there.
func (f *Folder) MakeOne(name string) error {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return err
	}
	return f.root.Mkdir(name, 0o777) // less what the person's umask takes
}

// makeFor makes the folders that hold name.
func (f *Folder) makeFor(name string) error {
	if isDeep(name) {
		return tooDeep(name)
	}
	return f.MakeFolder(filepath.Dir(name))
}

// Rename moves from to to, and makes the folders that hold to.
func (f *Folder) Rename(from, to string) error {
	if err := noLinks(f.root, filepath.Dir(from)); err != nil {
		return err
	}
	if err := f.makeFor(to); err != nil {
		return err
	}
	return f.root.Rename(from, to)
}

// Remove deletes name with its content; it deletes a link and does not follow it. A
// name that does not exist is no error.
func (f *Folder) Remove(name string) error {
	if err := noLinks(f.root, filepath.Dir(name)); err != nil {
		return err
	}
	return f.root.RemoveAll(name)
}

// isDeep reports whether a name leads through more folders than are opened.
func isDeep(name string) bool {
	return strings.Count(name, string(filepath.Separator)) > limit.StorageDepth
}

func tooDeep(name string) error {
	return &fs.PathError{Op: "open", Path: filepath.Base(name), Err: ErrDeep}
}

// Walk calls visit for everything below the folder name, in order; links are included
// and not followed. It returns visit's error, which may be fs.SkipDir and fs.SkipAll
// as with fs.WalkDir. A name that is no folder, or does not exist, holds nothing. The error
// is ErrDeep where folders go deeper than is walked.
func (f *Folder) Walk(name string, visit func(name string, entry fs.DirEntry) error) error {
	if err := noLinks(f.root, name); err != nil {
		return err
	}
	err := walk(f.root, name, filepath.Clean(name), visit)
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// walk walks the folder that has the name at for the visitor, and this name in parent. It
// opens each folder from the one that holds it: by their whole names, many deep ones would
// take long.
func walk(parent *os.Root, name, at string, visit func(string, fs.DirEntry) error) error {
	folder, err := parent.OpenRoot(name)
	if err != nil {
		if info, gone := parent.Lstat(name); errors.Is(gone, fs.ErrNotExist) || gone == nil && !info.IsDir() {
			return nil // it went away meanwhile, or is none
		}
		return err
	}
	defer folder.Close() //nolint:errcheck // only looked at
	entries, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		below := filepath.Join(at, entry.Name())
		err := visit(below, entry)
		switch {
		case errors.Is(err, fs.SkipDir) && entry.IsDir():
			continue
		case errors.Is(err, fs.SkipDir):
			return nil
		case err == nil && entry.IsDir() && isDeep(below):
			err = tooDeep(below)
		case err == nil && entry.IsDir():
			err = walk(folder, entry.Name(), below, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
