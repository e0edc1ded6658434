package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/version"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/mcpserver"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var must = testkit.Must

// tools are functions in memory, each a tool of the plugin "p".
type tools map[string]func(ctx context.Context, c tool.Call) tool.Result

func (t tools) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return t[c.Tool.Name](ctx, c), nil
}

func says(text string) func(context.Context, tool.Call) tool.Result {
	return func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart(text)}}
	}
}

// memory is a store and a keychain.
type memory struct {
	mu     sync.Mutex
	record json.RawMessage
	keys   map[string]string
}

func (m *memory) Outside(context.Context) (json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record, nil
}

func (m *memory) PutOutside(_ context.Context, record json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record = record
	return nil
}

func (m *memory) Get(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if key, ok := m.keys[name]; ok {
		return key, nil
	}
	return "", fault.New(fault.NotFound, "test", "There is no such key.", "")
}

func (m *memory) Set(_ context.Context, name, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[name] = key
	return nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.keys, name)
	return nil
}

// bench is a server with tools in memory, the real gate and the real runner of calls.
type bench struct {
	t        testing.TB
	log      *turn.MemoryLog
	registry *tool.Registry
	bus      *bus.Bus
	gate     *gate.Gate
	store    *memory
	server   *mcpserver.Server
}

// newBench returns a server that offers the tools, which programs may call without a question.
func newBench(t testing.TB, run tools, change ...func(*tool.Tool)) *bench {
	t.Helper()
	b := &bench{
		t: t, log: turn.NewMemoryLog(chat.Conversation{}), registry: tool.NewRegistry(), bus: bus.New(),
		store: &memory{keys: map[string]string{}},
	}
	var err error
	b.gate, err = gate.Open(t.Context(), gate.Options{Bus: b.bus})
	must(t, err)
	b.server, err = mcpserver.Open(t.Context(), mcpserver.Options{
		Tools: b.registry, Calls: call.New(call.Options{Gate: b.gate, Log: b.log}), Can: b.gate.Reach.Capabilities,
		Store: b.store, Keys: b.store, Media: b.log.Media, Bus: b.bus,
	})
	must(t, err)
	t.Cleanup(func() { must(t, b.server.Close(context.Background())) })
	b.publish(run, change...)
	var ids []string
	for name := range run {
		ids = append(ids, "p:"+name)
	}
	must(t, b.server.Offer(t.Context(), ids...))
	return b
}

// publish has the plugin offer tools, and the person approve it.
func (b *bench) publish(run tools, change ...func(*tool.Tool)) {
	b.t.Helper()
	var list []tool.Tool
	for name := range run {
		made := tool.Tool{
			Name: name, Title: "The " + name, Description: "Does " + name + ".", Dialect: "spindle",
			Visibility: tool.Direct,
			Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}}}`),
		}
		for _, do := range change {
			do(&made)
		}
		list = append(list, made)
	}
	slices.SortFunc(list, func(a, b tool.Tool) int { return strings.Compare(a.Name, b.Name) })
	b.registry.Publish("p", list, run)
	b.approve(b.registry.Set().Tools())
	b.bus.Changed(bus.Tools, "")
}

func (b *bench) approve(all []tool.Tool) {
	b.t.Helper()
	c := gate.PluginVersion{
		Plugin: "p", Name: "P", Dialect: "spindle", Isolation: "process+landlock", Code: "c", Tools: all, Listed: true,
	}
	b.gate.Approvals.Status(c)
	must(b.t, b.gate.Approvals.Approve(b.t.Context(), c, gate.ApproveOptions{}))
}

// allow lets programs call everything without a question.
func (b *bench) allow(caller gate.Caller) {
	b.t.Helper()
	_, err := b.gate.Rules.Add(b.t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "p", Tool: "*", Scope: gate.Always, Callers: []gate.Caller{caller},
	})
	must(b.t, err)
}

// listen opens a port and returns its address.
func (b *bench) listen(choices mcpserver.Choices) string {
	b.t.Helper()
	address, stop, err := b.server.Listen(b.t.Context(), 0, choices)
	must(b.t, err)
	b.t.Cleanup(stop)
	return address
}

// token returns the token of a new program.
func (b *bench) token(name string) string {
	b.t.Helper()
	token, err := b.server.AddToken(b.t.Context(), name)
	must(b.t, err)
	return token
}

// bearer carries a token.
type bearer string

func (t bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return http.DefaultTransport.RoundTrip(r)
}

// The two eras of the protocol, by the version that a client begins with.
var eras = map[string]string{"sessions": "2025-11-25", "requests": ""}

// connect connects a client of one of the eras over HTTP.
func (b *bench) connect(address, token, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	b.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "claims-this", Version: "9"}, o)
	session, err := client.Connect(b.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: address, HTTPClient: &http.Client{Transport: bearer(token)},
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	must(b.t, err)
	b.t.Cleanup(func() { _ = session.Close() })
	return session
}

// streams starts a client of one of the eras on standard streams. ended gets what ServeStreams returns.
func (b *bench) streams(name, version string, choices mcpserver.Choices, o *mcp.ClientOptions) (_ *mcp.ClientSession,
	ended <-chan error,
) {
	b.t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	over := make(chan error, 1)
	go func() { // ends with the client's input
		over <- b.server.ServeStreams(context.Background(), mcpserver.Streams{In: toServer, Out: fromServer, Name: name},
			choices)
		_ = fromServer.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "claims-this", Version: "9"}, o)
	session, err := client.Connect(b.t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	must(b.t, err)
	b.t.Cleanup(func() { _ = session.Close() })
	return session, over
}

// textOf returns the text of a result.
func textOf(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}

func namesOf(t testing.TB, s *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for one, err := range s.Tools(t.Context(), nil) {
		must(t, err)
		names = append(names, one.Name)
	}
	return names
}

func TestMC121NoToolIsOfferedUntilThePersonChoseIt(t *testing.T) {
	b := newBench(t, tools{"one": says("1"), "two": says("2")})
	must(t, b.server.Withdraw(t.Context(), b.server.Offered()...))
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	if got := namesOf(t, session); len(got) != 0 {
		t.Fatalf("got %v", got)
	}
	must(t, b.server.Offer(t.Context(), "p:two"))
	if got := namesOf(t, session); !slices.Equal(got, []string{"two"}) {
		t.Errorf("got %v", got)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"}); err == nil {
		t.Error("a tool that is not offered was called")
	}
}

func TestMC121DeferredAndHiddenToolsAreNotOffered(t *testing.T) {
	for _, how := range []tool.Visibility{tool.Deferred, tool.Hidden} {
		b := newBench(t, tools{"one": says("1")}, func(made *tool.Tool) { made.Visibility = how })
		session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
		if got := namesOf(t, session); len(got) != 0 {
			t.Errorf("%s: got %v", how, got)
		}
	}
}

func TestMC121AToolIsOfferedAsItWasApproved(t *testing.T) {
	b := newBench(t, tools{strings.Repeat("n", 80): says("")})
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	list, err := session.ListTools(t.Context(), nil)
	must(t, err)
	got := list.Tools[0]
	if len(got.Name) > 64 || got.Title != "The "+strings.Repeat("n", 80) || got.Annotations == nil {
		t.Errorf("got %+v", got)
	}
	schema, err := json.Marshal(got.InputSchema)
	must(t, err)
	if !strings.Contains(string(schema), `"m":{"type":"integer"}`) {
		t.Errorf("got the schema %s", schema)
	}
	if list.CacheScope != "private" || list.TTLMs <= 0 {
		t.Errorf("got %+v", list.Cacheable)
	}
}

func TestMC121AToolIsReadOnlyOnlyIfEveryCapabilityIs(t *testing.T) {
	cases := map[string]struct {
		can   []gate.Capability
		reads bool
	}{
		"reads":   {[]gate.Capability{gate.ReadFiles, gate.Fetch}, true},
		"writes":  {[]gate.Capability{gate.ReadFiles, gate.WriteFiles}, false},
		"unknown": {nil, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tools{})
			server, err := mcpserver.Open(t.Context(), mcpserver.Options{
				Tools: b.registry, Calls: nil, Can: func(tool.Tool) []gate.Capability { return c.can },
				Store: b.store, Keys: b.store, Bus: b.bus,
			})
			must(t, err)
			b.server = server
			b.publish(tools{"one": says("")})
			must(t, server.Offer(t.Context(), "p:one"))
			session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
			list, err := session.ListTools(t.Context(), nil)
			must(t, err)
			if got := list.Tools[0].Annotations; got.ReadOnlyHint != c.reads {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestMC122TheProgramIsTheCallerAndItsOwnNameIsAClaim(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	detach := b.gate.Questions.Attach()
	defer detach()
	token, address := b.token("My Editor"), b.listen(mcpserver.Choices{})
	asked := make(chan gate.Request, 1)
	go func() { // ends with the question
		for {
			if all := b.gate.Questions.List(); len(all) > 0 {
				asked <- all[0]
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	done := make(chan *mcp.CallToolResult, 1)
	session := b.connect(address, token, "2025-11-25", nil)
	go func() { // ends with the call
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
		must(t, err)
		done <- r
	}()
	q := <-asked
	if q.Caller != gate.Outside("My Editor") || !strings.Contains(q.Title, "program My Editor (“claims-this 9”) wants") {
		t.Errorf("got %s, %q", q.Caller, q.Title)
	}
	must(t, b.gate.Questions.Answer(t.Context(), q.ID, q.Nonce, gate.Answer{Effect: gate.Allow, Scope: gate.Once}))
	if r := <-done; r.IsError || textOf(r) != "1" {
		t.Errorf("got %v %q", r.IsError, textOf(r))
	}
	record := b.log.Calls()[0]
	if record.Caller != "outside:My Editor" || !strings.Contains(record.CallerName, "claims-this") {
		t.Errorf("the record has %q, %q", record.Caller, record.CallerName)
	}
}

func TestMC122ACallThatNobodyCanAllowIsAnErrorThatSaysSo(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
	must(t, err)
	if text := textOf(r); !r.IsError || !strings.Contains(text, "there is nobody to ask") ||
		!strings.Contains(text, "Open Conclave's window") {
		t.Errorf("got %v %q", r.IsError, text)
	}
}

func TestMC122ApprovingAlwaysHoldsForOneEndpointAndIsOnRecord(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	open, _ := b.streams("open", "2025-11-25", mcpserver.Choices{Asker: gate.AlwaysAsker{}}, nil)
	closed, _ := b.streams("closed", "2025-11-25", mcpserver.Choices{}, nil)
	r, err := open.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
	must(t, err)
	if r.IsError {
		t.Errorf("got %q", textOf(r))
	}
	if r, err = closed.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"}); err != nil || !r.IsError {
		t.Errorf("got %v, %v", r, err)
	}
	if by := b.log.Calls()[0].Decider; by != "--approve always" {
		t.Errorf("the record has %q", by)
	}
}

func TestMC127UnknownToolsAndBadArgumentsAreAnsweredAsTheProtocolWants(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	b.allow(gate.Outside("editor"))
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			session, _ := b.streams("editor", version, mcpserver.Choices{}, nil)
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "none"})
			if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("got %v", err)
			}
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: "one", Arguments: map[string]any{"n": "x", "m": "y"},
			})
			must(t, err)
			if text := textOf(r); !r.IsError || !strings.Contains(text, "n: ") || !strings.Contains(text, "m: ") {
				t.Errorf("got %q", text)
			}
		})
	}
}

func TestMC127AThousandToolsAreOnePage(t *testing.T) {
	run := tools{}
	for i := range 1001 {
		run[fmt.Sprintf("t%04d", i)] = says("")
	}
	b := newBench(t, run)
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	first, err := session.ListTools(t.Context(), nil)
	must(t, err)
	if len(first.Tools) != 1000 || first.NextCursor == "" {
		t.Fatalf("got %d tools, cursor %q", len(first.Tools), first.NextCursor)
	}
	if got := namesOf(t, session); len(got) != 1001 || !slices.IsSorted(got) {
		t.Errorf("got %d names", len(got))
	}
}

func TestMC125AChangeIsNotified(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			changed := make(chan struct{}, 10)
			session := b.connect(address, token, version, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			namesOf(t, session)
			time.Sleep(200 * time.Millisecond) // its stream of notifications opens meanwhile
			b.publish(tools{"one": says("1"), "more" + era: says("2")})
			must(t, b.server.Offer(t.Context(), "p:more"+era))
			testkit.Until(t, "a notification, with the tool in the list", func() bool {
				select {
				case <-changed: // there may be one for each of the two steps
					return slices.Contains(namesOf(t, session), "more"+era)
				default:
					return false
				}
			})
		})
	}
}

func TestMC125ACallThatBeganEndsOnTheOldTool(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	b := newBench(t, tools{"one": func(context.Context, tool.Call) tool.Result {
		close(begun)
		<-goOn
		return says("old")(nil, tool.Call{})
	}})
	b.allow(gate.Outside("editor"))
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	done := make(chan string, 1)
	go func() { // ends with the call
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
		must(t, err)
		done <- textOf(r)
	}()
	<-begun
	b.registry.Unpublish("p")
	b.bus.Changed(bus.Tools, "")
	testkit.Until(t, "the tool is withdrawn", func() bool { return len(namesOf(t, session)) == 0 })
	close(goOn)
	if got := <-done; got != "old" {
		t.Errorf("got %q", got)
	}
}

func TestMC126PicturesSoundAndFilesPassThrough(t *testing.T) {
	b := newBench(t, tools{"one": func(context.Context, tool.Call) tool.Result {
		media := func(mime string) chat.Part {
			return chat.Part{Kind: chat.PartMedia, Media: &chat.Media{MIME: mime, Data: []byte("bytes of " + mime)}}
		}
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{
			chat.TextPart("all:"), media("image/png"), media("audio/wav"), media("text/plain"), media("application/zip"),
		}}
	}})
	b.allow(gate.Outside("editor"))
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
	must(t, err)
	if len(r.Content) != 5 {
		t.Fatalf("got %d parts", len(r.Content))
	}
	if p, ok := r.Content[1].(*mcp.ImageContent); !ok || p.MIMEType != "image/png" ||
		string(p.Data) != "bytes of image/png" {
		t.Errorf("got %#v", r.Content[1])
	}
	if p, ok := r.Content[2].(*mcp.AudioContent); !ok || p.MIMEType != "audio/wav" {
		t.Errorf("got %#v", r.Content[2])
	}
	if p, ok := r.Content[3].(*mcp.EmbeddedResource); !ok || p.Resource.Text != "bytes of text/plain" {
		t.Errorf("got %#v", r.Content[3])
	}
	if p, ok := r.Content[4].(*mcp.EmbeddedResource); !ok || string(p.Resource.Blob) != "bytes of application/zip" {
		t.Errorf("got %#v", r.Content[4])
	}
}

func TestMC126StructuredResultsPassThroughInBothEras(t *testing.T) {
	b := newBench(t, tools{"one": func(_ context.Context, c tool.Call) tool.Result {
		var a struct{ Value json.RawMessage }
		_ = json.Unmarshal(c.Arguments, &a)
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("seven")}, Value: a.Value}
	}}, func(t *tool.Tool) { t.Parameters = json.RawMessage(`{"type":"object"}`) })
	b.allow(gate.Outside("editor"))
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		session, _ := b.streams("editor", version, mcpserver.Choices{}, nil)
		others := map[string]string{`[7]`: "null", `7`: "null", `"a"`: "null"}
		if version == "2026-07-28" { // which has any value
			others = map[string]string{`[7]`: "[7]", `7`: "7", `"a"`: `"a"`}
		}
		others[`{"n":7}`] = `{"n":7}`
		for value, want := range others {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: "one", Arguments: json.RawMessage(`{"value":` + value + `}`),
			})
			must(t, err)
			got, err := json.Marshal(r.StructuredContent)
			must(t, err)
			if string(got) != want || textOf(r) != "seven" {
				t.Errorf("%s: of %s came %s and %q", version, value, got, textOf(r))
			}
		}
	}
}

func TestMC126ProgressPassesThroughAndOnlyGrows(t *testing.T) {
	b := newBench(t, tools{"one": func(_ context.Context, c tool.Call) tool.Result {
		for i := range 3 {
			c.Progress(fmt.Sprintf("step %d", i))
		}
		return says("done")(context.Background(), c)
	}})
	b.allow(gate.Outside("editor"))
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			notes := make(chan *mcp.ProgressNotificationParams, 10)
			session, _ := b.streams("editor", version, mcpserver.Choices{}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					notes <- r.Params
				},
			})
			params := &mcp.CallToolParams{Name: "one"}
			params.SetProgressToken("mine")
			_, err := session.CallTool(t.Context(), params)
			must(t, err)
			last := 0.0
			for i := range 3 {
				n := <-notes
				if n.ProgressToken != "mine" || n.Message != fmt.Sprintf("step %d", i) || n.Progress <= last {
					t.Errorf("got %+v", n)
				}
				last = n.Progress
			}
		})
	}
}

func TestMC126ACancelledCallIsStopped(t *testing.T) {
	stopped := make(chan error, 2)
	begun := make(chan struct{}, 2)
	b := newBench(t, tools{"one": func(ctx context.Context, _ tool.Call) tool.Result {
		begun <- struct{}{}
		<-ctx.Done()
		stopped <- ctx.Err()
		return tool.Result{Status: chat.CallCancelled}
	}})
	b.allow(gate.Outside("editor"))
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			session := b.connect(address, token, version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-begun; cancel() }() // ends with the call
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "one"})
			if err == nil {
				t.Error("a cancelled call was answered")
			}
			select {
			case <-stopped:
			case <-time.After(testkit.Patience):
				t.Error("the call went on")
			}
		})
	}
}

func TestMC126AnErrorIsAResultWithItsSentence(t *testing.T) {
	b := newBench(t, tools{"one": func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallRaised, ErrorType: "ValueError", Error: "the city is not known"}
	}})
	b.allow(gate.Outside("editor"))
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
	must(t, err)
	if !r.IsError || textOf(r) != "Error: ValueError: the city is not known" {
		t.Errorf("got %v %q", r.IsError, textOf(r))
	}
}

func TestMC130ACallCarriesItsArgumentsAlone(t *testing.T) {
	got := make(chan tool.Call, 1)
	b := newBench(t, tools{"one": func(ctx context.Context, c tool.Call) tool.Result {
		got <- c
		return says("")(ctx, c)
	}})
	b.allow(gate.Outside("editor"))
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one", Arguments: map[string]any{"n": 1}})
	must(t, err)
	c := <-got
	if string(c.Arguments) != `{"n":1}` || c.Conversation != "" || len(c.ContextMessages) != 0 || c.CouncilMember != nil {
		t.Errorf("got %+v", c)
	}
}

func TestMC129ConclaveNamesItselfSoThatALoopIsRecognised(t *testing.T) {
	b := newBench(t, tools{"one": says("")})
	for era, asked := range eras {
		session, _ := b.streams("editor", asked, mcpserver.Choices{}, nil)
		own, _ := session.InitializeResult().Capabilities.Experimental["conclave/instance"].(map[string]any)
		if own["id"] != version.Instance() {
			t.Errorf("%s: got %v", era, own)
		}
	}
}

func TestMC120AProgramWhoseInputEndsEndsItsSession(t *testing.T) {
	b := newBench(t, tools{"one": says("")})
	session, ended := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	must(t, session.Close())
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(testkit.Patience):
		t.Fatal("the session goes on")
	}
}

func TestMC120ASessionGoesOnInAnotherConclave(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	b.allow(gate.Outside("editor"))
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { // ends with its input
		ended <- b.server.ServeStreams(t.Context(), mcpserver.Streams{In: in, Out: out, Name: "editor"}, mcpserver.Choices{})
	}()
	_, err := io.WriteString(write, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"one"}}`+"\n")
	must(t, err)
	line, err := bufio.NewReader(read).ReadString('\n')
	must(t, err, write.Close(), <-ended)
	if !strings.Contains(line, `"id":7`) || !strings.Contains(line, `"text":"1"`) {
		t.Errorf("got %s", line)
	}
}

func TestMC120AnInputThatEndsBehindABadCallIsNotWaitedFor(t *testing.T) {
	for what, request := range map[string]string{
		"of an unknown tool":         `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"none"}}`,
		"with a name that is a list": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":[]}}`,
		"with parameters of no kind": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"tools/call"}`,
		"without parameters":         `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`,
		"that does not exist":        `{"jsonrpc":"2.0","id":7,"method":"tools/cull","params":{"name":"tools/call"}}`,
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tools{"one": says("1")})
				var out strings.Builder
				began := time.Now()
				must(t, b.server.ServeStreams(t.Context(), mcpserver.Streams{
					In: strings.NewReader(request + "\n"), Out: &out, Name: "editor",
				}, mcpserver.Choices{}))
				if took := time.Since(began); took > time.Second {
					t.Errorf("its session went on for %s", took)
				}
				if got := out.String(); !strings.Contains(got, `"id":7`) || !strings.Contains(got, `"error"`) {
					t.Errorf("it was answered with %q", got)
				}
			})
		})
	}
}
