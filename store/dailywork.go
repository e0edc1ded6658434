package store

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/bbolt"
)

// dailyDelay is the time after Open before the daily work, so that it does not
// compete with a window that opens. A command that ends before does it at its
// end.
const dailyDelay = 3 * time.Second

// The first day needs copies before the day is over: one once there is something
// to lose, and another when firstHour has passed or there is firstMessages of it.
const (
	firstHour     = time.Hour
	firstMessages = 20
	lookEvery     = time.Minute // how often the first day is looked at
)

// doDaily does once a day what an open store needs: the daily copy, purging
// the trash, sweeping the media, and letting go of old requests to models. It ends with Close, which lets work under
// way finish for a few seconds.
func (s *Store) doDaily(ctx context.Context) {
	next := time.NewTimer(dailyDelay)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-s.stop:
			if s.copyDue(ctx) {
				s.clean(ctx)
			}
			return
		}
		next.Reset(lookEvery)
		if s.copyDue(ctx) {
			s.clean(ctx)
			next.Reset(firstHour) // one that failed is not tried again each minute
		}
	}
}

// copyDue reports whether a daily copy is due. A folder that cannot be read has
// none due: writing there would not go better.
func (s *Store) copyDue(ctx context.Context) bool {
	files, err := copyFiles(s.dir, daily, s.now())
	if err != nil || s.damaged.Load() != nil {
		return false
	}
	if len(files) == 0 {
		return !s.empty(ctx)
	}
	newest := files[len(files)-1]
	switch age := s.now().Sub(newest.at); {
	case age >= copyEvery, age <= -copyEvery: // a clock was wrong; the copy made now is the newest then
		return true
	case len(files) > 1:
		return false
	case age >= firstHour:
		return !s.empty(ctx)
	}
	return s.has(ctx, firstMessages) && !copyHas(newest.path, firstMessages)
}

// has reports whether the store holds at least n messages.
func (s *file) has(ctx context.Context, n int) bool {
	has, err := read(ctx, s, "store.copy", func(tx *bbolt.Tx) (bool, error) {
		return atLeast(bucket(tx, bucketMessages), n), nil
	})
	return err == nil && has
}

// copyHas is has for the copy at path. One that cannot be read has none.
func copyHas(path string, n int) bool {
	has := false
	err := readFile(path, func(tx *bbolt.Tx) error {
		has = atLeast(bucket(tx, bucketMessages), n)
		return nil
	})
	return err == nil && has
}

func atLeast(b *bbolt.Bucket, n int) bool {
	cursor := b.Cursor()
	for k, _ := cursor.First(); k != nil; k, _ = cursor.Next() {
		if n--; n <= 0 {
			return true
		}
	}
	return false
}

// clean makes the daily copy and, once there is one, deletes for good what is due.
func (s *Store) clean(ctx context.Context) {
	if s.damaged.Load() != nil {
		return
	}
	path, err := s.keepCopy(ctx, 0)
	switch {
	case errors.Is(err, errClosing):
		return
	case errors.Is(err, errRecord):
		s.log.Error("Records of the store cannot be read. A daily copy was made; the newest copy that is whole stays.",
			"file", path, "err", err)
		return
	case errors.Is(err, errDamaged):
		s.tell(s.asFault("store.copy", err))
		return
	case err != nil:
		s.log.Warn("The daily copy of the store was not made.", "err", err)
		return
	}
	s.log.Info("The daily copy of the store was made.", "file", path)
	err = errors.Join(s.purgeOld(ctx), s.sweepMedia(ctx), s.purgeOldSent(ctx))
	if err != nil && !errors.Is(err, errClosing) {
		s.log.Warn("The store was not cleaned to the end.", "err", err)
	}
}

// empty reports whether there is nothing worth a copy: no chat, and none that was
// deleted. Settings alone would take the place of a copy that has chats.
func (s *file) empty(ctx context.Context) bool {
	nothing, err := read(ctx, s, "store.copy", func(tx *bbolt.Tx) (bool, error) {
		return bucketConversations.empty(tx) && bucketTrash.empty(tx), nil
	})
	return err != nil || nothing
}

// purgeOld purges what has been in the trash for 30 days.
func (s *Store) purgeOld(ctx context.Context) error {
	trash, err := s.Chats.Trash(ctx)
	if err != nil {
		return err
	}
	for _, d := range trash {
		if s.now().Sub(d.At) < trashKept {
			continue
		}
		if err := s.Chats.Purge(ctx, d.Token); err != nil {
			return err
		}
	}
	return nil
}
