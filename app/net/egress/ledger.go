package egress

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sending is the amount of data sent to a host.
type Sending struct {
	Host   string
	Bytes  int64
	Shared bool // other calls of the plugin ran meanwhile, and it is counted for each of them
}

// ledger counts what is sent: for each call that is under way, and for each plugin what it
// sends while it works on none.
type ledger struct {
	mu     sync.Mutex // guards the fields below
	calls  map[string]*account
	beside map[string]sums // by plugin
	looked time.Time       // when it looked for calls that are over
}

// account holds what was sent for a call.
type account struct {
	sums
	plugin string
	last   time.Time // when something was sent
}

// sums hold what was sent, by host.
type sums map[string]*Sending

// The most calls that a ledger has, and hosts of one of them.
const (
	maxCalls = 1000
	maxHosts = 64
)

// takenTime is within what time the account of a call that is over is taken: before that, hooks
// look at what the call came to, and may ask a person. One that is left then is of what was sent
// after it was taken.
const takenTime = time.Hour

// add counts bytes that are sent to a host now: for each of the calls, or outside of
// calls if there are none, or more than a ledger has. working is that of Options. It reports
// whether they are the first outside of calls.
func (l *ledger) add(plugin, host string, calls []string, n int64, working func(string) []string) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls, l.beside = map[string]*account{}, map[string]sums{}
	}
	counted := false
	for _, call := range calls {
		at := l.calls[call]
		if at == nil && l.room(working) {
			at = &account{sums: sums{}, plugin: plugin}
			l.calls[call] = at
		}
		if at != nil {
			at.last, counted = time.Now(), true
			at.note(host, n, len(calls) > 1)
		}
	}
	if counted {
		return false
	}
	first = len(l.beside) == 0
	if l.beside[plugin] == nil {
		l.beside[plugin] = sums{}
	}
	l.beside[plugin].note(host, n, false)
	return first
}

// room makes room for the account of one more call, and reports whether there is some. It
// forgets those of calls that are over, as far as that is known, and that nobody takes any
// longer; if there are too many, also the one whose last data was sent first.
func (l *ledger) room(working func(string) []string) bool {
	now, first := time.Now(), ""
	if len(l.calls) < maxCalls && now.Sub(l.looked) < takenTime {
		return true
	}
	l.looked = now
	for call, at := range l.calls {
		switch {
		case working != nil && slices.Contains(working(at.plugin), call):
		case now.Sub(at.last) > takenTime:
			delete(l.calls, call)
		case first == "" || at.last.Before(l.calls[first].last):
			first = call
		}
	}
	if len(l.calls) >= maxCalls && first != "" {
		delete(l.calls, first)
	}
	return len(l.calls) < maxCalls
}

func (s sums) note(host string, n int64, shared bool) {
	at := s[host]
	switch {
	case at == nil && len(s) >= maxHosts:
		return
	case at == nil:
		at = &Sending{Host: host}
		s[host] = at
	}
	at.Bytes += n
	at.Shared = at.Shared || shared
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
	at := p.ledger.calls[call]
	if at == nil {
		return nil
	}
	delete(p.ledger.calls, call)
	return at.sendings()
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
	if p.ledger.add(t.pass.plugin, t.host, calls, n, p.o.Working) && p.o.Beside != nil {
		p.o.Beside()
	}
}
