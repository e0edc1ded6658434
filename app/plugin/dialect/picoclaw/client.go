package picoclaw

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/limit"
	"conclave/app/base/pattern"
	"conclave/app/base/shorten"
)

// client is Conclave's end of a hook's streams: requests with an id, answers in any
// order, notifications that nobody awaits (contracts/picoclaw-hooks, section 5). The
// protocol forgives more than JSON-RPC does (answers without a version, ids as text,
// lines of garbage, lines without end), so it is read here and not by a library. It is
// safe for concurrent use.
//
// Goroutines: one reads, one writes; both end with the streams.
type client struct {
	wire io.ReadWriteCloser
	log  func(level, text string)

	queue  chan outgoing
	queued atomic.Int64 // bytes that wait to be written
	done   chan struct{}
	ending sync.Once
	over   error // why it ended; written before done is closed

	mu      sync.Mutex // guards the fields below
	last    uint64
	waiting map[uint64]chan reply
	unread  map[uint64]bool // requests that the process has not taken yet

	dropped atomic.Uint64 // answers that nobody waited for
}

type outgoing struct {
	id     uint64 // 0 is a notification
	line   []byte
	passed chan struct{} // closed instead of being written
}

type reply struct {
	result json.RawMessage
	err    error
}

// maxQueue bounds the lines that wait for a process to read them.
const maxQueue = 256

// newClient starts talking over wire, which it closes when it ends.
func newClient(wire io.ReadWriteCloser, log func(level, text string)) *client {
	c := &client{
		wire: wire, log: log, queue: make(chan outgoing, maxQueue), done: make(chan struct{}),
		waiting: map[uint64]chan reply{}, unread: map[uint64]bool{},
	}
	go c.read()  // ends with the stream
	go c.write() // ends with the stream
	return c
}

// errStalled is that of a request to a process that does not read what it is sent.
var errStalled = errors.New("it does not read what it is asked")

// errEnded is that of a request whose process has ended.
var errEnded = errors.New("its process ended")

// errSlow is the cause of the end of a request that took too long.
var errSlow = &slowError{}

// slowError is of a hook that took longer than it may.
type slowError struct{ within time.Duration }

func (e *slowError) Error() string {
	if e.within == 0 {
		return "it took too long"
	}
	return "it took longer than " + e.within.String()
}

// Unwrap says that a deadline passed.
func (*slowError) Unwrap() error { return context.DeadlineExceeded }

// request asks the process and returns its result, nil when it gave none. Past the
// end of ctx the answer is dropped. The error says what went wrong.
func (c *client) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	if len(c.unread) > 0 && c.stalledLocked() {
		c.mu.Unlock()
		return nil, errStalled
	}
	c.last++
	id := c.last
	answer := make(chan reply, 1)
	c.waiting[id], c.unread[id] = answer, true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.send(id, method, params); err != nil {
		c.mu.Lock()
		delete(c.unread, id)
		c.mu.Unlock()
		return nil, err
	}
	select {
	case r := <-answer:
		return r.result, r.err
	case <-c.done:
		return nil, errEnded
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// stalledLocked reports whether the process has left a request unread that nobody waits
// for any more.
func (c *client) stalledLocked() bool {
	for id := range c.unread {
		if _, waits := c.waiting[id]; !waits {
			return true
		}
	}
	return false
}

// notify sends the process a notification, unless too much waits to be read already.
func (c *client) notify(method string, params any) error { return c.send(0, method, params) }

// send queues one line.
func (c *client) send(id uint64, method string, params any) error {
	line, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      uint64 `json:"id,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", id, method, params})
	if err != nil {
		return fmt.Errorf("what it is asked cannot be written: %w", err)
	}
	if int64(len(line)) > limit.HookMessage {
		return errors.New("what it would be asked has more than 16 MiB")
	}
	if c.queued.Load()+int64(len(line)) > 2*limit.HookMessage {
		return errStalled
	}
	c.queued.Add(int64(len(line)))
	select {
	case c.queue <- outgoing{id: id, line: append(line, '\n')}:
		return nil
	case <-c.done:
		return errEnded
	default:
		c.queued.Add(-int64(len(line)))
		return errStalled
	}
}

// written waits until what was sent before is written, or for the end of the streams or of ctx.
func (c *client) written(ctx context.Context) {
	done := make(chan struct{})
	select {
	case c.queue <- outgoing{passed: done}:
	case <-c.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-c.done:
	case <-ctx.Done():
	}
}

// write writes what is queued until the stream ends.
func (c *client) write() {
	for {
		select {
		case out := <-c.queue:
			if out.passed != nil {
				close(out.passed)
				continue
			}
			_, err := c.wire.Write(out.line)
			c.queued.Add(-int64(len(out.line) - 1))
			if err != nil {
				return // whoever reads says how it ended
			}
			c.mu.Lock()
			delete(c.unread, out.id)
			c.mu.Unlock()
		case <-c.done:
			return
		}
	}
}

// end ends the streams.
func (c *client) end(err error) {
	c.ending.Do(func() {
		c.over = err
		close(c.done)
		_ = c.wire.Close()
	})
}

// read takes answers until the stream ends.
func (c *client) read() {
	in := bufio.NewReaderSize(c.wire, 64<<10)
	for {
		line, long, err := readLine(in, limit.HookLine)
		switch {
		case long:
			c.tooLong(line)
		case len(bytes.TrimSpace(line)) > 0:
			c.take(bytes.TrimSpace(line))
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

// readLine reads one line. Of one that is longer than most bytes it returns the
// beginning, and has read to its end.
func readLine(in *bufio.Reader, most int) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if !long {
			if len(line)+len(piece) > most+1 {
				line, long = line[:min(len(line), headOfLine)], true
				line = append(line, piece[:min(len(piece), max(0, headOfLine-len(line)))]...)
			} else {
				line = append(line, piece...)
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// headOfLine is the part of a line that is too long in which its id is looked for.
const headOfLine = 64 << 10

var idIn = pattern.Lazy(`"id"\s*:\s*"?(\d{1,19})`)

// tooLong fails the request that a line answers which is too long: the one it names in
// its beginning, or the oldest.
func (c *client) tooLong(head []byte) {
	c.log("error", "It answered with a line of more than 32 MiB, which was passed over.")
	id := uint64(0)
	if m := idIn().FindSubmatch(head); m != nil {
		id, _ = strconv.ParseUint(string(m[1]), 10, 64)
	}
	c.mu.Lock()
	if c.waiting[id] == nil {
		id = 0
		for one := range c.waiting {
			if id == 0 || one < id {
				id = one
			}
		}
	}
	c.mu.Unlock()
	c.answer(id, reply{err: errors.New("it answered with a line of more than 32 MiB")})
}

// take reads one line of the process.
func (c *client) take(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    json.Number `json:"code"`
			Message string      `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		c.log("warn", "It wrote a line that is no answer: "+excerpt(string(line)))
		return
	}
	id, err := idOf(m.ID)
	switch {
	case id == 0 && m.Method != "":
		c.log("warn", "It asked for "+excerpt(m.Method)+"; hooks only answer.")
		return
	case err != nil || id == 0:
		return
	}
	if len(m.ID) > 0 && m.ID[0] == '"' {
		c.log("info", "It answers with its ids as text, which only Conclave takes.")
	}
	r := reply{result: m.Result}
	if string(m.Result) == "null" {
		r.result = nil
	}
	if m.Error != nil {
		r.err = &hookError{m.Error.Code.String(), m.Error.Message}
	}
	c.answer(id, r)
}

// idOf reads the id of an answer: a number, or a text of digits.
func idOf(raw json.RawMessage) (uint64, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return 0, nil
	}
	return strconv.ParseUint(string(bytes.Trim(raw, `"`)), 10, 64)
}

func (c *client) answer(id uint64, r reply) {
	c.mu.Lock()
	waiting := c.waiting[id]
	delete(c.waiting, id)
	delete(c.unread, id)
	c.mu.Unlock()
	if waiting == nil {
		c.dropped.Add(1)
		return
	}
	waiting <- r
}

// hookError is an error that the hook answered with.
type hookError struct{ code, message string }

func (e *hookError) Error() string {
	if e.code == "" || e.code == "0" {
		return "it answered with an error: " + excerpt(e.message)
	}
	return "it answered with an error: " + excerpt(e.message) + " (" + e.code + ")"
}

// excerpt is a hook's text as a log line and a sentence have it.
func excerpt(text string) string {
	return string([]rune(shorten.After(strings.Join(strings.Fields(text), " "), 200)))
}

// within runs a request with a time limit.
func (c *client) within(ctx context.Context, limit time.Duration, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	return c.request(ctx, method, params)
}
