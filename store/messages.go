package store

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// Append gives messages of one conversation its next numbers, writes them durably and in one step, and
// makes the last one the conversation's head. The first one's Parent must be 0 or a message there is
// (kind Invalid); each other one answers the one before it. With Open of the last a kill before the
// turn's next message leaves it marked as interrupted. It fills Seq and Parent, and Created where that
// is zero. The kind is NotFound when there is no such conversation.
func (s *Chats) Append(ctx context.Context, messages ...*chat.Message) error {
	const op = "store.append"
	made := s.dated(messages...)
	var open []chat.Message
	if !slices.ContainsFunc(made, func(m chat.Message) bool { return !m.Open }) {
		open = made
	}
	err := s.writeAt(ctx, op, func(tx *bbolt.Tx, at time.Time) error {
		_, err := s.append(tx, op, at, made)
		return err
	}, open)
	if err == nil {
		s.appended(made, messages...)
	}
	return err
}

// dated returns copies of new messages, each with a time.
func (s *Chats) dated(messages ...*chat.Message) []chat.Message {
	made := make([]chat.Message, len(messages))
	for i, m := range messages {
		if made[i] = *m; m.Created.IsZero() {
			made[i].Created = s.now()
		}
	}
	return made
}

// append writes new messages of one conversation, and fills their numbers. It returns the conversation with
// them.
func (s *Chats) append(tx *bbolt.Tx, op string, at time.Time, made []chat.Message) (chat.Conversation, error) {
	old, err := getConversation(tx, op, made[0].Conversation)
	if err != nil {
		return old, err
	}
	if p := made[0].Parent; p != 0 && bucket(tx, bucketOutline).Get(messageKey{old.ID, p}.bytes()) == nil {
		return old, fault.New(fault.Invalid, op,
			fmt.Sprintf("A message cannot answer message %d of this chat: there is none.", p), "")
	}
	c := old
	for i := range made {
		if i > 0 {
			made[i].Parent = c.Last
		}
		c.Last++
		c.Revision++
		made[i].Seq = c.Last
		if err := s.putNew(tx, at, made[i]); err != nil {
			return old, err
		}
		spend(tx, &c, nil, made[i].Usage)
	}
	c.Head = c.Last
	touch(&c, at, made[0])
	if err := markTurn(tx, made[len(made)-1]); err != nil {
		return old, err
	}
	return c, putConversation(tx, &old, c)
}

// appended gives messages what was written of them.
func (s *Chats) appended(made []chat.Message, messages ...*chat.Message) {
	s.waiting.addSent(made)
	for i, m := range messages {
		m.Seq, m.Parent, m.Created = made[i].Seq, made[i].Parent, made[i].Created
	}
}

// putNew writes a new message, and begins its journal if it streams.
func (s *Chats) putNew(tx *bbolt.Tx, at time.Time, m chat.Message) error {
	if err := putMessage(tx, m); err != nil {
		return err
	}
	if err := s.putSentOf(tx, m); err != nil || m.State != chat.Streaming {
		return err
	}
	return bucket(tx, bucketJournal).Put(keyOf(m).bytes(), timeKey(at))
}

// UpdateMessages reads messages of a conversation, has change change them, and writes
// them durably, all in one step. Open of each says whether the store has it noted as
// the last of a turn that goes on. One that streams is given with its newest text; its
// journal ends when it does not stream any more. Its parent cannot be changed (kind
// Invalid). change must be quick and not use the store; its error leaves everything as
// it was, and is returned. The kind is NotFound when the conversation or one of the
// messages is not there.
func (s *Chats) UpdateMessages(
	ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq, change func(messages []chat.Message) error,
) error {
	const op = "store.update_messages"
	var ended []messageKey
	var sent []chat.Message
	err := s.write(ctx, op, func(tx *bbolt.Tx) error {
		old, err := getConversation(tx, op, id)
		if err != nil {
			return err
		}
		messages, err := getMessages(ctx, tx, op, id, seqs)
		if err != nil {
			return err
		}
		messages = s.waiting.freshen(messages)
		for i := range messages {
			messages[i].Open = isLastOfTurn(tx, keyOf(messages[i]))
		}
		was := slices.Clone(messages)
		if err := change(messages); err != nil {
			return err
		}
		c := old
		for i, m := range messages {
			m.Conversation, m.Seq = id, was[i].Seq
			if m.Parent != was[i].Parent {
				return fault.New(fault.Invalid, op,
					fmt.Sprintf("Message %d answers message %d, which cannot be changed to %d.", m.Seq, was[i].Parent, m.Parent), "")
			}
			if m.Created.IsZero() {
				m.Created = was[i].Created
			}
			if err := s.rewriteMessage(tx, m); err != nil {
				return err
			}
			sent = append(sent, m)
			if m.State != chat.Streaming {
				ended = append(ended, keyOf(m))
			}
			spend(tx, &c, was[i].Usage, m.Usage)
			touch(&c, s.now(), m)
		}
		c.Revision++
		return putConversation(tx, &old, c)
	})
	if err == nil {
		s.waiting.addSent(sent)
		for _, key := range ended {
			s.waiting.forget(key)
		}
	}
	return err
}

// rewriteMessage writes a message over its record, and begins its journal again or ends
// it.
func (s *Chats) rewriteMessage(tx *bbolt.Tx, m chat.Message) error {
	key := keyOf(m)
	if err := putMessage(tx, m); err != nil {
		return err
	}
	if err := s.putSentOf(tx, m); err != nil {
		return err
	}
	var begin []byte
	if m.State == chat.Streaming {
		begin = timeKey(s.now())
	}
	if err := startJournal(tx, key.bytes(), begin); err != nil {
		return err
	}
	tx.OnCommit(func() { delete(s.waiting.journalled, key) })
	if m.Open {
		return markTurn(tx, m)
	}
	return turnEnded(tx, key)
}

// Path reads the visible messages of a conversation, first to head. A message
// that streams has its newest text. For a long conversation, Outline and
// Messages read only what is looked at.
func (s *Chats) Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error) {
	const op = "store.path"
	path, err := read(ctx, s.file, op, func(tx *bbolt.Tx) ([]chat.Message, error) {
		seqs, err := visiblePath(tx, op, id)
		if err != nil {
			return nil, err
		}
		return getMessages(ctx, tx, op, id, seqs)
	})
	return s.waiting.freshen(path), err
}

// visiblePath returns the messages of a conversation from the first to its head.
func visiblePath(tx *bbolt.Tx, op string, id chat.ConversationID) ([]chat.MessageSeq, error) {
	c, err := getConversation(tx, op, id)
	if err != nil {
		return nil, err
	}
	return pathTo(tx, id, c.Head)
}

// pathChunk is the number of messages EachOnPath reads at once: enough to hide the cost of a transaction, and
// some hundred kilobytes.
const pathChunk = 256

// EachOnPath calls do with each visible message of a conversation as Path has it, first to head, and
// holds few of them in the memory. The path is that of its beginning; do may use the store, and its error
// ends the walk.
func (s *Chats) EachOnPath(ctx context.Context, id chat.ConversationID, do func(chat.Message) error) error {
	const op = "store.path"
	path, err := read(ctx, s.file, op, func(tx *bbolt.Tx) ([]chat.MessageSeq, error) { return visiblePath(tx, op, id) })
	if err != nil {
		return err
	}
	for some := range slices.Chunk(path, pathChunk) {
		messages, err := s.Messages(ctx, id, some)
		if err != nil {
			return err
		}
		for _, m := range messages {
			if err := do(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Messages reads the named messages of a conversation, in the order asked. The
// kind is NotFound when one of them is not there.
func (s *Chats) Messages(ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq) ([]chat.Message, error) {
	const op = "store.messages"
	found, err := read(ctx, s.file, op, func(tx *bbolt.Tx) ([]chat.Message, error) {
		if _, err := getConversation(tx, op, id); err != nil {
			return nil, err
		}
		return getMessages(ctx, tx, op, id, seqs)
	})
	return s.waiting.freshen(found), err
}

// Message reads one message.
func (s *Chats) Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error) {
	found, err := s.Messages(ctx, id, []chat.MessageSeq{seq})
	if err != nil {
		return chat.Message{}, err
	}
	return found[0], nil
}

func keyOf(m chat.Message) messageKey { return messageKey{m.Conversation, m.Seq} }

func noMessage(op string, id chat.ConversationID, seq chat.MessageSeq) error {
	return fault.New(fault.NotFound, op, fmt.Sprintf("The chat %s has no message %d.", id, seq), "")
}

// spareMessages is the room behind messages that are read, so that a turn adds its own without a copy of a
// long chat.
const spareMessages = 16

// getMessages decodes the named messages.
func getMessages(ctx context.Context, tx *bbolt.Tx, op string, id chat.ConversationID,
	seqs []chat.MessageSeq,
) ([]chat.Message, error) {
	found := make([]chat.Message, len(seqs), len(seqs)+spareMessages)
	raw := make([][]byte, len(seqs))
	cursor := bucket(tx, bucketMessages).Cursor()
	records := neighbours{cursor: cursor, step: cursor.Next}
	for i, seq := range seqs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if raw[i] = records.get(messageKey{id, seq}.bytes()); raw[i] == nil {
			return nil, noMessage(op, id, seq)
		}
	}
	failed := decodeAll(ctx, raw, found)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, i := range failed {
		var err error
		if found[i], err = unreadable(tx, messageKey{id, seqs[i]}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// decodeAtOnce is the number of messages a goroutine decodes at a time: what a transcript shows is decoded
// by the one that asks.
const decodeAtOnce = 256

// decodeAll decodes records into found, on all processors where they are many, and returns which of them
// cannot be read. It stops when ctx ends.
func decodeAll(ctx context.Context, raw [][]byte, found []chat.Message) (failed []int) {
	var (
		next atomic.Int64
		mu   sync.Mutex // guards failed
		wg   sync.WaitGroup
	)
	work := func() {
		var reader plainReader
		for ctx.Err() == nil {
			from := int(next.Add(decodeAtOnce)) - decodeAtOnce
			if from >= len(raw) {
				return
			}
			for i := from; i < min(from+decodeAtOnce, len(raw)); i++ {
				if reader.message(raw[i], &found[i]) != nil {
					mu.Lock()
					failed = append(failed, i)
					mu.Unlock()
				}
			}
		}
	}
	for range min(runtime.GOMAXPROCS(0), len(raw)/decodeAtOnce+1) - 1 {
		wg.Go(work) // ends with the last record
	}
	work()
	wg.Wait()
	return failed
}

// unreadable returns what stands for a message whose record cannot be read, so
// that the rest of its conversation can be.
func unreadable(tx *bbolt.Tx, key messageKey) (chat.Message, error) {
	e, err := parseRow(key.seq, bucket(tx, bucketOutline).Get(key.bytes()))
	return chat.Message{
		Conversation: key.conversation, Seq: key.seq, Parent: e.Parent, Turn: e.Turn, Role: e.Role, Hidden: e.Hidden,
		Parts: []chat.Part{}, State: chat.Failed, Created: e.Created,
		Error: &chat.Failure{
			Kind: string(fault.Damaged), Message: "This message cannot be read: its record in the store is damaged.",
			Hint: "An older copy of the store may have it; conclave doctor lists the copies.",
		},
	}, err
}

// putMessage writes a message and all that is derived from it.
func putMessage(tx *bbolt.Tx, m chat.Message) error {
	key := keyOf(m).bytes()
	if err := bucketMessages.putJSON(tx, key, m); err != nil {
		return err
	}
	return deriveMessage(tx, key, m)
}

// deriveMessage writes what is derived from a message.
func deriveMessage(tx *bbolt.Tx, key []byte, m chat.Message) error {
	if err := bucket(tx, bucketOutline).Put(key, outlineRow(entryOf(m))); err != nil {
		return err
	}
	if err := refer(tx, m.Conversation, m.Parts); err != nil {
		return err
	}
	return logChange(tx, keyOf(m))
}

// clone returns a copy of m that shares nothing with it that a turn goes on to
// change.
func clone(m chat.Message) chat.Message {
	m.Parts, m.Notes = slices.Clone(m.Parts), slices.Clone(m.Notes)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Call != nil {
			c := *p.Call
			p.Call = &c
		}
		if p.Result != nil {
			r := *p.Result
			r.Content = slices.Clone(r.Content)
			p.Result = &r
		}
		if p.Media != nil {
			media := *p.Media
			media.Data = nil
			p.Media = &media
		}
	}
	if m.Usage != nil {
		u := *m.Usage
		m.Usage = &u
	}
	if m.Error != nil {
		e := *m.Error
		m.Error = &e
	}
	return m
}
