package store

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

const (
	// behind is the longest that a journalled message waits for the disk. The promise
	// is 250 ms; the rest is for the commit itself.
	behind = 200 * time.Millisecond
	// retry is the interval in which a failed write is tried again, so that a full disk
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

// queue holds what waits to be written to the disk. It is safe for concurrent use.
type queue struct {
	log *slog.Logger
	now func() time.Time

	// journalled holds what the journal on the disk has, by message; for the writer.
	journalled map[messageKey]journalled

	mu      sync.Mutex // guards the fields up to sent
	closing bool       // Close has begun: nothing more is taken
	pending batch      // not yet given to a transaction
	writing batch      // given to the transaction under way
	live    map[messageKey]chat.Message
	nextID  uint64 // of the next call record
	trouble bool   // OnTrouble knows that writes fail

	sent    []sentRequest // requests to models that wait, oldest first
	sending sync.Mutex    // held while those are written
	packer  packer

	wake chan struct{} // of capacity 1: there is something pending
}

func newQueue(log *slog.Logger, now func() time.Time) *queue {
	return &queue{
		log: log, now: now, journalled: map[messageKey]journalled{}, live: map[messageKey]chat.Message{},
		wake: make(chan struct{}, 1),
	}
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
// written once. UpdateMessages ends the journal of a message that no longer streams; one
// that the store does not know, or that is not streaming there, is not journalled.
func (s *Chats) Journal(m chat.Message) {
	m = clone(m)
	s.waiting.later(func() {
		key := keyOf(m)
		put(&s.waiting.pending.messages, key, m)
		s.waiting.live[key] = m
	})
}

// SaveDraft keeps the half-written next message of a conversation. Like Journal
// it does not wait for the disk. A draft of a conversation that is not there is
// dropped.
func (s *Chats) SaveDraft(id chat.ConversationID, text string) {
	s.waiting.later(func() { put(&s.waiting.pending.drafts, id, text) })
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
func (q *queue) later(add func()) bool {
	q.mu.Lock()
	open := !q.closing
	if open {
		add()
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default: // the writer is to look already
	}
	return open
}

// sync returns when everything given to Journal, SaveDraft and PutCall before is
// on the disk. An error means that it still waits in memory.
func (s *file) sync(ctx context.Context) error {
	if s.waiting.empty() {
		return nil
	}
	return s.write(ctx, "store.sync", nil)
}

// commit is sync, and commits what was written ahead.
func (s *file) commit(ctx context.Context) error {
	if s.waiting.empty() && !s.ahead.holds.Load() {
		return nil
	}
	return s.write(ctx, "store.commit", nil)
}

// empty reports whether nothing waits to be written.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending.empty() && q.writing.empty()
}

// last is the Sync before the store closes. Its error names what is lost.
func (s *file) last(ctx context.Context) error {
	s.writeSent(ctx)
	err := s.commit(ctx)
	if err == nil {
		return nil
	}
	s.waiting.mu.Lock()
	defer s.waiting.mu.Unlock()
	var lost []string
	for _, of := range []struct {
		n    int
		what string
	}{
		{len(s.waiting.pending.messages), "message"},
		{len(s.waiting.pending.calls), "record of a call"},
		{len(s.waiting.pending.drafts), "draft"},
		{len(s.waiting.pending.entries), "entry of the record of activity"},
	} {
		switch of.n {
		case 0:
		case 1:
			lost = append(lost, "a "+of.what)
		default:
			lost = append(lost, strconv.Itoa(of.n)+" × "+of.what)
		}
	}
	if len(lost) == 0 { // the next Open takes in what was written ahead
		return nil
	}
	f := fault.Of(err)
	return fault.Wrap(f.Kind, f.Op, "Not saved: "+strings.Join(lost, ", ")+". "+f.Message, f.Hint, err)
}

// take moves what is pending, or the records of calls alone, into the transaction that begins. The caller
// has the right to write.
func (q *queue) take(calls bool) batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if calls {
		q.writing, q.pending.calls = batch{calls: q.pending.calls}, nil
	} else {
		q.writing, q.pending = q.pending, batch{}
	}
	return q.writing
}

// taken ends what take began. What was not written is pending again, unless
// something newer has taken its place.
func (q *queue) taken(b batch, written bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = batch{}
	if written {
		return
	}
	q.pending.messages = over(b.messages, q.pending.messages)
	q.pending.calls = over(b.calls, q.pending.calls)
	q.pending.drafts = over(b.drafts, q.pending.drafts)
	q.pending.entries = append(b.entries, q.pending.entries...)
	q.pending.size += b.size
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
func (q *queue) writeBatch(tx *bbolt.Tx, b batch) {
	drop := func(what string, err error) {
		if err != nil {
			q.log.Error("Something could not be stored and was dropped.", "what", what, "err", err)
		}
	}
	for key, m := range b.messages {
		drop("journal", q.writeJournal(tx, key, m))
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

// addEntry takes an entry of the record of activity, unless too much waits already.
func (q *queue) addEntry(r recorded) {
	n := r.size()
	q.later(func() {
		if q.pending.size+q.writing.size+n <= mostWaiting {
			q.pending.entries, q.pending.size = append(q.pending.entries, r), q.pending.size+n
		}
	})
}

// addDraft puts the newest draft into c, also one that is not yet on the disk.
func (q *queue) addDraft(c *chat.Conversation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if text, ok := q.writing.drafts[c.ID]; ok {
		c.Draft = text
	}
	if text, ok := q.pending.drafts[c.ID]; ok {
		c.Draft = text
	}
}

// freshen puts the newest text into messages that stream, in place.
func (q *queue) freshen(messages []chat.Message) []chat.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, m := range messages {
		if m.State != chat.Streaming {
			continue
		}
		if newer, ok := q.live[keyOf(m)]; ok {
			messages[i] = clone(newer)
			messages[i].Hidden = m.Hidden // not the turn's to say
		}
	}
	return messages
}

// forget ends the live state of a message.
func (q *queue) forget(key messageKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.live, key)
	delete(q.pending.messages, key)
}

// writeBehind writes what is pending, at most every 250 ms, until Close. It says
// once that writes fail, and once that they work again.
func (s *file) writeBehind(ctx context.Context) {
	for {
		select {
		case <-s.waiting.wake:
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
			s.writeSent(ctx)
			err := s.commit(ctx)
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
	s.waiting.mu.Lock()
	was := s.waiting.trouble
	s.waiting.trouble = err != nil
	s.waiting.mu.Unlock()
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
		s.waiting.nextID = bucket(tx, bucketCalls).Sequence() + 1
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
		ok, err := getJSON(tx, bucketMessages, k, &m)
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
