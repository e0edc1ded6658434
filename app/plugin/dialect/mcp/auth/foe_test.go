package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin/dialect/mcp/auth/authtest"
)

func TestMC87ASignInServiceIsOnlyInTheNetworkWhereTheServerIs(t *testing.T) {
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	for where, reach := range map[string]map[string]bool{
		"93.184.216.34": {
			"1.1.1.1:443": true, "127.0.0.1:80": false, "10.0.0.1:80": false, "[::1]:80": false,
			"[::ffff:10.0.0.1]:1": false, "100.64.0.1:80": false, "0.0.0.0:80": false,
		},
		"10.0.0.7":  {"1.1.1.1:443": true, "10.0.0.1:80": true, "127.0.0.1:80": false, "0.0.0.0:80": false},
		"127.0.0.1": {"1.1.1.1:443": true, "10.0.0.1:80": true, "127.0.0.1:80": true},
	} {
		at := netip.MustParseAddr(where)
		a.web.where.Store(&at)
		for to, want := range reach {
			if got := a.web.reaches(netip.MustParseAddrPort(to)); got != want {
				t.Errorf("a server at %s: its service at %s: %t", where, to, got)
			}
		}
	}
	metadata := "http://169.254.169.254/latest/"
	if _, err := a.web.getJSON(t.Context(), metadata, &struct{}{}); err == nil {
		t.Error("a machine's credentials were asked for")
	}
}

// far makes an account believe that its server is on the internet.
func far(a *Account) {
	at := netip.MustParseAddr("93.184.216.34")
	a.web.where.Store(&at)
}

func TestMC87NoRedirectLeadsIntoThePersonsNetwork(t *testing.T) {
	asked := make(chan string, 10)
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
	}))
	defer inside.Close()
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	far(a)
	if _, err := a.web.getJSON(t.Context(), inside.URL, &struct{}{}); err == nil {
		t.Error("a private address was asked")
	}
	err := a.server.checkBrowser(t.Context(), inside.URL)
	if err == nil || !strings.Contains(err.Error(), "in your own network") {
		t.Error(err)
	}
	if err := a.server.checkBrowser(t.Context(), "http://localhost:1/"); err == nil {
		t.Error("the browser would be sent to this computer")
	}
	select {
	case path := <-asked:
		t.Error("the private server was asked for", path)
	default:
	}
}

func TestMC87RedirectsAreFewAndNeverLoseTheirEncryption(t *testing.T) {
	s := authtest.New(t)
	loop := s.Issuer + "/.well-known/oauth-authorization-server"
	s.Redirect = map[string]string{"/.well-known/oauth-authorization-server": loop}
	refused(t, newAccount(t, s, nil), "redirected too often")

	check := newAccount(t, s, nil).web.client.CheckRedirect
	request := func(method, address string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, c := range map[string]struct{ method, from, to string }{
		"to http":         {http.MethodGet, "https://a.example/", "http://127.0.0.1/"},
		"to http abroad":  {http.MethodGet, "http://127.0.0.1/", "http://a.example/"},
		"to a file":       {http.MethodGet, "https://a.example/", "file:///etc/passwd"},
		"to a user":       {http.MethodGet, "https://a.example/", "https://x:y@b.example/"},
		"of what is sent": {http.MethodPost, "https://a.example/", "https://a.example/2"},
	} {
		if err := check(request(c.method, c.to), []*http.Request{request(c.method, c.from)}); err == nil {
			t.Errorf("%s: followed", name)
		}
	}
	if err := check(request(http.MethodGet, "https://b.example/"),
		[]*http.Request{request(http.MethodGet, "https://a.example/")}); err != nil {
		t.Error(err)
	}
}

func TestMC87WhatIsPostedFollowsNoRedirect(t *testing.T) {
	other := authtest.New(t)
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	s.Redirect = map[string]string{"/token": other.Issuer + "/token"}
	if err := a.SignIn(t.Context(), Person{Open: s.Browser}); err == nil {
		t.Error("it signed in")
	}
	if len(other.Tokens) > 0 {
		t.Errorf("another service got %v", other.Tokens)
	}
}

func TestMC87AnAnswerHasABound(t *testing.T) {
	for _, kind := range []string{"resource", "metadata", "registration", "token"} {
		s := authtest.New(t)
		s.Edit = func(k string, d map[string]any) {
			if k == kind {
				d["x"] = strings.Repeat("x", 2<<20)
			}
		}
		err := newAccount(t, s, nil).SignIn(t.Context(), Person{Open: s.Browser})
		if err == nil || !strings.Contains(err.Error(), "longer than 1 MiB") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestMC87UnsafeAddressesOfAServiceAreRefused(t *testing.T) {
	for _, endpoint := range []string{
		"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint",
	} {
		for _, bad := range []string{
			"http://a.example/x", "javascript:alert(1)", "file:///etc/passwd", "//a.example", "https://u@a.example/",
		} {
			s := authtest.New(t)
			s.Edit = func(kind string, d map[string]any) {
				if kind == "metadata" {
					d[endpoint] = bad
				}
			}
			refused(t, newAccount(t, s, nil), "not safe")
		}
	}
	for _, issuer := range []string{"http://a.example", "javascript:alert(1)", "https://a.example?x=1", ""} {
		s := authtest.New(t)
		s.Edit = func(kind string, d map[string]any) {
			if kind == "resource" {
				d["authorization_servers"] = []string{issuer}
			}
		}
		refused(t, newAccount(t, s, nil), "not safe")
	}
	a, err := New(Options{Server: "http://10.1.2.3/mcp", Keys: newKeychain()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.discover(t.Context(), &challenge{}, Person{})
	if err == nil || !strings.Contains(err.Error(), "without encryption") {
		t.Error(err)
	}
	for _, server := range []string{"ftp://a.example", "https://", "https://u:p@a.example/", "://"} {
		if _, err := New(Options{Server: server, Keys: newKeychain()}); err == nil {
			t.Errorf("%s is the address of a server", server)
		}
	}
}

func TestAServerThatRefusesWhatWasRenewedCausesNoMoreRenewals(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	works(t, a, s)
	s.Do(func() { s.Storm = true })
	for range 20 {
		needs(t, a, s)
	}
	if got := renewals(s); got != 1 {
		t.Errorf("renewed %d times", got)
	}
}

func TestASignInDuringARenewalStays(t *testing.T) {
	quickly(t)
	for name, act := range map[string]func(*Account, *authtest.Server) error{
		"in": func(a *Account, s *authtest.Server) error { return a.SignIn(t.Context(), Person{Open: s.Browser}) },
		"out": func(a *Account, _ *authtest.Server) error {
			_ = a.SignOut(t.Context()) // what is revoked waits for the service, too
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := authtest.New(t)
			keys := newKeychain()
			options := func(o *Options) { o.Keys = keys }
			a := newAccount(t, s, options)
			signIn(t, a, s)
			held, err := a.current(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			acted := make(chan error, 1)
			s.Edit = func(kind string, _ map[string]any) {
				if kind == "token" && renewals(s) == 1 {
					s.Edit = nil
					acted <- act(newAccount(t, s, options), s)
				}
			}
			if _, err := a.renew(t.Context(), held); err != nil {
				t.Fatal(err)
			}
			if err := <-acted; err != nil {
				t.Fatal(err)
			}
			kept, err := a.vault.grant(t.Context())
			now, err2 := a.current(t.Context())
			if err != nil || err2 != nil || (now == nil) != (name == "out") {
				t.Fatalf("%v %v %v", now, err, err2)
			}
			if name == "in" && (now.Access != kept.Access || !kept.differs(held)) {
				t.Error("the renewal replaced the sign-in")
			}
		})
	}
}

// What one service makes the browser fetch from another comes back to an address where nobody waits for it.
func TestEachServiceHasItsOwnRedirectAddress(t *testing.T) {
	paths := map[string]bool{}
	for range 2 {
		s := authtest.New(t)
		signIn(t, newAccount(t, s, nil), s)
		u, err := url.Parse(s.Pages[0].Get("redirect_uri"))
		if err != nil {
			t.Fatal(err)
		}
		paths[u.Path] = true
	}
	if len(paths) != 2 {
		t.Errorf("the paths are %v", paths)
	}
}

func TestMoreRightsAreAskedForAtThePlaceThatThe401Named(t *testing.T) {
	s := authtest.New(t)
	s.Path = "/tenant"
	place := strings.TrimSuffix(s.URL, "/mcp") + "/elsewhere"
	s.Challenge = `Bearer resource_metadata="` + place + `"`
	s.Redirect = map[string]string{"/elsewhere": "/.well-known/oauth-protected-resource/mcp"}
	s.Wants = map[string]string{"write": "w"}
	var a *Account
	a = newAccount(t, s, func(o *Options) {
		o.Ask = func(ctx context.Context, _ *NeedsSignIn) error { return a.SignIn(ctx, Person{Open: s.Browser}) }
	})
	works(t, a, s)
	s.Do(func() { s.Asked = nil })
	if status, err := call(t.Context(), a, s.URL, "write"); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	if !slices.Contains(s.Asked, "/elsewhere") {
		t.Errorf("it asked for %v", s.Asked)
	}
}

func TestEnormousAnswersOfAServiceTakeNoTime(t *testing.T) {
	for kind, member := range map[string]string{
		"resource": "scopes_supported", "metadata": "scopes_supported", "registration": "client_id",
		"token": "access_token",
	} {
		s := authtest.New(t)
		s.Edit = func(k string, d map[string]any) {
			switch {
			case k == kind && strings.HasPrefix(member, "scopes"):
				words := make([]string, 100_000)
				for i := range words {
					words[i] = fmt.Sprint(i)
				}
				d[member] = words
			case k == kind:
				d[member] = strings.Repeat("x", 1<<19)
			case k == "resource" && kind == "registration":
				d["authorization_servers"] = slices.Repeat([]string{s.Issuer}, 10_000)
			}
		}
		began := time.Now()
		err := newAccount(t, s, nil).SignIn(t.Context(), Person{Open: s.Browser})
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %v", kind, took)
		}
		if strings.HasPrefix(member, "scopes") != (err == nil) {
			t.Errorf("%s: %v", kind, err)
		}
		if len(s.Pages) > 0 && len(s.Pages[0].Get("scope")) > 4000 {
			t.Errorf("%s: the page has %d characters of scopes", kind, len(s.Pages[0].Get("scope")))
		}
	}
}

func TestAServiceThatIsSlowEndsWithThePersonsPatience(t *testing.T) {
	s := authtest.New(t)
	s.Delay = time.Hour
	a := newAccount(t, s, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := a.SignIn(ctx, Person{Open: s.Browser}); err == nil {
		t.Error("it signed in")
	}
	s.Do(func() { s.Delay = 0 })
	signIn(t, a, s)
}

func TestWordsOfOthersAreCleaned(t *testing.T) {
	s := authtest.New(t)
	s.Deny = "server_error"
	err := newAccount(t, s, nil).SignIn(t.Context(), Person{Open: s.Browser})
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") || !strings.Contains(err.Error(), "server_error") {
		t.Errorf("%q", err)
	}
	for _, header := range []string{
		"Bearer", "Bearer ", "bearer scope=", `Bearer scope="`, `Bearer scope="a\"b"`, "Basic x, Bearer scope=a",
		"\x00", `"`, strings.Repeat(",", maxChallenge), strings.Repeat("a=b,", 3000),
		`Bearer scope="a  b ` + "\u202e" + `", error=x`,
	} {
		c := readChallenge(http.Header{"Www-Authenticate": {header}})
		for _, scope := range c.scopes {
			if strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Errorf("%q has the scope %q", header, scope)
			}
		}
	}
}

func TestATokenThatCannotBeSentIsRefused(t *testing.T) {
	for _, token := range []string{"a b", "a\r\nX-Evil: 1", "ä", ""} {
		s := authtest.New(t)
		s.Edit = func(kind string, d map[string]any) {
			if kind == "token" {
				d["access_token"] = token
			}
		}
		if err := newAccount(t, s, nil).SignIn(t.Context(), Person{Open: s.Browser}); err == nil {
			t.Errorf("%q is a token", token)
		}
	}
	s := authtest.New(t)
	s.Edit = func(kind string, d map[string]any) {
		if kind == "token" {
			d["token_type"] = "DPoP"
		}
	}
	err := newAccount(t, s, nil).SignIn(t.Context(), Person{Open: s.Browser})
	if err == nil || !strings.Contains(err.Error(), "DPoP") {
		t.Error(err)
	}
}
