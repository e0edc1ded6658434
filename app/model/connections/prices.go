package connections

import (
	"context"
	"net/url"

	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/cost"
)

// Prices returns the prices in force: the person's own rows, and the built-in ones.
func (m *Models) Prices(ctx context.Context) (cost.Table, error) {
	set, err := m.o.Settings.Settings(ctx)
	return cost.Default().With(set.Prices), err
}

// SetPrices replaces the person's own rows.
func (m *Models) SetPrices(ctx context.Context, own []cost.Price) error {
	_, err := m.o.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.Prices = own })
	return err
}

// Price returns u with its cost at that model, where that is known. A cost that the provider reported
// stays; models of this computer cost nothing, unless the person set a price.
func (m *Models) Price(model model.Info, u chat.Usage) chat.Usage {
	ctx := context.Background() // the settings are in memory
	table, err := m.Prices(ctx)
	if err != nil {
		return u
	}
	c, err := m.connection(ctx, model.Connection)
	if err != nil { // it was removed meanwhile
		return u
	}
	names, local := names(c, model.ID)
	if u = table.Fill(u, names...); u.Known() || !local {
		return u
	}
	u.Priced = cost.Local
	return u
}

// PriceOf returns what a model costs, by the table or else by its server's list; nil where neither says so.
func (m *Models) PriceOf(ctx context.Context, of model.Info) *model.Price {
	table, err := m.Prices(ctx)
	if err != nil {
		return of.Price
	}
	c, err := m.connection(ctx, of.Connection)
	if err != nil {
		return of.Price
	}
	all, _ := names(c, of.ID)
	if p, _, ok := table.Find(all...); ok {
		return &model.Price{Input: p.Input, Output: p.Output}
	}
	return of.Price
}

// names returns the names by which a row of prices may mean a connection's model, and whether it is a
// model of this computer.
func names(c model.Connection, m string) (names []string, local bool) {
	names = []string{c.Name + "/" + m}
	switch u, err := url.Parse(c.URL); {
	case c.Kind == "demo":
		return names, true
	case c.URL == "":
		return append(names, c.Kind+"/"+m), c.Kind == "ollama"
	case err == nil:
		return append(names, u.Hostname()+"/"+m), model.IsLoopback(u.Host)
	}
	return names, false
}
