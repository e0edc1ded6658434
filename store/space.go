package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"conclave/app/base/fault"

	"go.etcd.io/bbolt"
)

// Space is the size of the store's file, and how much of it is free.
type Space struct {
	Size int64 // bytes of the file
	Free int64 // bytes of it that hold nothing
}

// worthCompacting is the least that Compact must give back, and half of the file,
// before it is worth a line for a person: the store uses free space again by itself.
const worthCompacting = 64 << 20

// Wasteful reports whether compacting would help.
func (s Space) Wasteful() bool { return s.Free >= worthCompacting && s.Free >= s.Size/2 }

// Space returns how much of the store's file is in use.
func (s *Store) Space(ctx context.Context) (Space, error) {
	var sp Space
	err := s.view(ctx, "store.space", func(tx *bbolt.Tx) error {
		sp.Size = tx.Size()
		stats := s.db.Stats()
		sp.Free = int64(stats.FreePageN+stats.PendingPageN) * int64(s.db.Info().PageSize)
		return nil
	})
	return sp, err
}

// Compact rewrites the store of dir without its unused space, and replaces the old
// file in one step. It returns the sizes of the file before and after. No process may
// have the store open (kind Locked); a damaged store is left as it is (kind Damaged).
func Compact(ctx context.Context, dir string, now time.Time) (before, after int64, err error) {
	const op = "store.compact"
	path, there, err := locate(dir)
	if err != nil {
		return 0, 0, err
	}
	if !there {
		return 0, 0, fault.New(fault.NotFound, op, "There is no store in "+dir+".", "Name the data folder with --data.")
	}
	lock, err := acquire(ctx, dir, 0, newOwner("compacting the store", now))
	if err != nil {
		return 0, 0, err
	}
	defer lock.release()
	temp := filepath.Join(filepath.Dir(path), restoringName)
	c := checkCopy(path)
	if c.Problem != "" {
		return 0, 0, fault.New(fault.Damaged, op, "The store in "+dir+" cannot be compacted: "+c.Problem+".",
			"Nothing was changed; conclave doctor says more.")
	}
	if err := takeIn(path, func() time.Time { return now }); err != nil {
		return 0, 0, explain(op, dir, err)
	}
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, 0, explain(op, dir, err)
	}
	err = writeCompact(ctx, path, temp)
	if err == nil {
		made := checkCopy(temp)
		if made.Problem != "" || made.Conversations != c.Conversations || made.Unreadable != c.Unreadable {
			err = fmt.Errorf("%w: what was written holds %d of %d chats %s", errDamaged, made.Conversations, c.Conversations,
				made.Problem)
		}
	}
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(temp)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return 0, 0, explain(op, dir, err)
	}
	return c.Size, info.Size(), explain(op, dir, syncFolder(filepath.Dir(path)))
}

// compactStep bounds the bytes that one transaction of a compaction writes.
const compactStep = 1 << 20

// writeCompact copies the records of the store at from into a new file.
func writeCompact(ctx context.Context, from, to string) error {
	source, _, err := openFile(from, true)
	if err != nil {
		return err
	}
	target, err := bbolt.Open(to, 0o600, &bbolt.Options{Timeout: 1, FreelistType: bbolt.FreelistMapType, NoSync: true})
	if err != nil {
		return errors.Join(err, source.Close())
	}
	target.AllocSize = 1 << 20 // as the store's own
	err = ctx.Err()
	if err == nil {
		err = guarded(func() error { return bbolt.Compact(target, source, compactStep) })
	}
	if err == nil {
		err = target.Sync()
	}
	return errors.Join(err, target.Close(), source.Close())
}
