package store

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/bbolt"
)

// settleIn is how long after Open the daily work waits, so that it does not
// compete with a window that opens. A command that ends before does it at its
// end.
const settleIn = 3 * time.Second

// keepHouse does once a day what an open store needs: the daily copy, purging
// the trash, and sweeping the media. It ends with Close, which lets work under
// way finish for a few seconds.
func (s *Store) keepHouse(ctx context.Context) {
	next := time.NewTimer(settleIn)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-s.stop:
			if s.due {
				s.clean(ctx)
			}
			return
		}
		if s.due {
			s.clean(ctx)
		}
		s.due = copyDue(s.dir, s.now())
		next.Reset(time.Hour)
	}
}

// clean makes the daily copy and, once there is one, deletes for good what is due.
func (s *Store) clean(ctx context.Context) {
	if s.damaged.Load() != nil || s.empty(ctx) {
		return
	}
	path, err := s.keepCopy(ctx, "", daily)
	switch {
	case errors.Is(err, errClosing):
		return
	case errors.Is(err, errDamaged):
		s.tell(s.settle("store.copy", err))
		return
	case err != nil:
		s.log.Warn("The daily copy of the store was not made.", "err", err)
		return
	}
	s.log.Info("The daily copy of the store was made.", "file", path)
	if err := errors.Join(s.purgeOld(ctx), s.sweepMedia(ctx)); err != nil && !errors.Is(err, errClosing) {
		s.log.Warn("The store was not cleaned to the end.", "err", err)
	}
}

// empty reports whether there is nothing worth a copy.
func (s *Store) empty(ctx context.Context) bool {
	nothing := true
	err := s.view(ctx, "store.copy", func(tx *bbolt.Tx) error {
		for _, name := range records {
			if string(name) == string(bucketMeta) {
				continue
			}
			if k, _ := bucket(tx, name).Cursor().First(); k != nil {
				nothing = false
			}
		}
		return nil
	})
	return err != nil || nothing
}

// purgeOld purges what has been in the trash for 30 days.
func (s *Store) purgeOld(ctx context.Context) error {
	trash, err := s.Trash(ctx)
	if err != nil {
		return err
	}
	for _, d := range trash {
		if s.now().Sub(d.At) < trashKept {
			continue
		}
		if err := s.Purge(ctx, d.Token); err != nil {
			return err
		}
	}
	return nil
}
