package loopback

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// connections keeps room for those who ask for something: of too many connections, the one
// that has been silent longest is closed. It is safe for concurrent use.
type connections struct {
	mu     sync.Mutex // guards the fields below
	open   map[net.Conn]bool
	silent []net.Conn // those that send no request, the oldest first
}

// changed implements http.Server.ConnState.
func (o *connections) changed(c net.Conn, to http.ConnState) {
	if oldest := o.note(c, to); oldest != nil {
		_ = oldest.Close() // its server sees that, and says so here
	}
}

// note takes up the state of a connection, and returns one that is to be closed, or nil.
func (o *connections) note(c net.Conn, to http.ConnState) net.Conn {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent = slices.DeleteFunc(o.silent, func(other net.Conn) bool { return other == c })
	switch to {
	case http.StateClosed, http.StateHijacked:
		delete(o.open, c)
		return nil
	case http.StateNew, http.StateIdle:
		o.silent = append(o.silent, c)
	case http.StateActive:
	}
	o.open[c] = true
	if len(o.open) <= maxOpen || len(o.silent) == 0 || o.silent[0] == c {
		return nil
	}
	oldest := o.silent[0]
	o.silent = o.silent[1:]
	return oldest
}
