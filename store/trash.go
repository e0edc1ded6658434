package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// trashKept is how long a deleted conversation can be brought back.
const trashKept = 30 * 24 * time.Hour

// trashRecord is a deleted conversation. Its messages and calls stay where they
// are until it is purged.
type trashRecord struct {
	Conversation chat.Conversation `json:"conversation"`
	Deleted      time.Time         `json:"deleted"`
}

// Deleted is one conversation in the trash.
type Deleted struct {
	Token        string
	Conversation chat.Conversation
	At           time.Time
}

// DeleteConversation moves a conversation to the trash and returns the token
// that brings it back. After 30 days it is purged. The kind is NotFound when
// there is none.
func (s *Chats) DeleteConversation(ctx context.Context, id chat.ConversationID) (token string, err error) {
	const op = "store.delete_conversation"
	made, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make a token to undo a deletion: %w", err)
	}
	err = s.write(ctx, op, func(tx *bbolt.Tx) error {
		c, err := getConversation(tx, op, id)
		if err != nil {
			return err
		}
		was := slices.Concat([]byte(`{"conversation":`), bucket(tx, bucketConversations).Get([]byte(id)), []byte("}"))
		if err := bucket(tx, bucketConversations).Delete([]byte(id)); err != nil {
			return err
		}
		if err := bucket(tx, bucketByUpdated).Delete(listKey(c)); err != nil {
			return err
		}
		if err := logChange(tx, messageKey{id, 0}); err != nil {
			return err
		}
		return putOver(bucket(tx, bucketTrash), []byte(made.String()), was, trashRecord{c, s.now()})
	})
	if err != nil {
		return "", err
	}
	return made.String(), nil
}

// Undelete brings a deleted conversation back as it was and returns its ID. The
// kind is NotFound when it has been purged or brought back already.
func (s *Chats) Undelete(ctx context.Context, token string) (chat.ConversationID, error) {
	const op = "store.undelete"
	var id chat.ConversationID
	err := s.write(ctx, op, func(tx *bbolt.Tx) error {
		r, err := getTrash(tx, op, token)
		if err != nil {
			return err
		}
		c := r.Conversation
		c.Revision++
		id = c.ID
		var was struct {
			Conversation json.RawMessage `json:"conversation"`
		}
		if err := decode(bucket(tx, bucketTrash).Get([]byte(token)), &was); err != nil {
			return err
		}
		// putConversation keeps what it finds there and does not know.
		if err := bucket(tx, bucketConversations).Put([]byte(id), was.Conversation); err != nil {
			return err
		}
		if err := bucket(tx, bucketTrash).Delete([]byte(token)); err != nil {
			return err
		}
		if err := putConversation(tx, nil, c); err != nil {
			return err
		}
		// The full-text index has forgotten its messages.
		for _, key := range keysBelow(bucket(tx, bucketOutline), prefix(string(id))) {
			if err := logChange(tx, messageKey{id, chat.MessageSeq(lastNumber(key))}); err != nil {
				return err
			}
		}
		return nil
	})
	return id, err
}

// Trash lists the deleted conversations, last deleted first.
func (s *Chats) Trash(ctx context.Context) ([]Deleted, error) {
	all := []Deleted{}
	err := s.view(ctx, "store.trash", func(tx *bbolt.Tx) error {
		return bucket(tx, bucketTrash).ForEach(func(k, v []byte) error {
			var r trashRecord
			if err := decode(v, &r); err != nil {
				return err
			}
			all = append(all, Deleted{string(k), r.Conversation, r.Deleted})
			return nil
		})
	})
	slices.SortFunc(all, func(a, b Deleted) int { return b.At.Compare(a.At) })
	return all, err
}

// Purge deletes a conversation in the trash for good: its messages, its call
// records, its rules, the runs of its councils, and the media that nothing else names. The kind is
// NotFound when the token names none.
func (s *Chats) Purge(ctx context.Context, token string) error {
	const op = "store.purge"
	var orphans []string
	err := s.write(ctx, op, func(tx *bbolt.Tx) error {
		r, err := getTrash(tx, op, token)
		if err != nil {
			return err
		}
		orphans, err = purge(tx, r.Conversation.ID, s.now())
		if err != nil {
			return err
		}
		return bucket(tx, bucketTrash).Delete([]byte(token))
	})
	if err != nil {
		return err
	}
	return s.removeMedia(ctx, orphans)
}

func getTrash(tx *bbolt.Tx, op, token string) (trashRecord, error) {
	var r trashRecord
	ok, err := getJSON(bucket(tx, bucketTrash), []byte(token), &r)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, op, "There is nothing in the trash to bring back under that token.",
			"It was brought back already, or deleted for good.")
	}
	return r, err
}

func inTrash(tx *bbolt.Tx, id chat.ConversationID) bool {
	found := false
	_ = bucket(tx, bucketTrash).ForEach(func(_, v []byte) error {
		var r trashRecord
		found = found || decode(v, &r) == nil && r.Conversation.ID == id
		return nil
	})
	return found
}

// spendTrashed adds to what a chat in the trash used: brought back, it tells all of it.
func spendTrashed(tx *bbolt.Tx, id chat.ConversationID, more chat.Usage) error {
	trash := bucket(tx, bucketTrash)
	cursor := trash.Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		var r trashRecord
		if decode(v, &r) != nil || r.Conversation.ID != id {
			continue
		}
		r.Conversation.Spend(more)
		return putJSON(trash, k, r)
	}
	return nil
}

// purge removes all that belongs to a conversation, and returns the media that
// nothing names any more.
func purge(tx *bbolt.Tx, id chat.ConversationID, now time.Time) (orphans []string, err error) {
	start := prefix(string(id))
	for _, name := range [][]byte{bucketMessages, bucketOutline, bucketJournal} {
		if err := deleteBelow(bucket(tx, name), start); err != nil {
			return nil, err
		}
	}
	// The change log keeps one row, that of the conversation, so that an index
	// that was not there for its deletion learns of it.
	for _, key := range keysBelow(bucket(tx, bucketChanged), start) {
		if lastNumber(key) == 0 {
			continue
		}
		if err := forgetChange(tx, key); err != nil {
			return nil, err
		}
	}
	if err := logChange(tx, messageKey{id, 0}); err != nil {
		return nil, err
	}
	if err := purgeVariables(tx, id); err != nil {
		return nil, err
	}
	if err := purgeCouncils(tx, id); err != nil {
		return nil, err
	}
	if err := purgeSent(tx, id); err != nil {
		return nil, err
	}
	for _, key := range keysBelow(bucket(tx, bucketByChat), start) {
		call := number(lastNumber(key))
		if raw := bucket(tx, bucketCalls).Get(call); raw != nil {
			if r, err := decodeCall(raw); err == nil {
				if err := unindexCall(tx, r); err != nil {
					return nil, err
				}
			}
			if err := bucket(tx, bucketCalls).Delete(call); err != nil {
				return nil, err
			}
		}
	}
	if err := eraseActivity(tx, id, now); err != nil {
		return nil, err
	}
	if err := purgeGrants(tx, id); err != nil {
		return nil, err
	}
	return unrefer(tx, id)
}

func purgeGrants(tx *bbolt.Tx, id chat.ConversationID) error {
	grants := bucket(tx, bucketGrants)
	var gone [][]byte
	err := grants.ForEach(func(k, v []byte) error {
		var g gate.Rule
		if decode(v, &g) == nil && g.Conversation == id {
			gone = append(gone, slices.Clone(k))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return deleteAll(grants, gone)
}

// keysBelow returns copies of the keys that begin with start and end in a
// number.
func keysBelow(b *bbolt.Bucket, start []byte) [][]byte {
	var keys [][]byte
	cursor := b.Cursor()
	for k, _ := cursor.Seek(start); bytes.HasPrefix(k, start); k, _ = cursor.Next() {
		if len(k) == len(start)+8 {
			keys = append(keys, slices.Clone(k))
		}
	}
	return keys
}

func deleteBelow(b *bbolt.Bucket, start []byte) error { return deleteAll(b, keysBelow(b, start)) }

func deleteAll(b *bbolt.Bucket, keys [][]byte) error {
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
