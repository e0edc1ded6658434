package store

import (
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

// trashKept is the time in which a deleted conversation can be brought back.
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
// that brings it back. After 30 days it is purged. A temporary one is purged at once,
// and the token is empty. The kind is NotFound when there is none.
func (s *Chats) DeleteConversation(ctx context.Context, id chat.ConversationID) (token string, err error) {
	const op = "store.delete_conversation"
	made, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make a token to undo a deletion: %w", err)
	}
	token = made.String()
	var orphans []string
	err = s.write(ctx, op, func(tx *bbolt.Tx) error {
		c, err := getConversation(tx, op, id)
		if err != nil {
			return err
		}
		was := slices.Concat([]byte(`{"conversation":`), bucketConversations.get(tx, []byte(id)), []byte("}"))
		if err := bucketConversations.delete(tx, []byte(id)); err != nil {
			return err
		}
		if err := bucketByUpdated.delete(tx, listKey(c)); err != nil {
			return err
		}
		if c.Temporary {
			token = ""
			if err := bucketTemporary.delete(tx, []byte(id)); err != nil {
				return err
			}
			orphans, err = purge(tx, id, s.now())
			return err
		}
		if err := logChange(tx, messageKey{id, 0}); err != nil {
			return err
		}
		return bucketTrash.putOver(tx, []byte(token), was, trashRecord{c, s.now()})
	})
	if err != nil {
		return "", err
	}
	return token, s.removeMedia(ctx, orphans)
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
		if err := decode(bucketTrash.get(tx, []byte(token)), &was); err != nil {
			return err
		}
		// putConversation keeps what it finds there and does not know.
		if err := bucketConversations.put(tx, []byte(id), was.Conversation); err != nil {
			return err
		}
		if err := bucketTrash.delete(tx, []byte(token)); err != nil {
			return err
		}
		if err := putConversation(tx, nil, c); err != nil {
			return err
		}
		return logAll(tx, id) // the full-text index has forgotten its messages
	})
	return id, err
}

// Trash lists the deleted conversations, last deleted first.
func (s *Chats) Trash(ctx context.Context) ([]Deleted, error) {
	records, tokens, err := all[trashRecord](ctx, s.file, bucketTrash)
	deleted := make([]Deleted, len(records))
	for i, r := range records {
		deleted[i] = Deleted{tokens[i], r.Conversation, r.Deleted}
	}
	slices.SortFunc(deleted, func(a, b Deleted) int { return b.At.Compare(a.At) })
	return deleted, err
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
		return bucketTrash.delete(tx, []byte(token))
	})
	if err != nil {
		return err
	}
	return s.removeMedia(ctx, orphans)
}

func getTrash(tx *bbolt.Tx, op, token string) (trashRecord, error) {
	var r trashRecord
	ok, err := getJSON(tx, bucketTrash, []byte(token), &r)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, op, "There is nothing in the trash to bring back under that token.",
			"It was brought back already, or deleted for good.")
	}
	return r, err
}

func inTrash(tx *bbolt.Tx, id chat.ConversationID) bool {
	key, _ := trashed(tx, id)
	return key != nil
}

// trashed returns the record of a chat in the trash, and its key; nil where there is none.
func trashed(tx *bbolt.Tx, id chat.ConversationID) (key []byte, found trashRecord) {
	_ = eachOf(tx, bucketTrash, nil, func(k []byte, r trashRecord) error { // it does not fail
		if key == nil && r.Conversation.ID == id {
			key, found = slices.Clone(k), r
		}
		return nil
	}, nil)
	return key, found
}

// spendTrashed adds to what a chat in the trash used, so that it is right once it is brought back.
func spendTrashed(tx *bbolt.Tx, id chat.ConversationID, more chat.Usage) error {
	key, r := trashed(tx, id)
	if key == nil {
		return nil
	}
	r.Conversation.Spend(more)
	return bucketTrash.putJSON(tx, key, r)
}

// purge removes all that belongs to a conversation, and returns the media that
// nothing names any more.
func purge(tx *bbolt.Tx, id chat.ConversationID, now time.Time) (orphans []string, err error) {
	start := prefix(string(id))
	for _, k := range []kind{bucketMessages, bucketOutline, bucketJournal} {
		if err := k.delete(tx, k.numbered(tx, start)...); err != nil {
			return nil, err
		}
	}
	// The change log keeps one row, that of the conversation, so that an index
	// that was not there for its deletion learns about it.
	for _, key := range bucketChanged.numbered(tx, start) {
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
	for _, purge := range []func(*bbolt.Tx, chat.ConversationID) error{
		purgeVariables, purgeCouncils, purgeSent, purgeCalls,
		func(tx *bbolt.Tx, id chat.ConversationID) error { return eraseActivity(tx, id, now) },
		purgeRules,
	} {
		if err := purge(tx, id); err != nil {
			return nil, err
		}
	}
	return unrefer(tx, id)
}

// purgeCalls deletes the records of calls.
func purgeCalls(tx *bbolt.Tx, id chat.ConversationID) error {
	for _, key := range bucketByChat.numbered(tx, prefix(string(id))) {
		call := number(lastNumber(key))
		raw := bucketCalls.get(tx, call)
		if raw == nil {
			continue
		}
		if r, err := decodeCall(raw); err == nil {
			for p := range places(r) {
				if err := p.delete(tx); err != nil {
					return err
				}
			}
		}
		if err := bucketCalls.delete(tx, call); err != nil {
			return err
		}
	}
	return nil
}

// purgeRules deletes the rules that hold in the chat alone.
func purgeRules(tx *bbolt.Tx, id chat.ConversationID) error {
	var gone [][]byte
	_ = eachOf(tx, bucketGrants, nil, func(k []byte, r gate.Rule) error { // it does not fail
		if r.Conversation == id {
			gone = append(gone, slices.Clone(k))
		}
		return nil
	}, nil)
	return bucketGrants.delete(tx, gone...)
}
