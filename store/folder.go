package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"

	"go.etcd.io/bbolt"
)

// MakeFolder makes the data folder when there is none. The mode of one that
// exists is its owner's affair; what Conclave puts in it is closed to others.
func MakeFolder(dir string) error {
	const op = "store.open"
	if dir == "" {
		return fault.New(fault.Invalid, op, "No data folder was given.", "Name one with --data.")
	}
	info, err := os.Stat(dir)
	if link, target, ok := awayLink(dir); err != nil && ok {
		return fault.Wrap(fault.Unavailable, op,
			"The data folder "+dir+" cannot be reached now: "+link+" is a link to "+target+", which is not there.",
			"Connect the disk that holds it, or name another folder with --data. Nothing was changed.", err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o700)
	} else if err == nil && !info.IsDir() {
		return fault.New(fault.Unavailable, op, dir+" is a file, not a folder, so Conclave cannot keep its data there.",
			"Name another folder with --data.")
	}
	if err != nil {
		if isFull(err) {
			return explain(op, dir, err)
		}
		return fault.Wrap(fault.Unavailable, op, "The data folder "+dir+" cannot be made or opened.",
			"Check that you may write there, or name another folder with --data.", err)
	}
	return nil
}

// awayLink returns the first link on the way to path that leads to nothing, and where it
// leads.
func awayLink(path string) (link, target string, ok bool) {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil {
			if _, err := os.Stat(at); err == nil || info.Mode()&fs.ModeSymlink == 0 {
				return "", "", false
			}
			target, err := os.Readlink(at)
			return at, target, err == nil
		}
		if at == filepath.Dir(at) {
			return "", "", false
		}
	}
}

// locate returns the path of the store's file in dir, which is elsewhere when conclave.db is
// a link, and whether there is one. What cannot be reached now is not taken for nothing: an
// empty store in its place would hide the person's chats.
func locate(dir string) (path string, there bool, err error) {
	const op = "store.open"
	path = filepath.Join(dir, fileName)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if link, target, ok := awayLink(dir); ok {
			return "", false, fault.New(fault.Unavailable, op,
				"The store in "+dir+" cannot be reached now: "+link+" is a link to "+target+", which is not there.",
				"Connect the disk that holds it, or name another data folder with --data. Nothing was changed.")
		}
		return path, false, nil
	case err != nil:
		return "", false, explain(op, dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			info, err = os.Stat(target)
		}
		if err != nil {
			to, _ := os.Readlink(path)
			return "", false, fault.Wrap(fault.Unavailable, op,
				"The store "+path+" is a link to "+to+", which cannot be reached now.",
				"Connect the disk that holds it, or name another data folder with --data. Nothing was changed.", err)
		}
		path = target
	}
	switch {
	case info.IsDir():
		return "", false, fault.New(fault.Unavailable, op,
			path+" is a folder, and should be the file Conclave keeps its data in.",
			"Move it away, or name another data folder with --data.")
	case !info.Mode().IsRegular():
		return "", false, fault.New(fault.Unavailable, op,
			path+" is not an ordinary file, and should be the one Conclave keeps its data in.",
			"Move it away, or name another data folder with --data.")
	}
	return path, true, nil
}

// ready sees to it that there is a file to open, and returns its path: it makes the first
// one, and refuses while a decision about a damaged one is open.
func ready(ctx context.Context, dir string, now func() time.Time) (string, error) {
	path, there, err := locate(dir)
	if err != nil {
		return "", err
	}
	if !there {
		if mark, ok := readMark(dir); ok {
			return "", damagedFault(ctx, dir, mark)
		}
		if err := leftover(dir); err != nil {
			return "", explain("store.open", dir, err)
		}
		return path, explain("store.open", dir, create(path, now()))
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, 0o600)
	}
	return path, explain("store.open", dir, err)
}

// sweep removes what a program that was ended left half-made next to a store that
// is good: nothing of it was ever in use.
func sweep(dir string) error {
	half := []string{
		filepath.Join(dir, restoringName), filepath.Join(dir, restoringName+".new"), filepath.Join(dir, fileName+".new"),
	}
	if path, there, err := locate(dir); err == nil && there && filepath.Dir(path) != dir {
		elsewhere := filepath.Join(filepath.Dir(path), restoringName)
		half = append(half, elsewhere, elsewhere+".new")
	}
	for _, in := range []string{dir, filepath.Join(dir, copiesName)} {
		entries, err := os.ReadDir(in)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			name := e.Name()
			if strings.HasSuffix(name, ".new") &&
				(strings.HasPrefix(name, replacedName) || strings.HasPrefix(name, "conclave-")) {
				half = append(half, filepath.Join(in, name))
			}
		}
	}
	var all error
	for _, path := range half {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// create makes an empty store under another name and moves it into place, so
// that a file of that name is always a whole one.
func create(path string, now time.Time) (err error) {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	db, err := bbolt.Open(temp, 0o600, &bbolt.Options{Timeout: 1, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if err := makeBuckets(tx); err != nil {
			return err
		}
		if err := bucket(tx, bucketMeta).Put(keyAlive, timeKey(now)); err != nil {
			return err
		}
		if err := newLineage(tx); err != nil {
			return err
		}
		return putLayout(tx)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func makeBuckets(tx *bbolt.Tx) error {
	for _, k := range slices.Concat(records, indexes) {
		if _, err := tx.CreateBucketIfNotExists(k); err != nil {
			return err
		}
	}
	return nil
}

// Facts of bbolt's file format (go.etcd.io/bbolt v1.5.0, internal/common/meta.go
// and page.go): each of the first two pages begins with a header of 16 bytes,
// followed by magic, version, page size and flags (4 bytes each), the root
// bucket (16), the freelist's page, the number of pages, the transaction (8
// each) and an FNV-1a sum of all that.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	metaAt      = 16
	metaSize    = 64
	minPage     = 1 << 10
	maxPage     = 64 << 10
)

// checkHeader checks that the file at path is a bbolt file of full length, by
// reading its two headers. bbolt finds a file that was cut short only by
// touching memory that is not there.
func checkHeader(path string) error {
	// Opening a pipe would wait for a writer.
	if info, err := os.Stat(path); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is not an ordinary file", errDamaged)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return fmt.Errorf("%w: it is empty", errDamaged)
	}
	var newest, need uint64
	found := false
	look := func(at int64) {
		var b [metaAt + metaSize]byte
		if _, err := f.ReadAt(b[:], at); err != nil {
			return
		}
		m := b[metaAt:]
		sum := fnv.New64a()
		_, _ = sum.Write(m[:metaSize-8])
		native := binary.NativeEndian
		if native.Uint32(m) != boltMagic || native.Uint32(m[4:]) != boltVersion || native.Uint64(m[56:]) != sum.Sum64() {
			return
		}
		if tx := native.Uint64(m[48:]); !found || tx > newest {
			found, newest = true, tx
			need = native.Uint64(m[40:]) * uint64(native.Uint32(m[8:]))
		}
	}
	look(0)
	for size := int64(minPage); size <= maxPage; size *= 2 {
		look(size)
	}
	if !found {
		return fmt.Errorf("%w: it does not begin like a store", errDamaged)
	}
	if uint64(info.Size()) < need {
		return fmt.Errorf("%w: it was cut short, %d of %d bytes are there", errDamaged, info.Size(), need)
	}
	return nil
}

// inspectLimit is the size up to which Open looks at every page before it trusts
// the file; a larger one is looked at with its daily copy, and when a run before
// met damage.
const inspectLimit = 1 << 20

// inspect looks for damage that opening alone does not meet.
func (s *file) inspect() error {
	var size int64
	err := guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil })
	})
	if err != nil || size > inspectLimit && !suspected(s.dir) {
		return err
	}
	return checkPages(s.db)
}

// checkPages walks every page. Damage is errDamaged.
func checkPages(db *bbolt.DB) error {
	return guarded(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			var first error
			for err := range tx.Check() {
				if first == nil {
					first = err
				}
			}
			if first != nil {
				return contradiction{first}
			}
			return nil
		})
	})
}
