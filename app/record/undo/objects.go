package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"conclave/app/plugin/safefs"
)

// objects are copies of contents, by their digest: a name says what lies there, so that half
// a copy is never taken for one.
type objects struct {
	dir   string
	most  int64 // bytes of one
	total int64 // bytes of one folder
	names int   // of one folder
}

var (
	// errNotKept is returned where a copy cannot be written, as on a full disk.
	errNotKept = errors.New("a copy could not be written")
	// errDamaged is returned for a copy that is not what its name says.
	errDamaged = errors.New("the copy is damaged")
	// errGone is returned for a copy that is not there.
	errGone = errors.New("the copy is gone")
)

// isNoSpace reports whether an error is of a full disk.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// keeping writes a copy. Its errors wrap errNotKept, which tells them from those of reading.
type keeping struct{ *os.File }

func (w keeping) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	if err != nil {
		err = errors.Join(errNotKept, err)
	}
	return n, err
}

func (o objects) path(hash string) string { return filepath.Join(o.dir, hash[:2], hash) }

// has reports whether there is a copy of that many bytes.
func (o objects) has(hash string, size int64) bool {
	info, err := os.Stat(o.path(hash))
	return err == nil && info.Size() == size
}

// holds reports whether a file of a folder is as a copy that there is. It needs no space to tell.
func (o objects) holds(f *safefs.Folder, name, hash string, size int64) bool {
	text, err := contentOf(f, name)
	return err == nil && text == hash && o.has(hash, size)
}

// copy copies a file of a folder and returns the digest of its content, and whether there was
// no copy of that yet. The error wraps errNotKept where the copy cannot be written. On a full disk
// that is none where there is such a copy: what an undo put back can be undone there.
func (o objects) copy(f *safefs.Folder, name string) (hash string, isNew bool, err error) {
	hash, isNew, err = o.write(f, name)
	if !errors.Is(err, errNotKept) {
		return hash, isNew, err
	}
	info, failed := f.Lstat(name)
	if failed != nil {
		return "", false, err
	}
	if text, failed := contentOf(f, name); failed == nil && o.has(text, info.Size()) {
		return text, false, nil
	}
	return "", false, err
}

func (o objects) write(f *safefs.Folder, name string) (hash string, isNew bool, err error) {
	in, err := f.OpenFile(name)
	if err != nil {
		return "", false, err
	}
	defer in.Close() //nolint:errcheck // read only
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return "", false, errors.Join(errNotKept, err)
	}
	temp, err := os.CreateTemp(o.dir, partName)
	if err != nil {
		return "", false, errors.Join(errNotKept, err)
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name()) // it has another name by now, or is of no use
	}()
	sum := sha256.New()
	var size int64
	if clone(temp, in) == nil { // the same blocks of the disk until one of them changes
		size, err = io.Copy(sum, io.LimitReader(temp, o.most+1))
	} else {
		size, err = io.Copy(io.MultiWriter(sum, keeping{temp}), io.LimitReader(in, o.most+1))
	}
	if err != nil {
		return "", false, err
	}
	hash = hex.EncodeToString(sum.Sum(nil))
	if o.has(hash, size) {
		return hash, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(o.path(hash)), 0o700); err != nil {
		return "", false, errors.Join(errNotKept, err)
	}
	if err := os.Rename(temp.Name(), o.path(hash)); err != nil {
		return "", false, errors.Join(errNotKept, err)
	}
	return hash, true, nil
}

// sync has copies survive a power cut: before a call may change what they are of.
func (o objects) sync(made []string) error {
	for _, hash := range made {
		file, err := os.Open(o.path(hash))
		if err != nil {
			return err
		}
		if len(made) > oneByOne && syncAll(file) == nil {
			return file.Close()
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// oneByOne is up to how many copies are written to the disk singly: 32 take 100 ms.
const oneByOne = 32

// open opens a copy, having checked that it is whole. The error wraps errGone or errDamaged.
func (o objects) open(hash string) (*os.File, error) {
	file, err := os.Open(o.path(hash))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(errGone, err)
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != hash {
		err = fmt.Errorf("%s: %w", hash[:12], errDamaged)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// each visits every copy.
func (o objects) each(visit func(hash string, size int64)) {
	for _, dir := range namesIn(o.dir) {
		entries, _ := os.ReadDir(filepath.Join(o.dir, dir))
		for _, e := range entries {
			if info, err := e.Info(); err == nil && len(e.Name()) == 2*sha256.Size {
				visit(e.Name(), info.Size())
			}
		}
	}
}
