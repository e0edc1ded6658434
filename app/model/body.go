package model

import (
	"bytes"
	"io"
	"net"
	"slices"
)

// Body is the body of a request in pieces. The first one may be shared with the requests after it, which
// begin alike. It is not changed.
type Body [][]byte

// Len returns the number of its bytes.
func (b Body) Len() int {
	n := 0
	for _, piece := range b {
		n += len(piece)
	}
	return n
}

// Bytes returns it in one piece.
func (b Body) Bytes() []byte {
	if len(b) == 1 {
		return b[0]
	}
	return bytes.Join(b, nil)
}

// inPieces is the length in bytes from which a body is sent in pieces. A shorter one is copied, and goes out
// together with its headers.
const inPieces = 64 << 10

// reader returns a reader of it.
func (b Body) reader() io.ReadCloser {
	if b.Len() < inPieces {
		return io.NopCloser(bytes.NewReader(b.Bytes()))
	}
	return &bodyReader{net.Buffers(slices.Clone(b)), b}
}

// bodyReader reads a body that tap need not read to know.
type bodyReader struct {
	net.Buffers
	whole Body
}

// Close implements io.Closer.
func (*bodyReader) Close() error { return nil }
