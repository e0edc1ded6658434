package service

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/keys"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/net/egress"
	"conclave/app/plugin"
	"conclave/app/test/testkit"
	"conclave/app/tool/call"
	"conclave/store"
	"conclave/store/storetest"
)

var must = testkit.Must

// fixture is the services over a real store, and what they told.
type fixture struct {
	t      *testing.T
	store  *store.Store
	s      *Services
	all    map[string]plugin.Service
	model  *modeltest.Model
	chosen string // the default that the person chose
	open   *chat.Conversation
	chats  *conversation.Owner
	now    time.Time

	local sync.Map // the plugins that may connect to this computer

	mu     sync.Mutex
	events []string
	told   []map[string]any
}

// answering has a model answer in the open chat until end is called, which returns once
// the chat is free again.
func (f *fixture) answering() (end func()) {
	f.t.Helper()
	goes, began, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	m := modeltest.New([]modeltest.Step{modeltest.Say("Well"), modeltest.Wait(goes), modeltest.Say(".")})
	go func() { // ends with end
		defer close(over)
		_, err := f.chats.Run(f.t.Context(), turn.Request{Conversation: f.open.ID, Model: m}, func(e chat.Event) {
			if e.Kind == chat.EventText && e.Text == "Well" {
				close(began)
			}
		})
		if err != nil {
			f.t.Error(err)
		}
	}()
	<-began
	return func() { close(goes); <-over }
}

// models are one scripted model behind two connections.
type models struct {
	m      *modeltest.Model
	chosen *string
}

func (m models) Open(_ context.Context, name string) (model.Model, error) {
	connection, id, _ := strings.Cut(name, "/")
	if connection != "one" && connection != "two" {
		return nil, fault.New(fault.NotFound, "test", "There is no connection named "+connection+".", "")
	}
	m.m.SetInfo(model.Info{Connection: connection, ID: id})
	return m.m, nil
}

func (m models) Connections(context.Context) ([]model.Connection, error) {
	return []model.Connection{
		{
			Name: "one", Kind: "openai", Title: "One", HasKey: true, Headers: map[string]string{"X-Secret": "sk-header"},
			Key: func(context.Context) (string, error) { return "sk-key", nil },
		},
		{Name: "two", Kind: "ollama"},
	}, nil
}

func (m models) Known(context.Context) ([]model.Info, error) {
	return []model.Info{{Connection: "one", ID: "default"}, {Connection: "two", ID: "small"}}, nil
}

func (m models) Chosen(context.Context) (string, error) { return *m.chosen, nil }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, store: storetest.Open(t), model: modeltest.New(), chosen: "one/default", now: time.Unix(1_700_000_000, 0),
	}
	c := chat.Conversation{Title: "Open"}
	must(t, f.store.Chats.CreateConversation(t.Context(), &c))
	f.open = &c
	publish := func(event string, payload any) {
		raw, _ := json.Marshal(payload)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.events = append(f.events, event+" "+string(raw))
	}
	gate, err := gate.Open(t.Context(), gate.Options{})
	must(t, err)
	f.chats = conversation.New(conversation.Options{
		Store: f.store.Turns, Turns: turn.New(turn.Options{
			Log: f.store.Turns, Calls: call.New(call.Options{Log: f.store.Turns, Gate: gate}),
		}),
		Edited: func(id chat.ConversationID, seq chat.MessageSeq) {
			path, err := f.store.Chats.Path(t.Context(), id)
			if err != nil {
				t.Error(err)
			}
			view, _ := MessageAt(path, seq)
			publish("MESSAGE_EDITED", map[string]any{"chatId": id, "message": view})
		},
	})
	web := egress.New(egress.Options{Ask: func(_ context.Context, id string, _ egress.Target) egress.Verdict {
		_, local := f.local.Load(id)
		return egress.Verdict{Allow: true, Private: local}
	}})
	t.Cleanup(web.Close)
	f.s = New(Options{
		Chats: f.store.Turns, Conversations: f.chats, Models: models{f.model, &f.chosen},
		Web: web, Keys: &memoryKeys{all: map[string]string{}}, Lending: gate.Reach,
		Values: f.store.PluginData, Shared: f.store.PluginData, Bus: bus.New(),
		Active:  func(context.Context) (*chat.Conversation, error) { return f.open, nil },
		Now:     func() time.Time { return f.now },
		Publish: publish,
	})
	f.all = f.s.All()
	return f
}

// memoryKeys keep secrets in memory: the file's encryption takes its time.
type memoryKeys struct{ all map[string]string }

func (m *memoryKeys) Get(_ context.Context, name string) (string, error) {
	if v, ok := m.all[name]; ok {
		return v, nil
	}
	return "", missing("none")
}

func (m *memoryKeys) Set(_ context.Context, name, value string) error {
	m.all[name] = value
	return nil
}

func (m *memoryKeys) Delete(_ context.Context, name string) error {
	delete(m.all, name)
	return nil
}

func (f *fixture) caller(id string, granted ...string) plugin.Caller {
	if slices.Contains(granted, LocalNetwork) {
		f.local.Store(id, true)
	}
	return plugin.Caller{
		Plugin: id, Name: "Plugin " + id,
		Granted: func(p string) bool { return slices.Contains(granted, p) },
		Tell: func(event string, payload any) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.told = append(f.told, payload.(map[string]any))
			return nil
		},
	}
}

// ask asks for a capability and returns its answer as JSON, or its fault as
// "kind: message".
func (f *fixture) ask(by plugin.Caller, name, args string) string {
	f.t.Helper()
	service, ok := f.all[name]
	if !ok {
		f.t.Fatalf("there is no %s", name)
	}
	value, err := service.Do(f.t.Context(), by, json.RawMessage(args))
	if err != nil {
		return string(fault.KindOf(err)) + ": " + fault.Of(err).Message
	}
	raw, err := json.Marshal(value)
	must(f.t, err)
	return string(raw)
}

func (f *fixture) wants(by plugin.Caller, name, args, want string) {
	f.t.Helper()
	if got := f.ask(by, name, args); !strings.Contains(got, want) {
		f.t.Errorf("%s %s\n got %s\nwant %s", name, args, got, want)
	}
}

func TestSecretsBelongToOnePlugin(t *testing.T) {
	f := newFixture(t)
	a, b := f.caller("a"), f.caller("b")
	f.wants(a, "secrets.get", `{"key":"token"}`, `{"value":null}`)
	f.wants(a, "secrets.put", `{"key":"token","value":"s3cret"}`, `{}`)
	f.wants(a, "secrets.put", `{"key":"other.one","value":"x"}`, `{}`)
	f.wants(a, "secrets.get", `{"key":"token"}`, `{"value":"s3cret"}`)
	f.wants(a, "secrets.list", `{}`, `{"keys":["other.one","token"]}`)
	f.wants(a, "secrets.has", `{"key":"token"}`, `true`)
	f.wants(b, "secrets.get", `{"key":"token"}`, `{"value":null}`)
	f.wants(b, "secrets.list", `{}`, `{"keys":[]}`)
	f.wants(a, "secrets.delete", `{"key":"token"}`, `{"deleted":true}`)
	f.wants(a, "secrets.delete", `{"key":"token"}`, `{"deleted":false}`)
	f.wants(a, "secrets.get", `{"key":"token"}`, `{"value":null}`)
	for _, key := range []string{"", "../b/token", "a b", strings.Repeat("x", 129)} {
		f.wants(a, "secrets.put", fmt.Sprintf(`{"key":%q,"value":"x"}`, key), "invalid: The name of a secret")
	}
	f.wants(a, "secrets.put", `{"key":"big","value":"`+strings.Repeat("x", maxSecret+1)+`"}`, "invalid: A secret may hold")
}

func TestSecretsLieEncryptedWhereThereIsNoKeychain(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "correct horse")
	dir := t.TempDir()
	box := keys.New(dir)
	if !strings.Contains(box.Sentence(), "encrypted file") {
		t.Skip("this system has a keychain, which is not a test's to write into")
	}
	s := New(Options{Keys: box})
	all := s.All()
	by := plugin.Caller{Plugin: "a"}
	if _, err := all["secrets.put"].Do(t.Context(), by, json.RawMessage(`{"key":"token","value":"s3cret"}`)); err != nil {
		t.Fatal(err)
	}
	value, err := all["secrets.get"].Do(t.Context(), by, json.RawMessage(`{"key":"token"}`))
	if err != nil || value.(map[string]any)["value"] != "s3cret" {
		t.Errorf("got %v, %v", value, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "keys.age"))
	if err != nil || bytes.Contains(raw, []byte("s3cret")) || bytes.Contains(raw, []byte("token")) {
		t.Errorf("the file: %v", err)
	}
}

func TestVariablesAreSharedPerScopeAndBounded(t *testing.T) {
	f := newFixture(t)
	a, b := f.caller("a"), f.caller("b")
	f.wants(a, "variables.set", `{"scope":"global","key":"k","value":"v"}`, `{}`)
	f.wants(b, "variables.get", `{"scope":"global","key":"k"}`, `{"value":"v"}`)
	f.wants(a, "variables.set", `{"scope":"chat","key":"k","value":"here"}`, `{}`) // the open chat
	f.wants(a, "variables.get", `{"scope":"chat","chat":"`+string(f.open.ID)+`","key":"k"}`, `here`)
	f.wants(a, "variables.get", `{"scope":"local","key":"k"}`, `{"value":null}`)
	f.wants(a, "variables.list", `{"scope":"chat"}`, `{"values":{"k":"here"}}`)
	f.wants(a, "variables.delete", `{"scope":"chat","key":"k"}`, `{"deleted":true}`)
	f.wants(a, "variables.set", `{"scope":"chat","chat":"nowhere","key":"k","value":"v"}`, `not_found`)
	f.wants(a, "variables.set", `{"scope":"plugin","key":"k","value":"v"}`, `invalid: The scope`)
	f.wants(a, "variables.set", `{"scope":"global","key":"","value":"v"}`, `invalid: The name`)
	f.wants(a, "variables.set", `{"scope":"global","key":"k","value":"`+strings.Repeat("x", maxVariable+1)+`"}`,
		`invalid: A variable may hold`)
}

func TestAModelIsAskedAndItsKeyIsNowhere(t *testing.T) {
	f := newFixture(t)
	by := f.caller("a")
	f.model.Add([]modeltest.Step{modeltest.Think("hm"), modeltest.Say("Hel"), modeltest.Say("lo"), modeltest.Used(3, 4)})
	got := f.ask(by, "models.generate", `{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"user","content":"there"}],
		"parameters":{"temperature":0.5,"max_tokens":20},"tools":[{"name":"look","description":"d"}],"stream":"s1"}`)
	for _, want := range []string{
		`"content":"Hello"`, `"reasoning":"hm"`, `"finish_reason":"stop"`,
		`"prompt_tokens":3,"completion_tokens":4,"total_tokens":7`, `"model":"one/default"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	r := f.model.Requests()[0]
	if r.System != "Be kind." || len(r.Messages) != 1 || chat.TextOf(r.Messages[0].Parts) != "Hi\nthere" ||
		*r.Temperature != 0.5 || r.MaxTokens != 20 || len(r.Tools) != 1 {
		t.Errorf("it was asked %+v", r)
	}
	var said strings.Builder
	for i, piece := range f.told {
		if piece["stream"] != "s1" || piece["number"] != i+1 {
			t.Errorf("piece %d is %v", i, piece)
		}
		said.WriteString(piece["text"].(string))
	}
	if said.String() != "hmHello" || !strings.Contains(got, fmt.Sprintf(`"pieces":%d`, len(f.told))) {
		t.Errorf("the pieces were %v of %s", f.told, got)
	}
	f.model.Add([]modeltest.Step{modeltest.Call("c1", "look", `{"a":1}`)})
	f.wants(by, "models.generate", `{"messages":[{"role":"user","content":"x"}],"connection":"two"}`,
		`"finish_reason":"tool_calls","tool_calls":[{"id":"c1","name":"look","args":{"a":1}}]`)
	if got := f.model.Info().Name(); got != "two/small" {
		t.Errorf("the connection stands for %s", got)
	}
	f.wants(by, "models.generate", `{"messages":[{"role":"user","content":"x"}],"connection":"none"}`, "not_found: ")
	f.wants(by, "models.generate", `{"messages":[]}`, "invalid: ")
	f.wants(by, "models.generate", `{"messages":[{"role":"robot","content":"x"}]}`, "invalid: The role")
	got = f.ask(by, "models.connections", `{}`)
	if strings.Contains(got, "sk-") || !strings.Contains(got,
		`{"id":"one","name":"One","provider":"openai","model":"default","models":["default"],"is_default":true,"has_key":true}`) {
		t.Errorf("SP-45: connections = %s", got)
	}
}

func TestAModelCallCanBeStoppedAndIsBounded(t *testing.T) {
	f := newFixture(t)
	by := f.caller("a")
	f.model.Add([]modeltest.Step{modeltest.Say("on"), modeltest.Wait(make(chan struct{}))})
	over := make(chan string, 1)
	go func() {
		over <- f.ask(by, "models.generate", `{"messages":[{"role":"user","content":"x"}],"request":"r"}`)
	}() // ends when it is stopped
	testkit.Until(t, "a request to stop", func() bool {
		return len(f.model.Requests()) == 1 && strings.Contains(f.ask(by, "models.stop", `{"request":"r"}`), "true")
	})
	if got := <-over; !strings.HasPrefix(got, "canceled") {
		t.Errorf("a stopped one answered %s", got)
	}
	f.wants(f.caller("b"), "models.stop", `{"request":"r"}`, `false`)
	for range callsAnHour - 1 {
		release, err := f.s.models.spend(t.Context(), by)
		must(t, err)
		release()
	}
	f.wants(by, "models.generate", `{"messages":[{"role":"user","content":"x"}]}`,
		"not_allowed: Plugin a has asked models 300 times")
	f.now = f.now.Add(time.Hour)
	f.model.Add([]modeltest.Step{modeltest.Say("again")})
	f.wants(by, "models.generate", `{"messages":[{"role":"user","content":"x"}]}`, "again")
}

func TestChatsAreReadAndWritten(t *testing.T) {
	f := newFixture(t)
	by := f.caller("a")
	f.wants(by, "chats.active", `{}`, `"title":"Open"`)
	f.wants(by, "chats.get", `{"chat":"nowhere"}`, `{"chat":null}`)
	f.wants(by, "chats.list", `{"limit":500}`, `"total":1`)
	f.wants(by, "chats.update", `{"title":"  New\n name "}`, `"title":"New name"`)
	f.wants(by, "chats.append", `{"role":"user","content":"one"}`, `"index":0,"role":"user","content":"one"`)
	f.wants(by, "chats.append", `{"role":"assistant","content":"two"}`, `"id":"`+string(f.open.ID)+`:2"`)
	f.wants(by, "chats.append", `{"role":"user","content":"three"}`, `"model":""`)
	f.wants(by, "chats.append", `{"role":"system","content":"x"}`, `invalid: `)
	f.wants(by, "chats.append", `{"role":"user","content":""}`, `invalid: `)
	f.wants(by, "chats.messages", `{}`, `"total":3`)
	f.wants(by, "chats.messages", `{"limit":1,"offset":1}`, `{"messages":[{"id":"`+string(f.open.ID)+`:2"`)
	f.wants(by, "chats.edit", `{"message":"2","content":"zwei"}`, `"content":"zwei"`)
	f.wants(by, "chats.edit", `{"message":"2","hidden":true}`, `"hidden":true`)
	f.wants(by, "chats.edit", `{"message":"9","content":"x"}`, `not_found`)
	f.wants(by, "chats.remove", `{"message":"2"}`, `{"removed":true,"waits":false}`)
	got := f.ask(by, "chats.messages", `{}`)
	if strings.Contains(got, "zwei") || !strings.Contains(got, "one") || !strings.Contains(got, "three") {
		t.Errorf("after removing: %s", got)
	}
	if old, err := f.store.Chats.Message(t.Context(), f.open.ID, 2); err != nil || chat.TextOf(old.Parts) != "zwei" {
		t.Errorf("what was removed is gone: %v, %v", old, err)
	}
	names := []string{}
	for _, e := range f.events {
		name, _, _ := strings.Cut(e, " ")
		names = append(names, name)
	}
	if want := []string{
		"CHAT_CHANGED", "MESSAGE_SENT", "MESSAGE_SENT", "MESSAGE_SENT", "MESSAGE_EDITED", "MESSAGE_EDITED", "MESSAGE_DELETED",
	}; !slices.Equal(names, want) {
		t.Errorf("events = %v", names)
	}
	by.Conversation = "elsewhere"
	f.wants(by, "chats.messages", `{}`, `not_found`) // the call's chat, not the open one
}

func TestWhatIsWrittenDuringAnAnswerComesAfterIt(t *testing.T) {
	f := newFixture(t)
	by := f.caller("a")
	f.wants(by, "chats.append", `{"role":"user","content":"question"}`, `"id":"`+string(f.open.ID)+`:1"`)
	end := f.answering()
	got := f.ask(by, "chats.append", `{"role":"assistant","content":"later"}`)
	if !strings.Contains(got, `"waits":true`) {
		t.Fatalf("it was written at once: %s", got)
	}
	f.wants(by, "chats.append", `{"role":"assistant","content":"latest"}`, `"waits":true`)
	f.wants(by, "chats.messages", `{}`, `"total":2`)
	f.wants(by, "chats.edit", `{"message":"2","content":"mine"}`, `conflict: That message is still being written.`)
	f.wants(by, "chats.edit", `{"message":"1","content":"asked otherwise"}`, `"content":"asked otherwise"`)
	f.wants(by, "chats.edit", `{"message":"2","hidden":true}`, `"hidden":true`)
	end()
	f.wants(by, "chats.messages", `{}`, `"content":"asked otherwise"`)
	f.wants(by, "chats.messages", `{"offset":1,"limit":1}`, `"content":"Well.","created_ms"`)
	f.wants(by, "chats.messages", `{"offset":1,"limit":1}`, `"hidden":true`)
	f.wants(by, "chats.messages", `{"offset":3}`, `"content":"latest"`)
	var first struct{ Message Message }
	must(t, json.Unmarshal([]byte(got), &first))
	f.wants(by, "chats.edit", `{"message":"`+first.Message.ID+`","content":"edited"}`, `:3","chat":`)
}

func TestAnAnswerOfManyRoundsIsOneMessage(t *testing.T) {
	text := func(s string) []chat.Part { return []chat.Part{{Kind: chat.PartText, Text: s}} }
	path := []chat.Message{
		{Seq: 1, Turn: "t", Role: chat.RoleUser, Parts: text("q")},
		{Seq: 2, Turn: "t", Role: chat.RoleAssistant, Parts: text("let me see")},
		{Seq: 3, Turn: "t", Role: chat.RoleTool},
		{Seq: 4, Turn: "t", Role: chat.RoleAssistant, Parts: text("42"), State: chat.Complete},
		{Seq: 5, Turn: "u", Role: chat.RoleUser, Parts: text("thanks")},
	}
	got := Messages(path)
	if len(got) != 3 || got[1].ID != ":2" || got[1].Content != "let me see\n\n42" || got[1].State != chat.Complete ||
		got[2].Index != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestTheWebIsReachedAndPrivateAddressesAreNot(t *testing.T) {
	big := strings.Repeat("0123456789", pieceBytes/10+1) + "\xff"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			_, _ = w.Write([]byte(big))
		case "/huge":
			_, _ = w.Write(make([]byte, maxBody+1))
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/secret", http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		default:
			w.Header().Set("X-Seen", r.Method+" "+r.Header.Get("X-Mine")+" "+r.Header.Get("Cookie"))
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write([]byte("tea"))
		}
	}))
	defer server.Close()
	f := newFixture(t)
	stranger, local := f.caller("stranger"), f.caller("a", LocalNetwork)
	f.wants(stranger, "http.request", `{"url":"`+server.URL+`"}`, "not_allowed: PERMISSION_DENIED: local_network")
	f.wants(stranger, "http.request", `{"url":"http://[::1]:1/"}`, "PERMISSION_DENIED: local_network")
	f.wants(stranger, "http.request", `{"url":"http://localhost:1/"}`, "PERMISSION_DENIED: local_network")
	f.wants(local, "http.request", `{"url":"http://169.254.169.254/latest/meta-data"}`, "not_allowed")
	f.wants(local, "http.request", `{"url":"`+server.URL+`/away"}`, "not_allowed")
	f.wants(local, "http.request",
		`{"url":"`+server.URL+`","method":"put","headers":{"X-Mine":"yes","Host":"evil"},"body":"b"}`,
		`{"status":418,"status_text":"I'm a teapot"`)
	f.wants(local, "http.request", `{"url":"`+server.URL+`","headers":{"X-Mine":"yes"}}`, `"x-seen":"GET yes"`)
	f.wants(local, "http.request", `{"url":"`+server.URL+`","binary":true}`, `"base64":"dGVh"`)
	f.wants(local, "http.request", `{"url":"file:///etc/passwd"}`, "invalid: Only http")
	f.wants(local, "http.request", `{"url":"`+server.URL+`","method":"CONNECT"}`, "invalid: ")
	f.wants(local, "http.request", `{"url":"`+server.URL+`/huge"}`, "invalid: ")
	f.wants(local, "http.request", `{"url":"http://127.0.0.1:1/"}`, "unavailable: ")

	var answer struct {
		Base64 []byte
		Rest   string
	}
	if err := json.Unmarshal([]byte(f.ask(local, "http.request", `{"url":"`+server.URL+`/big"}`)), &answer); err != nil ||
		answer.Rest == "" {
		t.Fatalf("a large answer: %v", err)
	}
	body, rest := answer.Base64, answer.Rest
	f.wants(f.caller("b"), "http.read", `{"rest":"`+rest+`"}`, "not_found")
	var next struct{ Base64 string }
	must(t, json.Unmarshal([]byte(f.ask(local, "http.read", `{"rest":"`+rest+`"}`)), &next))
	more, _ := base64.StdEncoding.DecodeString(next.Base64)
	if string(append(body, more...)) != big {
		t.Error("the pieces are not the body")
	}
	f.wants(local, "http.read", `{"rest":"`+rest+`"}`, "not_found")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.all["http.request"].Do(ctx, local,
		json.RawMessage(`{"url":"`+server.URL+`/slow"}`)); fault.KindOf(err) != fault.Canceled {
		t.Errorf("a stopped one: %v", err)
	}
}

// The attack: plugins ask for large bodies at once, and a server that never ends
// them; each body alone is within its bound.
func TestAnswersOfServersTakeABoundedShareOfTheMemory(t *testing.T) {
	was := requestTime
	requestTime = time.Hour // 480 MiB take a busy machine longer than a request may
	t.Cleanup(func() { requestTime = was })
	const body = 20 << 20
	all, large := make(chan struct{}), make([]byte, body)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			_, _ = w.Write([]byte("tea"))
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(large)
		w.(http.Flusher).Flush()
		select { // the end of it comes when everybody has been served
		case <-all:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	f := newFixture(t)
	ask := func(ctx context.Context, id, path string) (any, error) {
		return f.all["http.request"].Do(ctx, f.caller(id, LocalNetwork), json.RawMessage(`{"url":"`+server.URL+path+`"}`))
	}
	var held atomic.Int64 // the most that was seen
	look := func() {
		f.s.web.held.mu.Lock()
		defer f.s.web.held.mu.Unlock()
		held.Store(max(held.Load(), f.s.web.held.all))
		for id, n := range f.s.web.held.by {
			if n > limit.HTTPHeld {
				t.Errorf("%s holds %d", id, n)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	refusedOnes := make(chan error, 64)
	const plugins, each = 6, 4 // 480 MiB; each plugin one body over its bound, all over theirs
	for i := range plugins * each {
		wg.Go(func() {
			_, err := ask(ctx, fmt.Sprint("p", i%plugins), "/endless")
			look()
			refusedOnes <- err
		})
	}
	for range plugins { // each plugin's fourth, at the least
		if err := <-refusedOnes; fault.KindOf(err) != fault.NotAllowed ||
			fault.Of(err).Message != "The answers of servers that this plugin waits for hold more than 64 MiB, or "+
				"those of all plugins more than 256 MiB. Ask for fewer at once, or read on what is left of earlier ones." {
			t.Fatalf("got %v", err)
		}
	}
	look()
	if held.Load() > limit.HTTPHeldByAll || held.Load() < limit.HTTPHeld {
		t.Errorf("%d bytes were held", held.Load())
	}
	cancel()
	wg.Wait()
	close(all)
	if f.s.web.held.all != 0 || len(f.s.web.held.by) != 0 {
		t.Errorf("after them %d bytes are held by %v", f.s.web.held.all, f.s.web.held.by)
	}
	if _, err := ask(t.Context(), "p0", "/small"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	// What waits to be read on counts, until it was read or is forgotten.
	for range 3 {
		if _, err := ask(t.Context(), "p0", "/endless"); err != nil {
			t.Fatal(err)
		}
	}
	if want := int64(3 * (body - pieceBytes)); f.s.web.held.all != want {
		t.Errorf("rests hold %d, want %d", f.s.web.held.all, want)
	}
	if _, err := ask(t.Context(), "p0", "/endless"); fault.KindOf(err) != fault.NotAllowed {
		t.Errorf("beside three rests: %v", err)
	}
	f.now = f.now.Add(restTime)
	if _, err := ask(t.Context(), "p0", "/small"); err != nil || f.s.web.held.all != 0 {
		t.Errorf("a minute later %d bytes are held, %v", f.s.web.held.all, err)
	}
}

func TestToastsAreCleanedNumberedAndFew(t *testing.T) {
	f := newFixture(t)
	by := f.caller("a")
	f.wants(by, "toast", `{"kind":"success","text":" two\n lines\u202e ","title":"T"}`, `true`)
	f.wants(by, "toast", `{"kind":"odd","text":"x"}`, `true`)
	f.wants(by, "toast", `{"kind":"info","text":""}`, `invalid`)
	got := f.s.Toasts.After(0)
	if len(got) != 2 || got[0].Sentence() != "Plugin a: T: two lines" || got[1].Kind != "info" ||
		len(f.s.Toasts.After(1)) != 1 {
		t.Errorf("got %+v", got)
	}
	for range toastsAt {
		f.ask(by, "toast", `{"text":"again"}`)
	}
	f.wants(by, "toast", `{"text":"again"}`, `false`)
	f.now = f.now.Add(toastWindow)
	f.wants(by, "toast", `{"text":"again"}`, `true`)
}

func TestTokensAreEstimated(t *testing.T) {
	f := newFixture(t)
	f.wants(f.caller("a"), "tokens.count", `{"text":"four letters"}`, `{"approximate":true,"total_tokens":3}`)
	f.wants(f.caller("a"), "tokens.count", `{"messages":[{"role":"user","content":"日本語"}]}`, `"total_tokens":7`)
}

func TestAPluginDoesNotFillTheStore(t *testing.T) {
	f := newFixture(t)
	large := strings.Repeat("x", 200<<10)
	loops := map[string]string{
		"chats.append":       `{"role":"user","content":"` + large + `"}`,
		"chats.update":       `{"title":"x"}`,
		"variables.set":      `{"scope":"global","key":"k","value":"` + large[:60<<10] + `"}`,
		"world_books.create": `{"fields":{"text":"` + large + `"}}`,
		"characters.create":  `{"fields":{"text":"` + large + `"}}`,
	}
	for name, args := range loops {
		t.Run(name, func(t *testing.T) {
			by := f.caller(name)
			each := int64(max(leastWritten, len(args)))
			if got := f.ask(by, name, args); strings.Contains(got,
				"the plugin wrote more than 128 MiB into Conclave within an hour, and has to wait") {
				t.Errorf("the first one: %s", got)
			}
			for n := limit.PluginWrites/each - 1; n > 0; n-- { // as many more, without a store of gigabytes
				if !f.s.writes.mayWrite(by.Plugin, each) {
					t.Fatalf("it was stopped %d calls early", n)
				}
			}
			f.wants(by, name, args, "the plugin wrote more than 128 MiB into Conclave within an hour, and has to wait")
			f.now = f.now.Add(time.Minute)
			if got := f.ask(by, name, args); strings.Contains(got,
				"the plugin wrote more than 128 MiB into Conclave within an hour, and has to wait") {
				t.Errorf("a minute later: %s", got)
			}
		})
	}
	for _, name := range writing {
		if _, there := f.all[name]; !there {
			t.Errorf("there is no %s to count", name)
		}
	}
}
