package egress

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// Bounds of what is read of a request before it is let through.
const (
	aheadBytes = 32 << 10
	aheadTime  = 300 * time.Millisecond // a client may write slowly, or wait for an answer first
)

// ahead is the body of a request. A person may be shown its beginning before any of it is
// sent.
type ahead struct {
	from io.ReadCloser
	ctx  context.Context //nolint:containedctx // of the request

	mu      sync.Mutex // guards the fields below
	more    sync.Cond  // they changed
	began   bool       // fill runs, or did
	over    chan struct{}
	head    []byte // what fill has read, from its start on
	sent    int    // how much of it Read returned
	err     error  // of reading on
	reading sync.WaitGroup
}

// readAhead returns a request as a person may be shown it: its GetBody returns the beginning
// of the body, as far as the client has written that. Nothing is read before somebody calls
// it, and r has the whole body all the same. Call end when r is answered.
func readAhead(w http.ResponseWriter, r *http.Request) (shown *http.Request, end func()) {
	copied := *r
	if r.ContentLength == 0 || r.Body == nil {
		return &copied, func() {}
	}
	a := &ahead{from: r.Body, ctx: r.Context(), over: make(chan struct{})}
	a.more.L = &a.mu
	r.Body, copied.GetBody = a, a.beginning
	return &copied, func() {
		if a.reads() { // the client has written everything, or waits for the answer
			_ = http.NewResponseController(w).SetReadDeadline(time.Now())
		}
		a.reading.Wait()
	}
}

func (a *ahead) beginning() (io.ReadCloser, error) {
	a.mu.Lock()
	if !a.began {
		a.began = true
		a.reading.Go(a.fill) // ends with what it reads, or with the connection
	}
	a.mu.Unlock()
	timer := time.NewTimer(aheadTime)
	defer timer.Stop()
	select {
	case <-a.over:
	case <-timer.C:
	case <-a.ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return io.NopCloser(bytes.NewReader(bytes.Clone(a.head))), nil
}

// fill reads the beginning.
func (a *ahead) fill() {
	defer close(a.over)
	buffer := make([]byte, 4<<10)
	for read := 0; read < aheadBytes; {
		n, err := a.from.Read(buffer[:min(len(buffer), aheadBytes-read)])
		read += n
		a.mu.Lock()
		a.head, a.err = append(a.head, buffer[:n]...), err
		a.more.Broadcast()
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// reads reports whether fill runs.
func (a *ahead) reads() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.began && a.err == nil && len(a.head) < aheadBytes
}

// Read implements io.Reader.
func (a *ahead) Read(b []byte) (int, error) {
	a.mu.Lock()
	if !a.began {
		a.mu.Unlock()
		return a.from.Read(b)
	}
	for a.sent == len(a.head) && a.err == nil && len(a.head) < aheadBytes { // as reads says
		a.more.Wait()
	}
	if n := copy(b, a.head[a.sent:]); n > 0 || len(b) == 0 {
		a.sent += n
		a.mu.Unlock()
		return n, nil
	}
	err := a.err
	a.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return a.from.Read(b)
}

// Close implements io.Closer.
func (a *ahead) Close() error { return a.from.Close() }
