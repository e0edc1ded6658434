package store

import (
	"bytes"
	"compress/flate"
	"context"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// bucketSent holds id 0 seq → time, and DEFLATE of the request to a model that the message
// answers.
var bucketSent = kind("requests_sent")

// sentKept is the time that a request is stored; timeLength is the length of the time in its record.
const (
	sentKept   = 30 * 24 * time.Hour
	timeLength = 8
)

// Sent returns the request that a message answers, as it was sent to the model. The kind is
// NotFound where it is not stored: only the newest of a chat are, for 30 days.
func (c *Chats) Sent(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) ([]byte, error) {
	const op = "store.sent"
	packed, err := read(ctx, c.file, op, func(tx *bbolt.Tx) ([]byte, error) {
		if _, err := getConversation(tx, op, id); err != nil {
			return nil, err
		}
		packed := bytes.Clone(bucketSent.get(tx, messageKey{id, seq}.bytes()))
		if len(packed) < timeLength {
			return nil, fault.New(fault.NotFound, op, "This request was not kept.", "")
		}
		return packed[timeLength:], nil
	})
	if err != nil {
		return nil, err
	}
	return c.inflate(op, packed)
}

// putSent writes the request that a message answers, and deletes the oldest ones of its
// chat where they are too many together.
func putSent(tx *bbolt.Tx, m chat.Message) error {
	if m.Sent == nil {
		return nil
	}
	packed, err := deflate(timeKey(m.Ended), m.Sent, flate.BestSpeed)
	if err == nil {
		err = bucketSent.put(tx, keyOf(m).bytes(), packed)
	}
	if err != nil {
		return err
	}
	keys, size := bucketSent.keys(tx, prefix(string(m.Conversation))), int64(0)
	for i := len(keys) - 1; i >= 0; i-- {
		if size += int64(len(bucketSent.get(tx, keys[i]))); size > limit.SentRequests {
			return bucketSent.delete(tx, keys[:i+1]...)
		}
	}
	return nil
}

// purgeOldSent deletes the requests that were stored for long enough.
func (f *file) purgeOldSent(ctx context.Context) error {
	const op = "store.purge_sent"
	limit := timeKey(f.now().Add(-sentKept))
	var old [][]byte
	err := f.view(ctx, op, func(tx *bbolt.Tx) error {
		return bucketSent.each(tx, nil, func(k, v []byte) error {
			if len(v) < timeLength || bytes.Compare(v[:timeLength], limit) < 0 {
				old = append(old, bytes.Clone(k))
			}
			return nil
		})
	})
	if err != nil || len(old) == 0 {
		return err
	}
	return f.write(ctx, op, func(tx *bbolt.Tx) error { return bucketSent.delete(tx, old...) })
}

// purgeSent deletes the requests of a chat.
func purgeSent(tx *bbolt.Tx, id chat.ConversationID) error {
	return bucketSent.delete(tx, bucketSent.keys(tx, prefix(string(id)))...)
}
