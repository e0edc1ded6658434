package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/fault"

	"go.etcd.io/bbolt"
)

const (
	copiesName = "backups"
	// keptCopies is how many copies of a kind are kept: five days of use, so that
	// damage noticed late still has an older copy, and at most five times the
	// store's size on disk.
	keptCopies = 5
	// copyEvery is the age from which a new daily copy is due. It is a little less
	// than a day, so that who starts Conclave each morning gets one each morning.
	copyEvery = 20 * time.Hour
)

// Copy is one copy of the store that could be gone back to.
type Copy struct {
	Path          string    `json:"path"`
	Made          time.Time `json:"made"`
	Size          int64     `json:"size"` // bytes
	Version       uint64    `json:"version"`
	Conversations int       `json:"conversations"`
	Problem       string    `json:"problem,omitempty"` // why it cannot be used; empty when it is good
}

// Recover lists the copies of the store in dir, newest first, each checked from
// end to end. It needs no open store.
func Recover(ctx context.Context, dir string) ([]Copy, error) {
	paths, err := copyPaths(dir, "")
	if err != nil {
		return nil, explain("store.recover", dir, err)
	}
	copies := make([]Copy, 0, len(paths))
	for _, path := range slices.Backward(paths) {
		if ctx.Err() != nil {
			return copies, fmt.Errorf("look at the copies in %s: %w", dir, context.Cause(ctx))
		}
		copies = append(copies, checkCopy(path))
	}
	slices.SortStableFunc(copies, func(a, b Copy) int { return b.Made.Compare(a.Made) })
	return copies, nil
}

// RestoreCopy makes the copy at path the store of dir, after checking it. The
// present store, if there is one, is set aside and not deleted. path may be any
// whole store file, such as one that [Store.Backup] wrote. No process may have
// the store open (kind Locked); a copy that cannot be used has the kind Damaged.
func RestoreCopy(ctx context.Context, dir, path string, now time.Time) error {
	const op = "store.restore"
	if err := makeFolder(dir); err != nil {
		return err
	}
	lock, err := acquire(ctx, dir, 0, newOwner("restoring a copy", now))
	if err != nil {
		return err
	}
	defer lock.release()
	c := checkCopy(path)
	if c.Problem != "" {
		return fault.New(fault.Damaged, op, fmt.Sprintf("The copy %s cannot be used: %s.", path, c.Problem),
			"Choose another copy. Nothing was changed.")
	}
	temp := filepath.Join(dir, restoringName)
	if err := copyFile(ctx, path, temp); err != nil {
		return explain(op, dir, err)
	}
	if err := branch(temp); err != nil {
		_ = os.Remove(temp)
		return explain(op, dir, err)
	}
	if c := checkCopy(temp); c.Problem != "" {
		_ = os.Remove(temp)
		return fault.New(fault.Damaged, op, "The copy changed while it was read: "+c.Problem+".",
			"Check the disk. Nothing was changed.")
	}
	if err := install(dir, temp, now); err != nil {
		_ = os.Remove(temp)
		return explain(op, dir, err)
	}
	return nil
}

// install makes temp the store of dir, in one step, and keeps what was there
// under another name. While that step is under way there is always a store.
func install(dir, temp string, now time.Time) error {
	path := filepath.Join(dir, fileName)
	if _, err := os.Lstat(path); err == nil {
		if err := keepReplaced(dir, now); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return errors.Join(clearMarks(dir), syncFolder(dir))
}

// keepReplaced gives the store's file a second name, or copies it where the file
// system knows one name a file only.
func keepReplaced(dir string, now time.Time) error {
	path := filepath.Join(dir, fileName)
	second := filepath.Join(dir, freeName(dir, replacedName+stamp(now)))
	if err := os.Link(path, second); err != nil {
		if err := copyFile(context.Background(), path, second+".new"); err != nil { // not ended half-way
			return err
		}
		if err := os.Rename(second+".new", second); err != nil {
			return errors.Join(err, os.Remove(second+".new"))
		}
	}
	return syncFolder(dir)
}

// branch gives the copy at path a history of its own.
func branch(path string) error {
	db, _, err := openFile(path, false)
	if err != nil {
		return err
	}
	return errors.Join(guarded(func() error { return db.Update(newLineage) }), db.Close())
}

// checkCopy checks one copy.
func checkCopy(path string) Copy {
	c := Copy{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	c.Size, c.Made = info.Size(), info.ModTime()
	if at, ok := madeAt(path); ok {
		c.Made = at
	}
	var l layout
	db, _, err := openFile(path, true)
	if err == nil {
		err = checkPages(db)
		if err == nil {
			err = guarded(func() error {
				return db.View(func(tx *bbolt.Tx) error {
					var ok bool
					if l, ok = layoutOf(tx); !ok {
						return fmt.Errorf("%w: it does not say its version", errDamaged)
					}
					c.Version = l.written
					c.Conversations = bucket(tx, bucketConversations).Stats().KeyN
					return nil
				})
			})
		}
		err = errors.Join(err, db.Close())
	}
	switch {
	case err != nil:
		c.Problem = strings.TrimPrefix(err.Error(), errDamaged.Error()+": ")
	case l.newer():
		c.Problem = fmt.Sprintf("a newer Conclave made it (layout %d, this one knows %d)", c.Version, Layout)
	}
	return c
}

// madeAt reads the time out of a copy's name.
func madeAt(path string) (time.Time, bool) {
	name := strings.TrimSuffix(filepath.Base(path), ".db")
	at, err := time.Parse("20060102T150405Z", name[strings.LastIndexByte(name, '-')+1:])
	return at, err == nil
}

// copyPaths lists the copies whose names begin with "conclave-" and kind, oldest
// first.
func copyPaths(dir, kind string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, copiesName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "conclave-"+kind) && strings.HasSuffix(e.Name(), ".db") {
			if _, ok := madeAt(e.Name()); ok {
				paths = append(paths, filepath.Join(dir, copiesName, e.Name()))
			}
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		ta, _ := madeAt(a)
		tb, _ := madeAt(b)
		return cmp.Or(ta.Compare(tb), strings.Compare(a, b))
	})
	return paths, nil
}

// daily is how the names of daily copies go on after "conclave-": with the year.
const daily = "2"

// Backup writes a complete, consistent copy of the store to w, with pending writes.
// Media files are not part of it. The store stays usable meanwhile.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	const op = "store.backup"
	if err := s.Sync(ctx); err != nil {
		return err
	}
	return s.view(ctx, op, func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(&contextWriter{ctx, w})
		return err
	})
}

// keepCopy makes a checked copy in the backups folder, under a name that begins
// with "conclave-" and kind, and drops the oldest ones of that kind.
func (s *Store) keepCopy(ctx context.Context, kind, drop string) (string, error) {
	dir := filepath.Join(s.dir, copiesName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "conclave-"+kind+stamp(s.now())+".db")
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp) //nolint:errcheck // it is gone after the rename
	err = guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(&contextWriter{ctx, f})
			return err
		})
	})
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if c := checkCopy(temp); c.Problem != "" {
		return "", fmt.Errorf("%w: its copy does not hold: %s", errDamaged, c.Problem)
	}
	if err := os.Rename(temp, path); err != nil {
		return "", err
	}
	if err := syncFolder(dir); err != nil {
		return "", err
	}
	old, err := copyPaths(s.dir, drop)
	if err != nil {
		return path, err
	}
	for len(old) > keptCopies {
		if err := os.Remove(old[0]); err != nil {
			return path, err
		}
		old = old[1:]
	}
	return path, nil
}

// contextWriter ends a long copy with its context.
type contextWriter struct {
	ctx context.Context //nolint:containedctx // lives for one copy
	w   io.Writer
}

func (w *contextWriter) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.w.Write(p)
}

// copyFile copies a file durably; what it leaves under to on an error is
// removed.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(to)
		}
	}()
	_, err = io.Copy(&contextWriter{ctx, out}, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
