package permit

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"conclave/app/address"
	"conclave/app/tool"
)

// hostField is the field of a rule about hosts, and of what is asked of one.
const hostField = "host"

// connecting is the name of the tool that a connection is shown as; no tool has it.
const connecting = "(network)"

// Connection is one that a plugin's process wants to make.
type Connection struct {
	Plugin string
	URL    string // without a path: https://api.example.org, http://127.0.0.1:8000
	// Permission is the one it is made with: Network, which is that of an empty one, or Web.
	Permission string
	// Behalf is the call that the plugin is working on, as far as that is known. Of it
	// the chat, the turn and the asker count: that it could carry something out was
	// decided when it was allowed.
	Behalf Call
	// Within are the calls that the plugin works on: the connection may be for any of them.
	Within []Call
	// Preview returns what would be sent, once a person is asked; nil is not known.
	Preview func(context.Context) *Preview
}

// Connect decides about a connection of a plugin that has the permission for it: the
// person's rules about hosts first, which may ask. Where a rule about a host allowed a call
// that the plugin works on, being allowed every host is no more than that one. private reports that what allowed it
// was about this very address, so that it may be one of this computer or its network.
func (g *Gate) Connect(ctx context.Context, c Connection) (d Decision, private bool) {
	host, ok := hostOf(c.URL)
	if !ok {
		return Decision{Effect: Deny, By: "built-in", Why: "it names no host", Reason: "it names no host"}, false
	}
	call, private := g.Reach.connection(c, host)
	d = g.Decide(ctx, call).asAsked()
	return d, d.Effect == Allow && private
}

// Stands reports whether a connection that d allowed may go on: nothing denies it now,
// and what allowed it is still so.
func (g *Gate) Stands(c Connection, d Decision) bool {
	host, ok := hostOf(c.URL)
	if !ok {
		return false
	}
	call, _ := g.Reach.connection(c, host)
	return g.Decisions.stands(call, d)
}

// connection returns a connection as a call of the plugin's. private reports whether allowing
// it is about an address of this computer or its network.
func (r *Reach) connection(c Connection, host string) (call Call, private bool) {
	granted, _ := r.Permissions(c.Plugin)
	near := isNear(host)
	whole := slices.Contains(granted, localNetwork)
	arguments, err := json.Marshal(map[string]string{hostField: c.URL})
	if err != nil {
		arguments = json.RawMessage(`{}`) // no rule allows that
	}
	return Call{
		ID: newID("connection"), Caller: Caller("plugin:" + c.Plugin), Permission: cmp.Or(c.Permission, Network),
		within:    c.Within,
		Tool:      tool.Tool{Plugin: c.Plugin, Name: connecting, Title: "connect to " + host, Digest: connecting},
		Arguments: arguments, Capabilities: []Capability{Fetch, SendWeb}, Near: near && !whole,
		Conversation: c.Behalf.Conversation, Turn: c.Behalf.Turn, Asker: c.Behalf.Asker, Preview: c.Preview,
	}, near || whole
}

// isNear reports whether a host is an address of this computer or its own network, or
// a name that stands for this computer.
func isNear(host string) bool {
	name := withoutPort(host)
	if a, err := netip.ParseAddr(name); err == nil {
		return address.Private(a)
	}
	return name == "localhost"
}

// withoutPort is a host as hostOf returns it, without its port.
func withoutPort(host string) string {
	if at, err := netip.ParseAddrPort(host); err == nil {
		return at.Addr().String()
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// host returns the host that a rule about connections is about, for a person.
func (g Rule) host() (string, bool) {
	if !AboutHosts(g.Permission) || len(g.Match) != 1 || g.Match[0].Field != hostField {
		return "", false
	}
	return g.Match[0].shownHost(), true
}

// permissionRule is the rule that an answer about a connection or a file asks for: about
// its host or folder and no other, or about asking models.
func permissionRule(call Call, p Request, a Answer) Rule {
	rule := Rule{
		Effect: a.Effect, Plugin: call.Tool.Plugin, Permission: call.Permission, Scope: a.Scope, MadeFrom: p.ID,
	}
	switch call.Permission {
	case Filesystem:
		rule = openingRule(&call, rule)
	case Start:
		rule = startingRule(&call, rule)
	case Generation: // a “never”: nothing is narrower than that
	default:
		rule.Match = []Match{{Field: hostField, Op: HostIs, Value: hostAsked(&call)}}
	}
	rule.placed(p)
	return rule
}

func hostAsked(call *Call) string {
	var asked map[string]string
	if json.Unmarshal(call.Arguments, &asked) != nil {
		return ""
	}
	host, _ := hostOf(asked[hostField])
	return host
}

// AllowHost lets a plugin connect to a host, or denies it, in place of what was said of
// that host before. permission is Network or Web, and op HostIs or HostSuffix. It is the
// permission for that host alone: other hosts are asked about.
func (r *Reach) AllowHost(ctx context.Context, plugin, permission string, effect Effect, op Op, host string) error {
	if err := r.Usable(plugin, permission); err != nil {
		return err
	}
	m := Match{Field: hostField, Op: cmp.Or(op, HostIs), Value: host}
	rule := Rule{Effect: effect, Plugin: plugin, Permission: permission, Scope: Always, Match: []Match{m}}
	if err := r.places.ready(&rule); err != nil {
		return err
	}
	was := func(old *Rule) bool {
		if old.Permission != permission || len(old.Match) == 0 {
			return old.Permission == permission && old.Effect == Deny && effect == Allow
		}
		return len(old.Match) == 1 && old.Match[0].Equal(rule.Match[0])
	}
	if effect == "" {
		_, err := r.rules.revokeWhere(ctx, plugin, was)
		return err
	}
	return r.rules.replace(ctx, rule, was)
}

// anyHost decides about a connection to a host that no rule names. The person may have
// allowed the plugin every host, by whole, or approved one that asks for the web, for the
// calls that they allow. Neither is wider than the rules about hosts that allowed those.
func (c *check) anyHost(whole *Rule) ruling {
	var narrow []string
	for _, call := range c.call.within {
		rule := c.facts.book.rule(call.Rule)
		switch {
		case call.Rule == "":
			continue
		case rule == nil:
			return ruling{effect: Ask, why: "the rule that allowed the call was taken back"}
		}
		hosts, holds := rule.names(hostAsked(c.call))
		if holds && c.call.Permission == Web && !c.call.Near {
			return ruling{effect: Allow, why: "the rule that allowed the call is about this host", by: byCall}
		}
		if holds {
			narrow = nil
			break
		}
		narrow = append(narrow, hosts...)
	}
	switch {
	case whole == nil && !c.forCalls():
		return ruling{}
	case len(narrow) > 0:
		return ruling{effect: Ask, why: "the rule that allowed the call is about " + listed(narrow) + " alone"}
	case whole != nil:
		return c.allowedBy(whole)
	}
	return ruling{effect: Allow, why: "you allowed the call that it is for, and its plugin the web", by: byCall}
}

// byCall is the By of connections that were allowed with the call that they are for.
const byCall = "allowed call"

// forCalls reports whether the plugin may fetch from any host what the calls that it works
// on need.
func (c *check) forCalls() bool {
	return c.call.Permission == Web && len(c.call.within) > 0 && !c.call.Near && c.facts.approvedWeb(c.call.Tool.Plugin)
}

// names returns the hosts that the conditions of a rule about calls name, and whether this
// is one of them.
func (g Rule) names(host string) (hosts []string, holds bool) {
	for i, m := range g.Match {
		if m.Op != HostIs && m.Op != HostSuffix {
			continue
		}
		if i < len(g.conditions) {
			is, known := g.conditions[i].holds(item{text: host, isText: true, known: true})
			holds = holds || is && known
		}
		hosts = append(hosts, m.shownHost())
	}
	return hosts, holds
}

// Hosts returns the rules about hosts that a plugin may or may not connect to, as
// sentences.
func (r *Reach) Hosts(plugin string) []string {
	f := r.decisions.lock()
	defer r.decisions.unlock()
	var all []string
	for _, rule := range f.hostRules(plugin) {
		all = append(all, Sentence(rule, f.pluginName(plugin)))
	}
	return all
}

// HostRules returns the rules of Hosts.
func (r *Reach) HostRules(plugin string) []Rule {
	defer r.decisions.unlock()
	return r.decisions.lock().hostRules(plugin)
}

// behalfKey is that of the call a context is about.
type behalfKey struct{}

// WithBehalf returns a context that carries the call on whose behalf work is done.
func WithBehalf(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, behalfKey{}, c)
}

// Behalf returns the call on whose behalf work with ctx is done, if that is known.
func Behalf(ctx context.Context) (Call, bool) {
	c, ok := ctx.Value(behalfKey{}).(Call)
	return c, ok
}
