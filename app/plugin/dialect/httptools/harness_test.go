package httptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/net/loopback"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/httptools"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
	"conclave/store"
)

var must = testkit.Must

// bench is a Conclave without models: the store on disk, the gate, the host of plugins, and
// the port at which programs register.
type bench struct {
	t        testing.TB
	dir      string
	store    *store.Store
	gate     *gate.Gate
	tools    *tool.Registry
	host     *host.Host
	pool     *httptools.Pool
	server   *loopback.Server
	calls    *call.Runner
	roles    []string
	every    time.Duration // between probes
	others   []httptools.Other
	address  string
	token    string
	restored time.Duration // what bringing back what is registered took
	plugins  host.Store    // keeps what is known of plugins; nil is memory or the store
	memory   *memory       // keeps what is registered and known of plugins, in place of the store
}

// memory keeps what the disk does, for tests in which a thousand things are kept.
type memory struct {
	plugintest.Memory
	mu  sync.Mutex
	all map[string]json.RawMessage
}

func (m *memory) Registrations(context.Context) (map[string]json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.all), nil
}

func (m *memory) ChangeRegistrations(_ context.Context, change map[string]json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, raw := range change {
		if raw == nil {
			delete(m.all, id)
		} else {
			m.all[id] = raw
		}
	}
	return nil
}

func newBench(t testing.TB, change ...func(*bench)) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), roles: []string{"Ada", "Ben"}, every: time.Hour}
	for _, do := range change {
		do(b)
	}
	b.open()
	t.Cleanup(b.close)
	return b
}

func (b *bench) open() {
	b.t.Helper()
	ctx, quiet := b.t.Context(), slog.New(slog.DiscardHandler)
	var err error
	b.store, err = store.Open(ctx, store.Options{Dir: b.dir, Log: quiet, Program: "a test"})
	must(b.t, err)
	news := bus.New()
	b.gate, err = gate.Open(ctx, gate.Options{Store: b.store.Permissions, Bus: news, Log: quiet})
	must(b.t, err)
	b.tools = tool.NewRegistry()
	dialect := httptools.NewDialect()
	var plugins host.Store = b.store.Plugins
	var registered httptools.Store = b.store.Plugins
	if b.memory != nil {
		plugins, registered = b.memory, b.memory
	}
	if b.plugins != nil {
		plugins = b.plugins
	}
	b.host = host.New(host.Options{
		Dir: b.t.TempDir(), Data: b.dir, Dialects: []plugin.Dialect{dialect}, Registry: b.tools, Gate: b.gate,
		Launcher: plugintest.NewWorld(plugin.Facts{Name: "none"}), Store: plugins, Bus: news, Log: quiet,
	})
	b.calls = call.New(call.Options{Gate: b.gate, Log: b.store.Turns})
	b.pool = httptools.New(httptools.Options{
		Store: registered, Host: b.host, Log: quiet, ProbeEvery: b.every,
		Roles:  func(context.Context) ([]string, error) { return b.roles, nil },
		Others: func() []httptools.Other { return b.others },
		Call: func(_ context.Context, _ string, o httptools.Other, arguments string) (httptools.Outcome, error) {
			return httptools.Outcome{Value: json.RawMessage(`{"ran":"` + o.ID + `","with":` + arguments + `}`)}, nil
		},
	})
	dialect.Serve(b.pool)
	b.server = loopback.New(loopback.Options{Handler: b.pool.Handler(), Token: func() string { return b.token }})
	b.address, _, err = b.server.Open(ctx, 0)
	must(b.t, err)
	began := time.Now()
	must(b.t, b.pool.Start(ctx), b.host.WaitIdle(ctx))
	b.restored = time.Since(began)
}

func (b *bench) close() {
	b.server.Close()
	b.pool.Close()
	b.host.Close()
	must(b.t, b.gate.Close(context.Background()), b.store.Close())
}

// restart closes Conclave and opens it again.
func (b *bench) restart() {
	b.t.Helper()
	b.close()
	b.open()
	must(b.t, b.host.WaitIdle(b.t.Context()))
}

// object holds a JSON object of a request or an answer.
type object = map[string]any

// post sends body to a path of the API, and returns the status and the answer.
func (b *bench) post(path string, body any) (int, object) {
	b.t.Helper()
	raw, is := body.(string)
	if !is {
		text, err := json.Marshal(body)
		must(b.t, err)
		raw = string(text)
	}
	return b.do("POST", path, raw, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
}

func (b *bench) do(method, path, body string, change func(*http.Request)) (int, object) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.address+path, strings.NewReader(body))
	must(b.t, err)
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultClient.Do(r)
	must(b.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(b.t, err)
	var answer object
	if err := json.Unmarshal(text, &answer); err != nil {
		b.t.Fatalf("%s %s is answered %d %q", method, path, resp.StatusCode, text)
	}
	return resp.StatusCode, answer
}

// register registers a tool, with more fields than its name and address.
func (b *bench) register(name, callback string, more object) object {
	b.t.Helper()
	body := object{"name": name, "callback_url": callback}
	maps.Copy(body, more)
	status, answer := b.post("/api/tools/register", body)
	if status != 200 || answer["ok"] != true {
		b.t.Fatalf("registering %s is answered %d %v", name, status, answer)
	}
	return answer
}

// listed returns the rows of GET /api/tools for a role, by name.
func (b *bench) listed(role string) map[string]object {
	b.t.Helper()
	_, answer := b.do("GET", "/api/tools", "", nil)
	rows := map[string]object{}
	for _, row := range answer["tools_by_role"].(object)[role].([]any) {
		rows[row.(object)["name"].(string)] = row.(object)
	}
	return rows
}

// trust approves every plugin that waits.
func (b *bench) trust() {
	b.t.Helper()
	for _, s := range b.host.List() {
		must(b.t, plugintest.Approve(b.t.Context(), b.host, s.ID, false))
	}
	must(b.t, b.host.WaitIdle(b.t.Context()))
}

// offered returns the ids of the tools that the main model is offered.
func (b *bench) offered() []string {
	ids := []string{}
	for _, t := range b.tools.Set().ForModel().Tools() {
		ids = append(ids, t.ID())
	}
	slices.Sort(ids)
	return ids
}

// offers checks which tools the main model is offered.
func (b *bench) offers(want ...string) {
	b.t.Helper()
	if got := b.offered(); !slices.Equal(got, want) {
		b.t.Errorf("the model is offered %q, want %q", got, want)
	}
}

// call calls a tool as the model does, with arguments as it wrote them.
func (b *bench) call(id, arguments string) tool.Result {
	b.t.Helper()
	r, err := b.calls.Do(b.t.Context(), call.Turn{
		TurnInfo: hook.TurnInfo{Caller: gate.Main}, Tools: b.tools.Set(),
		Asker: allowing{},
	}, id, arguments, call.Extra{})
	must(b.t, err)
	return r
}

// allowing is a person who allows every call.
type allowing struct{}

func (allowing) Ask(context.Context, gate.Request) (gate.Answer, error) {
	return gate.Answer{Effect: gate.Allow, Scope: gate.Once}, nil
}

// textOf returns the text of a result as a model reads it.
func textOf(r tool.Result) string {
	if r.Status != chat.CallOK {
		return string(r.Status) + ": " + r.Error
	}
	return chat.TextOf(r.Content)
}

// says calls a tool and checks what the model reads.
func (b *bench) says(id, want string) {
	b.t.Helper()
	if got := textOf(b.call(id, `{}`)); got != want {
		b.t.Errorf("%s says %q, want %q", id, got, want)
	}
}

// service is a program that answers callbacks.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
}

// newService answers every callback with what reply writes.
func newService(t testing.TB, reply func(w http.ResponseWriter, body []byte)) *service {
	t.Helper()
	s := &service{}
	// At a port that nobody is given once it is closed: tests listen there again, or want it dead.
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:"+testkit.FreePort(t))
	must(t, err)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.sent = append(s.sent, string(body))
		s.mu.Unlock()
		reply(w, body)
	}))
	must(t, s.Listener.Close())
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// saying answers {"output": text}.
func saying(t testing.TB, text string) *service {
	t.Helper()
	return newService(t, func(w http.ResponseWriter, _ []byte) { _, _ = fmt.Fprintf(w, `{"output":%q}`, text) })
}

// bodies returns what callbacks were sent.
func (s *service) bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// port is the port that the service listens at.
func (s *service) port() string { return s.URL[strings.LastIndex(s.URL, ":")+1:] }

// id is the id of a tool that a service registered under the source plugin:p.
func (s *service) id(name string) string { return "p-" + s.port() + ":" + name }

// its are the fields of a registration of the source plugin:p.
func its(more object) object {
	body := object{"source": "plugin:p"}
	maps.Copy(body, more)
	return body
}

func compact(t testing.TB, raw string) string {
	t.Helper()
	var out bytes.Buffer
	must(t, json.Compact(&out, []byte(raw)))
	return out.String()
}

// otherTool is a tool of a plugin of the plugins folder.
var otherTool = httptools.Other{Plugin: "probe", Name: "look", Description: "Looks.", ID: "probe:look"}
