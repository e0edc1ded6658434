package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/plugin/dialect/mcp/auth/authtest"
)

// quickly shortens what a renewal waits for.
func quickly(t *testing.T) {
	pauses, lease := renewPauses, leasePause
	renewPauses, leasePause = []time.Duration{time.Millisecond, time.Millisecond}, 20*time.Millisecond
	t.Cleanup(func() { renewPauses, leasePause = pauses, lease })
}

func renewals(s *authtest.Server) int {
	n := 0
	s.Do(func() {
		for _, form := range s.Tokens {
			if form.Get("grant_type") == "refresh_token" {
				n++
			}
		}
	})
	return n
}

func TestMC84ATokenIsRenewedAMinuteBeforeItExpires(t *testing.T) {
	quickly(t)
	for lifetime, want := range map[int]int{59: 1, 70: 0} {
		s := authtest.New(t)
		s.Lifetime = lifetime
		a := newAccount(t, s, nil)
		signIn(t, a, s)
		s.Do(func() { s.Lifetime = 3600 })
		works(t, a, s)
		if got := renewals(s); got != want {
			t.Errorf("a token of %d s was renewed %d times", lifetime, got)
		}
		for _, r := range s.Requests[1:] { // the first asks how the server refuses
			if r.Header.Get("Authorization") == "" {
				t.Error("a request had no token")
			}
		}
	}
}

func TestMC84AfterARestartNoBrowserOpens(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	s.Rotate = true
	keys := newKeychain()
	signIn(t, newAccount(t, s, func(o *Options) { o.Keys = keys }), s)
	s.Expire() // as the next day
	for range 3 {
		works(t, newAccount(t, s, func(o *Options) { o.Keys = keys }), s)
		s.Expire()
	}
	if len(s.Pages) != 1 || renewals(s) != 3 {
		t.Errorf("%d pages, %d renewals", len(s.Pages), renewals(s))
	}
}

func TestMC84RequestsAndProgramsAtOnceRenewOnce(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	s.Rotate = true
	keys := newKeychain()
	first := newAccount(t, s, func(o *Options) { o.Keys = keys })
	signIn(t, first, s)
	second := newAccount(t, s, func(o *Options) { o.Keys = keys })
	works(t, second, s)
	for round := range 3 {
		s.Expire()
		var all sync.WaitGroup
		for i := range 20 {
			a := []*Account{first, second}[i%2]
			all.Go(func() {
				if status, err := call(t.Context(), a, s.URL, "read"); err != nil || status != http.StatusOK {
					t.Errorf("a call: %d %v", status, err)
				}
			})
		}
		all.Wait()
		if got := renewals(s); got != round+1 {
			t.Fatalf("round %d: renewed %d times", round, got)
		}
	}
	if len(s.Pages) != 1 {
		t.Errorf("%d pages", len(s.Pages))
	}
}

// writes fails a test where a token is used before it is kept.
type writes struct {
	t    *testing.T
	keys *keychain
}

func (w writes) RoundTrip(r *http.Request) (*http.Response, error) {
	if token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); token != "" && !w.keys.holds(token) {
		w.t.Errorf("%s is used and not kept", token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestMC84ARotatedTokenIsKeptBeforeItIsUsed(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	s.Rotate = true
	keys := newKeychain()
	a := newAccount(t, s, func(o *Options) { o.Keys, o.Base = keys, writes{t, keys} })
	signIn(t, a, s)
	for range 3 {
		s.Expire()
		works(t, a, s)
	}
}

func TestMC84ANetworkFailureKeepsTheTokensAndAsksNobody(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	asked := false
	keys := newKeychain()
	a := newAccount(t, s, func(o *Options) {
		o.Keys, o.Ask = keys, func(context.Context, *NeedsSignIn) error { asked = true; return errors.New("no") }
	})
	signIn(t, a, s)
	s.Expire()
	s.Do(func() { s.Down = true })
	_, err := call(t.Context(), a, s.URL, "read")
	if fault.KindOf(err) != fault.Unavailable || asked || !keys.holds("refresh-2") {
		t.Errorf("asked %t, kept %t: %v", asked, keys.holds("refresh-2"), err)
	}
	if got := renewals(s); got != 3 {
		t.Errorf("tried %d times", got)
	}
	s.Do(func() { s.Down = false })
	works(t, a, s)
}

func TestMC84ATokenThatIsStillGoodIsUsedWhileItCannotBeRenewed(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	s.Lifetime = 50
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	s.Do(func() { s.Down = true })
	works(t, a, s)
}

func TestMC84OnlyTheEndOfAGrantAsksAndOnce(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	asked := 0
	keys := newKeychain()
	options := func(o *Options) {
		o.Keys, o.Ask = keys, func(_ context.Context, need *NeedsSignIn) error { asked++; return need }
	}
	a := newAccount(t, s, options)
	signIn(t, a, s)
	s.Expire()
	s.Do(func() { s.NoGrant = "temporarily_unavailable" })
	if _, err := call(t.Context(), a, s.URL, "read"); err == nil || asked > 0 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	s.Do(func() { s.NoGrant = "invalid_grant" })
	for range 3 {
		if need := needs(t, a, s); !strings.Contains(need.Reason, "invalid_grant") {
			t.Errorf("the reason is %q", need.Reason)
		}
	}
	if asked != 1 || renewals(s) != 2 {
		t.Errorf("asked %d times, renewed %d times", asked, renewals(s))
	}
	// After a restart the reason is still known, and the service is not asked in vain.
	need := needs(t, newAccount(t, s, options), s)
	if !strings.Contains(need.Reason, "invalid_grant") || renewals(s) != 2 {
		t.Errorf("the reason is %q; renewed %d times", need.Reason, renewals(s))
	}
	signIn(t, a, s)
	works(t, a, s)
}

func TestMC84LongTokensAreKeptWhereEntriesAreShort(t *testing.T) {
	quickly(t)
	s := authtest.New(t)
	keys := newKeychain()
	a := newAccount(t, s, func(o *Options) { o.Keys = keys })
	for _, long := range []int{5000, 3000, 10} {
		want := &grant{Issuer: s.Issuer, Access: strings.Repeat("x", long), Client: client{ID: "c"}}
		if err := a.vault.putGrant(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := a.vault.grant(t.Context())
		if err != nil || got.Access != want.Access {
			t.Errorf("%d characters came back as %d: %v", long, len(got.Access), err)
		}
	}
	if len(keys.all) != 1 {
		t.Errorf("%d entries are left", len(keys.all))
	}
}

func TestMC84AServerThatWantsNoSignInNeedsNoKeychain(t *testing.T) {
	s := authtest.New(t)
	keys := newKeychain()
	keys.fail = true
	open := newAccount(t, s, func(o *Options) {
		o.Keys, o.Base = keys, roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
		})
	})
	works(t, open, s)
	locked := newAccount(t, s, func(o *Options) { o.Keys = keys })
	_, err := call(t.Context(), locked, s.URL, "read")
	if err == nil || !strings.Contains(err.Error(), "keychain is locked") {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMC85MoreRightsAreAskedForOnceForEachToolAndHour(t *testing.T) {
	s := authtest.New(t)
	s.Challenge = `Bearer scope="files:read"`
	s.Wants = map[string]string{"write": "files:write", "admin": "files:admin"}
	var reasons []string
	var a *Account
	deny := false
	a = newAccount(t, s, func(o *Options) {
		o.Ask = func(ctx context.Context, need *NeedsSignIn) error {
			reasons = append(reasons, need.Reason)
			if deny {
				return need
			}
			return a.SignIn(ctx, Person{Open: s.Browser})
		}
	})
	works(t, a, s)
	if status, err := call(t.Context(), a, s.URL, "write"); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	if got := s.Pages[1].Get("scope"); got != "files:read files:write" {
		t.Errorf("asked for %q", got)
	}
	if len(reasons) != 2 || reasons[1] != "Notes wants also files:write." {
		t.Errorf("the person read %q", reasons)
	}
	// A server that is never content is the tool's trouble.
	s.Do(func() { s.Wants["write"] = "files:more"; s.Storm = false })
	if status, err := call(t.Context(), a, s.URL, "write"); err != nil || status != http.StatusForbidden {
		t.Errorf("within the hour: %d %v", status, err)
	}
	now := time.Now()
	a.now = func() time.Time { return now.Add(30 * time.Minute) }
	status, err := call(t.Context(), a, s.URL, "write")
	if err != nil || status != http.StatusForbidden || len(reasons) != 2 {
		t.Errorf("half an hour later: %d %v, %q", status, err, reasons)
	}
	deny = true
	if _, err := call(t.Context(), a, s.URL, "admin"); err == nil || len(reasons) != 3 {
		t.Errorf("another tool: %v, %q", err, reasons)
	}
	if _, err := call(t.Context(), a, s.URL, "admin"); err == nil || len(reasons) != 3 {
		t.Errorf("another tool, again: %v, %q", err, reasons)
	}
}

func TestMC85AnyOther403IsTheToolsError(t *testing.T) {
	s := authtest.New(t)
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusForbidden)
	})
	a := newAccount(t, s, nil)
	signIn(t, a, s)
	if status, err := call(t.Context(), a, s.URL, "read"); err != nil || status != http.StatusForbidden {
		t.Errorf("%d %v", status, err)
	}
}
