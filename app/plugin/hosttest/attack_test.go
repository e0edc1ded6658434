package hosttest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// outward is a plugin that reaches out in every way that a plugin in Python can.
const outward = `
import ctypes, http.client, json, os, socket, ssl, struct, threading, urllib.request
from urllib.parse import urlsplit

def fetch(address: str) -> str:
    "Fetch a page as most plugins do."
    with urllib.request.urlopen(address, timeout=150) as answer:
        return answer.read().decode()

def direct(address: str) -> str:
    "Fetch a page with a library that knows no proxy."
    at = urlsplit(address)
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=150)
    connection.request("GET", "/")
    return connection.getresponse().read().decode()

def process() -> int:
    "Say which process this is."
    return os.getpid()

def raw(port: int) -> str:
    "Connect as the kernel has it, past every library."
    libc = ctypes.CDLL(None, use_errno=True)
    to = struct.pack("=H", 2) + struct.pack("!H", port) + bytes([127, 0, 0, 1]) + bytes(8)
    s = libc.socket(2, 1, 0)
    if s < 0 or libc.connect(s, to, 16) < 0:
        return os.strerror(ctypes.get_errno())
    return "connected"

def other_name(port: int) -> str:
    "Say another name within a tunnel than was asked for."
    plain = socket.create_connection(("127.0.0.1", port), 150)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(plain, server_hostname="evil.example"):
        return "connected"

def name(port: int) -> str:
    "Say no other name."
    plain = socket.create_connection(("127.0.0.1", port), 150)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(plain):
        return "connected"

def strange(address: str, credential: str) -> str:
    "Use the way out with a credential that is not its own."
    proxy = urlsplit(os.environ["HTTP_PROXY"])
    way = "http://%s%s:%s" % (credential, proxy.hostname, proxy.port)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": way}))
    return opener.open(address, timeout=150).read().decode()

open_connections = []

def keep(port: int) -> str:
    "Connect, and keep the connection for later."
    open_connections.append(socket.create_connection(("127.0.0.1", port), 150))
    return "connected"

def kept() -> str:
    "Say how the connection that was kept ends."
    try:
        return "ended" if open_connections[0].recv(1) == b"" else "got something"
    except ConnectionError:
        return "ended"

came = []
work = None

def later(address: str) -> str:
    "Fetch a page when the call is long over."
    global work
    def run():
        try:
            came.append(fetch(address))
        except OSError as error:
            came.append(str(error))
    work = threading.Thread(target=run)
    work.start()
    return "started"

def came_later() -> str:
    "Say what came of that."
    work.join(150)
    return came.pop()
`

// outwardBound is a host with that plugin, approved, and a page of this computer.
func outwardBound(t *testing.T) (c *core, page string) {
	t.Helper()
	c = open(t, t.TempDir(), t.TempDir())
	programtest.Held(t, c.launcher.Confinement())
	c.write("out.py", outward)
	c.approved("out")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("the page"))
	}))
	t.Cleanup(server.Close)
	return c, server.URL
}

// said is all that a call came to.
func (c *core) said(id, arguments string) string {
	c.t.Helper()
	r := c.call(id, arguments)
	return strings.TrimSpace(chat.TextOf(r.Content) + " " + r.Error)
}

func port(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"))
	must(t, err)
	return port
}

func TestAttackAPluginReachesWhatItWasGrantedHoweverItReachesOut(t *testing.T) {
	t.Parallel()
	c, page := outwardBound(t)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	to := fmt.Sprintf(`{"address":%q}`, page)
	number := fmt.Sprintf(`{"port":%s}`, port(t, page))
	number2 := fmt.Sprintf(`{"port":%s}`, port(t, secure.URL))
	host := strings.TrimPrefix(page, "http://")
	check := func(when, id, arguments, want string) {
		t.Helper()
		if got := c.said(id, arguments); !strings.Contains(got, want) {
			t.Errorf("%s, %s: %q, want %q", when, id, got, want)
		}
	}
	for _, id := range []string{"out:fetch", "out:direct"} {
		check("nothing granted", id, to, "conclave plugins grant out network")
	}
	check("nothing granted", "out:raw", number, "Permission denied")

	must(t, c.gate.Reach.SetPermission(t.Context(), "out", "network", gate.Allow))
	check("the internet granted", "out:fetch", to, "403")
	check("the internet granted", "out:direct", to, "may not connect to "+host)
	check("the internet granted", "out:raw", number, "Permission denied")

	must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Allow, gate.HostIs, host))
	check("the host granted", "out:fetch", to, "the page")
	check("the host granted", "out:direct", to, "the page")
	check("the host granted", "out:raw", number, "Permission denied")
	for _, credential := range []string{"", "conclave:guess@"} {
		check("another's way out", "out:strange", fmt.Sprintf(`{"address":%q,"credential":%q}`, page, credential), "407")
	}

	must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Allow, gate.HostIs,
		strings.TrimPrefix(secure.URL, "https://")))
	if got := c.said("out:other_name", number2); strings.Contains(got, "connected") {
		t.Errorf("another name: %q", got)
	}
	check("its own name", "out:name", number2, "connected")
	testkit.Until(t, "why another name was refused", func() bool {
		refused := false
		for len(c.traffic) > 0 { // it is told once it is over, which the plugin may see before
			one := <-c.traffic
			refused = refused || one.Refused == "its TLS connection is for evil.example, and it asked for 127.0.0.1" &&
				one.Sent == 0
		}
		return refused
	})

	must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Deny, gate.HostIs, host))
	check("the host denied", "out:fetch", to, "403")
	must(t, c.gate.Reach.SetPermission(t.Context(), "out", "network", gate.Deny))
	check("all taken back", "out:fetch", to, "conclave plugins grant out network")
}

func TestAHostIsAllowedAtTheMomentItIsUsed(t *testing.T) {
	t.Parallel()
	c, page := outwardBound(t)
	host := strings.TrimPrefix(page, "http://")
	must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Allow, gate.HostIs, "api.example.org"))
	t.Cleanup(c.gate.Questions.Attach())
	to := fmt.Sprintf(`{"address":%q}`, page)
	asked := func(answer gate.Answer) string {
		t.Helper()
		ended := make(chan tool.Result)
		go func() { ended <- c.call("out:fetch", to) }() // ends with the answer
		var requests []gate.Request
		testkit.Until(t, "a request", func() bool { requests = c.gate.Questions.List(); return len(requests) == 1 })
		r := requests[0]
		if !strings.HasSuffix(r.Title, " wants to connect to "+host) ||
			!strings.HasPrefix(r.Reach, "This address is of this computer or its own network.") || r.Plugin != "out" {
			t.Errorf("asked %+v", r)
		}
		must(t, c.gate.Questions.Answer(t.Context(), r.ID, r.Nonce, answer))
		result := <-ended
		return chat.TextOf(result.Content) + result.Error
	}
	before := c.said("out:process", "{}")
	no := gate.Answer{Effect: gate.Deny, Scope: gate.Once, Reason: "Not today"}
	if got := asked(no); !strings.Contains(got, "403") {
		t.Errorf("denied: %q", got)
	}
	if got := asked(gate.Answer{Effect: gate.Allow, Scope: gate.Once}); got != "the page" {
		t.Errorf("allowed once: %q", got)
	}
	if got := asked(gate.Answer{Effect: gate.Allow, Scope: gate.Always}); got != "the page" {
		t.Errorf("allowed always: %q", got)
	}
	c.answers("out:fetch", to, "the page")
	if requests := c.gate.Questions.List(); len(requests) != 0 {
		t.Errorf("asked again: %+v", requests)
	}
	s, err := c.host.Status("out")
	must(t, err)
	if want := "out may connect to " + host; len(s.Hosts) != 2 || !strings.EqualFold(s.Hosts[1], want) {
		t.Errorf("the card has %q, want %q", s.Hosts, want)
	}
	if after := c.said("out:process", "{}"); after != before {
		t.Errorf("the process %s was started again as %s for a host", before, after)
	}
}

func TestAttackAPluginKeepsAConnectionThatIsTakenBack(t *testing.T) {
	t.Parallel()
	c, _ := outwardBound(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	held := make(chan net.Conn, 8)
	over := make(chan struct{})
	go func() { // ended by closing the listener
		defer close(over)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			held <- conn
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-over
		close(held)
		for conn := range held {
			_ = conn.Close()
		}
	})
	host := l.Addr().String()
	for _, allowed := range []string{"api.example.org", host} { // it keeps a way out, and its process
		must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Allow, gate.HostIs, allowed))
	}
	if got := c.said("out:keep", fmt.Sprintf(`{"port":%s}`, port(t, "http://"+host))); got != "connected" {
		t.Fatal(got)
	}
	process := c.said("out:process", "{}")
	must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Deny, gate.HostIs, host))
	if got := c.said("out:kept", "{}"); got != "ended" {
		t.Errorf("the connection %q, want it ended", got)
	}
	if after := c.said("out:process", "{}"); after != process {
		t.Errorf("what ended it was another process: %s and %s", process, after)
	}
}

func TestWhatAPluginDoesAfterItsCallIsAskedAboutToo(t *testing.T) {
	t.Parallel()
	c, page := outwardBound(t)
	must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Allow, gate.HostIs, "api.example.org"))
	t.Cleanup(c.gate.Questions.Attach())
	for _, one := range []struct {
		effect gate.Effect
		want   string
	}{{gate.Deny, "403"}, {gate.Allow, "the page"}} {
		if got := c.said("out:later", fmt.Sprintf(`{"address":%q}`, page)); got != "started" {
			t.Fatal(got)
		}
		var requests []gate.Request
		testkit.Until(t, "a request", func() bool { requests = c.gate.Questions.List(); return len(requests) == 1 })
		r := requests[0]
		if !strings.HasSuffix(r.Title, " wants to connect to "+strings.TrimPrefix(page, "http://")) {
			t.Errorf("asked %+v", r)
		}
		must(t, c.gate.Questions.Answer(t.Context(), r.ID, r.Nonce, gate.Answer{Effect: one.effect, Scope: gate.Once}))
		if got := c.said("out:came_later", "{}"); !strings.Contains(got, one.want) {
			t.Errorf("%s: %q, want %q", one.effect, got, one.want)
		}
	}
}
