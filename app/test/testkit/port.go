package testkit

import (
	"errors"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
)

// tried counts the ports that FreePort looked at.
var tried atomic.Int64

// FreePort returns a port of this computer at which nobody listens, and nobody comes to
// listen by chance: it lies below those that systems give out by themselves, to programs
// that want any port and to connections.
func FreePort(t testing.TB) string {
	t.Helper()
	const first, many = 12_000, 20_000
	for range many {
		port := strconv.Itoa(first + (os.Getpid()*31+int(tried.Add(1)))%many)
		if free(t, "tcp4", "127.0.0.1:"+port) && free(t, "tcp6", "[::1]:"+port) {
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// free reports whether nobody listens at an address, also on a machine without such
// addresses.
func free(t testing.TB, network, address string) bool {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
	if err != nil {
		return !errors.Is(err, syscall.EADDRINUSE)
	}
	return l.Close() == nil
}
