package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/jsonobject"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// CallLog holds the records of tool calls.
type CallLog struct{ *file }

// storedCall is a call record as it is stored: a result or arguments that are
// absent stay absent, so that a returned null differs from nothing returned
// (LF-39).
type storedCall struct {
	chat.CallRecord
	Arguments *json.RawMessage `json:"arguments,omitempty"`
	Result    *json.RawMessage `json:"result,omitempty"`
}

func encodeCall(r chat.CallRecord) ([]byte, error) {
	stored := storedCall{CallRecord: r}
	if r.Arguments != nil {
		stored.Arguments = &r.Arguments
	}
	if r.Result != nil {
		stored.Result = &r.Result
	}
	return encode(stored)
}

func decodeCall(raw []byte) (chat.CallRecord, error) {
	// A pointer cannot hold a null that is there, a RawMessage can.
	var stored struct {
		chat.CallRecord
		Arguments json.RawMessage `json:"arguments"`
		Result    json.RawMessage `json:"result"`
	}
	if err := decode(raw, &stored); err != nil {
		return chat.CallRecord{}, err
	}
	stored.CallRecord.Arguments, stored.CallRecord.Result = stored.Arguments, stored.Result
	return stored.CallRecord, nil
}

// PutCall writes a call record. One without an ID gets the next, at once; the
// write itself waits for no disk and is on it by the next Sync, the next message
// written, or within 250 ms. Arguments and results that are no JSON are kept as
// text. While the disk is full records wait in memory; past 10,000 of them or
// 64 MiB the kind is Unavailable.
func (s *CallLog) PutCall(ctx context.Context, r *chat.CallRecord) error {
	const op = "store.put_call"
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if f := s.damaged.Load(); f != nil {
		return f
	}
	for what, id := range map[string]string{"chat": string(r.Conversation), "tool": r.ToolName} {
		if id == "" {
			continue // a call from the tools page has no chat, an unknown one maybe no tool
		}
		if err := checkID(op, what, id); err != nil {
			return err
		}
	}
	kept := presentable(*r)
	kept.ID = s.waiting.idFor(kept.ID)
	raw, err := encodeCall(kept)
	entry := recorded{}
	if err == nil && kept.Status.Over() {
		entry, err = record(kept, s.mask)
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, op, "The record of a call of "+r.ToolName+" cannot be written.", "", err)
	}
	full := false
	open := s.waiting.later(func() {
		_, known := s.waiting.pending.calls[kept.ID]
		full = s.waiting.trouble && !known && (len(s.waiting.pending.calls) >= maxPendingCalls ||
			s.waiting.pending.bytes()+len(raw) > maxPendingBytes)
		if !full {
			put(&s.waiting.pending.calls, kept.ID, pendingCall{kept, raw, entry})
		}
	})
	switch {
	case !open:
		return closedFault(op)
	case full:
		return fault.New(fault.Unavailable, op,
			"The disk that holds "+s.dir+" has been full for so long that further calls cannot be recorded.",
			"Free some space there, then try again.")
	}
	r.ID = kept.ID
	return nil
}

// idFor returns id, or the next one for 0. An id is on the disk no later than
// any record or message that names it, so none is given twice.
func (q *queue) idFor(id uint64) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if id == 0 {
		id = q.nextID
	}
	q.nextID = max(q.nextID, id+1)
	return id
}

// presentable returns r without what JSON cannot hold, and without sharing what
// the caller may go on to change.
func presentable(r chat.CallRecord) chat.CallRecord {
	if r.Arguments != nil && !json.Valid(r.Arguments) {
		r.RawArguments = cmp.Or(r.RawArguments, string(r.Arguments))
		r.Arguments = json.RawMessage("{}")
	}
	if r.Result != nil && !json.Valid(r.Result) {
		r.ResultText = cmp.Or(r.ResultText, string(r.Result))
		r.Result = nil
	}
	r.Attachments = slices.Clone(r.Attachments)
	for i := range r.Attachments {
		r.Attachments[i].Data = nil
	}
	return r
}

// takes reports whether a filter takes a record.
func takes(f chat.CallFilter, r chat.CallRecord) bool {
	return (f.Conversation == "" || r.Conversation == f.Conversation) &&
		(f.Turn == "" || r.Turn == f.Turn) &&
		(f.Tool == "" || r.ToolName == f.Tool || r.ToolID == f.Tool) &&
		(f.Since.IsZero() || !r.Timestamp.Before(f.Since)) &&
		(f.Until.IsZero() || r.Timestamp.Before(f.Until)) &&
		(!f.Errors || endedBadly(r)) &&
		(f.Before == 0 || r.ID < f.Before)
}

func endedBadly(r chat.CallRecord) bool { return r.Status.Over() && r.Status != chat.CallOK }

// Calls returns call records, newest first, those not yet on the disk included.
func (s *CallLog) Calls(ctx context.Context, f chat.CallFilter) ([]chat.CallRecord, error) {
	const op = "store.calls"
	waiting := s.waiting.waitingCalls()
	found := make([]chat.CallRecord, 0, max(f.Limit, 0))
	for _, r := range waiting {
		if takes(f, r) {
			found = append(found, r)
		}
	}
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		n := 0 // records from the disk
		return eachCall(tx, f, func(id uint64) (bool, error) {
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			if _, ok := waiting[id]; ok {
				return true, nil // the one in memory is newer
			}
			raw := bucket(tx, bucketCalls).Get(number(id))
			if raw == nil {
				return false, missingCall(id)
			}
			r, err := decodeCall(raw)
			if err != nil {
				s.log.Warn("A call record cannot be read and is left out.", "call", id, "err", err)
				return true, nil
			}
			if takes(f, r) {
				found = append(found, r)
				n++
			}
			return f.Limit <= 0 || n < f.Limit, nil
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b chat.CallRecord) int { return cmp.Compare(b.ID, a.ID) })
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	return found, nil
}

// ToolsCalled returns the names by which models called tools in a chat, as ToolNames of
// chat.Conversation holds them, from the records of its calls.
func (s *CallLog) ToolsCalled(ctx context.Context, id chat.ConversationID) (map[string]string, error) {
	records, err := s.Calls(ctx, chat.CallFilter{Conversation: id})
	return chat.ToolsCalled(slices.All(records)), err
}

// Call returns one call record. The kind is NotFound when there is none.
func (s *CallLog) Call(ctx context.Context, id uint64) (chat.CallRecord, error) {
	const op = "store.call"
	if r, ok := s.waiting.waitingCalls()[id]; ok {
		return r, nil
	}
	return read(ctx, s.file, op, func(tx *bbolt.Tx) (chat.CallRecord, error) {
		raw := bucketCalls.get(tx, number(id))
		if raw == nil {
			return chat.CallRecord{}, fault.New(fault.NotFound, op, fmt.Sprintf("There is no record of a call %d.", id),
				"conclave logs --json shows the ids.")
		}
		return decodeCall(raw)
	})
}

// waitingCalls returns the records that are not yet known to be on the disk.
func (q *queue) waitingCalls() map[uint64]chat.CallRecord {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := make(map[uint64]chat.CallRecord, len(q.pending.calls)+len(q.writing.calls))
	for id, c := range q.writing.calls {
		waiting[id] = c.record
	}
	for id, c := range q.pending.calls {
		waiting[id] = c.record
	}
	return waiting
}

// eachCall walks the ids that f may take, newest first, by the narrowest index,
// until fn returns false.
func eachCall(tx *bbolt.Tx, f chat.CallFilter, fn func(id uint64) (bool, error)) error {
	before := f.Before
	if before == 0 {
		before = ^uint64(0)
	}
	walk := func(b *bbolt.Bucket, start []byte) error {
		cursor := b.Cursor()
		k, v := seekBefore(cursor, append(slices.Clone(start), number(before)...))
		for ; k != nil && len(k) == len(start)+8 && bytes.HasPrefix(k, start); k, v = cursor.Prev() {
			if f.Turn != "" && f.Conversation != "" && string(v) != f.Turn {
				continue
			}
			if more, err := fn(lastNumber(k)); err != nil || !more {
				return err
			}
		}
		return nil
	}
	switch {
	case f.Conversation != "":
		return walk(bucket(tx, bucketByChat), prefix(string(f.Conversation)))
	case f.Tool != "":
		return walk(bucket(tx, bucketByTool), prefix(f.Tool))
	case f.Errors:
		return walk(bucket(tx, bucketFailed), nil)
	case !f.Since.IsZero():
		return eachCallOfDays(tx, f, fn)
	}
	return walk(bucket(tx, bucketCalls), nil)
}

// eachCallOfDays walks the days from f.Until (or the newest) back to f.Since.
func eachCallOfDays(tx *bbolt.Tx, f chat.CallFilter, fn func(id uint64) (bool, error)) error {
	cursor := bucket(tx, bucketByDay).Cursor()
	end := []byte{0xff}
	if !f.Until.IsZero() {
		end = append([]byte(dayOf(f.Until)), 0xff)
	}
	first := []byte(dayOf(f.Since))
	for k, _ := seekBefore(cursor, end); k != nil && bytes.Compare(k[:8], first) >= 0; k, _ = cursor.Prev() {
		if more, err := fn(lastNumber(k)); err != nil || !more {
			return err
		}
	}
	return nil
}

// putCall writes a record and its places in the indexes. Those that it had already stay untouched, so
// that the end of a call changes few pages.
func putCall(tx *bbolt.Tx, r chat.CallRecord, raw []byte) error {
	b := bucket(tx, bucketCalls)
	key := number(r.ID)
	old := b.Get(key)
	had, has := map[place]string{}, places(r)
	if old != nil {
		if was, err := decodeCall(old); err == nil {
			had = places(was)
		}
	}
	for p := range had {
		if _, stays := has[p]; stays {
			continue
		}
		if err := p.delete(tx); err != nil {
			return err
		}
	}
	for p, value := range has {
		if was, there := had[p]; there && was == value {
			continue
		}
		if err := p.put(tx, value); err != nil {
			return err
		}
	}
	if err := b.Put(key, jsonobject.Keep(old, raw, reflect.TypeFor[storedCall]())); err != nil {
		return err
	}
	if r.ID > b.Sequence() {
		if err := b.SetSequence(r.ID); err != nil {
			return err
		}
	}
	return referMedia(tx, r.Conversation, r.Attachments)
}

// place is a key in an index.
type place struct{ index, key string }

func (p place) put(tx *bbolt.Tx, value string) error {
	return kind(p.index).put(tx, []byte(p.key), []byte(value))
}

func (p place) delete(tx *bbolt.Tx) error { return kind(p.index).delete(tx, []byte(p.key)) }

// places returns the keys of a record in the indexes, with their values.
func places(r chat.CallRecord) map[place]string {
	id := string(number(r.ID))
	all := map[place]string{{string(bucketByDay), dayOf(r.Timestamp) + id}: ""}
	if r.Conversation != "" {
		all[place{string(bucketByChat), string(below(string(r.Conversation), r.ID))}] = r.Turn
	}
	for _, name := range []string{r.ToolName, r.ToolID} {
		if name != "" {
			all[place{string(bucketByTool), string(below(name, r.ID))}] = ""
		}
	}
	if endedBadly(r) {
		all[place{string(bucketFailed), id}] = ""
	}
	if r.Status == chat.CallAsked || r.Status == chat.CallRunning {
		all[place{string(bucketOpen), id}] = ""
	}
	return all
}

func indexCall(tx *bbolt.Tx, r chat.CallRecord) error {
	for p, value := range places(r) {
		if err := p.put(tx, value); err != nil {
			return err
		}
	}
	return referMedia(tx, r.Conversation, r.Attachments)
}

func missingCall(id uint64) error {
	return fmt.Errorf("%w: an index names the call %d, which is not there", errRecord, id)
}

// endCalls ends the calls that were under way when their program was ended,
// which was alive last at the time given (LF-38). One that cannot be read is no
// longer held open.
func endCalls(tx *bbolt.Tx, alive time.Time) (int, error) {
	var ids []uint64
	err := bucket(tx, bucketOpen).ForEach(func(k, _ []byte) error {
		ids = append(ids, lastNumber(k))
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		raw := bucket(tx, bucketCalls).Get(number(id))
		r, err := decodeCall(raw)
		if raw == nil || err != nil {
			if err := bucket(tx, bucketOpen).Delete(number(id)); err != nil {
				return 0, err
			}
			continue
		}
		r.Status, r.Ended = chat.CallDied, alive.UTC()
		if r.Ended.Before(r.Started) {
			r.Ended = r.Started
		}
		if !r.Started.IsZero() {
			r.MS = float64(r.Ended.Sub(r.Started)) / float64(time.Millisecond)
		}
		r.Error = cmp.Or(r.Error, "Conclave was ended while this call ran, so what it did is not known.")
		if raw, err = encodeCall(r); err != nil {
			return 0, err
		}
		if err := putCall(tx, r, raw); err != nil {
			return 0, err
		}
		entry, err := record(r, nil)
		if err == nil {
			err = entry.write(tx)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
