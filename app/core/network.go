package core

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/egress"
	"conclave/app/limit"
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
	c.Preview = func(ctx context.Context) *permit.Preview { return n.preview(ctx, to) }
	ctx, answered := n.c.Host.During(ctx, id)
	defer answered()
	d, private := n.c.Gate.Connect(ctx, c)
	return egress.Verdict{
		Allow: d.Effect == permit.Allow && ctx.Err() == nil, Private: private, Reason: d.Reason, Call: behalf.ID,
		Stands: func() bool { return n.c.Gate.Stands(c, d) },
	}
}

// shownBody is how much of a body a person is shown before it is sent.
const shownBody = 16 << 10

// preview returns the request that waits to be sent to a host, without secrets.
func (n network) preview(ctx context.Context, to egress.Target) *permit.Preview {
	r := to.Request
	if r == nil {
		return &permit.Preview{Words: "What it sends there is encrypted: Conclave cannot show it, and counts the bytes."}
	}
	mask, err := n.c.maskUnasked(ctx)
	if err != nil {
		n.c.Log.Warn("a request cannot be shown before it is sent, since the secrets are not known", "err", err)
		return nil
	}
	said := []string{r.Method + " " + r.URL.RequestURI()}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if value := strings.Join(r.Header[name], ", "); secretHeader.MatchString(name) {
			said = append(said, name+": (not shown)")
		} else if !strings.HasPrefix(name, "Proxy-") {
			said = append(said, name+": "+value)
		}
	}
	switch body, size := bodyOf(r); {
	case size == 0:
	case body == "" && size < 0:
		said = append(said, "", "and what it writes after that, whose length it does not say")
	case body == "":
		said = append(said, "", "and "+limit.Size(size)+" that cannot be read before they are sent")
	case !utf8.ValidString(body):
		said = append(said, "", "and "+limit.Size(size)+" that are no text")
	default:
		said = append(said, "", body)
		if int64(len(body)) < size {
			said = append(said, "and "+limit.Size(size-int64(len(body)))+" more")
		}
	}
	return permit.Sending(mask(strings.Join(said, "\n")))
}

// secretHeader matches the names of headers that hold keys and passwords.
var secretHeader = regexp.MustCompile(`(?i)auth|cookie|key|token|secret|password|signature`)

// bodyOf returns the beginning of what a request sends, as far as it can be read without
// sending it, and how long it is; less than 0 where that is not known.
func bodyOf(r *http.Request) (text string, size int64) {
	size = r.ContentLength
	if r.GetBody == nil || size == 0 {
		return "", size
	}
	body, err := r.GetBody()
	if err != nil {
		return "", size
	}
	defer body.Close()
	read, err := io.ReadAll(io.LimitReader(body, shownBody))
	if err != nil {
		return "", size
	}
	for !utf8.Valid(read) && int64(len(read)) < size && len(read) > shownBody-utf8.UTFMax { // cut within a character
		read = read[:len(read)-1]
	}
	return string(read), size
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
