package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"conclave/app/chat"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// deriveIndexes makes every bucket of indexes from the records. A record that
// cannot be read stays where it is and is left out.
func deriveIndexes(tx *bbolt.Tx) error {
	// The counter goes on where it was, so that the full-text index sees that all
	// has changed.
	var counter uint64
	if b := tx.Bucket(bucketChanges); b != nil {
		counter = b.Sequence()
	}
	for _, name := range indexes {
		if err := tx.DeleteBucket(name); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
			return err
		}
	}
	if err := makeBuckets(tx); err != nil {
		return err
	}
	if err := newLineage(tx); err != nil {
		return err
	}
	if err := bucket(tx, bucketChanges).SetSequence(counter); err != nil {
		return err
	}
	err := eachOf(tx, bucketConversations, nil, func(_ []byte, c chat.Conversation) error {
		return errors.Join(putListed(tx, c), logChange(tx, messageKey{c.ID, 0}))
	}, nil)
	if err != nil {
		return err
	}
	err = eachOf(tx, bucketMessages, nil, func(k []byte, m chat.Message) error {
		if err := deriveMessage(tx, k, m); err != nil {
			return err
		}
		if m.State != chat.Streaming || bucketJournal.get(tx, k) != nil {
			return nil
		}
		return bucketJournal.put(tx, k, timeKey(m.Created))
	}, nil)
	if err != nil {
		return err
	}
	calls := bucket(tx, bucketCalls)
	highest := calls.Sequence()
	err = calls.ForEach(func(k, v []byte) error {
		r, err := decodeCall(v)
		if err != nil {
			return nil //nolint:nilerr // left out, as said above
		}
		highest = max(highest, r.ID)
		return indexCall(tx, r)
	})
	if err != nil {
		return err
	}
	return calls.SetSequence(highest)
}

// Check looks at the whole store and returns what is wrong with it, in sentences; none
// when all is well. It reads everything, and writes wait for it, since bbolt compares its
// pages with the list of free ones in memory. A store whose pages are damaged is not used
// any more, by this program and those after it, until it has been set aside: its error has
// the kind Damaged.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	const op = "store.check"
	if err := s.claim(ctx, op); err != nil {
		return nil, err
	}
	defer s.yield()
	problems := []string{}
	var err error
	if s.ahead.tx != nil {
		err = guarded(func() error { return s.update(func(*bbolt.Tx) error { return nil }, nil) })
	}
	if err != nil {
		return nil, s.asFault(op, err)
	}
	err = s.viewCommitted(ctx, op, func(tx *bbolt.Tx) error {
		var found []error
		for err := range tx.Check() {
			found = append(found, err)
		}
		if len(found) > 0 {
			return contradiction{errors.Join(found...)}
		}
		var err error
		problems, err = checkRecords(tx)
		return err
	})
	return problems, err
}

// checkRecords compares records and indexes in both directions: what the records
// ask for is there, and nothing else is.
func checkRecords(tx *bbolt.Tx) ([]string, error) {
	problems := []string{}
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	want := map[string]int{}
	expect := func(name, key, value []byte) error {
		want[string(name)]++
		switch got := kind(name).get(tx, key); {
		case got == nil:
			say("%s: nothing under %q", name, key)
		case value != nil && !bytes.Equal(got, value):
			say("%s: under %q is %q and should be %q", name, key, got, value)
		}
		return nil
	}
	conversations := map[chat.ConversationID]chat.Conversation{}
	err := eachOf(tx, bucketConversations, nil, func(_ []byte, c chat.Conversation) error {
		conversations[c.ID] = c
		if c.Temporary {
			return expect(bucketTemporary, []byte(c.ID), nil)
		}
		return expect(bucketByUpdated, listKey(c), listRow(c))
	}, func(k []byte, err error) { say("conversation %s: %v", k, err) })
	if err != nil {
		return nil, err
	}
	err = eachOf(tx, bucketMessages, nil, func(k []byte, m chat.Message) error {
		if c, ok := conversations[m.Conversation]; ok && m.Seq > c.Last {
			say("message %d of %s: the last number given out is %d", m.Seq, m.Conversation, c.Last)
		}
		if m.Parent >= m.Seq {
			say("message %d of %s answers message %d", m.Seq, m.Conversation, m.Parent)
		}
		if m.State == chat.Streaming && bucket(tx, bucketJournal).Get(k) == nil {
			say("message %d of %s streams and has no journal", m.Seq, m.Conversation)
		}
		if n := bucket(tx, bucketChanged).Get(k); n == nil || !bytes.Equal(bucket(tx, bucketChanges).Get(n), k) {
			say("message %d of %s is not in the change log", m.Seq, m.Conversation)
		}
		return expect(bucketOutline, k, outlineRow(entryOf(m)))
	}, func(k []byte, err error) { say("message %q: %v", k, err) })
	if err != nil {
		return nil, err
	}
	for id, c := range conversations {
		if _, err := pathTo(tx, id, c.Head); err != nil {
			say("conversation %s: %v", id, err)
		}
	}
	err = bucket(tx, bucketCalls).ForEach(func(k, v []byte) error {
		r, err := decodeCall(v)
		if err != nil {
			say("call %d: %v", lastNumber(k), err)
			return nil
		}
		for p, value := range places(r) {
			if err := expect([]byte(p.index), []byte(p.key), []byte(value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	want[string(bucketChanges)] = bucket(tx, bucketChanged).Stats().KeyN
	for _, name := range [][]byte{
		bucketByUpdated, bucketOutline, bucketByChat, bucketByTool, bucketByDay, bucketFailed, bucketOpen, bucketChanges,
	} {
		if got := bucket(tx, name).Stats().KeyN; got != want[string(name)] {
			say("%s: %d rows, and the records ask for %d", name, got, want[string(name)])
		}
	}
	return problems, nil
}
