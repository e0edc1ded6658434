package mcp

import (
	"context"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/auth"
)

var _ plugin.SignsIn = (*Dialect)(nil)

// SignIn implements plugin.SignsIn.
func (d *Dialect) SignIn(ctx context.Context, src plugin.Source, m plugin.Manifest,
	open func(ctx context.Context, address string) error,
) error {
	a, err := d.signing(src, m)
	if err != nil {
		return err
	}
	return a.SignIn(ctx, auth.Person{Open: open})
}

// SignOut implements plugin.SignsIn.
func (d *Dialect) SignOut(ctx context.Context, src plugin.Source, m plugin.Manifest) error {
	a, err := d.signing(src, m)
	if err != nil {
		return err
	}
	return a.SignOut(ctx)
}

// SignedIn implements plugin.SignsIn.
func (d *Dialect) SignedIn(id string) (service, need string) {
	if a := d.Account(id); a != nil {
		return a.SignedIn()
	}
	return "", ""
}

// signing returns the account of a server. One that was not reached since the start has none yet, and gets it
// unless its address or client is in its settings.
func (d *Dialect) signing(src plugin.Source, m plugin.Manifest) (*auth.Account, error) {
	if a := d.Account(src.ID); a != nil {
		return a, nil
	}
	s, waits := serverOf(m), false
	if s.OAuth != nil {
		waits = strings.Contains(s.OAuth.ClientID+s.OAuth.ClientSecret, "${")
	}
	switch {
	case !s.Remote():
		return nil, fault.New(fault.NotFound, "mcp.signin", s.Name+" has no sign-in.",
			"Only servers with an address have one.")
	case waits || strings.Contains(s.URL, "${"):
		return nil, fault.New(fault.Unavailable, "mcp.signin", s.Name+" was not reached since Conclave was started.",
			"Call one of its tools first.")
	}
	a, err := d.accountOf(src.ID, src.Row, s)
	if err == nil && a == nil {
		err = fault.New(fault.NotFound, "mcp.signin", s.Name+" has no sign-in: its configuration has a key.",
			"Take the header Authorization out of its entry first.")
	}
	return a, err
}
