package auth

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// server is an MCP server, and what it writes about its sign-in.
type server struct {
	name   string // as a person reads it
	url    *url.URL
	origin string
	web    *web
}

// service is a sign-in service (an authorization server), and what a server wants of it.
type service struct {
	issuer   string
	resource string   // the server, as tokens name it
	scopes   []string // that the server's metadata lists
	metadata metadata
}

// metadata holds what is used of the metadata of an authorization server (RFC 8414).
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Documentation string   `json:"service_documentation"`
	Scopes        []string `json:"scopes_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	PKCE          []string `json:"code_challenge_methods_supported"`
	Documents     bool     `json:"client_id_metadata_document_supported"`
	Iss           bool     `json:"authorization_response_iss_parameter_supported"`
}

// resourceMetadata holds what is used of the metadata of a protected resource (RFC 9728).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// discover finds the sign-in service of the server.
func (a *Account) discover(ctx context.Context, c *challenge, p Person) (service, error) {
	if err := safe(a.server.url); err != nil {
		return service{}, refuse(a.o.Name+" is reached without encryption, so that others could read the sign-in.",
			"Use its https address.")
	}
	r, err := a.server.resource(ctx, c)
	if err != nil {
		return service{}, err
	}
	s := service{resource: a.server.canonical()}
	if r != nil {
		if s.issuer, err = a.pick(ctx, r.Issuers, p); err != nil {
			return service{}, err
		}
		s.resource, s.scopes = r.Resource, r.Scopes
	} else {
		// 2025-03-26: the server's origin is its sign-in service.
		s.issuer = a.server.url.Scheme + "://" + a.server.url.Host
	}
	found, err := a.server.readMetadata(ctx, &s)
	if err != nil {
		return service{}, err
	}
	switch {
	case found:
		return s, a.server.checkMetadata(ctx, s)
	case r != nil:
		return service{}, unreachable("The sign-in service of "+a.o.Name+", "+foreign(s.issuer, 200)+
			", does not describe itself.", errors.New("there is no metadata at its well-known places"))
	case c == nil:
		return service{}, refuse(a.o.Name+" asks for no sign-in.",
			"Use it as it is, or give it a key in its settings.")
	}
	s.metadata = metadata{
		Authorization: s.issuer + "/authorize", Token: s.issuer + "/token", Registration: s.issuer + "/register",
	}
	return s, nil
}

// pick chooses the sign-in service: the one where the person has signed in, or else the person does.
func (a *Account) pick(ctx context.Context, issuers []string, p Person) (string, error) {
	if len(issuers) == 1 {
		return issuers[0], nil
	}
	if g, err := a.current(ctx); err == nil && g != nil && slices.Contains(issuers, g.Issuer) {
		return g.Issuer, nil
	}
	if p.Pick == nil {
		return issuers[0], nil
	}
	issuer, err := p.Pick(ctx, issuers)
	if err == nil && !slices.Contains(issuers, issuer) {
		err = errors.New("none of the services was chosen")
	}
	return issuer, err
}

// canonical returns the address of the server as a token request names it: without a fragment, and
// without a slash that is the whole path.
func (m server) canonical() string {
	u := *m.url
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "/" {
		u.Path = ""
	}
	return u.String()
}

// resource reads the resource metadata of the server, at the place that its refusal names or else at
// the well-known ones; nil where there is none.
func (m server) resource(ctx context.Context, c *challenge) (*resourceMetadata, error) {
	root := m.url.Scheme + "://" + m.url.Host + "/.well-known/oauth-protected-resource"
	var places []string
	if c != nil && c.metadata != "" {
		places = append(places, c.metadata)
	}
	if path := strings.Trim(m.url.EscapedPath(), "/"); path != "" {
		places = append(places, root+"/"+path)
	}
	places = append(places, root)
	for _, place := range places {
		var r resourceMetadata
		found, err := m.web.getJSON(ctx, place, &r)
		if err != nil {
			return nil, unreachable("What "+m.name+" writes about its sign-in, at "+foreign(place, 200)+
				", could not be read.", err)
		}
		if !found {
			continue
		}
		if !m.names(r.Resource, place == root) {
			return nil, refuse(m.name+" names another server for its sign-in: “"+foreign(r.Resource, 200)+
				"” instead of “"+m.canonical()+"”.", "Check the address of the server. Nothing was sent.")
		}
		if len(r.Issuers) == 0 {
			return nil, refuse(m.name+" names no service to sign in at.", reportIt)
		}
		r.Issuers = r.Issuers[:min(len(r.Issuers), maxIssuers)]
		r.Scopes = scopeWords(strings.Join(r.Scopes, " "))
		return &r, nil
	}
	return nil, nil
}

// names reports whether the resource of metadata is this server: its address, with or without a slash
// at the end, or its origin in the metadata of the root.
func (m server) names(resource string, root bool) bool {
	u, err := url.Parse(resource)
	if err != nil || origin(u) != m.origin || u.User != nil || u.Fragment != "" || u.RawQuery != m.url.RawQuery {
		return false
	}
	path := strings.TrimSuffix(u.Path, "/")
	return path == strings.TrimSuffix(m.url.Path, "/") || root && path == ""
}

// maxIssuers bounds the sign-in services that a person chooses from.
const maxIssuers = 20

// reportIt is the advice where only the server's side can help.
const reportIt = "Report it to whoever runs the server."

// metadataPlaces returns where the metadata of an issuer can be, in their order.
func metadataPlaces(issuer string) ([]string, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is no issuer")
	}
	if err := safe(u); err != nil {
		return nil, err
	}
	base := u.Scheme + "://" + u.Host
	path := strings.Trim(u.EscapedPath(), "/")
	if path == "" {
		return []string{
			base + "/.well-known/oauth-authorization-server", base + "/.well-known/openid-configuration",
		}, nil
	}
	return []string{
		base + "/.well-known/oauth-authorization-server/" + path,
		base + "/.well-known/openid-configuration/" + path,
		base + "/" + path + "/.well-known/openid-configuration",
	}, nil
}

func (m server) readMetadata(ctx context.Context, s *service) (found bool, err error) {
	shown := foreign(s.issuer, 200)
	places, err := metadataPlaces(s.issuer)
	if err != nil {
		return false, refuse(m.name+" wants a sign-in at “"+shown+"”, which is not safe: "+err.Error()+".",
			reportIt+" Nothing was sent.")
	}
	for _, place := range places {
		s.metadata = metadata{}
		found, err := m.web.getJSON(ctx, place, &s.metadata)
		if err != nil {
			return false, unreachable("The sign-in service of "+m.name+", "+shown+", could not be asked.", err)
		}
		if !found {
			continue
		}
		if s.metadata.Issuer != s.issuer { // exactly: RFC 8414 section 3.3
			return false, refuse("The sign-in service at "+shown+" calls itself “"+foreign(s.metadata.Issuer, 200)+
				"”, so it may not be the one that "+m.name+" means.", reportIt+" Nothing was sent.")
		}
		return true, nil
	}
	return false, nil
}

// checkMetadata refuses a service that cannot protect a sign-in, or would lead the browser into the
// person's own network.
func (m server) checkMetadata(ctx context.Context, s service) error {
	d := s.metadata
	if !slices.Contains(d.PKCE, "S256") {
		return refuse("The sign-in service of "+m.name+
			" does not say that it protects sign-ins of programs (PKCE with S256).", reportIt+" Nothing was sent.")
	}
	for _, endpoint := range []string{d.Authorization, d.Token} {
		if endpoint == "" {
			return refuse("The sign-in service of "+m.name+" does not say where to sign in.",
				reportIt)
		}
	}
	for _, endpoint := range []string{d.Authorization, d.Token, d.Registration, d.Revocation} {
		if endpoint == "" {
			continue
		}
		if err := safeText(endpoint); err != nil {
			return refuse("The sign-in service of "+m.name+" uses “"+foreign(endpoint, 200)+
				"”, which is not safe: "+err.Error()+".", reportIt+" Nothing was sent.")
		}
	}
	return m.checkBrowser(ctx, d.Authorization)
}

// checkBrowser refuses an address in the person's own network, where the server is not: the browser
// would ask a program or device there on the server's behalf.
func (m server) checkBrowser(ctx context.Context, page string) error {
	u, err := url.Parse(page)
	if err != nil {
		return err
	}
	var at []netip.Addr
	if literal, err := netip.ParseAddr(u.Hostname()); err == nil {
		at = []netip.Addr{literal}
	} else if at, err = net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname()); err != nil {
		return unreachable("The sign-in page of "+m.name+", "+foreign(page, 200)+", was not found.", err)
	}
	for _, one := range at {
		if !m.web.reaches(netip.AddrPortFrom(one, 0)) {
			return refuse("The sign-in page of "+m.name+", “"+foreign(page, 200)+"”, is in your own network.",
				reportIt+" Nothing was opened.")
		}
	}
	return nil
}
