package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine bounds a message in bytes: a picture of 20 MiB fits in Base64.
const maxLine = 32 << 20

// keptLine is the size up to which the memory of a long line is used again.
const keptLine = 1 << 20

// A longLine is a line over the bound. Its bytes are gone.
type longLine struct {
	id jsonrpc.ID // of the message in it, where it has one
}

func (*longLine) Error() string { return fmt.Sprintf("a message of more than %d MiB", maxLine>>20) }

// lineReader reads lines of up to maxLine bytes.
type lineReader struct {
	in   *bufio.Reader
	long []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{in: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its ending; it is valid until the next call. The error is a
// *longLine, after which the following line can be read, or that of the input.
func (r *lineReader) next() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.rest(line)
	}
	if _, long := errors.AsType[*longLine](err); long || err != nil && len(line) == 0 {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil // a last line may lack its ending; the error comes again
}

func (r *lineReader) rest(start []byte) ([]byte, error) {
	if cap(r.long) > keptLine {
		r.long = nil
	}
	r.long = append(r.long[:0], start...)
	var ids *idScanner
	for {
		piece, err := r.in.ReadSlice('\n')
		switch {
		case ids != nil:
			ids.scan(piece)
		case len(r.long)+len(piece) > maxLine:
			ids = &idScanner{}
			ids.scan(r.long)
			ids.scan(piece)
			r.long = nil
		default:
			r.long = append(r.long, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if ids != nil {
			return nil, &longLine{id: ids.result()}
		}
		return r.long, err
	}
}

// idScanner finds the id of a JSON-RPC message without keeping the message.
type idScanner struct {
	depth        int
	inString     bool
	escaped      bool
	inValue      bool   // after the colon of a member of the outermost object
	text         []byte // of a name or value there
	name, number string
	quoted       string
}

const maxID = 64

func (s *idScanner) scan(piece []byte) {
	for _, b := range piece {
		if s.inString {
			s.inText(b)
			continue
		}
		switch b {
		case '"':
			s.inString, s.text = true, s.text[:0]
		case '{', '[':
			s.depth++
		case '}', ']':
			s.member()
			s.depth--
		case ':':
			if s.depth == 1 {
				s.inValue, s.text = true, s.text[:0]
			}
		case ',':
			s.member()
		default:
			if s.depth == 1 && s.inValue && len(s.text) < maxID {
				s.text = append(s.text, b)
			}
		}
	}
}

func (s *idScanner) inText(b byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case b == '\\':
		s.escaped = true
	case b == '"':
		s.inString = false
		if s.depth != 1 {
			return
		}
		if !s.inValue {
			s.name = string(s.text)
		} else if s.name == "id" {
			s.quoted = string(s.text)
		}
		s.text = s.text[:0]
		return
	}
	if s.depth == 1 && len(s.text) < maxID {
		s.text = append(s.text, b)
	}
}

// member ends a member of the outermost object.
func (s *idScanner) member() {
	if s.depth != 1 {
		return
	}
	if s.inValue && s.name == "id" && s.number == "" {
		s.number = string(bytes.TrimSpace(s.text))
	}
	s.inValue, s.text = false, s.text[:0]
}

func (s *idScanner) result() jsonrpc.ID {
	var value any
	if s.quoted != "" {
		value = s.quoted
	} else {
		var n float64
		if _, err := fmt.Sscan(s.number, &n); err != nil {
			return jsonrpc.ID{}
		}
		value = n
	}
	id, _ := jsonrpc.MakeID(value) // of a text and a number it has no error
	return id
}

var errNoMessage = errors.New("no JSON-RPC message")

// messages reads what one line, body or event holds: a message, or several in a list (2025-03-26). Bytes
// that are no UTF-8 become U+FFFD. Those of a list that are no messages are left out.
func messages(data []byte) ([]jsonrpc.Message, error) {
	data = bytes.TrimSpace(data)
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil, errNoMessage
	}
	if data[0] == '{' {
		m, err := jsonrpc.DecodeMessage(data) // which copies it
		if err != nil {
			return nil, errNoMessage
		}
		return []jsonrpc.Message{m}, nil
	}
	var all []jsonrpc.Message
	for _, one := range listOf(data) {
		if m, err := jsonrpc.DecodeMessage(one); err == nil {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return nil, errNoMessage
	}
	return all, nil
}
