package core

import (
	"context"

	"conclave/app/base/bus"
	"conclave/app/council"
	"conclave/store"
)

// councilSettings is the store of councils as the window and commands use it: what one of
// them changes, the others hear of.
type councilSettings struct {
	*store.Store
	bus *bus.Bus
}

// CouncilSettings returns where the window and commands set councils.
func (c *Core) CouncilSettings() council.Settings { return councilSettings{c.Store, c.Bus} }

// PutCouncil implements council.Settings.
func (s councilSettings) PutCouncil(ctx context.Context, scope council.Scope, set *council.Council) error {
	err := s.Store.PutCouncil(ctx, scope, set)
	if err == nil {
		s.bus.Changed(bus.Councils, "")
	}
	return err
}
