package permit_test

import (
	"slices"
	"testing"

	"conclave/app/permit"
)

// A connection is decided by the rules about its host, and by nothing that is wider than
// what they say.
func TestConnectionsAreDecidedByHost(t *testing.T) {
	const api = "https://api.example.org:443"
	cases := map[string]struct {
		rules   rules
		url     string
		effect  permit.Effect
		private bool
	}{
		"nothing granted":       {nil, api, permit.Deny, false},
		"the host":              {allowed("api.example.org"), api, permit.Allow, false},
		"the host, in the open": {allowed("api.example.org"), "http://api.example.org:80", permit.Allow, false},
		"another port":          {allowed("api.example.org"), "https://api.example.org:8443", permit.Deny, false},
		"another host":          {allowed("api.example.org"), "https://example.org:443", permit.Deny, false},
		"below a domain":        {below("example.org"), api, permit.Allow, false},
		"what only ends alike":  {below("example.org"), "https://badexample.org:443", permit.Deny, false},
		"everything":            {whole, api, permit.Allow, false},
		"everything but one": {func(t *testing.T, g *permit.Gate) {
			denied("api.example.org")(t, g)
			whole(t, g)
		}, api, permit.Deny, false},
		"everything is no computer of yours": {whole, "http://127.0.0.1:8000", permit.Deny, false},
		"nor localhost":                      {whole, "http://localhost:8000", permit.Deny, false},
		"nor an address of IPv6":             {whole, "http://[::1]:8000", permit.Deny, false},
		"nor your network's":                 {whole, "https://192.168.0.1:443", permit.Deny, false},
		"that address":                       {allowed("127.0.0.1:8000"), "http://127.0.0.1:8000", permit.Allow, true},
		"that address of IPv6":               {allowed("[::1]:8000"), "http://[::1]:8000", permit.Allow, true},
		"its other port":                     {allowed("127.0.0.1:8000"), "http://127.0.0.1:8001", permit.Deny, false},
		"credentials of a cloud":             {allowed("169.254.169.254"), "http://169.254.169.254:80", permit.Deny, false},
		"your network by its own permission": {func(t *testing.T, g *permit.Gate) {
			whole(t, g)
			must(t, g.SetPermission(t.Context(), "notes", "local_network", permit.Allow))
		}, "http://192.168.0.1:80", permit.Allow, true},
		"all taken back": {func(t *testing.T, g *permit.Gate) {
			allowed("api.example.org")(t, g)
			must(t, g.SetPermission(t.Context(), "notes", permit.Network, permit.Deny))
		}, api, permit.Deny, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := approvedNotes(t)
			if c.rules != nil {
				c.rules(t, g)
			}
			d, private := g.Connect(t.Context(), permit.Connection{Plugin: "notes", URL: c.url})
			if d.Effect != c.effect || private != c.private {
				t.Errorf("%s, private %v: %s", d.Effect, private, d.Why)
			}
			if granted, _ := g.Permissions("notes"); c.effect == permit.Allow && !slices.Contains(granted, permit.Network) {
				t.Errorf("granted %v", granted)
			}
		})
	}
}

// rules make one that a case is about.
type rules = func(*testing.T, *permit.Gate)

func hosts(effect permit.Effect, op permit.Op, host string) rules {
	return func(t *testing.T, g *permit.Gate) { must(t, g.AllowHost(t.Context(), "notes", effect, op, host)) }
}

func allowed(host string) rules { return hosts(permit.Allow, permit.HostIs, host) }
func denied(host string) rules  { return hosts(permit.Deny, permit.HostIs, host) }
func below(host string) rules   { return hosts(permit.Allow, permit.HostSuffix, host) }

func whole(t *testing.T, g *permit.Gate) {
	t.Helper()
	must(t, g.SetPermission(t.Context(), "notes", permit.Network, permit.Allow))
}

// approvedNotes is a gate that approved a plugin.
func approvedNotes(t *testing.T) *permit.Gate {
	t.Helper()
	g, err := permit.Open(t.Context(), permit.Options{})
	must(t, err)
	v := permit.PluginVersion{
		Plugin: "notes", Name: "Notes", Dialect: "functions", Isolation: "process+landlock", Code: "c",
	}
	g.Status(v)
	must(t, g.Approve(t.Context(), v, permit.ApproveOptions{}))
	return g
}
