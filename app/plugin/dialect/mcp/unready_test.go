package mcp_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/auth"
	"conclave/app/test/testkit"

	"golang.org/x/net/dns/dnsmessage"
)

func TestMC109AServerThatCannotBeReachedSaysWhyInOneSentence(t *testing.T) {
	elsewhere := httptest.NewServer(http.RedirectHandler("https://other.example/mcp", http.StatusTemporaryRedirect))
	t.Cleanup(elsewhere.Close)
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	secret := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secret.Close)
	host := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for name, want := range map[string]struct{ url, message, hint string }{
		"plain": {
			"http://mcp.example/mcp", "What is sent to mcp.example could be read on the way; use https.",
			"Correct “url” in its entry.",
		},
		"moved": {
			elsewhere.URL + "/mcp",
			host(elsewhere) + " redirects to another server, other.example, which gets nothing of what was meant for it.",
			"Correct “url” in its entry.",
		},
		"no-server": {
			nothing.URL + "/mcp", "The server at " + host(nothing) + " answered with HTTP status 404: 404 page not found.",
			"Check “url” in its entry: no MCP server may be at that address.",
		},
		"self-signed": {
			secret.URL + "/mcp",
			"The certificate of " + host(secret) + " is not valid: x509: certificate signed by unknown authority.",
			"Whoever runs the server has to renew it.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.save(name+".mcp.json", map[string]any{name: map[string]any{"url": want.url}})
			must(t, approveOnce(b, name))
			s := b.status(name)
			if s.State != plugin.Failed || s.Problem.Message != want.message || s.Problem.Hint != want.hint {
				t.Errorf("it is %s: %+v", s.State, s.Problem)
			}
		})
	}
}

// A name may lead elsewhere at each connection. What counts is the address that is connected to.
func TestMC135AServerWhoseNameLeadsToAForbiddenAddressIsNotFollowed(t *testing.T) {
	var asked atomic.Int32
	s := web(t, "", &asked)
	var moved atomic.Bool
	for kind, keys := range map[string]auth.Keys{"without an account": nil, "with an account": &keychain{}} {
		t.Run(kind, func(t *testing.T) {
			moved.Store(false)
			b := newBenchWith(t, func(b *bench) {
				b.keys = keys
				b.names = names(t, func() [4]byte {
					if moved.Load() {
						return [4]byte{169, 254, 169, 254}
					}
					return [4]byte{127, 0, 0, 1}
				})
			})
			host := "moves.localhost:" + strconv.Itoa(s.Listener.Addr().(*net.TCPAddr).Port)
			b.save("web.mcp.json", map[string]any{"web": map[string]any{"url": "http://" + host + "/mcp"}})
			b.approve("web")
			b.ready("web")
			b.says("web:echo", `{"text":"hi"}`, "hi")

			moved.Store(true)
			want := host + " now leads to an address of your own network or of this computer, so nothing was sent there." +
				" If the server moved there, restart Conclave. If you do not know why, remove it."
			testkit.Until(t, want, func() bool { // a connection of before may be open still
				s.CloseClientConnections()
				return strings.Contains(b.call(t.Context(), "web:echo", `{"text":"hi"}`).Error, want)
			})
			before := asked.Load()
			if r := b.call(t.Context(), "web:echo", `{"text":"hi"}`); !strings.Contains(r.Error, want) {
				t.Errorf("the call says %q", r.Error)
			}
			if asked.Load() != before {
				t.Error("it was asked nevertheless")
			}
		})
	}
}

// A server that goes away while it is used says so in each call.
func TestMC110ACallOfAServerThatIsGoneSaysSo(t *testing.T) {
	var asked atomic.Int32
	s := web(t, "", &asked)
	b := newBench(t)
	b.save("web.mcp.json", map[string]any{"web": map[string]any{"url": s.URL + "/mcp"}})
	b.approve("web")
	b.says("web:echo", `{"text":"hi"}`, "hi")
	s.Close()
	b.call(t.Context(), "web:echo", `{"text":"hi"}`) // it may meet a connection that just broke
	want := "Nothing answers at " + s.Listener.Addr().String() + ". Start the server, or correct “url” in its entry."
	if got := b.call(t.Context(), "web:echo", `{"text":"hi"}`).Error; !strings.Contains(got, want) {
		t.Errorf("the call says %q", got)
	}
}

// names returns a resolver for which every name leads where at says.
func names(t testing.TB, at func() [4]byte) *net.Resolver {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { // ended by closing the connection
		for buf := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: at()},
				}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() { _ = conn.Close(); serving.Wait() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}
