package mcp

import (
	"context"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/auth"
	"conclave/app/plugin/dialect/mcp/config"
)

var _ plugin.SignsIn = (*Dialect)(nil)

// SignIn implements plugin.SignsIn.
func (d *Dialect) SignIn(ctx context.Context, id string, open func(ctx context.Context, address string) error) error {
	a, err := d.reached(id)
	if err != nil {
		return err
	}
	return a.SignIn(ctx, auth.Person{Open: open})
}

// SignOut implements plugin.SignsIn.
func (d *Dialect) SignOut(ctx context.Context, id string) error {
	a, err := d.reached(id)
	if err != nil {
		return err
	}
	return a.SignOut(ctx)
}

// SignedIn implements plugin.SignsIn.
func (d *Dialect) SignedIn(id string) string {
	if a := d.Account(id); a != nil {
		return a.SignedIn()
	}
	return ""
}

// foresee makes the account of a server that was not reached yet, so that the person can sign out of it. Where its
// sign-in uses settings, that has to wait.
func (d *Dialect) foresee(src plugin.Source, s config.Server) {
	if !s.Remote() || strings.Contains(s.URL, "${") {
		return
	}
	if o := s.OAuth; o != nil && strings.Contains(o.ClientID+o.ClientSecret, "${") {
		return
	}
	_, _ = d.accountOf(src.ID, src.Row, s) // the address is judged when it is reached
}

func (d *Dialect) reached(id string) (*auth.Account, error) {
	if a := d.Account(id); a != nil {
		return a, nil
	}
	return nil, fault.New(fault.NotFound, "mcp.signin", "There is nothing to sign in to at "+id+" yet.",
		"Approve it and switch it on first. A server that is a command, or has a key in its settings, has no sign-in.")
}
