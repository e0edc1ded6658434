package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// redirectPath is the path of the redirect address, whatever its port is.
const redirectPath = "/callback"

// path returns the path of the redirect address at a service. One that Conclave registered has its own:
// what one service makes the browser fetch from another does not come back where the first is waited for
// (RFC 9700 section 4.4.2).
func (c client) path(issuer string) string {
	if c.Known {
		return redirectPath + "/" + digest(issuer)[:8]
	}
	return redirectPath
}

func redirectAddress(port int, path string) string {
	return "http://127.0.0.1:" + strconv.Itoa(port) + path
}

// anyPort is the redirect address of a native app, for which services ignore the port (RFC 8252
// section 7.3).
const anyPort = "http://127.0.0.1" + redirectPath

// method chooses how to authenticate at the token endpoint, of those that a service offers.
func method(offered []string, secret bool) string {
	if !secret {
		return "none"
	}
	for _, m := range []string{"client_secret_basic", "client_secret_post"} {
		if len(offered) == 0 || slices.Contains(offered, m) {
			return m
		}
	}
	return "client_secret_basic"
}

// known returns the client that Conclave is to a service already: the one that the person entered, the
// document, or the registration that is kept. ok is false where there is none.
func (a *Account) known(ctx context.Context, s service) (c client, ok bool, err error) {
	if e := a.o.Client; e != nil && e.ID != "" {
		g, err := a.current(ctx)
		if err != nil {
			return client{}, false, err
		}
		if g != nil && g.Client.Entered && g.Client.ID == e.ID && g.Issuer != s.issuer {
			return client{}, false, refuse("The client ID that you entered for "+a.o.Name+" belongs to "+
				foreign(g.Issuer, 200)+", and the server now wants a sign-in at "+foreign(s.issuer, 200)+".",
				"If that is right, sign out first, and enter the client ID of the new service.")
		}
		return client{
			ID: e.ID, Secret: e.Secret, Port: e.Port, Method: method(s.metadata.Methods, e.Secret != ""), Entered: true,
		}, true, nil
	}
	if a.o.Document != "" && s.metadata.Documents {
		return client{ID: a.o.Document, Method: "none"}, true, nil
	}
	c, ok, err = a.vault.client(ctx, s.issuer)
	if err != nil || !ok || !c.Expires.IsZero() && c.Expires.Before(a.now().Add(time.Hour)) {
		return client{}, false, err
	}
	return c, true, nil
}

// registration is the request of RFC 7591, and the answer.
type registration struct {
	Name      string   `json:"client_name,omitempty"`
	Redirects []string `json:"redirect_uris,omitempty"`
	Grants    []string `json:"grant_types,omitempty"`
	Responses []string `json:"response_types,omitempty"`
	Method    string   `json:"token_endpoint_auth_method,omitempty"`
	Kind      string   `json:"application_type,omitempty"`

	ID      string      `json:"client_id,omitempty"`
	Secret  string      `json:"client_secret,omitempty"`
	Expires json.Number `json:"client_secret_expires_at,omitempty"`

	Error       string `json:"error,omitempty"`
	Description string `json:"error_description,omitempty"`
}

// register registers Conclave with a service, for the redirect address of a port, and keeps that.
func (a *Account) register(ctx context.Context, s service, port int) (client, error) {
	if s.metadata.Registration == "" {
		page := s.metadata.Documentation
		if safeText(page) != nil {
			page = ""
		}
		return client{}, &NeedsClient{a.o.Name, foreign(s.issuer, 200), anyPort, foreign(page, 200)}
	}
	offered := s.metadata.Methods
	want := method(offered, len(offered) > 0 && !slices.Contains(offered, "none"))
	raw, err := json.Marshal(registration{
		Name: "Conclave", Redirects: []string{redirectAddress(port, client{Known: true}.path(s.issuer))},
		Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"},
		Method: want, Kind: "native",
	})
	if err != nil {
		return client{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.metadata.Registration, bytes.NewReader(raw))
	if err != nil {
		return client{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	status, body, err := a.web.exchange(r)
	if err != nil {
		return client{}, unreachable("The sign-in service of "+a.o.Name+" did not register Conclave.", err)
	}
	var got registration
	err = json.Unmarshal(body, &got)
	switch {
	case status != http.StatusCreated && status != http.StatusOK:
		return client{}, unreachable("The sign-in service of "+a.o.Name+" does not register Conclave: "+
			said(got.Error, got.Description)+".", fmt.Errorf("it answered %d", status))
	case err != nil || got.ID == "":
		return client{}, unreachable("The sign-in service of "+a.o.Name+" registered Conclave without a client ID.", err)
	}
	if len(got.ID) > maxSecret || len(got.Secret) > maxSecret {
		return client{}, unreachable("The sign-in service of "+a.o.Name+" registered Conclave.",
			errors.New("its name for Conclave is too long"))
	}
	c := client{ID: got.ID, Secret: got.Secret, Method: got.Method, Port: port, Known: true}
	if c.Method == "" {
		c.Method = method(offered, c.Secret != "")
	}
	if seconds, err := got.Expires.Int64(); err == nil && seconds > 0 {
		c.Expires = time.Unix(seconds, 0)
	}
	return c, a.vault.putClient(ctx, s.issuer, c)
}

// maxSecret is the length of what is kept of a service.
const maxSecret = 32 << 10

// said returns a code and a text of a service as a part of a sentence.
func said(code, text string) string {
	code, text = foreign(code, 60), foreign(text, 200)
	switch {
	case code == "" && text == "":
		return "it gives no reason"
	case text == "":
		return code
	case code == "":
		return "“" + text + "”"
	}
	return code + ", “" + text + "”"
}
