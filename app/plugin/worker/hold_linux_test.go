package worker

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"
)

// reachesOut tries every way out that a process with sockets could have. PROXY is where
// it may connect, OTHER where it may not.
const reachesOut = `
import asyncio, ctypes, os, socket, struct, sys, threading
def split(text):
    host, _, port = text.rpartition(":")
    return host, int(port)
proxy, other = split(sys.argv[1]), split(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    if libc.syscall(*args) == -1:
        raise OSError(ctypes.get_errno(), "")
def attempt(name, do):
    try:
        do()
        print(name, "done", sep="\t", flush=True)
    except OSError as e:
        print(name, os.strerror(e.errno or 0), sep="\t", flush=True)
def greeted(s):
    with s:
        assert s.recv(2) == b"hi", "another answered"
def mapped():
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.connect(("::ffff:" + proxy[0], proxy[1]))
    greeted(s)
def threaded():
    failed = []
    def run():
        try: greeted(socket.create_connection(proxy, 120))
        except OSError as e: failed.append(e)
    t = threading.Thread(target=run); t.start(); t.join()
    if failed: raise failed[0]
async def waits():
    reader, writer = await asyncio.open_connection(*proxy)
    assert await reader.readexactly(2) == b"hi"
    writer.close()
def fast(where):
    s = socket.socket()
    s.sendto(b"x", 0x20000000, where)
def fast_message():
    s = socket.socket()
    s.sendmsg([b"x"], [], 0x20000000, other)
def changed():  # a thread changes the address while the kernel is asked
    good = struct.pack("=H", 2) + struct.pack("!H", proxy[1]) + socket.inet_aton(proxy[0]) + bytes(8)
    bad = struct.pack("=H", 2) + struct.pack("!H", other[1]) + socket.inet_aton(other[0]) + bytes(8)
    memory = ctypes.create_string_buffer(good, 16)
    over = False
    def flip():
        while not over:
            ctypes.memmove(memory, bad, 16); ctypes.memmove(memory, good, 16)
    t = threading.Thread(target=flip); t.start()
    try:
        for _ in range(200):
            s = socket.socket()
            if libc.connect(s.fileno(), memory, 16) == 0:
                greeted(s)
            s.close()
    finally:
        over = True; t.join()
attempt("proxy", lambda: greeted(socket.create_connection(proxy, 120)))
attempt("proxy in a thread", threaded)
attempt("proxy without waiting", lambda: asyncio.run(waits()))
attempt("proxy as an address of IPv6", mapped)
attempt("an address that changes", changed)
attempt("another port", lambda: socket.create_connection(other, 120))
attempt("the port elsewhere", lambda: socket.create_connection(("127.0.0.2", proxy[1]), 120))
attempt("IPv6", lambda: socket.socket(socket.AF_INET6).connect(("::1", other[1])))
attempt("a first packet with data", lambda: fast(other))
attempt("a first message with data", fast_message)
attempt("a name", lambda: socket.getaddrinfo("example.org", 80))
attempt("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("ICMP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("MPTCP", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
attempt("SCTP", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("a port of its own", lambda: socket.socket().bind(("127.0.0.1", 0)))
attempt("a listener without a port", lambda: socket.socket().listen())
attempt("io_uring", lambda: call(425, 1, 0))
attempt("taking its filter's listener", lambda: os.fstat(4))
`

// greets answers every connection with text.
func greets(t *testing.T, address, text string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	must(t, err)
	over := make(chan struct{})
	go func() { // ended by closing the listener
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, text) // the process says when it did not come
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-over })
	return l
}

func TestAttackAProcessConnectsToItsProxyAndNowhereElse(t *testing.T) {
	if !confine.CanHold() {
		t.Skip("this system holds no connections")
	}
	proxy, other := greets(t, "127.0.0.1:0", "hi"), greets(t, "127.0.0.1:0", "no")
	spec := python(t, reachesOut)
	spec.Argv = append(spec.Argv, proxy.Addr().String(), other.Addr().String())
	spec.Sockets, spec.Proxy = true, proxy.Addr().String()
	p := begin(t, launcher(t), spec)
	out, err := io.ReadAll(p.Wire())
	must(t, err)
	<-p.Done()
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, end, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			got[name] = end
		}
	}
	for _, name := range []string{
		"proxy", "proxy in a thread", "proxy without waiting", "proxy as an address of IPv6", "an address that changes",
	} {
		if got[name] != "done" {
			t.Errorf("%s: %q, want it done", name, got[name])
		}
		delete(got, name)
	}
	if len(got) != 18 {
		t.Errorf("%d ways were tried: %v\n%s", len(got), got, p.Stderr())
	}
	for name, end := range got {
		want := []string{"Permission denied"}
		switch name {
		case "io_uring":
			want = []string{"Operation not permitted"}
		case "a name":
			want = []string{"Unknown error -3", "Unknown error -2"} // EAI_AGAIN, EAI_NONAME
		case "taking its filter's listener":
			want = []string{"Bad file descriptor"}
		}
		if !strings.Contains(strings.Join(want, "\n"), end) || end == "" {
			t.Errorf("%s: %q, want %q", name, end, want)
		}
	}
}

func BenchmarkStartToReadyPythonThatIsAnswered(b *testing.B) {
	spec := python(b, "import sys\nsys.stdin.read()")
	spec.Open = func(context.Context, string, bool) sandbox.Opening { return sandbox.Refused }
	benchmarkStart(b, spec)
}

// BenchmarkOpen measures a file that a process opens by itself, and one that is opened
// for it, as a program that knows how to ask has it: in Python, without its overhead.
func BenchmarkOpen(b *testing.B) {
	if !confine.CanOpen() {
		b.Skip("this system opens no files for a process")
	}
	for name, place := range map[string]string{"by itself": "/usr/lib", "for it": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			file := place + "/os-release"
			if place != "/usr/lib" {
				must(b, os.WriteFile(file, nil, 0o600))
			}
			spec := python(b, `
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
path, how, n = sys.argv[1].encode(), struct.pack("=QQQ", 0, 0, 0), int(sys.argv[2])
number, third = (437, how) if sys.argv[3] == "asks" else (257, ctypes.c_long(0))
for _ in range(n):
    os.close(libc.syscall(ctypes.c_long(number), ctypes.c_long(-100), path, third, ctypes.c_size_t(24)))
print("over", flush=True)
sys.stdin.read()`)
			does := "asks"
			if place == "/usr/lib" {
				does = "opens"
			}
			spec.Argv = append(spec.Argv, file, strconv.Itoa(b.N), does)
			spec.Open = func(context.Context, string, bool) sandbox.Opening { return sandbox.Opened }
			p := begin(b, launcher(b), spec)
			lines := bufio.NewReader(p.Wire())
			for _, want := range []string{"ready\n", "over\n"} {
				if line, err := lines.ReadString('\n'); err != nil || line != want {
					b.Fatalf("%q, %v: %s", line, err, p.Stderr())
				}
				if want == "ready\n" {
					b.ResetTimer()
				}
			}
		})
	}
}
