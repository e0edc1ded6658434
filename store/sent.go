package store

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// bucketSent holds id 0 seq → time, and DEFLATE of the request to a model that the message
// answers.
var bucketSent = []byte("requests_sent")

// Sent returns the request that a message answers, as it was sent to the model. The kind is
// NotFound where it is not kept: only the newest of a chat are, for 30 days.
func (s *Chats) Sent(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) ([]byte, error) {
	const op = "store.sent"
	var packed []byte
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		if _, err := getConversation(tx, op, id); err != nil {
			return err
		}
		if b := tx.Bucket(bucketSent); b != nil {
			packed = bytes.Clone(b.Get(messageKey{id, seq}.bytes()))
		}
		if len(packed) < timeLength {
			return fault.New(fault.NotFound, op, "This request was not kept.", "")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed[timeLength:])))
	if err != nil {
		return nil, s.asFault(op, fmt.Errorf("%w: %w", errRecord, err))
	}
	return body, nil
}

// putSent keeps the request that a message answers, and lets go of the oldest ones of its
// chat where they are too many together.
func putSent(tx *bbolt.Tx, m chat.Message) error {
	if m.Sent == nil {
		return nil
	}
	b, err := tx.CreateBucketIfNotExists(bucketSent)
	if err != nil {
		return err
	}
	packed := bytes.NewBuffer(timeKey(m.Ended))
	w, err := flate.NewWriter(packed, flate.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := w.Write(m.Sent); err != nil {
		return err
	}
	if err := errors.Join(w.Close(), b.Put(keyOf(m).bytes(), packed.Bytes())); err != nil {
		return err
	}
	start, size := prefix(string(m.Conversation)), int64(0)
	keys := keysWith(b, start)
	for i := len(keys) - 1; i >= 0; i-- {
		if size += int64(len(b.Get(keys[i]))); size > limit.SentRequests {
			return deleteAll(b, keys[:i+1])
		}
	}
	return nil
}

// sentKept is how long a request is kept, and timeLength how long the time before it is.
const (
	sentKept   = 30 * 24 * time.Hour
	timeLength = 8
)

// purgeOldSent removes the requests that were kept for long enough.
func (s *file) purgeOldSent(ctx context.Context) error {
	const op = "store.purge_sent"
	limit := timeKey(s.now().Add(-sentKept))
	var old [][]byte
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketSent)
		if b == nil {
			return nil
		}
		cursor := b.Cursor()
		for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
			if len(v) < timeLength || bytes.Compare(v[:timeLength], limit) < 0 {
				old = append(old, bytes.Clone(k))
			}
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error { return deleteAll(tx.Bucket(bucketSent), old) })
}

// purgeSent removes the requests of a chat.
func purgeSent(tx *bbolt.Tx, id chat.ConversationID) error {
	b := tx.Bucket(bucketSent)
	if b == nil {
		return nil
	}
	return deleteAll(b, keysWith(b, prefix(string(id))))
}
