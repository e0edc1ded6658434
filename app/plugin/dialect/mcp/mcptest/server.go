package mcptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Server is the server. Its methods are safe for concurrent use.
type Server struct {
	flags Flags

	mu       sync.Mutex // guards all below
	received []Message
	lists    int // answers to tools/list
	calls    int // tools/call that came
	listens  int
	posts    int
	sessions map[string]*peer
	asked    int
	hangs    bool
	missed   int
	now      func(string)  // sends a notification of a change to whoever listens
	dropped  chan struct{} // closed by Drop
}

// Message is a JSON-RPC message.
type Message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`

	Header map[string][]string `json:"-"` // of the POST that it came with
}

// object is JSON that the server makes.
type object = map[string]any

// New returns a server.
func New(f Flags) *Server {
	return &Server{flags: f, sessions: map[string]*peer{}, dropped: make(chan struct{})}
}

// Received returns the messages that came, in their order; only those of method where it is not empty.
func (s *Server) Received(method string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, m := range s.received {
		if method == "" || m.Method == method {
			all = append(all, m)
		}
	}
	return all
}

// Listens returns how many subscriptions or streams for changes were opened.
func (s *Server) Listens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listens
}

// Hang has the server answer no request, or all again.
func (s *Server) Hang(hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = hangs
}

// Missed returns how many requests were not answered because of Hang.
func (s *Server) Missed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missed
}

func (s *Server) hanging() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangs {
		s.missed++
	}
	return s.hangs
}

// Notify sends a notification to whoever listens, on the stream that was opened last.
func (s *Server) Notify(method string) {
	s.mu.Lock()
	now := s.now
	s.mu.Unlock()
	if now != nil {
		now(method)
	}
}

// peer is one client.
type peer struct {
	s    *Server
	send func(any) // to the client, outside an answer

	mu        sync.Mutex // guards all below
	answers   map[string]chan Message
	cancelled map[string]chan struct{}
	tasks     map[string]*task
}

func (s *Server) newPeer(send func(any)) *peer {
	return &peer{
		s: s, send: send, answers: map[string]chan Message{}, cancelled: map[string]chan struct{}{},
		tasks: map[string]*task{},
	}
}

// ServeStream serves one client over a stream until its input ends.
func (s *Server) ServeStream(rw io.ReadWriteCloser) {
	var writing sync.Mutex
	line := func(text []byte) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = rw.Write(append(text, '\n'))
	}
	p := s.newPeer(nil)
	p.send = func(v any) {
		if s.flags.Batches {
			v = []any{v}
		}
		text, _ := json.Marshal(v)
		if s.flags.InvalidUTF8 {
			text = []byte(strings.ReplaceAll(string(text), "INVALID", "\xff\xa0"))
		}
		line(text)
		if s.flags.Banner > 0 {
			line([]byte("a line between messages"))
		}
	}
	for i := range s.flags.Banner {
		line(fmt.Appendf(nil, "banner line %d", i))
	}
	s.mu.Lock()
	s.now = func(method string) { p.send(object{"jsonrpc": "2.0", "method": method}) }
	s.mu.Unlock()
	in := bufio.NewReaderSize(rw, 1<<20)
	first := true
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		text, err := in.ReadBytes('\n')
		var m Message
		if json.Unmarshal(text, &m) == nil {
			if first && s.flags.DiesOnProbe && m.Method != "initialize" {
				_ = rw.Close()
				return
			}
			if m.Method == "tools/call" && s.flags.DiesInCall {
				_ = rw.Close()
				return
			}
			first = false
			wg.Go(func() { p.take(m, p.send) })
		}
		if err != nil {
			p.end()
			return
		}
	}
}

// end ends what waits.
func (p *peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, c := range p.cancelled {
		close(c)
		delete(p.cancelled, id)
	}
	for id, c := range p.answers {
		close(c)
		delete(p.answers, id)
	}
}

// take handles one message; send answers it.
func (p *peer) take(m Message, send func(any)) {
	s := p.s
	s.mu.Lock()
	s.received = append(s.received, m)
	first := len(s.received) == 1
	s.mu.Unlock()
	if first && s.flags.Slow > 0 {
		time.Sleep(s.flags.Slow)
	}
	switch {
	case m.Method == "" && m.ID != nil:
		p.mu.Lock()
		c := p.answers[string(m.ID)]
		delete(p.answers, string(m.ID))
		p.mu.Unlock()
		if c != nil {
			c <- m
		}
	case m.ID == nil:
		p.notified(m)
	case s.hanging():
	default:
		p.mu.Lock()
		stopped := make(chan struct{})
		p.cancelled[string(m.ID)] = stopped
		p.mu.Unlock()
		r := &request{Message: m, p: p, send: send, stopped: stopped}
		r.handle()
		p.mu.Lock()
		delete(p.cancelled, string(m.ID))
		p.mu.Unlock()
	}
}

func (p *peer) notified(m Message) {
	if m.Method != "notifications/cancelled" || p.s.flags.IgnoreCancel {
		return
	}
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &params)
	p.stop(params.ID)
}

// stop ends the request with this id.
func (p *peer) stop(id json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.cancelled[string(id)]; c != nil {
		close(c)
		delete(p.cancelled, string(id))
	}
}

// request is one request of the client.
type request struct {
	Message
	p       *peer
	send    func(any)
	stopped chan struct{} // closed when the client gives it up, or is gone
}

func (r *request) answer(result any) {
	id := r.ID
	if r.p.s.flags.WrongID && r.Method == "tools/call" {
		id = json.RawMessage("987654")
	}
	if o, ok := result.(object); ok && r.p.s.flags.Modern {
		if _, typed := o["resultType"]; !typed {
			o["resultType"] = "complete"
		}
	}
	m := object{"jsonrpc": "2.0", "id": id, "result": result}
	r.send(m)
	if r.p.s.flags.AnswersTwice {
		r.send(m)
	}
}

func (r *request) fail(code int, message string, data any) {
	e := object{"code": code, "message": message}
	if data != nil {
		e["data"] = data
	}
	r.send(object{"jsonrpc": "2.0", "id": r.ID, "error": e})
}

func (r *request) notify(method string, params any) {
	r.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// ask sends a request to a legacy client and returns its answer; false when the client is gone.
func (r *request) ask(method string, params any) (Message, bool) {
	r.p.s.mu.Lock()
	r.p.s.asked++
	id := fmt.Sprintf("q%d", r.p.s.asked)
	r.p.s.mu.Unlock()
	c := make(chan Message, 1)
	r.p.mu.Lock()
	r.p.answers[`"`+id+`"`] = c
	r.p.mu.Unlock()
	r.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	select {
	case m, ok := <-c:
		return m, ok
	case <-r.stopped:
		return Message{}, false
	}
}

func (r *request) handle() {
	s := r.p.s
	watches := r.Method == "subscriptions/listen" || strings.HasSuffix(r.Method, "subscribe")
	if watches && s.flags.NoSubscriptions {
		r.fail(-32601, "Method not found", nil)
		return
	}
	switch r.Method {
	case "initialize":
		r.initialize()
	case "server/discover":
		r.discover()
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		r.answer(object{})
	case "tools/list":
		r.listTools()
	case "tools/call":
		r.call()
	case "resources/list":
		r.answer(object{"resources": []any{object{"uri": "test://one", "name": "one", "size": 3}}})
	case "resources/templates/list":
		r.answer(object{"resourceTemplates": []any{object{"uriTemplate": "test://{name}", "name": "any"}}})
	case "resources/read":
		r.read()
	case "prompts/list":
		who := object{"name": "who", "required": true}
		r.answer(object{"prompts": []any{object{"name": "greet", "arguments": []any{who}}}})
	case "prompts/get":
		if r.param("name") == "asks" && r.asksFirst() {
			return
		}
		r.answer(object{"messages": []any{
			object{"role": "user", "content": object{"type": "text", "text": "Greet " + r.param("arguments", "who")}},
			object{"role": "assistant", "content": object{"type": "text", "text": "Hello."}},
		}})
	case "completion/complete":
		values := []any{}
		for i := range 120 {
			values = append(values, fmt.Sprintf("%s%d", r.param("argument", "value"), i))
		}
		r.answer(object{"completion": object{"values": values, "hasMore": true, "total": 500}})
	case "subscriptions/listen":
		r.listen()
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		r.task()
	default:
		if !s.flags.Silent {
			r.fail(-32601, "Method not found", nil)
		}
	}
}

// param returns a text below the parameters.
func (r *request) param(path ...string) string {
	raw := r.Params
	for _, name := range path {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return ""
		}
		raw = o[name]
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

func (s *Server) capabilities() object {
	if s.flags.Bare {
		return object{"tools": object{}}
	}
	return object{
		"tools": object{"listChanged": true}, "prompts": object{"listChanged": true}, "logging": object{},
		"resources": object{"listChanged": true, "subscribe": true}, "completions": object{}, "tasks": object{},
		"extensions": object{"io.modelcontextprotocol/tasks": object{}},
	}
}

func (r *request) initialize() {
	f := r.p.s.flags
	if f.Modern {
		r.fail(-32022, "Unsupported protocol version", object{"supported": []string{"2026-07-28"}})
		return
	}
	version := f.Version
	if version == "" {
		version = "2025-11-25"
	}
	info := object{"name": "fake", "version": "1.2.3", "title": "The fake"}
	if f.Icons != "" {
		info["websiteUrl"], info["icons"] = f.Icons, []any{object{"src": f.Icons + "/server.png"}}
	}
	r.answer(object{
		"protocolVersion": version, "capabilities": r.p.s.capabilities(), "instructions": "Be kind.", "serverInfo": info,
	})
}

func (r *request) discover() {
	f := r.p.s.flags
	switch {
	case f.Silent:
	case !f.Modern:
		r.fail(-32601, "Method not found", nil)
	default:
		r.answer(object{
			"supportedVersions": []string{"2026-07-28"}, "capabilities": r.p.s.capabilities(), "ttlMs": 0,
			"cacheScope": "private", "instructions": "Be kind.",
			"_meta": object{"io.modelcontextprotocol/serverInfo": object{"name": "fake", "version": "1.2.3"}},
		})
	}
}

func (r *request) listen() {
	s := r.p.s
	var params struct {
		Notifications json.RawMessage `json:"notifications"`
	}
	_ = json.Unmarshal(r.Params, &params)
	meta := object{"io.modelcontextprotocol/subscriptionId": r.ID}
	s.mu.Lock()
	s.listens++
	s.now = func(method string) { r.notify(method, object{"_meta": meta, "uri": "test://one"}) }
	s.mu.Unlock()
	r.notify("notifications/subscriptions/acknowledged", object{"_meta": meta, "notifications": params.Notifications})
	if s.flags.ClosesListen {
		r.answer(object{"_meta": meta})
		return
	}
	<-r.stopped
}

func (r *request) read() {
	switch uri := r.param("uri"); uri {
	case "test://one":
		r.answer(object{"contents": []any{object{"uri": uri, "mimeType": "text/plain", "text": "one"}}})
	case "test://blob":
		r.answer(object{"contents": []any{object{"uri": uri, "mimeType": "image/png", "blob": "AAEC"}}})
	case "test://asks":
		if !r.asksFirst() {
			text := r.param("inputResponses")
			r.answer(object{"contents": []any{object{"uri": uri, "mimeType": "text/plain", "text": text}}})
		}
	case "test://empty":
		r.answer(object{"contents": []any{}})
	case "test://old":
		r.fail(-32002, "Resource not found", nil)
	default:
		r.fail(-32602, "Resource not found", object{"uri": uri})
	}
}
