package store

import (
	"bytes"
	"context"
	"slices"
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

// sentRequest is a request that waits to be written.
type sentRequest struct {
	key  messageKey
	at   time.Time
	body [][]byte
}

// Sent returns the request that a message answers, as it was sent to the model. The kind is
// NotFound where it is not stored: only the newest of a chat are, for 30 days.
func (s *Chats) Sent(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) ([]byte, error) {
	const op = "store.sent"
	s.writeSent(context.WithoutCancel(ctx)) // those of other chats too
	packed, err := read(ctx, s.file, op, func(tx *bbolt.Tx) ([]byte, error) {
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
	return s.inflate(op, packed)
}

// addSent has the requests of messages written behind them whose turn goes on: a person who looks at one
// is in no hurry, and a call that waits for its message is.
func (q *queue) addSent(messages []chat.Message) {
	for _, m := range messages {
		if m.Sent == nil || !m.Open { // it is written already
			continue
		}
		q.later(func() {
			q.sent = append(q.sent, sentRequest{keyOf(m), m.Ended, m.Sent})
			size := 0 // of those that wait, which are no smaller than what will be stored
			for i := len(q.sent) - 1; i >= 0; i-- {
				if q.sent[i].key.conversation != m.Conversation {
					continue
				}
				if size += length(q.sent[i].body); size > limit.SentRequests && i < len(q.sent)-1 {
					q.sent = slices.Delete(q.sent, i, i+1)
				}
			}
		})
	}
}

// writeSent writes the requests that wait. One that cannot be written is not kept.
func (f *file) writeSent(ctx context.Context) {
	q := f.waiting
	q.sending.Lock() // until they can be read
	defer q.sending.Unlock()
	q.mu.Lock()
	waiting := q.sent
	q.sent = nil
	q.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	packed := make([][]byte, len(waiting)) // before anybody waits for the right to write
	var err error
	for i := 0; i < len(waiting) && err == nil; i++ {
		packed[i], err = q.packer.pack(waiting[i], false)
	}
	if err == nil {
		err = f.write(ctx, "store.write_sent", func(tx *bbolt.Tx) error {
			for i, r := range waiting {
				if err := putSent(tx, r.key, packed[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		f.log.Warn("Requests to models could not be stored.", "requests", len(waiting), "err", err)
	}
}

// putSentOf writes the request of a message with it.
func (s *Chats) putSentOf(tx *bbolt.Tx, m chat.Message) error {
	if m.Sent == nil || m.Open { // it is written behind it
		return nil
	}
	packed, err := s.waiting.packer.pack(sentRequest{keyOf(m), m.Ended, m.Sent}, true)
	if err != nil {
		return err
	}
	return putSent(tx, keyOf(m), packed)
}

// putSent writes the request that a message answers, if that is there still, and deletes the oldest ones
// of its chat where they are too many together.
func putSent(tx *bbolt.Tx, key messageKey, packed []byte) error {
	if bucketMessages.get(tx, key.bytes()) == nil {
		return nil
	}
	if err := bucketSent.put(tx, key.bytes(), packed); err != nil {
		return err
	}
	keys, size := bucketSent.keys(tx, prefix(string(key.conversation))), int64(0)
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
