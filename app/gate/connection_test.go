package gate_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/gate"
)

// A connection is decided by the rules about its host, and by nothing that is wider than
// what they say.
func TestConnectionsAreDecidedByHost(t *testing.T) {
	const api = "https://api.example.org:443"
	cases := map[string]struct {
		rules   rules
		url     string
		effect  gate.Effect
		private bool
	}{
		"nothing granted":       {nil, api, gate.Deny, false},
		"the host":              {allowed("api.example.org"), api, gate.Allow, false},
		"the host, in the open": {allowed("api.example.org"), "http://api.example.org:80", gate.Allow, false},
		"another port":          {allowed("api.example.org"), "https://api.example.org:8443", gate.Deny, false},
		"another host":          {allowed("api.example.org"), "https://example.org:443", gate.Deny, false},
		"below a domain":        {below("example.org"), api, gate.Allow, false},
		"what only ends alike":  {below("example.org"), "https://badexample.org:443", gate.Deny, false},
		"everything":            {whole, api, gate.Allow, false},
		"everything but one": {func(t *testing.T, g *gate.Gate) {
			denied("api.example.org")(t, g)
			whole(t, g)
		}, api, gate.Deny, false},
		"everything is no computer of yours": {whole, "http://127.0.0.1:8000", gate.Deny, false},
		"nor localhost":                      {whole, "http://localhost:8000", gate.Deny, false},
		"nor an address of IPv6":             {whole, "http://[::1]:8000", gate.Deny, false},
		"nor your network's":                 {whole, "https://192.168.0.1:443", gate.Deny, false},
		"that address":                       {allowed("127.0.0.1:8000"), "http://127.0.0.1:8000", gate.Allow, true},
		"that address of IPv6":               {allowed("[::1]:8000"), "http://[::1]:8000", gate.Allow, true},
		"its other port":                     {allowed("127.0.0.1:8000"), "http://127.0.0.1:8001", gate.Deny, false},
		"credentials of a cloud":             {allowed("169.254.169.254"), "http://169.254.169.254:80", gate.Deny, false},
		"your network by its own permission": {func(t *testing.T, g *gate.Gate) {
			whole(t, g)
			must(t, g.Reach.SetPermission(t.Context(), "notes", "local_network", gate.Allow))
		}, "http://192.168.0.1:80", gate.Allow, true},
		"all taken back": {func(t *testing.T, g *gate.Gate) {
			allowed("api.example.org")(t, g)
			must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Network, gate.Deny))
		}, api, gate.Deny, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := approvedNotes(t)
			if c.rules != nil {
				c.rules(t, g)
			}
			d, private := g.Connect(t.Context(), gate.Connection{Plugin: "notes", URL: c.url})
			if d.Effect != c.effect || private != c.private {
				t.Errorf("%s, private %v: %s", d.Effect, private, d.Why)
			}
			if granted, _ := g.Reach.Permissions("notes"); c.effect == gate.Allow &&
				!slices.Contains(granted, gate.Network) {
				t.Errorf("granted %v", granted)
			}
		})
	}
}

// rules make one that a case is about.
type rules = func(*testing.T, *gate.Gate)

func hosts(effect gate.Effect, op gate.Op, host string) rules {
	return func(t *testing.T, g *gate.Gate) {
		must(t, g.Reach.AllowHost(t.Context(), "notes", gate.Network, effect, op, host))
	}
}

func allowed(host string) rules { return hosts(gate.Allow, gate.HostIs, host) }
func denied(host string) rules  { return hosts(gate.Deny, gate.HostIs, host) }
func below(host string) rules   { return hosts(gate.Allow, gate.HostSuffix, host) }

func whole(t *testing.T, g *gate.Gate) {
	t.Helper()
	must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Network, gate.Allow))
}

// approvedNotes is a gate that approved a plugin.
func approvedNotes(t *testing.T, permissions ...string) *gate.Gate {
	t.Helper()
	g, err := gate.Open(t.Context(), gate.Options{})
	must(t, err)
	v := gate.PluginVersion{
		Plugin: "notes", Name: "Notes", Dialect: "functions", Isolation: "process+landlock", Code: "c",
		Permissions: permissions,
	}
	g.Approvals.Status(v)
	must(t, g.Approvals.Approve(t.Context(), v, gate.ApproveOptions{}))
	return g
}

// What Conclave fetches for a script is decided like connections: by hosts, by the rules
// that allowed the calls it is for, and by the approval of a plugin that asks for the web.
func TestWhatAScriptFetchesIsDecidedByHost(t *testing.T) {
	const name, api, other = "api.example.org", "https://api.example.org:443", "https://example.net:443"
	call := func(matches ...gate.Match) func(*testing.T, *gate.Gate) []gate.Call {
		return func(t *testing.T, g *gate.Gate) []gate.Call {
			t.Helper()
			rule, err := g.Rules.Add(t.Context(), gate.Rule{
				Effect: gate.Allow, Plugin: "notes", Tool: "*", Scope: gate.Always, Match: matches,
				Callers: []gate.Caller{gate.Main},
			})
			must(t, err)
			return []gate.Call{{ID: "c", Rule: rule.ID}}
		}
	}
	asked := func(*testing.T, *gate.Gate) []gate.Call { return []gate.Call{{ID: "c"}} }
	on := func(op gate.Op, host string) func(*testing.T, *gate.Gate) []gate.Call {
		return call(gate.Match{Field: "url", Op: op, Value: host})
	}
	few := gate.Match{Field: "n", Op: gate.AtMost, Value: "2"}
	is, suffix := gate.HostIs, gate.HostSuffix
	web := func(effect gate.Effect, host string) rules {
		return func(t *testing.T, g *gate.Gate) {
			must(t, g.Reach.AllowHost(t.Context(), "notes", gate.Web, effect, gate.HostIs, host))
		}
	}
	everything := func(t *testing.T, g *gate.Gate) {
		must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Web, gate.Allow))
	}
	for title, c := range map[string]struct {
		rules  rules
		within func(*testing.T, *gate.Gate) []gate.Call
		url    string
		effect gate.Effect // deny: nobody is there to be asked
		why    string
	}{
		"for a call that was allowed":          {nil, asked, api, gate.Allow, "you allowed the call that it is for"},
		"for itself":                           {nil, nil, api, gate.Deny, "send to the web"},
		"for itself, with that host":           {web(gate.Allow, name), nil, api, gate.Allow, "api.example.org"},
		"for itself, with every host":          {everything, nil, api, gate.Allow, "cors_proxy"},
		"a call, but only that host":           {web(gate.Allow, name), asked, other, gate.Deny, ""},
		"a call, but not that host":            {web(gate.Deny, name), asked, api, gate.Deny, "may not connect"},
		"where the rule of the call is about":  {nil, on(is, name), api, gate.Allow, ""},
		"below what the rule is about":         {nil, on(suffix, "example.org"), api, gate.Allow, ""},
		"elsewhere than the rule of the call":  {nil, on(is, name), other, gate.Deny, "api.example.org alone"},
		"what only looks like it":              {nil, on(suffix, "ample.org"), api, gate.Deny, "alone"},
		"elsewhere, with every host":           {everything, on(is, name), other, gate.Deny, "alone"},
		"elsewhere, with that host":            {web(gate.Allow, "example.net"), on(is, name), other, gate.Allow, ""},
		"a rule about something else":          {nil, call(few), api, gate.Allow, ""},
		"this computer, for a call":            {nil, asked, "http://127.0.0.1:8000", gate.Deny, ""},
		"this computer, with every host":       {everything, asked, "http://localhost:8000", gate.Deny, ""},
		"where clouds keep credentials":        {everything, asked, "http://169.254.169.254:80", gate.Deny, "metadata"},
		"a rule of processes is none of these": {allowed("example.net"), nil, other, gate.Deny, ""},
	} {
		t.Run(title, func(t *testing.T) {
			g := approvedNotes(t, gate.Web)
			if c.rules != nil {
				c.rules(t, g)
			}
			var within []gate.Call
			if c.within != nil {
				within = c.within(t, g)
			}
			on := gate.Connection{Plugin: "notes", URL: c.url, Permission: gate.Web, Within: within}
			d, _ := g.Connect(t.Context(), on)
			last := d.Path[len(d.Path)-1]
			if d.Effect != c.effect || !strings.Contains(last.Why, c.why) {
				t.Errorf("%s: %s", d.Effect, last)
			}
			if d.Effect == gate.Allow && !g.Stands(on, d) {
				t.Error("what was allowed does not stand")
			}
			must(t, g.Reach.AllowHost(t.Context(), "notes", gate.Web, gate.Allow, gate.HostIs, "elsewhere.example"))
			if stands := g.Stands(on, d); title == "for a call that was allowed" && stands {
				t.Error("it stands though the person named another host since")
			}
			must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Web, gate.Deny))
			if d.Effect == gate.Allow && g.Stands(on, d) {
				t.Error("it stands though the permission was taken back")
			}
		})
	}
}

// A rule about a host names no caller; what a plugin would send for a member's call is
// refused unless the person allowed that call itself to send.
func TestAMembersCallSendsNowhereThatIsAllowedForThePlugin(t *testing.T) {
	ada := gate.Call{ID: "c", Caller: "member:ada", Capabilities: []gate.Capability{gate.Compute}}
	sends := ada
	sends.Capabilities = []gate.Capability{gate.Compute, gate.Fetch, gate.SendWeb}
	for name, c := range map[string]struct {
		rules      rules
		permission string
		within     []gate.Call
		effect     gate.Effect
	}{
		"a host":                {allowed("api.example.org"), gate.Network, []gate.Call{ada}, gate.Deny},
		"every host":            {whole, gate.Network, []gate.Call{ada}, gate.Deny},
		"with the main model":   {whole, gate.Network, []gate.Call{{Caller: gate.Main}, ada}, gate.Deny},
		"the web, for the call": {nil, gate.Web, []gate.Call{ada}, gate.Deny},
		"a call that may send":  {whole, gate.Network, []gate.Call{sends}, gate.Allow},
		"the same, for scripts": {nil, gate.Web, []gate.Call{sends}, gate.Allow},
		"no member":             {whole, gate.Network, []gate.Call{{Caller: gate.Main}}, gate.Allow},
	} {
		g := approvedNotes(t, gate.Web)
		if c.rules != nil {
			c.rules(t, g)
		}
		d, _ := g.Connect(t.Context(), gate.Connection{
			Plugin: "notes", URL: "https://api.example.org:443", Permission: c.permission, Within: c.within,
		})
		refused := d.Reason == "council members may not send to the web"
		if d.Effect != c.effect || refused != (c.effect == gate.Deny) {
			t.Errorf("%s: %s, %s", name, d.Effect, d.Reason)
		}
	}
}

// The person was told that nothing isolates the plugin, so their yes to the call is one to what
// it sends: to hosts that the plugin may, as for the main model's calls.
func TestAYesToAMembersCallOfWhatNothingIsolatesHoldsForWhatItSends(t *testing.T) {
	g, c := trusted(t, gate.Options{}, func(v *gate.PluginVersion) {
		v.Isolation, v.Permissions = "process", []string{gate.Web}
	})
	a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
	call := request(c)
	call.Caller, call.Asker = "member:ada", a
	d := g.Decide(t.Context(), call)
	if d.Effect != gate.Allow || len(a.asked) != 1 || !strings.Contains(a.asked[0].Reason, "nothing isolates it") {
		t.Fatalf("%+v, asked %+v", d, a.asked)
	}
	call.Capabilities = d.Capabilities
	on := gate.Connection{
		Plugin: c.Plugin, URL: "https://api.example.org:443", Permission: gate.Web, Within: []gate.Call{call},
	}
	if sends, _ := g.Connect(t.Context(), on); sends.Effect != gate.Allow {
		t.Errorf("it is %s: %s", sends.Effect, sends.Why)
	}
	must(t, g.Reach.AllowHost(t.Context(), c.Plugin, gate.Web, gate.Deny, gate.HostIs, "api.example.org"))
	if sends, _ := g.Connect(t.Context(), on); sends.Effect != gate.Deny {
		t.Errorf("to a host that the plugin may not: %s", sends.Why)
	}
}
