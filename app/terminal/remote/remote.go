// Package remote runs a command inside the Conclave that already has the store open:
// the window, or another command that lasts. The program that owns the store listens
// on a private local socket; a second program sends it the command's arguments, folder
// and streams, and gets back output and an exit status. The package does not know what
// a command does.
//
// Wire: frames of one byte of type, four bytes of length (big endian) and a payload of
// at most 1 MiB, over a Unix socket in a folder that only its owner may write. Each
// end checks that the other is a program of the same user. While a command runs, the
// owner sends a frame at least every 500 ms, so that the other side notices an owner
// that was stopped or hangs.
//
// Read Command, Serve and Run first.
package remote

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/fault"
)

// Command holds the arguments, folder and terminal with which the second program was
// started.
type Command struct {
	Version  string            `json:"version"` // of the program; both ends must be the same
	Args     []string          `json:"args"`
	Dir      string            `json:"dir"`      // its working folder
	Env      map[string]string `json:"env"`      // the few variables that matter to output
	Terminal bool              `json:"terminal"` // a person can be asked
	Width    int               `json:"width"`
}

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Interrupted takes what an interrupt does from then on: stop, and only when
	// that returns false the end of the command. Run calls it, unless it is nil, where
	// the person is; a Handler calls it in the owner.
	Interrupted func(stop func() bool)
	// Flush throws away what was typed at In and not read yet. Run calls it, unless it is nil,
	// where the person is; a Handler calls it in the owner, and what the person typed until then
	// is thrown away when it returns.
	Flush func()
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
	frameIn        = 'i' // standard input, as much as is wanted; an empty one is its end
	frameInterrupt = 's'
	frameFlushed   = 'f' // what was typed until here was thrown away
	frameBegun     = 'B' // the command was taken: input may come, and it must not run twice
	frameLasting   = 'L'
	frameWant      = 'W' // payload: four bytes of how much more input may come, beside window at first
	frameFlush     = 'F' // what was typed and not sent is to be thrown away
	frameOut       = 'O'
	frameErr       = 'E'
	frameAlive     = 'A' // the owner is there; see aliveEvery
	frameExit      = 'X' // payload: one byte of status
	frameGone      = 'G'
	frameRefused   = 'R' // payload: a sentence
)

const maxFrame = 1 << 20

// patience limits how long the other side may be silent: ten times aliveEvery, so that a
// busy machine is not taken for an owner that hangs. Only tests change it.
var patience = 5 * time.Second

const (
	// patienceInterrupted is the same once the person interrupted the command.
	patienceInterrupted = 2 * time.Second
	// aliveEvery is the interval at which an owner says that it is there.
	aliveEvery = 500 * time.Millisecond
)

// conn is one connection; writes of frames are serialised.
type conn struct {
	net.Conn
	mu sync.Mutex // guards writes
	r  *bufio.Reader
	// writing bounds each write, as a time.Duration; 0 is no bound.
	writing atomic.Int64
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, r: bufio.NewReaderSize(c, 64<<10)} }

// boundWrites lets no write, not even one that waits already, take longer than
// patience from now on.
func (c *conn) boundWrites() {
	c.writing.Store(int64(patience))
	_ = c.SetWriteDeadline(time.Now().Add(patience))
}

func (c *conn) send(kind byte, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if bound := time.Duration(c.writing.Load()); bound > 0 {
			_ = c.SetWriteDeadline(time.Now().Add(bound))
		}
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

// Handler runs one command and returns its exit status. ctx ends when the other side
// interrupts or disconnects. closing is closed when the owner is about to close: a
// command that ends by itself continues, one that lasts returns Gone.
type Handler func(ctx context.Context, closing <-chan struct{}, command Command, streams Streams) int

// Server is the owner's end. Use Serve.
type Server struct {
	listener net.Listener
	version  string
	handle   Handler
	closing  chan struct{}
	once     sync.Once
	wg       sync.WaitGroup
}

// Serve listens for the commands of other programs about the data folder, and runs
// each with handle on a goroutine of its own, until Close. It replaces a socket that a
// dead program left. Only the program that holds the store's lock may call it. The
// error says that no folder is private enough for the socket, or what the system said.
func Serve(data, version string, handle Handler) (*Server, error) {
	path, err := ownAddress(data)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replace the socket %s: %w", path, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path) // its own: Close ends it
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = listener.Close()
		return nil, err
	}
	s := &Server{listener: listener, version: version, handle: handle, closing: make(chan struct{})}
	s.wg.Go(s.accept) // ended by Close, which closes the listener
	return s, nil
}

// Address returns the path of the server's socket.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close stops listening, waits for the commands that run to end, and has those that
// last give way (see Handler). It does not wait for a program that reads no output for
// five seconds. Close may be called more than once.
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
	defer c.Close()
	if checkPeer(c.Conn) != nil {
		return // it learns nothing, not even why
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	kind, payload, err := c.receive()
	var command Command
	if err != nil || kind != frameCommand || json.Unmarshal(payload, &command) != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if command.Version != s.version {
		_ = c.send(frameRefused, []byte("The Conclave that is running is version "+s.version+
			", this command is version "+command.Version+". Close it, or install both from one release."))
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background()) // the command's own; its client ends it
	defer cancel(nil)
	in := newInput(func(bytes int) {
		_ = c.send(frameWant, binary.BigEndian.AppendUint32(nil, uint32(bytes))) // its program may be gone
	})
	var stop atomic.Pointer[func() bool] // what an interrupt does first
	var reading sync.WaitGroup
	reading.Go(func() { // ends when the connection closes
		defer in.end()
		defer cancel(context.Canceled)
		for {
			kind, payload, err := c.receive()
			switch {
			case err != nil:
				return
			case kind == frameInterrupt:
				if first := stop.Load(); first == nil || !(*first)() {
					cancel(fault.New(fault.Canceled, "remote", "It was interrupted.", ""))
				}
			case kind == frameFlushed:
				in.flushed()
			case kind == frameIn && len(payload) == 0:
				in.end()
			case kind == frameIn:
				in.put(payload)
			}
		}
	})
	_ = c.send(frameBegun, nil)
	over, ended := make(chan struct{}), make(chan struct{})
	defer close(over)
	s.wg.Go(func() { // ends with this connection
		select {
		case <-s.closing:
			c.boundWrites()
		case <-over:
		}
	})
	var alive sync.WaitGroup
	alive.Go(func() { sayAlive(c, ended) }) // ends with the command
	code := s.handle(ctx, s.closing, command, Streams{
		In: in, Out: stream{c, frameOut}, Err: stream{c, frameErr},
		Lasting:     func() { _ = c.send(frameLasting, nil) },
		Interrupted: func(first func() bool) { stop.Store(&first) },
		Flush:       func() { in.flush(func() error { return c.send(frameFlush, nil) }) },
	})
	close(ended)
	alive.Wait()
	in.end()
	if code == Gone {
		_ = c.send(frameGone, nil)
	} else {
		_ = c.send(frameExit, []byte{byte(code)})
	}
	_ = c.Close()
	reading.Wait()
}

// sayAlive tells the other side that this program is there, until the command
// ended.
func sayAlive(c *conn, ended <-chan struct{}) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			if c.send(frameAlive, nil) != nil {
				return
			}
		}
	}
}

// Run has the owner of the data folder run the command, and returns its exit status.
// Interrupting ctx interrupts the command, whose output still arrives; Run gives up
// after two seconds on an owner that does not answer then. It reads no input before
// the owner has taken the command. Errors: ErrGone; ErrLost; a fault of kind conflict
// for another version or another user's program, of kind timeout for an owner that
// does not answer, and canceled for one that does not answer an interrupt;
// os.ErrNotExist and the like when nobody listens.
func Run(ctx context.Context, data string, command Command, streams Streams) (int, error) {
	raw, err := dial(ctx, data)
	if err != nil {
		return 0, err
	}
	owner := &patient{Conn: raw}
	owner.wait.Store(int64(patience))
	c := newConn(owner)
	defer c.Close()
	words, err := json.Marshal(command)
	if err != nil {
		return 0, err
	}
	c.boundWrites()
	if err := c.send(frameCommand, words); err != nil {
		return 0, ErrGone
	}
	r := &run{c: c, owner: owner, streams: streams, feeding: newFeeding()}
	defer r.feeding.end()
	defer context.AfterFunc(ctx, r.interrupt)()
	code, err := r.follow()
	if r.interrupted.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, fault.New(fault.Canceled, "remote.run", "It was interrupted.", "")
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, r.silence()
	}
	return code, err
}

// run is a command that the owner runs, from this side.
type run struct {
	c       *conn
	owner   *patient
	streams Streams

	feeding     *feeding
	begun       bool // belongs to follow
	interrupted atomic.Bool
	heard       atomic.Bool // the owner sent something since the last interrupt
}

// interruptOnce is interrupt, unless the owner was silent since the last one: then
// it does nothing and returns false.
func (r *run) interruptOnce() bool {
	if r.interrupted.Load() && !r.heard.Load() {
		return false
	}
	r.interrupt()
	return true
}

// interrupt asks the owner to stop the command. One that does not answer is not
// waited for any longer than it takes to be sure of that.
func (r *run) interrupt() {
	r.interrupted.Store(true)
	r.heard.Store(false)
	r.owner.hurry(patienceInterrupted)
	_ = r.c.send(frameInterrupt, nil)
}

// silence returns what a person is told of an owner that does not answer.
func (r *run) silence() error {
	const message = "The Conclave that has the store open does not answer: it was stopped (Ctrl-Z), or hangs."
	if !r.begun {
		return fault.New(fault.Timeout, "remote.run", message,
			"Let it go on (fg), or end it, and try again. Nothing was done.")
	}
	return fault.New(fault.Timeout, "remote.run", message,
		"Let it go on (fg), or end it. What the command did so far is kept; the rest is not done.")
}

// follow passes on what the owner sends until the command has ended.
func (r *run) follow() (int, error) {
	lost := ErrGone
	for {
		kind, payload, err := r.c.receive()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if err != nil {
			return 0, lost
		}
		r.heard.Store(true)
		switch kind {
		case frameBegun:
			lost = ErrLost
			if r.streams.Interrupted != nil {
				r.streams.Interrupted(r.interruptOnce)
			}
			r.begun = true
			go r.feed() // ends with the run, or with the program: a read of a terminal cannot be called back
		case frameWant:
			if len(payload) == 4 {
				r.feeding.more(int(binary.BigEndian.Uint32(payload)))
			}
		case frameLasting:
			lost = ErrGone
		case frameFlush:
			if r.streams.Flush != nil {
				r.streams.Flush()
			}
			err = r.c.send(frameFlushed, nil)
		case frameOut:
			_, err = r.streams.Out.Write(payload)
		case frameErr:
			_, err = r.streams.Err.Write(payload)
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

// patient is a connection whose reads fail with os.ErrDeadlineExceeded after the
// other side was silent for some time.
type patient struct {
	net.Conn
	wait   atomic.Int64 // the time, as a time.Duration
	hasten sync.Mutex   // guards the order of wait and the deadline that follows from it
}

// hurry shortens the time, for a read that waits already too.
func (p *patient) hurry(wait time.Duration) {
	p.hasten.Lock()
	defer p.hasten.Unlock()
	p.wait.Store(int64(wait))
	_ = p.SetReadDeadline(time.Now().Add(wait / 2))
}

// Read waits in two halves: when this process was itself stopped and goes on, the
// first half is over at once, and what came meanwhile is read in the second.
func (p *patient) Read(b []byte) (n int, err error) {
	for range 2 {
		p.hasten.Lock()
		_ = p.SetReadDeadline(time.Now().Add(time.Duration(p.wait.Load()) / 2))
		p.hasten.Unlock()
		n, err = p.Conn.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
	return n, err
}

// feed sends input to the owner, as much as it wants, and its end; nil is an empty one.
func (r *run) feed() {
	buffer := make([]byte, 32<<10)
	for r.streams.In != nil {
		room := r.feeding.room()
		if room == 0 {
			return
		}
		n, err := r.streams.In.Read(buffer[:min(room, len(buffer))])
		if n > 0 && r.c.send(frameIn, buffer[:n]) != nil {
			return
		}
		r.feeding.more(-n)
		if err != nil {
			break
		}
	}
	_ = r.c.send(frameIn, nil)
}

// feeding counts the bytes of input that the owner still wants.
type feeding struct {
	mu      sync.Mutex // guards the fields below
	changed *sync.Cond
	bytes   int
	over    bool
}

func newFeeding() *feeding {
	f := &feeding{bytes: window}
	f.changed = sync.NewCond(&f.mu)
	return f
}

func (f *feeding) more(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes += bytes
	f.changed.Broadcast()
}

// room waits until something is wanted, and returns how much; 0 once the run is over.
func (f *feeding) room() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.bytes <= 0 && !f.over {
		f.changed.Wait()
	}
	if f.over {
		return 0
	}
	return f.bytes
}

func (f *feeding) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.changed.Broadcast()
}
