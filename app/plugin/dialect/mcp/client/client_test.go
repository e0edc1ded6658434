package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/plugin/dialect/mcp/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// log gathers the lines of a session.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) write(level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, level+" "+text)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

func (l *log) count(part string) int { return strings.Count(l.text(), part) }

// eventually waits until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s: %s", what)
		}
	}
}

// dialStream begins a session with a server in this process.
func dialStream(t testing.TB, f mcptest.Flags, o client.Options) (*client.Session, *mcptest.Server, error) {
	t.Helper()
	server := mcptest.New(f)
	ours, theirs := net.Pipe()
	go func() { // ends when ours is closed
		server.ServeStream(theirs)
		_ = theirs.Close()
	}()
	s, err := client.OverStream(t.Context(), ours, o)
	if s != nil {
		t.Cleanup(s.Close)
	}
	return s, server, err
}

func overStream(t *testing.T, f mcptest.Flags, o client.Options) (*client.Session, *mcptest.Server) {
	t.Helper()
	s, server, err := dialStream(t, f, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, server
}

func dialHTTP(t *testing.T, f mcptest.Flags, o client.Options) (*client.Session, *mcptest.Server, error) {
	t.Helper()
	server := mcptest.New(f)
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	s, err := client.OverHTTP(t.Context(), web.URL+"/mcp", nil, o)
	if s != nil {
		t.Cleanup(s.Close)
	}
	return s, server, err
}

func overHTTP(t *testing.T, f mcptest.Flags, o client.Options) (*client.Session, *mcptest.Server) {
	t.Helper()
	s, server, err := dialHTTP(t, f, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, server
}

// everywhere runs a test over each transport in each era.
func everywhere(t *testing.T, f mcptest.Flags, o client.Options,
	test func(*testing.T, *client.Session, *mcptest.Server),
) {
	t.Helper()
	modern, old := f, f
	modern.Modern, old.OldSSE = true, true
	for name, begin := range map[string]func(*testing.T) (*client.Session, *mcptest.Server){
		"legacy stream":   func(t *testing.T) (*client.Session, *mcptest.Server) { return overStream(t, f, o) },
		"modern stream":   func(t *testing.T) (*client.Session, *mcptest.Server) { return overStream(t, modern, o) },
		"legacy HTTP":     func(t *testing.T) (*client.Session, *mcptest.Server) { return overHTTP(t, f, o) },
		"modern HTTP":     func(t *testing.T) (*client.Session, *mcptest.Server) { return overHTTP(t, modern, o) },
		"HTTP of 2024-11": func(t *testing.T) (*client.Session, *mcptest.Server) { return overHTTP(t, old, o) },
	} {
		t.Run(name, func(t *testing.T) {
			s, server := begin(t)
			test(t, s, server)
		})
	}
}

func call(t *testing.T, s *client.Session, tool, arguments string) client.Result {
	t.Helper()
	return must[client.Result](t)(s.Call(t.Context(), client.Call{Tool: tool, Arguments: json.RawMessage(arguments)}))
}

func text(r client.Result) string {
	var all []string
	for _, b := range r.Blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "|")
}

func TestASessionListsAndCallsOverEachTransport(t *testing.T) {
	everywhere(t, mcptest.Flags{}, client.Options{}, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		tools, _, err := s.Tools(t.Context())
		if err != nil || len(tools) == 0 || tools[0].Name != "echo" {
			t.Fatalf("tools: %v, %v", tools, err)
		}
		if got := text(call(t, s, "echo", `{"text":"héllo <&>"}`)); got != "héllo <&>" {
			t.Errorf("echo: %q", got)
		}
		info := s.Server()
		if info.Name != "fake" || info.ServerVersion != "1.2.3" ||
			info.Instructions != "Be kind." || !info.Capabilities.Tools {
			t.Errorf("server: %+v", info)
		}
		for _, m := range server.Received("") {
			if strings.Contains(string(m.Params), "conclave/") {
				t.Errorf("a key of ours was sent: %s", m.Params)
			}
		}
	})
}

func TestMC03NothingOfConclavesOwnIsSent(t *testing.T) {
	o := asker(nil)
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		call(t, s, "ask", "")
		for _, m := range server.Received("") {
			if strings.HasPrefix(m.Method, "conclave/") || strings.Contains(string(m.Params), `"conclave/`) {
				t.Errorf("a message of ours was sent: %s %s", m.Method, m.Params)
			}
		}
	})
}

func TestMC04ASilentServerGetsAHandshakeOnTheSameStream(t *testing.T) {
	began := time.Now()
	s, server := overStream(t, mcptest.Flags{Silent: true}, client.Options{
		Limits: client.Limits{FirstByte: 50 * time.Millisecond, Probe: 50 * time.Millisecond},
	})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the handshake took %s", took)
	}
	if len(server.Received("server/discover")) != 1 || len(server.Received("initialize")) != 1 ||
		s.Server().Era != client.Legacy {
		t.Errorf("received: %+v", server.Received(""))
	}
	if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("echo: %q", got)
	}
}

func TestMC04ARememberedEraIsNotAskedAgain(t *testing.T) {
	_, server := overStream(t, mcptest.Flags{}, client.Options{Era: client.Legacy})
	if len(server.Received("server/discover")) != 0 {
		t.Error("the server was asked")
	}
}

func TestMC05AServerThatDiesAtTheProbeIsStartedAgain(t *testing.T) {
	f := mcptest.Flags{DiesOnProbe: true}
	if _, _, err := dialStream(t, f, client.Options{}); !errors.Is(err, client.ErrStartAgain) {
		t.Fatalf("the first start: %v", err)
	}
	s, _ := overStream(t, f, client.Options{Era: client.Legacy})
	if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("echo: %q", got)
	}
}

func TestMC06TheWayOverHTTPIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f              mcptest.Flags
		era, transport string
	}{
		"modern":             {mcptest.Flags{Modern: true}, client.Modern, client.HTTP},
		"legacy":             {mcptest.Flags{}, client.Legacy, client.HTTP},
		"old":                {mcptest.Flags{OldSSE: true}, client.Legacy, client.SSE},
		"after two failures": {mcptest.Flags{Modern: true, Fails: 2}, client.Modern, client.HTTP},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := overHTTP(t, c.f, client.Options{})
			if i := s.Server(); i.Era != c.era || i.Transport != c.transport {
				t.Errorf("got %s over %s", i.Era, i.Transport)
			}
		})
	}
	t.Run("a refusal is no evidence", func(t *testing.T) {
		_, server, err := dialHTTP(t, mcptest.Flags{Unauthorized: true}, client.Options{})
		refused, ok := errors.AsType[*client.RefusedError](err)
		if !ok || refused.Status != 401 {
			t.Fatalf("got %v", err)
		}
		if len(server.Received("initialize")) != 0 {
			t.Error("a handshake followed")
		}
	})
}

func TestAPageThatIsNoServerIsSaidToBeNone(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Welcome</html>")
	}))
	defer page.Close()
	_, err := client.OverHTTP(t.Context(), page.URL, nil, client.Options{})
	if err == nil || !strings.Contains(err.Error(), "this is no MCP server") || strings.Contains(err.Error(), "older") {
		t.Errorf("got %v", err)
	}
}

func TestMC25ASubscriptionThatTheServerDoesNotHaveIsRefused(t *testing.T) {
	for name, f := range map[string]mcptest.Flags{
		"legacy": {NoSubscriptions: true}, "modern": {Modern: true, NoSubscriptions: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, begin := range []func(*testing.T, mcptest.Flags, client.Options) (*client.Session, *mcptest.Server){
				overStream, overHTTP,
			} {
				s, _ := begin(t, f, client.Options{})
				if err := s.Subscribe(t.Context(), "test://one"); err == nil {
					t.Error("it is watched")
				}
			}
		})
	}
}

func TestMC07AnEraThatIsContradictedIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		f    mcptest.Flags
		era  string
		want string
	}{
		"it became modern": {mcptest.Flags{Modern: true}, client.Legacy, client.Modern},
		"it became legacy": {mcptest.Flags{}, client.Modern, client.Legacy},
	} {
		t.Run(name+", stream", func(t *testing.T) {
			s, _ := overStream(t, c.f, client.Options{Era: c.era})
			if s.Server().Era != c.want {
				t.Errorf("got %s", s.Server().Era)
			}
		})
		t.Run(name+", HTTP", func(t *testing.T) {
			s, _ := overHTTP(t, c.f, client.Options{Era: c.era})
			if s.Server().Era != c.want {
				t.Errorf("got %s", s.Server().Era)
			}
		})
	}
}

func TestMC08EachLegacyVersionWorksAndAnUnknownIsNamed(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		s, server := overHTTP(t, mcptest.Flags{Version: version}, client.Options{})
		if s.Server().Version != version {
			t.Errorf("got %s", s.Server().Version)
		}
		call(t, s, "echo", "")
		for _, m := range server.Received("tools/call") {
			if got := m.Header["Mcp-Protocol-Version"]; !slices.Equal(got, []string{version}) {
				t.Errorf("header: %v", got)
			}
		}
	}
	_, _, err := dialStream(t, mcptest.Flags{Version: "1999-01-01"}, client.Options{})
	if !errors.Is(err, client.ErrVersion) || !strings.Contains(err.Error(), "1999-01-01") ||
		!strings.Contains(err.Error(), "2026-07-28") {
		t.Errorf("got %v", err)
	}
}

func TestMC09LinesThatAreNoMessagesAreSkipped(t *testing.T) {
	var l log
	s, _ := overStream(t, mcptest.Flags{Banner: 3}, client.Options{Log: l.write})
	if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("echo: %q", got)
	}
	if l.count("banner line") != 3 || l.count("a line between messages") == 0 {
		t.Errorf("log: %s", l.text())
	}
	_, _, err := dialStream(t, mcptest.Flags{Banner: 300}, client.Options{})
	junk, ok := errors.AsType[*client.JunkError](err)
	if !ok || junk.First != "banner line 0" {
		t.Errorf("300 lines: %v", err)
	}
}

func TestMC09ListsOfMessagesAreTakenApart(t *testing.T) {
	s, _ := overStream(t, mcptest.Flags{Batches: true}, client.Options{})
	if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("echo: %q", got)
	}
}

func TestMC09AHugeAnswerFailsOnlyItsCall(t *testing.T) {
	t.Parallel()
	f := mcptest.Flags{HugeAnswer: 33 << 20}
	stream, _ := overStream(t, f, client.Options{})
	web, _ := overHTTP(t, f, client.Options{})
	for _, s := range []*client.Session{stream, web} {
		r := call(t, s, "huge", "")
		if !r.IsError || !strings.Contains(text(r), "32 MiB") {
			t.Errorf("got %v, %.100s", r.IsError, text(r))
		}
		if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
			t.Errorf("echo: %q", got)
		}
	}
}

func TestMC10BytesThatAreNoTextBecomeReplacements(t *testing.T) {
	s, _ := overStream(t, mcptest.Flags{InvalidUTF8: true}, client.Options{})
	if got := text(call(t, s, "echo", `{"text":"→ 世界"}`)); got != "\uFFFD→ 世界" {
		t.Errorf("echo: %q", got)
	}
}

func TestMC18AnswersOfBothKindsAreRead(t *testing.T) {
	// The server answers lists by one body and calls by a stream that begins with a comment; both name a charset.
	s, server := overHTTP(t, mcptest.Flags{Modern: true}, client.Options{})
	call(t, s, "echo", "")
	for _, m := range server.Received("tools/call") {
		if got := m.Header["Accept"]; !slices.Equal(got, []string{"application/json, text/event-stream"}) {
			t.Errorf("accept: %v", got)
		}
	}
}

func TestMC19AForgottenSessionIsRenewedSilently(t *testing.T) {
	t.Parallel()
	for _, by400 := range []bool{false, true} {
		renewed(t, mcptest.Flags{ForgetsAfter: 8, ForgetsBy400: by400})
	}
}

func renewed(t *testing.T, f mcptest.Flags) {
	changed := make(chan struct{}, 10)
	s, server := overHTTP(t, f, client.Options{ToolsChanged: func() { changed <- struct{}{} }})
	for range 12 {
		r, err := s.Call(t.Context(), client.Call{
			Tool: "echo", Arguments: json.RawMessage(`{"text":"x"}`), ReadOnly: true,
		})
		if err != nil || text(r) != "x" {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if n := len(server.Received("initialize")); n != 2 {
		t.Errorf("%d handshakes", n)
	}
	select {
	case <-changed:
	case <-time.After(5 * time.Second):
		t.Error("the lists were not read again")
	}
}

func TestMC19ACallThatMayChangeSomethingIsNotRepeated(t *testing.T) {
	s, _ := overHTTP(t, mcptest.Flags{ForgetsAfter: 8}, client.Options{})
	var failed []error
	for range 12 {
		if _, err := s.Call(t.Context(), client.Call{Tool: "echo"}); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) != 1 || !errors.Is(failed[0], client.ErrNotSent) {
		t.Errorf("got %v", failed)
	}
}

func TestMC20ABrokenStreamLosesTheCall(t *testing.T) {
	s, _ := overHTTP(t, mcptest.Flags{Modern: true, BreaksOff: true}, client.Options{})
	if _, err := s.Call(t.Context(), client.Call{Tool: "echo"}); !errors.Is(err, client.ErrUnknown) {
		t.Errorf("got %v", err)
	}
	s, server := overHTTP(t, mcptest.Flags{Modern: true, BreaksOff: true}, client.Options{})
	if _, err := s.Call(t.Context(), client.Call{Tool: "echo", ReadOnly: true}); err != nil {
		t.Errorf("got %v", err)
	}
	calls := server.Received("tools/call")
	if len(calls) != 2 || string(calls[0].ID) == string(calls[1].ID) {
		t.Errorf("calls: %v", calls)
	}
}

func TestMC21HeadersRepeatTheRequest(t *testing.T) {
	s, server := overHTTP(t, mcptest.Flags{Modern: true}, client.Options{})
	call(t, s, "世界", "") // the tools were not listed yet
	call(t, s, "region", `{"region":"Hello, 世界","deep":{"flag":true}}`)
	calls := server.Received("tools/call")
	if got := calls[0].Header["Mcp-Name"][0]; got != "=?base64?5LiW55WM?=" {
		t.Errorf("name: %s", got)
	}
	h := calls[1].Header
	if h["Mcp-Method"][0] != "tools/call" || h["Mcp-Name"][0] != "region" ||
		h["Mcp-Param-Region"][0] != "=?base64?SGVsbG8sIOS4lueVjA==?=" || h["Mcp-Param-Flag"][0] != "true" {
		t.Errorf("headers: %v", h)
	}
	_, left, err := s.Tools(t.Context())
	if err != nil || !slices.ContainsFunc(left, func(l client.LeftOut) bool {
		return l.Name == "badheader" && strings.Contains(l.Reason, "header N")
	}) {
		t.Errorf("left out: %v, %v", left, err)
	}
}

func TestMC21ARefusedHeaderIsCorrectedOnce(t *testing.T) {
	s, server := overHTTP(t, mcptest.Flags{Modern: true, BadHeaders: true}, client.Options{})
	if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("echo: %q", got)
	}
	if n := len(server.Received("tools/list")); n != 2 {
		t.Errorf("%d lists", n)
	}
}

func TestMC22TheOlderHTTPIsReachedAgain(t *testing.T) {
	t.Parallel()
	changed := make(chan struct{}, 10)
	s, server := overHTTP(t, mcptest.Flags{OldSSE: true},
		client.Options{ToolsChanged: func() { changed <- struct{}{} }})
	server.Drop()
	eventually(t, "the stream is not open again", func() bool { return server.Listens() == 2 })
	<-changed
	if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("echo: %q", got)
	}
}

func TestMC23OnlySafeAddressesAreUsed(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://example.com/mcp": false, "ftp://example.com/": false, "example.com": false, "": false,
		"http://169.254.169.254/": false,
	} {
		_, err := client.OverHTTP(t.Context(), address, nil, client.Options{})
		if errors.Is(err, client.ErrAddress) == ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestMC23NothingIsSentToAnotherOrigin(t *testing.T) {
	other := mcptest.New(mcptest.Flags{Modern: true})
	elsewhere := httptest.NewServer(other)
	defer elsewhere.Close()
	_, _, err := dialHTTP(t, mcptest.Flags{Redirect: elsewhere.URL}, client.Options{
		Header: map[string][]string{"Authorization": {"Bearer secret"}},
	})
	if !errors.Is(err, client.ErrAddress) {
		t.Errorf("got %v", err)
	}
	if len(other.Received("")) != 0 {
		t.Error("the other server got a message")
	}
}

func TestMC25ChangesAreHeardAfterTheStreamBroke(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]mcptest.Flags{"legacy": {}, "modern": {Modern: true}} {
		t.Run(name, func(t *testing.T) {
			changed := make(chan struct{}, 10)
			s, server := overHTTP(t, f, client.Options{ToolsChanged: func() { changed <- struct{}{} }})
			eventually(t, "nobody listens", func() bool { return server.Listens() == 1 })
			server.Notify("notifications/tools/list_changed")
			<-changed
			_ = s
		})
	}
	t.Run("a server that closes it is asked again, with pauses", func(t *testing.T) {
		changed := make(chan struct{}, 10)
		_, server := overHTTP(t, mcptest.Flags{Modern: true, ClosesListen: true},
			client.Options{ToolsChanged: func() { changed <- struct{}{} }})
		<-changed // the lists are read again after the second opening
		if n := server.Listens(); n != 2 {
			t.Errorf("%d openings", n)
		}
	})
}

func TestMC25NotificationsWithoutASubscriptionAreDropped(t *testing.T) {
	t.Parallel()
	changed := make(chan struct{}, 10)
	s, _ := overStream(t, mcptest.Flags{Modern: true}, client.Options{ToolsChanged: func() { changed <- struct{}{} }})
	call(t, s, "change", "")
	select {
	case <-changed:
		t.Error("it was heard")
	case <-time.After(500 * time.Millisecond):
	}
}

func TestMC26AllPagesAreRead(t *testing.T) {
	t.Parallel()
	s, _ := overStream(t, mcptest.Flags{Pages: 100}, client.Options{})
	tools, _, err := s.Tools(t.Context())
	if err != nil || len(tools) != 100 || tools[99].Name != "tool99" {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	s, _ = overStream(t, mcptest.Flags{Circle: true}, client.Options{})
	if _, _, err := s.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("got %v", err)
	}
	s, _ = overStream(t, mcptest.Flags{Pages: 101}, client.Options{})
	if _, _, err := s.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "100 pages") {
		t.Errorf("got %v", err)
	}
}

func TestMC117FiftyThousandToolsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := overStream(t, mcptest.Flags{Tools: 50_000}, client.Options{})
	tools, left, err := s.Tools(t.Context())
	if err != nil || len(tools) > 10_000 || !strings.Contains(left[len(left)-1].Reason, "10000 tools") {
		t.Errorf("%d tools, %v, %v", len(tools), left, err)
	}
}

func TestMC27ChangesAreGatheredAndReportedWithinASecond(t *testing.T) {
	var mu sync.Mutex
	var times []time.Time
	s, _ := overStream(t, mcptest.Flags{Flood: "list_changed"}, client.Options{ToolsChanged: func() {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
	}})
	began := time.Now()
	call(t, s, "flood", "")
	over := time.Now()
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(times)
	}
	eventually(t, "no report", func() bool { return count() > 0 })
	time.Sleep(300 * time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	if times[0].Sub(began) > time.Second {
		t.Errorf("the first report came after %s", times[0].Sub(began))
	}
	if most := int(over.Sub(began)/(200*time.Millisecond)) + 2; len(times) > most {
		t.Errorf("%d reports of 10,000 notifications", len(times))
	}
}

func TestMC29And30OnlyUnusableSchemasAreLeftOut(t *testing.T) {
	s, _ := overStream(t, mcptest.Flags{}, client.Options{})
	tools, left, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range left {
		out = append(out, l.Name)
	}
	if want := []string{"noschema", "broken"}; !slices.Equal(out, want) {
		t.Errorf("left out: %v, want %v", left, want)
	}
	for _, tool := range tools {
		if tool.Name != "away" {
			continue
		}
		if strings.Contains(string(tool.Schema), "$ref") || len(tool.Notes) != 1 ||
			!strings.Contains(tool.Notes[0], "https://example.com/schema.json") {
			t.Errorf("away: %s, %v", tool.Schema, tool.Notes)
		}
	}
}

func TestMC30TwoToolsOfOneName(t *testing.T) {
	s, _ := overStream(t, mcptest.Flags{SameIDs: true}, client.Options{})
	_, left, err := s.Tools(t.Context())
	if err != nil || !slices.ContainsFunc(left, func(l client.LeftOut) bool { return l.Name == "echo" }) {
		t.Errorf("left out: %v, %v", left, err)
	}
}

func TestMC33ErrorsOfAllKindsAreResults(t *testing.T) {
	everywhere(t, mcptest.Flags{}, client.Options{}, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		for tool, want := range map[string]string{
			"error": "internal trouble", "fail": "it failed", "nosuch": "Unknown tool: nosuch",
		} {
			if r := call(t, s, tool, ""); !r.IsError || !strings.Contains(text(r), want) {
				t.Errorf("%s: %v %q", tool, r.IsError, text(r))
			}
		}
		if r := call(t, s, "fail", ""); len(r.Blocks) != 2 || string(r.Blocks[1].Data) != "\x00\x01\x02" {
			t.Errorf("the picture of an error: %+v", r.Blocks)
		}
		for _, m := range server.Received("tools/call") {
			if !strings.Contains(string(m.Params), `"arguments":{}`) {
				t.Errorf("no arguments are no object: %s", m.Params)
			}
		}
	})
}

func TestMC34EachKindOfContentIsRead(t *testing.T) {
	s, _ := overStream(t, mcptest.Flags{}, client.Options{})
	tools, _, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var output json.RawMessage
	for _, tool := range tools {
		if tool.Name == "blocks" {
			output = tool.Output
		}
	}
	r := must[client.Result](t)(s.Call(t.Context(), client.Call{Tool: "blocks", Output: output}))
	types := []string{}
	for _, b := range r.Blocks {
		types = append(types, b.Type)
	}
	want := []string{"text", "image", "audio", "resource", "resource", "resource_link", "hologram", "broken image"}
	if !slices.Equal(types, want) {
		t.Errorf("got %v, want %v", types, want)
	}
	b := r.Blocks
	if b[0].Audience[0] != "user" || *b[0].Priority != 0.5 || b[1].MIME != "image/png" || b[3].Text != "one" ||
		len(b[4].Data) != 3 || b[5].Size != 12 || !strings.Contains(string(b[6].Raw), "depth") {
		t.Errorf("got %+v", b)
	}
	if string(r.Structured) != `{"n":"no integer"}` || len(r.Warnings) != 1 || string(r.Meta) != `{"a":1}` {
		t.Errorf("structured %s, warnings %v, meta %s", r.Structured, r.Warnings, r.Meta)
	}
}

func TestMC38ProgressGoesForward(t *testing.T) {
	everywhere(t, mcptest.Flags{}, client.Options{}, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		var got []string
		r, err := s.Call(t.Context(), client.Call{
			Tool: "steps", Progress: func(p client.Progress) { got = append(got, p.Message) },
		})
		if err != nil || text(r) != "done" {
			t.Fatal(r, err)
		}
		if want := []string{"step 1", "step 2", "step 3"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestMC38TenThousandNotificationsOfProgress(t *testing.T) {
	t.Parallel()
	s, _ := overStream(t, mcptest.Flags{Flood: "progress"}, client.Options{})
	n := 0
	_, err := s.Call(t.Context(), client.Call{Tool: "flood", Progress: func(client.Progress) { n++ }})
	if err != nil || n != 10_000 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestMC39SignsOfLifeExtendACall(t *testing.T) {
	f := mcptest.Flags{Slow: 60 * time.Millisecond}
	everywhere(t, f, client.Options{}, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		if _, err := s.Call(t.Context(), client.Call{Tool: "steps", Silence: 150 * time.Millisecond}); err != nil {
			t.Errorf("with signs of life: %v", err)
		}
		began := time.Now()
		_, err := s.Call(t.Context(), client.Call{Tool: "hang", Silence: 50 * time.Millisecond})
		if !errors.Is(err, client.ErrTimeout) || time.Since(began) > 5*time.Second {
			t.Errorf("without: %v after %s", err, time.Since(began))
		}
		_, err = s.Call(t.Context(), client.Call{
			Tool: "steps", Silence: 150 * time.Millisecond, Longest: 100 * time.Millisecond,
		})
		if !errors.Is(err, client.ErrTimeout) {
			t.Errorf("too long in all: %v", err)
		}
	})
}

func TestMC40StopTellsTheServerAndDropsALateAnswer(t *testing.T) {
	f := mcptest.Flags{IgnoreCancel: true}
	everywhere(t, f, client.Options{}, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := s.Call(ctx, client.Call{Tool: "hang"})
			ended <- err
		}()
		eventually(t, "the call did not arrive", func() bool { return len(server.Received("tools/call")) == 1 })
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if i := s.Server(); i.Era == client.Modern && i.Transport == client.HTTP {
			return // the stream was closed, which is all
		}
		eventually(t, "no cancellation", func() bool { return len(server.Received("notifications/cancelled")) == 1 })
		call := server.Received("tools/call")[0]
		c := server.Received("notifications/cancelled")[0]
		if !strings.Contains(string(c.Params), `"requestId":`+string(call.ID)) {
			t.Errorf("it names another request: %s", c.Params)
		}
	})
}

func TestMC41SixteenCallsAtOnceAndTheRestWait(t *testing.T) {
	s, server := overStream(t, mcptest.Flags{}, client.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _, _ = s.Call(ctx, client.Call{Tool: "hang"}) })
	}
	eventually(t, "not 16 calls", func() bool { return len(server.Received("tools/call")) == 16 })
	time.Sleep(50 * time.Millisecond)
	if n := len(server.Received("tools/call")); n != 16 {
		t.Errorf("%d calls", n)
	}
	stop()
	wg.Wait()
}

func TestAnAnswerWithAWrongIDOrASecondOneIsDropped(t *testing.T) {
	var l log
	s, _ := overStream(t, mcptest.Flags{AnswersTwice: true}, client.Options{Log: l.write})
	call(t, s, "echo", "")
	eventually(t, "no line", func() bool { return l.count("late or second answer") > 0 })
	s, _ = overStream(t, mcptest.Flags{WrongID: true}, client.Options{Log: l.write})
	_, err := s.Call(t.Context(), client.Call{Tool: "echo", Silence: 100 * time.Millisecond})
	if !errors.Is(err, client.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if l.count("never sent") == 0 {
		t.Errorf("log: %s", l.text())
	}
}

func TestAServerThatDiesInACallEndsTheSession(t *testing.T) {
	s, _ := overStream(t, mcptest.Flags{DiesInCall: true}, client.Options{})
	_, err := s.Call(t.Context(), client.Call{Tool: "echo"})
	if !errors.Is(err, client.ErrUnknown) || !errors.Is(err, client.ErrEnded) {
		t.Errorf("got %v", err)
	}
	<-s.Done()
	if _, err := s.Call(t.Context(), client.Call{Tool: "echo"}); !errors.Is(err, client.ErrNotSent) {
		t.Errorf("after the end: %v", err)
	}
}

func TestMC31ATitleIsTakenFromWhereverItIs(t *testing.T) {
	s, _ := overStream(t, mcptest.Flags{}, client.Options{})
	titles := map[string]string{}
	tools, _, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		titles[tool.Name] = tool.Title
	}
	if titles["echo"] != "From annotations" || titles["steps"] != "Steps" || titles["hang"] != "hang" {
		t.Errorf("got %v", titles)
	}
}

func TestMC31AToolThatNeedsATaskIsOfferedWhereTasksWork(t *testing.T) {
	for version, offered := range map[string]bool{"2025-11-25": true, "2025-06-18": false} {
		s, _ := overStream(t, mcptest.Flags{Version: version}, client.Options{})
		tools, _, err := s.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(tools, func(tool client.Tool) bool { return tool.Name == "sleep" }) != offered {
			t.Errorf("%s: offered %v", version, !offered)
		}
	}
}

func TestMC53AServerIsNotAskedForWhatItDoesNotHave(t *testing.T) {
	f := mcptest.Flags{Bare: true}
	everywhere(t, f, client.Options{}, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		ctx := t.Context()
		resources, err := s.Resources(ctx)
		prompts, promptsErr := s.Prompts(ctx)
		if len(resources) > 0 || len(prompts) > 0 || err != nil || promptsErr != nil {
			t.Errorf("got %v, %v, %v, %v", resources, prompts, err, promptsErr)
		}
		_, readErr := s.Read(ctx, "test://one")
		_, promptErr := s.Prompt(ctx, "greet", nil)
		_, completeErr := s.Complete(ctx, client.Reference{Prompt: "greet"}, "who", "", nil)
		for _, err := range []error{readErr, promptErr, completeErr, s.Subscribe(ctx, "test://one")} {
			if !errors.Is(err, client.ErrNotOffered) {
				t.Errorf("got %v", err)
			}
		}
		for _, m := range server.Received("") {
			for _, family := range []string{"resources/", "prompts/", "logging/", "completion/", "subscriptions/"} {
				if strings.HasPrefix(m.Method, family) {
					t.Errorf("it was asked: %s", m.Method)
				}
			}
		}
	})
}

func TestMC64ASilentServerIsLookedForAndReachedAgain(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]mcptest.Flags{"HTTP": {}, "HTTP of 2024-11": {OldSSE: true}} {
		t.Run(name, func(t *testing.T) {
			o := client.Options{Limits: client.Limits{Idle: 50 * time.Millisecond, Connect: 100 * time.Millisecond}}
			_, server := overHTTP(t, f, o)
			eventually(t, "no ping", func() bool { return len(server.Received("ping")) > 1 })
			server.Hang(true)
			eventually(t, "no answer is missed", func() bool { return server.Missed() >= 2 })
			server.Hang(false)
			eventually(t, "no new handshake", func() bool { return len(server.Received("initialize")) > 1 })
		})
	}
}

func TestMC117AnEndlessStreamIsNoSignOfLife(t *testing.T) {
	var before, after runtime.MemStats
	s, _ := overHTTP(t, mcptest.Flags{Modern: true, Endless: true}, client.Options{})
	runtime.ReadMemStats(&before)
	_, err := s.Call(t.Context(), client.Call{Tool: "hang", Silence: 500 * time.Millisecond})
	if !errors.Is(err, client.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("%d MiB more", grown>>20)
	}
}

func TestNothingOutlivesClose(t *testing.T) {
	before := runtime.NumGoroutine()
	o := client.Options{ToolsChanged: func() {}}
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		ended := make(chan error)
		go func() {
			_, err := s.Call(t.Context(), client.Call{Tool: "hang"})
			ended <- err
		}()
		eventually(t, "the call did not arrive", func() bool { return len(server.Received("tools/call")) == 1 })
		s.Close()
		s.Close()
		if err := <-ended; !errors.Is(err, client.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if s.Err() == nil {
			t.Error("no reason")
		}
	})
	eventually(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before+2 })
}

func TestMC135AProcessIsSpokenTo(t *testing.T) {
	t.Parallel()
	cmd := mcptest.Command(t, mcptest.Flags{})
	in := must[io.WriteCloser](t)(cmd.StdinPipe())
	out := must[io.ReadCloser](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s, err := client.OverStream(t.Context(), pipes{out, in}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(call(t, s, "echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("echo: %q", got)
	}
	_ = in.Close() // the end of a process: first its input
	<-s.Done()
	s.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// pipes are the two ends of a process.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p pipes) Close() error {
	_ = p.in.Close()
	return p.ReadCloser.Close()
}
