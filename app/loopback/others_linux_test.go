package loopback_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"conclave/app/loopback"
	"conclave/app/testkit"
)

// starts starts a program of Python, and returns its id once it has written a line.
func starts(t *testing.T, script string, args ...string) (pid int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	program := exec.CommandContext(ctx, "python3", append([]string{"-c", script}, args...)...)
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, program.Start())
	t.Cleanup(func() {
		cancel()
		_ = program.Wait() // it was killed
	})
	_, err = bufio.NewReader(out).ReadString('\n')
	testkit.Must(t, err)
	return program.Process.Pid
}

// stays listens at an address of IPv6 and says that it does.
const stays = `
import socket, sys, time
s = socket.socket(socket.AF_INET6)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
s.bind(("::1", int(sys.argv[1])))
s.listen()
print("listens", flush=True)
time.sleep(600)
`

func TestWhoListensAtOneAddressIsNotWhoListensAtAllOfTheOtherKind(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	testkit.Must(t, err)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).AddrPort().Port()
	if six, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp6", "[::1]:0"); err != nil {
		t.Skip(err) // a machine without IPv6
	} else {
		testkit.Must(t, six.Close())
	}
	pid := starts(t, stays, fmt.Sprint(port))
	for address, want := range map[string]int{"127.0.0.1": os.Getpid(), "::1": pid} {
		at := netip.AddrPortFrom(netip.MustParseAddr(address), port)
		if p, ok := loopback.Listening(at); !ok || p.PID != want {
			t.Errorf("at %s listens %+v, want process %d", at, p, want)
		}
	}
}

// dialAs connects as a user, and returns the connection: who has it is who made it.
func dialAs(t *testing.T, user int, address string) net.Conn {
	t.Helper()
	made := make(chan net.Conn, 1)
	go func() {
		runtime.LockOSThread() // it is never unlocked: the thread ends with its user
		_ = syscall.Setfsuid(user)
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp4", strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Error(err)
		}
		made <- c
	}()
	c := <-made
	if c == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNK37AProgramOfAnotherUserIsRefused(t *testing.T) {
	server := loopback.New(loopback.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "answered")
	})})
	t.Cleanup(server.Close)
	address, _, err := server.Open(t.Context(), 0)
	testkit.Must(t, err)
	told := func(user int) string {
		c := dialAs(t, user, address)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		testkit.Must(t, err)
		testkit.Must(t, r.Write(c))
		resp, err := http.ReadResponse(bufio.NewReader(c), r)
		testkit.Must(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		testkit.Must(t, err)
		return resp.Status + " " + string(body)
	}
	if got := told(os.Getuid()); got != "200 OK answered" {
		t.Errorf("a program of the same user is told %q", got)
	}
	if os.Getuid() != 0 {
		t.Skip("only root is another user too")
	}
	const nobody = 65534
	if got := told(nobody); !strings.HasPrefix(got, "403 ") ||
		!strings.Contains(got, "only programs of the user who runs Conclave are answered") {
		t.Errorf("a program of another user is told %q", got)
	}
}
