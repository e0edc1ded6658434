package service

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"conclave/app/base/fault"
)

// seen is a server that keeps what it was told, and says it back.
type seen struct {
	*httptest.Server
	mu   sync.Mutex
	told []string
}

func (s *seen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.told, "\n")
}

func newSeen(t *testing.T) (s *seen, host string) {
	t.Helper()
	s = &seen{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("X-Key") + " " + r.URL.Query().Get("key")
		s.mu.Lock()
		s.told = append(s.told, said)
		s.mu.Unlock()
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("X-Said", said)
		_, _ = w.Write([]byte("you said " + said))
	}))
	t.Cleanup(s.Close)
	return s, strings.TrimPrefix(s.URL, "http://")
}

// A secret that the person gave reaches the hosts they named and nobody else: not the
// plugin, whatever the server says back, and no other host, wherever a redirect leads.
func TestAGivenSecretReachesTheHostsItIsForAndNobodyElse(t *testing.T) {
	const secret = "sk-given-0123456789+/&"
	f := newFixture(t)
	by := f.caller("a", LocalNetwork)
	named, host := newSeen(t)
	other, _ := newSeen(t)
	must(t, f.s.Secrets.Give(t.Context(), "a", "api", secret, []string{strings.ToUpper(host)}))
	ask := func(url, header string) string {
		t.Helper()
		args, err := json.Marshal(map[string]any{"url": url, "headers": map[string]string{"X-Key": header}, "method": "POST"})
		must(t, err)
		got := f.ask(by, "http.request", string(args))
		if strings.Contains(got, "sk-given") {
			t.Errorf("the plugin was told the secret: %s", got)
		}
		return got
	}
	stars := strings.Repeat("*", len(secret))
	if got := ask(named.URL, "Bearer {{secret:api}}"); !strings.Contains(got, "you said Bearer "+stars) ||
		named.all() != "Bearer "+secret+" " {
		t.Errorf("in a header: %s; the server was told %q", got, named.all())
	}
	for _, query := range []string{"key={{secret:api}}", "key=%7B%7Bsecret%3Aapi%7D%7D"} {
		if got := ask(named.URL+"/?"+query, "none"); !strings.Contains(got, "you said none "+stars) ||
			!strings.HasSuffix(named.all(), "none "+secret) {
			t.Errorf("%s: %s; the server was told %q", query, got, named.all())
		}
	}
	before := named.all()
	for how, request := range map[string][2]string{
		"to another host":           {other.URL, "{{secret:api}}"},
		"in another host's query":   {other.URL + "/?key={{secret:api}}", ""},
		"where a redirect leads":    {named.URL + "/?to=" + other.URL, "{{secret:api}}"},
		"with a name like its host": {strings.Replace(other.URL, "127.0.0.1", "localhost", 1), "{{secret:api}}"},
		"with its host as the user": {
			"http://" + strings.ReplaceAll(host, ":", "%3A") + "@" + other.URL[7:], "{{secret:api}}",
		},
		"a secret that was not kept": {named.URL, "{{secret:none}}"},
	} {
		if got := ask(request[0], request[1]); !strings.HasPrefix(got, "not_allowed: PERMISSION_DENIED: secret") {
			t.Errorf("%s: %s", how, got)
		}
	}
	if got := other.all(); got != "" {
		t.Errorf("the other host was told %q", got)
	}
	if got := strings.TrimPrefix(named.all(), before); strings.Count(got, secret) != 1 { // the one that redirects
		t.Errorf("its own host was told %q besides", got)
	}
	f.wants(f.caller("b", LocalNetwork), "http.request",
		`{"url":"`+named.URL+`","headers":{"X-Key":"{{secret:api}}"}}`, "there is no secret api for it")
	f.wants(by, "secrets.list", `{}`, `{"keys":[]}`)
	f.wants(by, "secrets.get", `{"key":"given/api"}`, "invalid")
	if all, err := f.s.Secrets.All(t.Context(), "a"); err != nil || len(all) != 1 || all[0] != secret {
		t.Errorf("what is masked elsewhere: %q, %v", all, err)
	}
	must(t, f.s.Secrets.Forget(t.Context(), "a", "api"))
	if got := ask(named.URL, "{{secret:api}}"); !strings.Contains(got, "there is no secret api") {
		t.Errorf("after it was taken back: %s", got)
	}
	if err := f.s.Secrets.Forget(t.Context(), "a", "api"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestAGivenSecretIsHeldToWhatItMayBe(t *testing.T) {
	f := newFixture(t)
	for why, c := range map[string]struct {
		name, value string
		hosts       []string
	}{
		"a name that is none": {"a/b", "long enough", []string{"example.org"}},
		"too short":           {"a", "short", []string{"example.org"}},
		"two lines":           {"a", "long enough\nX: y", []string{"example.org"}},
		"no host":             {"a", "long enough", nil},
		"a host with a path":  {"a", "long enough", []string{"example.org/x"}},
		"a scheme":            {"a", "long enough", []string{"https://example.org"}},
	} {
		if err := f.s.Secrets.Give(t.Context(), "a", c.name, c.value, c.hosts); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", why, err)
		}
	}
	must(t, f.s.Secrets.Give(t.Context(), "a", "gone", "long enough", []string{"plain.example"}))
	must(t, f.s.o.Lending.RevokeSecret(t.Context(), "a", "gone")) // among the person's rules
	f.wants(f.caller("a"), "http.request", `{"url":"https://plain.example/","headers":{"X":"{{secret:gone}}"}}`,
		"there is no secret gone for it")
	must(t, f.s.Secrets.Forget(t.Context(), "a", "gone"))
	if err := f.s.Secrets.Forget(t.Context(), "a", "gone"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("forgotten twice: %v", err)
	}
	must(t, f.s.Secrets.Give(t.Context(), "a", "api", "long enough", []string{"plain.example"}))
	f.wants(f.caller("a"), "http.request", `{"url":"http://plain.example/","headers":{"X":"{{secret:api}}"}}`,
		"is sent over https alone")
}

func TestASecretIsTakenOutOfABodyAlsoBetweenItsPieces(t *testing.T) {
	p := &putting{used: []string{"secret-secret", "********"}}
	pieces := [][]byte{[]byte("a secret-secret, secr"), []byte("et-secret, ******** sec"), []byte("ret")}
	p.maskPieces(pieces)
	got := string(pieces[0]) + "|" + string(pieces[1]) + "|" + string(pieces[2])
	if got != "a *************, ****|*********, ******** sec|ret" {
		t.Error(got)
	}
}
