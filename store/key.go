package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// maxID bounds the ids that become part of a key. Conclave's own have 36 bytes;
// a name that a plugin or a person chose may be longer.
const maxID = 512

// messageKey identifies a message.
type messageKey struct {
	conversation chat.ConversationID
	seq          chat.MessageSeq
}

// bytes returns the key as it is stored: the conversation, a zero byte, the
// number big-endian, so that a conversation's messages lie together in order.
// Number 0 stands for the conversation itself where both are listed.
func (k messageKey) bytes() []byte {
	return binary.BigEndian.AppendUint64(prefix(string(k.conversation)), uint64(k.seq))
}

// prefix returns the bytes that the keys below name begin with.
func prefix(name string) []byte {
	b := make([]byte, 0, len(name)+9)
	return append(append(b, name...), 0)
}

// below returns the key of number n below name.
func below(name string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(prefix(name), n)
}

// parseMessageKey is the reverse of messageKey.bytes.
func parseMessageKey(key []byte) (messageKey, error) {
	at := bytes.IndexByte(key, 0)
	if at < 1 || len(key) != at+9 {
		return messageKey{}, fmt.Errorf("%w: a message has the key %q", errRecord, key)
	}
	return messageKey{chat.ConversationID(key[:at]), chat.MessageSeq(lastNumber(key))}, nil
}

// lastNumber returns the number that key ends with.
func lastNumber(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// lastBelow returns the highest number of the keys below name, or 0.
func lastBelow(tx *bbolt.Tx, k kind, name string) uint64 {
	b := k.in(tx)
	if b == nil {
		return 0
	}
	key, _ := seekBefore(b.Cursor(), below(name, ^uint64(0)))
	if !bytes.HasPrefix(key, prefix(name)) {
		return 0
	}
	return lastNumber(key)
}

// seekBefore moves to the last key below key.
func seekBefore(c *bbolt.Cursor, key []byte) (k, v []byte) {
	if k, _ := c.Seek(key); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// timeKey returns t so that later times sort later. A time before 1970 sorts
// first.
func timeKey(t time.Time) []byte {
	return number(uint64(max(t.UnixNano(), 0)))
}

// dayOf returns the day of t, in UTC, as it begins a key of bucketByDay.
func dayOf(t time.Time) string { return t.UTC().Format("20060102") }

// checkID refuses an id that cannot be part of a key.
func checkID(op, what, id string) error {
	if id == "" || len(id) > maxID || strings.ContainsRune(id, 0) {
		return fault.New(fault.Invalid, op, fmt.Sprintf("%.40q is no id of a %s.", id, what), "")
	}
	return nil
}
