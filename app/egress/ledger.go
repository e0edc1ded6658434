package egress

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Sending is how much was sent to a host.
type Sending struct {
	Host  string
	Bytes int64
}

// ledger counts what is sent for each call that is under way.
type ledger struct {
	mu    sync.Mutex // guards calls
	calls map[string]map[string]*atomic.Int64
}

// The most calls that a ledger has, and hosts of one of them.
const (
	maxCalls = 1000
	maxHosts = 64
)

// counter returns what counts the bytes to a host for a call, nil for none.
func (l *ledger) counter(call, host string) *atomic.Int64 {
	if call == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	hosts := l.calls[call]
	if hosts == nil {
		if len(l.calls) >= maxCalls {
			return nil
		}
		if l.calls == nil {
			l.calls = map[string]map[string]*atomic.Int64{}
		}
		hosts = map[string]*atomic.Int64{}
		l.calls[call] = hosts
	}
	if hosts[host] == nil && len(hosts) < maxHosts {
		hosts[host] = new(atomic.Int64)
	}
	return hosts[host]
}

// Take returns how much was sent so far for a call, by host, and forgets it.
func (p *Proxy) Take(call string) []Sending {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	hosts := p.ledger.calls[call]
	delete(p.ledger.calls, call)
	var all []Sending
	for _, host := range slices.SortedFunc(maps.Keys(hosts), strings.Compare) {
		all = append(all, Sending{host, hosts[host].Load()})
	}
	return all
}
