package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/record/activity"

	"go.etcd.io/bbolt"
)

// The file next to the store's that rounds of turns are written to ahead of it: aheadEnding follows the
// name of the store's file. It always has the same length, because a file that does not grow is on the disk
// sooner; a round that does not fit any more is committed.
const (
	aheadEnding = ".ahead"
	aheadSize   = 256 << 10
)

// ahead holds the rounds of turns that were written since the last commit. A commit writes some thirty pages
// and waits for the disk twice. A round written ahead is one record in a file and waits once; its transaction
// stays open, and is committed by the next other write, before somebody reads, or 200 ms later. If the program
// is killed before that, the next Open makes the rounds again from the file.
//
// Only the one who may write uses it, but for holds, which anybody may read.
type ahead struct {
	path   string
	file   *os.File  // nil until the first round
	broken bool      // the file cannot be written, so each round is committed
	tx     *bbolt.Tx // of the rounds; nil when there are none
	base   []byte    // what tx began with
	rounds []round
	length int64       // of the rounds in the file
	syncs  chan error  // gets the error of the last one's wait for the disk; nil when it was taken
	holds  atomic.Bool // there are rounds
}

// round holds all that one Append wrote: its messages, and the calls that waited for the disk.
type round struct {
	At       time.Time         `json:"at"`
	Calls    []aheadCall       `json:"calls,omitempty"`
	Messages []json.RawMessage `json:"messages"`
}

// aheadCall is the record of a call, with its entry in the record of activity if it has ended.
type aheadCall struct {
	Record json.RawMessage `json:"record"`
	Entry  *activity.Entry `json:"entry,omitempty"`
	Detail json.RawMessage `json:"detail,omitempty"`
}

// roundOf returns the round that wrote messages and the records of calls.
func roundOf(tx *bbolt.Tx, at time.Time, calls map[uint64]pendingCall, messages []chat.Message) round {
	r := round{At: at}
	for _, c := range calls {
		call := aheadCall{Record: c.raw, Detail: c.entry.detail}
		if c.entry.detail != nil {
			call.Entry = &c.entry.entry
		}
		r.Calls = append(r.Calls, call)
	}
	for _, m := range messages {
		r.Messages = append(r.Messages, slices.Clone(bucketMessages.get(tx, keyOf(m).bytes())))
	}
	return r
}

// redo writes a round into tx, as its Append did.
func (s *file) redo(tx *bbolt.Tx, r round) error {
	if err := bucket(tx, bucketMeta).Put(keyAlive, timeKey(r.At)); err != nil {
		return err
	}
	var waiting batch
	for _, c := range r.Calls {
		record, err := decodeCall(c.Record)
		if err != nil {
			return err
		}
		call := pendingCall{record: record, raw: c.Record}
		if c.Entry != nil {
			call.entry = recorded{*c.Entry, c.Detail}
		}
		put(&waiting.calls, record.ID, call)
	}
	s.waiting.writeBatch(tx, waiting)
	messages := make([]chat.Message, len(r.Messages))
	for i, raw := range r.Messages {
		if err := decode(raw, &messages[i]); err != nil {
			return err
		}
		messages[i].Open = true
	}
	_, err := (&Chats{s}).append(tx, "store.redo", r.At, messages)
	return err
}

// update runs fn in a transaction that writes, and commits it with all rounds that are ahead. If made is given,
// it returns the round that fn wrote; where that can be written ahead, nothing is committed.
func (s *file) update(fn func(*bbolt.Tx) error, made func(*bbolt.Tx) round) (err error) {
	a := &s.ahead
	if a.tx == nil && made == nil {
		return s.db.Update(fn)
	}
	if a.tx == nil {
		if err := a.begin(s.db); err != nil {
			return err
		}
	}
	done := false
	defer func() { // also when fn panics
		if !done && !errors.Is(err, errDamaged) {
			err = errors.Join(err, s.redoAll())
		}
	}()
	if err := fn(a.tx); err != nil {
		return err
	}
	if made != nil && s.writeAhead(made(a.tx)) {
		done = true
		return nil
	}
	if err := a.tx.Commit(); err != nil {
		return err
	}
	done = true
	a.tx, a.rounds, a.length = nil, nil, 0
	a.holds.Store(false)
	return nil
}

// redoAll begins the open transaction again with the rounds that are in the file, after something else in it
// failed.
func (s *file) redoAll() error {
	a := &s.ahead
	_ = a.tx.Rollback() // a commit that failed has done it
	a.tx = nil
	if len(a.rounds) == 0 {
		return nil
	}
	err := guarded(func() error {
		if err := a.begin(s.db); err != nil {
			return err
		}
		for _, r := range a.rounds {
			if err := s.redo(a.tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // with a commit, the next Open would take in nothing of the file
		s.damaged.CompareAndSwap(nil, fault.Wrap(fault.Unavailable, "store.redo",
			"The store could not go on after a write that failed.",
			"Close Conclave and start it again: it takes up what was written last.", err))
	}
	return err
}

func (a *ahead) begin(db *bbolt.DB) (err error) {
	if a.tx, err = db.Begin(true); err == nil {
		a.base = baseOf(a.tx)
	}
	return err
}

// writeAhead writes a round to the file, which outlives the program from then on, and reports whether it and
// those before it did well. Those before it are on the disk by then.
func (s *file) writeAhead(r round) bool {
	a := &s.ahead
	if a.broken {
		return false
	}
	raw, err := encode(r)
	if err == nil {
		raw = framed(a.base, raw)
		if a.length+int64(len(raw)) > aheadSize {
			return false
		}
		err = a.write(raw)
	}
	if err != nil {
		a.broken = true
		s.log.Warn("Rounds cannot be written ahead of the store, so each is committed.", "err", err)
		return false
	}
	a.length += int64(len(raw))
	a.rounds = append(a.rounds, r)
	a.holds.Store(true)
	s.waiting.later(func() {}) // it is committed soon
	return true
}

func (a *ahead) write(raw []byte) error {
	if a.file == nil {
		if err := a.open(); err != nil {
			return err
		}
	}
	if err := a.synced(); err != nil {
		return err
	}
	if _, err := a.file.WriteAt(raw, a.length); err != nil {
		return err
	}
	f, syncs := a.file, make(chan error, 1)
	a.syncs = syncs
	go func() { syncs <- syncData(f) }()
	return nil
}

// synced waits until what was written is on the disk.
func (a *ahead) synced() error {
	if a.syncs == nil {
		return nil
	}
	err := <-a.syncs
	a.syncs = nil
	return err
}

// open opens the file, and makes it where there is none.
func (a *ahead) open() error {
	f, err := os.OpenFile(a.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != aheadSize {
		_, err = f.WriteAt(make([]byte, aheadSize), 0)
		if err = errors.Join(err, f.Truncate(aheadSize), f.Sync()); err == nil {
			err = syncFolder(filepath.Dir(a.path))
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	a.file = f
	return nil
}

// close lets go of the file. Rounds that were not committed stay in it.
func (a *ahead) close() {
	if a.tx != nil {
		_ = a.tx.Rollback()
	}
	if a.file == nil {
		return
	}
	_ = a.synced() // what is committed does not need it, and else Open finds what was written
	if a.tx == nil {
		_, _ = a.file.WriteAt(make([]byte, frameSize), 0) // its rounds are committed; the next Open sees that at once
	}
	_ = a.file.Close()
}

// A record in the file is a checksum of what follows it, the base, its length and a round as JSON.
const (
	baseSize  = 16
	frameSize = 4 + baseSize + 4
)

// baseOf returns the state of the store that tx began with: the number of the last commit, and its time, in
// case the file is another one by now. A record with another base is not redone.
func baseOf(tx *bbolt.Tx) []byte {
	last := tx.ID()
	if tx.Writable() {
		last--
	}
	base := binary.BigEndian.AppendUint64(make([]byte, 0, baseSize), uint64(last))
	return append(base, bucket(tx, bucketMeta).Get(keyAlive)...)
}

// framed returns the record of a round.
func framed(base, raw []byte) []byte {
	frame := make([]byte, frameSize, frameSize+len(raw))
	copy(frame[4:], base)
	binary.BigEndian.PutUint32(frame[4+baseSize:], uint32(len(raw)))
	frame = append(frame, raw...)
	binary.BigEndian.PutUint32(frame, crc32.ChecksumIEEE(frame[4:]))
	return frame
}

// unframed returns the first round of what a file holds after base, and the rest of the file. A record that
// is cut or of another base is the end.
func unframed(base, file []byte) (r round, rest []byte, ok bool) {
	if len(file) < frameSize || !bytes.Equal(file[4:4+baseSize], base) {
		return r, nil, false
	}
	end := frameSize + int64(binary.BigEndian.Uint32(file[4+baseSize:]))
	if end > int64(len(file)) || crc32.ChecksumIEEE(file[4:end]) != binary.BigEndian.Uint32(file) {
		return r, nil, false
	}
	return r, file[end:], json.Unmarshal(file[frameSize:end], &r) == nil
}

// takeIn commits the rounds that a program which was killed wrote ahead of the store's file at path. Nothing
// else was written since Open.
func (s *file) takeIn(path string) error {
	s.ahead.path = path + aheadEnding
	f, err := os.OpenFile(s.ahead.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // what is written there is synced
	first := make([]byte, frameSize)
	if _, err := io.ReadFull(f, first); err != nil || bytes.Equal(first, make([]byte, frameSize)) {
		return nil //nolint:nilerr // cut before its first round, or there is none
	}
	var base []byte
	if err := guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error { base = baseOf(tx); return nil })
	}); err != nil {
		return err
	}
	if bytes.Equal(first[4:4+baseSize], base) {
		if err := s.redoFile(base); err != nil {
			return err
		}
	}
	_, err = f.WriteAt(make([]byte, frameSize), 0)
	return errors.Join(err, f.Sync())
}

// redoFile commits the rounds that the file has after base.
func (s *file) redoFile(base []byte) error {
	rest, err := os.ReadFile(s.ahead.path)
	if err != nil {
		return err
	}
	redone := 0
	err = guarded(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			for {
				r, more, ok := unframed(base, rest)
				if !ok {
					return nil
				}
				if err := s.redo(tx, r); err != nil {
					return fmt.Errorf("redo round %d: %w", redone+1, err)
				}
				rest = more
				redone++
			}
		})
	})
	s.log.Info("What was written ahead of the store was taken in.", "rounds", redone, "err", err)
	return err
}

// takeIn does for the store's file at path, which nobody has open, what Open does with the rounds that a
// program wrote ahead of it.
func takeIn(path string, now func() time.Time) error {
	if _, err := os.Stat(path + aheadEnding); err != nil {
		return nil //nolint:nilerr // there are none
	}
	db, _, err := openFile(path, false)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	f := &file{db: db, log: log, now: now, waiting: newQueue(log, now)}
	return errors.Join(f.takeIn(path), db.Close())
}
