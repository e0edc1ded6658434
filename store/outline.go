package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// Outline reads the shape of a conversation. It decodes none of its messages, so
// that one of 10,000 opens in a few milliseconds. The kind is NotFound when
// there is no such conversation.
func (s *Chats) Outline(ctx context.Context, id chat.ConversationID) (chat.Outline, error) {
	const op = "store.outline"
	var o chat.Outline
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		var err error
		if o.Conversation, err = getConversation(tx, op, id); err != nil {
			return err
		}
		o.Items = make([]chat.OutlineItem, 0, o.Conversation.Last)
		start := prefix(string(id))
		cursor := bucket(tx, bucketOutline).Cursor()
		for k, v := cursor.Seek(start); bytes.HasPrefix(k, start); k, v = cursor.Next() {
			e, err := parseRow(chat.MessageSeq(lastNumber(k)), v)
			if err != nil {
				return err
			}
			if n := len(o.Items); n > 0 && o.Items[n-1].Turn == e.Turn {
				e.Turn = o.Items[n-1].Turn // one string for all of a turn
			}
			o.Items = append(o.Items, e)
		}
		return nil
	})
	if err != nil {
		return chat.Outline{}, err
	}
	for seq := o.Conversation.Head; seq != 0; {
		e, ok := o.Item(seq)
		if !ok || e.Parent >= seq {
			return chat.Outline{}, s.asFault(op, badPath(id, seq))
		}
		o.Path = append(o.Path, seq)
		seq = e.Parent
	}
	slices.Reverse(o.Path)
	s.waiting.addDraft(&o.Conversation)
	return o, nil
}

func badPath(id chat.ConversationID, seq chat.MessageSeq) error {
	return fmt.Errorf("%w: the path of the chat %s breaks at message %d", errRecord, id, seq)
}

// pathTo returns the messages from the first to head. An answer is always
// written after what it answers, so the walk ends.
func pathTo(tx *bbolt.Tx, id chat.ConversationID, head chat.MessageSeq) ([]chat.MessageSeq, error) {
	var path []chat.MessageSeq
	cursor := bucket(tx, bucketOutline).Cursor()
	rows := neighbours{cursor: cursor, step: cursor.Prev}
	for seq := head; seq != 0; {
		raw := rows.get(messageKey{id, seq}.bytes())
		if raw == nil {
			return nil, badPath(id, seq)
		}
		e, err := parseRow(seq, raw)
		if err != nil {
			return nil, err
		}
		if e.Parent >= seq {
			return nil, badPath(id, seq)
		}
		path = append(path, seq)
		seq = e.Parent
	}
	slices.Reverse(path)
	return path, nil
}

// entryOf returns what the outline knows of m.
func entryOf(m chat.Message) chat.OutlineItem {
	e := chat.OutlineItem{
		Seq: m.Seq, Parent: m.Parent, Role: m.Role, State: m.State, Hidden: m.Hidden, Turn: m.Turn, Created: m.Created,
	}
	for _, p := range m.Parts {
		e.Size += len(p.Text)
		if p.Result != nil {
			for _, q := range p.Result.Content {
				e.Size += len(q.Text)
			}
		}
	}
	return e
}

// The letters of roles and states in a row. A word that is not among them is
// written out.
var (
	roleLetters = map[chat.Role]byte{
		chat.RoleSystem: 's', chat.RoleUser: 'u', chat.RoleAssistant: 'a', chat.RoleTool: 't',
	}
	stateLetters = map[chat.MessageState]byte{
		chat.Complete: 'c', chat.Streaming: 's', chat.Stopped: 'x', chat.Interrupted: 'i', chat.Failed: 'f',
	}
	roleWords  = reversed(roleLetters)
	stateWords = reversed(stateLetters)
)

func reversed[W ~string](letters map[W]byte) map[byte]W {
	words := make(map[byte]W, len(letters))
	for w, l := range letters {
		words[l] = w
	}
	return words
}

// outlineRow returns e as it is stored: parent, size and time (microseconds since 1970)
// as varints, one byte of flags, one letter each for role and state ('?' and the
// word after it for others, ended by a zero byte), and the turn.
func outlineRow(e chat.OutlineItem) []byte {
	b := make([]byte, 0, 32+len(e.Turn))
	b = binary.AppendUvarint(b, uint64(e.Parent))
	b = binary.AppendUvarint(b, uint64(e.Size))
	b = binary.AppendVarint(b, e.Created.UnixMicro())
	var flags byte
	if e.Hidden {
		flags = 1
	}
	b = append(b, flags)
	b = appendWord(b, roleLetters, e.Role)
	b = appendWord(b, stateLetters, e.State)
	return append(b, e.Turn...)
}

func appendWord[W ~string](b []byte, letters map[W]byte, w W) []byte {
	if l, ok := letters[w]; ok {
		return append(b, l)
	}
	return append(append(append(b, '?'), w...), 0)
}

// parseRow is the reverse of outlineRow.
func parseRow(seq chat.MessageSeq, row []byte) (chat.OutlineItem, error) {
	bad := fmt.Errorf("%w: the outline of message %d cannot be read", errRecord, seq)
	parent, n := binary.Uvarint(row)
	if n <= 0 {
		return chat.OutlineItem{}, bad
	}
	size, k := binary.Uvarint(row[n:])
	if k <= 0 {
		return chat.OutlineItem{}, bad
	}
	n += k
	at, k := binary.Varint(row[n:])
	if n += k; k <= 0 || n >= len(row) {
		return chat.OutlineItem{}, bad
	}
	e := chat.OutlineItem{
		Seq: seq, Parent: chat.MessageSeq(parent), Size: int(size), Created: time.UnixMicro(at).UTC(), Hidden: row[n]&1 != 0,
	}
	rest := row[n+1:]
	var ok bool
	if e.Role, rest, ok = cutWord(roleWords, rest); !ok {
		return chat.OutlineItem{}, bad
	}
	if e.State, rest, ok = cutWord(stateWords, rest); !ok {
		return chat.OutlineItem{}, bad
	}
	e.Turn = string(rest)
	return e, nil
}

func cutWord[W ~string](words map[byte]W, b []byte) (W, []byte, bool) {
	if len(b) == 0 {
		return "", nil, false
	}
	if b[0] == '?' {
		word, rest, ok := bytes.Cut(b[1:], []byte{0})
		return W(word), rest, ok
	}
	w, ok := words[b[0]]
	return w, b[1:], ok
}
