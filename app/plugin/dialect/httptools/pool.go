package httptools

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/net/loopback"
	"conclave/app/plugin"
)

// Store keeps registrations between runs; package store is the real one. Errors are
// *fault.Error.
type Store interface {
	Registrations(ctx context.Context) (map[string]json.RawMessage, error)
	// ChangeRegistrations writes and deletes (nil) records in one step.
	ChangeRegistrations(ctx context.Context, change map[string]json.RawMessage) error
}

// Host gets the plugins that there are; plugin/host is the real one.
type Host interface {
	SetRegistered(from string, all []plugin.Source) error
	WaitLoaded(ctx context.Context, names ...string) error
	Status(id string) (plugin.Status, error)
}

// Options configure a Pool. Store, Host and Roles are required.
type Options struct {
	Store Store
	Host  Host
	// Roles returns the names of the council members that there are.
	Roles func(ctx context.Context) ([]string, error)
	// Others returns the tools of N.E.K.O plugins of the plugins folder, and Call calls one.
	// Both may be nil.
	Others func() []Other
	Call   func(ctx context.Context, by string, o Other, arguments string) (Outcome, error)
	Log    *slog.Logger // nil discards
	// ProbeEvery is the pause between two looks at an address that did not answer; 0 is 30 s.
	ProbeEvery time.Duration
}

// Pool holds what programs registered. Nothing of it reaches a model, a member or a person
// but through the host of plugins, whose cards, approvals and switches are those of all
// plugins. Use New, then Start, and Close it before the host. It is safe for concurrent
// use.
//
// What is registered is kept. After a restart it is unverified: no model gets it
// until its address answers, with the program that answered before if the system knows
// which that is, or until it registers again. An address that three times in a row cannot
// be connected to loses its registrations.
type Pool struct {
	o       Options
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	working sync.Mutex // orders changes, and their publication to the host

	mu      sync.Mutex // guards the fields below
	all     map[string]*Registration
	order   uint64
	version uint64                  // of the newest registration
	failed  map[netip.AddrPort]int  // connections in a row that an address refused
	probing map[netip.AddrPort]bool // addresses that are looked at again and again
	on      bool
	built   map[string]group // what the host has, by plugin
}

// New returns a pool that is off: Start reads what is kept.
func New(o Options) *Pool {
	o.ProbeEvery = cmp.Or(o.ProbeEvery, 30*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool{
		o: o, all: map[string]*Registration{}, failed: map[netip.AddrPort]int{}, probing: map[netip.AddrPort]bool{},
		built: map[string]group{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background()) // its own: Close ends it
	return p
}

// Close ends the probes, and waits for them. What is registered stays with the host, which
// is closed next.
func (p *Pool) Close() {
	p.mu.Lock() // so that no probe begins after
	p.cancel()
	p.mu.Unlock()
	p.wg.Wait()
}

// roles returns all roles: that of the main model, and those of council members.
func (p *Pool) roles(ctx context.Context) ([]string, error) {
	members, err := p.o.Roles(ctx)
	if err != nil {
		return nil, err
	}
	all := []string{defaultRole}
	for _, name := range members {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all, nil
}

// tooManyTools refuses a registration over limit.Registrations.
const tooManyTools = "1,000 tools are registered, the most that are kept"

// errFull is the error of a registration for which there is no room.
func errFull(sentence string) error {
	return fault.New(fault.Conflict, "httptools.register", sentence, "")
}

// register takes a registration in place of what it replaces (contracts/neko, item 48):
// that of its source, name and role, and, for every role, those of its name for one. What
// it says already changes nothing.
func (p *Pool) register(ctx context.Context, r *Registration) error {
	p.working.Lock()
	defer p.working.Unlock()
	id := r.id()
	r.live = true
	change := map[string]*Registration{id: r}
	p.mu.Lock()
	before := p.all[id]
	if before != nil && before.live && before.same(r) && p.newest(before) {
		delete(p.failed, r.Address)
		p.mu.Unlock()
		return nil
	}
	if before == nil {
		if err := p.room(r); err != nil {
			p.mu.Unlock()
			return err
		}
	}
	p.order++
	r.Order = p.order
	for other, have := range p.all {
		switch {
		case have.Name != r.Name || other == id:
		case r.Role == "" && have.Role != "":
			change[other] = nil
		case r.Role == "" && len(have.NotFor) > 0: // registered for every role again
			again := *have
			again.NotFor = nil
			change[other] = &again
		}
	}
	delete(p.failed, r.Address)
	p.mu.Unlock()
	return p.change(ctx, change)
}

// full returns why there is no room for one more of any source, before anything is found
// out about it.
func (p *Pool) full(r *Registration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) < limit.Registrations || p.all[r.id()] != nil {
		return nil
	}
	return errFull(tooManyTools)
}

// newest reports whether no later registration has the name of r for its role. The caller
// holds mu.
func (p *Pool) newest(r *Registration) bool {
	for _, other := range p.all {
		if other.Name == r.Name && other.Order > r.Order && (other.Role == r.Role || r.Role == "") {
			return false
		}
	}
	return true
}

// room returns why there is none for one more. The caller holds mu.
func (p *Pool) room(r *Registration) error {
	if len(p.all) >= limit.Registrations {
		return errFull(tooManyTools)
	}
	groups, tools, size, known := map[string]bool{}, 0, len(r.Description)+len(r.Parameters), false
	for _, other := range p.all {
		id := other.plugin()
		groups[id] = true
		if id == r.plugin() {
			known = true
			tools++
			size += len(other.Description) + len(other.Parameters)
		}
	}
	switch {
	case tools >= limit.PluginTools:
		return fault.New(fault.Conflict, "httptools.register",
			"one source may register "+limit.Number(limit.PluginTools)+
				" tools at one address", "")
	case size > limit.RegistrationBytes:
		return errFull("the tools of this source have more than 2 MiB, the most that is kept")
	case !known && len(groups) >= limit.RegisteredPlugins:
		return errFull("100 sources have registered tools, the most that are kept")
	}
	return nil
}

// gone describes how many tools went for each role that lost one.
type gone map[string]int

// drop removes those registrations that are meant: all of them, or, with a role, those for that
// role, which the tools for every role are not for any more.
func (p *Pool) drop(ctx context.Context, role string, roles []string, meant func(*Registration) bool) (gone, error) {
	p.working.Lock()
	defer p.working.Unlock()
	change, removed := map[string]*Registration{}, gone{}
	p.mu.Lock()
	for _, each := range roles {
		if role != "" && each != role {
			continue
		}
		for _, r := range p.visible(each) {
			if meant(r) {
				removed[each]++
			}
		}
	}
	for id, r := range p.all {
		switch {
		case !meant(r):
		case role == "" || r.Role == role:
			change[id] = nil
		case r.isFor(role):
			less := *r
			less.NotFor = append(slices.Clone(r.NotFor), role)
			change[id] = &less
		}
	}
	p.mu.Unlock()
	if len(change) == 0 {
		return removed, nil
	}
	return removed, p.change(ctx, change)
}

// RolesChanged removes what is registered for roles that are no longer there: a member
// that was renamed or deleted (contracts/neko, item 70).
func (p *Pool) RolesChanged(ctx context.Context) error {
	p.working.Lock()
	defer p.working.Unlock()
	roles, err := p.roles(ctx)
	if err != nil {
		return err
	}
	change := map[string]*Registration{}
	p.mu.Lock()
	for id, r := range p.all {
		if r.Role != "" && !slices.Contains(roles, r.Role) {
			change[id] = nil
		}
	}
	p.mu.Unlock()
	if len(change) == 0 {
		return nil
	}
	return p.change(ctx, change)
}

// change writes and removes (nil) registrations, by id, and publishes them to the host. The caller
// holds working.
func (p *Pool) change(ctx context.Context, change map[string]*Registration) error {
	records := make(map[string]json.RawMessage, len(change))
	for id, r := range change {
		if r == nil {
			records[id] = nil
			continue
		}
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		records[id] = raw
	}
	if err := p.o.Store.ChangeRegistrations(ctx, records); err != nil {
		return err
	}
	p.mu.Lock()
	for id, r := range change {
		if r == nil {
			delete(p.all, id)
		} else {
			p.put(id, r)
		}
	}
	changed := p.publish()
	p.mu.Unlock()
	return p.inform(ctx, changed)
}

// put takes a registration that changed. The caller holds mu.
func (p *Pool) put(id string, r *Registration) {
	p.version++
	r.version = p.version
	p.all[id] = r
}

// visible returns what a role sees: of each name the tool for it alone, or else the one for
// every role, and of several the newest. They are in the order of registration. The caller
// holds mu.
func (p *Pool) visible(role string) []*Registration {
	best := map[string]*Registration{}
	for _, r := range p.all {
		if !r.isFor(role) {
			continue
		}
		have := best[r.Name]
		if have == nil || (have.Role == "") != (r.Role == "") && r.Role != "" ||
			(have.Role == "") == (r.Role == "") && r.Order > have.Order {
			best[r.Name] = r
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b *Registration) int { return cmp.Compare(a.Order, b.Order) })
}

// Row is a registered tool as a person and programs read it.
type Row struct {
	Registration
	Plugin string
	Live   bool
}

// Rows returns what is registered and visible to anybody, in the order of registration.
func (p *Pool) Rows(ctx context.Context) ([]Row, error) {
	roles, err := p.roles(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, rows := map[*Registration]bool{}, []Row{}
	for _, role := range roles {
		for _, r := range p.visible(role) {
			if !seen[r] {
				seen[r] = true
				rows = append(rows, Row{*r, r.plugin(), r.live})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Order, b.Order) })
	return rows, nil
}

// programAt names the program that listens at an address; empty if the system does not
// know. Whose it is, meet finds out.
func programAt(at netip.AddrPort) string {
	found, _ := loopback.Listening(at)
	return strings.TrimSpace(found.Name)
}
