package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// tunnel connects a process with a host and passes on what they say.
func (s *Pass) tunnel(w http.ResponseWriter, r *http.Request, to Target, v Verdict) {
	began := time.Now()
	out, err := s.dial(r.Context(), to, v)
	if err != nil {
		s.unreachable(w, r, to, began, v, err)
		return
	}
	defer func() { _ = out.Close() }()
	out.also.Store(s.tally(to, v))
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "This connection cannot become a tunnel.", http.StatusInternalServerError)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Time{})
	defer context.AfterFunc(r.Context(), func() { _ = conn.Close(); _ = out.Close() })()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	refused := relay(conn, buffered.Reader, out, to)
	if cause := context.Cause(r.Context()); refused == "" && errors.Is(cause, errTakenBack) {
		refused = errTakenBack.Error()
	}
	s.report(to, v, began, out.sent.Load(), out.received.Load(), refused)
}

// unreachable answers a client that there is no connection.
func (s *Pass) unreachable(w http.ResponseWriter, r *http.Request, to Target, began time.Time, v Verdict,
	err error,
) {
	reason, refused := whyNot(err)
	if refused {
		s.refuse(w, r, to, began, Verdict{Reason: reason, Call: v.Call})
		return
	}
	text := to.String() + " could not be reached: " + reason
	if r.Method == http.MethodConnect {
		statusLine(w, http.StatusBadGateway, text)
		return
	}
	http.Error(w, text, http.StatusBadGateway)
}

// relay passes on what both ends say until one has ended, and returns why it stopped
// the client, if it did.
func relay(conn net.Conn, said io.Reader, out net.Conn, to Target) (refused string) {
	var wg sync.WaitGroup
	wg.Go(func() { // ends with out
		_, _ = io.Copy(conn, out)
		closeWrite(conn)
	})
	refused = forward(out, said, to)
	if refused != "" {
		_ = out.Close()
		_ = conn.Close()
	} else {
		closeWrite(out)
	}
	wg.Wait()
	return refused
}

// forward passes on what the client says, once it is known that a TLS connection is
// for the host that was asked for.
func forward(out io.Writer, said io.Reader, to Target) (refused string) {
	first := make([]byte, 1)
	if _, err := io.ReadFull(said, first); err != nil {
		return ""
	}
	said = io.MultiReader(bytes.NewReader(first), said)
	const handshake = 0x16 // the type of a TLS record (RFC 8446, section 5.1)
	if first[0] == handshake {
		hello, name, ok := readHello(said)
		switch {
		case !ok:
			return "it began a TLS connection that cannot be read"
		case !names(name, to):
			return "its TLS connection is for " + describe(name) + ", and it asked for " + to.Host
		}
		said = io.MultiReader(bytes.NewReader(hello), said)
	}
	_, _ = io.Copy(out, said)
	return ""
}

// names reports whether a TLS connection that names a server is for the target. One to
// an address names none.
func names(name string, to Target) bool {
	if _, err := netip.ParseAddr(to.Host); err == nil {
		return name == ""
	}
	return strings.EqualFold(strings.TrimSuffix(name, "."), to.Host)
}

func describe(name string) string {
	if name == "" {
		return "no host by name"
	}
	return ascii(name)
}

// readHello reads how a TLS connection begins, and the server that it names. Encrypted
// names show that of who decrypts them, which is then what counts.
func readHello(said io.Reader) (hello []byte, name string, ok bool) {
	var read bytes.Buffer
	_ = tls.Server(&listening{Reader: io.TeeReader(io.LimitReader(said, maxHello), &read)}, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			name, ok = h.ServerName, true
			return nil, errRead
		},
	}).HandshakeContext(context.Background()) // ends with the connection
	return read.Bytes(), name, ok
}

// maxHello bounds how a TLS connection begins, in bytes.
const maxHello = 64 << 10

var errRead = errors.New("it was read")

// listening is a connection at which one only listens.
type listening struct {
	io.Reader
	net.Conn
}

func (l *listening) Read(b []byte) (int, error)     { return l.Reader.Read(b) }
func (*listening) Write(b []byte) (int, error)      { return len(b), nil }
func (*listening) Close() error                     { return nil }
func (*listening) SetDeadline(time.Time) error      { return nil }
func (*listening) SetReadDeadline(time.Time) error  { return nil }
func (*listening) SetWriteDeadline(time.Time) error { return nil }

// closeWrite ends one direction of a connection.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}
