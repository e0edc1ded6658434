package service

import (
	"errors"
	"io"
	"sync"

	"conclave/app/base/limit"
)

// errTooMuchHeld says that a body would take more memory than plugins may have
// Conclave hold.
var errTooMuchHeld = errors.New("answers hold too much memory")

// held counts the bytes of servers' answers that are in memory: those being read
// and those that wait to be read on. It is safe for concurrent use.
type held struct {
	mu  sync.Mutex // guards both
	all int64
	by  map[string]int64 // by plugin
}

func (h *held) take(id string, n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by[id]+n > limit.HTTPHeld || h.all+n > limit.HTTPHeldByAll {
		return false
	}
	if h.by == nil {
		h.by = map[string]int64{}
	}
	h.by[id] += n
	h.all += n
	return true
}

func (h *held) give(id string, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all -= n
	if h.by[id] -= n; h.by[id] <= 0 {
		delete(h.by, id)
	}
}

// read reads a body for a plugin, in pieces of pieceBytes, to its end or to one byte
// over maxBody. The size it returns is counted as held whatever the error.
func (h *held) read(id string, body io.Reader) (pieces [][]byte, size int64, err error) {
	counted := &countedBody{h: h, id: id, from: io.LimitReader(body, maxBody+1)}
	for {
		piece, err := io.ReadAll(io.LimitReader(counted, pieceBytes))
		if len(piece) > 0 || len(pieces) == 0 {
			pieces = append(pieces, piece)
		}
		if err != nil || len(piece) < pieceBytes {
			return pieces, counted.n, err
		}
	}
}

// countedBody is a body whose bytes are taken from the share of a plugin as they
// come: one that says little for long takes little.
type countedBody struct {
	h    *held
	id   string
	from io.Reader
	n    int64
}

func (c *countedBody) Read(to []byte) (int, error) {
	n, err := c.from.Read(to)
	if n > 0 && !c.h.take(c.id, int64(n)) {
		return 0, errTooMuchHeld
	}
	c.n += int64(n)
	return n, err
}

func sizeOf(pieces [][]byte) (size int64) {
	for _, piece := range pieces {
		size += int64(len(piece))
	}
	return size
}
