package permit_test

import (
	"slices"
	"strings"
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
			must(t, g.Reach.SetPermission(t.Context(), "notes", "local_network", permit.Allow))
		}, "http://192.168.0.1:80", permit.Allow, true},
		"all taken back": {func(t *testing.T, g *permit.Gate) {
			allowed("api.example.org")(t, g)
			must(t, g.Reach.SetPermission(t.Context(), "notes", permit.Network, permit.Deny))
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
			if granted, _ := g.Reach.Permissions("notes"); c.effect == permit.Allow &&
				!slices.Contains(granted, permit.Network) {
				t.Errorf("granted %v", granted)
			}
		})
	}
}

// rules make one that a case is about.
type rules = func(*testing.T, *permit.Gate)

func hosts(effect permit.Effect, op permit.Op, host string) rules {
	return func(t *testing.T, g *permit.Gate) {
		must(t, g.Reach.AllowHost(t.Context(), "notes", permit.Network, effect, op, host))
	}
}

func allowed(host string) rules { return hosts(permit.Allow, permit.HostIs, host) }
func denied(host string) rules  { return hosts(permit.Deny, permit.HostIs, host) }
func below(host string) rules   { return hosts(permit.Allow, permit.HostSuffix, host) }

func whole(t *testing.T, g *permit.Gate) {
	t.Helper()
	must(t, g.Reach.SetPermission(t.Context(), "notes", permit.Network, permit.Allow))
}

// approvedNotes is a gate that approved a plugin.
func approvedNotes(t *testing.T, permissions ...string) *permit.Gate {
	t.Helper()
	g, err := permit.Open(t.Context(), permit.Options{})
	must(t, err)
	v := permit.PluginVersion{
		Plugin: "notes", Name: "Notes", Dialect: "functions", Isolation: "process+landlock", Code: "c",
		Permissions: permissions,
	}
	g.Approvals.Status(v)
	must(t, g.Approvals.Approve(t.Context(), v, permit.ApproveOptions{}))
	return g
}

// What Conclave fetches for a script is decided like connections: by hosts, by the rules
// that allowed the calls it is for, and by the approval of a plugin that asks for the web.
func TestWhatAScriptFetchesIsDecidedByHost(t *testing.T) {
	const name, api, other = "api.example.org", "https://api.example.org:443", "https://example.net:443"
	call := func(matches ...permit.Match) func(*testing.T, *permit.Gate) []permit.Call {
		return func(t *testing.T, g *permit.Gate) []permit.Call {
			t.Helper()
			rule, err := g.Rules.Add(t.Context(), permit.Rule{
				Effect: permit.Allow, Plugin: "notes", Tool: "*", Scope: permit.Always, Match: matches,
				Callers: []permit.Caller{permit.Main},
			})
			must(t, err)
			return []permit.Call{{ID: "c", Rule: rule.ID}}
		}
	}
	asked := func(*testing.T, *permit.Gate) []permit.Call { return []permit.Call{{ID: "c"}} }
	on := func(op permit.Op, host string) func(*testing.T, *permit.Gate) []permit.Call {
		return call(permit.Match{Field: "url", Op: op, Value: host})
	}
	few := permit.Match{Field: "n", Op: permit.AtMost, Value: "2"}
	is, suffix := permit.HostIs, permit.HostSuffix
	web := func(effect permit.Effect, host string) rules {
		return func(t *testing.T, g *permit.Gate) {
			must(t, g.Reach.AllowHost(t.Context(), "notes", permit.Web, effect, permit.HostIs, host))
		}
	}
	everything := func(t *testing.T, g *permit.Gate) {
		must(t, g.Reach.SetPermission(t.Context(), "notes", permit.Web, permit.Allow))
	}
	for title, c := range map[string]struct {
		rules  rules
		within func(*testing.T, *permit.Gate) []permit.Call
		url    string
		effect permit.Effect // deny: nobody is there to be asked
		why    string
	}{
		"for a call that was allowed":          {nil, asked, api, permit.Allow, "you allowed the call that it is for"},
		"for itself":                           {nil, nil, api, permit.Deny, "send to the web"},
		"for itself, with that host":           {web(permit.Allow, name), nil, api, permit.Allow, "api.example.org"},
		"for itself, with every host":          {everything, nil, api, permit.Allow, "cors_proxy"},
		"a call, but only that host":           {web(permit.Allow, name), asked, other, permit.Deny, ""},
		"a call, but not that host":            {web(permit.Deny, name), asked, api, permit.Deny, "may not connect"},
		"where the rule of the call is about":  {nil, on(is, name), api, permit.Allow, ""},
		"below what the rule is about":         {nil, on(suffix, "example.org"), api, permit.Allow, ""},
		"elsewhere than the rule of the call":  {nil, on(is, name), other, permit.Deny, "api.example.org alone"},
		"what only looks like it":              {nil, on(suffix, "ample.org"), api, permit.Deny, "alone"},
		"elsewhere, with every host":           {everything, on(is, name), other, permit.Deny, "alone"},
		"elsewhere, with that host":            {web(permit.Allow, "example.net"), on(is, name), other, permit.Allow, ""},
		"a rule about something else":          {nil, call(few), api, permit.Allow, ""},
		"this computer, for a call":            {nil, asked, "http://127.0.0.1:8000", permit.Deny, ""},
		"this computer, with every host":       {everything, asked, "http://localhost:8000", permit.Deny, ""},
		"where clouds keep credentials":        {everything, asked, "http://169.254.169.254:80", permit.Deny, "metadata"},
		"a rule of processes is none of these": {allowed("example.net"), nil, other, permit.Deny, ""},
	} {
		t.Run(title, func(t *testing.T) {
			g := approvedNotes(t, permit.Web)
			if c.rules != nil {
				c.rules(t, g)
			}
			var within []permit.Call
			if c.within != nil {
				within = c.within(t, g)
			}
			on := permit.Connection{Plugin: "notes", URL: c.url, Permission: permit.Web, Within: within}
			d, _ := g.Connect(t.Context(), on)
			last := d.Path[len(d.Path)-1]
			if d.Effect != c.effect || !strings.Contains(last.Why, c.why) {
				t.Errorf("%s: %s", d.Effect, last)
			}
			if d.Effect == permit.Allow && !g.Stands(on, d) {
				t.Error("what was allowed does not stand")
			}
			must(t, g.Reach.AllowHost(t.Context(), "notes", permit.Web, permit.Allow, permit.HostIs, "elsewhere.example"))
			if stands := g.Stands(on, d); title == "for a call that was allowed" && stands {
				t.Error("it stands though the person named another host since")
			}
			must(t, g.Reach.SetPermission(t.Context(), "notes", permit.Web, permit.Deny))
			if d.Effect == permit.Allow && g.Stands(on, d) {
				t.Error("it stands though the permission was taken back")
			}
		})
	}
}

// A rule about a host names no caller; what a plugin would send for a member's call is
// refused unless the person allowed that call itself to send.
func TestAMembersCallSendsNowhereThatIsAllowedForThePlugin(t *testing.T) {
	ada := permit.Call{ID: "c", Caller: "member:ada", Capabilities: []permit.Capability{permit.Compute}}
	sends := ada
	sends.Capabilities = []permit.Capability{permit.Compute, permit.Fetch, permit.SendWeb}
	for name, c := range map[string]struct {
		rules      rules
		permission string
		within     []permit.Call
		effect     permit.Effect
	}{
		"a host":                {allowed("api.example.org"), permit.Network, []permit.Call{ada}, permit.Deny},
		"every host":            {whole, permit.Network, []permit.Call{ada}, permit.Deny},
		"with the main model":   {whole, permit.Network, []permit.Call{{Caller: permit.Main}, ada}, permit.Deny},
		"the web, for the call": {nil, permit.Web, []permit.Call{ada}, permit.Deny},
		"a call that may send":  {whole, permit.Network, []permit.Call{sends}, permit.Allow},
		"the same, for scripts": {nil, permit.Web, []permit.Call{sends}, permit.Allow},
		"no member":             {whole, permit.Network, []permit.Call{{Caller: permit.Main}}, permit.Allow},
	} {
		g := approvedNotes(t, permit.Web)
		if c.rules != nil {
			c.rules(t, g)
		}
		d, _ := g.Connect(t.Context(), permit.Connection{
			Plugin: "notes", URL: "https://api.example.org:443", Permission: c.permission, Within: c.within,
		})
		refused := d.Reason == "council members may not send to the web"
		if d.Effect != c.effect || refused != (c.effect == permit.Deny) {
			t.Errorf("%s: %s, %s", name, d.Effect, d.Reason)
		}
	}
}

// The person was told that nothing isolates the plugin, so their yes to the call is one to what
// it sends: to hosts that the plugin may, as for the main model's calls.
func TestAYesToAMembersCallOfWhatNothingIsolatesHoldsForWhatItSends(t *testing.T) {
	g, c := trusted(t, permit.Options{}, func(v *permit.PluginVersion) {
		v.Isolation, v.Permissions = "process", []string{permit.Web}
	})
	a := &asker{answer: permit.Answer{Effect: permit.Allow, Scope: permit.Once}}
	call := request(c)
	call.Caller, call.Asker = "member:ada", a
	d := g.Decide(t.Context(), call)
	if d.Effect != permit.Allow || len(a.asked) != 1 || !strings.Contains(a.asked[0].Reason, "nothing isolates it") {
		t.Fatalf("%+v, asked %+v", d, a.asked)
	}
	call.Capabilities = d.Capabilities
	on := permit.Connection{
		Plugin: c.Plugin, URL: "https://api.example.org:443", Permission: permit.Web, Within: []permit.Call{call},
	}
	if sends, _ := g.Connect(t.Context(), on); sends.Effect != permit.Allow {
		t.Errorf("it is %s: %s", sends.Effect, sends.Why)
	}
	must(t, g.Reach.AllowHost(t.Context(), c.Plugin, permit.Web, permit.Deny, permit.HostIs, "api.example.org"))
	if sends, _ := g.Connect(t.Context(), on); sends.Effect != permit.Deny {
		t.Errorf("to a host that the plugin may not: %s", sends.Why)
	}
}
