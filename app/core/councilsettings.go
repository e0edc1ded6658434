package core

import (
	"context"

	"conclave/app/base/bus"
	"conclave/app/chat/responder"
	"conclave/app/council"
	"conclave/store"
)

// councilSettings are the councils as the window and commands use them. It publishes what one of
// them changes.
type councilSettings struct {
	*store.Councils
	bus *bus.Bus
}

// CouncilSettings returns where the window and commands set councils.
func (c *Core) CouncilSettings() council.Settings { return councilSettings{c.Store.Councils, c.Bus} }

// Responder returns who chooses the model and the council of the chats in a store.
func (c *Core) Responder(s responder.Store) responder.Chooser {
	return responder.Chooser{Store: s, Models: c.Models, Councils: c.Councils, Settings: c.CouncilSettings()}
}

// PutCouncil implements council.Settings.
func (s councilSettings) PutCouncil(ctx context.Context, scope council.Scope, set *council.Council) error {
	err := s.Councils.PutCouncil(ctx, scope, set)
	if err == nil {
		s.bus.Changed(bus.Councils, "")
	}
	return err
}
