package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/record/activity"

	"go.etcd.io/bbolt"
)

// The buckets of the record of activity. They are made when the first entry is written,
// so that a store without one is as it was.
var (
	bucketActivity        = []byte("activity")         // n → activity.Entry
	bucketActivityDetails = []byte("activity_details") // n → activity.Detail
	bucketActivityState   = []byte("activity_state")   // keyFormat, keyHead
	// "chat" 0 id 0 n, "plugin" 0 id 0 n, "call" 0 id 0 n → nothing; made from the entries
	bucketActivityBy = []byte("activity_by")
)

// The keys of bucketActivityState.
var (
	keyFormat = []byte("format") // 8 bytes, big-endian
	keyHead   = []byte("head")   // number of the last entry, 8 bytes, and its SHA-256
)

// mostActivity is how many entries are kept, and cutActivity how many are removed at once
// when there are more. Tests set them.
var (
	mostActivity = limit.ActivityEntries
	cutActivity  = mostActivity / 100
)

// mostWaiting bounds what waits of the record that is of no call, in bytes: plugins make it, and
// none of them waits for the disk. Tests set it.
var mostWaiting = maxPendingBytes / 4

// recorded is an entry that is to be written; nothing where its detail is empty.
type recorded struct {
	entry  activity.Entry
	detail []byte
}

// size returns how much of the memory the entry takes, about.
func (r recorded) size() int {
	n := entrySize + len(r.detail)
	for _, s := range r.entry.Sent {
		n += len(s.Host)
	}
	return n
}

// entrySize bounds about what an entry takes beside its detail: its fields, and names in them.
const entrySize = 1 << 10

// record makes the entry of a call that ended.
func record(r chat.CallRecord, mask func(string) string) (recorded, error) {
	entry, detail, err := activity.Of(r, mask)
	return recorded{entry, detail}, err
}

// write puts the entry at the end of the chain.
func (r recorded) write(tx *bbolt.Tx) error {
	if r.detail == nil {
		return nil
	}
	return appendActivity(tx, r.entry, r.detail)
}

// ofStoredChat is write for what is of no call: nothing is on record of a temporary chat, nor of
// one that was deleted for good meanwhile.
func (r recorded) ofStoredChat(tx *bbolt.Tx) error {
	if id := r.entry.Chat; id != "" && bucket(tx, bucketConversations).Get([]byte(id)) == nil && !inTrash(tx, id) {
		return nil
	}
	return appendActivity(tx, r.entry, r.detail)
}

// RecordUse puts on record what was decided about a permission in use. It does not wait for the
// disk: the entry is there by the next Sync, or within 250 ms. While the disk is full, those that
// are too many to wait are dropped.
func (s *ActivityLog) RecordUse(u activity.Use) {
	entry, detail, err := u.Entry(s.mask)
	if err != nil {
		s.log.Error("The use of a permission could not be put on record.", "plugin", u.Plugin, "err", err)
		return
	}
	s.recordLater(recorded{entry, detail})
}

// RecordSent puts on record what a plugin sent while it worked on no call, as RecordUse does.
func (s *ActivityLog) RecordSent(at time.Time, plugin string, sent []chat.Sending) {
	s.recordLater(recorded{entry: activity.SentEntry(at, plugin, sent)})
}

func (s *ActivityLog) recordLater(r recorded) {
	n := r.size()
	s.later(func() {
		if s.pending.size+s.writing.size+n <= mostWaiting {
			s.pending.entries, s.pending.size = append(s.pending.entries, r), s.pending.size+n
		}
	})
}

// RecordReversal puts on record that the changes of a call were undone or redone. It is on the
// disk when it returns.
func (s *ActivityLog) RecordReversal(ctx context.Context, t activity.Reversal) error {
	const op = "store.record_undo"
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		var of *activity.Entry
		erased := false
		if n := entryOfCall(tx, t.Call); n != nil {
			e, d, err := rowOf(tx.Bucket(bucketActivity).Get(n), tx.Bucket(bucketActivityDetails).Get(n)).Read()
			if err == nil && e.Turn == t.Turn { // else it is of a chat that is not on record, with numbers of its own
				of, erased = &e, d == nil
			}
		}
		entry, detail, err := t.Entry(of, erased, s.mask)
		if err != nil {
			return err
		}
		return appendActivity(tx, entry, detail)
	})
}

// entryOfCall returns the key of the entry of a call, nil where there is none.
func entryOfCall(tx *bbolt.Tx, call uint64) []byte {
	by := tx.Bucket(bucketActivityBy)
	if by == nil || call == 0 {
		return nil
	}
	keys := keysBelow(by, prefix("call\x00"+string(number(call))))
	if len(keys) == 0 {
		return nil
	}
	return number(lastNumber(keys[len(keys)-1]))
}

// activityHead returns the end of the chain as it was written last.
func activityHead(tx *bbolt.Tx) activity.Head {
	state := tx.Bucket(bucketActivityState)
	if state == nil {
		return activity.Head{}
	}
	raw := state.Get(keyHead)
	if len(raw) != 8+32 {
		return activity.Head{}
	}
	return activity.Head{N: binary.BigEndian.Uint64(raw), Hash: hex.EncodeToString(raw[8:])}
}

// appendActivity writes an entry at the end of the chain, and its detail, which may be nil.
func appendActivity(tx *bbolt.Tx, e activity.Entry, detail []byte) error {
	return linkActivity(tx, activityHead(tx), e, detail)
}

// linkActivity writes an entry after head.
func linkActivity(tx *bbolt.Tx, head activity.Head, e activity.Entry, detail []byte) error {
	var made [4]*bbolt.Bucket
	for i, name := range [][]byte{bucketActivity, bucketActivityDetails, bucketActivityState, bucketActivityBy} {
		b, err := tx.CreateBucketIfNotExists(name)
		if err != nil {
			return err
		}
		made[i] = b
	}
	entries, details, state, by := made[0], made[1], made[2], made[3]
	switch format := state.Get(keyFormat); {
	case format == nil:
		if err := state.Put(keyFormat, number(activity.Version)); err != nil {
			return err
		}
	case len(format) != 8 || lastNumber(format) != activity.Version:
		return fmt.Errorf("the record of activity has a format that this Conclave does not write: %x", format)
	}
	e.N, e.Prev = head.N+1, head.Hash
	written, err := activity.Encode(e)
	if err != nil {
		return err
	}
	key := number(e.N)
	if err := entries.Put(key, written); err != nil {
		return err
	}
	if detail != nil {
		if err := details.Put(key, detail); err != nil {
			return err
		}
	}
	for _, place := range activityPlaces(e) {
		if err := by.Put(place, nil); err != nil {
			return err
		}
	}
	hash, err := hex.DecodeString(activity.Hash(written))
	if err != nil {
		return err
	}
	if err := state.Put(keyHead, append(number(e.N), hash...)); err != nil {
		return err
	}
	first, _ := entries.Cursor().First()
	if len(first) == 8 && e.N-lastNumber(first) >= uint64(mostActivity) {
		return cutOldActivity(tx, e.Time)
	}
	return nil
}

// activityPlaces are the keys of an entry in the index.
func activityPlaces(e activity.Entry) [][]byte {
	var places [][]byte
	for kind, id := range map[string]string{"chat": string(e.Chat), "plugin": e.Plugin} {
		if id != "" {
			places = append(places, below(kind+"\x00"+id, e.N))
		}
	}
	if e.Call != 0 && e.Kind == activity.Called {
		places = append(places, callPlace(e.Call, e.N))
	}
	return places
}

func callPlace(call, n uint64) []byte { return below("call\x00"+string(number(call)), n) }

// cutOldActivity removes the oldest entries, and writes which, so that what is left can
// still be verified.
func cutOldActivity(tx *bbolt.Tx, now time.Time) error {
	entries, details, by := tx.Bucket(bucketActivity), tx.Bucket(bucketActivityDetails), tx.Bucket(bucketActivityBy)
	said := activity.Entry{Time: now, Kind: activity.Cut}
	var keys, places [][]byte
	cursor := entries.Cursor()
	for k, v := cursor.First(); k != nil && len(keys) < cutActivity; k, v = cursor.Next() {
		var e activity.Entry
		if json.Unmarshal(v, &e) == nil {
			places = append(places, activityPlaces(e)...)
		}
		keys = append(keys, slices.Clone(k))
		said.To, said.Hash = lastNumber(k), activity.Hash(v)
	}
	said.Entries = len(keys)
	for b, gone := range map[*bbolt.Bucket][][]byte{entries: keys, details: keys, by: places} {
		if err := deleteAll(b, gone); err != nil {
			return err
		}
	}
	return appendActivity(tx, said, nil)
}

// eraseActivity removes what is told of the calls of a chat that is deleted for good. That
// they were made stays on record, and that this was removed.
func eraseActivity(tx *bbolt.Tx, id chat.ConversationID, now time.Time) error {
	by, details := tx.Bucket(bucketActivityBy), tx.Bucket(bucketActivityDetails)
	if by == nil {
		return nil
	}
	erased, calls := 0, 0
	for _, key := range keysBelow(by, prefix("chat\x00"+string(id))) {
		n := number(lastNumber(key))
		if details.Get(n) == nil {
			continue
		}
		if err := details.Delete(n); err != nil {
			return err
		}
		erased++
		if kindOf(tx.Bucket(bucketActivity).Get(n)) == activity.Called {
			calls++
		}
	}
	if erased == 0 {
		return nil
	}
	return appendActivity(tx, activity.Entry{Time: now, Kind: activity.Erased, Chat: id, Entries: calls}, nil)
}

// checkActivityEnd compares the end of the chain with what was written last. Where they
// differ, that goes on record too, and the chain goes on behind what is there.
func (s *file) checkActivityEnd(ctx context.Context) error {
	const op = "store.open"
	var end, head activity.Head
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		head = activityHead(tx)
		if b := tx.Bucket(bucketActivity); b != nil {
			if k, v := b.Cursor().Last(); len(k) == 8 {
				end = activity.Head{N: lastNumber(k), Hash: activity.Hash(v)}
			}
		}
		return nil
	})
	if err != nil || end == head {
		return err
	}
	found := fmt.Sprintf("the record ends with entry %d, which is not as it was written.", end.N)
	switch {
	case end.N < head.N:
		found = fmt.Sprintf("the record ends with entry %d, but %d were written.", end.N, head.N)
	case end.N > head.N:
		found = fmt.Sprintf("the record ends with entry %d, but the last that was written is %d.", end.N, head.N)
	}
	s.log.Error("The record of activity was changed outside Conclave.", "found", found)
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		return linkActivity(tx, activity.Head{N: max(end.N, head.N), Hash: end.Hash},
			activity.Entry{Time: s.now(), Kind: activity.Broken, Why: found}, nil)
	})
}

// Activity returns entries of the record of activity, the newest first unless the filter says
// otherwise.
func (s *ActivityLog) Activity(ctx context.Context, f activity.Filter) ([]activity.Row, error) {
	rows := []activity.Row{}
	err := s.viewActivity(ctx, "store.activity", func(tx *bbolt.Tx, entries, details *bbolt.Bucket) error {
		return eachActivity(tx, f, func(n []byte) bool {
			written := entries.Get(n)
			if written == nil || f.Chat != "" && f.Plugin != "" && !ofPlugin(written, f.Plugin) {
				return true
			}
			rows = append(rows, rowOf(written, details.Get(n)))
			return f.Limit <= 0 || len(rows) < f.Limit
		})
	})
	return rows, err
}

// ActivityOf returns the entry of one call. The kind is NotFound when there is none.
func (s *ActivityLog) ActivityOf(ctx context.Context, call uint64) (activity.Row, error) {
	const op = "store.activity_of"
	var row activity.Row
	err := s.viewActivity(ctx, op, func(tx *bbolt.Tx, entries, details *bbolt.Bucket) error {
		if n := entryOfCall(tx, call); n != nil {
			row = rowOf(entries.Get(n), details.Get(n))
		}
		return nil
	})
	if err == nil && row.Entry == nil {
		err = fault.New(fault.NotFound, op, fmt.Sprintf("The record of activity has no call %d.", call),
			"It has the calls that ended since it is kept, but for those that were removed at its bound.")
	}
	return row, err
}

// VerifyActivity checks the whole record.
func (s *ActivityLog) VerifyActivity(ctx context.Context) (activity.Report, error) {
	var v activity.Verifier
	var head activity.Head
	err := s.viewActivity(ctx, "store.verify_activity", func(tx *bbolt.Tx, entries, details *bbolt.Bucket) error {
		head = activityHead(tx)
		cursor := entries.Cursor()
		for k, written := cursor.First(); k != nil; k, written = cursor.Next() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if len(k) == 8 {
				v.Add(lastNumber(k), written, details.Get(k))
			}
		}
		return nil
	})
	if err != nil {
		return activity.Report{}, err
	}
	return v.End(head), nil
}

// viewActivity runs fn once what is pending is written, unless nothing is on record yet.
func (s *ActivityLog) viewActivity(ctx context.Context, op string,
	fn func(tx *bbolt.Tx, entries, details *bbolt.Bucket) error,
) error {
	if err := s.sync(ctx); err != nil {
		s.log.Warn("The newest entries of the record of activity are not shown: they cannot be written.", "err", err)
	}
	return s.view(ctx, op, func(tx *bbolt.Tx) error {
		entries, details := tx.Bucket(bucketActivity), tx.Bucket(bucketActivityDetails)
		if entries == nil || details == nil || tx.Bucket(bucketActivityBy) == nil {
			return nil
		}
		return fn(tx, entries, details)
	})
}

func rowOf(written, detail []byte) activity.Row {
	if written == nil {
		return activity.Row{}
	}
	return activity.Row{Hash: activity.Hash(written), Entry: bytes.Clone(written), Detail: bytes.Clone(detail)}
}

func kindOf(written []byte) activity.Kind {
	var e activity.Entry
	_ = json.Unmarshal(written, &e) // no kind where it cannot be read
	return e.Kind
}

func ofPlugin(written []byte, plugin string) bool {
	var e activity.Entry
	return json.Unmarshal(written, &e) == nil && e.Plugin == plugin
}

// eachActivity visits the numbers that f selects by its bounds, its chat, or else its plugin,
// until visit says no more.
func eachActivity(tx *bbolt.Tx, f activity.Filter, visit func(n []byte) bool) error {
	cursor, start := tx.Bucket(bucketActivity).Cursor(), []byte(nil)
	switch {
	case f.Chat != "":
		cursor, start = tx.Bucket(bucketActivityBy).Cursor(), prefix("chat\x00"+string(f.Chat))
	case f.Plugin != "":
		cursor, start = tx.Bucket(bucketActivityBy).Cursor(), prefix("plugin\x00"+f.Plugin)
	}
	before := f.Before
	if before == 0 {
		before = ^uint64(0)
	}
	at := func(n uint64) []byte { return append(slices.Clone(start), number(n)...) }
	inside := func(k []byte) bool {
		return len(k) == len(start)+8 && bytes.HasPrefix(k, start) && lastNumber(k) > f.After && lastNumber(k) < before
	}
	if f.Oldest {
		for k, _ := cursor.Seek(at(f.After + 1)); inside(k) && visit(number(lastNumber(k))); k, _ = cursor.Next() {
		}
		return nil
	}
	for k, _ := seekBefore(cursor, at(before)); inside(k) && visit(number(lastNumber(k))); k, _ = cursor.Prev() {
	}
	return nil
}
