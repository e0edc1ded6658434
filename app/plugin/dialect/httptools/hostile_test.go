package httptools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin/dialect/httptools"
)

func TestNK37WhoIsRefused(t *testing.T) {
	b := newBench(t)
	s := saying(t, "x")
	body := `{"name":"x","callback_url":"` + s.URL + `"}`
	port := b.address[strings.LastIndex(b.address, ":")+1:]
	post := func(change func(*http.Request)) int {
		status, _ := b.do("POST", "/api/tools/register", body, func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json")
			change(r)
		})
		return status
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, change := range map[string]func(*http.Request){
		"a name of elsewhere":             host("evil.example"),
		"a name that leads here":          host("127.0.0.1.nip.io:" + port),
		"another port":                    host("127.0.0.1:1"),
		"no port":                         host("localhost"),
		"an address of the network":       host("192.168.1.2:" + port),
		"a page of elsewhere":             header("Origin", "https://evil.example"),
		"a page of another local program": header("Origin", "http://localhost:3000"),
		"a page that is not said":         header("Origin", "null"),
		"a page that sends no origin":     header("Sec-Fetch-Site", "cross-site"),
		"a page that says it twice": func(r *http.Request) {
			r.Header["Sec-Fetch-Site"] = []string{"none", "cross-site"}
		},
	} {
		if status := post(change); status != 403 {
			t.Errorf("%s is answered %d", name, status)
		}
	}
	if rows := b.listed("Conclave"); len(rows) != 0 {
		t.Errorf("registered all the same: %v", rows)
	}
	for _, name := range []string{"localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port} {
		if status := post(host(name)); status != 200 {
			t.Errorf("the host %s is answered %d", name, status)
		}
	}
	// A peer that is none of this computer's cannot connect: nothing listens for it.
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addresses {
		at, ok := a.(*net.IPNet)
		if !ok || at.IP.IsLoopback() || at.IP.IsLinkLocalUnicast() {
			continue
		}
		c, err := net.DialTimeout("tcp", net.JoinHostPort(at.IP.String(), port), time.Second)
		if err == nil {
			_ = c.Close()
			t.Errorf("the port is open at %s", at.IP)
		}
	}
	// A page asks before it sends JSON, and is told nothing that lets it.
	resp := request(t, b, "OPTIONS", header("Origin", "https://evil.example"))
	if resp.StatusCode != 403 || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page that asks is answered %d %v", resp.StatusCode, resp.Header)
	}
	b.token = "secret"
	if status := post(func(*http.Request) {}); status != 401 {
		t.Errorf("without the token: %d", status)
	}
	if status := post(header("Authorization", "Bearer other")); status != 401 {
		t.Errorf("with another token: %d", status)
	}
	if status := post(header("Authorization", "Bearer secret")); status != 200 {
		t.Errorf("with the token: %d", status)
	}
}

func request(t *testing.T, b *bench, method string, change func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.address+"/api/tools/register", nil)
	must(t, err)
	change(r)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	must(t, resp.Body.Close())
	return resp
}

func TestHostileMoreRegistrationsThanAreKept(t *testing.T) {
	s := saying(t, "x")
	// Most of them came before Conclave was started: each that comes has all looked through.
	const left, refusals = 20, 20
	taken, refused := limit.Registrations-left, ""
	kept := map[string]json.RawMessage{}
	for i := range taken {
		id, raw := httptools.RecordOf(fmt.Sprintf("tool_%d", i), s.URL, fmt.Sprintf("plugin:p%d", i%4), uint64(i+1))
		kept[id] = raw
	}
	b := newBench(t, func(b *bench) { b.memory = &memory{all: kept} })
	for i := taken; i < limit.Registrations+refusals; i++ {
		status, answer := b.post("/api/tools/register", object{
			"name": fmt.Sprintf("tool_%d", i), "callback_url": s.URL, "source": fmt.Sprintf("plugin:p%d", i%4),
		})
		if status != 200 {
			t.Fatalf("the %dth is answered %d %v", i, status, answer)
		}
		if answer["ok"] == true {
			taken++
			continue
		}
		refused = fmt.Sprint(answer["error"])
	}
	if taken != limit.Registrations || !strings.Contains(refused,
		"1,000 tools are registered, the most that are kept") {
		t.Errorf("%d were taken, and the others told %q", taken, refused)
	}
	if rows := b.listed("Conclave"); len(rows) != taken {
		t.Errorf("%d are listed", len(rows))
	}
	if n := len(b.host.List()); n != 4 {
		t.Errorf("there are %d cards", n)
	}
	b.offers() // of none of them is a model told
	for i := range 4 {
		b.post("/api/tools/clear", object{"source": fmt.Sprintf("plugin:p%d", i)})
	}
	// Nothing stays of what nobody decided about.
	must(t, b.host.WaitIdle(t.Context()))
	for i := range 4 {
		raw, err := b.memory.PluginCache(t.Context(), fmt.Sprintf("p%d-%s", i, s.port()))
		must(t, err)
		if len(raw) > 0 {
			t.Errorf("%d bytes stay of a plugin that nobody approved", len(raw))
		}
	}
	// As many sources as there are cards for.
	for i := range limit.RegisteredPlugins {
		b.register("t", s.URL, object{"source": fmt.Sprintf("plugin:s%d", i)})
	}
	_, answer := b.post("/api/tools/register", object{"name": "t", "callback_url": s.URL, "source": "plugin:over"})
	if answer["ok"] != false || !strings.Contains(fmt.Sprint(answer["error"]),
		"100 sources have registered tools, the most that are kept") {
		t.Errorf("one source too many is answered %v", answer)
	}
}

func TestHostileMoreBytesThanAreKept(t *testing.T) {
	s := saying(t, "x")
	long, kept := strings.Repeat("x", 60<<10), map[string]json.RawMessage{}
	most := limit.RegistrationBytes / len(long)
	for i := range most - 2 { // they came before Conclave was started
		id, raw := httptools.RecordOf(fmt.Sprintf("long_%d", i), s.URL, "plugin:p", uint64(i+1))
		var fields object
		must(t, json.Unmarshal(raw, &fields))
		fields["description"] = long
		raw, err := json.Marshal(fields)
		must(t, err)
		kept[id] = raw
	}
	b := newBench(t, func(b *bench) { b.memory = &memory{all: kept} })
	taken, full := most-2, object{}
	for ; full["ok"] != false && taken <= most; taken++ {
		_, full = b.post("/api/tools/register", its(object{
			"name": fmt.Sprintf("long_%d", taken), "callback_url": s.URL, "description": long,
		}))
	}
	if !strings.Contains(fmt.Sprint(full["error"]),
		"the tools of this source have more than 2 MiB, the most that is kept") {
		t.Errorf("too many bytes are answered %v", full)
	}
	status, _ := b.post("/api/tools/register", object{"name": "t", "callback_url": s.URL, "description": long + long})
	if status != 422 {
		t.Errorf("a description of %d bytes is answered %d", 2*len(long), status)
	}
}

func TestHostileABodyThatNeverEnds(t *testing.T) {
	b := newBench(t)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.address, "http://"))
	must(t, err)
	defer c.Close()
	sent := make(chan int64, 1)
	go func() { // ends when the port closes the connection
		head := "POST /api/tools/register HTTP/1.1\r\nHost: " + strings.TrimPrefix(b.address, "http://") +
			"\r\nContent-Type: application/json\r\nContent-Length: 1000000000000\r\n\r\n{\"name\":\""
		n, _ := io.Copy(c, io.MultiReader(strings.NewReader(head), endless{}))
		sent <- n
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("it is answered %d", resp.StatusCode)
	}
	select {
	case n := <-sent:
		if n > 64<<20 {
			t.Errorf("%d bytes were taken", n)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the connection stays open")
	}
	b.register("x", saying(t, "x").URL, nil) // it goes on
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestHostileACallbackThatLeadsElsewhere(t *testing.T) {
	b := newBench(t)
	inside := saying(t, "the secret")
	answered := 0
	s := newService(t, func(w http.ResponseWriter, _ []byte) {
		to := []string{"http://169.254.169.254/latest/meta-data/", inside.URL}[answered%2]
		answered++
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	b.register("x", s.URL, its(nil))
	b.trust()
	for range 2 {
		if got := textOf(b.call(s.id("x"), "{}")); got != "" {
			t.Errorf("the model reads %q", got)
		}
	}
	if len(inside.bodies()) != 0 || answered != 2 {
		t.Errorf("the redirects led to %d requests", len(inside.bodies()))
	}
	// Another address for a tool that was approved is another plugin: asked again, not called.
	b.register("x", inside.URL, its(nil))
	b.offers()
	if _, err := b.host.Status("p-" + s.port()); err == nil {
		t.Error("what was approved is there still, without tools")
	}
	if len(inside.bodies()) != 0 {
		t.Error("the other address was called")
	}
	// A name that could change what it stands for is none that is taken.
	if status, _ := b.post("/api/tools/register",
		object{"name": "y", "callback_url": b.address + "/api/tools/clear"}); status != 422 {
		t.Errorf("the port itself is answered %d", status)
	}
	if status, _ := b.post("/api/tools/register",
		object{"name": "y", "callback_url": "http://rebind.example:80/"}); status != 422 {
		t.Errorf("a name is answered %d", status)
	}
}

func TestHostileAProgramThatSendsNothingHoldsNobodyUp(t *testing.T) {
	b := newBench(t)
	for range 1000 { // more than are open at once, and than are given up in time
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", strings.TrimPrefix(b.address, "http://"))
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
	}
	began := time.Now()
	b.register("x", saying(t, "x").URL, nil)
	// Who asks for nothing makes room at once. Were they given the five seconds that a head may take, 128
	// at a time, it would take forty.
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}
