package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Streams are the standard streams of a program that started Conclave as its server.
type Streams struct {
	In  io.Reader // closed at the end of the session if it is an io.Closer
	Out io.Writer // gets protocol only
	// Name is that of the program, as the person knows it.
	Name string
	// Closing is closed when the session is to be handed over to another Conclave; nil never is.
	Closing <-chan struct{}
}

// ErrClosing is returned by ServeStreams where Streams.Closing ended the session: another Conclave can go on
// with it.
var ErrClosing = errors.New("the session can go on in another Conclave")

// ServeStreams serves one program until its input ends, ctx ends or o.Closing is closed. A program that does not
// begin with initialize had its session in another Conclave, and goes on with it.
func (s *Server) ServeStreams(ctx context.Context, o Streams, c Choices) error {
	if err := CheckName(o.Name); err != nil {
		return err
	}
	in := bufio.NewReaderSize(o.In, 64<<10)
	first, err := firstLine(ctx, in, o)
	if err != nil || first == nil {
		return err
	}
	f := &toolServer{s.newMCP(nil), map[string]string{}}
	d := &endpoint{
		s: s, choices: c, servers: []*toolServer{f}, calls: map[*running]struct{}{},
		who:      func(*mcp.CallToolRequest) string { return o.Name },
		sessions: func() map[string]int { return map[string]int{o.Name: 1} },
	}
	session, err := f.connect(ctx, first, in, o, d, s)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { // ends with the session, which is closed below
		defer close(ended)
		_ = session.Wait()
	}()
	select {
	case <-ended:
		err = nil
	case <-o.Closing:
		err = ErrClosing
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.ctx.Done():
		err = ErrClosing
	}
	d.close()
	<-ended
	return err
}

// connect offers the tools and begins the session.
func (f *toolServer) connect(ctx context.Context, first []byte, rest io.Reader, o Streams, d *endpoint,
	s *Server,
) (*mcp.ServerSession, error) {
	d.offer(s.offers())
	closer, _ := o.In.(io.Closer)
	session, err := f.Connect(context.WithoutCancel(ctx), &stdio{mcp.IOTransport{
		Reader: &input{io.MultiReader(bytes.NewReader(first), rest), closer}, Writer: output{o.Out},
		MaxLineLength: limit.ProgramRequest,
	}}, goesOn(first))
	if err != nil {
		return nil, err
	}
	d.shut = func(program string) {
		if program == "" || program == o.Name {
			_ = session.Close() // its program may be gone
		}
	}
	if !s.enter(d) {
		_ = session.Close()
		return nil, ErrClosing
	}
	d.offer(s.offers()) // what changed before it entered
	return session, nil
}

// goesOn returns the state of a session that begins with a message: none where that is initialize or carries its
// version, else that of a session which was initialized elsewhere.
func goesOn(first []byte) *mcp.ServerSessionOptions {
	if begins(first) || isModern(nil, first) {
		return nil
	}
	return &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
		InitializeParams:          &mcp.InitializeParams{ProtocolVersion: sessionVersions[1]},
		InitializedParams:         &mcp.InitializedParams{},
		NegotiatedProtocolVersion: sessionVersions[1],
	}}
}

// firstLine waits for the first line that is not empty. It returns nil and no error at the end of the input.
func firstLine(ctx context.Context, in *bufio.Reader, o Streams) ([]byte, error) {
	type read struct {
		line []byte
		err  error
	}
	lines := make(chan read, 1)
	go func() { // ends with a line, or with the input
		for {
			line, err := boundedLine(in)
			if len(bytes.TrimSpace(line)) > 0 || err != nil {
				lines <- read{line, err}
				return
			}
		}
	}()
	select {
	case r := <-lines:
		switch {
		case len(bytes.TrimSpace(r.line)) > 0 && (r.err == nil || errors.Is(r.err, io.EOF)):
			return r.line, nil
		case errors.Is(r.err, io.EOF):
			return nil, nil
		}
		return nil, r.err
	case <-o.Closing:
		closeInput(o.In)
		return nil, ErrClosing
	case <-ctx.Done():
		closeInput(o.In)
		return nil, context.Cause(ctx)
	}
}

func closeInput(in io.Reader) {
	if c, ok := in.(io.Closer); ok {
		_ = c.Close()
	}
}

// boundedLine reads a line with its end.
func boundedLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > limit.ProgramRequest:
			return nil, fault.New(fault.Invalid, "mcpserver.streams", "The program sent a message of more than 8 MiB.", "")
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// stdio is the transport of a session over standard streams. The end of its input waits until the requests before it
// are answered, for a while: a script may close it behind its last one.
type stdio struct{ mcp.IOTransport }

// Connect implements mcp.Transport.
func (t *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	return &connection{Connection: c, open: map[jsonrpc.ID]struct{}{}}, err
}

// connection is the connection of a session over standard streams.
type connection struct {
	mcp.Connection

	mu   sync.Mutex              // guards open
	open map[jsonrpc.ID]struct{} // requests that are not answered; subscriptions are not among them
}

// Read implements mcp.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" {
		c.mu.Lock()
		c.open[r.ID] = struct{}{}
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.rest()
	}
	return m, err
}

// Write implements mcp.Connection.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		defer c.answered(r.ID)
	}
	return c.Connection.Write(ctx, m)
}

func (c *connection) answered(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

// Close implements mcp.Connection.
func (c *connection) Close() error {
	c.mu.Lock()
	clear(c.open)
	c.mu.Unlock()
	return c.Connection.Close()
}

// rest waits until all requests are answered, but no longer than stopped calls have to answer.
func (c *connection) rest() {
	for late := time.Now().Add(ending); time.Now().Before(late); time.Sleep(checkEvery) {
		c.mu.Lock()
		rests := len(c.open) == 0
		c.mu.Unlock()
		if rests {
			return
		}
	}
}

// input is the input of a session.
type input struct {
	io.Reader
	closer io.Closer // may be nil
}

// Close implements io.Closer.
func (i *input) Close() error {
	if i.closer == nil {
		return nil
	}
	return i.closer.Close()
}

// output is the output of a session, which outlives it.
type output struct{ io.Writer }

// Close implements io.Closer.
func (output) Close() error { return nil }
