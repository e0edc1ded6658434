package client_test

import (
	"context"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin/dialect/mcp/mcptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Each test here shows what the client of go-sdk v1.8.0 does, and the name of the test in this package that
// shows what ours does. One that fails after an upgrade means that the SDK can do it now, and that
// docs/adr/0043 should be read again.

// sdkOverStream connects the SDK's client to a server in this process.
func sdkOverStream(ctx context.Context, t *testing.T, f mcptest.Flags) (*mcp.ClientSession, *mcptest.Server, error) {
	t.Helper()
	server := mcptest.New(f)
	ours, theirs := net.Pipe()
	go func() { // ends with ours
		server.ServeStream(theirs)
		_ = theirs.Close()
	}()
	t.Cleanup(func() { _ = ours.Close() })
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.IOTransport{Reader: ours, Writer: ours}, nil)
	return s, server, err
}

func sdkOverHTTP(t *testing.T, f mcptest.Flags, o *mcp.ClientOptions) (*mcp.ClientSession, *mcptest.Server) {
	t.Helper()
	server := mcptest.New(f)
	web := httptest.NewServer(server)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		web.CloseClientConnections()
		web.Close()
	})
	return s, server
}

// Ours: TestMC04ASilentServerGetsAHandshakeOnTheSameStream.
func TestMC01SDK180WaitsForASilentServerUntilTheDeadline(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	_, server, err := sdkOverStream(ctx, t, mcptest.Flags{Silent: true})
	if err == nil || len(server.Received("initialize")) != 0 {
		t.Errorf("it began a handshake: %v", err)
	}
}

// Ours: TestMC34EachKindOfContentIsRead.
func TestMC01SDK180FailsAWholeResultForOneUnknownBlock(t *testing.T) {
	s, _, err := sdkOverStream(t.Context(), t, mcptest.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "blocks"}); err == nil {
		t.Errorf("it read %d blocks", len(r.Content))
	}
}

// Ours: TestMC56OnlyWhatWorksIsAnnounced.
func TestMC01SDK180AnnouncesFoldersThatAreNotThere(t *testing.T) {
	_, server, err := sdkOverStream(t.Context(), t, mcptest.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	params := string(server.Received("initialize")[0].Params)
	if !strings.Contains(params, `"roots":{"listChanged":true}`) {
		t.Errorf("it announced %s", params)
	}
}

// Ours: TestMC21HeadersRepeatTheRequest.
func TestMC01SDK180WritesANameRawIntoItsHeader(t *testing.T) {
	s, server := sdkOverHTTP(t, mcptest.Flags{Modern: true}, nil)
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "世界"}); err != nil {
		t.Fatal(err)
	}
	if got := server.Received("tools/call")[0].Header["Mcp-Name"]; !slices.Equal(got, []string{"世界"}) {
		t.Errorf("it wrote %q", got)
	}
}

// Ours: TestMC19AForgottenSessionIsRenewedSilently.
func TestMC01SDK180EndsWithTheSessionThatAServerForgot(t *testing.T) {
	s, _ := sdkOverHTTP(t, mcptest.Flags{ForgetsAfter: 6}, nil)
	failed := 0
	for range 12 {
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo"}); err != nil {
			failed++
		}
	}
	if failed < 2 {
		t.Errorf("%d calls failed", failed)
	}
}

// Ours: TestMC25ChangesAreHeardAfterTheStreamBroke.
func TestMC01SDK180OpensASubscriptionOnce(t *testing.T) {
	t.Parallel()
	_, server := sdkOverHTTP(t, mcptest.Flags{Modern: true, ClosesListen: true}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
	})
	eventually(t, "nobody listens", func() bool { return server.Listens() > 0 })
	time.Sleep(2 * time.Second) // ours comes after 1 to 1.5 s
	if n := server.Listens(); n != 1 {
		t.Errorf("it opened %d", n)
	}
}
