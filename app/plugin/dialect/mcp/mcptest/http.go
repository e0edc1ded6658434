package mcptest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// ServeHTTP serves Streamable HTTP at any path; with OldSSE the HTTP of 2024-11-05: the stream by GET, and
// messages by POST to /message.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := s.flags
	s.mu.Lock()
	s.posts++
	posts := s.posts
	s.mu.Unlock()
	switch {
	case f.Redirect != "":
		http.Redirect(w, r, f.Redirect, http.StatusTemporaryRedirect)
	case posts <= f.Fails:
		http.Error(w, "not yet", http.StatusServiceUnavailable)
	case f.Unauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://`+r.Host+`/.well-known/oauth-protected-resource"`)
		http.Error(w, "sign in", http.StatusUnauthorized)
	case f.OldSSE:
		s.serveOld(w, r)
	case r.Method == http.MethodPost:
		s.post(w, r)
	case r.Method == http.MethodGet && !f.Modern:
		s.get(w, r)
	case r.Method == http.MethodDelete && !f.Modern:
		s.mu.Lock()
		delete(s.sessions, r.Header.Get("Mcp-Session-Id"))
		s.mu.Unlock()
	default:
		http.Error(w, "no", http.StatusMethodNotAllowed)
	}
}

// Sessions returns how many sessions of clients are open.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// eventWriter writes server-sent events.
type eventWriter struct {
	mu     sync.Mutex // guards w and closed
	w      http.ResponseWriter
	closed bool
}

// close ends the writer with its request.
func (e *eventWriter) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	e := &eventWriter{w: w}
	e.write(": hello\n\n")
	return e
}

func (e *eventWriter) write(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	_, _ = io.WriteString(e.w, text)
	e.w.(http.Flusher).Flush()
}

func (e *eventWriter) send(v any) {
	text, _ := json.Marshal(v)
	e.write("event: message\ndata: " + string(text) + "\n\n")
}

// post handles one message of a client.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	var m Message
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &m) != nil {
		http.Error(w, "bad JSON", http.StatusBadRequest)
		return
	}
	m.Header = r.Header
	if s.refuses(w, r, m) {
		return
	}
	p, ok := s.peerOf(w, r, m)
	if !ok && s.flags.ForgetsBy400 {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": nil, "error": object{
			"code": -32000, "message": "Bad Request: No valid session ID provided",
		}})
		return
	}
	if !ok {
		http.Error(w, "Session not found", http.StatusNotFound)
		return
	}
	if m.ID == nil || m.Method == "" {
		p.take(m, p.send)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "initialize" || m.Method == "tools/list" || m.Method == "server/discover" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		p.take(m, func(v any) { _ = json.NewEncoder(w).Encode(v) })
		return
	}
	s.stream(w, r, p, m)
}

// refuses answers what a server refuses before it looks at the method.
func (s *Server) refuses(w http.ResponseWriter, r *http.Request, m Message) bool {
	modern := r.Header.Get("Mcp-Protocol-Version") >= "2026"
	status, code, message := 0, 0, ""
	var data any
	switch {
	case s.flags.Modern && !modern:
		status, code, message = 400, -32022, "Unsupported protocol version"
		data = object{"supported": []string{"2026-07-28"}}
	case !s.flags.Modern && modern:
		status, code, message = 400, -32000, "Bad Request: No valid session ID provided"
	case modern && r.Header.Get("Mcp-Method") != m.Method:
		status, code, message = 400, -32020, "Header mismatch"
	default:
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{
		"jsonrpc": "2.0", "id": m.ID, "error": object{"code": code, "message": message, "data": data},
	})
	return true
}

// peerOf returns the client that sent m; false when its session is unknown.
func (s *Server) peerOf(w http.ResponseWriter, r *http.Request, m Message) (*peer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flags.Modern {
		if s.sessions[""] == nil {
			s.sessions[""] = s.newPeer(func(any) {})
		}
		return s.sessions[""], true
	}
	id := r.Header.Get("Mcp-Session-Id")
	if m.Method == "initialize" {
		id = "session-" + strconv.Itoa(s.posts)
		w.Header().Set("Mcp-Session-Id", id)
		s.sessions[id] = s.newPeer(func(any) {})
	}
	p := s.sessions[id]
	if s.flags.ForgetsAfter > 0 && s.posts > s.flags.ForgetsAfter && m.Method != "initialize" {
		s.flags.ForgetsAfter = 0
		delete(s.sessions, id)
		return nil, false
	}
	return p, p != nil
}

// stream answers a request by a stream.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, p *peer, m Message) {
	e := newEventWriter(w)
	defer e.close()
	if s.flags.BreaksOff && m.Method == "tools/call" {
		s.mu.Lock()
		s.received = append(s.received, m)
		s.flags.BreaksOff = false
		s.mu.Unlock()
		return
	}
	if s.flags.Endless && m.Method == "tools/call" {
		for comment := ":" + strings.Repeat("x", 1<<20) + "\n"; r.Context().Err() == nil; {
			e.write(comment)
		}
		return
	}
	done := make(chan struct{})
	go func() { // ends with the request
		select {
		case <-r.Context().Done():
			p.stop(m.ID)
		case <-done:
		}
	}()
	p.take(m, e.send)
	close(done)
}

// get opens the stream of a legacy server for what belongs to no request.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	e := newEventWriter(w)
	defer e.close()
	s.mu.Lock()
	s.listens++
	s.now = func(method string) { e.send(object{"jsonrpc": "2.0", "method": method}) }
	closes, dropped := s.flags.ClosesListen, s.dropped
	s.mu.Unlock()
	if closes {
		return
	}
	select {
	case <-r.Context().Done():
	case <-dropped:
	}
}

// Drop ends the streams that are open for what belongs to no request.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.dropped)
	s.dropped = make(chan struct{})
}

// serveOld serves the HTTP of 2024-11-05.
func (s *Server) serveOld(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
		e := newEventWriter(w)
		defer e.close()
		s.mu.Lock()
		id := "s" + strconv.Itoa(s.posts)
		p := s.newPeer(e.send)
		s.sessions[id] = p
		s.listens++
		s.now = func(method string) { e.send(object{"jsonrpc": "2.0", "method": method}) }
		dropped := s.dropped
		s.mu.Unlock()
		e.write("event: endpoint\ndata: /message?session=" + id + "\n\n")
		select {
		case <-r.Context().Done():
		case <-dropped:
		}
		p.end()
		s.mu.Lock()
		delete(s.sessions, id)
		s.mu.Unlock()
	case r.Method == http.MethodPost && r.URL.Path == "/message":
		s.mu.Lock()
		p := s.sessions[r.URL.Query().Get("session")]
		s.mu.Unlock()
		var m Message
		if p == nil || json.NewDecoder(r.Body).Decode(&m) != nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		m.Header = r.Header
		w.WriteHeader(http.StatusAccepted)
		go p.take(m, p.send) // ends with the answer, or with the stream
	default:
		http.Error(w, "Cannot POST", http.StatusNotFound)
	}
}
