package core

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"conclave/app/net/loopback"
)

func TestProfilesAreServedWhereTheyAreAskedForAndNotToPlugins(t *testing.T) {
	if c := opened(t); c.profiler != nil {
		t.Error("profiles are served though nobody asked")
	}
	t.Setenv("CONCLAVE_PPROF", "0")
	c := opened(t)
	port := c.profiler.Ports()[0]
	for path, want := range map[string]string{
		"/debug/pprof/goroutine?debug=1": "goroutine profile:", "/debug/pprof/heap": "",
		"/debug/pprof/profile?seconds=1": "", "/debug/pprof/trace?seconds=1": "", "/debug/pprof/none": "404",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, loopback.Address(port)+path, nil)
		must(t, err)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		body, err := io.ReadAll(response.Body)
		must(t, err, response.Body.Close())
		if !strings.Contains(string(body), want) || (response.StatusCode == http.StatusOK) != (want != "404") {
			t.Errorf("%s answers %s: %.200q", path, response.Status, body)
		}
	}
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port))
	if !(network{c}).own(at) {
		t.Error("a plugin may connect to the profiles")
	}
	must(t, c.Close())
	if len(c.profiler.Ports()) > 0 {
		t.Error("the port is open once the core is closed")
	}
}
