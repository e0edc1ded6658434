package loopback_test

import (
	"net"
	"net/netip"
	"os"
	"testing"

	"conclave/app/net/loopback"
	"conclave/app/test/testkit"
)

func TestTheProgramAtEitherEndOfAConnectionIsFound(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at)
		if err != nil {
			t.Skip(err) // a machine without IPv6
		}
		defer l.Close()
		where := l.Addr().(*net.TCPAddr).AddrPort()
		if where.Addr().IsUnspecified() { // for both kinds of addresses
			where = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), where.Port())
		}
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", where.String())
		testkit.Must(t, err)
		defer conn.Close()
		if p, ok := loopback.Listening(where); !ok || !p.Mine || p.PID != os.Getpid() {
			t.Errorf("%s: %+v listens, %v", at, p, ok)
		}
		accepted, err := l.Accept()
		testkit.Must(t, err)
		defer accepted.Close()
		for end, c := range map[string]net.Conn{"connected": conn, "accepted": accepted} {
			peer := loopback.PeerOf(c)
			if p, ok := peer.Program(); !ok || peer.Whose != loopback.Mine || p.PID != os.Getpid() {
				t.Errorf("%s: at the far end of what was %s is %+v, %+v", at, end, peer, p)
			}
		}
		if p, ok := loopback.Listening(conn.LocalAddr().(*net.TCPAddr).AddrPort()); ok {
			t.Errorf("%s: at the end that connected %+v is said to listen", at, p)
		}
	}
}
