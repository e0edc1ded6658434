package hosttest

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/test/programtest"
)

// spelling is a plugin that says to its way out what it likes.
const spelling = `
import base64, os, socket
from urllib.parse import urlsplit

def say(lines: str) -> str:
    "Say these lines, with the credential, and what follows an empty one; return the answer."
    proxy = urlsplit(os.environ["HTTP_PROXY"])
    credential = base64.b64encode(("%s:%s" % (proxy.username, proxy.password)).encode()).decode()
    head, _, body = lines.partition("\n\n")
    head += "\nProxy-Authorization: Basic " + credential + "\nConnection: close\n\n"
    with socket.create_connection((proxy.hostname, proxy.port), 150) as s:
        s.sendall((head + body).replace("\n", "\r\n").encode())
        answer = b""
        while part := s.recv(65536):
            answer += part
    return answer.decode("latin-1")
`

// From a plugin that may use all of the internet: addresses of this computer in every spelling, and
// requests that name two hosts.
func TestAttackAPluginSpellsThisComputerAnotherWay(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Held(t, c.launcher.Confinement())
	c.write("out.py", spelling)
	c.approved("out")
	must(t, c.gate.Reach.SetPermission(t.Context(), "out", "network", gate.Allow))
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("reached as " + r.Host))
	}))
	t.Cleanup(page.Close)
	pass, err := c.egress.Admit("other")
	must(t, err)
	t.Cleanup(pass.Close)
	_, own, err := net.SplitHostPort(pass.Address())
	must(t, err)
	say := func(lines string) string {
		t.Helper()
		arguments, err := json.Marshal(map[string]string{"lines": lines})
		must(t, err)
		answer := c.said("out:say", string(arguments))
		if answer == "" || strings.Contains(answer, " 407 ") { // it got to a proxy that knows it not: Conclave's
			t.Errorf("%q: %q", lines, answer)
		}
		return answer
	}
	here := port(t, page.URL)
	for _, host := range []string{
		"127.0.0.1", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
		"[64:ff9b::7f00:1]", "[::ffff:0:127.0.0.1]", "[2002:7f00:1::]", "[::1%lo]", "[::1%25lo]", "[127.0.0.1]",
		"127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.01", "127.0.0.1.",
		"localhost", "localhost.", "LOCALHOST", "localhost..", "127。0。0。1", "①②⑦.0.0.1", "127.0.0.1%00", "127.0.0.1%2e",
		"user@127.0.0.1", "api.example@127.0.0.1", "127.0.0.1#", "api.example#@127.0.0.1", "",
	} {
		for _, port := range []string{here, own} {
			at := host + ":" + port
			for _, lines := range []string{
				"CONNECT " + at + " HTTP/1.1\nHost: " + at + "\n\nGET /x HTTP/1.0\n\n",
				"GET http://" + at + "/x HTTP/1.1\nHost: api.example\n\n",
			} {
				if got := say(lines); !strings.HasPrefix(got, "HTTP/1.1 403 ") && !strings.HasPrefix(got, "HTTP/1.1 400 ") {
					t.Errorf("%q: %q", lines, got)
				}
			}
		}
	}
	// One host is allowed, and the request names another too: it gets to the first, or nowhere.
	allowed := "127.0.0.1:" + here
	must(t, c.gate.Reach.AllowHost(t.Context(), "out", gate.Network, gate.Allow, gate.HostIs, allowed))
	const reached = "reached as "
	for lines, want := range map[string]string{
		"GET http://" + allowed + "/x HTTP/1.1\nHost: 127.0.0.1:" + own + "\n\n":                         reached + allowed,
		"GET http://" + allowed + "/x HTTP/1.1\nHost: a\nHost: b\n\n":                                    "400",
		"GET http://0.0.0.0:" + here + "/x HTTP/1.1\nHost: " + allowed + "\n\n":                          "403",
		"GET //" + allowed + "/x HTTP/1.1\nHost: " + allowed + "\n\n":                                    "400",
		"CONNECT 127.0.0.1:" + own + " HTTP/1.1\nHost: " + allowed + "\n\n":                              "403",
		"CONNECT " + allowed + "@127.0.0.1:" + own + " HTTP/1.1\nHost: " + allowed + "\n\n":              "403",
		"CONNECT /127.0.0.1:" + own + " HTTP/1.1\nHost: " + allowed + "\n\nGET /x HTTP/1.0\nHost: a\n\n": reached + "a",
		"POST http://" + allowed + "/x HTTP/1.1\nHost: a\nContent-Length: 4\nTransfer-Encoding: chunked\n\n0\n\n" +
			"GET http://127.0.0.1:" + own + "/y HTTP/1.1\nHost: a\n\n": reached + allowed,
	} {
		if got := say(lines); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}
