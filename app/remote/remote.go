// Package remote lets a command run inside the Conclave that already has the
// store open: the window, or another command that lasts. The program that owns
// the store listens on a private local socket; a second command hands over its
// words, folder and streams, and gets back output and an exit status. What a
// command does is not known here.
//
// Wire: frames of one byte of type, four bytes of length (big endian) and a
// payload of at most 1 MiB, over a Unix socket that only its owner may open.
// Read Command, Serve and Run first.
package remote

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"conclave/app/fault"
)

// Command is what the second program was asked to do.
type Command struct {
	Version  string            `json:"version"` // of the program; both ends must be the same
	Args     []string          `json:"args"`
	Dir      string            `json:"dir"`      // its working folder
	Env      map[string]string `json:"env"`      // the few variables that matter to output
	Terminal bool              `json:"terminal"` // a person can be asked
	Color    bool              `json:"color"`
	Width    int               `json:"width"`
}

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Lasting is for a Handler to call when the command only follows something
	// from now on, so that it can go on elsewhere should the owner die.
	Lasting func()
}

// What Run returns when the owner went away.
var (
	// ErrGone: the command had not begun, or is one that lasts; asking again finds
	// the store free, or another owner.
	ErrGone = errors.New("the running Conclave closed")
	// ErrLost: the owner died in the middle of the command, which must not be done
	// twice.
	ErrLost = errors.New("the running Conclave ended in the middle of the command")
)

// Frame types. Small letters go to the owner, capitals come from it.
const (
	frameCommand   = 'c'
	frameIn        = 'i' // standard input; an empty one is its end
	frameInterrupt = 's'
	frameBegun     = 'B' // the command was taken: input may come, and it must not run twice
	frameLasting   = 'L'
	frameOut       = 'O'
	frameErr       = 'E'
	frameExit      = 'X' // payload: one byte of status
	frameGone      = 'G'
	frameRefused   = 'R' // payload: a sentence
)

const maxFrame = 1 << 20

// dialTimeout bounds the wait for an owner that hangs.
const dialTimeout = 5 * time.Second

// Path returns the socket's path for a data folder. A path too long for a Unix
// socket (108 bytes on Linux, 104 on macOS) moves to the temporary folder.
func Path(data string) string {
	path := filepath.Join(data, "conclave.sock")
	if len(path) < 100 {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(os.TempDir(), fmt.Sprintf("conclave-%d-%s.sock", os.Getuid(), hex.EncodeToString(sum[:8])))
}

// conn is one connection; writes of frames are serialised.
type conn struct {
	net.Conn
	mu sync.Mutex // guards writes
	r  *bufio.Reader
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, r: bufio.NewReaderSize(c, 64<<10)} }

func (c *conn) send(kind byte, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		part := payload[:min(len(payload), maxFrame)]
		payload = payload[len(part):]
		head := [5]byte{kind}
		binary.BigEndian.PutUint32(head[1:], uint32(len(part)))
		if _, err := c.Write(append(head[:], part...)); err != nil {
			return err
		}
		if len(payload) == 0 {
			return nil
		}
	}
}

func (c *conn) receive() (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes is over the bound", n)
	}
	payload := make([]byte, n)
	_, err := io.ReadFull(c.r, payload)
	return head[0], payload, err
}

// stream is one output stream of a command, as frames.
type stream struct {
	c    *conn
	kind byte
}

func (s stream) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return len(p), s.c.send(s.kind, p)
}

// Gone is the status of a command that lasts (it follows something) and gives way
// because its owner is closing: the other side starts it again elsewhere.
const Gone = -1

// Handler runs one command and returns its exit status. ctx ends when the other
// side interrupts or goes away. closing is closed when the owner wants to close:
// a command that ends by itself goes on, one that lasts returns Gone.
type Handler func(ctx context.Context, closing <-chan struct{}, command Command, streams Streams) int

// Server is the owner's end. Use Serve.
type Server struct {
	listener net.Listener
	path     string
	version  string
	handle   Handler
	closing  chan struct{}
	once     sync.Once
	wg       sync.WaitGroup
}

// Serve listens at path and runs the commands that come with handle, each on a
// goroutine of its own, until Close. A socket that a dead program left is
// replaced. Only one program may call it per data folder: the one that holds the
// store's lock.
func Serve(path, version string, handle Handler) (*Server, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replace the socket %s: %w", path, err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = listener.Close()
		return nil, err
	}
	s := &Server{listener: listener, path: path, version: version, handle: handle, closing: make(chan struct{})}
	s.wg.Go(s.accept) // ended by Close, which closes the listener
	return s, nil
}

// Close stops listening, lets the commands that are being served end (one that
// lasts gives way, see Handler), and waits for them. It may be called more than
// once.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.once.Do(func() { close(s.closing) })
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() { s.serve(newConn(c)) })
	}
}

func (s *Server) serve(c *conn) {
	defer c.Close() //nolint:errcheck // every frame was sent or the other side is gone
	_ = c.SetReadDeadline(time.Now().Add(dialTimeout))
	kind, payload, err := c.receive()
	var command Command
	if err != nil || kind != frameCommand || json.Unmarshal(payload, &command) != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if command.Version != s.version {
		_ = c.send(frameRefused, []byte("The Conclave that is running is version "+s.version+", this command is version "+command.Version+". Close it, or install both from one release."))
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background()) // the command's own; its client ends it
	defer cancel(nil)
	in, feed := io.Pipe()
	var reading sync.WaitGroup
	reading.Go(func() { // ends when the connection closes
		defer feed.Close() //nolint:errcheck // a pipe
		defer cancel(context.Canceled)
		for {
			kind, payload, err := c.receive()
			switch {
			case err != nil:
				return
			case kind == frameInterrupt:
				cancel(fault.New(fault.Canceled, "remote", "It was interrupted.", ""))
			case kind == frameIn && len(payload) == 0:
				_ = feed.Close()
			case kind == frameIn:
				_, _ = feed.Write(payload) // a command that does not read gets nothing
			}
		}
	})
	_ = c.send(frameBegun, nil)
	code := s.handle(ctx, s.closing, command, Streams{
		In: in, Out: stream{c, frameOut}, Err: stream{c, frameErr},
		Lasting: func() { _ = c.send(frameLasting, nil) },
	})
	_ = in.Close()
	if code == Gone {
		_ = c.send(frameGone, nil)
	} else {
		_ = c.send(frameExit, []byte{byte(code)})
	}
	_ = c.Close()
	reading.Wait()
}

// Run has the owner of the socket run the command, and returns its exit status.
// Interrupting ctx interrupts the command, whose output still arrives. Input is
// not touched before the owner has taken the command. Errors: ErrGone; ErrLost; a
// fault of kind conflict for another version; os.ErrNotExist and the like when
// nobody listens.
func Run(ctx context.Context, path string, command Command, streams Streams) (int, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	raw, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return 0, fmt.Errorf("reach the running Conclave at %s: %w", path, err)
	}
	c := newConn(raw)
	defer c.Close() //nolint:errcheck // nothing is buffered
	words, err := json.Marshal(command)
	if err != nil {
		return 0, err
	}
	if err := c.send(frameCommand, words); err != nil {
		return 0, ErrGone
	}
	stop := context.AfterFunc(ctx, func() { _ = c.send(frameInterrupt, nil) })
	defer stop()
	lost := ErrGone
	for {
		kind, payload, err := c.receive()
		if err != nil {
			return 0, lost
		}
		switch kind {
		case frameBegun:
			lost = ErrLost
			go c.feed(streams.In) // ends with the input, or with the program: a read of a terminal cannot be called back
		case frameLasting:
			lost = ErrGone
		case frameOut:
			_, err = streams.Out.Write(payload)
		case frameErr:
			_, err = streams.Err.Write(payload)
		case frameExit:
			return int(payload[0]), nil
		case frameGone:
			return 0, ErrGone
		case frameRefused:
			return 0, fault.New(fault.Conflict, "remote.run", string(payload), "")
		}
		if err != nil {
			return 0, err
		}
	}
}

// feed sends in to the owner, and its end; nil is an empty one.
func (c *conn) feed(in io.Reader) {
	buffer := make([]byte, 32<<10)
	for in != nil {
		n, err := in.Read(buffer)
		if n > 0 && c.send(frameIn, buffer[:n]) != nil {
			return
		}
		if err != nil {
			break
		}
	}
	_ = c.send(frameIn, nil)
}
