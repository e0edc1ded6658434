package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"conclave/app/base/fault"
	"conclave/app/base/limit"

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
	f.AddReceivingMiddleware(d.counting)
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
	session, err := f.Connect(context.WithoutCancel(ctx), &mcp.IOTransport{
		Reader: &input{io.MultiReader(bytes.NewReader(first), rest), closer, d, 0}, Writer: output{o.Out},
		MaxLineLength: limit.ProgramRequest,
	}, goesOn(first))
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

// input is the input of a session. Its end waits for the calls that are under way, for a while: a script may close
// it behind its last request.
type input struct {
	io.Reader
	closer   io.Closer // may be nil
	endpoint *endpoint
	asked    int // calls that were read; one that is cut by the end of a read is not counted
}

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	i.asked += bytes.Count(p[:n], []byte(`"tools/call"`))
	if n == 0 && errors.Is(err, io.EOF) {
		i.endpoint.rests(i.asked)
	}
	return n, err
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
