package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"sync"
	"unicode/utf8"

	"conclave/app/chat"
)

// Encoded keeps the JSON of the messages in the last request, so that the next round of a turn encodes only
// what is new, and copies nothing of the rest. It knows a message by its content: whatever changes a
// request, hooks among them, it holds no stale one. The zero value is empty. It is safe for concurrent use.
type Encoded struct {
	mu    sync.Mutex // guards the fields below
	seed  maphash.Seed
	under string
	head  []byte
	text  []byte    // head and the JSON of known; only appended to, since bodies share it
	known []encoded // the messages of the last request, in order
}

// encoded is a message whose JSON there is.
type encoded struct {
	role  chat.Role
	plain bool   // it is one text
	text  string // of a plain one
	sum   uint64 // of one that is not plain
	end   int    // of its JSON

	tokens  int64 // that its texts have
	counted bool  // tokens is known
}

// plainText returns the text of a message that is one text, which can be compared at no cost: the same
// string is not looked through.
func plainText(m Message) (string, bool) {
	if len(m.Parts) != 1 {
		return "", false
	}
	p := &m.Parts[0]
	return p.Text, p.Kind == chat.PartText && p.Vendor == nil && p.Call == nil && p.Result == nil && p.Media == nil
}

// Envelope holds the rest of a body: all but its messages.
type Envelope struct {
	Member string // that has the messages, the first of the body
	First  []byte // JSON of elements in front of them, or empty
	Last   []byte // JSON of elements behind them, or empty
	Rest   []byte // JSON object of the other members
	Under  string // names what the JSON of a message depends on in addition to the message
}

// Body returns a JSON object. encode appends the JSON of one message: its elements, with commas between
// them, or nothing.
func (e *Encoded) Body(messages []Message, in Envelope, encode func(to []byte, m Message) ([]byte, error),
) (Body, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text == nil {
		e.seed = maphash.MakeSeed()
	}
	head := append([]byte(`{"`+in.Member+`":[`), in.First...)
	same := 0
	if e.under == in.Under && bytes.Equal(e.head, head) {
		for same < min(len(e.known), len(messages)) && e.is(e.known[same], messages[same]) {
			same++
		}
	}
	var before map[uint64][]byte
	if same < len(e.known) || e.text == nil || same == 0 {
		before = e.byContent()
		e.under, e.head, e.known, same = in.Under, head, make([]encoded, 0, len(messages)+len(messages)/8), 0
		size, texts := TextBytes(Request{Messages: messages})
		e.text = append(make([]byte, 0, int64(len(head))+size+size/8+64*texts), head...)
	}
	for _, m := range messages[same:] {
		if err := e.add(m, before, encode); err != nil {
			return nil, err
		}
	}
	var tail []byte
	if len(in.Last) > 0 && e.text[len(e.text)-1] != '[' {
		tail = append(tail, ',')
	}
	tail = append(tail, in.Last...)
	if rest := bytes.TrimSpace(in.Rest); len(rest) > len("{}") {
		tail = append(append(tail, "],"...), rest[1:]...)
	} else {
		tail = append(tail, "]}"...)
	}
	return Body{e.text[:len(e.text):len(e.text)], tail}, nil
}

// Tokens is TextTokens for the request that the last body was made of: it counts each message once. For
// another request, and with a nil Encoded, it counts all.
func (e *Encoded) Tokens(r Request) int64 {
	if e == nil {
		return TextTokens(r)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(r.Messages)
	if n == 0 || n != len(e.known) || !e.is(e.known[n-1], r.Messages[n-1]) {
		return TextTokens(r)
	}
	sum := Tokens(r.System)
	for i := range e.known {
		one := &e.known[i]
		if !one.counted {
			one.tokens, one.counted = messageTokens(r.Messages[i]), true
		}
		sum += one.tokens
	}
	return sum
}

// add appends a message to what is encoded.
func (e *Encoded) add(m Message, before map[uint64][]byte, encode func(to []byte, m Message) ([]byte, error)) error {
	next := encoded{role: m.Role}
	next.text, next.plain = plainText(m)
	if !next.plain || len(before) > 0 {
		next.sum = digest(e.seed, e.under, m)
	}
	from := len(e.text)
	text := e.text
	if text[from-1] != '[' {
		text = append(text, ',')
	}
	comma := len(text)
	if raw, there := before[next.sum]; there {
		text = append(text, raw...)
	} else {
		var err error
		if text, err = encode(text, m); err != nil {
			return err
		}
	}
	if len(text) == comma { // it is nothing
		text = text[:from]
	}
	e.text, next.end = text, len(text)
	e.known = append(e.known, next)
	return nil
}

// is reports whether a message is one that is encoded.
func (e *Encoded) is(known encoded, m Message) bool {
	text, plain := plainText(m)
	if known.plain || plain {
		return known.plain && plain && known.role == m.Role && known.text == text
	}
	return known.sum == digest(e.seed, e.under, m)
}

// byContent returns the JSON of the messages of the last request by their digests.
func (e *Encoded) byContent() map[uint64][]byte {
	all := make(map[uint64][]byte, len(e.known))
	from := len(e.head)
	for _, one := range e.known {
		sum := one.sum
		if one.plain {
			sum = digest(e.seed, e.under, Message{Role: one.role, Parts: []chat.Part{chat.TextPart(one.text)}})
		}
		all[sum] = bytes.TrimPrefix(e.text[from:one.end], []byte(","))
		from = one.end
	}
	return all
}

// digest returns a number for all that a vendor may write of a message.
func digest(seed maphash.Seed, under string, m Message) uint64 {
	d := digester{}
	d.SetSeed(seed)
	d.text(under)
	d.text(string(m.Role))
	d.parts(m.Parts)
	return d.Sum64()
}

type digester struct{ maphash.Hash }

func (d *digester) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = d.Write(b[:]) // it does not fail
}

func (d *digester) text(s string) {
	d.number(len(s))
	_, _ = d.WriteString(s) // it does not fail
}

func (d *digester) bytes(b []byte) {
	d.number(len(b))
	_, _ = d.Write(b) // it does not fail
}

func (d *digester) parts(parts []chat.Part) {
	d.number(len(parts))
	for _, p := range parts {
		d.text(string(p.Kind))
		d.text(p.Text)
		d.number(len(p.Vendor))
		var sum uint64 // of the members, in whatever order
		for name, raw := range p.Vendor {
			one := digester{}
			one.SetSeed(d.Seed())
			one.text(name)
			one.bytes(raw)
			sum += one.Sum64()
		}
		d.number(int(sum))
		switch {
		case p.Call != nil:
			d.text(p.Call.ID)
			d.text(p.Call.Tool)
			d.bytes(p.Call.Arguments)
			d.text(p.Call.Raw)
		case p.Result != nil:
			d.text(p.Result.CallID)
			d.text(p.Result.Tool)
			d.text(string(p.Result.Status))
			if p.Result.IsError {
				d.number(1)
			}
			d.parts(p.Result.Content)
		}
		if p.Media != nil {
			d.text(p.Media.ID)
			d.text(p.Media.MIME)
			d.text(p.Media.Name)
			d.number(int(p.Media.Size))
			d.bytes(p.Media.Data)
		}
	}
}

// AppendText appends a text as encoding/json writes it, without HTML's escapes, which make it longer.
func AppendText(to []byte, text string) []byte {
	from, done := len(to), 0
	to = append(to, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError, r == '\u2028', r == '\u2029', c < ' ' && escapes[c] == 0: // rare
			out := bytes.NewBuffer(to[:from])
			e := json.NewEncoder(out)
			e.SetEscapeHTML(false)
			_ = e.Encode(text)               // a text can be written
			return out.Bytes()[:out.Len()-1] // without the end of the line
		case c < utf8.RuneSelf:
			to = append(append(to, text[done:i]...), '\\', escapes[c])
			done = i + 1
		}
		i += size
	}
	return append(append(to, text[done:]...), '"')
}

// escapes holds what JSON writes behind a backslash for a character.
var escapes = [utf8.RuneSelf]byte{'\n': 'n', '\r': 'r', '\t': 't', '"': '"', '\\': '\\'}
