package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/plugin/dialect/mcp/auth/authtest"
)

// keychain is one in memory. It takes no long entries, as that of Windows.
type keychain struct {
	mu   sync.Mutex
	all  map[string]string
	fail bool
}

func (k *keychain) Get(_ context.Context, name string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail {
		return "", fault.New(fault.Unavailable, "", "The keychain is locked.", "")
	}
	value, ok := k.all[name]
	if !ok {
		return "", fault.New(fault.NotFound, "", "There is none.", "")
	}
	return value, nil
}

func (k *keychain) Set(_ context.Context, name, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(value) > 2560 {
		return errors.New("data passed to Set was too big")
	}
	k.all[name] = value
	return nil
}

func (k *keychain) Delete(_ context.Context, name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, name)
	return nil
}

func (k *keychain) holds(text string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, value := range k.all {
		if strings.Contains(value, text) {
			return true
		}
	}
	return false
}

func newKeychain() *keychain { return &keychain{all: map[string]string{}} }

// newAccount returns an account at a server; change may change its options.
func newAccount(t *testing.T, s *authtest.Server, change func(*Options)) *Account {
	t.Helper()
	o := Options{Server: s.URL, Name: "Notes", ID: "notes", Keys: newKeychain()}
	if change != nil {
		change(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// call calls a tool of the server, and returns what became of it.
func call(ctx context.Context, a *Account, address, tool string) (int, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	response, err := (&http.Client{Transport: a}).Do(r)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Body.Close()
}

func works(t *testing.T, a *Account, s *authtest.Server) {
	t.Helper()
	if status, err := call(t.Context(), a, s.URL, "read"); err != nil || status != http.StatusOK {
		t.Fatalf("a call: %d %v", status, err)
	}
}

func signIn(t *testing.T, a *Account, s *authtest.Server) {
	t.Helper()
	if err := a.SignIn(t.Context(), Person{Open: s.Browser}); err != nil {
		t.Fatal("signing in:", err)
	}
}

// needs returns the sign-in that a call needs.
func needs(t *testing.T, a *Account, s *authtest.Server) *NeedsSignIn {
	t.Helper()
	status, err := call(t.Context(), a, s.URL, "read")
	need, ok := errors.AsType[*NeedsSignIn](err)
	if !ok {
		t.Fatalf("a call needs no sign-in: %d %v", status, err)
	}
	return need
}

// refused checks that a sign-in fails before the browser opens, with a sentence that holds all words.
func refused(t *testing.T, a *Account, words ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := a.SignIn(ctx, Person{Open: func(_ context.Context, page string) error {
		t.Error("the browser opened", page)
		cancel()
		return nil
	}})
	if err == nil {
		t.Fatal("not refused")
	}
	for _, word := range words {
		if !strings.Contains(err.Error()+" "+fault.Of(err).Hint, word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
}

func TestMC78TheServersOwnWordsLeadToItsSignIn(t *testing.T) {
	for name, change := range map[string]func(*authtest.Server){
		"by the header": func(*authtest.Server) {},
		"by the path":   func(s *authtest.Server) { s.Challenge = "Bearer" },
		"by a header that nobody can read": func(s *authtest.Server) {
			s.Challenge = `Bearer realm="` + strings.Repeat(",", 9000)
		},
		"no metadata of the server": func(s *authtest.Server) { s.NoResource, s.Issuer = true, "" },
		"a slash more": func(s *authtest.Server) {
			s.Edit = func(kind string, d map[string]any) {
				if kind == "resource" {
					d["resource"] = s.URL + "/"
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			change(s)
			a := newAccount(t, s, nil)
			needs(t, a, s)
			signIn(t, a, s)
			works(t, a, s)
		})
	}
}

func TestMC78MetadataOfAnotherServerIsRefused(t *testing.T) {
	for name, resource := range map[string]string{
		"another host": "https://evil.example/mcp", "another path": "/other", "the parent of a path": "",
		"none": "none",
	} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			s.Edit = func(kind string, d map[string]any) {
				switch {
				case kind != "resource":
				case strings.HasPrefix(resource, "https:"):
					d["resource"] = resource
				case resource == "none":
					delete(d, "resource")
				default:
					d["resource"] = strings.TrimSuffix(s.URL, "/mcp") + resource
				}
			}
			refused(t, newAccount(t, s, nil), "Notes names another server", "Nothing was sent")
			if len(s.Registrations) > 0 {
				t.Error("it registered")
			}
		})
	}
}

func TestMC78OfSeveralServicesTheOneWithASignInIsTakenOrThePersonPicks(t *testing.T) {
	s, other := authtest.New(t), authtest.New(t)
	s.Edit = func(kind string, d map[string]any) {
		if kind == "resource" {
			d["authorization_servers"] = []string{other.Issuer, s.Issuer}
		}
	}
	a := newAccount(t, s, nil)
	picks := 0
	person := Person{Open: s.Browser, Pick: func(_ context.Context, issuers []string) (string, error) {
		picks++
		return issuers[1], nil
	}}
	for range 2 {
		if err := a.SignIn(t.Context(), person); err != nil {
			t.Fatal(err)
		}
	}
	if picks != 1 || len(other.Pages) > 0 || len(s.Pages) != 2 {
		t.Errorf("picked %d times; pages %d and %d", picks, len(s.Pages), len(other.Pages))
	}
	if got, _ := a.SignedIn(); got != s.Issuer {
		t.Errorf("signed in at %q", got)
	}
}

func TestMC79MetadataIsLookedForInTheOrderOfTheProtocol(t *testing.T) {
	for issuer, want := range map[string][]string{
		"https://a.example": {
			"https://a.example/.well-known/oauth-authorization-server",
			"https://a.example/.well-known/openid-configuration",
		},
		"https://a.example/t/1": {
			"https://a.example/.well-known/oauth-authorization-server/t/1",
			"https://a.example/.well-known/openid-configuration/t/1",
			"https://a.example/t/1/.well-known/openid-configuration",
		},
	} {
		if got, err := metadataPlaces(issuer); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v", issuer, got, err)
		}
	}
	s := authtest.New(t)
	s.Path, s.OnlyOpenID = "/tenant", true
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	works(t, a, s)
}

func TestMC79AnIssuerIsComparedExactly(t *testing.T) {
	for name, issuer := range map[string]string{"a slash": "/", "a path": "/tenant"} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			s.Edit = func(kind string, d map[string]any) {
				if kind == "metadata" {
					d["issuer"] = s.Issuer + issuer
				}
			}
			refused(t, newAccount(t, s, nil), "calls itself")
		})
	}
}

func TestMC79WithoutAnyMetadataTheOldPathsAreUsed(t *testing.T) {
	s := authtest.New(t)
	s.NoResource, s.NoMetadata = true, true
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	works(t, a, s)

	s = authtest.New(t)
	s.NoMetadata = true
	refused(t, newAccount(t, s, nil), "does not describe itself")
}

func TestMC80WhatThePersonEnteredComesFirstThenTheDocumentThenARegistration(t *testing.T) {
	document := "https://conclave.example/client.json"
	for name, c := range map[string]struct {
		change func(*Options)
		client string
		auth   string
	}{
		"entered": {func(o *Options) {
			o.Client, o.Document = &Client{ID: "mine", Secret: "s e/c"}, document
		}, "mine", "Basic bWluZTpzK2UlMkZj"},
		"document":   {func(o *Options) { o.Document = document }, document, ""},
		"registered": {nil, "client-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			s.Edit = func(kind string, d map[string]any) {
				if kind == "metadata" {
					d["client_id_metadata_document_supported"] = true
				}
			}
			a := newAccount(t, s, c.change)
			signIn(t, a, s)
			if got := s.Pages[0].Get("client_id"); got != c.client {
				t.Errorf("it is %q", got)
			}
			if got := s.Tokens[0].Get("authorization"); got != c.auth {
				t.Errorf("it authenticates with %q", got)
			}
		})
	}
}

func TestMC80ARegistrationIsKeptForItsServiceAlone(t *testing.T) {
	s, next := authtest.New(t), authtest.New(t)
	issuer := s.Issuer
	s.Edit = func(kind string, d map[string]any) {
		switch kind {
		case "resource":
			d["authorization_servers"] = []string{issuer}
		case "metadata":
			d["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		}
	}
	a := newAccount(t, s, nil)
	for range 3 {
		signIn(t, a, s)
	}
	if len(s.Registrations) != 1 {
		t.Errorf("it registered %d times", len(s.Registrations))
	}
	got := s.Registrations[0]
	if got["application_type"] != "native" || !slices.Contains(got["grant_types"].([]any), any("refresh_token")) ||
		got["redirect_uris"].([]any)[0] != s.Pages[2].Get("redirect_uri") {
		t.Errorf("it registered %v and came back to %s", got, s.Pages[2].Get("redirect_uri"))
	}
	if s.Tokens[0].Get("client_secret") != "secret-of-client-1" {
		t.Errorf("it authenticates with %v", s.Tokens[0])
	}
	s.Do(func() { issuer = next.Issuer })
	s.Expire()
	if err := a.SignIn(t.Context(), Person{Open: s.Browser}); err != nil {
		t.Fatal(err)
	}
	if len(next.Registrations) != 1 {
		t.Errorf("it registered %d times with the new service", len(next.Registrations))
	}
	for _, form := range next.Tokens {
		if form.Get("client_secret") != "" || strings.Contains(fmt.Sprint(form), "client-1-") {
			t.Errorf("the new service got %v", form)
		}
	}
}

func TestMC80AnEnteredClientStaysWithItsService(t *testing.T) {
	s, next := authtest.New(t), authtest.New(t)
	issuer := s.Issuer
	s.Edit = func(kind string, d map[string]any) {
		if kind == "resource" {
			d["authorization_servers"] = []string{issuer}
		}
	}
	a := newAccount(t, s, func(o *Options) { o.Client = &Client{ID: "mine", Secret: "hidden"} })
	signIn(t, a, s)
	s.Do(func() { issuer = next.Issuer })
	refused(t, a, "The client ID that you entered for Notes belongs to "+s.Issuer)
}

func TestMC80WhereNobodyRegistersThePersonReadsWhatToDo(t *testing.T) {
	s := authtest.New(t)
	s.NoRegister = true
	err := newAccount(t, s, nil).SignIn(t.Context(), Person{Open: s.Browser})
	need, ok := errors.AsType[*NeedsClient](err)
	if !ok || need.Issuer != s.Issuer || need.Redirect != "http://127.0.0.1/callback" {
		t.Fatalf("%#v", err)
	}
	if hint := fault.Of(err).Hint; !strings.Contains(hint, need.Redirect) {
		t.Error(hint)
	}
}

func TestMC80AServiceThatForgotARegistrationGetsANewOne(t *testing.T) {
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	s.Do(func() { s.ForgetClient = true })
	signIn(t, a, s)
	if len(s.Registrations) != 2 {
		t.Errorf("it registered %d times", len(s.Registrations))
	}
	works(t, a, s)
}

func TestMC81EveryRequestNamesTheServerAndProvesItself(t *testing.T) {
	s := authtest.New(t)
	s.Lifetime = 30 // less than the time before which a token is renewed
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	works(t, a, s)
	page := s.Pages[0]
	if page.Get("code_challenge_method") != "S256" || len(page.Get("code_challenge")) != 43 ||
		len(page.Get("state")) < 20 {
		t.Errorf("the page got %v", page)
	}
	for _, form := range append([]url.Values{page}, s.Tokens...) {
		if form.Get("resource") != s.URL {
			t.Errorf("the resource is %q in %v", form.Get("resource"), form)
		}
	}
	if len(s.Tokens) < 2 || len(s.Tokens[0].Get("code_verifier")) < 43 {
		t.Errorf("the token requests are %v", s.Tokens)
	}
}

func TestMC81ScopesAreThoseOfTheRefusalThenOfTheMetadataThenNone(t *testing.T) {
	for name, c := range map[string]struct {
		challenge string
		resource  []string
		service   []string
		want      string
	}{
		"refusal":       {`Bearer scope="files:read xüy notes"`, []string{"a"}, nil, "files:read notes"},
		"metadata":      {"Bearer", []string{"a", "b"}, nil, "a b"},
		"none":          {"Bearer", nil, []string{"a"}, ""},
		"renewal":       {"Bearer", []string{"a"}, []string{"a", "offline_access"}, "a offline_access"},
		"renewal alone": {"Bearer", nil, []string{"offline_access"}, "offline_access"},
	} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			s.Challenge = c.challenge
			s.Edit = func(kind string, d map[string]any) {
				switch {
				case kind == "resource" && c.resource != nil:
					d["scopes_supported"] = c.resource
				case kind == "metadata" && c.service != nil:
					d["scopes_supported"] = c.service
				}
			}
			a := newAccount(t, s, nil)
			needs(t, a, s)
			signIn(t, a, s)
			_, sent := s.Pages[0]["scope"]
			if got := s.Pages[0].Get("scope"); got != c.want || sent != (c.want != "") {
				t.Errorf("asked for %q", got)
			}
		})
	}
}

func TestMC81AServiceThatDoesNotSayThatItProtectsSignInsIsRefused(t *testing.T) {
	for name, methods := range map[string]any{"nothing": nil, "plain": []string{"plain"}} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			s.Edit = func(kind string, d map[string]any) {
				if kind == "metadata" {
					d["code_challenge_methods_supported"] = methods
				}
			}
			refused(t, newAccount(t, s, nil), "PKCE")
		})
	}
}

func TestMC82TheAnswerComesFromTheServiceWhereThePersonSignsIn(t *testing.T) {
	for name, c := range map[string]struct {
		announced bool
		iss       string // with % for the issuer
		deny      string
		good      bool
	}{
		"announced and right":     {true, "%", "", true},
		"announced and missing":   {true, "", "", false},
		"announced and wrong":     {true, "https://evil.example", "", false},
		"unannounced and right":   {false, "%", "", true},
		"unannounced and missing": {false, "", "", true},
		"unannounced and wrong":   {false, "https://evil.example", "", false},
		"another way to write it": {true, "%/", "", false},
		"a wrong one's refusal":   {true, "https://evil.example", "server_error", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			s.Iss, s.Deny = strings.ReplaceAll(c.iss, "%", s.Issuer), c.deny
			s.Edit = func(kind string, d map[string]any) {
				if kind == "metadata" {
					d["authorization_response_iss_parameter_supported"] = c.announced
				}
			}
			err := newAccount(t, s, nil).SignIn(t.Context(), Person{Open: s.Browser})
			if (err == nil) != c.good {
				t.Errorf("%v", err)
			}
			if !c.good && (!errors.Is(err, errMixedUp) || len(s.Tokens) > 0 || strings.Contains(err.Error(), "Click")) {
				t.Errorf("%d requests for tokens, and: %v", len(s.Tokens), err)
			}
		})
	}
}

func TestMC83AStrangersAnswerEndsNothing(t *testing.T) {
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	get := func(address, host string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	err := a.SignIn(t.Context(), Person{Open: func(ctx context.Context, address string) error {
		page, err := url.Parse(address)
		if err != nil {
			return err
		}
		back, state := page.Query().Get("redirect_uri"), page.Query().Get("state")
		if !strings.HasPrefix(back, "http://127.0.0.1:") {
			t.Errorf("it comes back to %s", back)
		}
		for at, want := range map[string]int{
			back + "?state=guess&code=evil":                          http.StatusBadRequest,
			back + "?code=evil":                                      http.StatusBadRequest,
			back + "?state=" + state + "&state=" + state + "&code=e": http.StatusBadRequest,
			strings.Replace(back, "/callback", "/", 1):               http.StatusNotFound,
		} {
			if got := get(at, ""); got != want {
				t.Errorf("%s: %d", at, got)
			}
		}
		if got := get(back+"?code=evil&state="+state, "evil.example"); got != http.StatusBadRequest {
			t.Errorf("by another name: %d", got)
		}
		return s.Browser(ctx, address)
	}})
	if err != nil {
		t.Fatal(err)
	}
	works(t, a, s)
}

func TestMC83ASignInEndsAfterItsTimeAndFreesItsPort(t *testing.T) {
	defer func(d time.Duration) { signInTime = d }(signInTime)
	signInTime = 50 * time.Millisecond
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	pages := make(chan string, 1)
	err := a.SignIn(t.Context(), Person{Open: func(_ context.Context, address string) error {
		pages <- address
		return errors.New("no browser")
	}})
	if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "Nobody signed in to Notes") {
		t.Fatal(err)
	}
	u, err := url.Parse(<-pages)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Browser(t.Context(), u.Query().Get("redirect_uri")); err == nil {
		t.Error("the port is open")
	}
}

func TestMC83RefusalsAtOnceMakeOnePage(t *testing.T) {
	s := authtest.New(t)
	var a *Account
	a = newAccount(t, s, func(o *Options) {
		o.Ask = func(ctx context.Context, _ *NeedsSignIn) error { return a.SignIn(ctx, Person{Open: s.Browser}) }
	})
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			if status, err := call(t.Context(), a, s.URL, "read"); err != nil || status != http.StatusOK {
				t.Errorf("a call: %d %v", status, err)
			}
		})
	}
	all.Wait()
	if len(s.Pages) != 1 || len(s.Registrations) != 1 {
		t.Errorf("%d pages, %d registrations", len(s.Pages), len(s.Registrations))
	}
}

func TestMC83NothingOpensByItself(t *testing.T) {
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { needs(t, a, s) })
	}
	all.Wait()
	if slices.ContainsFunc(s.Asked, func(path string) bool { return path != "/mcp" }) {
		t.Errorf("it asked for %v", s.Asked)
	}
	if _, need := a.SignedIn(); need != "Notes wants you to sign in." {
		t.Errorf("the card shows %q", need)
	}
}

func TestMC83APersonWhoDeclinesIsNotAskedAgain(t *testing.T) {
	s := authtest.New(t)
	asked := 0
	a := newAccount(t, s, func(o *Options) {
		o.Ask = func(_ context.Context, need *NeedsSignIn) error {
			asked++
			return need
		}
	})
	for range 3 {
		needs(t, a, s)
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	signIn(t, a, s)
	works(t, a, s)
}

func TestMC83AServerThatAlwaysRefusesKeepsNobodyAtSigningIn(t *testing.T) {
	s := authtest.New(t)
	s.Storm = true
	var a *Account
	a = newAccount(t, s, func(o *Options) {
		o.Ask = func(ctx context.Context, _ *NeedsSignIn) error { return a.SignIn(ctx, Person{Open: s.Browser}) }
	})
	_, err := call(t.Context(), a, s.URL, "read")
	if err == nil || !strings.Contains(err.Error(), "refuses the sign-in that was just made") {
		t.Error(err)
	}
	if len(s.Pages) != 1 || len(s.Requests) > 4 {
		t.Errorf("%d pages, %d requests", len(s.Pages), len(s.Requests))
	}
}

func TestMC86NoSecretIsInALogAnErrorOrAStatus(t *testing.T) {
	s := authtest.New(t)
	var log bytes.Buffer
	keys := newKeychain()
	a := newAccount(t, s, func(o *Options) {
		o.Keys, o.Log = keys, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Client = &Client{ID: "mine", Secret: "hidden-secret"}
	})
	signIn(t, a, s)
	s.Expire()
	s.Do(func() { s.NoGrant = "invalid_grant" })
	need := needs(t, a, s)
	s.Do(func() { s.Code = "bad-code" })
	err := a.SignIn(t.Context(), Person{Open: s.Browser})
	text := fmt.Sprintf("%v %+v %v %s", need, need, err, log.String())
	for _, secret := range []string{"access-", "refresh-2", "hidden-secret", "bad-code"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	if keys.holds("refresh-2") {
		t.Error("a token that is over is kept")
	}
}

func TestMC86EachTokenIsMaskedInWhatTheServerAnswers(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	s.Rotate = true
	masked := map[string]bool{}
	a := newAccount(t, s, func(o *Options) { o.Client = &Client{ID: "mine", Secret: "hidden"} })
	a.Mask(func(secret string) { masked[secret] = true })
	signIn(t, a, s)
	s.Expire()
	works(t, a, s)
	for _, secret := range []string{"access-2", "refresh-2", "access-3", "refresh-3", "hidden"} {
		if !masked[secret] {
			t.Errorf("%s is not masked", secret)
		}
	}
}

func TestMC86ATokenGoesToItsOriginAlone(t *testing.T) {
	got := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
	}))
	defer other.Close()
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	works(t, a, s)
	if _, err := call(t.Context(), a, other.URL, "read"); err != nil {
		t.Fatal(err)
	}
	s.Do(func() { s.Redirect = map[string]string{"/mcp": other.URL + "/mcp"} })
	if _, err := call(t.Context(), a, s.URL, "read"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if token := <-got; token != "" {
			t.Errorf("another origin got %q", token)
		}
	}
}

func TestMC86SigningOutRevokesAndForgets(t *testing.T) {
	s := authtest.New(t)
	keys := newKeychain()
	a := newAccount(t, s, func(o *Options) { o.Keys = keys })
	signIn(t, a, s)
	if err := a.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if issuer, _ := a.SignedIn(); len(s.Revoked) != 2 || len(keys.all) > 0 || issuer != "" {
		t.Errorf("revoked %v, kept %v, signed in at %q", s.Revoked, keys.all, issuer)
	}
	needs(t, a, s)

	signIn(t, a, s)
	s.Do(func() { s.Redirect = map[string]string{"/revoke": s.Issuer + "/revoked"} })
	if err := a.SignOut(t.Context()); err == nil || len(keys.all) > 0 {
		t.Errorf("a service that revokes nothing: %v, kept %v", err, keys.all)
	}
}

func TestMC88TwoEntriesWithOneAddressAreTwoAccounts(t *testing.T) {
	s := authtest.New(t)
	keys := newKeychain()
	one := newAccount(t, s, func(o *Options) { o.Keys = keys })
	two := newAccount(t, s, func(o *Options) { o.Keys, o.ID = keys, "notes 2" })
	signIn(t, one, s)
	needs(t, two, s)
	signIn(t, two, s)
	if err := one.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	works(t, two, s)
	needs(t, one, s)
}

func TestMC89AConfiguredHeaderWins(t *testing.T) {
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer mine")
	_, err = (&http.Client{Transport: a}).Do(r)
	if err == nil || !strings.Contains(err.Error(), "Notes: the key was refused") {
		t.Error(err)
	}
	if last := s.Requests[len(s.Requests)-1]; last.Header.Get("Authorization") != "Bearer mine" {
		t.Errorf("it sent %q", last.Header.Get("Authorization"))
	}
}
