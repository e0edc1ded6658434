package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"conclave/app/base/limit"
)

// ServerEvent is one event of a streamed answer.
type ServerEvent struct {
	Type string // of its event line; empty where it has none
	// Data is the text of its data lines, or a JSON value of an answer that is no event
	// stream. It is valid until the next call of Next.
	Data []byte
}

// endMark is the data of the last event on the OpenAI wire.
const endMark = "[DONE]"

// Done reports whether the event is the end mark of the OpenAI wire.
func (e ServerEvent) Done() bool { return bytes.HasPrefix(bytes.TrimSpace(e.Data), []byte(endMark)) }

// EventReader reads the events of a streamed answer: server-sent events (WHATWG HTML,
// section 9.2), and what servers send in their place: one JSON value, one a line, or an
// array of them. It is not safe for concurrent use.
type EventReader struct {
	body    *bufio.Reader
	lines   *bufio.Scanner // nil before the first Next, and for JSON values
	values  *json.Decoder  // nil unless the body is JSON values
	list    bool           // the JSON values are those of an array
	skipLF  bool           // the last line ended in CR: an LF right behind it belongs to it
	event   ServerEvent
	pending []byte // a data line that belongs to the next event
}

// NewEventReader returns a reader of r. An event may have limit.StreamEvent.
func NewEventReader(r io.Reader) *EventReader {
	return &EventReader{body: bufio.NewReader(r)}
}

// errEventTooLong is the error of an event beyond limit.StreamEvent.
var errEventTooLong = errors.New("one event of its answer is longer than " + limit.Size(limit.StreamEvent))

// Next returns the next event that has data. It returns io.EOF at the end. An event that
// the end cuts in the middle of its JSON is dropped.
func (e *EventReader) Next() (ServerEvent, error) {
	if e.lines == nil && e.values == nil {
		if err := e.begin(); err != nil {
			return ServerEvent{}, err
		}
	}
	if e.values != nil {
		return e.value()
	}
	e.event.Type, e.event.Data = "", append(e.event.Data[:0], e.pending...)
	e.pending = e.pending[:0]
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 {
			if len(e.event.Data) > 0 {
				return e.event, nil
			}
			e.event.Type = ""
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.event.Type = string(value)
		case "data":
			if len(e.event.Data) > 0 {
				if whole(e.event.Data) { // a server that leaves out the empty lines
					e.pending = append(e.pending, value...)
					return e.event, nil
				}
				e.event.Data = append(e.event.Data, '\n')
			}
			e.event.Data = append(e.event.Data, value...)
			if len(e.event.Data) > limit.StreamEvent {
				return ServerEvent{}, errEventTooLong
			}
		} // else a comment, or a field that nobody here reads
	}
	if err := e.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return ServerEvent{}, errEventTooLong
	} else if err != nil {
		return ServerEvent{}, err
	}
	if whole(e.event.Data) { // only its empty line is missing
		return e.event, nil
	}
	return ServerEvent{}, io.EOF
}

// whole reports whether the data of an event is complete.
func whole(data []byte) bool {
	return len(data) > 0 && (json.Valid(data) || string(bytes.TrimSpace(data)) == endMark)
}

// begin skips a byte order mark and decides by the first byte how the body is read.
func (e *EventReader) begin() error {
	if mark, _ := e.body.Peek(3); string(mark) == "\xEF\xBB\xBF" {
		_, _ = e.body.Discard(3)
	}
	for {
		first, err := e.body.Peek(1)
		switch {
		case err != nil:
			return err
		case first[0] == ' ' || first[0] == '\t' || first[0] == '\r' || first[0] == '\n':
			_, _ = e.body.Discard(1)
		case first[0] == '{' || first[0] == '[':
			e.values = json.NewDecoder(&bounded{r: e.body, decoder: &e.values})
			if first[0] == '[' {
				e.list = true
				_, err = e.values.Token()
			}
			return err
		default:
			e.lines = bufio.NewScanner(e.body)
			e.lines.Buffer(nil, limit.StreamEvent+64) // and the name of the field
			e.lines.Split(e.split)
			return nil
		}
	}
}

// value returns the next JSON value.
func (e *EventReader) value() (ServerEvent, error) {
	if e.list && !e.values.More() {
		return ServerEvent{}, io.EOF
	}
	var data json.RawMessage
	if err := e.values.Decode(&data); err != nil {
		return ServerEvent{}, err
	}
	e.event = ServerEvent{Data: data}
	return e.event, nil
}

// bounded ends the reading of a JSON value beyond limit.StreamEvent.
type bounded struct {
	r       io.Reader
	decoder **json.Decoder
	read    int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.read-(*b.decoder).InputOffset() > limit.StreamEvent {
		return 0, errEventTooLong
	}
	n, err := b.r.Read(p)
	b.read += int64(n)
	return n, err
}

// split splits lines at LF, CR LF and CR.
func (e *EventReader) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if e.skipLF && len(data) > 0 {
		e.skipLF = false
		if data[0] == '\n' {
			advance, data = 1, data[1:]
		}
	}
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		end = len(data)
	}
	if i := bytes.IndexByte(data[:end], '\r'); i >= 0 {
		e.skipLF = true
		return advance + i + 1, data[:i], nil
	}
	switch {
	case end < len(data):
		return advance + end + 1, data[:end], nil
	case atEOF && len(data) > 0:
		return advance + len(data), data, nil
	}
	return advance, nil, nil
}
