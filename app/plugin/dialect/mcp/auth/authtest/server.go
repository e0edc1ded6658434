// Package authtest is a server that wants a sign-in, and its sign-in service, for tests: both behave
// as the Model Context Protocol wants it, and badly on request.
package authtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is an MCP server at URL with the sign-in service at Issuer. Set the fields that make it behave
// badly before a request is made, or between two under Do.
type Server struct {
	URL    string // of the MCP server: its path is /mcp
	Issuer string

	// Handler answers requests that carry a token which is valid; nil answers each with an empty result.
	Handler http.Handler

	// What the two write about themselves; nil of Edit changes nothing. kind is "resource", "metadata",
	// "registration" or "token".
	Edit func(kind string, document map[string]any)
	// Challenge is the WWW-Authenticate header of a 401; empty names the metadata's place.
	Challenge string

	NoResource   bool              // there is no resource metadata
	NoMetadata   bool              // there is no metadata of the service
	NoRegister   bool              // programs cannot register
	Path         string            // of the issuer: /tenant
	OnlyOpenID   bool              // metadata is at the places of OpenID alone
	Iss          string            // in the answer to the browser; empty: none
	Deny         string            // the error in the answer to the browser
	Code         string            // the code in it; empty: a good one
	Lifetime     int               // seconds of an access token; 0: 3600
	NoRefresh    bool              // no refresh tokens
	Rotate       bool              // a refresh token is good once, and a second use ends the sign-in
	NoGrant      string            // the error of each renewal
	Down         bool              // the token endpoint answers 503
	Storm        bool              // no token is good enough
	Wants        map[string]string // the scope that a tool needs, for 403
	Delay        time.Duration     // of each answer of the service
	ForgetClient bool              // registrations are unknown at the token endpoint
	Redirect     map[string]string // where a path of either leads

	mu            sync.Mutex
	authorized    map[string]url.Values // by code
	access        map[string][]string   // scopes by token
	refresh       map[string]bool       // whether it was used, by token
	clients       map[string]string     // secrets by client
	number        int
	Pages         []url.Values // of the sign-in page
	Tokens        []url.Values // requests for tokens, with the Authorization header as "authorization"
	Registrations []map[string]any
	Revoked       []string
	Requests      []*http.Request // to the MCP server
	Asked         []string        // paths of both
}

// New starts the two. They end with the test.
func New(t testing.TB) *Server {
	s := &Server{
		authorized: map[string]url.Values{}, access: map[string][]string{}, refresh: map[string]bool{},
		clients: map[string]string{},
	}
	server := httptest.NewServer(http.HandlerFunc(s.serveServer))
	t.Cleanup(server.Close)
	service := httptest.NewServer(http.HandlerFunc(s.serveService))
	t.Cleanup(service.Close)
	s.URL, s.Issuer = server.URL+"/mcp", service.URL
	return s
}

// Do runs a function while nobody is served.
func (s *Server) Do(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Browser opens an address as a browser does, whose person allows everything.
func (s *Server) Browser(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.Body.Close()
}

// Expire makes all access tokens invalid, so that the server answers 401.
func (s *Server) Expire() { s.Do(func() { clear(s.access) }) }

func (s *Server) serveServer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.Asked = append(s.Asked, r.URL.Path)
	to := s.Redirect[r.URL.Path]
	s.mu.Unlock()
	root := strings.TrimSuffix(s.URL, "/mcp")
	switch {
	case to != "":
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	case r.URL.Path == "/.well-known/oauth-protected-resource/mcp" && !s.NoResource:
		s.write(w, "resource", map[string]any{"resource": s.URL, "authorization_servers": []string{s.Issuer + s.Path}})
	case r.URL.Path == "/mcp":
		s.serveMCP(w, r, root)
	case s.NoResource: // it is its own sign-in service
		s.serveService(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request, root string) {
	body, _ := io.ReadAll(r.Body)
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.Requests = append(s.Requests, r)
	scopes, ok := s.access[token]
	storm, wants := s.Storm, s.Wants
	s.mu.Unlock()
	challenge := s.Challenge
	if challenge == "" && !s.NoResource {
		challenge = `Bearer resource_metadata="` + root + `/.well-known/oauth-protected-resource/mcp"`
	}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &message)
	if !ok || storm {
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	if scope := wants[message.Params.Name]; scope != "" && !slices.Contains(scopes, scope) {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scope+`"`)
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	if s.Handler != nil {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.Handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, message.ID)
}

func (s *Server) write(w http.ResponseWriter, kind string, document map[string]any) {
	if s.Edit != nil {
		s.Edit(kind, document)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

func (s *Server) serveService(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.Asked = append(s.Asked, r.URL.Path)
	to, delay := s.Redirect[r.URL.Path], s.Delay
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return
	}
	_ = r.ParseForm()
	oauth, openID := "/.well-known/oauth-authorization-server"+s.Path, "/.well-known/openid-configuration"+s.Path
	switch path := r.URL.Path; {
	case to != "":
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	case !s.NoMetadata && (path == oauth && !s.OnlyOpenID || path == openID):
		s.serveMetadata(w, r)
	case path == "/authorize":
		s.servePage(w, r)
	case path == "/token":
		s.serveToken(w, r)
	case path == "/register" && !s.NoRegister:
		s.serveRegister(w, r)
	case path == "/revoke":
		s.Do(func() { s.Revoked = append(s.Revoked, r.Form.Get("token")) })
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) {
	base := "http://" + r.Host
	document := map[string]any{
		"issuer": base + s.Path, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
		"revocation_endpoint": base + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic", "client_secret_post"},
	}
	if !s.NoRegister {
		document["registration_endpoint"] = base + "/register"
	}
	s.write(w, "metadata", document)
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	to, err := url.Parse(r.Form.Get("redirect_uri"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.number++
	code := fmt.Sprintf("code-%d", s.number)
	s.authorized[code] = r.Form
	s.Pages = append(s.Pages, r.Form)
	s.mu.Unlock()
	query := url.Values{"state": {r.Form.Get("state")}}
	switch {
	case s.Deny != "":
		query.Set("error", s.Deny)
		query.Set("error_description", "Click http://evil.example \x1b[31mnow")
	case s.Code != "":
		query.Set("code", s.Code)
	default:
		query.Set("code", code)
	}
	if s.Iss != "" {
		query.Set("iss", s.Iss)
	}
	to.RawQuery = query.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request) {
	var request map[string]any
	_ = json.NewDecoder(r.Body).Decode(&request)
	s.mu.Lock()
	s.Registrations = append(s.Registrations, request)
	id := fmt.Sprintf("client-%d", len(s.Registrations))
	document := map[string]any{"client_id": id}
	if method := request["token_endpoint_auth_method"]; method != "none" {
		document["client_secret"], document["token_endpoint_auth_method"] = "secret-of-"+id, method
		s.clients[id] = "secret-of-" + id
	} else {
		s.clients[id] = ""
	}
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	s.write(w, "registration", document)
}

func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) {
	form := url.Values{}
	for name, values := range r.PostForm {
		form[name] = values
	}
	form.Set("authorization", r.Header.Get("Authorization"))
	s.mu.Lock()
	s.Tokens = append(s.Tokens, form)
	document, problem := s.tokens(form)
	down := s.Down
	s.mu.Unlock()
	switch {
	case down:
		http.Error(w, "later", http.StatusServiceUnavailable)
	case problem != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"error": problem, "error_description": "no: " + form.Get("refresh_token") + form.Get("code"),
		})
	default:
		s.write(w, "token", document)
	}
}

// tokens returns the answer to a request for tokens, or the code of an error.
func (s *Server) tokens(form url.Values) (map[string]any, string) {
	var scope string
	switch form.Get("grant_type") {
	case "authorization_code":
		page := s.authorized[form.Get("code")]
		delete(s.authorized, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		switch {
		case s.ForgetClient:
			s.ForgetClient = false
			return nil, "invalid_client"
		case page == nil, page.Get("redirect_uri") != form.Get("redirect_uri"),
			page.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]):
			return nil, "invalid_grant"
		}
		scope = page.Get("scope")
	case "refresh_token":
		used, ok := s.refresh[form.Get("refresh_token")]
		switch {
		case s.NoGrant != "":
			return nil, s.NoGrant
		case s.Down:
			return nil, ""
		case !ok:
			return nil, "invalid_grant"
		case used && s.Rotate: // stolen, as far as the service knows
			clear(s.refresh)
			clear(s.access)
			return nil, "invalid_grant"
		}
		s.refresh[form.Get("refresh_token")] = true
		scope = form.Get("scope")
	default:
		return nil, "unsupported_grant_type"
	}
	s.number++
	access, refresh := fmt.Sprintf("access-%d", s.number), fmt.Sprintf("refresh-%d", s.number)
	s.access[access] = strings.Fields(scope)
	document := map[string]any{"access_token": access, "token_type": "bearer", "expires_in": max(s.Lifetime, 0)}
	if s.Lifetime == 0 {
		document["expires_in"] = 3600
	}
	if !s.NoRefresh {
		if s.Rotate || form.Get("grant_type") == "authorization_code" {
			s.refresh[refresh] = false
			document["refresh_token"] = refresh
		}
	}
	return document, ""
}
