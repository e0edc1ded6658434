package testkit

import (
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// Nobody is a user of Linux that runs no tests.
const Nobody = 65534

// AsUser does something as another user, whose the sockets and the files are that it makes.
// It skips the test where this user may not be another one.
func AsUser(t testing.TB, user int, do func()) {
	t.Helper()
	if user != os.Getuid() && os.Getuid() != 0 {
		t.Skip("only root can be another user too")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // it is never unlocked: the thread ends with its user
		_ = syscall.Setfsuid(user)
		do()
	}()
	<-done
}

// ListenAs listens at a port of this computer as a user, until the test ends.
func ListenAs(t testing.TB, user int) net.Listener {
	t.Helper()
	var l net.Listener
	var err error
	AsUser(t, user, func() { l, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0") })
	Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}
