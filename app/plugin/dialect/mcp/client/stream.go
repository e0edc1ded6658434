package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// conn carries messages to one server. What comes back goes to Session.receive.
type conn interface {
	// send sends m. e is the request that m is, or nil; its answer settles it, and so does a failure after
	// send returned. The error means that the server did not get m.
	send(ctx context.Context, m jsonrpc.Message, e *exchange) error
	// cancels reports whether a server learns of a request that was given up by a notification.
	cancels() bool
	// done is closed when nothing more can be sent, for the reason that cause returns.
	done() <-chan struct{}
	cause() error
	// close ends the connection and its goroutines; the session waits for them.
	close()
}

// Bounds of output that is no message, before the first one came.
const (
	maxJunkLines = 200
	maxJunkBytes = 1 << 20
	maxExcerpt   = 200 // bytes of a line that an error shows
	maxWaiting   = 256 // messages that wait to be written

	lastWords = time.Second // for output after the input was closed
)

// A JunkError means that a process prints something other than messages to its standard output.
type JunkError struct{ First string }

// Error returns a sentence that shows the first line.
func (e *JunkError) Error() string {
	return fmt.Sprintf("it prints to standard output what belongs on standard error: “%s”", e.First)
}

// Unwrap returns ErrEnded.
func (*JunkError) Unwrap() error { return ErrEnded }

// streamConn is the connection to a process: one message a line.
type streamConn struct {
	s   *Session
	rw  io.ReadWriteCloser
	out chan []byte

	began     chan struct{} // closed at the first byte
	junkLines int
	junkBytes int
	junkFirst string
	spoke     atomic.Bool // a message came

	ending sync.Once
	over   chan struct{} // closed once err is set
	err    error
}

func newStreamConn(s *Session, rw io.ReadWriteCloser) *streamConn {
	c := &streamConn{
		s: s, rw: rw, out: make(chan []byte, maxWaiting), began: make(chan struct{}), over: make(chan struct{}),
	}
	s.work.start(c.read)  // ends with the stream
	s.work.start(c.write) // ends with the stream
	return c
}

func (c *streamConn) send(ctx context.Context, m jsonrpc.Message, _ *exchange) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	traffic{c.s}.sent(m, line) // before its answer
	select {
	case <-c.over:
		return fmt.Errorf("%w: %w", ErrNotSent, c.err)
	case <-ctx.Done():
		return context.Cause(ctx)
	case c.out <- append(line, '\n'):
		return nil
	}
}

func (c *streamConn) write() {
	for {
		select {
		case <-c.over:
			return
		case line := <-c.out:
			if _, err := c.rw.Write(line); err != nil {
				// The process may have written its last words before it closed its input.
				select {
				case <-c.over:
				case <-time.After(lastWords):
					c.end(fmt.Errorf("%w: it reads nothing more: %w", ErrEnded, err))
				}
				return
			}
		}
	}
}

func (c *streamConn) read() {
	lines := newLineReader(&firstByte{r: c.rw, began: c.began})
	for {
		line, err := lines.next()
		if long, ok := errors.AsType[*longLine](err); ok {
			inbox{c.s}.tooLong(long.id, nil)
			continue
		}
		if err != nil {
			c.end(fmt.Errorf("%w: %w", ErrEnded, err))
			return
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		all, err := traffic{c.s}.got(line)
		if err != nil {
			inbox{c.s}.unreadable(line)
			if !c.junk(line) {
				return
			}
			continue
		}
		c.spoke.Store(true)
		for _, m := range all {
			inbox{c.s}.receive(m, nil)
		}
	}
}

// junk logs a line that is no message. It reports false when it ended the stream.
func (c *streamConn) junk(line []byte) bool {
	if c.junkFirst == "" {
		c.junkFirst = excerpt(line)
	}
	c.junkLines++
	c.junkBytes += len(line)
	c.s.logf("info", "%s", excerpt(line))
	if c.spoke.Load() || c.junkLines < maxJunkLines && c.junkBytes < maxJunkBytes {
		return true
	}
	c.end(&JunkError{First: c.junkFirst})
	return false
}

func excerpt(line []byte) string {
	if len(line) > maxExcerpt {
		line = line[:maxExcerpt]
	}
	return string(bytes.ToValidUTF8(line, []byte("\uFFFD")))
}

func (c *streamConn) end(err error) {
	c.ending.Do(func() {
		c.err = err
		close(c.over)
		_ = c.rw.Close()
	})
}

func (*streamConn) cancels() bool           { return true }
func (c *streamConn) done() <-chan struct{} { return c.over }
func (c *streamConn) close()                { c.end(ErrClosed) }

func (c *streamConn) cause() error {
	select {
	case <-c.over:
		return c.err
	default:
		return nil
	}
}

// firstByte closes began when the first byte comes.
type firstByte struct {
	r     io.Reader
	began chan struct{}
	any   bool
}

// Read implements io.Reader.
func (f *firstByte) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if n > 0 && !f.any {
		f.any = true
		close(f.began)
	}
	return n, err
}
