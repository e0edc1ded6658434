package loopback

import (
	"net/netip"
	"testing"
)

// WithoutSockDiag has the kernel answer no questions about one socket, for the time of a test.
func WithoutSockDiag(t *testing.T) {
	askKernel = func(_, _ netip.AddrPort) (socket, bool) { return socket{}, false }
	t.Cleanup(func() { askKernel = asked })
}
