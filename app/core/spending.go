package core

import (
	"context"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/cost"
	"conclave/store"
)

// spending bounds what plugins have models cost by what the person set.
type spending struct {
	*store.Plugins
	c *Core
}

// Cap implements service.Spending.
func (s spending) Cap() cost.Cap {
	set, err := s.c.Settings.Settings(context.Background()) // the settings are in memory
	if err != nil {
		return cost.Cap{}
	}
	return set.PluginCap()
}

// Price implements service.Spending.
func (s spending) Price(model model.Info, u chat.Usage) chat.Usage {
	return s.c.Models.Price(model, u)
}

// Charge implements service.Spending.
func (s spending) Charge(model model.Info, u chat.Usage) chat.Usage { return s.c.charge(model, u) }

// More implements service.Spending.
func (s spending) More(ctx context.Context, id, why string) error {
	ctx, answered := s.c.Host.Calls.During(ctx, id)
	defer answered()
	d := s.c.Gate.Spend(ctx, id, why, s.c.Host.Calls.Behalf(id, ""))
	if d.Effect == gate.Allow {
		return nil
	}
	return fault.New(fault.NotAllowed, "core.spending", "PERMISSION_DENIED: generation – "+why+": "+d.Reason+
		". Set what it may: conclave models cap DOLLARS.", "")
}
