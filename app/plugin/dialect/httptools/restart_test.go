package httptools_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/test/testkit"
)

func TestNK38RegistrationsSurviveARestart(t *testing.T) {
	b := newBench(t)
	b.every = 20 * time.Millisecond
	s, gone := saying(t, "still here"), saying(t, "gone")
	b.register("stays", s.URL, its(object{"description": "Stays."}))
	b.register("goes", gone.URL, object{"source": "plugin:gone"})
	b.trust()
	b.restart() // the service does nothing
	b.offers("gone-"+gone.port()+":goes", s.id("stays"))
	b.says(s.id("stays"), "still here")

	gone.Close()
	b.every = time.Hour
	b.restart()
	b.offers(s.id("stays"))
	if row := b.listed("Conclave")["goes"]; row["status"] != "unverified" {
		t.Errorf("what does not answer is listed as %v", row)
	}
	b.every = 20 * time.Millisecond
	b.restart() // three connections that are refused
	testkit.Until(t, "what does not answer is dropped", func() bool { return len(b.listed("Conclave")) == 1 })
	b.restart()
	if rows := b.listed("Conclave"); len(rows) != 1 {
		t.Errorf("after a restart there are %v", rows)
	}
	b.says(s.id("stays"), "still here")

	// It registers again where it was: nobody is asked again.
	again := serviceAt(t, gone.Listener.Addr().String(), "back")
	b.register("goes", again.URL, object{"source": "plugin:gone"})
	b.says("gone-"+gone.port()+":goes", "back")
}

// serviceAt is a service at an address.
func serviceAt(t *testing.T, at, text string) *httptest.Server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at)
	must(t, err)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"output":"` + text + `"}`))
	}))
	must(t, s.Listener.Close())
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func TestNK39AnAddressThatRefusesThreeConnectionsIsDropped(t *testing.T) {
	b := newBench(t)
	s, sibling := saying(t, "x"), saying(t, "sibling")
	b.register("x", s.URL, its(nil))
	b.register("y", s.URL, its(nil))
	b.register("z", sibling.URL, its(nil))
	b.trust()
	turn := b.tools.Set() // a turn that goes on while the tools go
	s.CloseClientConnections()
	s.Close()
	for range 2 {
		if got := textOf(b.call(s.id("x"), "{}")); !strings.Contains(got, "ConnectError") {
			t.Errorf("the model reads %q", got)
		}
	}
	// One success resets the count.
	back := serviceAt(t, s.Listener.Addr().String(), "back")
	b.says(s.id("y"), "back")
	back.Close()
	for range 2 {
		b.call(s.id("x"), "{}")
	}
	if _, there := b.tools.Set().ByID(s.id("x")); !there {
		t.Error("it is dropped after two")
	}
	b.call(s.id("y"), "{}")
	testkit.Until(t, "its tools are dropped", func() bool { return len(b.offered()) == 1 })
	b.offers(sibling.id("z"))
	b.says(sibling.id("z"), "sibling")
	if rows := b.listed("Conclave"); len(rows) != 1 { // so its watchdog registers again
		t.Errorf("listed: %v", rows)
	}
	if turn.Len() != 3 {
		t.Errorf("the turn has %d tools", turn.Len())
	}
	if s, err := b.host.Status("p-" + sibling.port()); err != nil || s.State != plugin.Ready {
		t.Errorf("the sibling is %+v, %v", s.State, err)
	}
}
