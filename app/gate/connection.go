package gate

import (
	"cmp"
	"context"
	"slices"
)

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
// that the plugin works on, being allowed every host counts for that host only. private reports
// that it was allowed for exactly this address, so that it may be one of this computer or its network.
func (g *Gate) Connect(ctx context.Context, c Connection) (d Decision, private bool) {
	host, ok := hostOf(c.URL)
	if !ok {
		return refused("it names no host"), false
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
	whole := slices.Contains(granted, LocalNetwork)
	call = use(c.Plugin, cmp.Or(c.Permission, Network), map[string]string{hostField: c.URL}, c.Behalf, Fetch, SendWeb)
	call.within, call.Near, call.Preview = c.Within, near && !whole, c.Preview
	return call, near || whole
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
