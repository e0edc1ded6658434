package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/record/activity"

	"go.etcd.io/bbolt"
)

// ActivityLog is the record of activity. It implements activity.Log.
type ActivityLog struct{ *file }

// The buckets of the record of activity. They are made when the first entry is written,
// so that a store without one is as it was.
var (
	bucketActivity        = kind("activity")         // n → activity.Entry
	bucketActivityDetails = kind("activity_details") // n → activity.Detail
	bucketActivityState   = kind("activity_state")   // keyFormat, keyHead
	// "chat" 0 id 0 n, "plugin" 0 id 0 n, "call" 0 id 0 n → nothing; made from the entries
	bucketActivityBy = kind("activity_by")
)

// The keys of bucketActivityState.
var (
	keyFormat = []byte("format") // 8 bytes, big-endian
	keyHead   = []byte("head")   // number of the last entry, 8 bytes, and its SHA-256
)

// mostActivity is the most entries that are stored, and cutActivity the number that is removed at once
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

// entrySize is about what an entry takes without its detail: its fields, and names in them.
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
	s.waiting.addEntry(recorded{entry, detail})
}

// RecordSent puts on record what a plugin sent while it worked on no call, as RecordUse does.
func (s *ActivityLog) RecordSent(at time.Time, plugin string, sent []chat.Sending) {
	s.waiting.addEntry(recorded{entry: activity.SentEntry(at, plugin, sent)})
}

// RecordReversal puts on record that the changes of a call were undone or redone. It is on the
// disk when it returns.
func (s *ActivityLog) RecordReversal(ctx context.Context, t activity.Reversal) error {
	const op = "store.record_undo"
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		var of *activity.Entry
		erased := false
		if n := entryOfCall(tx, t.Call); n != nil {
			e, d, err := rowOf(tx, n).Read()
			if err == nil && e.Turn == t.Turn { // else it is of a chat that is not on record, which numbers its own calls
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
	if n := lastBelow(tx, bucketActivityBy, "call\x00"+string(number(call))); n != 0 && call != 0 {
		return number(n)
	}
	return nil
}

// activityHead returns the end of the chain as it was written last.
func activityHead(tx *bbolt.Tx) activity.Head {
	raw := bucketActivityState.get(tx, keyHead)
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
	for _, k := range []kind{bucketActivity, bucketActivityDetails, bucketActivityState, bucketActivityBy} {
		if _, err := tx.CreateBucketIfNotExists(k); err != nil {
			return err
		}
	}
	state := bucketActivityState.in(tx)
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
	hash, err := hex.DecodeString(activity.Hash(written))
	if err != nil {
		return err
	}
	key := number(e.N)
	err = bucketActivity.put(tx, key, written)
	if err == nil && detail != nil {
		err = bucketActivityDetails.put(tx, key, detail)
	}
	for _, place := range activityPlaces(e) {
		if err == nil {
			err = bucketActivityBy.put(tx, place, nil)
		}
	}
	if err == nil {
		err = state.Put(keyHead, append(number(e.N), hash...))
	}
	if err != nil {
		return err
	}
	first, _ := bucketActivity.in(tx).Cursor().First()
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
	said := activity.Entry{Time: now, Kind: activity.Cut}
	var keys, places [][]byte
	cursor := bucketActivity.in(tx).Cursor()
	for k, v := cursor.First(); k != nil && len(keys) < cutActivity; k, v = cursor.Next() {
		places = append(places, activityPlaces(entryIn(v))...)
		keys = append(keys, slices.Clone(k))
		said.To, said.Hash = lastNumber(k), activity.Hash(v)
	}
	said.Entries = len(keys)
	if err := errors.Join(
		bucketActivity.delete(tx, keys...), bucketActivityDetails.delete(tx, keys...), bucketActivityBy.delete(tx, places...),
	); err != nil {
		return err
	}
	return appendActivity(tx, said, nil)
}

// eraseActivity removes the details of the calls of a chat that is deleted for good. That
// they were made stays on record, and that the details were removed.
func eraseActivity(tx *bbolt.Tx, id chat.ConversationID, now time.Time) error {
	erased, calls := 0, 0
	for _, key := range bucketActivityBy.numbered(tx, prefix("chat\x00"+string(id))) {
		n := number(lastNumber(key))
		if bucketActivityDetails.get(tx, n) == nil {
			continue
		}
		if err := bucketActivityDetails.delete(tx, n); err != nil {
			return err
		}
		erased++
		if entryIn(bucketActivity.get(tx, n)).Kind == activity.Called {
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
	err := s.viewWritten(ctx, "store.activity", func(tx *bbolt.Tx) error {
		return eachActivity(tx, f, func(n []byte) bool {
			row := rowOf(tx, n)
			if row.Entry == nil || f.Chat != "" && f.Plugin != "" && entryIn(row.Entry).Plugin != f.Plugin {
				return true
			}
			rows = append(rows, row)
			return f.Limit <= 0 || len(rows) < f.Limit
		})
	})
	return rows, err
}

// ActivityOf returns the entry of one call. The kind is NotFound when there is none.
func (s *ActivityLog) ActivityOf(ctx context.Context, call uint64) (activity.Row, error) {
	const op = "store.activity_of"
	var row activity.Row
	err := s.viewWritten(ctx, op, func(tx *bbolt.Tx) error {
		row = rowOf(tx, entryOfCall(tx, call))
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
	err := s.viewWritten(ctx, "store.verify_activity", func(tx *bbolt.Tx) error {
		head = activityHead(tx)
		return bucketActivity.each(tx, nil, func(k, written []byte) error {
			if ctx.Err() == nil && len(k) == 8 {
				v.Add(lastNumber(k), written, bucketActivityDetails.get(tx, k))
			}
			return context.Cause(ctx)
		})
	})
	if err != nil {
		return activity.Report{}, err
	}
	return v.End(head), nil
}

// viewWritten runs fn once what is pending is written.
func (s *ActivityLog) viewWritten(ctx context.Context, op string, fn func(tx *bbolt.Tx) error) error {
	if err := s.sync(ctx); err != nil {
		s.log.Warn("The newest entries of the record of activity are not shown: they cannot be written.", "err", err)
	}
	return s.view(ctx, op, fn)
}

// rowOf returns the entry with a number; an empty row where there is none.
func rowOf(tx *bbolt.Tx, n []byte) activity.Row {
	written := bucketActivity.get(tx, n)
	if written == nil {
		return activity.Row{}
	}
	return activity.Row{
		Hash: activity.Hash(written), Entry: bytes.Clone(written), Detail: bytes.Clone(bucketActivityDetails.get(tx, n)),
	}
}

// entryIn reads an entry, as far as it can be read.
func entryIn(written []byte) (e activity.Entry) {
	_ = json.Unmarshal(written, &e)
	return e
}

// eachActivity visits the numbers that f selects by its bounds, its chat, or else its plugin,
// until visit returns false.
func eachActivity(tx *bbolt.Tx, f activity.Filter, visit func(n []byte) bool) error {
	in, start := bucketActivity, []byte(nil)
	switch {
	case f.Chat != "":
		in, start = bucketActivityBy, prefix("chat\x00"+string(f.Chat))
	case f.Plugin != "":
		in, start = bucketActivityBy, prefix("plugin\x00"+f.Plugin)
	}
	b := in.in(tx)
	if b == nil {
		return nil
	}
	cursor := b.Cursor()
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
