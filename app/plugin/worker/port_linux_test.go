package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"

	"golang.org/x/sys/unix"
)

// listening is a process that may listen, with what it asked for.
type listening struct {
	*Process
	lines *bufio.Reader

	mu    sync.Mutex // guards asked
	asked []sandbox.Port
}

// listens starts a Python program that may listen where let says, with ports.
func listens(
	t *testing.T, ports *sandbox.Ports, program string, let func(sandbox.Port) bool, more ...string,
) *listening {
	t.Helper()
	if !confine.CanListen() {
		t.Skip("this system holds no ports")
	}
	l := &listening{}
	spec := python(t, program)
	spec.Argv = append(spec.Argv, more...)
	spec.Listens, spec.Ports = true, ports
	spec.Listen = func(_ context.Context, port sandbox.Port) bool {
		l.mu.Lock()
		l.asked = append(l.asked, port)
		l.mu.Unlock()
		return let(port)
	}
	l.Process = begin(t, launcher(t), spec)
	l.lines = bufio.NewReader(l.Wire())
	if line := l.line(t); line != "ready" {
		t.Fatalf("it began with %q: %s", line, l.Stderr())
	}
	return l
}

func (l *listening) line(t *testing.T) string {
	t.Helper()
	line, err := l.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, l.Stderr())
	}
	return strings.TrimSpace(line)
}

func anyPort(sandbox.Port) bool { return true }

// serves has a process serve itself in every way that programs do.
const serves = `
import asyncio, http.server, json, os, selectors, signal, socket, sys, threading, urllib.request
def echo():
    s = socket.create_server(("127.0.0.1", 0))
    c = socket.create_connection(s.getsockname())
    a, who = s.accept()
    c.sendall(b"hi")
    assert who == c.getsockname() and a.recv(9) == b"hi" and not os.get_inheritable(a.fileno())
def six():
    s = socket.create_server(("::1", 0), family=socket.AF_INET6)
    c = socket.create_connection(s.getsockname()[:2])
    a, who = s.accept()
    assert who[:2] == c.getsockname()[:2] and len(who) == 4, who
def mapped():
    s = socket.socket(socket.AF_INET6)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.bind(("::ffff:127.0.0.1", 0)); s.listen()
    c = socket.create_connection(("127.0.0.1", s.getsockname()[1]))
    a, who = s.accept()
    assert who[0] == "::ffff:127.0.0.1", who
def before():  # a thread waits before anybody connects
    s = socket.create_server(("127.0.0.1", 0)); got = []
    t = threading.Thread(target=lambda: got.append(s.accept()[0].recv(5))); t.start()
    with socket.create_connection(s.getsockname()) as c: c.sendall(b"later")
    t.join(); assert got == [b"later"]
def times_out():
    s = socket.create_server(("127.0.0.1", 0)); s.settimeout(0.05)
    try: s.accept()
    except TimeoutError: return
    raise AssertionError
def is_interrupted():
    s = socket.create_server(("127.0.0.1", 0))
    def rings(*_): raise InterruptedError
    signal.signal(signal.SIGALRM, rings); signal.setitimer(signal.ITIMER_REAL, 0.05)
    try: s.accept()
    except InterruptedError: return
def threaded():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self): self.send_response(204); self.end_headers()
        def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    t = threading.Thread(target=server.serve_forever); t.start()
    for _ in range(20): assert urllib.request.urlopen("http://127.0.0.1:%d/" % server.server_address[1]).status == 204
    server.shutdown(); server.server_close(); t.join()
def waits():
    async def main():
        async def handle(r, w): w.write(await r.readline()); w.close()
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        async def one(i):
            r, w = await asyncio.open_connection(*server.sockets[0].getsockname())
            w.write(b"%d\n" % i); got = await r.read(); w.close(); return got
        got = await asyncio.gather(*(one(i) for i in range(50)))
        assert got == [b"%d\n" % i for i in range(50)], got
        server.close()
    asyncio.run(main())
def again():  # the same port, as soon as it is free
    at = ("127.0.0.1", int(sys.argv[1]))
    for _ in range(5):
        s = socket.create_server(at); c = socket.create_connection(at); s.accept()[0].close(); c.recv(1); c.close(); s.close()
for does in (echo, six, mapped, before, times_out, is_interrupted, threaded, waits, again):
    try: does(); print(json.dumps([does.__name__, "done"]), flush=True)
    except BaseException as e: print(json.dumps([does.__name__, repr(e)]), flush=True)
`

// freePort returns a port that nobody has.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, errors.Join(err, l.Close()))
	return port
}

func TestAProcessServesItselfOnAPort(t *testing.T) {
	l := listens(t, &sandbox.Ports{}, serves, anyPort, freePort(t))
	done := 0
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			break
		}
		var got [2]string
		must(t, json.Unmarshal([]byte(line), &got))
		if done++; got[1] != "done" {
			t.Errorf("%s: %s", got[0], got[1])
		}
	}
	if done != 9 {
		t.Errorf("%d of 9 ways were tried: %s", done, l.Stderr())
	}
}

// opens has a process try what it may not, with OTHER a port of another program and
// REFUSED one that it is refused.
const opens = `
import ctypes, os, socket, struct, sys, threading
other, refused, port = (int(p) for p in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, do):
    try: do(); print(name, "done", sep="\t", flush=True)
    except OSError as e: print(name, os.strerror(e.errno or 0), sep="\t", flush=True)
def unnamed():
    s = socket.socket(); s.listen()
def shared():
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
def changed():  # a thread changes the address while the launcher looks at it
    good = struct.pack("=H", 2) + struct.pack("!H", port) + socket.inet_aton("127.0.0.1") + bytes(8)
    bad = struct.pack("=H", 2) + struct.pack("!H", port) + socket.inet_aton("0.0.0.0") + bytes(8)
    memory = ctypes.create_string_buffer(good, 16); over = False
    def flip():
        while not over: ctypes.memmove(memory, bad, 16); ctypes.memmove(memory, good, 16)
    t = threading.Thread(target=flip); t.start()
    try:
        for _ in range(200):
            s = socket.socket()
            if libc.bind(s.fileno(), memory, 16) == 0 and s.getsockname()[0] != "127.0.0.1": return
            s.close()
    finally: over = True; t.join()
    raise PermissionError(13, "")
def closed():  # a port that was its own, and is another's by now
    s = socket.create_server(("127.0.0.1", 0)); at = s.getsockname(); s.close()
    print("closed", at[1], sep="\t", flush=True); sys.stdin.readline()
    socket.create_connection(at)
def kept():  # the socket still has the port, and no longer listens
    s = socket.create_server(("127.0.0.1", 0)); s.shutdown(socket.SHUT_RDWR)
    socket.create_connection(s.getsockname())
def bound():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.connect(("127.0.0.1", other))
def released(): # a connection takes the address of a socket away
    s = socket.socket(); s.bind(("127.0.0.1", 0))
    if libc.connect(s.fileno(), struct.pack("=H", 0) + bytes(14), 16) == 0: s.listen(); return
    raise OSError(ctypes.get_errno(), "")
attempt("everywhere", lambda: socket.socket().bind(("0.0.0.0", port)))
attempt("everywhere of IPv6", lambda: socket.socket(socket.AF_INET6).bind(("::", port)))
attempt("everywhere, mapped", lambda: socket.socket(socket.AF_INET6).bind(("::ffff:0.0.0.0", port)))
attempt("no address", unnamed)
attempt("a port that is refused", lambda: socket.socket().bind(("127.0.0.1", refused)))
attempt("a free port that is refused", lambda: socket.create_server(("127.0.0.9", 0)))
attempt("a shared port", shared)
attempt("an address that changes", changed)
attempt("another's port", lambda: socket.create_connection(("127.0.0.1", other)))
attempt("another's port from its own", bound)
attempt("a port that was its own", closed)
attempt("a port that is still bound", kept)
attempt("an address that is released", released)
attempt("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("a path", lambda: socket.socket(socket.AF_UNIX))
attempt("elsewhere", lambda: socket.create_connection(("192.0.2.1", 80)))
attempt("a first packet with data", lambda: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", other)))
`

func TestAttackAProcessListensWhereOthersReachItOrConnectsToWhatIsNotItsOwn(t *testing.T) {
	other := greets(t, "127.0.0.1:0", "no")
	_, at, err := net.SplitHostPort(other.Addr().String())
	must(t, err)
	refused := freePort(t)
	loopback := netip.MustParseAddr("127.0.0.1")
	l := listens(t, &sandbox.Ports{}, opens, func(p sandbox.Port) bool {
		return p.At.Addr() == loopback && p.At.String() != "127.0.0.1:"+refused
	}, at, refused, freePort(t))
	want := map[string]string{
		"a shared port": "Protocol not available", "a first packet with data": "Permission denied",
	}
	tried := 0
	for {
		line, err := l.lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		name, end, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name == "closed" { // another program takes the port, as soon as it is free
			greets(t, "127.0.0.1:"+end, "no")
			_, err := l.Wire().Write([]byte("\n"))
			must(t, err)
			continue
		}
		expected, special := want[name]
		if !special {
			expected = "Permission denied"
		}
		if tried++; end != expected {
			t.Errorf("%s: %q, want %q", name, end, expected)
		}
	}
	if tried != 17 {
		t.Errorf("%d of 17 ways were tried: %s", tried, l.Stderr())
	}
}

// accepts takes connections on a port, in the way that its second argument names.
const accepts = `
import selectors, socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
poll = selectors.DefaultSelector(); poll.register(s, selectors.EVENT_READ)
while True:
    try:
        if sys.argv[1] != "waits": poll.select()
        if sys.argv[1] == "asks": s.setblocking(False)
        c, who = s.accept()
        c.setblocking(True)
        print("let in", c.recv(99).decode(), flush=True)
    except (BlockingIOError, ConnectionAbortedError) as e:
        print("turned away", flush=True)
`

func TestAttackAnotherProgramConnectsToThePortOfAPlugin(t *testing.T) {
	for name, turnsAway := range map[string]string{
		"waits": "", "polls": "turned away", "asks": "turned away",
	} {
		t.Run(name, func(t *testing.T) {
			ports := &sandbox.Ports{}
			l := listens(t, ports, accepts, anyPort, name)
			at := netip.MustParseAddrPort("127.0.0.1:" + l.line(t))
			if err := connectFromElsewhere(at); !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, unix.EPIPE) {
				t.Errorf("another program is not turned away: %v", err)
			}
			if turnsAway != "" {
				if got := l.line(t); got != turnsAway {
					t.Errorf("of another program it hears %q", got)
				}
			}
			own, err := Dial(at, ports)
			must(t, err)
			_, err = own.Write([]byte("from here"))
			must(t, errors.Join(err, own.Close()))
			for {
				got := l.line(t)
				if got == "turned away" { // nobody was there any more
					continue
				}
				if got != "let in from here" {
					t.Errorf("of Conclave it hears %q", got)
				}
				break
			}
			if _, err := Dial(at, &sandbox.Ports{}); err == nil {
				t.Error("another plugin is connected")
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			if !slices.Equal(l.asked, []sandbox.Port{{At: at, Free: true}}) {
				t.Errorf("asked %v", l.asked)
			}
		})
	}
}

// connectFromElsewhere connects as another program of the computer, writes, and reads until the
// end. The other side may reset the connection at any of these.
func connectFromElsewhere(at netip.AddrPort) error {
	c, err := net.Dial("tcp4", at.String())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte("from elsewhere")); err != nil {
		return err
	}
	_, err = io.ReadAll(c)
	return err
}

// A program that Conclave started for a plugin is one of its processes.
func TestProcessesOfAPluginReachEachOthersPorts(t *testing.T) {
	ports := &sandbox.Ports{}
	l := listens(t, ports, accepts, anyPort, "waits")
	port := l.line(t)
	const connects = `
import socket, sys
try: c = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); c.sendall(b"from the other"); print("sent", flush=True)
except OSError as e: print(e, flush=True)
`
	other := listens(t, ports, connects, anyPort, port)
	if got := other.line(t); got != "sent" {
		t.Errorf("the other one: %s", got)
	}
	if got := l.line(t); got != "let in from the other" {
		t.Errorf("it hears %q", got)
	}
	stranger := listens(t, &sandbox.Ports{}, connects, anyPort, port)
	if got := stranger.line(t); !strings.Contains(got, "Permission denied") {
		t.Errorf("a process of another plugin: %s", got)
	}
}
