package watch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"conclave/app/base/fault"
)

// What a plugin may hold. Past a bound something else than source was put there,
// and reading it at every save would be felt.
const (
	maxFileBytes  = 32 << 20
	maxTotalBytes = 256 << 20
	maxFiles      = 5000
	maxDirs       = 1000
	maxDepth      = 32
)

// Digest returns a digest of the files of a plugin: a text of 64 hexadecimal digits
// that changes with any file's name or content (not with times or modes, nor with the
// plugin's path), and the files' paths relative to it, with slashes, sorted. path is a
// file or a folder; of a folder, Digest leaves out what [Ignored] names. A link counts
// as the file it points to; one that leads out of the folder, or to a folder, is left
// out. The files that Digest names are all of a plugin that can be loaded: its
// processes run from a copy of just these files.
//
// The error wraps fs.ErrNotExist when there is nothing at path; otherwise it is a
// fault: of kind invalid when the plugin is too large (a file over 32 MB, over 5000
// files), of kind unavailable when something in it cannot be read.
func Digest(path string) (string, []string, error) {
	t, err := scan(path, nil, nil)
	if err != nil {
		return "", nil, err
	}
	return t.digest(), t.names(), nil
}

// tree holds what one look at a plugin saw.
type tree struct {
	base  string
	files map[string]file // by relative path; the one of a single file is its base
	dirs  int
	bytes int64
	read  int64 // how many files were read for it
}

// file is one file as it was seen.
type file struct {
	size    int64
	mtime   time.Time
	changed time.Time
	sum     [sha256.Size]byte
	link    bool
	read    time.Time // when sum was made
}

// How fresh a file must be for its times to say nothing: a file system may keep them to the second, some
// to two. One that shows parts of a millisecond keeps them as finely as the clock of the kernel ticks,
// which is every 10 ms or more often.
const (
	racyCoarse = 2 * time.Second
	racyFine   = 20 * time.Millisecond
)

// racy returns how long after a time of a file another change may still get the same one.
func racy(t time.Time) time.Duration {
	if t.Nanosecond()%int(time.Millisecond) == 0 {
		return racyCoarse
	}
	return racyFine
}

// same reports whether f, seen earlier, still tells the content of a file of
// this size and time.
func (f file) same(info fs.FileInfo) bool {
	return !f.link && f.size == info.Size() && f.mtime.Equal(info.ModTime()) && f.changed.Equal(Changed(info)) &&
		f.read.Sub(f.mtime) > racy(f.mtime) && f.read.Sub(f.changed) > racy(f.changed)
}

func (t *tree) names() []string { return slices.Sorted(maps.Keys(t.files)) }

// digest is a hash over the sorted names and the hashes of the contents.
func (t *tree) digest() string { return t.hash(false) }

// state is like digest but changes with the times too: two looks with the same
// state saw files that nobody was writing.
func (t *tree) state() string { return t.hash(true) }

func (t *tree) hash(times bool) string {
	h := sha256.New()
	for _, name := range t.names() {
		f := t.files[name]
		if len(t.files) == 1 && name == t.base {
			name = "" // a single file is the same plugin under another name
		}
		writeUint(h, uint64(len(name)))
		_, _ = io.WriteString(h, name)
		_, _ = h.Write([]byte{'f'})
		_, _ = h.Write(f.sum[:])
		if times {
			writeUint(h, uint64(f.size))
			writeUint(h, uint64(f.mtime.UnixNano()))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeUint(h hash.Hash, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	_, _ = h.Write(b[:]) // a hash takes everything
}

// scan looks at a plugin. before, when it is not nil, is an earlier look, whose
// hashes are taken over where size and time say so; enter, when it is not nil,
// is called with each folder's path before the folder is read, so that nothing
// which is added to it later goes unseen.
func scan(path string, before *tree, enter func(dir string)) (*tree, error) {
	if before == nil {
		before = &tree{}
	}
	s := &scanner{
		path: path, before: before, enter: enter,
		tree: &tree{base: filepath.Base(path), files: map[string]file{}},
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, s.unreadable(path, err)
	case info.IsDir():
		if enter != nil {
			enter(path)
		}
		if s.root, err = os.OpenRoot(path); err != nil {
			return nil, s.unreadable(path, err)
		}
		err = s.dir(".", 1)
		_ = s.root.Close() // only read from
	case info.Mode().IsRegular():
		err = s.single(info)
	default:
		return nil, fault.New(fault.Invalid, "plugin.digest", path+" is neither a file nor a folder.",
			"Remove it from the plugins folder.")
	}
	if err != nil {
		return nil, err
	}
	return s.tree, nil
}

type scanner struct {
	path   string
	root   *os.Root
	before *tree
	enter  func(string)
	tree   *tree
}

// single records the file that is the whole plugin. Its folder is opened only for what has changed.
func (s *scanner) single(info fs.FileInfo) error {
	if f, ok := s.before.files[s.tree.base]; ok && f.same(info) {
		return s.add(s.tree.base, f)
	}
	var err error
	if s.root, err = os.OpenRoot(filepath.Dir(s.path)); err != nil {
		return s.unreadable(s.path, err)
	}
	defer func() { _ = s.root.Close() }() // only read from
	if err := s.file(s.tree.base, info); err != nil {
		return err
	}
	if len(s.tree.files) == 0 {
		return fmt.Errorf("look at %s: %w", s.path, fs.ErrNotExist)
	}
	return nil
}

func (s *scanner) dir(rel string, depth int) error {
	if s.tree.dirs++; s.tree.dirs > maxDirs || depth > maxDepth {
		return s.tooLarge(fmt.Sprintf("The plugin %s has more than %d folders, or folders nested more than %d deep.",
			s.tree.base, maxDirs, maxDepth))
	}
	if s.enter != nil && rel != "." {
		s.enter(filepath.Join(s.path, filepath.FromSlash(rel)))
	}
	d, err := s.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe by now
	if err != nil {
		return s.skipGone(rel, err)
	}
	entries, err := d.ReadDir(-1)
	_ = d.Close()
	if err != nil {
		return s.skipGone(rel, err)
	}
	for _, e := range entries {
		if Ignored(e.Name()) {
			continue
		}
		name := path.Join(rel, e.Name())
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return s.unreadable(name, err)
		case info.IsDir():
			err = s.dir(name, depth+1)
		case info.Mode()&fs.ModeSymlink != 0:
			err = s.link(name)
		case info.Mode().IsRegular():
			err = s.file(name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link records a link to a file inside as that file. One that leads out, or to a
// folder, is no part of the plugin, and is not there for what runs either.
func (s *scanner) link(name string) error {
	info, err := s.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // it leads out, or to nothing
	}
	return s.read(name, info.Size(), file{link: true})
}

// file records a regular file.
func (s *scanner) file(name string, info fs.FileInfo) error {
	if f, ok := s.before.files[name]; ok && f.same(info) {
		return s.add(name, f)
	}
	return s.read(name, info.Size(), file{mtime: info.ModTime(), changed: Changed(info), read: time.Now()})
}

// read records a file by its content; f says what it was like before that is read.
func (s *scanner) read(name string, size int64, f file) error {
	if err := s.fits(name, size); err != nil {
		return err
	}
	s.tree.read++
	h := sha256.New()
	var err error
	if f.size, err = s.copy(h, name, size); err != nil {
		return s.skipGone(name, err)
	}
	h.Sum(f.sum[:0])
	return s.add(name, f)
}

// copy hashes a file's content, which may have changed its size since it was
// looked at.
func (s *scanner) copy(h hash.Hash, rel string, size int64) (int64, error) {
	// O_NONBLOCK: what became a pipe in between must not hold us up.
	r, err := s.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	if info, err := r.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, fs.ErrNotExist
	}
	// A file is smaller than the buffer that io.Copy makes, most of the time.
	buffer := make([]byte, min(size+1, 32<<10))
	n, err := io.CopyBuffer(h, io.LimitReader(r, maxFileBytes+1), buffer)
	if err == nil {
		err = s.fits(rel, n)
	}
	return n, err
}

func (s *scanner) fits(name string, size int64) error {
	if size > maxFileBytes {
		return s.tooLarge(fmt.Sprintf("The file %s of the plugin %s has more than 32 MB.", name, s.tree.base))
	}
	return nil
}

func (s *scanner) add(name string, f file) error {
	s.tree.files[name] = f
	s.tree.bytes += f.size
	switch {
	case len(s.tree.files) > maxFiles:
		return s.tooLarge(fmt.Sprintf("The plugin %s has more than %d files.", s.tree.base, maxFiles))
	case s.tree.bytes > maxTotalBytes:
		return s.tooLarge(fmt.Sprintf("The files of the plugin %s have more than 256 MB together.", s.tree.base))
	}
	return nil
}

func (s *scanner) tooLarge(message string) error {
	return fault.New(fault.Invalid, "plugin.digest", message,
		"Keep data and installed packages out of the plugin's folder.")
}

// skipGone passes over what was taken away while we looked.
func (s *scanner) skipGone(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return s.unreadable(name, err)
}

func (s *scanner) unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at %s: %w", name, err)
	}
	return fault.Wrap(fault.Unavailable, "plugin.digest", "The plugin "+s.tree.base+" cannot be read: "+name+".",
		"Check that you may read it.", err)
}
