package store

import (
	"context"
	"fmt"
	"time"

	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

func init() { closePatience = time.Minute }

// Commits returns the number of the last transaction that was written.
func (s *Store) Commits() int {
	n := 0
	if err := s.db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil }); err != nil {
		panic(err)
	}
	return n
}

// Allocated returns how many bytes of pages have been written since Open.
func (s *Store) Allocated() int64 {
	stats := s.db.Stats().TxStats
	return stats.GetPageAlloc()
}

// InspectLimit is the size from which Open does not look at every page.
const InspectLimit = inspectLimit

// BoundActivity sets how many entries the record of activity keeps, and how many it
// removes at once, until restore is called.
func BoundActivity(most, cut int) (restore func()) {
	a, b := mostActivity, cutActivity
	mostActivity, cutActivity = most, cut
	return func() { mostActivity, cutActivity = a, b }
}

// BoundWaiting sets how many bytes of uses and of what was sent wait for the disk, until restore
// is called.
func BoundWaiting(most int) (restore func()) {
	before := mostWaiting
	mostWaiting = most
	return func() { mostWaiting = before }
}

// Hold has all writes wait until release is called.
func (s *Store) Hold(ctx context.Context) (release func(), err error) {
	return s.yield, s.claim(ctx, "test")
}

// RecordActivity puts calls that ended on record in one transaction, and returns how long
// that took beside its commit.
func (s *Store) RecordActivity(ctx context.Context, calls []chat.CallRecord) (took time.Duration, err error) {
	began := time.Now()
	entries := make([]recorded, len(calls))
	for i, r := range calls {
		if entries[i], err = record(r, s.mask); err != nil {
			return 0, err
		}
	}
	took = time.Since(began)
	err = s.write(ctx, "test", func(tx *bbolt.Tx) error {
		began := time.Now()
		defer func() { took += time.Since(began) }()
		for _, e := range entries {
			if err := e.write(tx); err != nil {
				return err
			}
		}
		return nil
	})
	return took, err
}

// AppendAll appends messages in one transaction, for benchmarks.
func (s *Store) AppendAll(ctx context.Context, messages []chat.Message) error {
	return s.write(ctx, "test", func(tx *bbolt.Tx) error {
		old, err := getConversation(tx, "test", messages[0].Conversation)
		if err != nil {
			return err
		}
		c := old
		for _, m := range messages {
			c.Last++
			m.Seq, m.Created = c.Last, s.now()
			if err := putMessage(tx, m); err != nil {
				return err
			}
		}
		c.Head = c.Last
		return putConversation(tx, &old, c)
	})
}

// CleanSent removes the requests that the daily cleaning removes.
func (s *Store) CleanSent(ctx context.Context) error { return s.purgeOldSent(ctx) }

// CreateMany makes n conversations in one transaction, for benchmarks.
func (s *Store) CreateMany(ctx context.Context, n int) error {
	return s.write(ctx, "test", func(tx *bbolt.Tx) error {
		for i := range n {
			at := s.now().Add(time.Duration(i) * time.Minute)
			c := chat.Conversation{
				ID:    chat.ConversationID(fmt.Sprintf("0195d7a4-0000-7000-8000-%012d", i)),
				Title: fmt.Sprintf("A chat with the title %d", i), Created: at, Updated: at,
			}
			if err := putConversation(tx, nil, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// MediaPath returns where a media file lies.
func (a *Attachments) MediaPath(id string) (string, error) { return a.mediaFile(id) }
