package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
)

func TestWhoMayAskThisNetworkMayNotAskForCredentials(t *testing.T) {
	for _, to := range []string{"169.254.169.254", "64:ff9b::a9fe:a9fe", "fd00:ec2::254", "224.0.0.1"} {
		if !never(netip.MustParseAddr(to)) {
			t.Errorf("%s can be asked by who may ask this network", to)
		}
	}
	for _, to := range []string{"192.168.1.1", "127.0.0.1", "::1", "fd00::1", "64:ff9b::c0a8:101"} {
		if never(netip.MustParseAddr(to)) {
			t.Errorf("%s cannot be asked even by who may ask this network", to)
		}
	}
}

// Whoever answers at a public address leads nobody into the person's own network:
// not by a redirect, and not with a name that turns out to be private.
func TestNoRedirectAndNoNameLeadsIntoThePersonsOwnNetwork(t *testing.T) {
	asked := make(chan string, 10)
	secret := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer secret.Close()
	_, port, err := net.SplitHostPort(secret.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var sent http.Header
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Clone()
		http.SetCookie(w, &http.Cookie{Name: "who", Value: "you"})
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	}))
	defer public.Close()
	client := NewClient(false)
	transport, ok := client.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("the transport is %T", client.Transport)
	}
	guarded := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == "public.example:80" { // stands for a server on the internet
			return (&net.Dialer{}).DialContext(ctx, network, public.Listener.Addr().String())
		}
		return guarded(ctx, network, address)
	}
	defer client.CloseIdleConnections()
	get := func(address string) error {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	for _, private := range []string{
		"http://127.0.0.1:" + port + "/", "http://localhost:" + port + "/", "http://169.254.169.254/latest/",
		"http://[::ffff:127.0.0.1]:" + port + "/",
	} {
		if err := get(private); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", private, err)
		}
		if err := get("http://public.example/?to=" + url.QueryEscape(private)); !errors.Is(err, ErrPrivate) {
			t.Errorf("by way of a redirect, %s: %v", private, err)
		}
	}
	if err := get("http://public.example/?to=file:///etc/passwd"); err == nil || errors.Is(err, ErrPrivate) {
		t.Errorf("a redirect to a file: %v", err)
	}
	_ = get("http://public.example/?to=" + url.QueryEscape("http://public.example/?to=file:"))
	if sent.Get("Cookie") != "" || sent.Get("Referer") != "" {
		t.Errorf("a server learned %v", sent)
	}
	select {
	case path := <-asked:
		t.Errorf("the private server was asked for %s", path)
	default:
	}
}
