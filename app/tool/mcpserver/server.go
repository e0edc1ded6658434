// Package mcpserver offers tools that a person chose to other programs, as an MCP server: over standard
// streams, and over HTTP at one address to programs of this computer that carry a token. It serves both eras
// of the protocol: sessions that begin with initialize, and requests that carry their version.
//
// Each call goes through the gate with the program as its caller and is recorded like any other. The package
// knows no plugin, no process and no window.
//
// Read Server, then Server.ServeStreams and Server.Listen. The rules are contracts/mcp, section 18.
package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/version"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/call"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configure a Server. All fields but Log and Now are required.
type Options struct {
	Tools *tool.Registry
	Calls *call.Runner
	// Can returns what calls of a tool can do; none where that is not known.
	Can   func(tool.Tool) []gate.Capability
	Store Store
	Keys  Keys
	// Media reads the bytes of a stored attachment.
	Media func(ctx context.Context, id string) ([]byte, error)
	Bus   *bus.Bus
	Log   *slog.Logger     // nil discards
	Now   func() time.Time // nil is time.Now
}

// Server offers tools to other programs. Use Open, and Close it. It is safe for concurrent use.
type Server struct {
	// TryAgain is the pause between two attempts to open a port that another program has; Open sets 3 s.
	TryAgain time.Duration

	o        Options
	programs *programs
	own      ownPort

	ctx  context.Context //nolint:containedctx // the server's own: it ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	endpoints map[*endpoint]struct{}
	follows   bool
	isClosed  bool
}

// Open reads what the person set for other programs. The error is the store's.
func Open(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	known, err := readPrograms(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &Server{TryAgain: 3 * time.Second, o: o, programs: known, endpoints: map[*endpoint]struct{}{}}
	s.ctx, s.stop = context.WithCancel(context.Background()) // ends with Close
	return s, nil
}

// Close ends all sessions and ports, and saves how often programs called. It may be called more than once.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.isClosed = true
	s.mu.Unlock()
	s.stop()
	for _, d := range s.openEndpoints() {
		d.close()
	}
	s.wg.Wait()
	return s.programs.save(ctx)
}

func (s *Server) openEndpoints() []*endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*endpoint, 0, len(s.endpoints))
	for d := range s.endpoints {
		all = append(all, d)
	}
	return all
}

// enter offers the tools at a endpoint, and follows their changes from the first endpoint on. It reports whether
// the server is open.
func (s *Server) enter(d *endpoint) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		return false
	}
	s.endpoints[d] = struct{}{}
	if !s.follows {
		s.follows = true
		changed := s.o.Bus.Subscribe(bus.Tools, bus.Plugins, bus.Permissions, bus.Settings)
		s.wg.Go(func() { // ends with Close
			defer changed.Close()
			s.follow(changed)
		})
	}
	return true
}

func (s *Server) leave(d *endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.endpoints, d)
}

// pause is the time between two looks at what is offered: a plugin that loads makes several notices.
const pause = 100 * time.Millisecond

// follow offers what has changed, until the server is closed.
func (s *Server) follow(changed *bus.Subscription) {
	for {
		if _, err := changed.Next(s.ctx); err != nil {
			return
		}
		s.publish()
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
	}
}

// publish brings all endpoints in line with what is offered now.
func (s *Server) publish() {
	offers := s.offers()
	for _, d := range s.openEndpoints() {
		d.offer(offers)
	}
}

// instanceKey names the experimental capability by which Conclave recognises itself among MCP servers.
const instanceKey = "conclave/instance"

// newMCP returns a server of the SDK without tools.
func (s *Server) newMCP(versions []string) *mcp.Server {
	made := mcp.NewServer(
		&mcp.Implementation{Name: "conclave", Title: "Conclave", Version: version.Version},
		&mcp.ServerOptions{
			Logger:                    s.o.Log,
			SupportedProtocolVersions: versions,
			Capabilities: &mcp.ServerCapabilities{
				Tools:        &mcp.ToolCapabilities{ListChanged: true},
				Logging:      &mcp.LoggingCapabilities{},
				Experimental: map[string]any{instanceKey: map[string]any{"id": version.Instance()}},
			},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
				c.TTLMs, c.CacheScope = int(fresh/time.Millisecond), "private"
			},
		})
	made.AddReceivingMiddleware(listForEra)
	return made
}

// fresh is the time for which a program may use a list without asking again.
const fresh = time.Minute
