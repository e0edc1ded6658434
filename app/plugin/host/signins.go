package host

import (
	"context"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// SignIns are the person's sign-ins to the services that plugins use. Its methods are safe for concurrent
// use.
type SignIns struct {
	h *Host

	mu    sync.Mutex
	pages map[string]string // by plugin, the page of a sign-in that waits for the person
}

// In signs the person in to the service of a plugin, on their act alone, and loads the plugin again. It
// shows the page with open and waits until the person is done there, up to five minutes. A sign-in that is
// under way is joined, and its page is shown again. The error is a fault: of kind not_found where there is
// no such plugin or it wants no sign-in.
func (s *SignIns) In(ctx context.Context, id string, open func(ctx context.Context, address string) error) error {
	d, err := s.dialect(id)
	if err != nil {
		return err
	}
	if err := s.in(ctx, d, id, open); err != nil {
		return err
	}
	return s.h.Reload(id)
}

func (s *SignIns) in(ctx context.Context, d plugin.SignsIn, id string,
	open func(ctx context.Context, address string) error,
) error {
	s.mu.Lock()
	page := s.pages[id]
	s.mu.Unlock()
	if page != "" {
		if err := open(ctx, page); err != nil {
			return err
		}
	}
	defer s.show(id, "")
	return d.SignIn(ctx, id, func(ctx context.Context, address string) error {
		s.show(id, address)
		return open(ctx, address)
	})
}

// Out signs the person out of the service of a plugin, and loads the plugin again. The error reports that
// the service did not revoke the tokens; Conclave has forgotten them all the same.
func (s *SignIns) Out(ctx context.Context, id string) error {
	d, err := s.dialect(id)
	if err != nil {
		return err
	}
	err = d.SignOut(ctx, id)
	if reload := s.h.Reload(id); err == nil {
		err = reload
	}
	return err
}

func (s *SignIns) dialect(id string) (plugin.SignsIn, error) {
	status, err := s.h.Status(id)
	if err != nil {
		return nil, err
	}
	return s.of(status)
}

func (s *SignIns) of(status plugin.Status) (plugin.SignsIn, error) {
	if d, ok := s.h.Dialects.named(status.Manifest.Dialect).(plugin.SignsIn); ok {
		return d, nil
	}
	return nil, fault.New(fault.NotFound, "plugins.signin", status.Manifest.Name+" has no sign-in.",
		"Only MCP servers with an address have one.")
}

func (s *SignIns) show(id, page string) {
	s.mu.Lock()
	if page == "" {
		delete(s.pages, id)
	} else {
		s.pages[id] = page
	}
	s.mu.Unlock()
	s.h.o.Bus.Changed(bus.Plugins, "")
}

// state returns what the card of a plugin shows.
func (s *SignIns) state(id, dialect string) (service, page string) {
	if d, ok := s.h.Dialects.named(dialect).(plugin.SignsIn); ok {
		service = d.SignedIn(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return service, s.pages[id]
}
