package core

import (
	"context"
	"net/netip"
	"slices"

	"conclave/app/chat"
	"conclave/app/egress"
	"conclave/app/permit"
	"conclave/app/plugin"
)

// network is the way out of plugins' processes: the gate decides about each host.
type network struct{ c *Core }

func newNetwork(c *Core) *egress.Proxy {
	n := network{c}
	return egress.New(egress.Options{Ask: n.ask, Report: n.report, Own: n.own, Log: c.Log})
}

// Admit implements host.Network.
func (n network) Admit(id string) (plugin.Proxy, func(), error) {
	pass, err := n.c.egress.Admit(id)
	if err != nil {
		return plugin.Proxy{}, nil, err
	}
	return plugin.Proxy{Address: pass.Address(), URL: pass.URL()}, pass.Close, nil
}

func (n network) ask(ctx context.Context, id string, to egress.Target) egress.Verdict {
	behalf := n.c.Host.Behalf(id, to.Call)
	c := permit.Connection{Plugin: id, URL: to.URL, Behalf: behalf, Within: n.c.Host.Working(id)}
	if to.Direct {
		c.Permission = permit.Web
	}
	d, private := n.c.Gate.Connect(ctx, c)
	return egress.Verdict{
		Allow: d.Effect == permit.Allow, Private: private, Reason: d.Reason, Call: behalf.ID,
		Stands: func() bool { return n.c.Gate.Stands(c, d) },
	}
}

// Recheck implements host.Network.
func (n network) Recheck() { n.c.egress.Recheck() }

// report writes into a plugin's log what it sent where.
func (n network) report(t egress.Traffic) {
	level := "info"
	if t.Refused != "" {
		level = "warn"
	}
	n.c.Host.WriteLog(t.Plugin, level, t.Sentence())
}

// sent returns what a plugin sent for a call that has ended.
func (n network) sent(call string) []chat.Sending {
	var all []chat.Sending
	for _, s := range n.c.egress.Take(call) {
		all = append(all, chat.Sending(s))
	}
	return all
}

// own reports where Conclave itself listens, but for the proxy: where programs register
// tools.
func (n network) own(at netip.AddrPort) bool {
	return at.Addr().Unmap().IsLoopback() && slices.Contains(n.c.HTTP.server.Ports(), int(at.Port()))
}
