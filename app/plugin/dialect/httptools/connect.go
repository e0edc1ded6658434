package httptools

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"sync"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connection answers for a program that registered, in memory: to the host it is the
// process of a plugin.
type connection struct {
	end  io.ReadWriteCloser // the host's end of the wire
	own  io.Closer          // ours
	host *wire.HostClient
	over chan struct{}
	once sync.Once
}

// Connect implements plugin.Connector. It makes no connection to the program: each call
// does.
func (d *Dialect) Connect(_ context.Context, src plugin.Source, _ plugin.Manifest,
	_ plugin.StartOptions,
) (plugin.Connection, error) {
	_, l, err := read(src)
	if err != nil {
		return nil, err
	}
	s := &server{tools: l.Tools, client: d.client}
	speaker := mcp.NewServer(&mcp.Implementation{Name: "conclave-http", Version: "1"}, &mcp.ServerOptions{
		Capabilities: wire.Announce(&mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}),
	})
	speaker.AddReceivingMiddleware(s.receive)
	end, own := net.Pipe()
	c := &connection{end: end, own: own, over: make(chan struct{})}
	// Its own context: the connection lasts longer than the call that is made first.
	if c.host, err = wire.ServeLines(context.Background(), own, speaker, wire.MaxLine); err != nil {
		return nil, err
	}
	go func() { // ends when the host closes its end, or Kill ours
		_ = c.host.Wait()
		close(c.over)
	}()
	return c, nil
}

// Wire implements plugin.Connection.
func (c *connection) Wire() io.ReadWriteCloser { return c.end }

// Done implements plugin.Connection.
func (c *connection) Done() <-chan struct{} { return c.over }

// Exit implements plugin.Connection.
func (c *connection) Exit() string { return "exit 0" }

// Stderr implements plugin.Connection.
func (c *connection) Stderr() string { return "" }

// End implements plugin.Connection.
func (c *connection) End() { c.Kill() }

// Kill implements plugin.Connection. It waits for the calls under way, whose requests end
// with the connection.
func (c *connection) Kill() {
	c.once.Do(func() {
		c.host.Close()
		_ = c.own.Close()
		_ = c.end.Close()
	})
	<-c.over
}

// Usage implements plugin.Connection.
func (c *connection) Usage() sandbox.Usage { return sandbox.Usage{} }

// Deleted implements plugin.Connection.
func (c *connection) Deleted() int64 { return 0 }

// server answers the host's requests about the tools of one plugin.
type server struct {
	tools  []defined
	client *caller
}

// receive answers what is about tools, and leaves the rest to the SDK.
func (s *server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "tools/list":
			return s.list(), nil
		case "tools/call":
			return s.call(ctx, req.(*mcp.CallToolRequest)), nil
		}
		return next(ctx, method, req)
	}
}

func (s *server) list() *mcp.ListToolsResult {
	result := &mcp.ListToolsResult{Tools: []*mcp.Tool{}}
	for _, t := range s.tools {
		result.Tools = append(result.Tools, &mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.Parameters,
			Meta: mcp.Meta{wire.MetaTimeout: int64(t.Timeout * 1000)},
		})
	}
	return result
}

func (s *server) call(ctx context.Context, req *mcp.CallToolRequest) *mcp.CallToolResult {
	asked := request{Name: req.Params.Name, Arguments: json.RawMessage(req.Params.Arguments)}
	asked.CallID, _ = req.Params.Meta[wire.MetaCall].(string)
	asked.Raw, _ = req.Params.Meta[wire.MetaRaw].(string)
	for _, t := range s.tools {
		if t.Name != asked.Name {
			continue
		}
		deadline := time.Now().Add(time.Duration(t.Timeout * float64(time.Second)))
		if ms, ok := req.Params.Meta[wire.MetaDeadline].(float64); ok {
			deadline = time.UnixMilli(int64(ms))
		}
		return s.client.call(ctx, t, asked, deadline).result()
	}
	return Outcome{Failed: true, Text: "the program does not register this tool any more"}.result()
}
