package llm

import (
	"bufio"
	"bytes"
	"io"
)

// EventReader reads the data of server-sent events (WHATWG HTML, section 9.2),
// for vendors whose SDK does not. It is not safe for concurrent use.
type EventReader struct {
	lines *bufio.Scanner
	data  []byte
}

// NewEventReader returns a reader of r. A line may have 32 MiB: a picture in one
// event, and no more than that.
func NewEventReader(r io.Reader) *EventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 32<<20)
	return &EventReader{lines: lines}
}

// Next returns the data of the next event that has any, valid until the next
// call. It returns io.EOF at the end; an event that the end cuts is dropped.
func (e *EventReader) Next() ([]byte, error) {
	e.data = e.data[:0]
	for e.lines.Scan() {
		line := bytes.TrimSuffix(e.lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if len(e.data) > 0 {
				return e.data, nil
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue // a comment, or a field that nobody here reads
		}
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
	}
	if err := e.lines.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}
