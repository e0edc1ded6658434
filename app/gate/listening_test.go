package gate_test

import (
	"net/netip"
	"testing"

	"conclave/app/gate"
)

// listens decides about a port and returns what a person was asked, who answers so.
func listens(t *testing.T, g *gate.Gate, at string, free bool, a gate.Answer) (gate.Decision, *gate.Request) {
	t.Helper()
	var asked *gate.Request
	l := gate.Listening{
		Plugin: "notes", At: netip.MustParseAddrPort(at), Free: free,
		Behalf: gate.Call{Caller: gate.Main, Conversation: "chat-1", Turn: "turn-1"},
	}
	l.Behalf.Asker = asks(func(p gate.Request) gate.Answer {
		asked = &p
		return a
	})
	return g.Listen(t.Context(), l), asked
}

func TestAPortIsAskedAboutByItsNumberAndAllowedForGood(t *testing.T) {
	g, _ := trusted(t, gate.Options{})
	always := gate.Answer{Effect: gate.Allow, Scope: gate.Always}
	d, asked := listens(t, g, "127.0.0.1:4711", false, always)
	if d.Effect != gate.Allow || asked == nil {
		t.Fatalf("decided %+v", d)
	}
	want := "Notes wants to listen on port 4711 of this computer"
	if asked.Title != want || string(asked.Arguments) != `{"address":"127.0.0.1","port":"4711"}` || !asked.Fixed ||
		asked.Reach != "Only its own processes can connect there. Other programs, and other computers, are turned away." {
		t.Errorf("asked %s as %s: %s", asked.Title, asked.Arguments, asked.Reach)
	}
	for _, at := range []string{"127.0.0.1:4711", "[::1]:4711"} {
		d, again := listens(t, g, at, false, gate.Answer{Effect: gate.Deny})
		if again != nil || d.Effect != gate.Allow {
			t.Errorf("%s is asked about again: %+v", at, d)
		}
	}
	_, ports := g.Reach.Single("notes")
	got := gate.RuleSentences(ports, "Notes")
	if len(got) != 1 || got[0] != "Notes may listen on port 4711 of this computer" {
		t.Errorf("the ports are %q", got)
	}
	if granted, _ := g.Reach.Permissions("notes"); len(granted) != 1 || granted[0] != gate.Listen {
		t.Errorf("granted %v", granted)
	}
	for name, c := range map[string]struct {
		at   string
		free bool
	}{"another": {"127.0.0.1:4712", false}, "one that is free": {"127.0.0.1:4711", true}} {
		if d, asked := listens(t, g, c.at, c.free, gate.Answer{Effect: gate.Deny}); asked == nil ||
			d.Effect != gate.Deny {
			t.Errorf("%s is decided without a person: %+v", name, d)
		}
	}
	must(t, g.Reach.RevokePort(t.Context(), "notes", "4711"))
	if d, asked := listens(t, g, "127.0.0.1:4711", false, gate.Answer{Effect: gate.Deny}); asked == nil ||
		d.Effect != gate.Deny {
		t.Errorf("what was taken back is allowed: %+v", d)
	}
}

func TestAPortThatIsFreeIsAllowedWhicheverItIs(t *testing.T) {
	g, _ := trusted(t, gate.Options{})
	must(t, g.Reach.AllowPort(t.Context(), "notes", "0"))
	for _, at := range []string{"127.0.0.1:4711", "[::1]:50123"} {
		if d, asked := listens(t, g, at, true, gate.Answer{}); asked != nil || d.Effect != gate.Allow {
			t.Errorf("%s: %+v", at, d)
		}
	}
	if d, asked := listens(t, g, "127.0.0.1:4711", false, gate.Answer{Effect: gate.Deny}); asked == nil ||
		d.Effect != gate.Deny {
		t.Errorf("one that it names is allowed: %+v", d)
	}
	must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Listen, gate.Allow))
	if d, asked := listens(t, g, "127.0.0.1:4711", false, gate.Answer{}); asked != nil || d.Effect != gate.Allow {
		t.Errorf("of all ports one is not allowed: %+v", d)
	}
}

func TestAPortThatOthersReachIsNeverAskedAbout(t *testing.T) {
	g, _ := trusted(t, gate.Options{})
	must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Listen, gate.Allow))
	for _, at := range []string{
		"0.0.0.0:4711", "[::]:4711", "192.168.1.4:4711", "[fe80::1]:4711", "127.0.0.2:4711", "127.0.0.1:80", "[::1]:1023",
		"127.0.0.1:0",
	} {
		if d, asked := listens(t, g, at, false, gate.Answer{Effect: gate.Allow}); asked != nil ||
			d.Effect != gate.Deny || d.Reason == "" {
			t.Errorf("%s: %+v", at, d)
		}
	}
	for _, port := range []string{"80", "-1", "65536", "x", "", "4711 "} {
		if err := g.Reach.AllowPort(t.Context(), "notes", port); err == nil {
			t.Errorf("the port %q was granted", port)
		}
	}
}
