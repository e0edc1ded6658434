package store

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"conclave/app/chat"
)

// plainReader reads the records of messages that are one text, as encode writes them: nearly all of a long
// chat are. That takes a fraction of the time that encoding/json needs for any JSON; what is not as
// expected is left to it. It is for one goroutine. The zero value is ready.
type plainReader struct {
	rest  []byte
	turn  string            // of the message before
	words map[string]string // values that many messages have, once each
}

// message decodes a record.
func (r *plainReader) message(raw []byte, m *chat.Message) error {
	if r.plain(raw, m) {
		return nil
	}
	*m = chat.Message{}
	return decode(raw, m)
}

// plain reads a record and reports whether it is one of the usual ones; else m is filled in part.
func (r *plainReader) plain(raw []byte, m *chat.Message) bool {
	r.rest = raw
	var text, word string
	ok := r.skip(`{"conversation":`) && r.word(&word)
	m.Conversation = chat.ConversationID(word)
	ok = ok && r.skip(`,"seq":`) && r.number((*uint64)(&m.Seq)) && r.skip(`,"parent":`) && r.number((*uint64)(&m.Parent))
	if ok && r.skip(`,"turn":`) {
		var inside []byte
		if inside, ok = r.literal(); string(inside) != r.turn {
			r.turn = string(inside)
		}
		m.Turn = r.turn
	}
	ok = ok && r.skip(`,"role":`) && r.word(&word)
	m.Role = chat.Role(word)
	ok = ok && r.skip(`,"parts":[{"kind":"text","text":`) && r.text(&text) && r.skip(`}]`)
	if !ok {
		return false
	}
	m.Parts = []chat.Part{{Kind: chat.PartText, Text: text}}
	if r.skip(`,"model":`) && !r.word(&m.Model) {
		return false
	}
	if !r.skip(`,"state":`) || !r.word(&word) {
		return false
	}
	m.State = chat.MessageState(word)
	if r.skip(`,"reason":`) {
		ok = r.word(&word)
		m.Reason = chat.EndReason(word)
	}
	m.Hidden = r.skip(`,"hidden":true`)
	if r.skip(`,"usage":`) {
		ok = ok && r.usage(m)
	}
	ok = ok && r.skip(`,"created":`) && r.time(&m.Created)
	if ok && r.skip(`,"ended":`) {
		ok = r.time(&m.Ended)
	}
	return ok && string(r.rest) == "}"
}

// skip reads what is expected next, if it is there.
func (r *plainReader) skip(next string) bool {
	if len(r.rest) < len(next) || string(r.rest[:len(next)]) != next {
		return false
	}
	r.rest = r.rest[len(next):]
	return true
}

// literal returns the inside of a string without escapes.
func (r *plainReader) literal() ([]byte, bool) {
	if len(r.rest) == 0 || r.rest[0] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(r.rest[1:], '"') + 1
	if end == 0 {
		return nil, false
	}
	inside := r.rest[1:end]
	for _, c := range inside {
		if c < ' ' || c == '\\' {
			return nil, false
		}
	}
	if !utf8.Valid(inside) {
		return nil, false
	}
	r.rest = r.rest[end+1:]
	return inside, true
}

// word reads a string that other messages may have too.
func (r *plainReader) word(to *string) bool {
	inside, ok := r.literal()
	if !ok {
		return false
	}
	known, there := r.words[string(inside)]
	if !there {
		if known = string(inside); r.words == nil || len(r.words) > mostWords {
			r.words = map[string]string{}
		}
		r.words[known] = known
	}
	*to = known
	return true
}

// mostWords bounds the values that a reader knows.
const mostWords = 64

// text reads a string.
func (r *plainReader) text(to *string) bool {
	if inside, ok := r.literal(); ok {
		*to = string(inside)
		return true
	}
	for i := 1; i < len(r.rest); i++ {
		switch r.rest[i] {
		case '\\':
			i++
		case '"':
			err := json.Unmarshal(r.rest[:i+1], to)
			r.rest = r.rest[i+1:]
			return err == nil
		}
	}
	return false
}

// number reads a whole number.
func (r *plainReader) number(to *uint64) bool {
	n, digits := uint64(0), 0
	for digits < len(r.rest) && r.rest[digits] >= '0' && r.rest[digits] <= '9' {
		n = n*10 + uint64(r.rest[digits]-'0')
		digits++
	}
	if digits == 0 || digits > 18 || digits > 1 && r.rest[0] == '0' {
		return false
	}
	*to, r.rest = n, r.rest[digits:]
	return true
}

// usage reads the usage of a message.
func (r *plainReader) usage(m *chat.Message) bool {
	end := bytes.IndexByte(r.rest, '}') + 1
	if end == 0 || json.Unmarshal(r.rest[:end], &m.Usage) != nil {
		return false
	}
	r.rest = r.rest[end:]
	return true
}

// time reads a time.
func (r *plainReader) time(to *time.Time) bool {
	before := r.rest
	inside, ok := r.literal()
	return ok && to.UnmarshalJSON(before[:len(inside)+len(`""`)]) == nil
}
