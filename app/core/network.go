package core

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"conclave/app/base/limit"
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

// shownBody bounds what a person is shown of a body before it is sent.
const shownBody = 16 << 10

// longestKey is read in addition, to find a key in which the shown part ends.
const longestKey = 8 << 10

// preview returns the request that waits to be sent to a host, without secrets.
func (n network) preview(ctx context.Context, to egress.Target) *gate.Preview {
	r := to.Request
	if r == nil {
		return &gate.Preview{Words: "What it sends there is encrypted: Conclave cannot show it, and counts the bytes."}
	}
	hide, err := mask{n.c}.unasked(ctx)
	if err != nil {
		n.c.Log.Warn("a request cannot be shown before it is sent, since the secrets are not known", "err", err)
		return nil
	}
	said := []string{r.Method + " " + r.URL.RequestURI()}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		switch value := strings.Join(r.Header[name], ", "); {
		case strings.HasPrefix(name, "Proxy-"): // said to Conclave, not to the host
		case secretHeader.MatchString(name):
			said = append(said, name+": ("+limit.Size(int64(len(value)))+", not shown)")
		default:
			said = append(said, name+": "+value)
		}
	}
	body, size := bodyOf(r)
	whole, rest := slices.Clone(said), ""
	switch {
	case size == 0:
	case body == "" && size < 0:
		rest = "and what it writes after that, whose length it does not say"
	case body == "":
		rest = "and " + limit.Size(size) + " that cannot be read before they are sent"
	case !utf8.ValidString(body):
		rest = "and " + limit.Size(size) + " that are no text"
		if size < 0 {
			rest = "and what is no text"
		}
	default:
		whole = append(whole, "", body)
		if len(body) > shownBody {
			body = text(body[:shownBody])
			rest = "and more"
		}
		said = append(said, "", body)
		if left := size - int64(len(body)); left > 0 {
			rest = "and " + limit.Size(left) + " more"
		}
	}
	shown := alike(hide(strings.Join(whole, "\n")), hide(strings.Join(said, "\n")))
	if rest != "" {
		shown += "\n" + rest
	}
	return gate.Sending(shown)
}

// alike returns the common beginning of two texts. A key that was cut, and so is masked in one of them
// only, is no part of it.
func alike(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return text(a[:n])
}

// text is s without a character that was cut at its end.
func text(s string) string {
	for n := 1; n <= utf8.UTFMax && n <= len(s); n++ {
		if last := s[len(s)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRuneInString(last) {
				return s
			}
			return s[:len(s)-n]
		}
	}
	return s
}

// secretHeader matches the names of headers that hold keys and passwords.
var secretHeader = regexp.MustCompile(`(?i)auth|cookie|key|token|secret|password|signature`)

// bodyOf returns the beginning of a request's body, as far as it can be read without sending it, and the
// body's length; less than 0 if that is not known. It is more than is shown, so that it has whole keys.
func bodyOf(r *http.Request) (body string, size int64) {
	size = r.ContentLength
	if r.GetBody == nil || size == 0 {
		return "", size
	}
	from, err := r.GetBody()
	if err != nil {
		return "", size
	}
	defer from.Close()
	read, err := io.ReadAll(io.LimitReader(from, shownBody+longestKey))
	if err != nil {
		return "", size
	}
	if body = string(read); int64(len(read)) != size {
		body = text(body)
	}
	return body, size
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

// besideTime is how long what plugins send outside calls is gathered for one entry.
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
		n.c.Store.Activity.RecordBeside(time.Now().UTC(), id, sent)
	}
}

// own reports whether Conclave itself listens at an address, apart from the proxy: where programs
// register tools, and where it serves profiles.
func (n network) own(at netip.AddrPort) bool {
	port := int(at.Port())
	return address.Here(at.Addr()) &&
		(n.c.HTTP.Listens(port) || n.c.profiler != nil && slices.Contains(n.c.profiler.Ports(), port))
}
