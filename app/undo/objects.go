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

// errNoSpace is of a disk that cannot take more copies.
var errNoSpace = errors.New("there is no space for a copy")

func (o objects) path(hash string) string { return filepath.Join(o.dir, hash[:2], hash) }

func (o objects) has(hash string) bool {
	_, err := os.Stat(o.path(hash))
	return err == nil
}

// copy copies a file of a folder and returns the digest of its content, and whether there was
// no copy of that yet.
func (o objects) copy(f *safefs.Folder, name string) (hash string, isNew bool, err error) {
	in, err := f.OpenFile(name)
	if err != nil {
		return "", false, err
	}
	defer in.Close() //nolint:errcheck // read only
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return "", false, errors.Join(errNoSpace, err)
	}
	temp, err := os.CreateTemp(o.dir, "part-")
	if err != nil {
		return "", false, errors.Join(errNoSpace, err)
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name()) // it has another name by now, or is of no use
	}()
	sum := sha256.New()
	if clone(temp, in) == nil { // the same blocks of the disk until one of them changes
		_, err = io.Copy(sum, io.LimitReader(temp, o.most+1))
	} else {
		_, err = io.Copy(io.MultiWriter(sum, temp), io.LimitReader(in, o.most+1))
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "", false, errors.Join(errNoSpace, err)
	case err != nil:
		return "", false, err
	}
	hash = hex.EncodeToString(sum.Sum(nil))
	if o.has(hash) {
		return hash, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(o.path(hash)), 0o700); err != nil {
		return "", false, errors.Join(errNoSpace, err)
	}
	return hash, true, os.Rename(temp.Name(), o.path(hash))
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

// open opens a copy, having checked that it is whole.
func (o objects) open(hash string) (*os.File, error) {
	file, err := os.Open(o.path(hash))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != hash {
		err = fmt.Errorf("the copy %s is damaged", hash[:12])
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
