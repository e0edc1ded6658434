package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"conclave/app/chat"
)

// OutlineItem holds what an outline knows of a message without decoding it.
type OutlineItem struct {
	Seq     chat.MessageSeq
	Parent  chat.MessageSeq
	Role    chat.Role
	State   chat.MessageState
	Hidden  bool
	Turn    string
	Size    int // bytes of text in its parts, to guess its height
	Created time.Time
}

// Outline is the shape of a conversation: every message's place in the tree, and
// the path a person sees. It is a snapshot.
type Outline struct {
	Conversation chat.Conversation
	// Entries are all messages in the order they were written.
	Entries []OutlineItem
	// Path are the numbers of the visible messages, first to head.
	Path []chat.MessageSeq

	// answers are all messages, those of one parent together: of the entry at i,
	// from answers[from[i+1]] up to from[i+2]; of none (0), from from[0].
	answers []chat.MessageSeq
	from    []int
}

// Outline reads the shape of a conversation. It decodes none of its messages, so
// that one of 10,000 opens in a few milliseconds. The kind is NotFound when
// there is no such conversation.
func (s *Store) Outline(ctx context.Context, id chat.ConversationID) (Outline, error) {
	const op = "store.outline"
	var o Outline
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		var err error
		if o.Conversation, err = getConversation(tx, op, id); err != nil {
			return err
		}
		o.Entries = make([]OutlineItem, 0, o.Conversation.Last)
		start := prefix(string(id))
		cursor := bucket(tx, bucketOutline).Cursor()
		for k, v := cursor.Seek(start); bytes.HasPrefix(k, start); k, v = cursor.Next() {
			e, err := parseRow(chat.MessageSeq(lastNumber(k)), v)
			if err != nil {
				return err
			}
			if n := len(o.Entries); n > 0 && o.Entries[n-1].Turn == e.Turn {
				e.Turn = o.Entries[n-1].Turn // one string for all of a turn
			}
			o.Entries = append(o.Entries, e)
		}
		return nil
	})
	if err != nil {
		return Outline{}, err
	}
	o.group()
	for seq := o.Conversation.Head; seq != 0; {
		i, ok := o.at(seq)
		if !ok || o.Entries[i].Parent >= seq {
			return Outline{}, s.asFault(op, badPath(id, seq))
		}
		o.Path = append(o.Path, seq)
		seq = o.Entries[i].Parent
	}
	slices.Reverse(o.Path)
	if draft, ok := s.pendingDraft(id); ok {
		o.Conversation.Draft = draft
	}
	return o, nil
}

// group fills answers and from. An entry whose parent is not there is nobody's
// answer.
func (o *Outline) group() {
	o.from = make([]int, len(o.Entries)+2)
	place := make([]int, len(o.Entries)) // of each entry's parent in from, or -1
	for i, e := range o.Entries {
		p, ok := -1, e.Parent == 0
		if !ok {
			p, ok = o.at(e.Parent)
		}
		if place[i] = -1; ok {
			place[i] = p + 1
			o.from[p+2]++
		}
	}
	for i := range len(o.from) - 1 {
		o.from[i+1] += o.from[i]
	}
	o.answers = make([]chat.MessageSeq, o.from[len(o.from)-1])
	next := slices.Clone(o.from)
	for i, e := range o.Entries {
		if p := place[i]; p >= 0 {
			o.answers[next[p]] = e.Seq
			next[p]++
		}
	}
}

// at returns the place of a message in Entries. Numbers have no gaps in a sound
// store, so it is nearly always the first guess.
func (o *Outline) at(seq chat.MessageSeq) (int, bool) {
	if i := int(seq) - 1; i >= 0 && i < len(o.Entries) && o.Entries[i].Seq == seq {
		return i, true
	}
	return slices.BinarySearchFunc(o.Entries, seq,
		func(e OutlineItem, seq chat.MessageSeq) int { return cmp.Compare(e.Seq, seq) })
}

// Entry returns the entry of a message and whether there is one.
func (o *Outline) Entry(seq chat.MessageSeq) (OutlineItem, bool) {
	i, ok := o.at(seq)
	if !ok {
		return OutlineItem{}, false
	}
	return o.Entries[i], true
}

// Versions returns the messages that stand in the same place as seq, oldest
// first, seq among them: what editing and regenerating made. It returns nil when
// there is no message seq.
func (o *Outline) Versions(seq chat.MessageSeq) []chat.MessageSeq {
	e, ok := o.Entry(seq)
	if !ok {
		return nil
	}
	return o.Answers(e.Parent)
}

// Answers returns the messages whose parent is seq, oldest first. 0 asks for the
// first messages of the conversation.
func (o *Outline) Answers(seq chat.MessageSeq) []chat.MessageSeq {
	i, ok := -1, seq == 0
	if !ok {
		i, ok = o.at(seq)
	}
	if !ok || len(o.from) == 0 {
		return nil
	}
	return o.answers[o.from[i+1]:o.from[i+2]:o.from[i+2]]
}

// Leaf returns the end of the branch that goes through seq and takes the newest
// message at each fork: the head to set in order to show seq.
func (o *Outline) Leaf(seq chat.MessageSeq) chat.MessageSeq {
	for {
		answers := o.Answers(seq)
		if len(answers) == 0 {
			return seq
		}
		seq = answers[len(answers)-1]
	}
}

func badPath(id chat.ConversationID, seq chat.MessageSeq) error {
	return fmt.Errorf("%w: the path of the chat %s breaks at message %d", errRecord, id, seq)
}

// pathTo returns the messages from the first to head. An answer is always
// written after what it answers, so the walk ends.
func pathTo(tx *bbolt.Tx, id chat.ConversationID, head chat.MessageSeq) ([]chat.MessageSeq, error) {
	var path []chat.MessageSeq
	b := bucket(tx, bucketOutline)
	for seq := head; seq != 0; {
		raw := b.Get(messageKey{id, seq}.bytes())
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
func entryOf(m chat.Message) OutlineItem {
	e := OutlineItem{
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

// row returns e as it is stored: parent, size and time (microseconds since 1970)
// as varints, one byte of flags, one letter each for role and state ('?' and the
// word after it for others, ended by a zero byte), and the turn.
func (e OutlineItem) row() []byte {
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

// parseRow is the reverse of OutlineItem.row.
func parseRow(seq chat.MessageSeq, row []byte) (OutlineItem, error) {
	bad := fmt.Errorf("%w: the outline of message %d cannot be read", errRecord, seq)
	parent, n := binary.Uvarint(row)
	if n <= 0 {
		return OutlineItem{}, bad
	}
	size, k := binary.Uvarint(row[n:])
	if k <= 0 {
		return OutlineItem{}, bad
	}
	n += k
	at, k := binary.Varint(row[n:])
	if n += k; k <= 0 || n >= len(row) {
		return OutlineItem{}, bad
	}
	e := OutlineItem{
		Seq: seq, Parent: chat.MessageSeq(parent), Size: int(size), Created: time.UnixMicro(at).UTC(), Hidden: row[n]&1 != 0,
	}
	rest := row[n+1:]
	var ok bool
	if e.Role, rest, ok = cutWord(roleWords, rest); !ok {
		return OutlineItem{}, bad
	}
	if e.State, rest, ok = cutWord(stateWords, rest); !ok {
		return OutlineItem{}, bad
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
