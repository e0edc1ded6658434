package core

import (
	"context"

	"conclave/app/base/fault"
	"conclave/app/base/keys"
	"conclave/app/model"
)

// mask removes secrets from texts.
type mask struct{ c *Core }

// all returns a function that removes secrets from a text that leaves this computer: the keys of
// connections, the secrets of plugins, and whatever looks like a key.
func (m mask) all(ctx context.Context) (func(string) string, error) {
	connections, err := m.c.Models.Connections(ctx)
	if err != nil {
		return nil, err
	}
	var secrets []string
	for _, v := range connections {
		if !v.HasKey {
			continue
		}
		key, err := m.c.Keys.GetFor(ctx, v.Name, v.Address())
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, key)
	}
	for _, s := range m.c.Host.List() {
		kept, err := m.c.Services.Secrets.All(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, kept...)
	}
	return func(text string) string { return model.Mask(text, secrets...) }, nil
}

// unasked is all for what happens by itself: it asks nobody for the passphrase of the file with the
// keys. Until somebody gave it, nothing here knows the keys in the file.
func (m mask) unasked(ctx context.Context) (func(string) string, error) {
	if !m.c.Keys.NeedsPassphrase() {
		return m.all(ctx)
	}
	connections, err := m.c.Models.Connections(ctx)
	if err != nil {
		return nil, err
	}
	var secrets []string
	for _, v := range connections {
		if key := keys.FromEnvironment(v.Name); key != "" {
			secrets = append(secrets, key)
		}
	}
	return func(text string) string { return model.Mask(text, secrets...) }, nil
}

// known removes the keys from a text that were read or set since Conclave was started, and whatever
// looks like a key. It waits for nothing, so that calls can use it.
func (m mask) known(text string) string { return model.Mask(text, m.c.Keys.Known()...) }
