package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// A server that was on the internet is not followed into the network or onto this computer, however its name is
// resolved by then: the address that is connected to decides.
func TestAServerDoesNotComeCloser(t *testing.T) {
	for _, c := range []struct{ first, reached, refused string }{
		{"", "127.0.0.1 10.1.2.3 93.184.216.34", ""},
		{
			"93.184.216.34", "93.184.216.35 2606:4700::1 198.18.0.7",
			"127.0.0.1 ::1 0.0.0.0 ::ffff:127.0.0.1 10.1.2.3 192.168.0.1 fd00::1",
		},
		{"10.1.2.3", "10.1.2.4 93.184.216.34", "127.0.0.1 ::1"},
		{"127.0.0.1", "127.0.0.2 10.1.2.3 93.184.216.34", ""},
		{"198.18.0.7", "198.18.9.9 93.184.216.34", "127.0.0.1 10.1.2.3"},
		{"2606:4700::111", "93.184.216.34", "::1 fd00::1 127.0.0.1"},
	} {
		var s settled
		if c.first != "" {
			s.reached(netip.MustParseAddr(c.first))
			s.reached(netip.MustParseAddr("127.0.0.1")) // only the first counts
		}
		for _, to := range strings.Fields(c.reached + " " + c.refused) {
			want := slices.Contains(strings.Fields(c.reached), to)
			if got := s.reaches(netip.AddrPortFrom(netip.MustParseAddr(to), 443)); got != want {
				t.Errorf("first at %q: %s is reached: %v", c.first, to, got)
			}
		}
	}
}

// The transport asks at the connection, not at the name, and never reaches a cloud's credentials.
func TestASettledTransportLooksAtTheAddressItConnectsTo(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	transport := NewSettled(nil)
	t.Cleanup(transport.CloseIdleConnections)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://169.254.169.254/latest/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transport.RoundTrip(r); !errors.Is(err, ErrPrivate) {
		t.Errorf("a cloud's credentials: %v", err)
	}
	var s settled
	s.reached(netip.MustParseAddr("93.184.216.34"))
	dialer := NewDialer(s.reaches, nil)
	if c, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String()); !errors.Is(err, ErrPrivate) {
		_ = c.Close()
		t.Errorf("this computer, of a server that was elsewhere: %v", err)
	}
}
