package egress

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/app/net/fetch"
)

// trusting is a client for a plugin that has no sockets, which trusts a test's server.
func (b *bench) trusting(call string, from *http.Client) *http.Client {
	b.t.Helper()
	c := b.proxy.Client("script", call)
	b.proxy.direct["script"].private.TLSClientConfig = from.Transport.(*http.Transport).TLSClientConfig
	return c
}

func TestAClientAsksForEachHostThatARequestComesTo(t *testing.T) {
	b := newBench(t)
	plain, port := b.greeting("127.0.0.1:0", "plain")
	plain.Start()
	defer plain.Close()
	b.name("api.test", "127.0.0.1")
	b.name("evil.test", "127.0.0.1")
	b.name("rebound.test", "127.0.0.1")
	b.allow("api.test:"+port, Verdict{Private: true})
	b.allow("rebound.test:"+port, Verdict{})
	client := b.proxy.Client("script", "")
	at := "http://api.test:" + port
	for address, want := range map[string]string{
		at + "/":                         "200 plain api.test:" + port,
		at + "/?to=" + at + "/there":     "200 plain api.test:" + port,
		"http://evil.test:" + port:       "it may not connect to evil.test:" + port + ": nobody allowed it",
		at + "/?to=http://evil.test:1":   "it may not connect to evil.test:1: nobody allowed it",
		"http://rebound.test:" + port:    "a private address",
		"http://2130706433:" + port:      "That is no address",
		"http://[::ffff:7f00:1]:" + port: "it may not connect to 127.0.0.1:" + port,
	} {
		if got := b.get(client, address); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.resolved, "evil.test") {
		t.Error("a name was looked up that nobody allowed: it could carry something out")
	}
}

func TestWhatAClientSendsIsCountedForItsCallAndHost(t *testing.T) {
	b := newBench(t)
	secure, port := b.greeting("127.0.0.1:0", "secure")
	secure.StartTLS()
	defer secure.Close()
	b.allow("127.0.0.1:"+port, Verdict{Private: true, Call: "a call"})
	b.works("another", "a call") // it says which
	client := b.trusting("a call", secure.Client())
	for range 2 { // the second has the connection of the first
		body := strings.NewReader(strings.Repeat("x", 50_000))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, secure.URL, body)
		must(t, err)
		response, err := client.Do(r)
		must(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		must(t, err)
		must(t, response.Body.Close())
		if got := b.next(); got.Plugin != "script" || got.Host != "127.0.0.1:"+port || got.Call != "a call" ||
			got.Sent < 50_000 ||
			got.Sent > 60_000 || got.Received == 0 || got.Refused != "" {
			t.Errorf("told of %+v", got)
		}
	}
	sent := b.proxy.Take("a call")
	if len(sent) != 1 || sent[0].Host != "127.0.0.1:"+port || sent[0].Bytes < 100_000 || sent[0].Bytes > 120_000 {
		t.Errorf("counted %+v", sent)
	}
}

func TestAnAnswerEndsWhenItsHostIsTakenBack(t *testing.T) {
	b := newBench(t)
	began := make(chan struct{})
	server, port := b.greeting("127.0.0.1:0", "")
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		close(began)
		<-r.Context().Done()
	})
	server.Start()
	defer server.Close()
	var gone atomic.Bool
	b.allow("127.0.0.1:"+port, Verdict{Private: true, Stands: func() bool { return !gone.Load() }})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	must(t, err)
	response, err := b.proxy.Client("script", "").Do(r)
	must(t, err)
	<-began
	b.proxy.Recheck()
	gone.Store(true)
	b.proxy.Recheck()
	_, err = io.ReadAll(response.Body)
	if no, ok := errors.AsType[*fetch.Refused](err); !ok || no.Reason != errTakenBack.Error() {
		t.Errorf("read to the end: %v", err)
	}
	must(t, response.Body.Close())
	want := "Its connection to 127.0.0.1:" + port + " was ended: it may not connect there any more."
	if got := b.next().Sentence(); got != want {
		t.Error(got)
	}
}

// onWrite is a connection that calls what it holds for each write, which takes all but one byte.
type onWrite struct {
	net.Conn
	call func()
}

func (o onWrite) Write(b []byte) (int, error) {
	o.call()
	return len(b) - 1, io.ErrShortWrite
}

// A host may answer, and the request be over, before the write of it returns.
func TestWhatIsSentIsCountedBeforeItsHostHasIt(t *testing.T) {
	c := &counted{}
	var meanwhile int64
	c.Conn = onWrite{call: func() { meanwhile = c.sent.Load() }}
	_, err := c.Write([]byte("12345"))
	if meanwhile != 5 || c.sent.Load() != 4 || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("counted %d, then %d: %v", meanwhile, c.sent.Load(), err)
	}
}
