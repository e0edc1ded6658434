package store

import (
	"context"
	"errors"
	"os"

	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// bucketTemporary holds the temporary chats, which are not in the list. It is made with the first one.
var bucketTemporary = kind("conversations_temporary") // id → nothing

// IsTemporary reports whether a chat is temporary. It is fast enough for each event of a turn.
func (s *Chats) IsTemporary(id chat.ConversationID) (is bool) {
	_ = s.viewCommitted(context.Background(), "store.temporary", func(tx *bbolt.Tx) error { // then it is not
		is = bucketTemporary.get(tx, []byte(id)) != nil
		return nil
	})
	return is
}

// Temporary returns the temporary chats.
func (s *Chats) Temporary(ctx context.Context) (ids []chat.ConversationID, err error) {
	err = s.viewCommitted(ctx, "store.temporary", func(tx *bbolt.Tx) error {
		ids = temporary(tx)
		return nil
	})
	return ids, err
}

func temporary(tx *bbolt.Tx) (ids []chat.ConversationID) {
	for _, key := range bucketTemporary.keys(tx, nil) {
		ids = append(ids, chat.ConversationID(key))
	}
	return ids
}

// purgeTemporary deletes for good the temporary chats that a killed program left.
func (s *Store) purgeTemporary(ctx context.Context) error {
	ids, err := s.Chats.Temporary(ctx)
	for _, id := range ids {
		if err == nil {
			_, err = s.Chats.DeleteConversation(ctx, id)
		}
	}
	return err
}

// withoutTemporary takes the temporary chats out of the copy of a store at path. The file is written again where it
// had any, since pages that are free hold what was in them.
func (s *file) withoutTemporary(ctx context.Context, path string) error {
	var ids []chat.ConversationID
	err := readFile(path, func(tx *bbolt.Tx) error {
		ids = temporary(tx)
		return nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	err = changeFile(path, func(tx *bbolt.Tx) error {
		for _, id := range ids {
			if err := bucketConversations.delete(tx, []byte(id)); err != nil {
				return err
			}
			if err := bucketTemporary.delete(tx, []byte(id)); err != nil {
				return err
			}
			if _, err := purge(tx, id, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	small := path + ".small"
	if err := writeCompact(ctx, path, small); err != nil {
		return errors.Join(err, os.Remove(small))
	}
	return os.Rename(small, path)
}
