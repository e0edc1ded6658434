package mcp

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/auth"
	"conclave/app/tool"
)

var _ plugin.SignsIn = (*Dialect)(nil)

// SignIn implements plugin.SignsIn.
func (d *Dialect) SignIn(ctx context.Context, src plugin.Source, m plugin.Manifest, how plugin.Signing) error {
	a, err := d.signing(src, m)
	if err != nil {
		return err
	}
	return a.SignIn(ctx, auth.Person{Open: how.Open, Pick: func(_ context.Context, services []string) (string, error) {
		services = presentable(services)
		if len(services) == 0 || len(services) == 1 && how.Service == "" {
			return strings.Join(services, ""), nil // none is one that nobody can choose
		}
		for _, one := range services {
			u, _ := url.Parse(one) // presentable read it
			if how.Service != "" && (one == how.Service || u.Host == how.Service) {
				return one, nil
			}
		}
		return "", &plugin.ServicesError{Plugin: src.ID, Name: serverOf(m).Name, Services: services}
	}})
}

// maxServices bounds the sign-in services of one server that a person chooses among.
const maxServices = 10

// presentable returns the addresses that a person can read and choose between.
func presentable(services []string) []string {
	services = slices.DeleteFunc(slices.Clone(services), func(one string) bool {
		u, err := url.Parse(one)
		return err != nil || u.Host == "" || tool.OneLine(one) != one
	})
	return services[:min(len(services), maxServices)]
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
