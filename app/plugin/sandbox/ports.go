package sandbox

import (
	"context"
	"net/netip"
	"slices"
	"sync"
)

// Bounds of the sockets, and of the connections that wait, of one plugin.
const (
	maxPorts       = 256
	maxConnections = 4096
)

// Ports are the ports of this computer on which the processes of one plugin listen. Conclave makes
// each connection to them, so that it knows whose it is. The zero value is ready; it is safe for
// concurrent use.
type Ports struct {
	mu    sync.Mutex // guards the fields below
	bound []boundSocket
	made  []connection

	// Listens is held while a socket begins to listen, and while somebody is connected to one. Accepts is
	// held while a connection is taken.
	Listens, Accepts sync.Mutex
}

// boundSocket is a socket by its inode, and the address that it got.
type boundSocket struct {
	inode uint64
	at    netip.AddrPort
}

// connection is one that Conclave made, and that was not accepted yet.
type connection struct{ from, to netip.AddrPort }

// PortsByPlugin holds the Ports of each plugin. The zero value is ready; it is safe for concurrent use.
type PortsByPlugin struct {
	mu sync.Mutex
	of map[string]*Ports
}

// Of returns the ports of a plugin.
func (p *PortsByPlugin) Of(plugin string) *Ports {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]*Ports{}
	}
	if p.of[plugin] == nil {
		p.of[plugin] = &Ports{}
	}
	return p.of[plugin]
}

// Bound notes that a socket got an address. Of too many, those that hold reports false of are
// forgotten, and then the oldest.
func (p *Ports) Bound(inode uint64, at netip.AddrPort, listens func(inode uint64, at netip.AddrPort) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.bound) >= maxPorts {
		p.bound = slices.DeleteFunc(p.bound, func(s boundSocket) bool { return !listens(s.inode, s.at) })
	}
	if len(p.bound) >= maxPorts {
		p.bound = slices.Delete(p.bound, 0, 1)
	}
	p.bound = append(p.bound, boundSocket{inode, at})
}

// At returns the address of a socket.
func (p *Ports) At(inode uint64) (at netip.AddrPort, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.bound, func(s boundSocket) bool { return s.inode == inode })
	if i < 0 {
		return at, false
	}
	return p.bound[i].at, true
}

// Has reports whether a socket got an address; it may be closed by now.
func (p *Ports) Has(at netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.bound, func(s boundSocket) bool { return s.at == at })
}

// Making notes a connection that is about to be made.
func (p *Ports) Making(from, to netip.AddrPort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.made) >= maxConnections {
		p.made = slices.Delete(p.made, 0, 1)
	}
	p.made = append(p.made, connection{from, to})
}

// Take reports whether a connection was made by Conclave, and forgets it: once it is accepted, or has
// failed, somebody else may have its address.
func (p *Ports) Take(from, to netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.made, connection{from, to})
	if i < 0 {
		return false
	}
	p.made = slices.Delete(p.made, i, i+1)
	return true
}

// Forget forgets the connections to an address at which nobody has listened meanwhile.
func (p *Ports) Forget(to netip.AddrPort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = slices.DeleteFunc(p.made, func(c connection) bool { return c.to == to })
}

// Port is a port on which a process wants to listen.
type Port struct {
	At   netip.AddrPort
	Free bool // the process leaves it to the system which port it gets, which is that of At
}

// Listener decides about a port. It may block until ctx ends.
type Listener func(ctx context.Context, port Port) bool
