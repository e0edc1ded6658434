package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// CreateConversation writes a new conversation and fills what is empty of its
// ID, Created and Updated. Head, Last and Revision are the store's. The kind is
// Conflict when there is one with that ID, in the trash too.
func (s *Chats) CreateConversation(ctx context.Context, c *chat.Conversation) error {
	return s.create(ctx, "store.create_conversation", c, nil)
}

// ImportConversation writes a new conversation, as CreateConversation does, with
// these messages: each answers the one before it. All of it is written, or
// nothing.
func (s *Chats) ImportConversation(ctx context.Context, c *chat.Conversation, messages []chat.Message) error {
	return s.create(ctx, "store.import_conversation", c, messages)
}

func (s *Chats) create(ctx context.Context, op string, c *chat.Conversation, messages []chat.Message) error {
	made := *c
	if made.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make an id for a chat: %w", err)
		}
		made.ID = chat.ConversationID(id.String())
	}
	if err := checkID(op, "chat", string(made.ID)); err != nil {
		return err
	}
	if made.Created.IsZero() {
		made.Created = s.now()
	}
	if made.Updated.IsZero() {
		made.Updated = made.Created
	}
	made.Last, made.Revision = chat.MessageSeq(len(messages)), uint64(len(messages))+1
	made.Head = made.Last
	err := s.write(ctx, op, func(tx *bbolt.Tx) error {
		if bucket(tx, bucketConversations).Get([]byte(made.ID)) != nil || inTrash(tx, made.ID) || lastSeq(tx, made.ID) != 0 {
			return fault.New(fault.Conflict, op, fmt.Sprintf("There is a chat %s already.", made.ID), "")
		}
		for i, m := range messages {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			m.Conversation, m.Seq, m.Parent = made.ID, chat.MessageSeq(i+1), chat.MessageSeq(i)
			if m.Created.IsZero() {
				m.Created = made.Created
			}
			if err := putMessage(tx, m); err != nil {
				return err
			}
		}
		sum := spent(tx, made.ID)
		made.Spent = &sum
		return putConversation(tx, nil, made)
	})
	if err == nil {
		*c = made
	}
	return err
}

// Conversation reads one conversation. The kind is NotFound when there is none.
func (s *Chats) Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error) {
	const op = "store.conversation"
	var c chat.Conversation
	err := s.view(ctx, op, func(tx *bbolt.Tx) (err error) {
		c, err = getConversation(tx, op, id)
		return err
	})
	if draft, ok := s.pendingDraft(id); ok && err == nil {
		c.Draft = draft
	}
	return c, err
}

// UpdateConversation reads, changes and writes one conversation in one step.
// change must not call the store. ID, Last and Created cannot be changed, and
// Head only to a message there is. Updated stays as change leaves it: to rename
// or pin a chat does not move it up the list. The kind is NotFound when there is
// none.
func (s *Chats) UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error {
	const op = "store.update_conversation"
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		old, err := getConversation(tx, op, id)
		if err != nil {
			return err
		}
		c := old
		c.Tools, c.Digests = slices.Clone(old.Tools), maps.Clone(old.Digests)
		change(&c)
		c.ID, c.Last, c.Created, c.Revision = old.ID, old.Last, old.Created, old.Revision+1
		if c.Head != 0 && c.Head != old.Head {
			if bucket(tx, bucketOutline).Get(messageKey{id, c.Head}.bytes()) == nil {
				return noMessage(op, id, c.Head)
			}
		}
		return putConversation(tx, &old, c)
	})
}

// List returns a page of the conversations, last changed first. It reads titles
// and marks from an index and decodes only what it returns.
func (s *Chats) List(ctx context.Context, o chat.ListOptions) (chat.Page, error) {
	const op = "store.list"
	page := chat.Page{Conversations: []chat.Conversation{}}
	words := strings.Fields(strings.ToLower(o.Query))
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		all := bucket(tx, bucketConversations)
		cursor := bucket(tx, bucketByUpdated).Cursor()
		for k, v := cursor.Last(); k != nil; k, v = cursor.Prev() {
			if !listed(v, o, words) {
				continue
			}
			page.Total++
			if page.Total <= o.Offset || o.Limit > 0 && len(page.Conversations) == o.Limit {
				continue
			}
			var c chat.Conversation
			if ok, err := getJSON(all, k[8:], &c); err != nil || !ok {
				s.log.Warn("A chat cannot be read and is left out of the list.", "conversation", string(k[8:]), "err", err)
				continue
			}
			page.Conversations = append(page.Conversations, c)
		}
		return nil
	})
	for i := range page.Conversations {
		if draft, ok := s.pendingDraft(page.Conversations[i].ID); ok {
			page.Conversations[i].Draft = draft
		}
	}
	return page, err
}

// The flags in a row of bucketByUpdated.
const (
	flagPinned = 1 << iota
	flagArchived
)

// maxFolded bounds the title in the list's index, in bytes.
const maxFolded = 512

func listed(row []byte, o chat.ListOptions, words []string) bool {
	if len(row) == 0 || !o.Pinned.Takes(row[0]&flagPinned != 0) || !o.Archived.Takes(row[0]&flagArchived != 0) {
		return false
	}
	for _, w := range words {
		if !bytes.Contains(row[1:], []byte(w)) {
			return false
		}
	}
	return true
}

func listKey(c chat.Conversation) []byte { return append(timeKey(c.Updated), c.ID...) }

func listRow(c chat.Conversation) []byte {
	var flags byte
	if c.Pinned {
		flags |= flagPinned
	}
	if c.Archived {
		flags |= flagArchived
	}
	title := strings.ToLower(c.Title)
	if len(title) > maxFolded {
		title = title[:maxFolded]
		for !utf8.ValidString(title) && len(title) > maxFolded-utf8.UTFMax {
			title = title[:len(title)-1]
		}
	}
	return append([]byte{flags}, title...)
}

func getConversation(tx *bbolt.Tx, op string, id chat.ConversationID) (chat.Conversation, error) {
	var c chat.Conversation
	ok, err := getJSON(bucket(tx, bucketConversations), []byte(id), &c)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, op, fmt.Sprintf("There is no chat %.80q.", string(id)),
			"It may have been deleted; conclave chats list shows what there is.")
	}
	return c, err
}

// putConversation writes c and its place in the list. old is the record it
// replaces, or nil. A new title, or a new conversation, is a change for the
// full-text index.
func putConversation(tx *bbolt.Tx, old *chat.Conversation, c chat.Conversation) error {
	list := bucket(tx, bucketByUpdated)
	if old != nil {
		if err := list.Delete(listKey(*old)); err != nil {
			return err
		}
	}
	if err := list.Put(listKey(c), listRow(c)); err != nil {
		return err
	}
	if old == nil || old.Title != c.Title {
		if err := logChange(tx, messageKey{c.ID, 0}); err != nil {
			return err
		}
	}
	return putJSON(bucket(tx, bucketConversations), []byte(c.ID), c)
}

// lastSeq returns the highest message number there is of a conversation, whether
// or not there is a record of it.
func lastSeq(tx *bbolt.Tx, id chat.ConversationID) chat.MessageSeq {
	cursor := bucket(tx, bucketOutline).Cursor()
	end := messageKey{id, ^chat.MessageSeq(0)}.bytes()
	k, _ := cursor.Seek(end)
	if k == nil {
		k, _ = cursor.Last()
	} else {
		k, _ = cursor.Prev()
	}
	if !bytes.HasPrefix(k, prefix(string(id))) {
		return 0
	}
	return chat.MessageSeq(lastNumber(k))
}
