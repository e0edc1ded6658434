package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// The journal of a streaming message is a record under the message's key and
// pieces under longer keys. Each piece adds the text since the one before, so
// that writes grow with the answer and not with its square. A record that holds
// more than a time is the message as it was then.

// piece holds what one write adds to a streaming message.
type piece struct {
	Parts []partPiece `json:"parts"`
	Notes []chat.Note `json:"notes,omitempty"` // all of its notes, where they changed
}

// partPiece changes one part: the one numbered At, which is new when it follows
// the last.
type partPiece struct {
	At   int        `json:"at"`
	Part *chat.Part `json:"part,omitempty"` // all but its text, when that changed
	Text string     `json:"text,omitempty"` // follows the text so far
}

// pieceKey is the key of a message's piece number n.
func pieceKey(key []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clone(key), n)
}

// since returns what has to be added to older to get newer; false when newer is
// no continuation of it.
func since(older, newer []chat.Part) (piece, bool) {
	var p piece
	if len(newer) < len(older) {
		return p, false
	}
	for i, part := range newer {
		text := part.Text
		part.Text = ""
		if i >= len(older) {
			p.Parts = append(p.Parts, partPiece{i, &part, text})
			continue
		}
		was := older[i]
		added, ok := strings.CutPrefix(text, was.Text)
		if !ok {
			return p, false
		}
		was.Text = ""
		switch {
		case !reflect.DeepEqual(was, part):
			p.Parts = append(p.Parts, partPiece{i, &part, added})
		case added != "":
			p.Parts = append(p.Parts, partPiece{i, nil, added})
		}
	}
	return p, true
}

// spoken is a message put together from its pieces. Its texts grow in buffers, so
// that many pieces cost only their length.
type spoken struct {
	parts []chat.Part
	texts []*strings.Builder // of parts
}

func (s *spoken) begin(parts []chat.Part) {
	s.parts, s.texts = nil, nil
	for _, p := range parts {
		s.append(p, p.Text)
	}
}

func (s *spoken) append(p chat.Part, text string) {
	s.parts, s.texts = append(s.parts, p), append(s.texts, &strings.Builder{})
	s.texts[len(s.texts)-1].WriteString(text)
}

func (s *spoken) add(p piece) error {
	for _, c := range p.Parts {
		switch {
		case c.At < 0 || c.At > len(s.parts) || c.At == len(s.parts) && c.Part == nil:
			return fmt.Errorf("%w: a piece of the journal is for part %d of %d", errRecord, c.At, len(s.parts))
		case c.At == len(s.parts):
			s.append(*c.Part, c.Text)
			continue
		case c.Part != nil:
			s.parts[c.At] = *c.Part
		}
		s.texts[c.At].WriteString(c.Text)
	}
	return nil
}

func (s *spoken) end() []chat.Part {
	for i := range s.parts {
		s.parts[i].Text = s.texts[i].String()
	}
	return s.parts
}

// journalled holds what the journal on the disk has of a streaming message.
type journalled struct {
	parts  []chat.Part
	notes  []chat.Note
	pieces uint64
}

// writeJournal writes what was added to a streaming message into its journal; its record
// which stays as it was.
func (q *queue) writeJournal(tx *bbolt.Tx, key messageKey, m chat.Message) error {
	b, at := bucket(tx, bucketJournal), key.bytes()
	if b.Get(at) == nil {
		q.forget(key) // it has ended, or never was
		tx.OnCommit(func() { delete(q.journalled, key) })
		return nil
	}
	was, known := q.journalled[key]
	added, follows := since(was.parts, m.Parts)
	if !slices.Equal(was.notes, m.Notes) {
		added.Notes = m.Notes
	}
	now := journalled{m.Parts, m.Notes, was.pieces + 1}
	var err error
	switch {
	case known && follows && len(added.Parts) == 0 && len(added.Notes) == 0:
		return nil
	case known && follows:
		var raw []byte
		if raw, err = encode(added); err == nil {
			err = b.Put(pieceKey(at, now.pieces), append(timeKey(q.now()), raw...))
		}
	default:
		var raw []byte
		if raw, err = encode(m); err == nil {
			now.pieces = 0
			err = startJournal(tx, at, append(timeKey(q.now()), raw...))
		}
	}
	if err != nil {
		return err
	}
	tx.OnCommit(func() { q.journalled[key] = now })
	return nil
}

// startJournal puts value in place of all that the journal has of a message; nil
// ends it.
func startJournal(tx *bbolt.Tx, key, value []byte) error {
	b := bucket(tx, bucketJournal)
	cursor := b.Cursor()
	for k, _ := cursor.Seek(key); bytes.HasPrefix(k, key); k, _ = cursor.Seek(key) {
		if err := b.Delete(slices.Clone(k)); err != nil {
			return err
		}
	}
	if value == nil {
		return nil
	}
	return b.Put(key, value)
}

// journalOf puts together what the journal has of m, whose record is at the
// cursor of the journal, and returns when it was last written. The cursor is left
// at the next message's record, which is returned too.
func journalOf(m *chat.Message, cursor *bbolt.Cursor, key, value []byte) (last time.Time, k, v []byte) {
	at := slices.Clone(key)
	var s spoken
	s.begin(m.Parts)
	readable := true
	if len(value) > 8 {
		var newer chat.Message
		if decode(value[8:], &newer) == nil {
			newer.Conversation, newer.Seq, newer.Parent, newer.Created = m.Conversation, m.Seq, m.Parent, m.Created
			newer.Hidden = m.Hidden
			*m = newer
			s.begin(m.Parts)
		} else {
			readable = false
		}
	}
	last = journalTime(value)
	for k, v = cursor.Next(); bytes.HasPrefix(k, at); k, v = cursor.Next() {
		var p piece
		if !readable || len(v) < 8 || decode(v[8:], &p) != nil || s.add(p) != nil {
			readable = false // what came before it is kept
			continue
		}
		if p.Notes != nil {
			m.Notes = p.Notes
		}
		last = journalTime(v)
	}
	m.Parts = s.end()
	return last, k, v
}

func journalTime(value []byte) time.Time {
	return time.Unix(0, int64(lastNumber(value[:8]))).UTC()
}
