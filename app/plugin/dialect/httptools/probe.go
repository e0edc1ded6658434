package httptools

import (
	"context"
	"encoding/json"
	"net/netip"
	"sync"
	"time"

	"conclave/app/net/loopback"
)

// maxFailed is the number of connections in a row an address may refuse before its
// registrations are dropped (contracts/neko, item 68).
const maxFailed = 3

// Start reads what is kept, and looks whether it answers: it returns once each address was
// looked at once. It does nothing when the pool is on.
func (p *Pool) Start(ctx context.Context) error {
	p.working.Lock()
	defer p.working.Unlock()
	p.mu.Lock()
	on := p.on
	p.mu.Unlock()
	if on || p.ctx.Err() != nil {
		return nil
	}
	records, err := p.o.Store.Registrations(ctx)
	if err != nil {
		return err
	}
	all, last := make(map[string]*Registration, len(records)), uint64(0)
	for id, raw := range records {
		var r Registration
		if err := json.Unmarshal(raw, &r); err != nil || r.id() != id || !mayCall(r.Address.Addr()) {
			p.o.Log.Warn("a registered tool cannot be read and is left out", "id", id, "err", err)
			continue
		}
		all[id], last = &r, max(last, r.Order)
	}
	p.mu.Lock()
	p.all, p.order, p.on = all, last, true
	clear(p.failed)
	addresses := p.unverified()
	p.mu.Unlock()
	p.lookAt(ctx, addresses)
	return p.verify(ctx)
}

// Stop withdraws what is registered from everybody. It is kept, and Start brings it back.
func (p *Pool) Stop(ctx context.Context) error {
	p.working.Lock()
	defer p.working.Unlock()
	p.mu.Lock()
	p.on = false
	p.all = map[string]*Registration{}
	changed := p.publish()
	p.mu.Unlock()
	return p.inform(ctx, changed)
}

// On reports whether the pool was started.
func (p *Pool) On() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.on
}

// unverified returns the addresses of registrations that are. The caller holds mu.
func (p *Pool) unverified() map[netip.AddrPort]bool {
	all := map[netip.AddrPort]bool{}
	for _, r := range p.all {
		if !r.live {
			all[r.Address] = true
		}
	}
	return all
}

// lookAt looks at addresses, all at once, and counts those that do not answer. It returns
// when each answered or failed to.
func (p *Pool) lookAt(ctx context.Context, addresses map[netip.AddrPort]bool) {
	var looks sync.WaitGroup
	slots := make(chan struct{}, 16)
	for at := range addresses {
		looks.Go(func() { // ends within connectTime
			slots <- struct{}{}
			defer func() { <-slots }()
			if meet(ctx, at) != nil || !p.recognized(at) {
				p.count(at, 1) // nobody has the port now, or somebody else
				return
			}
			p.count(at, 0)
		})
	}
	looks.Wait()
}

// recognized makes what is registered at an address that answers live, unless the program
// that answers is another than before, or the system should say which it is and does not.
// It reports whether nothing is unverified there.
func (p *Pool) recognized(at netip.AddrPort) bool {
	program := programAt(at)
	p.mu.Lock()
	defer p.mu.Unlock()
	all := true
	for id, r := range p.all {
		switch {
		case r.Address != at || r.live:
		case r.Listener != program && r.Listener != "" && loopback.Tells:
			all = false
		default:
			known := *r
			known.live = true
			p.put(id, &known)
		}
	}
	return all
}

// count notes that an address refused a connection once more (1), or took one (0), and has
// it looked at again while it is not known to answer.
func (p *Pool) count(at netip.AddrPort, failed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if failed == 0 {
		delete(p.failed, at)
		return
	}
	p.failed[at]++
	if p.probing[at] || p.failed[at] >= maxFailed || p.ctx.Err() != nil {
		return
	}
	p.probing[at] = true
	p.wg.Go(func() { p.probe(at) }) // ends when the address answers or is dropped, or with Close
}

// probe looks at an address again and again, until it answers or its registrations go.
func (p *Pool) probe(at netip.AddrPort) {
	for {
		select {
		case <-time.After(p.o.ProbeEvery):
		case <-p.ctx.Done():
			return
		}
		p.mu.Lock()
		again := p.failed[at] > 0 && p.failed[at] < maxFailed
		p.mu.Unlock()
		if again {
			p.lookAt(p.ctx, map[netip.AddrPort]bool{at: true})
		}
		p.mu.Lock()
		again = p.failed[at] > 0 && p.failed[at] < maxFailed
		if !again {
			delete(p.probing, at)
		}
		p.mu.Unlock()
		if again {
			continue
		}
		p.working.Lock()
		err := p.verify(p.ctx)
		p.working.Unlock()
		if err != nil && p.ctx.Err() == nil {
			p.o.Log.Warn("what an address registered could not be brought up to date", "address", at.String(), "err", err)
		}
		return
	}
}

// verify drops what addresses registered that failed too often, and publishes to the host what is
// live now. The caller holds working.
func (p *Pool) verify(ctx context.Context) error {
	change := map[string]*Registration{}
	p.mu.Lock()
	for at, n := range p.failed {
		if n < maxFailed {
			continue
		}
		for id, r := range p.all {
			if r.Address == at {
				change[id] = nil
			}
		}
		delete(p.failed, at)
	}
	if len(change) == 0 {
		changed := p.publish()
		p.mu.Unlock()
		return p.inform(ctx, changed)
	}
	p.mu.Unlock()
	p.o.Log.Info("registered tools are dropped: their address did not answer", "tools", len(change))
	return p.change(ctx, change)
}

// reached notes how a call's connection went. What failed for the last time is dropped in
// the background: the call that found out is waited for by whom it is dropped.
func (p *Pool) reached(at netip.AddrPort, ok bool) {
	if ok {
		p.count(at, 0)
		return
	}
	p.count(at, 1)
	p.mu.Lock()
	over := p.failed[at] >= maxFailed && p.ctx.Err() == nil
	if over {
		p.wg.Go(func() { // ends with the change
			p.working.Lock()
			defer p.working.Unlock()
			if err := p.verify(p.ctx); err != nil && p.ctx.Err() == nil {
				p.o.Log.Warn("what does not answer could not be dropped", "address", at.String(), "err", err)
			}
		})
	}
	p.mu.Unlock()
}
