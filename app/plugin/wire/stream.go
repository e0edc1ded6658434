package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// stream is one end of the wire: messages, one per line. It is the
// mcp.Connection of both ends; each end takes its own messages out of it with
// intercept.
//
// One goroutine at a time may call Read (the SDK's reader); everything else is
// safe for concurrent use.
type stream struct {
	rw   io.ReadWriteCloser
	in   *bufio.Reader
	long []byte // the line being read, when it is longer than in's buffer
	// intercept reports whether it took the message. It runs on the reader and
	// must not block.
	intercept func(jsonrpc.Message) bool

	writing sync.Mutex // one message at a time

	queuing sync.Mutex    // guards queue
	queue   [][]byte      // lines that go out before whatever is written next
	queued  chan struct{} // has room for one: the queue has lines

	ending sync.Once
	done   chan struct{} // closed once err is set
	err    error         // why the stream ended
}

// readBuffer fits nearly all messages; longer ones are gathered piece by piece.
const readBuffer = 64 << 10

func newStream(rw io.ReadWriteCloser) *stream {
	return &stream{
		rw: rw, in: bufio.NewReaderSize(rw, readBuffer), queued: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// SessionID implements mcp.Connection: a stream has none.
func (s *stream) SessionID() string { return "" }

// Read implements mcp.Connection. It returns the next message that was not
// intercepted. The error is io.EOF at the end of the input, ErrClosed after
// Close, or a *Broken, and stays the same. The context is not looked at: only
// Close interrupts a read of a pipe.
func (s *stream) Read(context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-s.done:
			return nil, s.err
		default:
		}
		line, err := s.line()
		if err != nil {
			return nil, s.end(err)
		}
		msg, err := decode(line)
		if err != nil {
			return nil, s.end(err)
		}
		if s.intercept == nil || !s.intercept(msg) {
			return msg, nil
		}
	}
}

// line returns the next line that is not empty, without its ending. The bytes
// are valid until the next call.
func (s *stream) line() ([]byte, error) {
	for {
		line, err := s.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = s.longLine(line)
		}
		if len(line) > MaxLine+1 { // 1 for the newline
			return nil, tooLong()
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil // a last line may lack its newline
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *stream) longLine(start []byte) ([]byte, error) {
	s.long = append(s.long[:0], start...)
	for {
		piece, err := s.in.ReadSlice('\n')
		if len(s.long)+len(piece) > MaxLine+1 {
			return nil, tooLong()
		}
		s.long = append(s.long, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return s.long, err
		}
	}
}

func tooLong() error {
	return flooded(fmt.Sprintf("It sent a message of more than %d bytes.", MaxLine))
}

func decode(line []byte) (jsonrpc.Message, error) {
	if line[0] != '{' || line[len(line)-1] != '}' {
		return nil, garbage(line, errors.New("not a JSON object"))
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, garbage(line, err)
	}
	return msg, nil
}

// Write implements mcp.Connection. What was queued before goes out first. A
// message over the bound is refused; the stream stays sound.
func (s *stream) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	line, err := encode(msg)
	if err != nil {
		return err
	}
	return s.write(line)
}

// encode returns msg as a line.
func encode(msg jsonrpc.Message) ([]byte, error) {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return nil, &jsonrpc.Error{Code: codeRejected, Message: "the message cannot be written as JSON: " + err.Error()}
	}
	if len(line) > MaxLine {
		return nil, &jsonrpc.Error{
			Code:    codeRejected,
			Message: fmt.Sprintf("the message has %d bytes; the wire carries at most %d", len(line), MaxLine),
		}
	}
	return append(line, '\n'), nil
}

// enqueue has line written before whatever is written next, and at the latest by
// writeQueued. It reports false when most lines wait already.
func (s *stream) enqueue(line []byte, most int) bool {
	s.queuing.Lock()
	defer s.queuing.Unlock()
	if len(s.queue) >= most {
		return false
	}
	s.queue = append(s.queue, line)
	select {
	case s.queued <- struct{}{}:
	default:
	}
	return true
}

// writeQueued writes what is queued until the stream ends.
func (s *stream) writeQueued() {
	for {
		select {
		case <-s.queued:
			_ = s.write(nil) // the reader notices that the stream is gone
		case <-s.done:
			return
		}
	}
}

// write writes what is queued and then line.
func (s *stream) write(line []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for {
		select {
		case <-s.done:
			return s.err
		default:
		}
		next := s.dequeue()
		if next == nil {
			break
		}
		if _, err := s.rw.Write(next); err != nil {
			return err
		}
	}
	if line == nil {
		return nil
	}
	_, err := s.rw.Write(line)
	return err
}

// dequeue returns the line that was queued first, or nil.
func (s *stream) dequeue() []byte {
	s.queuing.Lock()
	defer s.queuing.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	line := s.queue[0]
	s.queue = s.queue[1:]
	return line
}

// Close implements mcp.Connection.
func (s *stream) Close() error {
	_ = s.end(ErrClosed)
	return nil
}

// end ends the stream with err, unless it ended before, and returns why it
// ended.
func (s *stream) end(err error) error {
	s.ending.Do(func() {
		switch {
		case errors.Is(err, ErrFlooded):
			if _, ok := errors.AsType[*Broken](err); !ok { // the reader under us counted
				err = flooded("It sent more than Conclave can take at once.")
			}
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
			err = io.EOF
		}
		s.err = err
		close(s.done)
		_ = s.rw.Close()
	})
	<-s.done
	return s.err
}

// cause returns why the stream ended, or nil while it runs.
func (s *stream) cause() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}
