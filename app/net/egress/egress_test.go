package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/test/testkit"

	"golang.org/x/net/dns/dnsmessage"
)

var must = testkit.Must

// bench is a proxy with servers around it, all on this computer. The names it knows are
// those of names; what it lets through is what verdicts say of a host with its port.
type bench struct {
	t     testing.TB
	proxy *Proxy
	pass  *Pass

	mu       sync.Mutex
	names    map[string][]netip.Addr
	verdicts map[string]Verdict
	own      []netip.AddrPort
	working  []string // the calls that each plugin works on
	beside   atomic.Int64
	asked    []string // hosts, as the proxy asked
	resolved []string // names, as the name server was asked
	told     chan Traffic
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{
		t: t, names: map[string][]netip.Addr{}, verdicts: map[string]Verdict{}, told: make(chan Traffic, 1000),
	}
	b.proxy = New(Options{
		Ask: func(_ context.Context, plugin string, to Target) Verdict {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.asked = append(b.asked, plugin+" "+to.URL)
			if v, ok := b.verdicts[to.address()]; ok {
				return v
			}
			return Verdict{Reason: "nobody allowed it"}
		},
		Report: func(t Traffic) { b.told <- t },
		Working: func(string) []string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.working
		},
		Beside: func() { b.beside.Add(1) },
		Own: func(at netip.AddrPort) bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.Contains(b.own, at)
		},
		Resolver: Resolver(b.t, b.answer),
	})
	t.Cleanup(b.proxy.Close)
	pass, err := b.proxy.Admit("p")
	must(t, err)
	b.pass = pass
	return b
}

// answer answers a query for an address with the first that a name has left, and takes
// that away while there are others.
func (b *bench) answer(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.TrimSuffix(q.Name.String(), ".")
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resolved = append(b.resolved, name)
	for i, a := range b.names[name] {
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: six(a)})
		default:
			continue
		}
		if len(b.names[name]) > 1 {
			b.names[name] = slices.Delete(slices.Clone(b.names[name]), i, i+1)
		}
		break
	}
	if b.names[name] == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func six(a netip.Addr) *dnsmessage.AAAAResource { return &dnsmessage.AAAAResource{AAAA: a.As16()} }

func (b *bench) name(name string, addresses ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names[name] = nil
	for _, a := range addresses {
		b.names[name] = append(b.names[name], netip.MustParseAddr(a))
	}
}

// works sets the calls that each plugin works on.
func (b *bench) works(calls ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.working = calls
}

func (b *bench) allow(address string, v Verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v.Allow = true
	b.verdicts[address] = v
}

// client is an HTTP client that uses the proxy with a credential.
func (b *bench) client(proxy string) *http.Client {
	at, err := url.Parse(proxy)
	must(b.t, err)
	transport := &http.Transport{
		Proxy: http.ProxyURL(at),
		//nolint:gosec // a test's server
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	}
	b.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get asks for a page and returns what came, with the status, or the error.
func (b *bench) get(client *http.Client, address string) string {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	must(b.t, err)
	response, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(b.t, err)
	return fmt.Sprint(response.StatusCode, " ", strings.TrimSpace(string(body)))
}

// greeting serves one page, at an address of this computer.
func (b *bench) greeting(address, text string) (server *httptest.Server, port string) {
	b.t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		b.t.Skip("this computer has no", address, err)
	}
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		if r.Header.Get("Proxy-Authorization")+r.Header.Get("X-Forwarded-For")+r.Header.Get("Via") != "" {
			http.Error(w, "the proxy told of itself", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, text+" "+r.Host)
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	_, port, err = net.SplitHostPort(l.Addr().String())
	must(b.t, err)
	return server, port
}

// next is the next traffic that is told of.
func (b *bench) next() Traffic {
	b.t.Helper()
	select {
	case t := <-b.told:
		return t
	case <-time.After(2 * time.Minute):
		b.t.Fatal("no traffic was told of")
		return Traffic{}
	}
}

func TestRequestsGoWhereTheyMayAndNowhereElse(t *testing.T) {
	b := newBench(t)
	plain, port := b.greeting("127.0.0.1:0", "plain")
	plain.Start()
	defer plain.Close()
	secure, securePort := b.greeting("127.0.0.1:0", "secure")
	secure.StartTLS()
	defer secure.Close()
	b.name("api.test", "127.0.0.1")
	b.name("evil.test", "127.0.0.1")
	b.allow("api.test:"+port, Verdict{Private: true})
	b.allow("api.test:"+securePort, Verdict{Private: true})
	b.allow("evil.test:"+port, Verdict{})
	b.allow("127.0.0.1:"+port, Verdict{})
	client := b.client(b.pass.URL())
	host := "api.test:" + port
	const denied = "403 PERMISSION_DENIED: network - p may not connect to"
	for address, want := range map[string]string{
		"http://" + host + "/":              "200 plain " + host,
		"https://api.test:" + securePort:    "200 secure api.test:" + securePort,
		"http://API.test.:" + port:          "200 plain " + host,
		"http://other.test:" + port:         denied + " other.test:" + port + ": nobody allowed it.",
		"https://other.test":                "may not connect to other.test: nobody allowed it",
		"http://evil.test:" + port:          denied + " evil.test:" + port + ": its address is of this",
		"http://127.0.0.1:" + port:          denied + " 127.0.0.1:" + port + ": its address is",
		"http://2130706433:" + port:         "400 That is no address as this proxy reads them",
		"http://127.1:" + port:              "400 That is no address",
		"http://[::ffff:127.0.0.1]:" + port: denied + " 127.0.0.1:",
	} {
		if got := b.get(client, address); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.resolved, "other.test") {
		t.Error("a name was looked up that nobody allowed: it could carry something out")
	}
}

func TestBytesAreCountedForEachHost(t *testing.T) {
	b := newBench(t)
	server, port := b.greeting("127.0.0.1:0", strings.Repeat("x", 10000))
	server.Start()
	defer server.Close()
	b.allow("127.0.0.1:"+port, Verdict{Private: true})
	conn, err := net.Dial("tcp", b.pass.Address())
	must(t, err)
	request := "GET / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nConnection: close\r\n\r\n"
	_, err = fmt.Fprintf(conn, "CONNECT 127.0.0.1:%s HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n%s", port,
		basic(b.pass), request)
	must(t, err)
	said, err := io.ReadAll(conn)
	must(t, err, conn.Close())
	_, answer, _ := strings.Cut(string(said), "\r\n\r\n")
	got := b.next()
	if got.Plugin != "p" || got.Host != "127.0.0.1:"+port || got.Sent != int64(len(request)) ||
		got.Received != int64(len(answer)) || len(answer) < 10000 || got.Refused != "" {
		t.Errorf("%+v of an answer of %d bytes", got, len(answer))
	}
	if s := got.Sentence(); !strings.HasPrefix(s, "It sent ") {
		t.Errorf("%q", s)
	}
}

// basic is a pass's credential as a header has it.
func basic(s *Pass) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth("conclave", s.credential)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
}

func TestRequestsOnOneConnectionAreCountedOneByOne(t *testing.T) {
	b := newBench(t)
	server, port := b.greeting("127.0.0.1:0", "x")
	server.Start()
	defer server.Close()
	b.allow("127.0.0.1:"+port, Verdict{Private: true, Call: "c1"})
	b.works("c1")
	client := b.client(b.pass.URL())
	var all []Traffic
	for range 2 {
		if got := b.get(client, "http://127.0.0.1:"+port); !strings.HasPrefix(got, "200 ") {
			t.Fatal(got)
		}
		all = append(all, b.next())
	}
	if all[0].Sent < 50 || all[0].Sent != all[1].Sent || all[0].Received != all[1].Received || all[0].Received < 50 ||
		all[0].Call != "c1" {
		t.Errorf("counted %+v", all)
	}
	want := []Sending{{Host: "127.0.0.1:" + port, Bytes: all[0].Sent + all[1].Sent}}
	if got := b.proxy.Take("c1"); !slices.Equal(got, want) || b.proxy.Take("c1") != nil {
		t.Errorf("of the call %v, want %v", got, want)
	}
}

// A tunnel outlives the call that it was made for: what is sent over it counts for the calls that
// the plugin works on then, for each where there are several, and outside of calls where there is none.
func TestWhatATunnelSendsCountsForTheCallsOfThatTime(t *testing.T) {
	b := newBench(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	host := l.Addr().String()
	b.allow(host, Verdict{Private: true, Call: "c1"})
	b.works("c1")
	conn, err := net.Dial("tcp", b.pass.Address())
	must(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\nProxy-Authorization: Basic %s\r\n\r\n", host,
		basic(b.pass))
	must(t, err)
	said := bufio.NewReader(conn)
	for line := " "; strings.TrimSpace(line) != ""; {
		line, err = said.ReadString('\n')
		must(t, err)
	}
	far, err := l.Accept()
	must(t, err)
	defer far.Close()
	send := func(n int, calls ...string) {
		b.works(calls...)
		_, err := conn.Write(make([]byte, n))
		must(t, err)
		_, err = io.ReadFull(far, make([]byte, n))
		must(t, err)
	}
	taken := func(call string, want ...Sending) {
		t.Helper()
		if got := b.proxy.Take(call); !slices.Equal(got, want) {
			t.Errorf("of %s: %+v, want %+v", call, got, want)
		}
	}
	send(10, "c1")
	taken("c1", Sending{Host: host, Bytes: 10})
	send(20, "c2")
	taken("c2", Sending{Host: host, Bytes: 20})
	taken("c1")
	send(30, "c3", "c4")
	taken("c3", Sending{host, 30, true})
	taken("c4", Sending{host, 30, true})
	for range 2 {
		send(40)
	}
	if got := b.proxy.TakeBeside()["p"]; !slices.Equal(got, []Sending{{Host: host, Bytes: 80}}) || b.beside.Load() != 1 {
		t.Errorf("beside calls: %+v, told %d times", got, b.beside.Load())
	}
	if got := b.proxy.TakeBeside(); len(got) != 0 {
		t.Errorf("taken twice: %+v", got)
	}
	send(50)
	if b.beside.Load() != 2 {
		t.Error("what comes after that is not told of")
	}
}

func TestARedirectIsAnotherRequest(t *testing.T) {
	b := newBench(t)
	first, port := b.greeting("127.0.0.1:0", "first")
	first.Start()
	defer first.Close()
	secret, secretPort := b.greeting("127.0.0.1:0", "secret")
	secret.Start()
	defer secret.Close()
	b.allow("127.0.0.1:"+port, Verdict{Private: true})
	client := b.client(b.pass.URL())
	to := url.QueryEscape("http://127.0.0.1:" + secretPort + "/")
	if got := b.get(client, "http://127.0.0.1:"+port+"/?to="+to); !strings.HasPrefix(got, "403 PERMISSION_DENIED") {
		t.Errorf("a redirect led to %q", got)
	}
	b.allow("127.0.0.1:"+secretPort, Verdict{Private: true})
	if got := b.get(client, "http://127.0.0.1:"+port+"/?to="+to); !strings.HasPrefix(got, "200 secret") {
		t.Errorf("allowed, it led to %q", got)
	}
}

func TestAttackANameThatChangesItsMindGainsNothing(t *testing.T) {
	b := newBench(t)
	first, port := b.greeting("127.0.0.1:0", "first")
	first.Start()
	defer first.Close()
	l, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Skip("this computer has no 127.0.0.2:", err)
	}
	defer func() { _ = l.Close() }()
	b.own = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.2:" + port)} // stands for what may not be reached
	b.name("rebind.test", "127.0.0.1", "127.0.0.2")
	b.allow("rebind.test:"+port, Verdict{Private: true})
	for i, want := range []string{"200 first", "403 PERMISSION_DENIED"} {
		if got := b.get(b.client(b.pass.URL()), "http://rebind.test:"+port); !strings.HasPrefix(got, want) {
			t.Errorf("time %d: %q, want %q", i, got, want)
		}
		b.pass.private.CloseIdleConnections() // a connection that is kept stays where it is
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.resolved); n > 4 { // A and AAAA of each
		t.Errorf("the name was looked up %d times for two connections: %v", n, b.resolved)
	}
}

func TestIPv6IsAsIPv4(t *testing.T) {
	b := newBench(t)
	server, port := b.greeting("[::1]:0", "six")
	server.Start()
	defer server.Close()
	client := b.client(b.pass.URL())
	address := "http://[::1]:" + port + "/"
	b.allow("[::1]:"+port, Verdict{})
	if got := b.get(client, address); !strings.HasPrefix(got, "403") {
		t.Errorf("a whole grant reaches this computer: %q", got)
	}
	b.allow("[::1]:"+port, Verdict{Private: true})
	if got := b.get(client, address); got != "200 six [::1]:"+port {
		t.Errorf("got %q", got)
	}
	b.name("six.test", "::1")
	b.allow("six.test:"+port, Verdict{Private: true})
	if got := b.get(client, "http://six.test:"+port); got != "200 six six.test:"+port {
		t.Errorf("got %q", got)
	}
}

func TestAttackNobodyUsesTheWayOutOfAnother(t *testing.T) {
	b := newBench(t)
	server, port := b.greeting("127.0.0.1:0", "x")
	server.Start()
	defer server.Close()
	b.allow("127.0.0.1:"+port, Verdict{Private: true})
	other, err := b.proxy.Admit("other")
	must(t, err)
	address := "http://127.0.0.1:" + port
	for name, proxy := range map[string]string{
		"no credential": "http://" + b.pass.Address(), "a guess": "http://conclave:guess@" + b.pass.Address(),
		"the plugin's name": "http://p:p@" + b.pass.Address(),
	} {
		if got := b.get(b.client(proxy), address); !strings.HasPrefix(got, "407 ") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if len(b.asked) != 0 {
		t.Errorf("asked %v", b.asked)
	}
	if got := b.get(b.client(other.URL()), address); !strings.HasPrefix(got, "200 x") ||
		!slices.Equal(b.asked, []string{"other " + address}) {
		t.Errorf("its own: %q, asked %v", got, b.asked)
	}
	other.Close()
	if got := b.get(b.client(other.URL()), address); !strings.HasPrefix(got, "407 ") {
		t.Errorf("after its process ended: %q", got)
	}
}

func TestAttackTheProxyIsNoWayToConclaveItself(t *testing.T) {
	b := newBench(t)
	registers, port := b.greeting("127.0.0.1:0", "registered")
	registers.Start()
	defer registers.Close()
	b.own = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:" + port)}
	_, proxy, err := net.SplitHostPort(b.pass.Address())
	must(t, err)
	// Systems connect to this computer at the address that stands for any.
	for _, address := range []string{
		"127.0.0.1:" + port, b.pass.Address(), "0.0.0.0:" + proxy, "[::]:" + proxy, "[::ffff:0.0.0.0]:" + proxy,
	} {
		b.allow(address, Verdict{Private: true})
		if got := b.get(b.client(b.pass.URL()), "http://"+address); !strings.HasPrefix(got, "403 PERMISSION_DENIED") ||
			!strings.Contains(got, "or of Conclave itself") {
			t.Errorf("%s: %q", address, got)
		}
	}
	b.own = nil
	if got := b.get(b.client(b.pass.URL()), "http://127.0.0.1:"+port); !strings.HasPrefix(got, "200 registered") {
		t.Errorf("another's: %q", got)
	}
}

func TestAttackATunnelIsForTheHostThatWasAskedFor(t *testing.T) {
	b := newBench(t)
	server, port := b.greeting("127.0.0.1:0", "secure")
	server.StartTLS()
	defer server.Close()
	b.name("good.test", "127.0.0.1")
	b.allow("good.test:"+port, Verdict{Private: true})
	b.allow("127.0.0.1:"+port, Verdict{Private: true})
	for _, c := range []struct{ host, name, want string }{
		{"good.test", "good.test", ""},
		{"127.0.0.1", "", ""},
		{"good.test", "evil.test", "its TLS connection is for evil.test, and it asked for good.test"},
		{"good.test", "", "its TLS connection is for no host by name, and it asked for good.test"},
		{"127.0.0.1", "evil.test", "its TLS connection is for evil.test, and it asked for 127.0.0.1"},
	} {
		conn := b.open(c.host + ":" + port)
		client := tls.Client(conn, &tls.Config{
			ServerName: c.name, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, //nolint:gosec // a test's server
		})
		err := client.Handshake()
		if (err == nil) != (c.want == "") {
			t.Errorf("%s by the name of %q: %v", c.host, c.name, err)
		}
		_ = client.Close()
		if got := b.next(); got.Refused != c.want || c.want != "" && got.Sent != 0 {
			t.Errorf("%s by the name of %q: %+v, want %q", c.host, c.name, got, c.want)
		}
	}
	conn := b.open("good.test:" + port)
	_, err := conn.Write([]byte{0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5})
	must(t, err)
	if got := b.next(); got.Refused != "it began a TLS connection that cannot be read" || got.Sent != 0 {
		t.Errorf("%+v", got)
	}
	_ = conn.Close()
}

// open opens a tunnel.
func (b *bench) open(to string) net.Conn {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.pass.Address())
	must(b.t, err)
	_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n", to, to,
		basic(b.pass))
	must(b.t, err)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	must(b.t, err)
	if response.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s", to, response.Status)
	}
	return &tunnelled{conn, reader}
}

// tunnelled is a connection that was read in part.
type tunnelled struct {
	net.Conn
	reader *bufio.Reader
}

func (c *tunnelled) Read(b []byte) (int, error) { return c.reader.Read(b) }

func TestAttackWhatIsOpenDoesNotOutliveItsPermission(t *testing.T) {
	b := newBench(t)
	waits := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		must(t, http.NewResponseController(w).Flush())
		<-r.Context().Done()
	}))
	defer waits.Close()
	host := strings.TrimPrefix(waits.URL, "http://")
	var stands atomic.Bool
	stands.Store(true)
	b.allow(host, Verdict{Private: true, Stands: stands.Load})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, waits.URL, nil)
	must(t, err)
	response, err := b.client(b.pass.URL()).Do(r)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	tunnel := b.open(host)
	defer func() { _ = tunnel.Close() }()
	_, err = io.WriteString(tunnel, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	must(t, err)
	said := bufio.NewReader(tunnel)
	line, err := said.ReadString('\n')
	must(t, err)
	if line != "HTTP/1.1 200 OK\r\n" {
		t.Fatalf("the tunnel said %q", line)
	}
	b.proxy.Recheck() // what still stands goes on
	first := make([]byte, 5)
	_, err = io.ReadFull(response.Body, first)
	must(t, err)

	stands.Store(false)
	b.proxy.Recheck()
	if rest, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("the answer ended as if it were whole, with %q", rest)
	}
	for err = nil; err == nil; { // what was on its way may still come
		_, err = said.ReadString('\n')
	}
	ended := map[string]bool{}
	for range 2 {
		ended[b.next().Sentence()] = true
	}
	if want := "Its connection to " + host + " was ended: it may not connect there any more."; !ended[want] {
		t.Errorf("it is not told why the tunnel ended: %v", ended)
	}
	if got := b.get(b.client(b.pass.URL()), waits.URL); !strings.HasPrefix(got, "403 PERMISSION_DENIED") {
		t.Errorf("what is taken back while it is asked: %q", got)
	}
}

// Protocols whose server speaks first, and those that are no TLS, pass through.
func TestWhoeverSpeaksFirstIsPassedOn(t *testing.T) {
	b := newBench(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	var serving sync.WaitGroup
	serving.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "220 ready\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, "you said "+line)
		_ = c.Close()
	})
	b.allow(l.Addr().String(), Verdict{Private: true})
	conn := b.open(l.Addr().String())
	reader := bufio.NewReader(conn)
	if line, err := reader.ReadString('\n'); err != nil || line != "220 ready\n" {
		t.Errorf("%q, %v", line, err)
	}
	_, err = io.WriteString(conn, "hello\n")
	must(t, err)
	if rest, err := io.ReadAll(reader); err != nil || string(rest) != "you said hello\n" {
		t.Errorf("%q, %v", rest, err)
	}
	_ = conn.Close()
	serving.Wait()
	if got := b.next(); got.Sent != 6 || got.Received != 25 {
		t.Errorf("%+v", got)
	}
}

func TestAConnectionWaitsWhileAPersonIsAsked(t *testing.T) {
	answer, asked := make(chan Verdict), make(chan struct{}, 10)
	given := make(chan struct{}, 10)
	p := New(Options{Ask: func(ctx context.Context, _ string, _ Target) Verdict {
		asked <- struct{}{}
		select {
		case v := <-answer:
			return v
		case <-ctx.Done():
			given <- struct{}{}
			return Verdict{Reason: "nobody waits any more"}
		}
	}})
	defer p.Close()
	pass, err := p.Admit("p")
	must(t, err)
	b := &bench{t: t, pass: pass}
	server, port := b.greeting("127.0.0.1:0", "x")
	server.Start()
	defer server.Close()
	got := make(chan string)
	client := b.client(pass.URL())
	go func() { got <- b.get(client, "http://127.0.0.1:"+port) }() // ends with the answer
	<-asked
	answer <- Verdict{Allow: true, Private: true}
	if text := <-got; !strings.HasPrefix(text, "200 x") {
		t.Errorf("got %q", text)
	}
	// A client that goes away asks no more; so does a process that ended.
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+port, nil)
	must(t, err)
	failed := make(chan error)
	go func() { // ends with the request
		response, err := client.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		failed <- err
	}()
	<-asked
	cancel()
	<-given
	if err := <-failed; err == nil {
		t.Error("it was answered")
	}
	go func() { got <- b.get(client, "http://127.0.0.1:"+port) }() // ends with the pass
	<-asked
	pass.Close()
	<-given
	<-got
}

// Whoever decides about a request sees the beginning of what it would send, and the host gets
// all of it once, and nothing before.
func TestTheBeginningOfABodyIsSeenBeforeItIsSent(t *testing.T) {
	b := newBench(t)
	var got atomic.Value
	got.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got.Store(fmt.Sprint(string(body), err))
		_, _ = io.WriteString(w, "thanks")
	}))
	t.Cleanup(server.Close)
	var seen atomic.Value
	allow, want := true, ""
	b.proxy.o.Ask = func(_ context.Context, _ string, to Target) Verdict {
		testkit.Until(t, "what the client writes", func() bool {
			body, err := to.Request.GetBody()
			must(t, err)
			read, err := io.ReadAll(body)
			must(t, err)
			seen.Store(string(read) + got.Load().(string))
			return len(read) >= len(want)
		})
		return Verdict{Allow: allow, Private: true, Reason: "no"}
	}
	long := strings.Repeat("0123456789", 20_000)
	for name, body := range map[string]string{"short": "hello", "as long as is read": long[:aheadBytes], "long": long} {
		for how, from := range map[string]io.Reader{"of a length": strings.NewReader(body), "in chunks": chunks(body)} {
			got.Store("")
			want = body[:min(len(body), aheadBytes)]
			response, err := b.client(b.pass.URL()).Post(server.URL, "text/plain", from)
			must(t, err)
			must(t, response.Body.Close())
			if seen.Load() != want {
				t.Errorf("%s, %s: %d bytes were seen, want %d", name, how, len(seen.Load().(string)), len(want))
			}
			if got.Load() != body+"<nil>" {
				t.Errorf("%s, %s: the host got %d bytes, want %d", name, how, len(got.Load().(string)), len(body))
			}
		}
	}
	// A client that waits for an answer before it writes on is refused, and not waited for.
	allow, want = false, "first"
	got.Store("")
	from, write := io.Pipe()
	defer write.Close()
	go func() { _, _ = io.WriteString(write, "first") }() // ends with the request
	response, err := b.client(b.pass.URL()).Post(server.URL, "text/plain", from)
	must(t, err)
	must(t, response.Body.Close())
	if response.StatusCode != http.StatusForbidden || seen.Load() != "first" || got.Load() != "" {
		t.Errorf("refused: %s, %q was seen, the host got %q", response.Status, seen.Load(), got.Load())
	}
}

// chunks is a reader whose length nobody knows.
func chunks(text string) io.Reader { return io.MultiReader(strings.NewReader(text)) }
