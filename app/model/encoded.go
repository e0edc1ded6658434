package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"sync"

	"conclave/app/chat"
)

// Encoded keeps the JSON of the messages in the last request, so that the next round of a turn encodes
// only what is new. It knows a message by its content: whatever changes a request, hooks among them, it
// holds no stale one. The zero value is empty. It is safe for concurrent use.
type Encoded struct {
	mu    sync.Mutex // guards the fields below
	seed  maphash.Seed
	asked map[uint64][]byte
}

// Array returns the JSON of messages as an array. encode writes one message: its elements, with commas
// between them, or nothing. under names what the JSON depends on in addition to the message.
func (e *Encoded) Array(messages []Message, under string, encode func(Message) ([]byte, error)) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked == nil {
		e.seed = maphash.MakeSeed()
	}
	now, size := make(map[uint64][]byte, len(messages)), 2
	all := make([][]byte, 0, len(messages))
	for _, m := range messages {
		key := digest(e.seed, under, m)
		raw, known := e.asked[key]
		if !known {
			var err error
			if raw, err = encode(m); err != nil {
				return nil, err
			}
		}
		now[key] = raw
		if len(raw) > 0 {
			all = append(all, raw)
			size += len(raw) + 1
		}
	}
	e.asked = now
	out := append(make([]byte, 0, size), '[')
	for i, raw := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']'), nil
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

// AppendText appends a text as a JSON string, without HTML's escapes, which make it longer.
func AppendText(dst []byte, text string) []byte {
	out := bytes.NewBuffer(dst)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)               // a text can be written
	return out.Bytes()[:out.Len()-1] // without the end of the line
}

// Splice returns the JSON object with another member at its beginning.
func Splice(object []byte, name string, value []byte) []byte {
	object = bytes.TrimSpace(object)
	out := make([]byte, 0, len(object)+len(name)+len(value)+4)
	out = append(append(append(out, `{"`...), name...), `":`...)
	out = append(out, value...)
	if rest := bytes.TrimSpace(object[1:]); len(rest) > 1 {
		out = append(out, ',')
	}
	return append(out, object[1:]...)
}
