package mcpserver

import (
	"cmp"
	"context"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
)

// ownPort is the port that is open because the person wants it so while the window is.
type ownPort struct {
	mu      sync.Mutex // guards the fields below
	port    int        // 0 while it is closed
	address string
	stop    func()
	trouble error // why it is not open
}

// Follow opens and closes the port as the person wants it, until ctx ends. A port that another program has is
// tried again until it is free. The window calls it.
func (s *Server) Follow(ctx context.Context) {
	changed := s.o.Bus.Subscribe(bus.Settings)
	defer changed.Close()
	defer s.apply(context.WithoutCancel(ctx), 0)
	for {
		s.apply(ctx, s.wanted())
		wait, enough := ctx, context.CancelFunc(func() {})
		if _, trouble := s.Address(); trouble != nil {
			wait, enough = context.WithTimeout(ctx, s.TryAgain)
		}
		_, _ = changed.Next(wait)
		enough()
		if ctx.Err() != nil {
			return
		}
	}
}

// wanted returns the port that the person wants open; 0 is none.
func (s *Server) wanted() int {
	r := s.programs.now()
	if !r.Open {
		return 0
	}
	return cmp.Or(r.Port, DefaultPort)
}

// apply opens or closes the port.
func (s *Server) apply(ctx context.Context, wanted int) {
	s.own.mu.Lock()
	same, stop, was := s.own.port == wanted && s.own.trouble == nil, s.own.stop, s.own.trouble
	s.own.mu.Unlock()
	if same {
		return
	}
	if stop != nil {
		stop()
	}
	var address string
	var err error
	stop = nil
	if wanted != 0 {
		address, stop, err = s.Listen(ctx, wanted, Choices{})
	}
	s.own.mu.Lock()
	s.own.port, s.own.address, s.own.stop, s.own.trouble = wanted, address, stop, err
	if err != nil {
		s.own.port = 0
	}
	s.own.mu.Unlock()
	if err != nil && was != nil && err.Error() == was.Error() {
		return // it was logged
	}
	if err != nil {
		s.o.Log.Warn("the port for other programs could not be opened", "err", err)
	}
	s.o.Bus.Changed(bus.Settings, "")
}

// SetPort has the port open while the window is, or closed. A port of 0 is the usual one.
func (s *Server) SetPort(ctx context.Context, open bool, port int) error {
	if port != 0 && (port < 1024 || port > 65535) {
		return fault.New(fault.Invalid, "mcpserver.port", "The port cannot be that number.", "It is from 1024 to 65535.")
	}
	return s.programs.change(ctx, func(r *Record) error {
		r.Open, r.Port = open, port
		return nil
	})
}

// Port returns whether the person wants the port open while the window is, and which.
func (s *Server) Port() (open bool, port int) {
	r := s.programs.now()
	return r.Open, cmp.Or(r.Port, DefaultPort)
}

// Address returns where programs connect now; "" while the port is closed, and the error is why.
func (s *Server) Address() (string, error) {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	return s.own.address, s.own.trouble
}
