package loopback_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/app/net/loopback"
	"conclave/app/test/testkit"
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

const nobody = testkit.Nobody

// dialAs connects as a user, and returns the connection: who has it is who made it.
func dialAs(t *testing.T, user int, address string) net.Conn {
	t.Helper()
	var c net.Conn
	var err error
	testkit.AsUser(t, user, func() {
		c, err = (&net.Dialer{}).DialContext(t.Context(), "tcp4", strings.TrimPrefix(address, "http://"))
	})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestTheFarEndIsWhoeverHoldsIt(t *testing.T) {
	me := os.Getuid()
	cases := map[string]struct {
		user int // who listens
		then func(l net.Listener)
		want loopback.Whose
	}{
		"it listens and has not accepted yet": {me, func(net.Listener) {}, loopback.Mine},
		"it went before it accepted":          {me, func(l net.Listener) { _ = l.Close() }, loopback.Unknown},
		"another user listens":                {nobody, func(net.Listener) {}, loopback.Others},
		"another user went":                   {nobody, func(l net.Listener) { _ = l.Close() }, loopback.Unknown},
		"another user accepted and listens no longer": {nobody, func(l net.Listener) {
			testkit.AsUser(t, nobody, func() {
				c, err := l.Accept()
				testkit.Must(t, err)
				t.Cleanup(func() { _ = c.Close() })
			})
			_ = l.Close()
		}, loopback.Others},
		"another user accepted and this one listens at its port": {nobody, func(l net.Listener) {
			testkit.AsUser(t, nobody, func() {
				c, err := l.Accept()
				testkit.Must(t, err)
				t.Cleanup(func() { _ = c.Close() })
			})
			_ = l.Close()
			next, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", l.Addr().String())
			testkit.Must(t, err)
			t.Cleanup(func() { _ = next.Close() })
		}, loopback.Others},
		"a service of the system listens": {7, func(net.Listener) {}, loopback.Services},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { theFarEnd(t, c.user, c.then, c.want) })
		t.Run(name+", by the list of all sockets", func(t *testing.T) {
			loopback.WithoutSockDiag(t)
			theFarEnd(t, c.user, c.then, c.want)
		})
	}
}

// theFarEnd connects to a listener of a user, does something with that, and looks.
func theFarEnd(t *testing.T, user int, then func(net.Listener), want loopback.Whose) {
	t.Helper()
	l := testkit.ListenAs(t, user)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp4", l.Addr().String())
	testkit.Must(t, err)
	defer conn.Close()
	then(l)
	if got := loopback.PeerOf(conn); got.Whose != want {
		t.Errorf("the far end is %+v, want %v", got, want)
	}
}

func TestAnEndThatSendsNothingMoreIsStillKnown(t *testing.T) {
	l := testkit.ListenAs(t, os.Getuid())
	c := dialAs(t, os.Getuid(), l.Addr().String()).(*net.TCPConn)
	testkit.Must(t, c.CloseWrite()) // as nc -N and some clients of HTTP/1.0 do
	accepted, err := l.Accept()
	testkit.Must(t, err)
	defer accepted.Close()
	if got := loopback.PeerOf(accepted); got.Whose != loopback.Mine {
		t.Errorf("the far end is %+v", got)
	}
}

func TestWhoeverClosedItsEndIsUnknown(t *testing.T) {
	l := testkit.ListenAs(t, os.Getuid())
	for name, leave := range map[string]func(c *net.TCPConn){
		"with a reset": func(c *net.TCPConn) { _ = c.SetLinger(0) },
		"as usual":     func(*net.TCPConn) {},
	} {
		t.Run(name, func(t *testing.T) {
			c := dialAs(t, os.Getuid(), l.Addr().String())
			_, err := c.Write([]byte("POST / HTTP/1.1\r\n\r\n"))
			testkit.Must(t, err)
			leave(c.(*net.TCPConn))
			testkit.Must(t, c.Close())
			accepted, err := l.Accept()
			testkit.Must(t, err)
			defer accepted.Close()
			if got := loopback.PeerOf(accepted); got.Whose != loopback.Unknown {
				t.Errorf("the far end is %+v", got)
			}
		})
	}
}

func TestALaterConnectionFromTheSameAddressIsNotTakenForOneThatWasReset(t *testing.T) {
	l := testkit.ListenAs(t, os.Getuid())
	c := dialAs(t, nobody, l.Addr().String()).(*net.TCPConn)
	testkit.Must(t, c.SetLinger(0))
	testkit.Must(t, c.Close())
	again, err := (&net.Dialer{LocalAddr: c.LocalAddr()}).DialContext(t.Context(), "tcp4", l.Addr().String())
	testkit.Must(t, err)
	defer again.Close()
	for _, want := range []loopback.Whose{loopback.Unknown, loopback.Mine} {
		accepted, err := l.Accept()
		testkit.Must(t, err)
		defer accepted.Close()
		if got := loopback.PeerOf(accepted); got.Whose != want {
			t.Errorf("the far end of a connection is %+v, want %v", got, want)
		}
	}
}

// serve serves the word “answered”, and counts what it answers.
func serve(t *testing.T) (address string, answered *atomic.Int32) {
	t.Helper()
	answered = new(atomic.Int32)
	server := loopback.New(loopback.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answered.Add(1)
		_, _ = io.WriteString(w, "answered")
	})})
	t.Cleanup(server.Close)
	address, _, err := server.Open(t.Context(), 0)
	testkit.Must(t, err)
	return address, answered
}

// ask sends a request over a connection, and returns what is answered.
func ask(t *testing.T, c net.Conn, address string) string {
	t.Helper()
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

func TestNK37AProgramOfAnotherUserIsRefused(t *testing.T) {
	address, _ := serve(t)
	if got := ask(t, dialAs(t, os.Getuid(), address), address); got != "200 OK answered" {
		t.Errorf("a program of the same user is told %q", got)
	}
	if got := ask(t, dialAs(t, nobody, address), address); !strings.HasPrefix(got, "403 ") ||
		!strings.Contains(got, "only programs of the user who runs Conclave are answered") {
		t.Errorf("a program of another user is told %q", got)
	}
}

func TestAttackAnotherUserSendsARequestAndResetsTheConnection(t *testing.T) {
	address, answered := serve(t)
	for range 100 {
		c := dialAs(t, nobody, address).(*net.TCPConn)
		testkit.Must(t, c.SetLinger(0))
		_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: "+strings.TrimPrefix(address, "http://")+
			"\r\nContent-Length: 0\r\n\r\n")
		testkit.Must(t, err)
		testkit.Must(t, c.Close())
	}
	// The server accepts one connection after the other.
	if got := ask(t, dialAs(t, os.Getuid(), address), address); got != "200 OK answered" || answered.Load() != 1 {
		t.Errorf("the person's own program is told %q, and %d requests were answered", got, answered.Load())
	}
}

func TestAServerThatAnswersAndClosesAtOnceIsNoConclave(t *testing.T) {
	l := testkit.ListenAs(t, os.Getuid())
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp4", l.Addr().String())
	testkit.Must(t, err)
	defer conn.Close()
	accepted, err := l.Accept()
	testkit.Must(t, err)
	testkit.Must(t, accepted.Close())
	if loopback.PeerOf(conn).Conclave() {
		t.Error("it is taken for one")
	}
	testkit.Must(t, l.Close())
	if !loopback.PeerOf(conn).Conclave() {
		t.Error("of whom nobody says anything, it may be one")
	}
}

func TestADialerSendsNothingToAnotherUsersProgram(t *testing.T) {
	d := &loopback.Dialer{}
	mine := testkit.ListenAs(t, os.Getuid())
	c, err := d.DialContext(t.Context(), "tcp", mine.Addr().String())
	testkit.Must(t, err)
	testkit.Must(t, c.Close())
	theirs := testkit.ListenAs(t, nobody)
	_, err = d.DialContext(t.Context(), "tcp", theirs.Addr().String())
	stranger, ok := errors.AsType[*loopback.Stranger](err)
	if !ok || stranger.Peer.UID != nobody || !strings.Contains(err.Error(), "nobody") {
		t.Fatalf("the error is %v", err)
	}
	got, err := theirs.Accept()
	testkit.Must(t, err)
	defer got.Close()
	if sent, _ := io.ReadAll(got); len(sent) > 0 {
		t.Errorf("it was sent %q", sent)
	}
}
