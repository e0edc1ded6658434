package host

import (
	"context"
	"errors"
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
	// By plugin, the services that the person has to choose from.
	services map[string][]string
}

// In signs the person in to the service of a plugin, on their act alone, and loads the plugin again. It
// shows the page with open and waits until the person is done there, up to five minutes. A sign-in that is
// under way is joined, and its page is shown again. The error is a fault: of kind not_found where there is
// no such plugin or it wants no sign-in, and a *plugin.ServicesError where there are several services and how names
// none of them; they are in its status then.
func (s *SignIns) In(ctx context.Context, id string, how plugin.Signing) error {
	status, src, d, err := s.of(id)
	if err != nil {
		return err
	}
	if status.State == plugin.NeedsApproval || status.State == plugin.Quarantined {
		return fault.New(fault.NotAllowed, "plugins.signin", status.Manifest.Name+" waits for your approval.",
			"Approve it first: nothing is sent to it before.")
	}
	if err := s.in(ctx, d, src, status.Manifest, how); err != nil {
		return err
	}
	return s.h.Reload(id)
}

func (s *SignIns) in(ctx context.Context, d plugin.SignsIn, src plugin.Source, m plugin.Manifest,
	how plugin.Signing,
) error {
	id, open := src.ID, how.Open
	s.mu.Lock()
	page := s.pages[id]
	s.mu.Unlock()
	if page != "" {
		if err := open(ctx, page); err != nil {
			return err
		}
	}
	defer s.show(id, "")
	how.Open = func(ctx context.Context, address string) error {
		s.show(id, address)
		return open(ctx, address)
	}
	err := d.SignIn(ctx, src, m, how)
	several, choose := errors.AsType[*plugin.ServicesError](err)
	s.mu.Lock()
	switch {
	case choose:
		if s.services == nil {
			s.services = map[string][]string{}
		}
		s.services[id] = several.Services
	case err == nil:
		delete(s.services, id)
	}
	s.mu.Unlock()
	return err
}

// Out signs the person out of the service of a plugin, and loads the plugin again. The error reports that
// the service did not revoke the tokens; Conclave has forgotten them all the same.
func (s *SignIns) Out(ctx context.Context, id string) error {
	status, src, d, err := s.of(id)
	if err != nil {
		return err
	}
	err = d.SignOut(ctx, src, status.Manifest)
	if reload := s.h.Reload(id); err == nil {
		err = reload
	}
	return err
}

// of returns a plugin and its dialect, which signs in.
func (s *SignIns) of(id string) (plugin.Status, plugin.Source, plugin.SignsIn, error) {
	e, err := s.h.known(id)
	if err != nil {
		return plugin.Status{}, plugin.Source{}, nil, err
	}
	status := e.snapshot()
	d, ok := s.h.Dialects.named(status.Manifest.Dialect).(plugin.SignsIn)
	if !ok {
		err = fault.New(fault.NotFound, "plugins.signin", status.Manifest.Name+" has no sign-in.",
			"Only MCP servers with an address have one.")
	}
	return status, e.now().source, d, err
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

// describe adds to a status where the person is signed in, or why they have to be: a server may refuse a
// sign-in long after it was loaded, and serves again after the next one.
func (s *SignIns) describe(status *plugin.Status) {
	d, ok := s.h.Dialects.named(status.Manifest.Dialect).(plugin.SignsIn)
	if !ok {
		return
	}
	var need string
	status.SignedIn, need = d.SignedIn(status.ID)
	s.mu.Lock()
	status.SignInPage, status.SignInServices = s.pages[status.ID], s.services[status.ID]
	s.mu.Unlock()
	if need != "" && status.State == plugin.Ready && status.Problem == nil {
		status.Problem = &plugin.Problem{
			Kind: "sign-in", Message: need, Hint: "Sign in on its card, or with: conclave mcp login " + status.ID,
		}
	}
}
