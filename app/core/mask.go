package core

import (
	"context"

	"conclave/app/base/fault"
	"conclave/app/base/keys"
	"conclave/app/model"
)

// Mask returns what takes secrets out of a text that leaves this computer: the keys of
// connections, the secrets that plugins keep, and whatever looks like a key.
func (c *Core) Mask(ctx context.Context) (func(string) string, error) {
	connections, err := c.Models.Connections(ctx)
	if err != nil {
		return nil, err
	}
	var secrets []string
	for _, v := range connections {
		if !v.HasKey {
			continue
		}
		key, err := c.Keys.GetFor(ctx, v.Name, v.Address())
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, key)
	}
	for _, s := range c.Host.List() {
		kept, err := c.Services.Secrets.All(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, kept...)
	}
	return func(text string) string { return model.Mask(text, secrets...) }, nil
}

// maskUnasked is Mask for what happens by itself: nobody is asked for the passphrase of
// the file with the keys. While nobody gave it, nothing here knows what the file holds.
func (c *Core) maskUnasked(ctx context.Context) (func(string) string, error) {
	if !c.Keys.NeedsPassphrase() {
		return c.Mask(ctx)
	}
	connections, err := c.Models.Connections(ctx)
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

// maskKnown takes the keys out of a text that were read or set since Conclave was started,
// and whatever looks like a key. It waits for nothing, so that calls can.
func (c *Core) maskKnown(text string) string { return model.Mask(text, c.Keys.Known()...) }
