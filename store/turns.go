package store

import (
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// Turns are the three subjects that a turn writes. It implements turn.Log.
type Turns struct {
	*Chats
	*CallLog
	*Attachments
}

// bucketTurns holds the last message of each turn that goes on: id → seq.
var bucketTurns = kind("turns_open")

// markTurn notes m as the last message of a turn that goes on, or that none does.
func markTurn(tx *bbolt.Tx, m chat.Message) error {
	if !m.Open {
		return bucketTurns.delete(tx, []byte(m.Conversation))
	}
	return bucketTurns.put(tx, []byte(m.Conversation), number(uint64(m.Seq)))
}

// isLastOfTurn reports whether the note names this message.
func isLastOfTurn(tx *bbolt.Tx, key messageKey) bool {
	raw := bucketTurns.get(tx, []byte(key.conversation))
	return len(raw) == 8 && chat.MessageSeq(lastNumber(raw)) == key.seq
}

// turnEnded deletes the note where it names this message.
func turnEnded(tx *bbolt.Tx, key messageKey) error {
	if !isLastOfTurn(tx, key) {
		return nil
	}
	return bucketTurns.delete(tx, []byte(key.conversation))
}

// endTurns marks the messages that turns were cut off at, so that readers
// see why nothing follows. The state of one that streamed shows it already.
func endTurns(tx *bbolt.Tx) (int, error) {
	b := tx.Bucket(bucketTurns)
	if b == nil {
		return 0, nil
	}
	var cut []messageKey
	_ = b.ForEach(func(k, v []byte) error { // it does not fail
		if len(v) == 8 {
			cut = append(cut, messageKey{chat.ConversationID(k), chat.MessageSeq(lastNumber(v))})
		}
		return nil
	})
	for _, key := range cut {
		if err := cutOff(tx, key); err != nil {
			return 0, err
		}
	}
	return len(cut), tx.DeleteBucket(bucketTurns)
}

func cutOff(tx *bbolt.Tx, key messageKey) error {
	var m chat.Message
	ok, err := getJSON(tx, bucketMessages, key.bytes(), &m)
	if err != nil || !ok || m.State != chat.Complete || m.Reason != "" {
		return nil //nolint:nilerr // unreadable, purged, or marked already
	}
	m.Reason = chat.EndInterrupted
	if err := putMessage(tx, m); err != nil {
		return err
	}
	return touched(tx, key.conversation)
}
