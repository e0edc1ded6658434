package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"conclave/app/plugin"
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
