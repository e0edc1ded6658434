package egress

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Resolver asks a name server of the test's own, which sends what answer makes of a query;
// nil sends nothing. answer is called by one goroutine at a time.
func Resolver(t testing.TB, answer func(query []byte) []byte) *net.Resolver {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { // ended by closing the connection
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := answer(buf[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() { _ = conn.Close(); serving.Wait() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}
