package client_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/mcp/client"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkServer is a server of go-sdk with a tool that reports progress and asks, and a resource that changes.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		PageSize:           2,
	})
	object := json.RawMessage(`{"type":"object"}`)
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: object},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: r.Params.GetProgressToken(), Progress: 1, Message: "half",
			})
			if answer, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult); ok {
				name, _ := answer.Content["name"].(string)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello " + name}}}, nil
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{
				Mode: "form", Message: "Who?",
				RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
			}}}, nil
		})
	for _, name := range []string{"b", "c", "d", "e"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: object},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	s.AddResource(&mcp.Resource{URI: "test://one", Name: "one"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "one"}}}, nil
		})
	return s
}

func TestServersOfTheSDKAreSpokenTo(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, *mcp.Server, client.Options) *client.Session{
		"stream": func(t *testing.T, server *mcp.Server, o client.Options) *client.Session {
			ours, theirs := net.Pipe()
			go func() { // ends with ours
				_ = server.Run(context.WithoutCancel(t.Context()), &mcp.IOTransport{Reader: theirs, Writer: theirs})
			}()
			return must[*client.Session](t)(client.OverStream(t.Context(), ours, o))
		},
		"modern HTTP": func(t *testing.T, server *mcp.Server, o client.Options) *client.Session {
			return overSDK(t, server, &mcp.StreamableHTTPOptions{Stateless: true}, o)
		},
		"legacy HTTP": func(t *testing.T, server *mcp.Server, o client.Options) *client.Session {
			return overSDK(t, server, nil, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			changed, updated := make(chan struct{}, 10), make(chan string, 10)
			o := asker(nil)
			o.ToolsChanged = func() { changed <- struct{}{} }
			o.ResourceUpdated = func(uri string) { updated <- uri }
			server := sdkServer()
			s := begin(t, server, o)
			defer s.Close()
			if modern := name != "legacy HTTP"; (s.Server().Era == client.Modern) != modern {
				t.Errorf("it is %s", s.Server().Era)
			}
			if tools, _, err := s.Tools(t.Context()); err != nil || len(tools) != 5 {
				t.Errorf("%d tools, %v", len(tools), err)
			}
			var steps []string
			r, err := s.Call(t.Context(), client.Call{
				Tool: "ask", Progress: func(p client.Progress) { steps = append(steps, p.Message) },
			})
			if err != nil || text(r) != "Hello Ada" || len(steps) == 0 {
				t.Errorf("%q, %v, %v", text(r), steps, err)
			}
			if b := must[[]client.Block](t)(s.Read(t.Context(), "test://one")); b[0].Text != "one" {
				t.Errorf("read: %+v", b)
			}
			if strings.Contains(name, "HTTP") {
				return // its stateless handler has no way back, and its stateful one none for a second session
			}
			if err := s.Subscribe(t.Context(), "test://one"); err != nil {
				t.Fatal(err)
			}
			_ = server.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "test://one"})
			if uri := <-updated; uri != "test://one" {
				t.Errorf("updated: %s", uri)
			}
			server.RemoveTools("b")
			<-changed
		})
	}
}

func overSDK(t *testing.T, server *mcp.Server, how *mcp.StreamableHTTPOptions, o client.Options) *client.Session {
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, how))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return must[*client.Session](t)(client.OverHTTP(t.Context(), web.URL, nil, o))
}
