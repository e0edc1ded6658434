package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// Chats are conversations with their messages, and the trash.
type Chats struct{ *file }

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

// Begin writes a new conversation, as CreateConversation does, with its first message, as Append does, in
// one step.
func (s *Chats) Begin(ctx context.Context, c *chat.Conversation, first *chat.Message) error {
	const op = "store.begin"
	made, err := s.filled(op, *c)
	if err != nil {
		return err
	}
	made.Head, made.Last, made.Revision, made.Spent = 0, 0, 1, &chat.Usage{}
	first.Conversation = made.ID
	messages := s.dated(first)
	err = s.write(ctx, op, func(tx *bbolt.Tx) error {
		if err := unused(tx, op, made.ID); err != nil {
			return err
		}
		if err := putConversation(tx, nil, made); err != nil {
			return err
		}
		made, err = s.append(tx, op, s.now(), messages)
		return err
	})
	if err == nil {
		s.appended(messages, first)
		*c = made
	}
	return err
}

func (s *Chats) create(ctx context.Context, op string, c *chat.Conversation, messages []chat.Message) error {
	made, err := s.filled(op, *c)
	if err != nil {
		return err
	}
	made.Last, made.Revision = chat.MessageSeq(len(messages)), uint64(len(messages))+1
	made.Head = made.Last
	err = s.write(ctx, op, func(tx *bbolt.Tx) error {
		if err := unused(tx, op, made.ID); err != nil {
			return err
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

// filled returns a new conversation with an ID and times.
func (s *Chats) filled(op string, c chat.Conversation) (chat.Conversation, error) {
	if c.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return c, fmt.Errorf("make an id for a chat: %w", err)
		}
		c.ID = chat.ConversationID(id.String())
	}
	if c.Created.IsZero() {
		c.Created = s.now()
	}
	if c.Updated.IsZero() {
		c.Updated = c.Created
	}
	return c, checkID(op, "chat", string(c.ID))
}

// unused fails with the kind Conflict where there is a conversation with this ID, in the trash too.
func unused(tx *bbolt.Tx, op string, id chat.ConversationID) error {
	if bucketConversations.get(tx, []byte(id)) != nil || inTrash(tx, id) || lastBelow(tx, bucketOutline, string(id)) != 0 {
		return fault.New(fault.Conflict, op, fmt.Sprintf("There is a chat %s already.", id), "")
	}
	return nil
}

// Conversation reads one conversation. The kind is NotFound when there is none.
func (s *Chats) Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error) {
	const op = "store.conversation"
	c, err := read(ctx, s.file, op, func(tx *bbolt.Tx) (chat.Conversation, error) { return getConversation(tx, op, id) })
	if err == nil {
		s.waiting.addDraft(&c)
	}
	return c, err
}

// Found calls do with each of these conversations that is there and is archived, or not, in their order. Most of
// what a search finds is only counted, so a conversation is decoded when do calls read.
func (s *Chats) Found(ctx context.Context, ids []chat.ConversationID, archived bool,
	do func(read func() (chat.Conversation, error)),
) error {
	const op = "store.found"
	return s.view(ctx, op, func(tx *bbolt.Tx) error {
		for _, id := range ids {
			read := func() (chat.Conversation, error) {
				c, err := getConversation(tx, op, id)
				s.waiting.addDraft(&c)
				return c, err
			}
			raw := bucketConversations.get(tx, []byte(id))
			is := bytes.Contains(raw, []byte(`"archived":true`)) // as encode writes it
			if is {                                              // or a member of something else in it
				c, err := read()
				is = err == nil && c.Archived
			}
			if raw != nil && is == archived {
				do(read)
			}
		}
		return nil
	})
}

// Project returns the project of a conversation, "" for none. The kind is NotFound when there is no such
// conversation. Each call of a tool asks for it, so it has nothing committed that rounds of turns wrote ahead.
func (s *Chats) Project(ctx context.Context, id chat.ConversationID) (project string, err error) {
	const op = "store.project"
	err = s.viewCommitted(ctx, op, func(tx *bbolt.Tx) error {
		var c struct{ Project string }
		ok, err := getJSON(tx, bucketConversations, []byte(id), &c)
		if err == nil && !ok {
			err = noConversation(op, id)
		}
		project = c.Project
		return err
	})
	return project, err
}

// UpdateConversation reads, changes and writes one conversation in one step.
// change must not call the store. ID, Last and Created cannot be changed,
// Head only to a message there is, and Temporary only to false. Updated stays as change leaves it: to rename
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
		c.Temporary = c.Temporary && old.Temporary
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
	page := chat.Page{Conversations: []chat.Conversation{}}
	err := s.eachListed(ctx, o, func(tx *bbolt.Tx, key []byte) {
		page.Total++
		if page.Total <= o.Offset || o.Limit > 0 && len(page.Conversations) == o.Limit {
			return
		}
		var c chat.Conversation
		if ok, err := getJSON(tx, bucketConversations, key[8:], &c); err != nil || !ok {
			s.log.Warn("A chat cannot be read and is left out of the list.", "conversation", string(key[8:]), "err", err)
			return
		}
		page.Conversations = append(page.Conversations, c)
	})
	for i := range page.Conversations {
		s.waiting.addDraft(&page.Conversations[i])
	}
	return page, err
}

// recentDays is the number of days that each have a heading.
const recentDays = 7

// Days counts the conversations that List takes with o, by the day or the month
// of their last change, in List's order. It decodes none of them.
func (s *Chats) Days(ctx context.Context, o chat.ListOptions) ([]chat.Day, error) {
	now := s.now().Local()
	recent := time.Date(now.Year(), now.Month(), now.Day()-recentDays+1, 0, 0, 0, 0, now.Location())
	days := []chat.Day{}
	err := s.eachListed(ctx, o, func(_ *bbolt.Tx, key []byte) {
		at := time.Unix(0, int64(lastNumber(key[:8]))).Local()
		name := at.Format("2006-01")
		if !at.Before(recent) {
			name = at.Format("2006-01-02")
		}
		if n := len(days); n > 0 && days[n-1].Key == name {
			days[n-1].Count++
			return
		}
		days = append(days, chat.Day{Key: name, Count: 1})
	})
	return days, err
}

// eachListed visits the keys of the list that o takes, last changed first.
func (s *Chats) eachListed(ctx context.Context, o chat.ListOptions, visit func(tx *bbolt.Tx, key []byte)) error {
	words := strings.Fields(strings.ToLower(o.Query))
	return s.view(ctx, "store.list", func(tx *bbolt.Tx) error {
		cursor := bucket(tx, bucketByUpdated).Cursor()
		for k, v := cursor.Last(); k != nil; k, v = cursor.Prev() {
			if listed(v, o, words) {
				visit(tx, k)
			}
		}
		return nil
	})
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
	ok, err := getJSON(tx, bucketConversations, []byte(id), &c)
	if err == nil && !ok {
		err = noConversation(op, id)
	}
	return c, err
}

func noConversation(op string, id chat.ConversationID) error {
	return fault.New(fault.NotFound, op, fmt.Sprintf("There is no chat %.80q.", string(id)),
		"It may have been deleted; conclave chats list shows what there is.")
}

// putConversation writes c and its place in the list. old is the record it
// replaces, or nil. A new title, or a new conversation, is a change for the
// full-text index, and so are all messages of one that is no longer temporary.
func putConversation(tx *bbolt.Tx, old *chat.Conversation, c chat.Conversation) error {
	if old != nil && !bytes.Equal(listKey(*old), listKey(c)) {
		if err := bucketByUpdated.delete(tx, listKey(*old)); err != nil {
			return err
		}
	}
	if err := putListed(tx, c); err != nil {
		return err
	}
	stays := old != nil && old.Temporary && !c.Temporary
	if stays {
		if err := bucketTemporary.delete(tx, []byte(c.ID)); err != nil {
			return err
		}
		if err := logAll(tx, c.ID); err != nil {
			return err
		}
	}
	if stays || old == nil || old.Title != c.Title {
		if err := logChange(tx, messageKey{c.ID, 0}); err != nil {
			return err
		}
	}
	return bucketConversations.putJSON(tx, []byte(c.ID), c)
}

// putListed writes the place of a conversation in the list, or among the temporary ones.
func putListed(tx *bbolt.Tx, c chat.Conversation) error {
	list, at, row := bucketByUpdated, listKey(c), listRow(c)
	if c.Temporary {
		list, at, row = bucketTemporary, []byte(c.ID), []byte{}
	}
	if have := list.get(tx, at); have != nil && bytes.Equal(have, row) { // a round of a turn leaves it as it is
		return nil
	}
	return list.put(tx, at, row)
}

// touch sets the time of the last change, which is exact to a second: so the rounds of a turn leave the
// place in the list as it is. What a person says is exact.
func touch(c *chat.Conversation, now time.Time, m chat.Message) {
	if since := now.Sub(c.Updated); m.Role == chat.RoleUser || since < 0 || since >= time.Second {
		c.Updated = now
	}
}

// spend adds to what a chat used what a message of it is now known to have used. A chat
// of an older version, which has no sum, is summed up the first time.
func spend(tx *bbolt.Tx, c *chat.Conversation, was, is *chat.Usage) {
	switch {
	case is == nil || was != nil: // it is counted once
	case c.Spent != nil:
		c.Spend(*is)
	default:
		sum := spent(tx, c.ID) // with is, which is written
		if c.TitleUsage != nil {
			sum = sum.Add(*c.TitleUsage)
		}
		c.Spent = &sum
	}
}

// spent returns what all messages of a chat used, those not seen any more too.
func spent(tx *bbolt.Tx, id chat.ConversationID) (sum chat.Usage) {
	type used struct {
		Usage *chat.Usage `json:"usage"`
	}
	_ = eachOf(tx, bucketMessages, prefix(string(id)), func(_ []byte, m used) error { // it does not fail
		if m.Usage != nil {
			sum = sum.Add(*m.Usage)
		}
		return nil
	}, nil)
	return sum
}
