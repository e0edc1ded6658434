package client

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// event is one server-sent event.
type event struct {
	name string // empty is message
	id   string // of the last event that had one
	data []byte
	// long reports that there was too much data, of a message with the id longID.
	long   bool
	longID jsonrpc.ID
}

// eventReader reads server-sent events (HTML, section 9.2.6).
type eventReader struct {
	lines *lineReader
	id    string        // of the last event that had one
	retry time.Duration // what the server asks for; 0 is nothing
	any   bool
}

func newEventReader(r io.Reader) *eventReader { return &eventReader{lines: newLineReader(r)} }

// next returns the next event with data. Comments and events without data are skipped. The data is valid
// until the next call.
func (r *eventReader) next() (event, error) {
	var e event
	for {
		line, err := r.lines.next()
		if long, ok := errors.AsType[*longLine](err); ok {
			e.long, e.longID, e.data = true, long.id, nil
			continue
		}
		if err != nil {
			return event{}, err // an event without its empty line is not one
		}
		if !r.any {
			line, r.any = bytes.TrimPrefix(line, []byte("\uFEFF")), true
		}
		if len(line) > 0 {
			r.field(line, &e)
			continue
		}
		e.id = r.id
		if len(e.data) > 0 || e.long {
			return e, nil
		}
		e = event{}
	}
}

func (r *eventReader) field(line []byte, e *event) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		if e.long || len(e.data)+len(value) > maxLine {
			e.long, e.data = true, nil
			return
		}
		if e.data != nil {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	case "id":
		if !bytes.ContainsRune(value, 0) {
			r.id = string(value)
		}
	case "retry":
		if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
}
