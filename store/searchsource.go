package store

import (
	"context"
	"errors"
	"slices"

	"conclave/app/chat"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// SearchSource gives the full-text index its texts. It implements search.Source.
type SearchSource struct {
	*file
	chats *Chats
}

// The change log has one row for each message and each conversation, under the
// counter of its last change. Reading it from 0 is reading everything; reading
// it from where one stopped is reading what changed since.

// logChange moves key to the end of the change log.
func logChange(tx *bbolt.Tx, key messageKey) error {
	k := key.bytes()
	if err := forgetChange(tx, k); err != nil {
		return err
	}
	n, err := bucket(tx, bucketChanges).NextSequence()
	if err != nil {
		return err
	}
	return errors.Join(bucketChanges.put(tx, number(n), k), bucketChanged.put(tx, k, number(n)))
}

// logAll moves all messages of a conversation to the end of the change log.
func logAll(tx *bbolt.Tx, id chat.ConversationID) error {
	for _, key := range bucketOutline.numbered(tx, prefix(string(id))) {
		if err := logChange(tx, messageKey{id, chat.MessageSeq(lastNumber(key))}); err != nil {
			return err
		}
	}
	return nil
}

// forgetChange removes a key from the change log.
func forgetChange(tx *bbolt.Tx, key []byte) error {
	if old := bucketChanged.get(tx, key); old != nil {
		if err := bucketChanges.delete(tx, slices.Clone(old)); err != nil {
			return err
		}
	}
	return bucketChanged.delete(tx, key)
}

// newLineage begins a new history.
func newLineage(tx *bbolt.Tx) error {
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	return bucket(tx, bucketMeta).Put(keyLineage, []byte(id.String()))
}

// Lineage identifies the history of the change log. A store that was made again or
// restored from a copy has another one, and what a reader learnt from the old one's
// changes is void.
func (s *SearchSource) Lineage(ctx context.Context) (string, error) {
	return read(ctx, s.file, "store.lineage", func(tx *bbolt.Tx) (string, error) {
		return string(bucketMeta.get(tx, keyLineage)), nil
	})
}

// LastChange returns the counter of the last change, which grows with each
// message written, conversation made, renamed, deleted or brought back.
func (s *SearchSource) LastChange(ctx context.Context) (uint64, error) {
	return read(ctx, s.file, "store.last_change", func(tx *bbolt.Tx) (uint64, error) {
		return bucket(tx, bucketChanges).Sequence(), nil
	})
}

// Changes passes what changed after the counter given to fn, oldest first and
// at most limit rows, each with its counter, and returns the counter of the last one passed (after,
// when there was none). seq 0 is the conversation itself: its title, or that it is
// gone. Something that changed twice is passed once, where it changed last. fn
// runs outside any transaction and may use the store.
func (s *SearchSource) Changes(ctx context.Context, after uint64, limit int,
	fn func(n uint64, id chat.ConversationID, seq chat.MessageSeq) error,
) (uint64, error) {
	type row struct {
		n   uint64
		key messageKey
	}
	var rows []row
	err := s.view(ctx, "store.changes", func(tx *bbolt.Tx) error {
		cursor := bucket(tx, bucketChanges).Cursor()
		for k, v := cursor.Seek(number(after + 1)); k != nil && len(rows) < limit; k, v = cursor.Next() {
			key, err := parseMessageKey(v)
			if err != nil {
				return err
			}
			rows = append(rows, row{lastNumber(k), key})
		}
		return nil
	})
	if err != nil {
		return after, err
	}
	for _, r := range rows {
		if err := fn(r.n, r.key.conversation, r.key.seq); err != nil {
			return after, err
		}
		after = r.n
	}
	return after, nil
}

// Conversation is [Chats.Conversation]. A temporary one is not there.
func (s *SearchSource) Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error) {
	if s.chats.IsTemporary(id) {
		return chat.Conversation{}, noConversation("store.conversation", id)
	}
	return s.chats.Conversation(ctx, id)
}

// Message is [Chats.Message]. One of a temporary conversation is not there.
func (s *SearchSource) Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error) {
	if s.chats.IsTemporary(id) {
		return chat.Message{}, noMessage("store.message", id, seq)
	}
	return s.chats.Message(ctx, id, seq)
}
