package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/net/loopback"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is the path of the address at which programs connect.
const Path = "/mcp"

// The protocol's second era begins with this version: requests carry it, and there are no sessions.
const modernVersion = "2026-07-28"

// The versions that begin with initialize.
var sessionVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Bounds on programs that connect over HTTP (contracts/mcp, MC-123).
const (
	maxSessions = 64
	sessionTime = 30 * time.Minute // a session without requests ends after that
	writeTime   = 30 * time.Second // a program that does not read what it is sent
)

// httpEndpoint is a endpoint over HTTP. Use Server.newHTTPEndpoint.
type httpEndpoint struct {
	*endpoint
	server            *loopback.Server
	sessioned, modern *toolServer
	whole             http.Handler
	stateful          http.Handler
	stateless         http.Handler

	mu       sync.Mutex // guards the fields below
	open     map[string]*httpSession
	requests map[*request]struct{}
}

// request is one under way, which may be a stream of notifications that lasts.
type request struct {
	program string
	cancel  context.CancelFunc
}

// httpSession is an open session.
type httpSession struct {
	program string
	used    time.Time // when its last request came or ended
	busy    int       // requests under way
}

// Listen opens a port of this computer until stop is called; 0 is any that is free. address is that at which
// programs connect. The error is that of the keychain, or a fault that names the program which has the port.
func (s *Server) Listen(ctx context.Context, port int, c Choices) (address string, stop func(), err error) {
	if err := s.readTokens(ctx); err != nil {
		return "", nil, err
	}
	h := s.newHTTPEndpoint(c)
	at, release, err := h.server.Open(ctx, port)
	if err != nil {
		return "", nil, err
	}
	if !s.enter(h.endpoint) {
		release()
		return "", nil, errClosing
	}
	h.offer(s.offers())
	return at + Path, sync.OnceFunc(func() {
		h.close()
		release()
		h.server.Close()
	}), nil
}

func (s *Server) newHTTPEndpoint(c Choices) *httpEndpoint {
	h := &httpEndpoint{
		sessioned: &toolServer{s.newMCP(sessionVersions), map[string]string{}},
		modern:    &toolServer{s.newMCP(nil), map[string]string{}},
		open:      map[string]*httpSession{},
		requests:  map[*request]struct{}{},
	}
	h.endpoint = &endpoint{
		s: s, choices: c, servers: []*toolServer{h.sessioned, h.modern}, calls: map[*running]struct{}{},
		who: func(r *mcp.CallToolRequest) string {
			if r.Extra == nil || r.Extra.TokenInfo == nil {
				return ""
			}
			return r.Extra.TokenInfo.UserID
		},
		sessions: h.sessions, shut: h.shutAll,
	}
	options := mcp.StreamableHTTPOptions{
		Logger: s.o.Log, MaxRequestBodyBytes: limit.ProgramRequest, SessionTimeout: sessionTime,
		PropagateRequestCancellation: true,
	}
	h.stateful = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return h.sessioned.Server }, &options)
	options.Stateless = true
	h.stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return h.modern.Server }, &options)
	h.whole = auth.RequireBearerToken(h.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(
		http.HandlerFunc(h.serve))
	h.server = loopback.New(loopback.Options{Handler: http.HandlerFunc(h.enter), Log: s.o.Log, Body: limit.ProgramRequest})
	return h
}

// verify implements auth.TokenVerifier.
func (h *httpEndpoint) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	program, ok := h.s.programs.owner(token)
	if !ok {
		return nil, fmt.Errorf("%w: Conclave knows no program with this token", auth.ErrInvalidToken)
	}
	return &auth.TokenInfo{UserID: program}, nil
}

// enter lets a request in that asks for the right address and carries a token.
func (h *httpEndpoint) enter(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != Path {
		loopback.Refuse(w, http.StatusNotFound, "Conclave's tools are at "+Path)
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer") // serve takes it away
	h.whole.ServeHTTP(w, r)
}

// serve answers a request of a program by the era that it is of.
func (h *httpEndpoint) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Del("WWW-Authenticate")
	w.Header().Set("Cache-Control", "no-store")
	var body []byte
	if r.Method == http.MethodPost {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			if _, large := errors.AsType[*http.MaxBytesError](err); large {
				loopback.Refuse(w, http.StatusRequestEntityTooLarge, "a request has at most 8 MiB")
				return
			}
			loopback.Refuse(w, http.StatusBadRequest, "the request did not arrive")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	out := &writer{ResponseWriter: w, control: http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Time{}) // its body is here; what follows may last
	r, over := h.lasting(r)
	defer over()
	if isModern(r.Header, body) {
		h.stateless.ServeHTTP(out, r)
		return
	}
	h.inSession(out, r, body)
}

// lasting returns a request that ends when its program is removed or the port closes. over is called when it
// has been answered.
func (h *httpEndpoint) lasting(r *http.Request) (_ *http.Request, over func()) {
	ctx, cancel := context.WithCancel(r.Context())
	one := &request{auth.TokenInfoFromContext(ctx).UserID, cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests[one] = struct{}{}
	return r.WithContext(ctx), func() {
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.requests, one)
	}
}

// isModern reports whether a request carries its version, as those of the second era do.
func isModern(header http.Header, body []byte) bool {
	if header.Get("Mcp-Protocol-Version") >= modernVersion || header.Get("Mcp-Method") != "" {
		return true
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil {
		return false
	}
	_, carries := m.Params.Meta[mcp.MetaKeyProtocolVersion]
	return carries || m.Method == "server/discover"
}

// sessionHeader names a session of the first era.
const sessionHeader = "Mcp-Session-Id"

// inSession answers a request of the first era.
func (h *httpEndpoint) inSession(w *writer, r *http.Request, body []byte) {
	program := auth.TokenInfoFromContext(r.Context()).UserID
	if id := r.Header.Get(sessionHeader); id != "" {
		if !h.begin(id, program) {
			loopback.Refuse(w, http.StatusNotFound, "there is no such session: initialize again")
			return
		}
		defer h.done(id)
		h.stateful.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && !begins(body) {
		loopback.Refuse(w, http.StatusBadRequest, "a session begins with initialize; the header "+sessionHeader+" names it")
		return
	}
	if r.Method == http.MethodPost && !h.room() {
		loopback.Refuse(w, http.StatusServiceUnavailable, "64 sessions are open and at work; try again later")
		return
	}
	var id string
	w.starts = func() {
		if id = w.Header().Get(sessionHeader); id != "" {
			h.httpSession(id, program)
		}
	}
	h.stateful.ServeHTTP(w, r)
	if id != "" {
		h.done(id)
	}
}

// begins reports whether a message begins a session.
func begins(body []byte) bool {
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(body, &m) == nil && m.Method == "initialize"
}

// httpSession notes a new session, whose first request is under way.
func (h *httpEndpoint) httpSession(id, program string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[id] = &httpSession{program: program, used: time.Now(), busy: 1}
}

// begin notes a request of a session. It reports whether the program has such a session.
func (h *httpEndpoint) begin(id, program string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := h.open[id]
	if v == nil || v.program != program {
		return false
	}
	v.busy++
	v.used = time.Now()
	return true
}

// done notes the end of a request of a session.
func (h *httpEndpoint) done(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.open[id]; v != nil {
		v.busy--
		v.used = time.Now()
	}
}

// live returns the sessions that are open, by id, and forgets those that have ended.
func (h *httpEndpoint) live() map[string]*mcp.ServerSession {
	all := map[string]*mcp.ServerSession{}
	for one := range h.sessioned.Sessions() {
		all[one.ID()] = one
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.open {
		if all[id] == nil {
			delete(h.open, id)
		}
	}
	return all
}

// room makes room for one more session: of too many, the one ends that has been silent longest. It reports
// false where all are at work.
func (h *httpEndpoint) room() bool {
	all := h.live()
	if len(all) < maxSessions {
		return true
	}
	h.mu.Lock()
	oldest := ""
	for id, v := range h.open {
		if v.busy == 0 && (oldest == "" || v.used.Before(h.open[oldest].used)) {
			oldest = id
		}
	}
	delete(h.open, oldest)
	h.mu.Unlock()
	if oldest == "" {
		return false
	}
	h.stop(errEnded, func(r *running) bool { return r.session == oldest })
	_ = all[oldest].Close() // its program may be gone
	return true
}

// sessions implements endpoint.sessions.
func (h *httpEndpoint) sessions() map[string]int {
	h.live()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]int{}
	for _, v := range h.open {
		all[v.program]++
	}
	return all
}

// shutAll implements endpoint.shut.
func (h *httpEndpoint) shutAll(program string) {
	for id, session := range h.live() {
		h.mu.Lock()
		v := h.open[id]
		its := program == "" || v != nil && v.program == program
		h.mu.Unlock()
		if its {
			_ = session.Close() // its program may be gone
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.requests {
		if program == "" || r.program == program {
			r.cancel()
		}
	}
}

// writer is an answer that may last. Each part is written in time.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	starts  func() // called once before the header is written; may be nil
}

// Unwrap lets http.ResponseController find the writer below.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	w.start()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.start()
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTime))
	return w.ResponseWriter.Write(p)
}

func (w *writer) start() {
	if w.starts != nil {
		w.starts()
		w.starts = nil
	}
}
