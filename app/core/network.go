package core

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/net/address"
	"conclave/app/net/egress"
	"conclave/app/plugin"
	"conclave/app/plugin/worker"
)

// network is the way out of plugins' processes: the gate decides about each host.
type network struct{ c *Core }

func newNetwork(c *Core) *egress.Proxy {
	n := network{c}
	return egress.New(egress.Options{
		Ask: n.ask, Report: n.report, Working: n.working, Beside: n.beside, Own: n.own, Inside: n.inside, Log: c.Log,
	})
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
	behalf := n.c.Host.Calls.Behalf(id, to.Call)
	if _, ok := n.port(id, to); ok {
		return egress.Verdict{Allow: true, Private: true, Call: behalf.ID}
	}
	c := gate.Connection{Plugin: id, URL: to.URL, Behalf: behalf, Within: n.c.Host.Calls.Working(id)}
	if to.Direct {
		c.Permission = gate.Web
	}
	c.Preview = func(ctx context.Context) *gate.Preview { return n.preview(ctx, to) }
	ctx, answered := n.c.Host.Calls.During(ctx, id)
	defer answered()
	d, private := n.c.Gate.Connect(ctx, c)
	return egress.Verdict{
		Allow: d.Effect == gate.Allow && ctx.Err() == nil, Private: private, Reason: d.Reason, Call: behalf.ID,
		Stands: func() bool { return n.c.Gate.Stands(c, d) },
	}
}

// port returns the address at which a process of the plugin itself listens, where that is the target.
func (n network) port(id string, to egress.Target) (netip.AddrPort, bool) {
	if to.Direct {
		return netip.AddrPort{}, false
	}
	for _, host := range []string{to.Host, "127.0.0.1", "::1"} {
		addr, err := netip.ParseAddr(host)
		if err != nil || to.Host != host && to.Host != "localhost" {
			continue
		}
		if at := netip.AddrPortFrom(addr, to.Port); worker.Listens(at, n.c.Host.Ports.Of(id)) {
			return at, true
		}
	}
	return netip.AddrPort{}, false
}

// inside connects to a port on which a process of the plugin itself listens.
func (n network) inside(id string, to egress.Target) (net.Conn, bool, error) {
	at, ok := n.port(id, to)
	if !ok {
		return nil, false, nil
	}
	c, err := worker.Dial(at, n.c.Host.Ports.Of(id))
	return c, true, err
}

// preview returns the request that waits to be sent to a host, without secrets.
func (n network) preview(ctx context.Context, to egress.Target) *gate.Preview {
	if to.Request == nil {
		return &gate.Preview{Words: "What it sends there is encrypted: Conclave cannot show it, and counts the bytes."}
	}
	hide, err := mask(n).unasked(ctx)
	if err != nil {
		n.c.Log.Warn("a request cannot be shown before it is sent, since the secrets are not known", "err", err)
		return nil
	}
	return gate.Sending(egress.Preview(to.Request, hide))
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

// working returns the names of the calls that a plugin works on.
func (n network) working(id string) []string {
	var all []string
	for _, call := range n.c.Host.Calls.Working(id) {
		all = append(all, call.ID)
	}
	return all
}

// besideTime is the time for which data that plugins send outside of calls is gathered into one entry.
const besideTime = 15 * time.Minute

// besides records what plugins sent outside calls. The zero value is ready.
type besides struct {
	mu     sync.Mutex // guards the fields below
	due    *time.Timer
	closed bool
	writes sync.WaitGroup // the timer that runs, or is to run
}

// beside has what is sent outside calls from now on recorded after a while.
func (n network) beside() {
	b := &n.c.besides
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due != nil || b.closed {
		return
	}
	b.writes.Add(1)
	b.due = time.AfterFunc(besideTime, func() {
		defer b.writes.Done()
		b.mu.Lock()
		b.due = nil
		b.mu.Unlock()
		n.recordBeside()
	})
}

// close records the rest, once nothing is sent any more.
func (b *besides) close(n network) {
	b.mu.Lock()
	b.closed = true
	if b.due != nil && b.due.Stop() {
		b.writes.Done()
	}
	b.mu.Unlock()
	b.writes.Wait()
	n.recordBeside()
}

// recordBeside records what each plugin sent outside calls.
func (n network) recordBeside() {
	for id, all := range n.c.egress.TakeBeside() {
		sent := make([]chat.Sending, len(all))
		for i, s := range all {
			sent[i] = chat.Sending(s)
		}
		n.c.Store.Activity.RecordSent(time.Now().UTC(), id, sent)
	}
}

// own reports whether Conclave itself listens at an address, apart from the proxy: where programs
// register tools, and where it serves profiles.
func (n network) own(at netip.AddrPort) bool {
	port := int(at.Port())
	return address.Here(at.Addr()) &&
		(n.c.HTTP.Listens(port) || n.c.profiler != nil && slices.Contains(n.c.profiler.Ports(), port))
}
