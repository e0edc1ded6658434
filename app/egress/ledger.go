package egress

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Sending is how much was sent to a host.
type Sending struct {
	Host   string
	Bytes  int64
	Shared bool // other calls of the plugin ran meanwhile, and it is counted for each of them
}

// ledger counts what is sent: for each call that is under way, and for each plugin what it
// sends while it works on none.
type ledger struct {
	mu     sync.Mutex // guards the fields below
	calls  map[string]sums
	beside map[string]sums // by plugin
}

// sums hold what was sent, by host.
type sums map[string]*Sending

// The most calls that a ledger has, and hosts of one of them.
const (
	maxCalls = 1000
	maxHosts = 64
)

// add counts bytes that are sent to a host now: for each of the calls, or beside all
// calls where there are none. It reports whether they are the first beside calls.
func (l *ledger) add(plugin, host string, calls []string, n int64) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls, l.beside = map[string]sums{}, map[string]sums{}
	}
	if len(calls) == 0 {
		first = len(l.beside) == 0
		note(l.beside, plugin, host, n, false)
		return first
	}
	for _, call := range calls {
		note(l.calls, call, host, n, len(calls) > 1)
	}
	return false
}

func note(all map[string]sums, of, host string, n int64, shared bool) {
	hosts := all[of]
	if hosts == nil {
		if len(all) >= maxCalls {
			for one := range all { // that nobody took
				delete(all, one)
				break
			}
		}
		hosts = sums{}
		all[of] = hosts
	}
	s := hosts[host]
	switch {
	case s == nil && len(hosts) >= maxHosts:
		return
	case s == nil:
		s = &Sending{Host: host}
		hosts[host] = s
	}
	s.Bytes += n
	s.Shared = s.Shared || shared
}

func (s sums) sendings() []Sending {
	var all []Sending
	for _, host := range slices.SortedFunc(maps.Keys(s), strings.Compare) {
		all = append(all, *s[host])
	}
	return all
}

// Take returns how much was sent so far for a call, by host, and forgets it.
func (p *Proxy) Take(call string) []Sending {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	hosts := p.ledger.calls[call]
	delete(p.ledger.calls, call)
	return hosts.sendings()
}

// TakeBeside returns how much each plugin sent so far while it worked on no call, by plugin and
// host, and forgets it.
func (p *Proxy) TakeBeside() map[string][]Sending {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	all := map[string][]Sending{}
	for plugin, hosts := range p.ledger.beside {
		all[plugin] = hosts.sendings()
	}
	p.ledger.beside = map[string]sums{}
	return all
}

// tally counts what one request or tunnel sends: for the calls that its plugin works on as it
// sends, since a connection may outlive the call that it was made for.
type tally struct {
	pass *Pass
	host string
	call string // that it is said to be for; counts alone while the plugin works on it
}

func (s *Pass) tally(to Target, v Verdict) *tally {
	t := &tally{pass: s, host: to.String()}
	if to.Direct || s.proxy.o.Working == nil {
		t.call = v.Call
	}
	return t
}

// count counts bytes that are about to be sent.
func (t *tally) count(n int64) {
	p := t.pass.proxy
	var calls []string
	if p.o.Working != nil {
		calls = p.o.Working(t.pass.plugin)
	}
	if t.call != "" && (p.o.Working == nil || slices.Contains(calls, t.call)) {
		calls = []string{t.call}
	}
	if p.ledger.add(t.pass.plugin, t.host, calls, n) && p.o.Beside != nil {
		p.o.Beside()
	}
}
