package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

const (
	// behind is how long what was journalled may wait for the disk. The promise
	// is 250 ms; the rest is for the commit itself.
	behind = 200 * time.Millisecond
	// retry is how often a write that failed is tried again, so that a full disk
	// is noticed soon after it has room, without keeping a slow one busy.
	retry = time.Second
	// maxPendingCalls and maxPendingBytes bound what PutCall keeps while the disk
	// is full: far more than a turn makes, far less than the memory of a machine.
	maxPendingCalls = 10_000
	maxPendingBytes = 64 << 20
)

// batch holds what waits to be written.
type batch struct {
	messages map[messageKey]chat.Message
	calls    map[uint64]pendingCall
	drafts   map[chat.ConversationID]string
	entries  []recorded // of the record of activity that are of no call, oldest first
	size     int        // of entries, in bytes
}

type pendingCall struct {
	record chat.CallRecord
	raw    []byte // as it will be stored
	entry  recorded
}

func (b batch) empty() bool {
	return len(b.messages)+len(b.calls)+len(b.drafts)+len(b.entries) == 0
}

func (b batch) bytes() int {
	n := 0
	for _, c := range b.calls {
		n += len(c.raw) + len(c.entry.detail)
	}
	return n
}

// Journal keeps the newest text of a streaming message so that a kill loses at
// most 250 ms of it. It does not wait for the disk: what comes within 250 ms is
// written once. UpdateMessages ends the journal of a message that streams no more; one
// that the store does not know, or that is not streaming there, is not journalled.
func (s *Chats) Journal(m chat.Message) {
	m = clone(m)
	s.later(func() {
		key := keyOf(m)
		put(&s.pending.messages, key, m)
		s.live[key] = m
	})
}

// SaveDraft keeps the half-written next message of a conversation. Like Journal
// it does not wait for the disk. A draft of a conversation that is not there is
// dropped.
func (s *Chats) SaveDraft(id chat.ConversationID, text string) {
	s.later(func() { put(&s.pending.drafts, id, text) })
}

func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// later runs add, which puts something into s.pending, and sees to it that it is
// written.
// It reports false when the store is closing and takes nothing more.
func (s *file) later(add func()) bool {
	s.mu.Lock()
	open := !s.closing
	if open {
		add()
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
	return open
}

// sync returns when everything given to Journal, SaveDraft and PutCall before is
// on the disk. An error means that it still waits in memory.
func (s *file) sync(ctx context.Context) error {
	s.mu.Lock()
	nothing := s.pending.empty() && s.writing.empty()
	s.mu.Unlock()
	if nothing {
		return nil
	}
	return s.write(ctx, "store.sync", nil)
}

// last is the Sync before the store closes. Its error names what is lost.
func (s *file) last(ctx context.Context) error {
	err := s.sync(ctx)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost []string
	for _, of := range []struct {
		n    int
		what string
	}{
		{len(s.pending.messages), "message"}, {len(s.pending.calls), "record of a call"},
		{len(s.pending.drafts), "draft"}, {len(s.pending.entries), "entry of the record of activity"},
	} {
		switch of.n {
		case 0:
		case 1:
			lost = append(lost, "a "+of.what)
		default:
			lost = append(lost, strconv.Itoa(of.n)+" × "+of.what)
		}
	}
	f := fault.Of(err)
	return fault.Wrap(f.Kind, f.Op, "Not saved: "+strings.Join(lost, ", ")+". "+f.Message, f.Hint, err)
}

// take moves what is pending into the transaction that begins. The caller has
// the right to write.
func (s *file) take() batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing, s.pending = s.pending, batch{}
	return s.writing
}

// taken ends what take began. What was not written is pending again, unless
// something newer has taken its place.
func (s *file) taken(b batch, written bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = batch{}
	if written {
		return
	}
	s.pending.messages = over(b.messages, s.pending.messages)
	s.pending.calls = over(b.calls, s.pending.calls)
	s.pending.drafts = over(b.drafts, s.pending.drafts)
	s.pending.entries = append(b.entries, s.pending.entries...)
	s.pending.size += b.size
}

func over[K comparable, V any](older, newer map[K]V) map[K]V {
	if older == nil {
		return newer
	}
	maps.Copy(older, newer)
	return older
}

// writeBatch writes b. One item that cannot be written at all is given up with a
// word in the log, so that it does not hold up the others for ever; bbolt meets
// the disk only at the commit.
func (s *file) writeBatch(tx *bbolt.Tx, b batch) {
	drop := func(what string, err error) {
		if err != nil {
			s.log.Error("Something could not be stored and was dropped.", "what", what, "err", err)
		}
	}
	for key, m := range b.messages {
		drop("journal", s.writeJournal(tx, key, m))
	}
	for _, id := range slices.Sorted(maps.Keys(b.calls)) { // in order, which bbolt likes
		drop("call", putCall(tx, b.calls[id].record, b.calls[id].raw))
		drop("entry of the record of activity", b.calls[id].entry.write(tx))
	}
	for _, entry := range b.entries {
		drop("entry of the record of activity", entry.ofStoredChat(tx))
	}
	for id, text := range b.drafts {
		drop("draft", writeDraft(tx, id, text))
	}
}

func writeDraft(tx *bbolt.Tx, id chat.ConversationID, text string) error {
	old, err := getConversation(tx, "store.draft", id)
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.NotFound || err == nil && old.Draft == text {
		return nil
	}
	if err != nil {
		return err
	}
	c := old
	c.Draft = text
	c.Revision++
	return putConversation(tx, &old, c)
}

// pendingDraft returns the draft that is not yet on the disk, if there is one.
func (s *file) pendingDraft(id chat.ConversationID) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.pending.drafts[id]; ok {
		return text, true
	}
	text, ok := s.writing.drafts[id]
	return text, ok
}

// freshen puts the newest text into messages that stream, in place.
func (s *file) freshen(messages []chat.Message) []chat.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range messages {
		if m.State != chat.Streaming {
			continue
		}
		if newer, ok := s.live[keyOf(m)]; ok {
			messages[i] = clone(newer)
			messages[i].Hidden = m.Hidden // not the turn's to say
		}
	}
	return messages
}

// forget ends the live state of a message.
func (s *file) forget(key messageKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, key)
	delete(s.pending.messages, key)
}

// writeBehind writes what is pending, at most every 250 ms, until Close. It says
// once that writes fail, and once that they work again.
func (s *file) writeBehind(ctx context.Context) {
	for {
		select {
		case <-s.wake:
		case <-s.stop:
			s.final = s.last(ctx)
			return
		}
		wait := behind
		for {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-s.stop:
				timer.Stop()
				s.final = s.last(ctx)
				return
			}
			err := s.sync(ctx)
			s.tell(err)
			if err == nil {
				break
			}
			wait = retry
		}
	}
}

// tell passes on the beginning and the end of trouble.
func (s *file) tell(err error) {
	s.mu.Lock()
	was := s.trouble
	s.trouble = err != nil
	s.mu.Unlock()
	if was == (err != nil) {
		return
	}
	if err != nil {
		s.log.Warn("The store cannot write; it keeps trying.", "err", err)
	} else {
		s.log.Info("The store can write again.")
	}
	if s.onTrouble != nil {
		s.onTrouble(waiting(err))
	}
}

// endWhatWasOpen ends what a killed program left: streaming messages become
// interrupted, with the text their journal has, calls under way become died, and
// the last message of a turn between two answers says that the turn was cut off.
// Where nothing was left, nothing is written.
func (s *file) endWhatWasOpen(ctx context.Context) error {
	const op = "store.open"
	left := false
	alive := s.now()
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		s.nextID = bucket(tx, bucketCalls).Sequence() + 1
		if raw := bucket(tx, bucketMeta).Get(keyAlive); len(raw) == 8 {
			alive = time.Unix(0, int64(lastNumber(raw)))
		}
		m, _ := bucket(tx, bucketJournal).Cursor().First()
		c, _ := bucket(tx, bucketOpen).Cursor().First()
		left = m != nil || c != nil
		if b := tx.Bucket(bucketTurns); b != nil {
			t, _ := b.Cursor().First()
			left = left || t != nil
		}
		return nil
	})
	if err != nil || !left {
		return err
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		messages, err := s.endMessages(tx)
		if err != nil {
			return err
		}
		calls, err := endCalls(tx, alive)
		if err != nil {
			return err
		}
		turns, err := endTurns(tx)
		if err != nil {
			return err
		}
		s.log.Info("A program that was ended left something open.", "messages", messages, "calls", calls, "turns", turns)
		return nil
	})
}

// endMessages merges the journal back.
func (s *file) endMessages(tx *bbolt.Tx) (int, error) {
	n := 0
	cursor := bucket(tx, bucketJournal).Cursor()
	var ended []messageKey
	k, v := cursor.First()
	for k != nil {
		key, err := parseMessageKey(k)
		if err != nil || len(v) < 8 {
			k, v = cursor.Next() // a piece without a message, or noise
			continue
		}
		ended = append(ended, key)
		var m chat.Message
		ok, err := getJSON(bucket(tx, bucketMessages), k, &m)
		if err != nil || !ok || m.State != chat.Streaming { // unreadable, purged, or ended
			k, v = cursor.Next()
			continue
		}
		var last time.Time
		last, k, v = journalOf(&m, cursor, k, v)
		if err := interrupt(tx, m, last); err != nil {
			return 0, err
		}
		n++
	}
	for _, key := range ended {
		if err := startJournal(tx, key.bytes(), nil); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// interrupt writes that a message ended with the program, at some time.
func interrupt(tx *bbolt.Tx, m chat.Message, at time.Time) error {
	m.State, m.Ended = chat.Interrupted, at
	if err := putMessage(tx, m); err != nil {
		return err
	}
	return touched(tx, m.Conversation)
}

// touched gives a conversation a new revision, if it is in use.
func touched(tx *bbolt.Tx, id chat.ConversationID) error {
	old, err := getConversation(tx, "store.open", id)
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.NotFound {
		return nil // in the trash
	}
	if err != nil {
		return err
	}
	c := old
	c.Revision++
	return putConversation(tx, &old, c)
}

// Sync returns when everything given to Journal, SaveDraft and PutCall before is
// on the disk. An error means that it still waits in memory.
func (s *Store) Sync(ctx context.Context) error { return s.sync(ctx) }

// Sync is [Store.Sync], for turns.
func (s *Chats) Sync(ctx context.Context) error { return s.sync(ctx) }
