package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
)

// signInTime is the time that a person has for a sign-in page. Tests replace it.
var signInTime = 5 * time.Minute

var errTime = errors.New("nobody signed in")

// SignIn signs the person in: it finds the sign-in service, opens its page in the browser, waits up to
// five minutes for the answer and keeps the tokens. Call it on the person's act alone. Calls at the same
// time are one sign-in: the others wait for it, and open nothing. The error is a fault, a *NeedsClient,
// or the cause of ctx's end.
func (a *Account) SignIn(ctx context.Context, p Person) error {
	return a.share(ctx, &a.signing, true, func(ctx context.Context) error { return a.signIn(ctx, p) })
}

func (a *Account) signIn(ctx context.Context, p Person) error {
	c, err := a.refused(ctx)
	if err != nil {
		return err
	}
	s, err := a.discover(ctx, c, p)
	if err != nil {
		return err
	}
	held, err := a.current(ctx)
	if err != nil {
		return err
	}
	scopes := a.scopes(c, s, held)
	g, err := a.authorize(ctx, s, scopes, p, false)
	if refused, ok := errors.AsType[*refusedError](err); ok && refused.code == "invalid_client" && a.forget(ctx, s) {
		g, err = a.authorize(ctx, s, scopes, p, true)
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return refuse("The sign-in service of "+a.o.Name+" gave no tokens: "+refused.Error()+".", "Try again.")
	}
	if err != nil {
		return err
	}
	if err := a.vault.putGrant(ctx, g); err != nil {
		return err
	}
	a.set(g, nil)
	return nil
}

// refused returns how the server refuses: as it did last, and with the place of its metadata, which it
// names with a 401 alone. It is nil where the server does not refuse.
func (a *Account) refused(ctx context.Context) (*challenge, error) {
	a.mu.Lock()
	last := a.refusal
	a.mu.Unlock()
	if last != nil && last.metadata != "" {
		return last, nil
	}
	now, err := a.probe(ctx)
	if err != nil || last == nil {
		return now, err
	}
	c := *last
	if now != nil {
		c.metadata = now.metadata
	}
	return &c, nil
}

// forget removes the registration with a service, and reports whether there was one.
func (a *Account) forget(ctx context.Context, s service) bool {
	_, ok, err := a.vault.client(ctx, s.issuer)
	return ok && err == nil && a.vault.delete(ctx, a.vault.registration(s.issuer)) == nil
}

// probe asks the server for something harmless, to learn how it refuses; nil where it does not.
func (a *Account) probe(ctx context.Context) (*challenge, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	for _, method := range []string{http.MethodPost, http.MethodGet} { // an old SSE server takes GET alone
		var body io.Reader
		if method == http.MethodPost {
			body = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		}
		r, err := http.NewRequestWithContext(ctx, method, a.server.url.String(), body)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		response, err := a.o.Base.RoundTrip(r.WithContext(a.web.watched(r, a.o.Base)))
		if err != nil {
			return nil, unreachable(a.o.Name+" did not answer.", plain(err))
		}
		_ = response.Body.Close() // it may be a stream without an end
		if response.StatusCode == http.StatusUnauthorized {
			return readChallenge(response.Header), nil
		}
	}
	return nil, nil
}

// discard reads a little of an answer, so that its connection can be used again, and closes it.
func discard(response *http.Response) {
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10)
	_ = response.Body.Close()
}

// scopes returns what to ask for: what the refusal names or else what the server lists, what was
// granted already, and a way to renew it where that is offered.
func (a *Account) scopes(c *challenge, s service, held *grant) []string {
	var scopes []string
	if c != nil && len(c.scopes) > 0 {
		scopes = c.scopes
	} else {
		scopes = s.scopes
	}
	if held != nil && held.Issuer == s.issuer {
		scopes = union(held.Scopes, scopes)
	}
	scopes = union(scopes, a.o.Scopes)
	if slices.Contains(s.metadata.Scopes, offline) {
		return union(scopes, []string{offline})
	}
	return scopes
}

// offline is the scope that refresh tokens are given for.
const offline = "offline_access"

// client returns the client that Conclave is to a service, and the port for its redirect address.
func (a *Account) client(ctx context.Context, s service, again bool) (client, *callback, error) {
	c, ok, err := a.known(ctx, s)
	if err != nil {
		return client{}, nil, err
	}
	if ok && !(again && c.Known) {
		at, err := listen(ctx, c.Port)
		switch {
		case err == nil:
			return c, at, nil
		case !c.Known:
			return client{}, nil, fault.Wrap(fault.Unavailable, "mcp.auth",
				"The port of the redirect address "+redirectAddress(c.Port, redirectPath)+" is in use.",
				"End the program that uses it.", err)
		}
		// Another program has the port that was registered.
	}
	at, err := listen(ctx, 0)
	if err != nil {
		return client{}, nil, fault.Wrap(fault.Unavailable, "mcp.auth",
			"No port of this computer can be opened for the sign-in.", "", err)
	}
	if c, err = a.register(ctx, s, at.port); err != nil {
		at.close()
		return client{}, nil, err
	}
	return c, at, nil
}

// authorize sends the person to the sign-in page, and exchanges the code that comes back for tokens.
func (a *Account) authorize(ctx context.Context, s service, scopes []string, p Person, again bool) (*grant, error) {
	c, at, err := a.client(ctx, s, again)
	if err != nil {
		return nil, err
	}
	defer at.close()
	at.path = c.path(s.issuer)
	state, verifier, redirect := rand.Text(), rand.Text()+rand.Text(), redirectAddress(at.port, at.path)
	page, err := signInPage(s, c, scopes, state, verifier, redirect)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeoutCause(ctx, signInTime, errTime)
	defer cancel()
	go func() { // ends with the opener, for which nobody waits: the page may be opened by hand as well
		if err := p.Open(wait, page); err != nil && wait.Err() == nil {
			a.log.Warn("the browser did not open for a sign-in", "plugin", a.o.ID, "err", err)
		}
	}()
	code, err := at.wait(wait, state, func(query url.Values) (string, error) { return a.readCallback(s, query) })
	if errors.Is(err, errTime) {
		if c.Known && !again {
			// A service that no longer knows the registration shows that in the browser alone.
			a.forget(ctx, s)
		}
		return nil, fault.Wrap(fault.Timeout, "mcp.auth", "Nobody signed in to "+a.o.Name+" within "+
			fault.Seconds(signInTime)+".", "Start the sign-in again.", err)
	}
	if err != nil {
		return nil, err
	}
	got, err := a.ask(ctx, s.metadata.Token, c, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier},
		"resource": {s.resource},
	})
	if err != nil {
		if _, refused := errors.AsType[*refusedError](err); refused {
			return nil, err
		}
		return nil, unreachable("The sign-in service of "+a.o.Name+" gave no tokens.", err)
	}
	return a.granted(grant{
		Issuer: s.issuer, Resource: s.resource, Token: s.metadata.Token, Revocation: s.metadata.Revocation, Client: c,
		Scopes: scopes,
	}, got), nil
}

// signInPage returns the address to open.
func signInPage(s service, c client, scopes []string, state, verifier, redirect string) (string, error) {
	u, err := url.Parse(s.metadata.Authorization)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(verifier))
	query := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": c.ID, "redirect_uri": redirect, "state": state, "resource": s.resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
	} {
		query.Set(name, value)
	}
	if len(scopes) > 0 {
		query.Set("scope", strings.Join(scopes, " "))
	}
	if slices.Contains(scopes, offline) {
		query.Set("prompt", "consent") // OpenID Connect Core, section 11
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// readCallback returns the code of an answer, after it is known to be of the service where the person
// signed in (RFC 9207). Of another's not even the error is shown.
func (a *Account) readCallback(s service, query url.Values) (string, error) {
	iss := query["iss"]
	switch {
	case len(iss) == 0 && !s.metadata.Iss:
	case len(iss) == 1 && iss[0] == s.issuer:
	default:
		return "", fault.Wrap(fault.NotAllowed, "mcp.auth", "The answer to the sign-in at "+a.o.Name+
			" does not come from "+foreign(s.issuer, 200)+". It was thrown away.",
			"Start the sign-in again. If that repeats, report it to whoever runs the server.", errMixedUp)
	}
	if code := query.Get("error"); code != "" {
		if code == "access_denied" {
			return "", fault.New(fault.Canceled, "mcp.auth", "The sign-in at "+a.o.Name+" was refused on its page.", "")
		}
		return "", refuse("The sign-in service of "+a.o.Name+" refused: "+
			said(code, query.Get("error_description"))+".", "Try again.")
	}
	codes := query["code"]
	if len(codes) != 1 || codes[0] == "" {
		return "", refuse("The sign-in service of "+a.o.Name+" sent no code.", "Try again.")
	}
	return codes[0], nil
}

// SignOut revokes the tokens where the service offers that, and forgets all that is kept for the
// account. The error reports that the service did not take it; the tokens are forgotten all the same.
func (a *Account) SignOut(ctx context.Context) error {
	g, err := a.current(ctx)
	if err != nil {
		return err
	}
	if g == nil {
		return nil
	}
	err = errors.Join(a.vault.delete(ctx, a.vault.name), a.vault.delete(ctx, a.vault.registration(g.Issuer)))
	if err != nil {
		return err
	}
	a.set(nil, nil)
	return a.revoke(ctx, g)
}

func (a *Account) revoke(ctx context.Context, g *grant) error {
	if g.Revocation == "" {
		return nil
	}
	for _, token := range []struct{ kind, value string }{{"refresh_token", g.Refresh}, {"access_token", g.Access}} {
		if token.value == "" {
			continue
		}
		status, _, err := a.web.postForm(ctx, g.Revocation, g.Client, url.Values{
			"token": {token.value}, "token_type_hint": {token.kind},
		})
		if err == nil && status >= http.StatusMultipleChoices {
			err = errors.New(http.StatusText(status))
		}
		if err != nil {
			return unreachable("Conclave signed out of "+a.o.Name+
				", but its sign-in service did not revoke the tokens.", err)
		}
	}
	return nil
}
