package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/auth/authtest"
)

// keychain is one in memory.
type keychain struct{ all sync.Map }

func (k *keychain) Get(_ context.Context, name string) (string, error) {
	if v, ok := k.all.Load(name); ok {
		return v.(string), nil
	}
	return "", fault.New(fault.NotFound, "", "There is none.", "")
}

func (k *keychain) Set(_ context.Context, name, value string) error {
	k.all.Store(name, value)
	return nil
}

func (k *keychain) Delete(_ context.Context, name string) error {
	k.all.Delete(name)
	return nil
}

func TestMC83AServerThatWantsASignInSaysSoOnItsCardUntilThePersonSignsIn(t *testing.T) {
	b := newBench(t)
	keys := &keychain{}
	b.keys = keys
	b.close()
	b.open()
	s := authtest.New(t)
	s.Handler = http.HandlerFunc(authtest.Echo)
	const id = "notes"
	b.save("notes.mcp.json", map[string]any{id: map[string]any{"url": s.URL}})
	must(t, approveOnce(b, id))
	got := b.status(id)
	if got.State != plugin.NeedsSignIn || !strings.Contains(got.Problem.Hint, "conclave mcp login notes") {
		t.Fatalf("its card shows %s %+v", got.State, got.Problem)
	}
	if len(s.Pages) > 0 {
		t.Error("a page opened by itself")
	}
	must(t, b.host.SignIns.In(t.Context(), id, plugin.Signing{Open: s.Browser}))
	must(t, b.host.WaitIdle(t.Context()))
	b.approve(id)
	b.says("notes:echo", `{}`, "hello")
	if got := b.status(id).SignedIn; got != s.Issuer {
		t.Errorf("signed in at %q", got)
	}

	// What the server refuses later is on the card, too.
	s.Expire()
	s.Do(func() { s.NoGrant = "invalid_grant" })
	if r := b.call(t.Context(), "notes:echo", `{}`); r.Status == chat.CallOK {
		t.Error("a call went through without a token")
	}
	if p := b.status(id).Problem; p == nil || p.Kind != "sign-in" || !strings.Contains(p.Message, "invalid_grant") {
		t.Errorf("its card shows %+v", p)
	}
	s.Do(func() { s.NoGrant = "" })
	must(t, b.host.SignIns.In(t.Context(), id, plugin.Signing{Open: s.Browser}))
	must(t, b.host.WaitIdle(t.Context()))
	b.says("notes:echo", `{}`, "hello")
	if p := b.status(id).Problem; p != nil {
		t.Errorf("after the sign-in its card shows %+v", p)
	}

	// A restart needs no browser, and signing out has the card ask again.
	b.again()
	b.says("notes:echo", `{}`, "hello")
	b.says("notes:leak", `{}`, "Bearer •••") // no model gets a token
	if len(s.Pages) != 2 {
		t.Errorf("%d pages after a restart", len(s.Pages))
	}
	must(t, b.host.SignIns.Out(t.Context(), id))
	must(t, b.host.WaitIdle(t.Context()))
	if len(s.Revoked) != 2 {
		t.Errorf("revoked %v", s.Revoked)
	}
	left := 0
	keys.all.Range(func(any, any) bool { left++; return true })
	if left > 0 {
		t.Errorf("%d secrets are left", left)
	}
	if got := b.status(id); got.State != plugin.NeedsSignIn || got.SignedIn != "" {
		t.Errorf("afterwards its card shows %s, signed in at %q", got.State, got.SignedIn)
	}
}

func TestMC78OfSeveralSignInServicesThePersonChoosesOneAndItIsKept(t *testing.T) {
	b := newBench(t)
	b.keys = &keychain{}
	b.close()
	b.open()
	s, other := authtest.New(t), authtest.New(t)
	s.Handler = http.HandlerFunc(authtest.Echo)
	s.Edit = func(kind string, d map[string]any) {
		if kind == "resource" {
			d["authorization_servers"] = []string{other.Issuer, "no address", s.Issuer}
		}
	}
	const id = "notes"
	b.save("notes.mcp.json", map[string]any{id: map[string]any{"url": s.URL}})
	must(t, approveOnce(b, id))
	for _, with := range []string{"", "nowhere.example"} {
		err := b.host.SignIns.In(t.Context(), id, plugin.Signing{Open: s.Browser, Service: with})
		several, ok := errors.AsType[*plugin.ServicesError](err)
		if !ok || !slices.Equal(several.Services, []string{other.Issuer, s.Issuer}) {
			t.Fatalf("with %q: %v", with, err)
		}
		if f := fault.Of(err); !strings.Contains(f.Hint, "mcp login notes --with") {
			t.Errorf("its hint: %s", f.Hint)
		}
	}
	if got := b.status(id).SignInServices; len(got) != 2 || len(s.Pages)+len(other.Pages) > 0 {
		t.Errorf("its card offers %q; pages: %d and %d", got, len(s.Pages), len(other.Pages))
	}
	host := strings.TrimPrefix(s.Issuer, "http://")
	must(t, b.host.SignIns.In(t.Context(), id, plugin.Signing{Open: s.Browser, Service: host}))
	must(t, b.host.WaitIdle(t.Context()))
	if got := b.status(id); got.SignedIn != s.Issuer || got.SignInServices != nil {
		t.Errorf("signed in at %q, and it still offers %q", got.SignedIn, got.SignInServices)
	}
	b.approve(id)
	must(t, b.host.SignIns.In(t.Context(), id, plugin.Signing{Open: s.Browser})) // again: where it was
	if len(other.Pages) > 0 || len(s.Pages) != 2 {
		t.Errorf("pages: %d and %d", len(s.Pages), len(other.Pages))
	}
}
